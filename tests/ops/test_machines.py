"""Every operator's kernel on other processors, under an emulator: the bytes of this machine, from each variant.

32-bit ones are not among them: requests are structures with addresses of 64 bits. tests/boards/test_sdk.py runs a program
for each operator there.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from ops import harness
from ops.cases import CASES
from ops.harness import Status, canonical
from ops.library import ROOT, Target, program
from ops.remote import Remote

from pteron.schema.isas import ISAS

pytestmark = pytest.mark.slow


@dataclasses.dataclass(frozen=True)
class Machine:
    """`untold`: features that the emulated processor has and the emulator tells nobody of."""

    name: str
    cc: tuple[str, ...]
    emulator: str
    cpu: str
    untold: int = 0


RISCV = ("clang-19", "--target=riscv64-linux-gnu")
MACHINES = [
    pytest.param(Machine("aarch64", ("aarch64-linux-gnu-gcc",), "qemu-aarch64", "max"), id="aarch64"),
    *(
        pytest.param(
            Machine(
                "riscv64", RISCV, "qemu-riscv64", f"rv64,v=true,vlen={bits},vext_spec=v1.0", 1 << ISAS["rvv"].feature
            ),
            id=f"riscv64-{bits}",
            marks=pytest.mark.boards,
        )
        for bits in (128, 256, 512)
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def built() -> Iterator[Callable[[Machine], Remote]]:
    """Makes the program for a machine, and starts it, once."""
    started: dict[Machine, Remote] = {}

    def remote(machine: Machine) -> Remote:
        missing = [t for t in (machine.cc[0], machine.emulator) if shutil.which(t) is None]
        if missing and not os.environ.get("PTERON_REQUIRE_ALL"):
            pytest.skip(f"not installed: {', '.join(missing)}")
        if machine not in started:
            file = ROOT / f"runtime_c/cmake/{machine.name}-linux-gnu.cmake"
            options = (f"-DCMAKE_TOOLCHAIN_FILE={file}",)
            target = Target(f"ops-{machine.name}", machine.cc, options)
            started[machine] = Remote([machine.emulator, "-cpu", machine.cpu, str(program(target))])
        return started[machine]

    yield remote
    for each in started.values():
        each.close()


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("op", sorted(CASES))
def test_same_bytes_there(
    machine: Machine,
    op: str,
    built: Callable[[Machine], Remote],
) -> None:
    elsewhere = built(machine)
    for i, case in enumerate(CASES[op]):
        outs = harness.outs_of(case)
        here = harness.run(case, outs)
        for cpu in harness.variants(elsewhere.features() | machine.untold):
            there = harness.run(case, outs, cpu=cpu, threads=2, remote=elsewhere)
            how = f"case {i} ({case}), cpu {cpu:#x}"
            assert (there.status, there.text) == (here.status, here.text), how
            if here.status != Status.OK:
                assert there.position == here.position, how
                continue  # what another thread had computed by then is unspecified
            for a, b in zip(here.outputs, there.outputs):
                assert canonical(a) == canonical(b), how
