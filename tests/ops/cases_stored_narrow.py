"""Cases of unpack, repack (every code, every midpoint and its neighbours) and matmul_integer."""

from __future__ import annotations

import numpy as np
from ops.harness import Array, Case, Status

from pteron.schema.dtypes import DTYPES
from pteron.schema.row import Out

RNG = np.random.default_rng(14)
TYPES = [d.name for d in DTYPES.values() if d.packed]
FLOATS = [name for name in TYPES if name[0] == "f"]
INTEGERS = [name for name in TYPES if name[0] != "f"]
BITS = {"f4": 4, "f6": 6, "f8": 8}


def codes(name: str) -> Array:
    return np.arange(1 << BITS[name[:2]]).astype(np.uint8).view(DTYPES[name].numpy)


def probes(name: str) -> Array:
    """Every number of the type, every midpoint with its neighbours, far ones, random bits."""
    values = codes(name).astype(np.float32)
    values = np.unique(values[np.isfinite(values)])
    middle = ((values[1:].astype(np.float64) + values[:-1]) / 2).astype(np.float32)
    up, down = (np.nextafter(middle, np.float32(to)) for to in (np.inf, -np.inf))
    far = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 464, 465, 480, 61440, 3e38])
    noise = RNG.integers(0, 2**32, 3001).astype(np.uint32).view(np.float32)
    found = np.concatenate([values, middle, up, down, far, -far, noise])
    # below 0, F8E8M0 has no number at all
    return np.abs(found) if name == "f8e8m0" else found


def unpack(name: str, count: int) -> Case:
    if name[0] == "f":
        x = np.resize(codes(name), count)
        return Case("unpack", [x], out=[Out(x.shape, "f32")], want=[x.astype(np.float32)])
    x = RNG.integers(-8, 16, count).astype(DTYPES[name].numpy)
    return Case("unpack", [x], out=[Out(x.shape, "i64")])


def repack(name: str, saturate: bool) -> Case:
    x = probes(name) if name[0] == "f" else RNG.integers(-99, 99, 1003)
    out = Out(x.shape, name)
    from pteron.schema.ops import OPS

    want = OPS["repack"].meaning(x, saturate=saturate, out=(out,))
    return Case("repack", [x], {"saturate": saturate}, out=[out], want=[want])


def matmul(a: tuple[int, ...], b: tuple[int, ...]) -> Case:
    low, high = -(2**62), 2**62
    return Case("matmul_integer", [RNG.integers(low, high, a), RNG.integers(low, high, b)])


CASES = [
    *(unpack(name, n) for name in TYPES for n in (0, 1, 3, 256, 1003)),
    *(repack(name, saturate) for name in TYPES for saturate in (True, False)),
    *(
        Case("repack", [np.zeros(n, np.float32)], out=[Out((n,), "f6e2m3")], want=[np.zeros(n)])
        for n in (0, 1, 2, 3, 5)
    ),
    Case(
        "unpack",
        [np.zeros(3, DTYPES["i4"].numpy)],
        out=[Out((3,), "f32")],
        status=Status.BAD_PROGRAM,
    ),
    Case("repack", [np.zeros(3)], out=[Out((3,), "i4")], status=Status.BAD_PROGRAM),
    *(
        matmul(a, b)
        for a, b in (
            ((3, 4), (4, 5)),
            ((1, 1), (1, 1)),
            ((2, 3, 0), (2, 0, 4)),
            ((2, 2, 7, 33), (2, 2, 33, 17)),
            ((2, 0, 3), (2, 3, 4)),
        )
    ),
]
