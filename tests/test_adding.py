"""Adding things stays cheap: an operator, an ISA and a variant for it, a variant for another, a storage format, a delegate and a
Graph pass, each in a scratch copy of the tree.

The copy is changed by hand-written files only where CONTRIBUTING.md says, the rest is generated, built and run: the new
operator from an ONNX model to the numbers, the variants as rows of the library's table, the format from real weights to what
NumPy says that its codes stand for, the pass in the exporter's own list.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from onnx import TensorProto, helper
from shell import sh

pytestmark = pytest.mark.slow

DET_ROW = '''

@op(id=999, since=1, shape="[*b, n, n] -> [*b]", bound="8 K eps")
def determinant(x: F) -> F:
    """The determinant of each matrix, by elimination without pivoting."""
    return np.linalg.det(x)
'''

DET_KERNEL = """/* determinant: of each [n, n] matrix, by elimination without pivoting. */
#include <string.h>

#include "gen/ops.h"

static pte_status needs(const pte_call *call, pte_needs *out) {
  const int64_t n = call->in[0]->shape[call->in[0]->rank - 1];
  if (n > 4096) return PTE_UNSUPPORTED;
  out->scratch = (uint64_t)(n * n) * sizeof(float);
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

const pte_kernel pte_determinant_kernel = {.needs = needs, .run = run};
"""

DET_LOWERING = """

@lowers("Det")
def lower_det(l: Lowering, node: Node) -> list[Ref]:
    x = node.inputs[0]
    assert x is not None
    return l.emit("determinant", [x], {}, [(x.dtype, x.shape[:-2])])
"""

FORMAT_ROW = """
row(61, "i6", 6, "f16", "Integers -32 .. 31 stored with 32 added.", block=32, levels=np.arange(-32, 32, dtype=np.float32))
"""

FORMAT_ENCODER = '''"""Integers -32 .. 31, f16 scale of 32."""

from typing import Final

from pteron.quantize.encode.elements import Element
from pteron.quantize.encode.format import BlockFormat
from pteron.schema.formats import FORMATS

I6: Final = Element("i6", 6, 31.0, 4, 0, levels=FORMATS["i6"].levels)
FORMAT: Final = BlockFormat("int6", "i6", I6, 32, "f16", "absmax", "uint8", 21)
'''

FORMAT_CODEC = """/* i6: the nearest of 64 integers, the lower one of a tie; blocks of 32, f16 scale, absmax / 31. */
#include "codec/block.h"
#include "gen/layout.h"

static void nearest(const float *w, size_t size, float step, uint8_t *codes) {
  for (size_t i = 0; i < size; i++) {
    float x = w[i] / step;
    unsigned code = 0;
    for (size_t l = 0; l < 63; l++) code += x > pte_i6_values[l] + 0.5f;
    codes[i] = (uint8_t)code;
  }
}

static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {
  uint16_t *scale = scales;
  for (size_t b = 0; b < count; b++, w += size, codes += size) {
    uint32_t bits = pte_block_absmax(w, size);
    if (bits >= PTE_BITS_INFINITE) return 1;
    uint16_t half = pte_f16_from_f32(pte_block_step(bits, 31.0f));
    if (half >= PTE_F16_INFINITE) return 1;
    scale[b] = half > 0 ? half : 1;
    nearest(w, size, pte_f32_from_f16(scale[b]), codes);
  }
  return 0;
}

const pte_codec pte_codec_i6 = {32, sizeof(uint16_t), encode, nearest};
"""

FORMAT_USE = """
import ctypes
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from pteron.export.file.emit import emit
from pteron.export.export import export
from pteron.quantize.encode import blocks
from pteron.quantize.encode.table import FORMATS
from pteron.quantize.quantize import transformer
from pteron.quantize.recipe.rules import recipe
from pteron.schema import formats


def write(source, out):
    program = export(source, transform=transformer(recipe("int6", algorithm="nearest")))
    assert {c.format for c in program.constants if c.layout == "panels"} == {"i6"}
    emit(program, Path(out))


write("examples/digits/digits.onnx", "build/digits.pte")
w = np.random.default_rng(0).standard_normal((96, 40)).astype(np.float32)
info = helper.make_tensor_value_info
graph = helper.make_graph(
    [helper.make_node("MatMul", ["x", "w"], ["y"])], "product",
    [info("x", TensorProto.FLOAT, ["n", 96])], [info("y", TensorProto.FLOAT, ["n", 40])],
    [numpy_helper.from_array(w, "w")],
)
write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), "build/product.pte")
encoded = blocks.reference(np.ascontiguousarray(w.T), FORMATS["int6"])
np.save("build/decoded.npy", formats.FORMATS["i6"].meaning(encoded.codes, encoded.scale).T)


