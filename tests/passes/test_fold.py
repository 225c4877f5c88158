"""What is folded, and above all what is not."""

from __future__ import annotations

import re
from contextlib import nullcontext

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator
from passes.same import becomes, run

from pteron.export.capture import capture
from pteron.export.graph import infer
from pteron.export.graph.text import as_text, onnx_text
from pteron.export.passes import run_passes
from pteron.export.passes.clean import remove_unused
from pteron.export.passes.fold import EXACT, fold_constants
from pteron.schema.errors import ModelError

FOLDED = [
    ("a = Concat([2], [4], axis=0); y = Reshape(x, a)", "y = Reshape(x, [2, 4])"),
    ("a = Mul(i64([2]), [2]); y = Reshape(x, Concat([-1], a, axis=0))", "y = Reshape(x, [-1, 4])"),
    ("y = Reshape(x, Cast(f32([2.0, 4.0]), to=7))", "y = Reshape(x, [2, 4])"),
    ("y = Reshape(x, Div([-9, 20], [4, 5]))", "y = Reshape(x, [-2, 4])"),
    ("y = Mul(x, Sqrt(Add(3.0, 1.0)))", "y = Mul(x, 2)"),
    ("y = Mul(x, Reciprocal(4.0))", "y = Mul(x, 0.25)"),
    ("y = Gather(x, Range(i64(0), i64(2), i64(1)))", "y = Gather(x, [0, 1])"),
    ("a, b = Split([2, 4, 8], axis=0, num_outputs=2); y = Expand(x, a); z = Expand(x, b)", None),
]


@pytest.mark.parametrize("before, after", FOLDED, ids=[b for b, _ in FOLDED])
def test_folds(before: str, after: str | None) -> None:
    model = onnx_text(before, x="f32[8]")
    assert fold_constants(model) or after is None
    while fold_constants(model):
        pass
    assert after is None or as_text(model) == after


PLACES = [*range(-5, 6), -(2**63), 2**63 - 1]


@pytest.mark.parametrize("step", [-2, -1, 1, 3])
def test_a_slice_is_folded_by_the_rule_that_the_run_has(step: int) -> None:
    """NumPy's slices, which ONNX's reference takes, begin at -1 too."""
    for n in (0, 1, 3):
        for first in PLACES:
            for last in PLACES:
                start = min(max(first + n * (first < 0), 0), n if step > 0 else n - 1)
                end = last + n * (last < 0)
                end = min(max(end, 0), n) if step > 0 else min(max(end, -1), n - 1)
                model = onnx_text(
                    f"y = Add(x, Slice(w, [{first}], [{last}], [0], [{step}]))",
                    x="f32[k]", w=np.arange(n, dtype=np.float32),
                )  # fmt: skip
                assert fold_constants(model)
                (add,) = (node for node in model.graph if node.op_type == "Add")
                made = ir.convenience.get_const_tensor(add.inputs[1])
                assert made is not None
                want = [float(i) for i in range(start, end, step)] if n else []
                assert made.numpy().tolist() == want, (n, first, last, step)


LEFT = [
    "y = Mul(x, Exp(1.0))",
    "y = MatMul(x, MatMul(w, w))",
    "y = Mul(x, ReduceSum(w, [1], keepdims=0))",
    "y = Expand(x, [1024, 8])",
]


@pytest.mark.parametrize("text", LEFT)
def test_floats_that_machines_round_differently_are_left(text: str) -> None:
    given = {"w": np.eye(8, dtype=np.float32)} if "w" in text else {}
    becomes(fold_constants, text, "", x="f32[8]", **given)


@pytest.mark.parametrize(
    "dtype", ["INT8", "UINT8", "INT4", "FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT4E2M1"]
)
def test_low_precision_weights_are_never_widened(dtype: str) -> None:
    kind = ir.DataType[dtype]
    model = onnx_text("y = Mul(x, Cast(w, to=1))", x="f32[8]", w=np.ones(8, np.float32))
    model.graph.initializers["w"].const_value = ir.tensor(
        np.ones(8).astype(kind.numpy()), dtype=kind
    )
    assert not fold_constants(model)
    model = onnx_text("y = Mul(x, DequantizeLinear(w, 0.5))", x="f32[8]", w=np.ones(8, np.int8))
    assert not fold_constants(model)


def test_half_precision_weights_keep_their_size() -> None:
    model = onnx_text("y = Mul(x, Cast(w, to=1))", x="f32[8, 8]", w=np.ones((8, 8), np.float16))
    assert not fold_constants(model)


