"""Tables of the text segment: hashes, tries, and tables by code point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

NONE: Final = 0xFFFFFFFF
BLOCK: Final = 128
PROBES: Final = 32
"""Places that a reader looks at for one key: PTE_TEXT_MOST_PROBES."""

U32 = NDArray[np.uint32]


def spans(pieces: Sequence[bytes]) -> tuple[U32, bytes]:
    """Where the bytes of each begin, and where the last end; and all bytes."""
    starts = np.zeros(len(pieces) + 1, np.uint32)
    np.cumsum([len(piece) for piece in pieces], out=starts[1:])
    return starts, b"".join(pieces)


def hash_of_bytes(pieces: Sequence[bytes]) -> U32:
    """FNV-1a, as pte_text_look has it."""
    starts, joined = spans(pieces)
    data, sizes = np.frombuffer(joined, np.uint8), np.diff(starts)
    order = np.argsort(-sizes.astype(np.int64), kind="stable")  # those that go on stay in front
    begins, left = starts[:-1][order].astype(np.int64), sizes[order]
    value = np.full(len(pieces), 0x811C9DC5, np.uint32)
    for at in range(int(left[0]) if len(pieces) else 0):
        count = int(np.searchsorted(-left.astype(np.int64), -at, side="left"))
        value[:count] = (value[:count] ^ data[begins[:count] + at]) * np.uint32(0x01000193)
    value ^= value >> np.uint32(15)
    out = np.empty_like(value)
    out[order] = value
    return out


def hash_of_pairs(left: U32, right: U32) -> U32:
    """As rank_of of bpe.c."""
    value = left * np.uint32(0x9E3779B1) ^ (right + np.uint32(0x7F4A7C15)) * np.uint32(0x85EBCA6B)
    value ^= value >> np.uint32(15)
    value *= np.uint32(0xC2B2AE35)
    value ^= value >> np.uint32(13)
    return value


def placed(hashes: U32) -> tuple[NDArray[np.int64], int]:
    """The place of each key in a table of a power of two, and its size: the first of those behind its hash that is free, at
    most PROBES of them."""
    size = 1 << max(4, (len(hashes) * 3 // 2).bit_length())
    while True:
        taken = np.zeros(size, np.bool_)
        place = np.full(len(hashes), -1, np.int64)
        left = np.arange(len(hashes))
        for probe in range(PROBES):
            want = (hashes[left].astype(np.int64) + probe) & (size - 1)
            _, first = np.unique(want, return_index=True)
            first = first[~taken[want[first]]]
            place[left[first]] = want[first]
            taken[want[first]] = True
            left = np.delete(left, first)
            if not len(left):
                return place, size
        size *= 2


def lookup(pieces: Mapping[int, bytes]) -> U32:
    """Ids by the hash of their bytes."""
    place, size = placed(hash_of_bytes(list(pieces.values())))
    table = np.full(size, NONE, np.uint32)
    table[place] = list(pieces)
    return table


def merges(rows: NDArray[np.uint32]) -> U32:
    """(left, right, rank) by the hash of left and right."""
    place, size = placed(hash_of_pairs(rows[:, 0].copy(), rows[:, 1].copy()))
    table = np.full((size, 3), NONE, np.uint32)
    table[place] = rows
    return table


def blocks(table: NDArray[Any]) -> tuple[NDArray[np.uint16], NDArray[Any]]:
    """Of a table by code point, or several in a row: the block of each 128, and the distinct blocks."""
    rows = np.ascontiguousarray(table).reshape(-1, BLOCK)
    numbers: dict[bytes, int] = {}
    index = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rows]
    members = np.frombuffer(b"".join(numbers), table.dtype).reshape(-1, BLOCK)
    return np.array(index, np.uint16), members


def tries(words: Sequence[Mapping[bytes, int]]) -> tuple[list[int], U32, bytes]:
    """Roots, nodes (first child, value) and labels of tries of words; NONE is the root of none."""
    full = [(i, each) for i, each in enumerate(words) if each]
    roots = [NONE] * len(words)
    queue: list[dict[int, Any]] = []
    labels = bytearray()
    for number, (i, each) in enumerate(full):
        roots[i] = number
        queue.append(_trie(each))
        labels.append(0)
    nodes = []
    for node in queue:  # which grows
        nodes.append((len(queue), node.pop(-1, NONE)))
        for label in sorted(node):
            queue.append(node[label])
            labels.append(label)
    if nodes:
        nodes.append((len(labels), NONE))
    return roots, np.array(nodes, np.uint32).reshape(-1, 2), bytes(labels)


def _trie(words: Mapping[bytes, int]) -> dict[int, Any]:
    root: dict[int, Any] = {}
    for word, value in words.items():
        node = root
        for label in word:
            node = node.setdefault(label, {})
        node[-1] = value
    return root
