"""Adding things stays cheap: an operator, an ISA variant and a delegate, each in a scratch copy of the tree.

The copy is changed by hand-written files only where CONTRIBUTING.md says, the rest is generated, built and run: the new
operator from an ONNX model to the numbers, the variant instead of its neighbour with the same bytes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

DET_ROW = '''

@op(id=999, since=1, shape="[*b, n, n] -> [*b]", bound="8 K eps")
def determinant(x: F) -> F:
    """The determinant of each matrix, by elimination without pivoting."""
    return np.linalg.det(x)
'''

DET_KERNEL = """/* determinant: of each [n, n] matrix, by elimination without pivoting. */
#include <string.h>

#include "gen/ops.h"

static pte_status scratch(const pte_call *call, uint64_t *out_bytes) {
  const int64_t n = call->in[0]->shape[call->in[0]->rank - 1];
  if (n > 4096) return PTE_UNSUPPORTED;
  *out_bytes = (uint64_t)(n * n) * sizeof(float);
  return PTE_OK;
}

static float eliminate(int64_t n, float *m) {
  float product = 1.0f;
  for (int64_t p = 0; p < n; p++) {
    product *= m[p * n + p];
    for (int64_t r = p + 1; r < n; r++) {
      const float f = m[r * n + p] / m[p * n + p];
      for (int64_t c = p; c < n; c++) m[r * n + c] -= f * m[p * n + c];
    }
  }
  return product;
}

static pte_status run(const pte_call *call) {
  const pte_tensor *x = call->in[0];
  const int64_t n = x->shape[x->rank - 1], size = n * n, count = pte_tensor_count(call->out[0]);
  for (int64_t i = 0; i < count; i++) {
    memcpy(call->scratch, (const float *)x->data + i * size, (size_t)size * sizeof(float));
    ((float *)call->out[0]->data)[i] = eliminate(n, call->scratch);
  }
  return PTE_OK;
}

const pte_kernel pte_determinant_kernel = {.scratch = scratch, .run = run};
"""

DET_LOWERING = """

@lowers("Det")
def lower_det(l: Lowering, node: Node) -> list[Ref]:
    x = node.inputs[0]
    assert x is not None
    return l.emit("determinant", [x], {}, [(x.dtype, x.shape[:-2])])
"""

GENERATED = (
    "runtime_c/gen/",
    "runtime_c/include/pteron/types.h",
    "export/layout.py",
    "docs/generated/",
)


def sh(where: Path, *command: object, **environment: str) -> str:
    done = subprocess.run(
        [str(c) for c in command],
        cwd=where,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def python(copy: Path, *arguments: str) -> None:
    """Runs the copy's own package: -S keeps an editable installation of this tree out of the way."""
    libraries = [p for p in sys.path if p.endswith("site-packages")]
    tree = os.pathsep.join([str(copy / "build/tree"), *libraries])
    sh(copy, sys.executable, "-S", *arguments, PYTHONPATH=tree)