def test_a_large_constant_is_not_made() -> None:
    model = onnx_text("y = Add(x, Expand(1.0, [4096, 4096]))", x="f32[1]")
    assert not fold_constants(model)


def test_a_large_weight_is_transposed_when_it_is_read() -> None:
    w = np.arange(128 * 64, dtype=np.float32).reshape(128, 64)
    model = onnx_text("y = MatMul(x, Transpose(w, perm=[1, 0]))", x="f32[2, 64]", w=w)
    assert fold_constants(model)
    tensor = next(iter(v for v in model.graph.initializers.values() if v.uses())).const_value
    assert isinstance(tensor, ir.LazyTensor)
    np.testing.assert_array_equal(tensor.numpy(), w.T)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_weights_that_are_quantized_while_running_become_codes(
    axis: int | None, dtype: type
) -> None:
    rng = np.random.default_rng(3)
    n = () if axis is None else ((6,), (4,))[axis]
    w = np.concatenate([np.arange(-11, 12, dtype=np.float32) / 4, [900.0]]).reshape(6, 4)
    scale = (2.0 ** rng.integers(-2, 1, n)).astype(np.float32)
    zero = rng.integers(0, 20, n).astype(dtype)
    attributes = "" if axis is None else f", axis={axis}"
    text = f"y = DequantizeLinear(QuantizeLinear(w, s, z{attributes}), s, z{attributes})"
    given = {"w": w.astype(np.float32), "s": np.asarray(scale), "z": np.asarray(zero)}
    model = onnx_text(text, **given)
    want = run(model, {})[0]
    assert fold_constants(model) and not fold_constants(model)
    assert [n.op_type for n in model.graph] == ["DequantizeLinear"]
    np.testing.assert_array_equal(run(model, {})[0], want)


@pytest.mark.parametrize("count", [1, 8, 5000])
def test_floats_that_only_move_are_moved_now(count: int) -> None:
    w = np.arange(count, dtype=np.float32)
    model = onnx_text("y = Add(x, Reshape(w, [-1, 1]))", x="f32[1, 4]", w=w)
    want = run(model, {"x": np.ones((1, 4), np.float32)})
    assert fold_constants(model)
    assert [n.op_type for n in model.graph] == ["Add"]
    np.testing.assert_array_equal(run(model, {"x": np.ones((1, 4), np.float32)}), want)


@pytest.mark.parametrize(
    "call", ["Slice(w, [0], [6], None, [2])", "ReduceSum(w, None, keepdims=1)"]
)
def test_an_operand_that_is_left_out_does_not_hinder(call: str) -> None:
    w = np.arange(6, dtype=np.int64)
    model = onnx_text(f"y = Add(x, {call})", x="i64[1]", w=w)
    want = run(model, {"x": np.ones(1, np.int64)})
    assert fold_constants(model)
    assert [n.op_type for n in model.graph] == ["Add"]
    np.testing.assert_array_equal(run(model, {"x": np.ones(1, np.int64)}), want)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_quotients_and_remainders_of_every_sign(dtype: type) -> None:
    a, b = (
        x.reshape(-1).astype(dtype) for x in np.meshgrid([-8, -7, -1, 0, 1, 7, 8], [-3, -1, 2, 7])
    )
    kind = np.dtype(dtype).name.replace("int", "i")
    model = onnx_text(
        "y = Add(x, Div(a, b)); z = Add(x, Mod(a, b))", x=f"{kind}[1]", a=a, b=b, outputs="y z"
    )
    assert fold_constants(model)
    assert [n.op_type for n in model.graph] == ["Add", "Add"]
    quotients, remainders = run(model, {"x": np.zeros(1, dtype)})
    exact = [
        abs(int(p)) // abs(int(q)) * (1 if (p < 0) == (q < 0) else -1)
        for p, q in zip(a, b, strict=True)
    ]
    np.testing.assert_array_equal(quotients, exact)
    np.testing.assert_array_equal(remainders, [int(p) % int(q) for p, q in zip(a, b, strict=True)])