class Codec(ctypes.Structure):
    _fields_ = [("block", ctypes.c_uint32), ("scale_bytes", ctypes.c_uint32), ("encode", ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p))]


row = Codec.in_dll(ctypes.CDLL("build/codec.so"), "pte_codec_i6")
dense, codes, scale = np.ascontiguousarray(w.T), np.zeros((40, 96), np.uint8), np.zeros((40, 3), np.float16)
assert row.encode(dense.ctypes.data, scale.size, row.block, codes.ctypes.data, scale.ctypes.data) == 0
assert codes.tobytes() == encoded.codes.tobytes() and scale.tobytes() == encoded.scale.tobytes()
"""

ECHOED = """
from pathlib import Path
import onnx_ir as ir
from pteron.export.capture import capture
from pteron.export.delegates import known
from pteron.export.file.emit import emit
from pteron.export.lower import lower
from pteron.export.delegates.partition import partition
from pteron.export.plan import plan
graph = ir.serde.deserialize_model(__import__("onnx").parser.parse_model(
    '<ir_version: 10, opset_import: ["": 22]> g (float[3, 4] x) => (float[12] y) '
    '<int64[1] s = {12}> { y = Reshape(x, s) }'))
graph = capture(graph)
rows = partition(graph, [known()["echo"]], "forbid", heavy=("Reshape",))
assert [r.delegate for r in rows] == ["echo"], rows
emit(plan(lower(graph)), Path("build/echo.pte"))
"""

ISA_ROW = """    Isa(
        "gfni", 30, "x86_64", "-mavx2 -mfma -mf16c -mgfni", "Galois fields", needs="avx2", cpuid="7.c8",
    ),
"""

PASS = '''"""Mul(Sigmoid(x), x) => Swish(x)."""

import onnx_ir as ir

from pteron.export import graph as g
from pteron.export.passes.match import matches, pattern


def recognise_swish(model: ir.Model) -> bool:
    """y = Mul(Sigmoid(x), x) => y = Swish(x). Idempotent: no Sigmoid is left."""
    changed = False
    for m in matches(model, pattern("y = Mul(Sigmoid(x), x)")):
        new = ir.node("Swish", [m["x"]])
        g.replace(m.nodes, [new], m["y"], new.outputs[0])
        changed = True
    return changed
'''

PASSED = """
import onnx, onnx_ir as ir
from pteron.export.capture import capture
from pteron.export.passes import run_passes
text = '<ir_version: 10, opset_import: ["": 22]> g (float[3] x) => (float[3] y) { s = Sigmoid(x) y = Mul(s, x) }'
graph = run_passes(capture(ir.serde.deserialize_model(onnx.parser.parse_model(text))))
assert [node.op_type for node in graph.graph] == ["Swish"], [*graph.graph]
"""

DTYPE_ROW = """        Dtype(25, "f8e3m4", 8, "float8_e3m4", 0, "f32", packed=True),
"""

CARRIED = """
from pathlib import Path
import numpy as np
from pteron.export.file.emit import emit_bytes
from pteron.export.file.read import read
from pteron.export.plan import plan
from pteron.export.program import Block, Instr, Method, Port, Program, Value
from pteron.schema.dtypes import DTYPES, from_stored, to_stored
x = np.arange(5).astype(DTYPES["f8e3m4"].numpy)
assert (from_stored(to_stored(x, "f8e3m4"), "f8e3m4", (5,)) == x).all()
values = (Value("x", "f8e3m4", (5,), "input", 0), Value("y", "f8e3m4", (5,), "output", 0))
method = Method("main", (Port("x", 0),), (Port("y", 1),), (0, 2), 0)
data = emit_bytes(plan(Program("p", values=values, blocks=(Block((Instr("copy", (0,), (1,)),)),), methods=(method,))))
assert read(data).values[0].dtype == "f8e3m4"
Path("build/carried.pte").write_bytes(data)
"""

GENERATED = (
    "runtime_c/gen/",
    "runtime_c/cmake/isas.cmake",
    "runtime_c/include/pteron/types.h",
    "schema/layout.py",
    "docs/operators.md",
    "docs/format.md",
)


def python(copy: Path, *arguments: str) -> None:
    """Runs the copy's own package: -S keeps an editable installation of this tree out of the way."""
    libraries = [p for p in sys.path if p.endswith("site-packages")]
    tree = os.pathsep.join([str(copy / ".tree"), *libraries])
    sh(copy, sys.executable, "-S", *arguments, PYTHONPATH=tree)


