"""The elementary functions of core/math.h against f64 and extended precision: the ulp that the step rows promise.

f32: every exponent and sign, mantissas at random, and every number close to a special one or to where a function changes
its formula. `PTERON_MATH_SAMPLES` sets how many (default 2^18 a function). Measured over 2^24 samples, largest error in ulp:

exp 1.00, log 0.84, sin 0.84, cos 0.84, tan 2.39, asin 2.24, acos 1.23, atan 2.49, sinh 1.53,
cosh 1.44, tanh 2.28, asinh 1.64, acosh 2.01, atanh 1.99, erf 0.96, log1p 1.42, expm1 1.40, pow 0.51.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from ops.harness import Case, canonical, features, kernels, run

from pteron.schema.row import Out
from pteron.schema.steps import STEPS, Step

Array = NDArray[Any]
SAMPLES = int(os.environ.get("PTERON_MATH_SAMPLES", 1 << 18))
ONE = [s for s in STEPS.values() if s.ulp and s.arity == 1] + [
    STEPS[n] for n in ("floor", "ceil", "trunc", "nearest", "sqrt")
]
EDGES = (0.25, 0.375, 0.41421357, 0.5, 0.7071068, 0.92773438, 1.0, 1.4142135, 1.5707964, 2.4142137, 3.1415927, 4.0, 10.0,
         20.0, 88.72284, 89.41599, 103.97208, 65536.0, 8388608.0, 16777216.0, 33554432.0, 9.223372e18, 3.4028235e38)  # fmt: skip


def samples_f32(count: int) -> Array:
    """Stratified over sign and exponent; neighbours of the edges and of the ends; the specials."""
    rng = np.random.default_rng(1)
    exponents = np.repeat(np.arange(512, dtype=np.uint32) << 23, max(1, count // 512))
    spread = exponents | rng.integers(0, 1 << 23, len(exponents), np.uint32)
    edges = (
        np.concatenate([np.float32(EDGES), np.float32([0, 1.17549435e-38, np.inf])])
        .view(np.uint32)
        .astype(np.int64)
    )
    close = (edges[:, None] + np.arange(-200, 201)).reshape(-1)
    close = close[(close >= 0) & (close <= 0x7FC00000)].astype(np.uint32)
    few = (np.arange(2000, dtype=np.float32) * np.float32(np.pi / 2)).view(np.uint32)
    return np.concatenate([spread, close, close | np.uint32(1 << 31), few, few + 1]).view(
        np.float32
    )


def samples_f64(count: int) -> Array:
    rng = np.random.default_rng(2)
    exponents = np.repeat(np.arange(4096, dtype=np.uint64) << np.uint64(52), max(1, count // 4096))
    spread = exponents | rng.integers(0, 1 << 52, len(exponents), np.uint64)
    near = rng.standard_normal(count // 2) * 10.0 ** rng.integers(-8, 4, count // 2)
    edges = np.array([*EDGES, 708.4, 709.78, 710.4758, 745.13, 1e6, 1e300, np.inf])
    edges = np.concatenate([np.nextafter(edges, 0), edges, np.nextafter(edges, np.inf)])
    return np.concatenate([spread.view(np.float64), near, edges, -edges, [0.0, -0.0, np.nan]])


def apply(function: int, x: Array, x2: Array | None = None) -> Array:
    y = np.empty_like(x)
    call = kernels().pte_test_map if x.dtype == np.float32 else kernels().pte_test_map_f64
    import ctypes

    pointers = [ctypes.c_void_p((x if a is None else a).ctypes.data) for a in (x, x2, y)]
    call(ctypes.c_uint32(function), *pointers, ctypes.c_size_t(len(x)))
    return y


def ulps(got: Array, want: Array) -> tuple[float, Any]:
    """The largest error, in units of the last place of the wanted value, and where; infinite where NaN, infinities or signs of
    zero differ."""
    kind = got.dtype
    info = np.finfo(kind)
    with np.errstate(all="ignore"):
        rounded = want.astype(kind)
        unit = (
            np.maximum(np.exp2(np.floor(np.log2(np.abs(want)))), want.dtype.type(info.tiny))
            * info.eps
        )
        error = np.abs(got.astype(want.dtype) - want) / unit
        agree = (np.isnan(rounded) & np.isnan(got)) | (
            (got == rounded) & ((got != 0) | (np.signbit(got) == np.signbit(rounded)))
        )
        error = np.where(
            agree, np.where(np.isfinite(rounded) & np.isfinite(error), error, 0), error
        )
        overflow = (
            np.isinf(rounded)
            & (np.abs(got) == info.max)
            & (np.abs(want) < want.dtype.type(info.max) * (1 + 4 * info.eps))
        )
        error = np.where(np.isnan(error) | np.isinf(error), np.where(overflow, 1.0, np.inf), error)
    return float(error.max()), int(error.argmax())


def reference(name: str) -> Callable[..., Array]:
    if name != "erf":
        return STEPS[name].meaning
    torch = pytest.importorskip("torch")
    return lambda x: (
        torch.special.erf(torch.from_numpy(x.astype(np.float64))).numpy().astype(x.dtype)
    )


@pytest.mark.parametrize("name", [s.name for s in ONE])
def test_f32(name: str) -> None:
    x = samples_f32(SAMPLES)
    wide = np.float64 if name != "tan" else np.longdouble
    with np.errstate(all="ignore"):
        want = reference(name)(x.astype(wide))
    worst, at = ulps(apply(STEPS[name].id, x), want)
    print(f"{name:8} f32 {worst:.3f} at {x[at]!r} ({float(x[at]).hex()})")
    assert worst <= (STEPS[name].ulp or 0.5), f"{worst:.2f} ulp at {x[at]!r}"


@pytest.mark.parametrize("name", [s.name for s in ONE])
def test_f64(name: str) -> None:
    x = samples_f64(SAMPLES)
    with np.errstate(all="ignore"):
        want = reference(name)(x.astype(np.longdouble))
    allowed = (STEPS[name].ulp or 0.5) + (1 if name == "erf" else 0)  # the oracle of erf is f64
    worst, at = ulps(apply(STEPS[name].id, x), want)
    print(f"{name:8} f64 {worst:.3f} at {x[at]!r}")
    assert worst <= allowed, f"{worst:.2f} ulp at {x[at]!r}"


@pytest.mark.parametrize("name", [s.name for s in ONE] + ["pow", "fmod"])
def test_variants_agree(name: str) -> None:
    """The engine's best variant against the portable one, on the f32 samples."""
    x = samples_f32(SAMPLES)
    load = Step("load", "f32", 0, arg=0)
    steps = (load, Step(name, "f32", 1, (0,)), Step("store", "f32", 1, (1,)))
    inputs = [x]
    if STEPS[name].arity == 2:
        steps = (load, Step("load", "f32", 1, arg=1), Step(name, "f32", 1, (0, 1)), steps[2])
        inputs = list(bases_and_exponents(np.float32, SAMPLES))
    case = Case("pointwise", inputs, {"steps": steps})
    out = [Out(inputs[0].shape, "f32")]
    first, best = (canonical(run(case, out, cpu=cpu).outputs[0]) for cpu in (0, features()))
    assert first == best
    if len(inputs) == 1:
        assert first == canonical(apply(STEPS[name].id, x))