@pytest.mark.parametrize("perm", ["", ", perm=[2, 0, 1]", ", perm=[0, 2, 1]"])
def test_a_large_weight_of_three_axes_is_transposed(perm: str) -> None:
    w = np.arange(16 * 24 * 32, dtype=np.float32).reshape(16, 24, 32)
    model = onnx_text(f"y = Add(x, Transpose(w{perm}))", x="f32[1]", w=w)
    want = run(model, {"x": np.zeros(1, np.float32)})[0]
    assert fold_constants(model)
    np.testing.assert_array_equal(run(model, {"x": np.zeros(1, np.float32)})[0], want)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_weights_of_other_floats_keep_their_quantization(kind: type) -> None:
    """float16 is quantized in float16, which rounds otherwise."""
    w = np.linspace(-3, 3, 40).astype(kind)
    model = onnx_text(
        "y = DequantizeLinear(QuantizeLinear(w, s, i8(0)), s, i8(0))", w=w, s=np.array(0.1, kind)
    )
    want = run(model, {})[0]
    assert fold_constants(model) is (kind == np.float32)
    np.testing.assert_array_equal(run(model, {})[0], want)


W = np.array([[-20.0, -0.04, 0.0], [0.05, 0.149, 30.0]], np.float32)
GRIDS = {
    "one scale": ("QuantizeLinear(w, 0.1, i8(3))", True),
    "unsigned": ("QuantizeLinear(w, 0.1, u8(3))", True),
    "columns": ("QuantizeLinear(w, s3, z3, axis=1)", True),
    "rows": ("QuantizeLinear(w, s2, z2, axis=-2)", True),
    "the usual axis": ("QuantizeLinear(w, s3, z3)", True),
    "no zero point": ("QuantizeLinear(w, 0.1)", False),
    "16 bits": ("QuantizeLinear(w, 0.1, i16(3))", False),
    "blocks": ("QuantizeLinear(w, s21, z21, axis=1, block_size=3)", False),
    "a precision": ("QuantizeLinear(w, 0.1, i8(3), precision=1)", False),
    "a scale of 16 bits": ("QuantizeLinear(w, f16(0.1), i8(3))", False),
    "a weight of 16 bits": ("QuantizeLinear(Cast(w, to=10), 0.1, i8(3))", False),
    "a scale that is an input": ("QuantizeLinear(w, x, i8(3))", False),
    "an infinite weight": ("QuantizeLinear(winf, 0.1, i8(3))", False),
    "no number": ("QuantizeLinear(w, 0.0, i8(3))", False),
}  # fmt: skip
GIVEN = {
    "s3": np.array([0.1, 0.2, 0.3], np.float32), "z3": np.array([0, 5, -7], np.int8), "s2": np.array([0.1, 0.4], np.float32),
    "z2": np.array([1, -1], np.int8), "s21": np.array([[0.1], [0.2]], np.float32), "z21": np.zeros((2, 1), np.int8),
    "winf": np.array([[np.inf, 0, 1]], np.float32), "x": "f32[]", "w": W,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GRIDS)
def test_which_weights_are_quantized_at_export(name: str) -> None:
    call, folds = GRIDS[name]
    words = set(re.findall(r"\w+", call))
    model = onnx_text(f"y = Identity({call})", **{n: a for n, a in GIVEN.items() if n in words})
    feeds = {"x": np.array(0.1, np.float32)} if "x" in words else {}
    want = run(model, feeds)[0] if folds or name != "a scale of 16 bits" else None
    fold_constants(model)
    assert ("QuantizeLinear" not in as_text(model)) == folds
    if want is not None:
        np.testing.assert_array_equal(run(model, feeds)[0], want)


def test_what_memory_has_no_room_for_is_left_to_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setitem(EXACT, "Sqrt", full)
    model = onnx_text("y = Mul(x, Sqrt(4.0))", x="f32[8]")
    assert not fold_constants(model) and "Sqrt" in as_text(model)


SIZED = {
    "y = Mul(x, Cast(Shape(w), to=1))": "y = Mul(x, f32([4.0, 2.0]))",
    "y = Mul(x, Cast(Shape(x, start=-1), to=1))": "y = Mul(x, f32([2.0]))",
    "y = Mul(x, Cast(Size(w), to=1))": "y = Mul(x, 8)",
    "y = Reshape(x, Concat([-1], Shape(x, start=1), axis=0))": "y = Reshape(x, [-1, 2])",
    "y = Reshape(x, Concat(Unsqueeze(Mul(Gather(Shape(x), i64(1)), i64(3)), [0]), [-1], axis=0))": "y = Reshape(x, [6, -1])",
    "y = Reshape(x, Slice(Concat(Shape(x), [-1], axis=0), [1], [3]))": "y = Reshape(x, [2, -1])",
    "y = Add(x, Expand(0.5, Expand(Shape(w, start=1), [1])))": "y = Add(x, f32([0.5, 0.5]))",
    "y = Add(x, ConstantOfShape(Shape(x, start=1)))": "y = Add(x, f32([0.0, 0.0]))",
    "c = Concat(Shape(x), [-1], axis=0); y = Reshape(x, Slice(Where(Equal(c, [-1]), [3], c), [1], [3]))": "y = Reshape(x, [2, 3])",
    "y = Reshape(x, Concat(Shape(x, start=0, end=1), [2], axis=0))": None,
    "y = Add(x, Expand(0.5, Shape(x)))": None,
}  # fmt: skip


