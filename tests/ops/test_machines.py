"""Every operator's kernel on other processors, under an emulator: the bytes of this machine, from each variant.

32-bit ones are not among them: requests are structures with addresses of 64 bits. tests/boards/test_sdk.py runs a program
for each operator there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from ops import harness
from ops.cases import CASES
from ops.harness import Status, canonical
from ops.library import ROOT, Target, program
from ops.remote import Remote

MACHINES = [
    pytest.param("aarch64", ("aarch64-linux-gnu-gcc", "qemu-aarch64", "max"), id="aarch64"),
    pytest.param(
        "riscv64",
        ("riscv64-linux-gnu-gcc", "qemu-riscv64", "rv64"),
        id="riscv64",
        marks=pytest.mark.boards,
    ),
]


@pytest.fixture(scope="module")
def built() -> Iterator[Callable[[str, tuple[str, str, str]], Remote]]:
    """Makes the program for a machine, and starts it, once."""
    started: dict[str, Remote] = {}

    def remote(machine: str, tools: tuple[str, str, str]) -> Remote:
        missing = [tool for tool in tools[:2] if shutil.which(tool) is None]
        if missing and not os.environ.get("PTERON_REQUIRE_ALL"):
            pytest.skip(f"not installed: {', '.join(missing)}")
        if machine not in started:
            target = Target((tools[0],), machine, ROOT / f"build/ops-{machine}")
            started[machine] = Remote([tools[1], "-cpu", tools[2], str(program(target))])
        return started[machine]

    yield remote
    for each in started.values():
        each.close()


@pytest.mark.parametrize("machine, tools", MACHINES)
@pytest.mark.parametrize("op", sorted(CASES))
def test_same_bytes_there(
    machine: str,
    tools: tuple[str, str, str],
    op: str,
    built: Callable[[str, tuple[str, str, str]], Remote],
) -> None:
    elsewhere = built(machine, tools)
    for i, case in enumerate(CASES[op]):
        outs = harness.outs_of(case)
        here = harness.run(case, outs)
        for cpu in harness.variants(elsewhere.features()):
            there = harness.run(case, outs, cpu=cpu, threads=2, remote=elsewhere)
            how = f"case {i} ({case}), cpu {cpu:#x}"
            assert (there.status, there.text) == (here.status, here.text), how
            if here.status != Status.OK:
                assert there.position == here.position, how
                continue  # what another thread had computed by then is unspecified
            for a, b in zip(here.outputs, there.outputs):
                assert canonical(a) == canonical(b), how
