"""Every operator's kernel against its row: values within the bound, and the same bytes from every variant, number of
threads, layout in memory, and in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ops import harness
from ops.cases import CASES
from ops.harness import Case, Result, Status, Weight, canonical

from pteron.schema.ops import OPS
from pteron.schema.row import Out
from pteron.schema.signature import CONTROL, signature
from pteron.schema.steps import Step

ALL = [
    pytest.param(case, id=f"{name}-{i}-{case}"[:100])
    for name, cases in CASES.items()
    for i, case in enumerate(cases)
]


@pytest.mark.parametrize("op", [name for name in OPS if name not in CONTROL])
def test_every_row_has_a_kernel_and_cases(op: str) -> None:
    assert harness.has_kernel(op), f"{op}: no runtime_c/kernels/<family>/{op}.c"
    assert CASES.get(op), f"{op}: no cases in tests/ops/cases"


def test_cases_are_of_rows() -> None:
    assert set(CASES) <= set(OPS)
    assert all(case.op == name for name, cases in CASES.items() for case in cases)


@pytest.mark.parametrize("case", ALL)
def test_meaning(case: Case) -> None:
    outs = harness.outs_of(case)
    got = harness.run(case, outs)
    assert got.status == case.status, (
        f"{got.status.name}: {got.text} (stage {got.stage}, port {got.port})"
    )
    if case.status != Status.OK:
        assert case.position is None or got.position == case.position
        return
    wants = harness.expected(case, outs)
    for i, (y, want, allowed) in enumerate(
        zip(got.outputs, wants, harness.tolerance(case, outs, wants))
    ):
        if y is not None:
            assert not (wrong := harness.close(y, want, allowed)), f"output {i}: {wrong}"


@pytest.mark.parametrize("case", ALL)
def test_same_bytes(case: Case) -> None:
    """Variants and threads, with strided inputs and outputs, in place, with fewer outputs."""
    outs = harness.outs_of(case)
    first = harness.run(case, outs)
    for cpu in harness.variants():
        for threads in (1, 2, 3):
            _same(
                first,
                harness.run(case, outs, threads=threads, cpu=cpu),
                f"cpu {cpu:#x}, {threads} threads",
            )
    if case.status != Status.OK:
        return
    row = OPS[case.op]
    for cpu in harness.variants():
        if moved := _strided_inputs(case):
            _same(
                first,
                harness.run(case, outs, cpu=cpu, inputs=moved),
                f"strided inputs, cpu {cpu:#x}",
            )
        if any(p.name in row.strided for p in signature(row).outputs):
            for how in (True, "part"):
                _same(
                    first,
                    harness.run(case, outs, cpu=cpu, strided_outputs=how),
                    f"strided outputs ({how}), cpu {cpu:#x}",
                )
        for i in _in_place(case, outs):
            _same(
                first,
                harness.run(case, outs, cpu=cpu, in_place=i),
                f"in place of input {i}, cpu {cpu:#x}",
            )
    for i, port in enumerate(signature(row).outputs):
        if port.optional and outs[i] is not None:
            fewer = harness.run(case, [None if j == i else o for j, o in enumerate(outs)])
            assert fewer.status == Status.OK
            assert all(
                canonical(a) == canonical(b)
                for a, b in zip(fewer.outputs, first.outputs)
                if a is not None
            )


def _same(first: Result, other: Result, how: str) -> None:
    assert (other.status, other.scratch_bytes >= 0) == (first.status, True), (
        f"{how}: {other.status.name}: {other.text}"
    )
    if first.status != Status.OK:
        assert (other.position, other.text) == (first.position, first.text), how
        return
    for i, (a, b) in enumerate(zip(first.outputs, other.outputs)):
        if canonical(a) != canonical(b):
            assert a is not None and b is not None
            raise AssertionError(
                f"{how}: output {i}: {harness.close(b, a, 0.0) or 'zeros of other sign'}"
            )


def _strided_inputs(case: Case) -> list[Any] | None:
    strided = OPS[case.op].strided
    moved = list(case.inputs)
    for i, port in enumerate(harness.ports(case)):
        x = moved[i]
        if (
            port.name in strided
            and x is not None
            and not isinstance(x, Weight)
            and harness.stored_bytes(harness.name_of(x.dtype), 8) >= 8
        ):
            moved[i] = harness.scattered(x)
    return moved if any(a is not b for a, b in zip(moved, case.inputs)) else None


def _in_place(case: Case, outs: list[Out | None]) -> list[int]:
    """Inputs whose memory output 0 may share, that look like it, and are not given as views."""
    first = outs[0]
    found = []
    for i, port in enumerate(harness.ports(case)):
        x = case.inputs[i]
        if port.name in OPS[case.op].inplace and isinstance(x, np.ndarray) and first is not None:
            alike = x.shape == first.shape and harness.name_of(x.dtype) == first.dtype
            if alike and harness.stored_bytes(first.dtype, 8) >= 8:
                found.append(i)
    return found


def _store(dtype: str) -> Case:
    """A NaN that arithmetic made is negative on x86 and positive on Arm: bytes of 16 and of 8 bits must not tell."""
    x = np.tile(np.float32([np.nan, -np.nan, 1.0, -1.0]), 20)
    x.view(np.uint32)[4] = 0xFFFFFFFF
    if dtype in ("f16", "bf16"):
        steps = (Step("load", "f32", 0), Step("store", "f32", args=(0,)))
        return Case("pointwise", [x], {"steps": steps}, out=[Out((80,), dtype)])
    return Case("repack", [x], {"saturate": False}, out=[Out((80,), dtype)])


@pytest.mark.parametrize(
    "dtype", ["f16", "bf16", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0"]
)
def test_every_nan_in_narrow_bytes_is_the_same(dtype: str) -> None:
    case = _store(dtype)
    for cpu in harness.variants():
        y = harness.run(case, harness.outs_of(case), cpu=cpu).outputs[0]
        assert y is not None
        codes = y.view(np.uint8 if y.itemsize == 1 else np.uint16)
        positive = np.float32([np.nan]).astype(y.dtype).view(codes.dtype)[0]
        assert set(codes[0::4]) == set(codes[1::4]) == {positive}, f"cpu {cpu:#x}"