@pytest.fixture(scope="module")
def scratch(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tracked files, committed, with the import tree of the package."""
    copy = tmp_path_factory.mktemp("scratch")
    files = sh(root, "git", "ls-files").split()
    for name in files:
        if (root / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((root / name).read_bytes())
    tree = copy / "build/tree/pteron"
    tree.mkdir(parents=True)
    for path in (copy / "bindings/pteron").iterdir():
        (tree / path.name).symlink_to(path)
    for name in ("schema", "export", "quantize"):
        (tree / name).symlink_to(copy / name)
    sh(copy, "git", "init", "-q")
    sh(copy, "git", "add", "-A")
    sh(copy, "git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "copy")
    return copy


def changed(copy: Path) -> set[str]:
    """Files changed or added by hand since the copy was made."""
    names = {line[3:] for line in sh(copy, "git", "status", "--porcelain", "-uall").splitlines()}
    return {n for n in names if not n.startswith(GENERATED) and not n.startswith("build/")}


def add_all_three(copy: Path) -> None:
    ops = copy / "schema/ops_reduce.py"
    ops.write_text(ops.read_text() + DET_ROW)
    (copy / "runtime_c/kernels/determinant.c").write_text(DET_KERNEL)
    lowering = copy / "export/lower/reduction.py"
    lowering.write_text(lowering.read_text() + DET_LOWERING)
    kernels = copy / "runtime_c/kernels"
    portable = (kernels / "blend_f32__portable.c").read_text()
    (kernels / "blend_f32__twin.c").write_text(portable.replace("__portable", "__twin"))
    rows = (kernels / "variants.inc").read_text()
    row = "PTE_VARIANT(blend_f32, portable, PTE_CPU_ANY)"
    assert row in rows
    (kernels / "variants.inc").write_text(
        rows.replace(row, row.replace("portable", "twin") + "\n" + row)
    )
    null = (copy / "runtime_c/delegates/null/null.c").read_text()
    (copy / "runtime_c/delegates/echo").mkdir()
    echo = null.replace("null", "echo").replace('#include "pteron/delegate.h"', '#include "echo.h"')
    (copy / "runtime_c/delegates/echo/echo.c").write_text(echo)
    header = '/* The echo delegate. */\n#include "pteron/delegate.h"\nPTE_API const pte_delegate_api *pte_delegate_echo(void);\n'
    (copy / "runtime_c/delegates/echo/echo.h").write_text(header)
    python(copy, "schema/gen.py")


def test_an_operator_a_variant_and_a_delegate_touch_only_their_files(scratch: Path) -> None:
    add_all_three(scratch)
    assert changed(scratch) == {
        "schema/ops_reduce.py",
        "runtime_c/kernels/determinant.c",
        "export/lower/reduction.py",
        "runtime_c/kernels/blend_f32__twin.c",
        "runtime_c/kernels/variants.inc",
        "runtime_c/delegates/echo/echo.c",
        "runtime_c/delegates/echo/echo.h",
    }
    sh(scratch, "cmake", "-S", ".", "-B", "build/c", "-DCMAKE_BUILD_TYPE=Release")
    sh(scratch, "cmake", "--build", "build/c", "-j", "2")
    determinant_runs(scratch)
    delegate_is_known(scratch)


def delegate_is_known(copy: Path) -> None:
    """pte_run permits the new delegate by its name; the library does not hold it."""
    runner = next(p for p in (copy / "build/c").rglob("pte_run") if p.is_file())
    sh(copy, runner, "build/det.pte", "--input", "x=build/x.npy", "--delegate", "echo")
    library = next(p for p in (copy / "build/c").rglob("libpteron.so*"))
    assert "pte_delegate_echo" not in sh(copy, "nm", "-D", library)


def determinant_runs(copy: Path) -> None:
    """An ONNX Det goes through the copy's exporter and the copy's pte_run."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Det", ["x"], ["y"])],
        "det",
        [info("x", TensorProto.FLOAT, [3, 4, 4])],
        [info("y", TensorProto.FLOAT, [3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    (copy / "build/det.onnx").write_bytes(model.SerializeToString())
    code = (
        "from pteron.export.export import export\nfrom pteron.export.emit import emit\nfrom pathlib import Path\n"
        "emit(export('build/det.onnx'), Path('build/det.pte'))"
    )
    python(copy, "-c", code)
    x = np.random.default_rng(0).standard_normal((3, 4, 4)).astype(np.float32)
    x += 4 * np.eye(4, dtype=np.float32)
    np.save(copy / "build/x.npy", x)
    runner = next(p for p in (copy / "build/c").rglob("pte_run") if p.is_file())
    sh(copy, runner, "build/det.pte", "--input", "x=build/x.npy", "--out", "build")
    got, want = np.load(copy / "build/output_0.npy"), np.linalg.det(x.astype(np.float64))
    np.testing.assert_allclose(got, want, rtol=1e-4)
