"""Every operator's kernel on 64-bit Arm, under an emulator: the bytes of this machine, from each variant."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from ops import harness
from ops.cases import CASES
from ops.harness import Status, canonical
from ops.library import ROOT, Target, program
from ops.remote import Remote

TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]


@pytest.fixture(scope="module")
def arm() -> Iterator[Remote]:
    if MISSING and not os.environ.get("PTERON_REQUIRE_ALL"):
        pytest.skip(f"not installed: {', '.join(MISSING)}")
    built = program(Target((TOOLS[0],), "aarch64", ROOT / "build/ops-aarch64"))
    remote = Remote([TOOLS[1], "-cpu", "max", str(built)])
    yield remote
    remote.close()


@pytest.mark.parametrize("op", sorted(CASES))
def test_same_bytes_on_arm(op: str, arm: Remote) -> None:
    for i, case in enumerate(CASES[op]):
        outs = harness.outs_of(case)
        here = harness.run(case, outs)
        for cpu in harness.variants(arm.features()):
            there = harness.run(case, outs, cpu=cpu, threads=2, remote=arm)
            how = f"case {i} ({case}), cpu {cpu:#x}"
            assert (there.status, there.text) == (here.status, here.text), how
            if here.status != Status.OK:
                assert there.position == here.position, how
                continue  # what another thread had computed by then is unspecified
            for a, b in zip(here.outputs, there.outputs):
                assert canonical(a) == canonical(b), how
