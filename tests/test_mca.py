"""Predicted shares of peak of the inner loops for 64-bit Arm (benchmarks/mca.py): a change that spills or stalls shows here."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from typing import Any, Final

import pytest

ROOT = Path(__file__).resolve().parent.parent


def load() -> Any:
    spec = importlib.util.spec_from_file_location("mca", ROOT / "benchmarks/mca.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules["mca"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MCA = load()

pytestmark = pytest.mark.skipif(bool(MCA.missing()), reason=f"needs {', '.join(MCA.TOOLS)}")

FLOORS: Final[dict[str, tuple[float | None, ...]]] = {
    "f32 tile": (0.77, 0.97, 0.98, 0.98, 0.98),
    "f32 row": (0.14, 0.33, 0.85, 0.85, 0.65),
    "f32 depthwise": (0.43, 0.60, 0.98, 0.98, 0.98),
    "i8 tile, SMMLA": (None, 0.51, None, 0.98, 0.98),
    "i8 tile, SDOT": (0.80, 0.63, 0.98, 0.98, 0.98),
    "i8 tile, no SDOT": (0.30, 0.13, 0.80, 0.40, 0.80),
    "i8 depthwise": (0.22, 0.16, 0.96, 0.96, 0.47),
    "i4 rows, SDOT": (0.32, 0.19, 0.46, 0.46, 0.45),
}
"""What LLVM 19 predicts, a little less, on the cores of `CPUS` in turn; None: it lacks the instruction. A better loop raises
its line."""


@pytest.fixture(scope="module")
def shares() -> dict[tuple[str, str], Any]:
    return dict(MCA.shares())


def test_every_loop_has_its_floors() -> None:
    assert set(FLOORS) == set(MCA.KERNELS)


@pytest.mark.parametrize("name", FLOORS)
def test_a_loop_reaches_its_share(name: str, shares: dict[tuple[str, str], Any]) -> None:
    for cpu, least in zip(MCA.CPUS, FLOORS[name], strict=True):
        assert ((name, cpu) in shares) == (least is not None)
        if least is None:
            continue
        assert least <= shares[name, cpu].share <= 1.05, (name, cpu, shares[name, cpu])
        assert shares[name, cpu].spills == 0, (name, cpu)


@pytest.mark.skipif(shutil.which(MCA.GCC) is None, reason=f"needs {MCA.GCC}")
@pytest.mark.parametrize("name", ["f32 tile", "i8 tile, SMMLA", "i8 tile, SDOT"])
def test_gcc_keeps_the_order_too(name: str) -> None:
    """Left to itself GCC 12 reads ahead until the sums of six rows leave the registers."""
    kernel = MCA.KERNELS[name]
    loop = MCA.widest(kernel, MCA.assembly(kernel, (MCA.GCC, "-fno-tree-pre")))
    for cpu, least in zip(MCA.CPUS, FLOORS[name], strict=True):
        if least is not None:
            found = MCA.share(kernel, loop, cpu)
            assert found.share > least - 0.04 and found.spills == 0, (cpu, found)


def test_sums_on_the_stack_are_seen() -> None:
    """A tile of f32 whose sums go through memory is no tile any more."""
    kernel = MCA.KERNELS["f32 tile"]
    loop = MCA.widest(kernel)
    at = next(i for i, line in enumerate(loop) if "fmla" in line)
    worse = [*loop[: at + 1], "\tstr\tq0, [sp, #16]", "\tldr\tq0, [sp, #16]", *loop[at + 1 :]]
    assert MCA.share(kernel, worse, "neoverse-n1").spills == 2
    one = re.sub(r"\tfmla\t(v\d+).*", r"\\tfmla\\t\1", loop[at])
    chain = [re.sub(r"\tfmla\tv\d+", one, line) for line in loop]
    assert MCA.share(kernel, chain, "neoverse-n1").share < 0.3


def test_the_innermost_loop_is_found() -> None:
    text = """
f:
.LBB0_1:
	mov	x1, x2
.LBB0_2:
	fmla	v0.4s, v1.4s, v2.4s
	.loc	1 2 3
	b.ne	.LBB0_2
	cbnz	x0, .LBB0_1
.Lfunc_end0:
g:
.LBB1_1:
	b	.LBB1_1
"""
    ((first, *rest),) = MCA.innermost(text, "f")
    assert first == ".LBB0_2:" and len(rest) == 2
    with pytest.raises(ValueError, match="not in the assembly"):
        list(MCA.innermost(text, "h"))
