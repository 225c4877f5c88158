"""Graphs one change away from what a pass recognises: another number, operator, order or extent, one more reader. Whatever a
pass makes of them, the answers are the reference's."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator
from passes import static
from passes.same import feeds

from pteron.export.graph import infer
from pteron.export.graph.text import as_text, onnx_text
from pteron.export.passes import run_passes
from pteron.export.passes.int8 import integer_nodes, signed_codes

QKV: Final = {"q": "f32[b, 2, s, 4]", "k": "f32[b, 2, t, 4]", "v": "f32[b, 2, t, 6]"}
SCORES: Final = "z = Mul(MatMul(q, Transpose(k, perm=[0, 1, 3, 2])), 0.5)"
TURN: Final = "y = Add(Mul(x, c), Mul(Concat(Neg(b), a, axis=-1), s))"
ANGLES: Final = "f = Mul(p, w); e = Concat(f, f, axis=-1); c = Unsqueeze(Cos(e), [1]); s = Unsqueeze(Sin(e), [1])"
MEAN: Final = "m = ReduceMean(x, [-1], keepdims=1); d = Sub(x, m)"
W: Final = np.array([1, 0.5, 0.25, 0.125], np.float32)
RNG: Final = np.random.default_rng(4)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


NORM: Final = {n: np.abs(floats(6)) + np.float32(0.1) for n in "ghmv"}
FORMS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "attention": (f"{SCORES}; p = Softmax(z, axis=-1); y = MatMul(p, v)", QKV),
    "attention, mask": (
        f"{SCORES}; a = Add(z, m); p = Softmax(a, axis=3); y = MatMul(p, v)",
        {**QKV, "m": "f32[b, 1, s, t]"},
    ),
    "attention, condition": (
        f"{SCORES}; a = Where(m, z, low); p = Softmax(a); g = Where(IsNaN(p), 0, p); y = MatMul(g, v)",
        {**QKV, "m": "bool[b, 2, s, t]", "low": np.array(-np.inf, np.float32)},
    ),
    "attention, scaled operands, cap": (
        "a = Mul(q, 0.7); k2 = Div(Transpose(k, perm=[0, 1, 3, 2]), 1.5); z = MatMul(a, k2);"
        "c = Mul(Tanh(Div(z, 20)), 20); y = MatMul(Softmax(c), v)",
        QKV,
    ),
    "attention, sink": (
        f"{SCORES}; a = Add(z, m); c = Concat(a, n, axis=-1); d = Sub(c, ReduceMax(c, [-1], keepdims=1));"
        "y = MatMul(Slice(Softmax(d, axis=-1), [0], [-1], [3], [1]), v)",
        {**QKV, "m": "f32[b, 1, s, t]", "n": "f32[b, 2, s, 1]"},
    ),
    "attention, two masks, condition": (
        f"{SCORES}; a = Where(c, low, Add(n, Add(z, m))); y = MatMul(Softmax(a), v)",
        {**QKV, "m": "f32[b, 1, s, t]", "n": "f32[2, 1, t]", "c": "bool[1, 1, s, t]", "low": np.array(-1e30, np.float32)},
    ),
    "attention, condition under a mask": (
        f"{SCORES}; a = Add(Where(c, z, low), m); y = MatMul(Softmax(a), v)",
        {**QKV, "m": "f32[b, 1, s, t]", "c": "bool[1, 1, s, 1]", "low": np.array(-3e4, np.float32)},
    ),
    "attention, heads flat, two batches": (
        "z = MatMul(q, Transpose(k, perm=[0, 2, 1])); a = Reshape(z, [2, 3, 5, 7]);"
        "p = Reshape(Softmax(Add(a, m)), [6, 5, 7]); y = MatMul(p, v)",
        {"q": "f32[6, 5, 4]", "k": "f32[6, 7, 4]", "v": "f32[6, 7, 5]", "m": "f32[2, 1, 5, 7]"},
    ),
    "attention, heads flat, no mask": (
        "z = MatMul(q, Transpose(k, perm=[0, 2, 1])); p = Reshape(Softmax(Reshape(z, [1, 6, 5, 7])), [6, 5, 7]);"
        "y = MatMul(p, v)",
        {"q": "f32[6, 5, 4]", "k": "f32[6, 7, 4]", "v": "f32[6, 7, 5]"},
    ),
    "attention, heads flat": (
        "z = Mul(MatMul(q, Transpose(k, perm=[0, 2, 1])), 0.5); a = Reshape(Add(z, n), [1, 6, 5, 7]);"
        "p = Reshape(Softmax(Add(a, m)), [6, 5, 7]); y = MatMul(p, v)",
        {"q": "f32[6, 5, 4]", "k": "f32[6, 7, 4]", "v": "f32[6, 7, 5]", "n": "f32[6, 1, 7]", "m": "f32[1, 1, 5, 7]"},
    ),
    "attention, rank 3": (
        "z = MatMul(q, Transpose(k, perm=[0, 2, 1])); y = MatMul(Softmax(Add(z, m)), v)",
        {"q": "f32[6, s, 4]", "k": "f32[6, t, 4]", "v": "f32[6, t, 5]", "m": "f32[6, s, t]"},
    ),
    "attention, grouped heads": (
        "kk = Reshape(Expand(Unsqueeze(k, [2]), [2, 2, 3, 7, 4]), [2, 6, 7, 4]);"
        "vv = Reshape(Expand(Unsqueeze(v, [2]), [2, 2, 3, 7, 4]), [2, 6, 7, 4]);"
        "y = MatMul(Softmax(MatMul(q, Transpose(kk, perm=[0, 1, 3, 2]))), vv)",
        {"q": "f32[2, 6, 5, 4]", "k": "f32[2, 2, 7, 4]", "v": "f32[2, 2, 7, 4]"},
    ),
    "rotary, slices": (
        f"{ANGLES}; a = Slice(x, [0], [4], [3], [1]); b = Slice(x, [4], [99], [3], [1]); {TURN}",
        {"x": "f32[b, 3, s, 8]", "p": "f32[b, s, 1]", "w": W},
    ),
    "rotary, split": (
        f"{ANGLES.replace('Cos(e)', 'Mul(Cos(e), 1.5)')}; a, b = Split(x, [4, 4], axis=3); {TURN}",
        {"x": "f32[b, 3, s, 8]", "p": "f32[1, s, 1]", "w": W},
    ),
    "rotary, table": (
        f"c = Gather(t, i, axis=0); s = Gather(u, i, axis=0); a, b = Split(x, axis=-1, num_outputs=2); {TURN}",
        {
            "x": "f32[2, 3, 5, 8]",
            "i": "i64[2, 1, 5]",
            **{n: np.concatenate([floats(9, 4)] * 2, -1) for n in "tu"},
        },
    ),
    "layer norm": (
        f"{MEAN}; v = ReduceMean(Mul(d, d), [-1]); n = Div(d, Sqrt(Add(v, 0.1))); y = Add(Mul(n, g), b)",
        {"x": "f32[n, 16]", "g": floats(16), "b": floats(16)},
    ),
    "rms norm": (
        "v = ReduceMean(Pow(x, 2), [1, 2]); r = Reciprocal(Sqrt(Add(v, 0.1))); y = Mul(g, Mul(x, r))",
        {"x": "f32[n, 3, 4]", "g": floats(3, 4)},
    ),
    "gelu": ("s = Add(Erf(Div(x, 1.4142135)), 1); m = Mul(x, s); y = Mul(m, 0.5)", {}),
    "gelu, tanh": (
        "i = Mul(Add(x, Mul(0.044715, Pow(x, 3))), 0.7978846); y = Mul(Mul(0.5, x), Add(1, Tanh(i)))",
        {},
    ),
    "batch norm": (
        "c = Conv(x, w, b, group=2); y = BatchNormalization(c, g, h, m, v)",
        {"x": "f32[2, 4, 5, 5]", "w": floats(6, 2, 3, 3), "b": floats(6), **NORM},
    ),
    "batch norm, gemm": (
        "c = Gemm(x, w, b, transB=1, alpha=1.0, beta=1.0); y = BatchNormalization(c, g, h, m, v)",
        {"x": "f32[2, 4]", "w": floats(6, 4), "b": floats(6), **NORM},
    ),
    "batch norm, transposed": (
        "c = ConvTranspose(x, w); y = BatchNormalization(c, g, h, m, v)",
        {"x": "f32[2, 4, 5, 5]", "w": floats(4, 6, 3, 3), **NORM},
    ),
    "transposes": (
        "a = Transpose(x, perm=[0, 2, 1, 3]); y = Transpose(a, perm=[0, 1, 3, 2])",
        {"x": "f32[2, 3, 4, 5]"},
    ),
    "swap by reshapes": (
        "a = Transpose(Reshape(x, [-1, 5, 4]), perm=[0, 2, 1]); y = Reshape(a, [2, 3, 4, 5])",
        {"x": "f32[2, 3, 5, 4]"},
    ),
    "sequences": (
        "s = SplitToSequence(x, [2, 6], axis=1); a = SequenceAt(s, i64(0)); b = SequenceAt(s, i64(-1));"
        "y = Neg(a); z = Abs(b)",
        {},
    ),
    "sequences of equal parts": (
        "s = SplitToSequence(x, i64(3), axis=1, keepdims=1); y = Neg(SequenceAt(s, i64(2)))",
        {},
    ),
    "joined sequences": (
        "y = ConcatFromSequence(SequenceConstruct(x, w), axis=0)",
        {},
    ),
    "no-ops": (
        "a = Identity(Mul(Add(x, 0.0), 1.0)); b = Cast(a, to=1); c = Slice(b, [0], [99], [1], [1]);"
        "d = Concat(c, axis=0); e = Expand(d, [1]); y = Neg(Dropout(e, 0.5))",
        {},
    ),
    "folded": (
        "a = Mul(Add(i64([1]), [1]), [2]); b = Concat(a, [8], axis=0); c = Reshape(x, b);"
        "y = Mul(c, Sqrt(Sub(Div(9.0, 3.0), 2.0)))",
        {},
    ),
    "codes": (
        "c = QuantizeLinear(w, s, z, axis=1); d = DequantizeLinear(c, s, z, axis=1); y = MatMul(x, d)",
        {
            "w": floats(8, 8), "s": np.abs(floats(8)) + np.float32(0.1), "z": np.arange(8, dtype=np.int8),
        },
    ),
}  # fmt: skip
SIBLINGS: Final = {
    "Add": "Sub", "Sub": "Add", "Mul": "Div", "Div": "Mul", "Neg": "Abs", "Cos": "Sin", "Sin": "Cos", "Sqrt": "Exp",
    "Softmax": "LogSoftmax", "Tanh": "Erf", "Erf": "Tanh", "ReduceMean": "ReduceSum", "Reciprocal": "Neg", "Identity": "Neg",
}  # fmt: skip
TRUSTED: Final = ("perm", "num_outputs")
"""Attributes whose numbers onnx's inference trusts: it aborts on others."""
SIZES: Final = ("kernel_shape", "strides", "dilations", "pads")
"""Lists of sizes, which become larger."""