def bases_and_exponents(kind: Any, count: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(3)
    special = np.array(
        [
            0.0,
            -0.0,
            1,
            -1,
            2,
            -2,
            3,
            -3,
            0.5,
            -0.5,
            1.5,
            -2.5,
            np.inf,
            -np.inf,
            np.nan,
            1e-40,
            2**24,
            2**24 + 2,
            2.0**53,
            1e30,
            -1e30,
            1e-30,
        ]
    )
    a, b = np.repeat(special, len(special)), np.tile(special, len(special))
    x = np.exp(rng.standard_normal(count) * 10.0 ** rng.integers(-4, 2, count))
    top = 88 if kind is np.float32 else 700
    y = rng.uniform(-top, top, count) / np.where(np.log(x) == 0, 1, np.log(x))
    negative = rng.random(count) < 0.2
    x, y = np.where(negative, -x, x), np.where(negative & (np.abs(y) < 1e15), np.rint(y), y)
    return np.concatenate([a, x]).astype(kind), np.concatenate([b, y]).astype(kind)


@pytest.mark.parametrize("name", ["pow", "fmod"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_two_operands(name: str, kind: Any) -> None:
    x, y = bases_and_exponents(kind, SAMPLES)
    with np.errstate(all="ignore"):
        want = STEPS[name].meaning(x.astype(np.longdouble), y.astype(np.longdouble))
    worst, at = ulps(apply(STEPS[name].id, x, y), want)
    print(f"{name:8} {kind.__name__} {worst:.3f} at {x[at]!r}, {y[at]!r}")
    assert worst <= (STEPS[name].ulp or 0.5), f"{worst:.2f} ulp at {x[at]!r}, {y[at]!r}"


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_any_size(name: str) -> None:
    """Numbers close to multiples of pi / 2, and huge ones, against 300 digits."""
    mp = pytest.importorskip("mpmath")
    rng = np.random.default_rng(4)
    hard = np.concatenate([
        np.float32([1.5707964, 3.1415927, 16367173.0 * 2.0**72, 1.6367173e7, 5.2122633e-30, 3.4028235e38]),
        (rng.integers(1, 2**24, 300) * np.exp2(rng.integers(-3, 104, 300))).astype(np.float32),
    ])  # fmt: skip
    wide = np.concatenate(
        [
            hard.astype(np.float64),
            [6381956970095103.0 * 2.0**797, 1e22, 1e300],
            rng.integers(1, 2**53, 300) * np.exp2(rng.integers(-30, 970, 300)),
        ]
    )
    for x in (hard, wide):
        got = apply(STEPS[name].id, x)
        with mp.workprec(1300):
            want = np.array(
                [mp.nstr(getattr(mp, name)(mp.mpf(float(v))), 30) for v in x], dtype=np.longdouble
            )
        worst, at = ulps(got, want)
        print(f"{name:8} {x.dtype} hard {worst:.3f} at {x[at]!r}")
        assert worst <= STEPS[name].ulp, f"{worst:.2f} ulp at {x[at]!r}"