@pytest.mark.parametrize("text", SIZED)
def test_what_follows_from_known_sizes_is_folded(text: str) -> None:
    """The first axis of x is symbolic: what follows from it stays."""
    given = {"w": np.zeros((4, 2), np.float32)} if "(w" in text else {}
    model = onnx_text(text, x="f32[n, 2]", **given)
    infer(model)
    x = {"x": np.arange(6, dtype=np.float32).reshape(3, 2)}
    want = run(model, x)[0]
    while fold_constants(model):
        pass
    remove_unused(model)
    after = SIZED[text]
    assert as_text(model) == after if after is not None else "Shape(x" in as_text(model)
    np.testing.assert_array_equal(run(model, x)[0], want)


def test_a_chain_of_sizes_is_folded_in_one_walk() -> None:
    """Each shape is known where the one before is."""
    steps = ["h0 = Reshape(x, i64([4, 6]))"]
    for k in range(40):
        steps.append(
            f"h{k + 1} = Reshape(Neg(h{k}), Slice(Concat(Shape(h{k}), Shape(h{k}), axis=0), [1], [3]))"
        )
    model = onnx_text("; ".join([*steps, "y = Neg(h40)"]), x="f32[24]")
    assert fold_constants(model)
    assert not {n.op_type for n in model.graph} - {"Reshape", "Neg"} and not fold_constants(model)


def test_sizes_in_a_loop_may_change() -> None:
    body = "b(int64 i, bool c, float[1] v) => (bool d, float[n] u) { d = Identity(c) s = Shape(v) f = Cast<to=1>(s) u = Concat<axis=0>(v, f) }"
    text = f"""<ir_version: 10, opset_import: ["": 23]> g(float[1] x) => (float[n] y) {{
        n = Constant<value = int64 {{3}}>() t = Constant<value = bool {{1}}>() y = Loop<body = {body}>(n, t, x) }}"""
    proto = onnx.parser.parse_model(text)
    want = ReferenceEvaluator(proto).run(None, {"x": np.zeros(1, np.float32)})[0]
    model = capture(proto)
    run_passes(model)
    np.testing.assert_array_equal(run(model, {"x": np.zeros(1, np.float32)})[0], want)
    assert want.tolist() == [0, 1, 2, 3]


BOMBS = {
    "of vectors that double": "; ".join(["c0 = Concat(w, w, axis=0)", *(f"c{k} = Concat(c{k - 1}, c{k - 1}, axis=0)" for k in range(1, 33)), "y = Add(x, ReduceMax(c32, keepdims=0))"]),
    "of a sum of rows and columns": "y = Add(x, ReduceMax(Add(Reshape(w, [-1, 1]), w), keepdims=0))",
    "of picked rows": "y = Add(x, ReduceMax(Gather(Reshape(w, [1, -1]), ConstantOfShape([4000])), keepdims=0))",
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_small_files_stay_small(name: str) -> None:
    """In time and memory; what would be larger than any constant is refused."""
    w = np.ones(16 if "double" in name else 100_000, np.float32)
    model = onnx_text(BOMBS[name], x="f32[1]", w=w)
    infer(model)
    with (
        pytest.raises(ModelError, match="elements of constants alone")
        if name != "of picked rows"
        else nullcontext()
    ):
        run_passes(model)
    held = sum(v.const_value.size for v in model.graph.initializers.values() if v.const_value)
    assert held < 2 * w.size + (1 << 23)


def test_what_many_results_add_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The constant stays for its last reader; each copy of it would be one more."""
    monkeypatch.setattr("pteron.export.passes.fold.GROWTH", 20_000)
    uses = "; ".join(f"a{k} = Add(x, Concat(w, w, axis=0))" for k in range(100))
    model = onnx_text(
        f"{uses}; y = Sum({', '.join(f'a{k}' for k in range(100))})",
        x="f32[1]",
        w=np.ones(1000, np.float32),
    )
    infer(model)
    fold_constants(model)
    assert sum(n.op_type == "Concat" for n in model.graph) >= 90