def changes(text: str) -> Iterator[str]:
    """Every text in which one number, operator, axis or pair of operands is another one."""
    tree = ast.parse("\n".join(s.strip() for s in text.split(";")))
    trusted = [k for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg in TRUSTED]
    sizes = [k for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg in SIZES]
    whole = {id(n) for k in sizes for n in ast.walk(k)}
    kept = {id(n) for k in trusted for n in ast.walk(k) if not isinstance(n, ast.List)}
    for i, node in enumerate(ast.walk(tree)):
        if id(node) in kept:
            continue
        for change in options(node, id(node) in whole):
            changed = copy.deepcopy(tree)
            change(next(n for k, n in enumerate(ast.walk(changed)) if k == i))
            yield "; ".join(ast.unparse(s) for s in changed.body)


def options(node: ast.AST, grows: bool) -> Iterator[Any]:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        others = {0, 1, -1, 2, -2, node.value + 1, node.value - 1} - {node.value}
        whole = isinstance(node.value, int)
        others = {node.value + 1} if grows else others
        for other in sorted(others) if whole else (node.value * 2, -node.value):
            yield lambda n, other=other: setattr(n, "value", other)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in SIBLINGS:
            yield lambda n: setattr(n.func, "id", SIBLINGS[n.func.id])
        if len(node.args) > 1:
            yield lambda n: n.args.insert(0, n.args.pop(1))
        for i in range(len(node.keywords)):
            yield lambda n, i=i: n.keywords.pop(i)
    if isinstance(node, ast.List) and len(node.elts) > 1:
        yield lambda n: n.elts.append(n.elts.pop(-2))
        yield lambda n: n.elts.insert(1, n.elts.pop(0))


