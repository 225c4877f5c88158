"""Corrupts programs and lets tests/fuzz/hostile.c load and run each copy.

`python tests/program/mutate.py HOSTILE FOLDER` over the .pte files of FOLDER: for each file single-word changes, every
truncation and random changes of several bytes, each as it is and with all digests made right again. Prints a table.
"""

from __future__ import annotations

import itertools
import json
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

Edit = tuple[int, int, int]  # offset, size, value
WORDS: Final = 1600
RANDOM: Final = 2000
EVERY: Final = 8192  # bytes up to which a file is cut everywhere
TELLING: Final = (
    0,
    1,
    2,
    7,
    8,
    63,
    64,
    255,
    0x7FFF,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0xFFFFFFFE,
    0xFFFFFFFF,
)
"""Numbers that sit on the border of something."""


def single_words(data: bytes, count: int, rng: random.Random) -> Iterator[list[Edit]]:
    """One aligned 4-byte word gets another number: a telling one, one near the old, or one bit changed. All words come
    before one comes twice."""
    words = list(range(0, len(data) - 3, 4))
    order: list[int] = []
    for _ in range(count):
        order = order or rng.sample(words, len(words))
        at = order.pop()
        old = struct.unpack_from("<I", data, at)[0]
        near = (old + rng.choice((-8, -4, -1, 1, 4, 8))) & 0xFFFFFFFF
        value = rng.choice((rng.choice(TELLING), near, old ^ (1 << rng.randrange(32))))
        yield [(at, 4, value if value != old else old ^ 1)]


def several_bytes(data: bytes, count: int, rng: random.Random) -> Iterator[list[Edit]]:
    """2 to 12 changes of 1, 2, 4 or 8 bytes, half of them close together."""
    for _ in range(count):
        center = rng.randrange(len(data))
        edits = []
        for _ in range(rng.randint(2, 12)):
            size = rng.choice((1, 1, 2, 4, 8))
            near = center + rng.randint(-40, 40)
            at = near if rng.random() < 0.5 else rng.randrange(len(data))
            at = min(max(at, 0), len(data) - size)
            value = rng.choice((rng.getrandbits(8 * size), rng.choice(TELLING), rng.randrange(64)))
            edits.append((at, size, value & (2 ** (8 * size) - 1)))
        yield edits


def truncations(size: int, rng: random.Random) -> list[int]:
    """Every length below `size`; of a large file the first ones and a sample."""
    if size <= EVERY:
        return list(range(size))
    return [*range(EVERY // 2), *rng.sample(range(EVERY // 2, size), EVERY // 2)]


def cases(data: bytes, rng: random.Random) -> Iterator[bytes]:
    """Records for hostile.c: every change as it is and resealed."""
    changed = [*single_words(data, WORDS, rng), *several_bytes(data, RANDOM, rng)]
    for reseal in (0, 1):
        for edits in changed:
            yield record(len(data), reseal, edits)
        for keep in truncations(len(data), rng):
            size = [(16, 8, keep)] if reseal and keep >= 24 else []
            yield record(keep, reseal, size)


def record(keep: int, reseal: int, edits: list[Edit]) -> bytes:
    return struct.pack("<III", keep, reseal, len(edits)) + b"".join(
        struct.pack("<IIQ", *edit) for edit in edits
    )


def attack(hostile: Path, file: Path, seed: int = 1, every: int = 1) -> dict[str, Any]:
    """What became of all corrupted copies of `file`, or of each so many-th; `complaints` has a line for each case that broke a promise."""
    rng = random.Random(f"{seed} {file.name}")
    with tempfile.NamedTemporaryFile(suffix=".cases") as out:
        out.writelines(itertools.islice(cases(file.read_bytes(), rng), 0, None, every))
        out.flush()
        done = subprocess.run([str(hostile), str(file), out.name], capture_output=True, text=True)
    totals: dict[str, Any] = json.loads(done.stdout)
    return {**totals, "complaints": done.stderr}


def main() -> int:
    hostile, folder = Path(sys.argv[1]), Path(sys.argv[2])
    bad = 0
    for file in sorted(folder.glob("*.pte")):
        totals = attack(hostile, file)
        complaints = totals.pop("complaints")
        found = totals["crashes"] + totals["hangs"] + totals["broken"]
        bad += found
        print(f"{file.name:16}", " ".join(f"{k} {v}" for k, v in totals.items()), flush=True)
        sys.stdout.write(complaints[-4000:] if found else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
