"""A library for one program: built with its list of kernels it is small, holds nothing else, and gives the same bytes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pteron
from pteron.cli import main
from pteron.schema.ops import OPS
from pteron.schema.signature import CONTROL

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("cmake", "nm", "strip")),
        reason="needs cmake and binutils",
    ),
]
MOST = 204 * 1024
"""With variants for AVX2; the whole library has 764 KB."""


def sh(*command: str | Path, code: int = 0) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert done.returncode == code, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """build/small, made with the list of the digit classifier, which lies there too."""
    folder = root / "build/small"
    folder.mkdir(parents=True, exist_ok=True)
    listed = tmp_path_factory.mktemp("list") / "kernels.h"
    source, program = root / "examples/digits/digits.onnx", folder / "digits.pte"
    words = ["export", str(source), "-o", str(program), "--emit-kernel-list", str(listed), "-q"]
    assert main(words) == 0
    if not (folder / "kernels.h").exists() or (
        (folder / "kernels.h").read_text() != listed.read_text()
    ):
        shutil.copy(listed, folder / "kernels.h")
    options = [f"-DPTE_KERNEL_LIST={folder}/kernels.h", "-DPTE_BUILD_TESTS=OFF", "-DPTE_AVX512=OFF"]
    sh("cmake", "-S", root, "-B", folder / "build", *options)
    sh("cmake", "--build", folder / "build", "-j", "2", "--target", "pteron", "pte_run")
    return folder


def test_it_is_a_quarter_of_the_whole(built: Path) -> None:
    library = built / "libpteron.stripped.so"
    sh("strip", "--strip-unneeded", "-o", library, built / "build/runtime_c/libpteron.so")
    assert library.stat().st_size < MOST


def test_no_other_kernel_is_in_it(built: Path) -> None:
    names = sh("nm", "--defined-only", built / "build/runtime_c/libpteron.so")
    found = set(re.findall(r" [rRdD] pte_(\w+)_kernel$", names, re.M))
    left_out = set(re.findall(r"PTE_WITHOUT_(\w+)", (built / "kernels.h").read_text()))
    kept = {op for op in OPS if op.upper() not in left_out and op not in CONTROL}
    assert found == kept
    assert {"conv", "matmul", "max_pool"} <= kept and len(kept) < 8
    gone = r"(attention|recurrent|blend|format_decode|gemm_static|gemm_blocks|f64_f16|_bf16|_i16)"
    assert not re.findall(rf" [tT] \w*{gone}\w*$", names, re.M), "code of what is left out"


def test_it_runs_its_program_and_refuses_another(built: Path, root: Path, tmp_path: Path) -> None:
    run = built / "build/runtime_c/pte_run"
    images = (np.load(root / "examples/digits/test.npz")["image"][:5] / 16).astype(np.float32)
    np.save(tmp_path / "images.npy", images)
    sh(run, built / "digits.pte", "--input", f"image={tmp_path}/images.npy", "--out", tmp_path)
    want = pteron.load(built / "digits.pte", threads=1)(images)
    assert np.load(tmp_path / "output_0.npy").tobytes() == want.tobytes()
    other = tmp_path / "other.pte"
    pteron.export_model(root / "examples/digits/digits.onnx", other, quantize="nf4")
    assert re.search(r"not in this build|no kernel", sh(run, other, code=1))
