"""The same bytes whatever machine work is cut for, in the scratch and kept memory that were asked for: driver.c has a guard
behind either."""

from __future__ import annotations

import pytest
from ops import cases_matrix as f32
from ops import cases_matrix_int8 as int8
from ops import harness
from ops.cases import CASES
from ops.harness import Case, Status, canonical, meant

from pteron.runtime.cpu import Machine

MACHINES = {
    "8 KiB in 2 ways": Machine((8 << 10, 2, 64), (64 << 10, 4, 64)),
    "1 MiB, no L2": Machine((1 << 20, 16, 128), misses=200, memory_ns=300),
    "nothing known": Machine(),
    "bytes": Machine((7, 5, 3), (1, 1, 1), (1, 1, 1), 1, 1),
    "a set a line": Machine((48 << 10, 768, 64), (2 << 20, 16, 64), misses=48, memory_ns=120),
}
OPS = (
    *("conv", "conv_winograd", "conv_depthwise", "conv_block", "conv_i8", "conv_i16", "matmul", "matmul_int8"),
    *("matmul_turned", "batch_matmul", "attention", "copy", "gather_rows"),
)  # fmt: skip

LARGE = [
    f32.matmul((230,), 70, 600, True),
    f32.matmul((64,), 1100, 1024),
    f32.batch((2, 40, 300), (2, 300, 500)),
    f32.conv((24, 40), 40, 33, 3, begin=1, end=1),
    f32.conv((33, 64), 16, 24, 3, stride=2, begin=1, end=1),
    f32.depthwise((40, 40), 48, 3, begin=1, end=1),
    f32.winograd((40, 36), 64, 48),
    f32.block((20, 20), 16, 96, 24),
    int8.int8("i8_32", (200,), 70, 600),
    int8.turned((300,), 70, 1100),
]
"""Larger than the blocks of some machine in each of their axes."""


def some(op: str) -> list[Case]:
    """Those of most elements, and every so many of the others."""

    def elements(case: Case) -> int:
        return sum(0 if x is None else meant(x).size for x in case.inputs)

    by_size = sorted((c for c in CASES[op] if c.status == Status.OK), key=elements, reverse=True)
    return by_size[:12] + by_size[12 :: max(1, len(by_size) // 12)]


def check(case: Case, machine: Machine) -> None:
    outs = harness.outs_of(case)
    first = harness.run(case, outs)
    assert first.status == Status.OK, first.text
    for cpu, threads in ((0, 1), (harness.features(), 1), (harness.features(), 3)):
        got = harness.run(case, outs, cpu=cpu, threads=threads, machine=machine)
        assert got.status == Status.OK, (case, cpu, threads, got.text)
        for a, b in zip(first.outputs, got.outputs, strict=True):
            assert canonical(a) == canonical(b), (str(case), cpu, threads)


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("op", OPS)
def test_blocks_change_no_bit(op: str, machine: Machine) -> None:
    for case in some(op):
        check(case, machine)


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_blocks_of_large_operands_change_no_bit(machine: Machine) -> None:
    for case in LARGE:
        check(case, machine)


def test_machines_cut_differently() -> None:
    """Else nothing was tested: scratch holds a block."""
    case = f32.batch((1, 230, 600), (1, 600, 70))
    outs = harness.outs_of(case)
    taken = {harness.run(case, outs, machine=m).scratch_bytes for m in MACHINES.values()}
    assert len(taken) >= 2
