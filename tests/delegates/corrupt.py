"""Corrupted payloads, each opened and run in this process: python corrupt.py NAME COUNT SEED. Prints how many were refused.

The digests are right, so the delegate's own checks are what stands between the bytes and the process.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from delegates import through
from delegates.candidates import find
from delegates.integer_cases import make

import pteron


def corrupted(blob: bytes, rng: np.random.Generator) -> bytes:
    """One to four bytes changed, a word set to an extreme, or cut short."""
    data = bytearray(blob)
    kind = int(rng.integers(4))
    near = min(len(data), 4096)  # headers and tables come first, and matter most
    if kind == 3:
        return bytes(data[: int(rng.integers(len(data)))])
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(near if rng.random() < 0.7 else len(data)))
        if kind == 2:
            word = int(rng.choice([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x10000]))
            data[at // 4 * 4 : at // 4 * 4 + 4] = word.to_bytes(4, "little")
        else:
            data[at] = int(rng.integers(256))
    return bytes(data)


def main() -> None:
    name, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    candidate, case = find(name), make("residual", 3)
    assert candidate.here is not None
    expected = case.expected()
    program = through.program_of(case, [candidate.row])
    (entry,) = program.delegates
    rng = np.random.default_rng(seed)
    refused = same = other = 0
    for _ in range(count):
        changed = dataclasses.replace(entry, blob=corrupted(entry.blob, rng))
        bad = dataclasses.replace(program, delegates=(changed,))
        try:
            model = pteron.load(through.file_of(bad), delegates=[candidate.here])
            wrong = through.differences(model, case, expected)
        except pteron.DelegateError as error:
            assert entry.target in str(error), error
            refused += 1
            continue
        same, other = same + (not wrong), other + bool(wrong)
    sound = pteron.load(through.file_of(program), delegates=[candidate.here])
    assert through.differences(sound, case, expected) == 0
    print(f"{refused} refused, {same} ran to the same bytes, {other} to others")


if __name__ == "__main__":
    main()