def variants(text: str, given: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Text, outputs, operands: as they are, and with one change."""
    last = text.rsplit(";", 1)[1].split("=")[0].strip() if ";" in text else "y"
    made = [n for s in text.split(";")[:-1] for n in s.split("=")[0].replace(" ", "").split(",")]
    yield text, "", given
    for name in made:
        yield text, f"{last} {name}", given
        yield f"{text}; more = Neg({name})", f"{last} more", given
    for changed in changes(text):
        yield changed, "", given
    for name, what in given.items():
        if isinstance(what, str):
            head, dims = what[:-1].split("[")
            each = dims.split(", ")
            for i in range(len(each)):
                one = ", ".join("1" if k == i else d for k, d in enumerate(each))
                yield text, "", {**given, name: f"{head}[{one}]"}
            yield text, "", {**given, name: f"{head}[{', '.join(each[1:])}]"}
        else:
            for other in numbers(what):
                yield text, "", {**given, name: other}


def numbers(array: np.ndarray) -> Iterator[np.ndarray]:
    """Weights, gains, biases, scales of another sign or size."""
    if array.dtype.kind == "f":
        yield from (-array, array * array.dtype.type(2**24), np.zeros_like(array))
    else:
        for end in (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max):
            other = array.copy()
            other.flat[0] = end
            yield other


def answers(model: ir.Model, arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        return [np.asarray(y) for y in ReferenceEvaluator(ir.to_proto(model)).run(None, arrays)]


def largest(x: np.ndarray) -> float:
    """What sums that cancel are as exact as."""
    return float(np.abs(x[np.isfinite(x)]).max(initial=0)) if x.dtype.kind == "f" else 0.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMS)
def test_answers_stay(form: str) -> None:
    tried = 0
    for text, outputs, given in variants(*FORMS[form]):
        try:
            model = onnx_text(text, outputs=outputs, **given)
            arrays = feeds(model)
            want = answers(model, arrays)
            infer(model)
        except Exception:
            continue  # no graph, or none with an answer
        tried += 1
        where = f"{text} -> {outputs or 'its results'} of {given}"
        run_passes(model)
        for y, w in zip(answers(model, arrays), want, strict=True):
            assert (y.shape, y.dtype) == (w.shape, w.dtype), f"{where}: {as_text(model)}"
            np.testing.assert_allclose(
                y, w, 2e-5, largest(w) / 1e6 + 2e-5, err_msg=f"{where}: {as_text(model)}"
            )
    assert tried >= 3, "almost every change breaks the graph"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMS)
def test_answers_stay_where_nothing_is_known_of_a_shape(form: str) -> None:
    """Neither rank nor sizes of one input: what a pass cannot see it does not rely on."""
    text, given = FORMS[form]
    model = onnx_text(text, **given)
    arrays = feeds(model)
    want = answers(model, arrays)
    for i in range(len(model.graph.inputs)):
        model = onnx_text(text, **given)
        model.graph.inputs[i].shape = None
        for node in model.graph:
            for v in node.outputs:
                v.shape = None
        infer(model)
        run_passes(model)
        for y, w in zip(answers(model, arrays), want, strict=True):
            np.testing.assert_allclose(y, w, 2e-5, 2e-5, err_msg=as_text(model))


IN: Final = "c = QuantizeLinear(x, 0.05, i8(3)); d = DequantizeLinear(c, 0.05, i8(3)); "
OUT: Final = "; q = QuantizeLinear(r, 0.1, i8(-7)); y = DequantizeLinear(q, 0.1, i8(-7))"
IMAGE: Final = "f32[2, 4, 6, 5]"


def codes(*shape: int) -> np.ndarray:
    return RNG.integers(-127, 128, shape).astype(np.int8)


CLUSTERS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "matmul": (
        "l = DequantizeLinear(w, s, axis=1); b = DequantizeLinear(v, 0.0005); r = Add(MatMul(d, l), b)",
        {"x": "f32[6, 6]", "w": codes(6, 6), "s": np.full(6, 0.01, np.float32),
         "v": RNG.integers(-9000, 9000, 6).astype(np.int32)},
    ),
    "gemm": (
        "l = DequantizeLinear(w, s, axis=0); r = Relu(Gemm(d, l, b, transB=1, alpha=1.0, beta=1.0))",
        {"x": "f32[6, 6]", "w": codes(6, 6), "s": np.linspace(0.01, 0.02, 6, dtype=np.float32), "b": floats(6)},
    ),
    "conv": (
        "l = DequantizeLinear(w, 0.004, i8(0)); r = Conv(d, l, b, pads=[1, 0, 1, 1], strides=[1, 2], dilations=[1, 1], group=1)",
        {"x": IMAGE, "w": codes(4, 4, 3, 2), "b": floats(4)},
    ),
    "conv, clipped": (
        "l = DequantizeLinear(w, s, axis=0); r = Clip(Conv(d, l, auto_pad='SAME_UPPER', group=2), -1.0, 2.5)",
        {"x": IMAGE, "w": codes(4, 2, 3, 3), "s": np.linspace(0.004, 0.01, 4, dtype=np.float32)},
    ),
    "add": (
        "e = DequantizeLinear(QuantizeLinear(w, 0.07, i8(-2)), 0.07, i8(-2)); r = Relu(Add(d, e))",
        {"x": IMAGE, "w": IMAGE},
    ),
    "mean": ("r = ReduceMean(d, [2, 3], keepdims=0)", {"x": IMAGE}),
    "mean of all": ("r = Flatten(GlobalAveragePool(d), axis=1)", {"x": IMAGE}),
    "moves": ("r = Flatten(Transpose(d, perm=[0, 2, 3, 1]), axis=2)", {"x": IMAGE}),
    "reshape": ("r = Relu(Reshape(d, [2, 4, -1]))", {"x": IMAGE}),
    "limits": ("r = Clip(Relu(d), 0.5, 2.0)", {"x": IMAGE}),
}  # fmt: skip


def step_of(model: ir.Model) -> float:
    """Of the grid that the first output lies on."""
    last = model.graph.outputs[0].producer()
    scale = last.inputs[1] if last is not None and last.op_type == "DequantizeLinear" else None
    assert scale is not None and scale.const_value is not None
    return float(scale.const_value.numpy().max())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["i8", "u8"])
@pytest.mark.parametrize("form", CLUSTERS)
def test_integer_nodes_stay_within_two_steps(form: str, kind: str) -> None:
    """Clusters of Q and DQ: what becomes integers differs by rounding alone."""
    middle, given = CLUSTERS[form]
    text = f"{IN}{middle}{OUT}"
    if kind == "u8":  # zero points of uint8, one of them left out
        text = text.replace(", i8(3)", ", u8(131)").replace(", i8(-7)", "")
    tried, taken = 0, 0
    for changed, outputs, operands in variants(text, given):
        try:
            model = onnx_text(changed, outputs=outputs, **operands)
            arrays = feeds(model)
            want = static.run(model, arrays)
            infer(model)
            step = step_of(model)
            assert 1e-3 < step < 1 and all(np.isfinite(w).all() for w in want)
        except Exception:
            continue
        tried += 1
        signed_codes(model)
        infer(model)
        taken += integer_nodes(model)
        where = f"{changed} -> {outputs or 'its results'} of {operands}: {static.operators(model)}"
        for y, w in zip(static.run(model, arrays), want, strict=True):
            assert (y.shape, y.dtype) == (w.shape, w.dtype), where
            if y.dtype == np.float32:
                assert np.abs(y - w).max(initial=0) <= 2.02 * step, where
    assert tried >= 10 and taken >= 3, (tried, taken)
