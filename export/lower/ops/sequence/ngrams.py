"""TfIdfVectorizer of integers: how often each n-gram of a pool stands in a row, by comparisons of all places with all n-grams."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ....program.terms import Term, cast, eq
from ....sizes.extents import maximum, sub
from ...context import Lowering
from ...elementwise import convert
from ...graphs import TEXT
from ...node import Node
from ...refs import Ref
from ...table import lowers
from ..moving.movement import concat
from ..rows.reduction import reduce

Indices = NDArray[np.int64]

MOST: Final = 1 << 16
"""N-grams of a pool, and columns of the result."""


@lowers("TfIdfVectorizer")
def lower_ngrams(l: Lowering, n: Node) -> Ref:
    """[b, c] or [c] -> [b, columns] or [columns]: counts (TF), weights of what is there (IDF), or their product (TFIDF)."""
    if n.has("pool_strings"):
        l.fail(TEXT)
    x = convert(l, n[0], "i64")
    rows = l.unsqueeze(x, [0]) if x.rank == 1 else x
    pools, columns = _pools(l, n)
    size = int(columns.max()) + 1
    at = np.full(size, len(columns))
    parts: list[Ref] = []
    done = 0
    for pool, first in pools:
        at[columns[first : first + len(pool)]] = np.arange(done, done + len(pool))
        done += len(pool)
        parts.append(_counts(l, rows, pool, n.integer("max_skip_count")))
    at[at == len(columns)] = done
    parts.append(l.expand(l.values.scalar(0, "i64"), (rows.shape[0], 1)))
    every = l.transpose(concat(l, parts, 1), (1, 0))
    shape = (size, rows.shape[0])
    y = l.transpose(
        l.one("gather", [every, l.values.constant(at.astype(np.int64))], {}, "i64", shape), (1, 0)
    )
    y = _weighted(l, n, y, columns)
    return l.squeeze(y, [0]) if x.rank == 1 else y


def _pools(l: Lowering, n: Node) -> tuple[list[tuple[Indices, int]], Indices]:
    """(n-grams [count, n], the number of the first) for each length that counts; the column of each n-gram."""
    pool, starts = n.integers("pool_int64s") or (), (*(n.integers("ngram_counts") or ()),)
    columns = np.array(n.integers("ngram_indexes") or (), np.int64)
    ends = (*starts[1:], len(pool))
    is_right = (
        len(starts) > 0
        and starts[0] == 0
        and all(a <= b for a, b in zip(starts, ends, strict=True))
    )
    sizes = [(b - a, k) for k, (a, b) in enumerate(zip(starts, ends, strict=True), 1)]
    if not is_right or any(size % k for size, k in sizes):
        l.fail(f"ngram_counts {list(starts)} do not divide a pool of {len(pool)} numbers")
    if len(columns) != sum(size // k for size, k in sizes) or len(np.unique(columns)) != len(
        columns
    ):
        l.fail("ngram_indexes: expected a column of its own for each n-gram of the pool")
    if not 1 <= len(columns) <= MOST or columns.min() < 0 or columns.max() >= MOST:
        l.fail(f"has {len(columns)} n-grams; expected 1 to {MOST}, and as many columns at most")
    least, most = n.integer("min_gram_length"), n.integer("max_gram_length")
    found, first = [], 0
    for (size, k), start in zip(sizes, starts, strict=True):
        if least <= k <= most and size:
            own = np.array(pool[start : start + size], np.int64)
            found.append((own.reshape(-1, k), first))
        first += size // k
    return found, columns


def _counts(l: Lowering, rows: Ref, pool: Indices, most_skipped: int) -> Ref:
    """[b, n-grams]: of elements side by side, and of those with up to so many between each two."""
    count, length = pool.shape
    width = rows.shape[1]
    shape = (rows.shape[0], count)
    total = l.expand(l.values.scalar(0, "i64"), shape)
    for step in range(1, 2 + (most_skipped if length > 1 else 0)):
        places = maximum(sub(width, (length - 1) * step), 0)
        if places == 0:
            break
        windows = [
            l.unsqueeze(l.slice(rows, 1, k * step, places, inside=True), [2]) for k in range(length)
        ]
        grams = [l.values.constant(np.ascontiguousarray(pool[:, k])) for k in range(length)]

        def hit(*terms: Term) -> Term:
            y = eq(terms[0], terms[length])
            for k in range(1, length):
                y = y & eq(terms[k], terms[length + k])
            return cast(y, "i64")

        hits = l.pointwise(hit, [*windows, *grams], "i64")
        own = reduce(l, hits, [1], "sum", keep=False)
        total = l.pointwise(lambda a, b: a + b, [total, own], "i64")
    return total


def _weighted(l: Lowering, n: Node, counts: Ref, columns: Indices) -> Ref:
    """A weight is of the n-gram at its place in the pool, whatever the column."""
    mode, given = n.text("mode"), n.numbers("weights")
    if mode not in ("TF", "IDF", "TFIDF"):
        l.fail(f"mode {mode!r}; expected TF, IDF or TFIDF")
    if given is not None and len(given) != len(columns):
        l.fail(f"has {len(given)} weights; expected {len(columns)}, one for each n-gram")
    y = convert(l, counts, "f32")
    if mode == "TF":
        return y
    weights = np.ones(int(columns.max()) + 1, np.float32)
    if given is not None:
        weights[columns] = given
    if mode == "IDF":
        y = convert(l, convert(l, counts, "bool"), "f32")
    return l.pointwise(lambda a, b: a * b, [y, l.values.constant(weights)], "f32")