@pytest.fixture(scope="module")
def scratch(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tracked files, committed, with the import tree of the package."""
    copy = tmp_path_factory.mktemp("scratch")
    files = sh(root, "git", "ls-files").split()
    for name in files:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (root / name).is_symlink():
            (copy / name).symlink_to((root / name).readlink())
        elif (root / name).exists():
            (copy / name).write_bytes((root / name).read_bytes())
    own = copy / "export/lower/ops/matrix/determinant.py"  # the operator that is added here
    own.write_text(own.read_text().replace('@lowers("Det")\n', ""))
    sh(copy, "git", "init", "-q")
    sh(copy, "git", "add", "-A")
    sh(copy, "git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "copy")
    return copy


def changed(copy: Path) -> set[str]:
    """Files changed or added by hand since the last commit, which is made anew."""
    sh(copy, "git", "add", "-A")
    names = sh(copy, "git", "diff", "--cached", "--name-only").split()
    sh(copy, "git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "more")
    return {n for n in names if not n.startswith(GENERATED) and not n.startswith("build/")}


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def insert(path: Path, before: str, text: str) -> None:
    whole = path.read_text()
    assert whole.count(before) == 1, f"{path}: {before}"
    path.write_text(whole.replace(before, text + before))


def copied(source: Path, to: Path, **words: str) -> None:
    text = source.read_text()
    for old, new in words.items():
        text = text.replace(old, new)
    to.parent.mkdir(exist_ok=True)
    to.write_text(text)


def add_operator(copy: Path) -> None:
    append(copy / "schema/ops_rows.py", DET_ROW)
    (copy / "runtime_c/kernels/rows/determinant.c").write_text(DET_KERNEL)
    append(copy / "export/lower/ops/rows/reduction.py", DET_LOWERING)


def add_variant(copy: Path) -> None:
    images = copy / "runtime_c/kernels/images"
    copied(images / "blend_f32__avx2.c", images / "blend_f32__avx512.c", avx2="avx512")


def add_isa(copy: Path) -> None:
    insert(copy / "schema/isas.py", '    Isa(\n        "avx512", 4', ISA_ROW)
    gemm = copy / "runtime_c/kernels/gemm_int8"
    words = {"__avx2": "__gfni", "PTE_HAVE_AVX2": "PTE_HAVE_GFNI"}
    copied(gemm / "gemm_blocks__avx2.c", gemm / "gemm_blocks__gfni.c", **words)


def add_format(copy: Path) -> None:
    append(copy / "schema/formats.py", FORMAT_ROW)
    (copy / "quantize/encode/int6.py").write_text(FORMAT_ENCODER)
    (copy / "runtime_c/codec/i6.c").write_text(FORMAT_CODEC)


def add_delegate(copy: Path) -> None:
    delegates = copy / "runtime_c/delegates"
    words = {"null": "echo", '#include "pteron/delegate.h"': '#include "echo.h"'}
    copied(delegates / "null/null.c", delegates / "echo/echo.c", **words)
    header = '/* The echo delegate. */\n#include "pteron/delegate.h"\nPTE_API const pte_delegate_api *pte_delegate_echo(void);\n'
    (delegates / "echo/echo.h").write_text(header)
    copied(copy / "export/delegates/null.py", copy / "export/delegates/echo.py", null="echo")


def add_pass(copy: Path) -> None:
    (copy / "export/passes/swish.py").write_text(PASS)
    passes = copy / "export/passes/__init__.py"
    insert(
        passes,
        "from .transpose import",
        "from .swish import recognise_swish\n",
    )
    insert(passes, "    recognise_layer_norm,\n", "    recognise_swish,\n")


def add_dtype(copy: Path) -> None:
    insert(copy / "schema/dtypes.py", '    )\n}\n"""By name', DTYPE_ROW)
    insert(copy / "schema/program.fbs", "\n}\n\n// Where a value's bytes are", ", F8E3M4 = 25")


ADDITIONS: Final[dict[str, tuple[Callable[[Path], None], set[str]]]] = {
    "operator": (
        add_operator,
        {
            "schema/ops_rows.py",
            "runtime_c/kernels/rows/determinant.c",
            "export/lower/ops/rows/reduction.py",
        },
    ),
    "ISA variant": (add_variant, {"runtime_c/kernels/images/blend_f32__avx512.c"}),
    "ISA": (add_isa, {"schema/isas.py", "runtime_c/kernels/gemm_int8/gemm_blocks__gfni.c"}),
    "storage format": (
        add_format,
        {"schema/formats.py", "quantize/encode/int6.py", "runtime_c/codec/i6.c"},
    ),
    "delegate": (
        add_delegate,
        {
            "export/delegates/echo.py",
            "runtime_c/delegates/echo/echo.c",
            "runtime_c/delegates/echo/echo.h",
        },
    ),
    "dtype": (add_dtype, {"schema/dtypes.py", "schema/program.fbs"}),
    "Graph pass": (add_pass, {"export/passes/swish.py", "export/passes/__init__.py"}),
}
"""What is added, by its name in CONTRIBUTING.md, and the files that it touches."""


@pytest.mark.parametrize("what", ADDITIONS)
def test_contributing_names_the_files(root: Path, what: str) -> None:
    rows = (root / "CONTRIBUTING.md").read_text().splitlines()
    row = next(line for line in rows if line.startswith(f"| {what} |"))
    named = [re.sub(r"<[^>]+>", "*", name) for name in re.findall(r"`([^` ]+)`", row)]
    for path in ADDITIONS[what][1]:
        fits = [n for n in named if fnmatch(path, n + ("*" if n.endswith("/") else ""))]
        assert fits, f"{path}: none of {named}"


def test_one_of_each_touches_only_its_files(scratch: Path) -> None:
    for what, (add, files) in ADDITIONS.items():
        add(scratch)
        python(scratch, "schema/gen")
        assert changed(scratch) == files, what
    python(scratch, "-c", PASSED)
    quick = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0", "-DPTE_BUILD_TESTS=OFF")
    sh(scratch, "cmake", "-S", ".", "-B", "build/c", *quick)
    sh(scratch, "cmake", "--build", "build/c", "-j", "2")
    variants_are_chosen(scratch)
    dtype_is_carried(scratch)
    determinant_runs(scratch)
    delegate_is_known(scratch)
    format_encodes_and_runs(scratch)


@pytest.mark.parametrize(
    "row, source, missing",
    [
        ('8, "f8e8m0", "", block=32, codes="f8e8m0"', "gemm/panel_decode__portable", "value_f8e8m0"),
        ('4, "f16", "", block=32, codes="i4", offset=7', "gemm/panel_decode__portable", "value_i4_less_7"),
        ('4, "f32", "", block=32, codes="i4", offset=8, dot=True', "gemm_int8/gemm_blocks__portable", "pte_i8_FORGOTTEN"),
        ('4, "f32", "", block=32, codes="i4", offset=8, dot=True', "matrix/matmul_int8", "PTE_I8_FACTOR_FORGOTTEN"),
    ],
)  # fmt: skip
def test_a_format_without_its_arithmetic_does_not_compile(
    scratch: Path, row: str, source: str, missing: str
) -> None:
    formats = scratch / "schema/formats.py"
    before = formats.read_text()
    text = f'\nrow(62, "forgotten", {row})\n'
    path = f"runtime_c/kernels/{source}.c"
    check = ["cc", "-std=c11", "-fsyntax-only", "-Iruntime_c", "-Iruntime_c/include", path]
    try:
        formats.write_text(before + text)
        python(scratch, "schema/gen")
        done = subprocess.run(check, cwd=scratch, capture_output=True, text=True)
    finally:
        formats.write_text(before)
        python(scratch, "schema/gen")
    assert done.returncode == 1 and missing in done.stderr, done.stderr
    sh(scratch, *check)


def variants_are_chosen(copy: Path) -> None:
    """Both are in the library and in its table, before those that they are better than."""
    rows = (copy / "runtime_c/gen/variants.inc").read_text()
    places = [rows.index(f"gemm_blocks, {isa},") for isa in ("avx512vnni", "gfni", "avx2")]
    assert places == sorted(places) and "PTE_CPU_GFNI" in rows
    names = "from pteron.schema.isas import ISAS; assert ISAS['gfni'].feature == 30"
    python(copy, "-c", names)
    if platform.machine() == "x86_64":
        found = sh(copy, "nm", next((copy / "build/c").rglob("libpteron.a")))
        assert "pte_gemm_blocks__gfni" in found and "pte_blend_f32__avx512" in found


def dtype_is_carried(copy: Path) -> None:
    """Both sides know it: Python writes and reads a program that moves it, C verifies one and says its name."""
    python(copy, "-c", CARRIED)
    dump = next(p for p in (copy / "build/c").rglob("pte_dump") if p.is_file())
    assert "f8e3m4" in sh(copy, dump, "build/carried.pte")


def delegate_is_known(copy: Path) -> None:
    """The exporter compiles for the new delegate, pte_run runs on it by its name; the library does not hold it."""
    python(copy, "-c", ECHOED)
    runner = next(p for p in (copy / "build/c").rglob("pte_run") if p.is_file())
    np.save(copy / "build/echo.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    run = [runner, "build/echo.pte", "--input", "x=build/echo.npy", "--out", "build"]
    sh(copy, *run, "--delegate", "echo")
    assert np.load(copy / "build/output_0.npy").ravel().tolist() == list(range(12))
    done = subprocess.run(run, cwd=copy, capture_output=True, text=True)
    assert done.returncode == 1 and "delegate echo (echo-1) did not open" in done.stderr
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
        "from pteron.export.export import export\nfrom pteron.export.file.emit import emit\nfrom pathlib import Path\n"
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


def format_encodes_and_runs(copy: Path) -> None:
    """Encoded in C as in NumPy; times a unit matrix, the product is what NumPy decodes; digits are still told apart."""
    runner = next(p for p in (copy / "build/c").rglob("pte_run") if p.is_file())
    flags = ["-std=c11", "-shared", "-fPIC", "-Iruntime_c", "-Iruntime_c/include"]
    archive = next(p for p in (copy / "build/c").rglob("libpteron*.a") if p.is_file())
    sources = ["runtime_c/codec/i6.c", archive]
    sh(copy, "cc", *flags, *sources, "-o", "build/codec.so")
    python(copy, "-c", FORMAT_USE)
    np.save(copy / "build/unit.npy", np.eye(96, dtype=np.float32))
    for cpu in ([], ["--portable"]):
        sh(copy, runner, "build/product.pte", "--input", "x=build/unit.npy", "--out", "build", *cpu)
        got = np.load(copy / "build/output_0.npy")
        assert got.tobytes() == np.load(copy / "build/decoded.npy").tobytes()
    test = np.load(copy / "examples/digits/test.npz")
    np.save(copy / "build/images.npy", (test["image"] / 16).astype(np.float32))
    sh(copy, runner, "build/digits.pte", "--input", "image=build/images.npy", "--out", "build")
    told = np.load(copy / "build/output_0.npy").argmax(1)
    assert np.mean(told == test["label"]) > 0.95
