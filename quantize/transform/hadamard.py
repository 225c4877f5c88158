"""Orthogonal matrices that spread over all channels what one of them has: Hadamard's with random signs, in f64, summed in one order.

    n = m 2^k   H = M (x) S     S [2^k, 2^k]: Sylvester's; M [m, m]: 1, Paley's, else Hartley's
    x R = (x s) H / sqrt(n)         s: random signs; every |R_ij| is 1 / sqrt(n) but where M is Hartley's, there at most sqrt(2 / n)
    x R = (x H) s H^T / n, s_0 = 1  where the mean of x has to stay: the first column of H is 1, so ones R = ones

Ashkboos et al. 2024, QuaRot, https://arxiv.org/abs/2404.00456; Paley 1933, orders q + 1 and 2 (q + 1) of primes q, so 12, 20, 28, 44;
Hartley 1942, M_ij = cos(2 pi i j / m) + sin(2 pi i j / m), of any order.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """R of `count` channels: a matrix for those that share a number in `apart`, the same for heads whose channels are `tied`.

    All [count]; `tied` as in `folds.Walk`. `signs`: 1.0 or -1.0. `keeps_mean`: ones R = ones.
    """

    apart: I64
    tied: I64
    signs: F64
    keeps_mean: bool

    def of(self, x: F64, channels: I64) -> F64:
        """x R for columns x [len(channels), many], of channels of whole heads."""
        order = np.lexsort((self.tied[channels], self.apart[channels]))
        size = self.size(channels)
        signs = self.signs[self.tied[channels[order]]].reshape(-1, size, 1)
        parts = x[order].reshape(-1, size, x.shape[1])
        if self.keeps_mean:
            parts = transposed(times(parts) * signs) / size
        else:
            parts = times(parts * signs) / np.sqrt(float(size))
        out = np.empty_like(x)
        out[order] = parts.reshape(x.shape)
        return out

    def size(self, channels: I64) -> int:
        """Channels of a head; 0 where heads are not alike."""
        _, sizes = np.unique(self.apart[channels], return_counts=True)
        return int(sizes[0]) if (sizes == sizes[0]).all() else 0


def rotation(apart: I64, tied: I64, text: str, *, keeps_mean: bool = False) -> Rotation:
    """The matrices that `text`, a seed and a name, stands for."""
    drawn = hashlib.shake_256(text.encode()).digest(-(-len(tied) // 8))
    bits = np.unpackbits(np.frombuffer(drawn, np.uint8))[: len(tied)]
    signs = 1.0 - 2.0 * bits.astype(np.float64)
    if keeps_mean:
        signs[np.lexsort((tied, apart))[0]] = 1.0
    return Rotation(apart, tied, signs, keeps_mean)


def times(x: F64) -> F64:
    """x^T H for each of x [blocks, n, many], as columns."""
    return _sylvester(_by(x, _first(x.shape[1]), turned=False))


def transposed(x: F64) -> F64:
    """x^T H^T, likewise."""
    return _by(_sylvester(x), _first(x.shape[1]), turned=True)


def _by(x: F64, first: F64, *, turned: bool) -> F64:
    m = len(first)
    if m == 1:
        return x
    parts = x.reshape(len(x), m, -1)
    out = np.zeros_like(parts)
    for i, row in enumerate(first.T if turned else first):
        out += parts[:, i : i + 1] * row[:, None]
    return out.reshape(x.shape)


def _sylvester(x: F64) -> F64:
    """Sums and differences of pairs ever further apart."""
    last, half = x.shape[1] // len(_first(x.shape[1])), 1
    while half < last:
        pairs = x.reshape(-1, 2, half, x.shape[2])
        x = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(
            x.shape
        )
        half *= 2
    return x


@functools.lru_cache(maxsize=16)
def _first(n: int) -> F64:
    """M for n channels: of the least order that leaves a power of two, and has a Hadamard matrix here; the first column is 1."""
    odd = n // (n & -n)
    if odd == 1:
        return np.ones((1, 1))
    for m in (odd << k for k in range(2, (n // odd).bit_length())):
        made = paley(m)
        if made is not None:
            return made * made[:, :1]
    turns = [2 * math.pi * i / odd for i in range(odd)]
    around = np.array([math.cos(turn) + math.sin(turn) for turn in turns])
    return np.asarray(around[np.outer(np.arange(odd), np.arange(odd)) % odd])


def paley(m: int) -> F64 | None:
    """A Hadamard matrix of order m, of residues modulo the prime m - 1 or m / 2 - 1; None: neither is one, or not of the right kind."""
    for q, rest in ((m - 1, 3), (m // 2 - 1, 1)):
        if q % 4 != rest or any(q % d == 0 for d in range(3, math.isqrt(q) + 1, 2)):
            continue
        squares = {i * i % q for i in range(1, q)}
        kind = np.array([0, *(1 if i in squares else -1 for i in range(1, q))], np.float64)
        edge = np.zeros((q + 1, q + 1))
        edge[0, 1:], edge[1:, 0] = 1, 1 if rest == 1 else -1
        edge[1:, 1:] = kind[(np.arange(q)[:, None] - np.arange(q)) % q]
        if rest == 3:
            return np.asarray(edge + np.eye(q + 1))
        twice = np.array([[1.0, 1.0], [1.0, -1.0]])
        return np.asarray(np.kron(edge, twice) + np.kron(np.eye(q + 1), [[1, -1], [-1, -1]]))
    return None
