"""Small integer inputs may decide sizes; whatever else reads them sees any value that an integer can have."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from pteron.export.file.emit import emit_bytes
from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.plan import plan
from pteron.export.program.interpret import run
from pteron.schema.errors import ArgumentError, PteronError
from tests.lower.check import agrees, reference

VALUES = {
    f"i{8 * np.dtype(kind).itemsize}": np.array(
        [-8, -1, 0, 5, np.iinfo(kind).min, np.iinfo(kind).max, np.iinfo(kind).min + 7, 2**30], kind
    )
    for kind in (np.int32, np.int64)
}
BINARY = [
    "Less",
    "LessOrEqual",
    "Greater",
    "GreaterOrEqual",
    "Equal",
    "Add",
    "Sub",
    "Mul",
    "Min",
    "Max",
]


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("number", [0, 1, -1, 3])
def test_arithmetic_and_comparisons_take_any_value(dtype: str, op: str, number: int) -> None:
    c = f"{dtype}({number})"
    text = f"y = {op}(x, {c}); z = {op}({c}, x)"
    agrees(text, {"x": VALUES[dtype]}, x=f"{dtype}[8]")


@pytest.mark.parametrize("dtype", VALUES)
def test_no_sign_is_assumed(dtype: str) -> None:
    agrees("y = Neg(x); z = Abs(x)", {"x": VALUES[dtype]}, x=f"{dtype}[8]")


@pytest.mark.parametrize("by", [3, 1, 8])
def test_division_is_towards_zero_and_a_remainder_has_the_divisors_sign(by: int) -> None:
    x = np.array([-8, -1, 0, 5, 7, -(2**63), 2**63 - 1], np.int64)
    text = f"q = Div(x, i64({by})); m = Mod(x, i64({by})); f = Mod(x, i64({by}), fmod=1)"
    got = run(lower(onnx_text(text, x="i64[7]")), {"x": x})
    quotients = [abs(int(v)) // by * (-1 if v < 0 else 1) for v in x]
    assert got["q"].tolist() == quotients
    assert got["m"].tolist() == [int(v) % by for v in x]
    assert got["f"].tolist() == [int(v) - by * q for v, q in zip(x, quotients, strict=True)]


def test_what_wraps_is_not_compared_as_if_it_did_not() -> None:
    text = "a = Add(x, i64(1)); y = Less(x, a); b = Mul(x, i64(2)); h = Div(b, i64(2)); z = Equal(h, x)"
    x = np.array([2**63 - 1, 3, -(2**63) + 1], np.int64)
    got = run(lower(onnx_text(text, x="i64[3]")), {"x": x})
    assert got["y"].tolist() == [False, True, True]
    assert got["z"].tolist() == [False, True, False]


def test_a_choice_by_sign_is_made_while_running() -> None:
    x = np.array([-8, -1, 5], np.int64)
    text = "c = Less(x, i64(0)); y = Where(c, i64(0), x); m = Min(x, i64(4))"
    agrees(text, {"x": x}, x="i64[3]")


@pytest.mark.parametrize("value", [-3, 3])
def test_a_branch_by_sign_is_taken_while_running(value: int) -> None:
    proto = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[2] x, int64 n) => (float[2] y) {
            zero = Constant <value = int64 {0}> ()
            c = Less(n, zero)
            y = If (c) <then_branch = t () => (float[2] a) { a = Neg(x) },
                        else_branch = e () => (float[2] b) { b = Add(x, x) }>
        }""")
    x = np.ones(2, np.float32)
    got = run(lower(ir.from_proto(proto)), {"x": x, "n": np.array(value, np.int64)})["y"]
    np.testing.assert_array_equal(got, -x if value < 0 else 2 * x)


def test_casts_to_fewer_bits_wrap() -> None:
    x = np.array([2**31 + 5, -1, 300], np.int64)
    text = "a = Cast(x, to=6); y = Cast(a, to=7); b = Cast(x, to=2); z = Cast(b, to=7)"
    agrees(text, {"x": x}, x="i64[3]")


def test_an_element_still_decides_an_extent() -> None:
    x = np.ones((1, 1), np.float32)
    text = "m = Equal(s, i64(-1)); t = Where(m, i64(1), s); y = Expand(x, t); k = Less(s, i64(0))"
    agrees(text, {"x": x, "s": np.array([2, 3], np.int64)}, x="f32[1, 1]", s="i64[2]")


@pytest.mark.parametrize("dtype", VALUES)
def test_an_element_of_either_type_decides_an_extent_while_running(dtype: str) -> None:
    text = "t = Cast(s, to=7); y = Expand(x, t); k = Neg(s)"
    program = lower(onnx_text(text, x="f32[1, 1]", s=f"{dtype}[2]"))
    assert [d.kind for d in program.dims] == ["shape", "shape"]
    runtime = pytest.importorskip("pteron.runtime.model", reason="needs the built module")
    model = runtime.load(emit_bytes(plan(program)))
    for sizes in ([2, 3], [4, 1]):
        s = np.array(sizes, VALUES[dtype].dtype)
        got = model.run({"x": np.full((1, 1), 7, np.float32), "s": s})
        np.testing.assert_array_equal(got["y"], np.full(sizes, 7, np.float32))
        np.testing.assert_array_equal(got["k"], -s)


def test_sizes_are_not_stored_as_floats_that_they_are_not() -> None:
    text = "s = Shape(x); f = Cast(s, to=1); h = Div(f, 2.0); y = Add(x, h)"
    agrees(text, {"x": np.zeros(7, np.float32)}, x="f32[n]")


@pytest.mark.parametrize(
    "first, second, fits",
    [([2, 2], [4, 1], True), ([1, 2], [2, 2], False), ([4, 1], [3, 2], False)],
)
def test_relations_over_elements_that_no_value_has_are_checked(
    first: list[int], second: list[int], fits: bool
) -> None:
    """The first Reshape is a view that nothing keeps; its element count is compared all the same."""
    text = "y = Reshape(Reshape(x, s), t)"
    program = lower(onnx_text(text, x="f32[4]", s="i64[2]", t="i64[2]"))
    x, s, t = np.arange(4, dtype=np.float32), np.array(first), np.array(second)
    runtime = pytest.importorskip("pteron.runtime.model", reason="needs the built module")
    model = runtime.load(emit_bytes(plan(program)))
    if fits:
        np.testing.assert_array_equal(model.run({"x": x, "s": s, "t": t})["y"], x.reshape(second))
        return
    with pytest.raises(ArgumentError, match="number of elements"):
        model.run({"x": x, "s": s, "t": t})


def test_no_size_at_all_is_picked() -> None:
    text = "n = Shape(x); s = Gather(n, i); y = Concat(s, [2, 3], axis=0)"
    x = {"x": np.zeros((4, 5), np.float32)}
    agrees(text, x, x="f32[a, b]", i=np.zeros(0, np.int64))


@pytest.mark.parametrize("end", [-100, -4, -1, 0, 2])
def test_a_bound_of_a_slice_has_any_sign(end: int) -> None:
    text = "y = Slice(x, i64([0]), e, i64([0]), i64([-2]))"
    feeds = {"x": np.arange(3, dtype=np.float32), "e": np.array([end])}
    got = run(lower(onnx_text(text, x="f32[n]", e="i64[1]")), feeds)
    assert got["y"].tolist() == feeds["x"][0:end:-2].tolist()


@pytest.mark.parametrize("end", [-1, 2])
def test_a_size_that_decided_all_is_still_looked_at(end: int) -> None:
    """What is reckoned with is a size; 0:end:-2 has no element for any, so that nothing names it any more."""
    text = "y = Slice(x, i64([0]), Add(e, i64([0])), i64([0]), i64([-2]))"
    feeds = {"x": np.arange(3, dtype=np.float32), "e": np.array([end])}
    program = lower(onnx_text(text, x="f32[n]", e="i64[1]"))
    if end < 0:
        with pytest.raises(ArgumentError, match=r"e\[0\]"):
            run(program, feeds)
    else:
        assert run(program, feeds)["y"].tolist() == []


HIGHEST = 2**63 - 1
IDIOMS = {
    "reshape": ("y = Reshape(x, s)", "f32[2, 3, 4]", [[2, 4, 3], [2, -1, 6], [0, 2, 6], [0, 0, -1], [-1, 3, 8]]),
    "reshape of symbols": ("y = Reshape(x, s)", "f32[a, b, 4]", [[2, 4, 3], [-1, 3, 2], [0, 0, -1], [0, 12, 1]]),
    "reshape of moved axes": ("y = Reshape(Transpose(x, perm=[2, 0, 1]), s)", "f32[a, b, 4]", [[0, -1, 3], [-1, 3, 2]]),
    "with zeros": ("y = Reshape(x, s, allowzero=1)", "f32[2, 3, 4]", [[2, -1, 6], [24, 1, 1]]),
    "beside a constant": ("y = Reshape(x, Concat(s, i64([-1]), axis=0))", "f32[2, 3, 4]", [[2], [0], [8]]),
    "expand": ("y = Expand(x, s)", "f32[2, 1, 4]", [[2, 3, 4], [1, 1, 1], [1, 5, 4], [2, 0, 1]]),
    "expand to more axes": ("y = Expand(x, s)", "f32[3, 1]", [[2, 1, 2], [5, 3, 1]]),
    "starts and ends": (
        "y = Slice(x, Slice(s, i64([0]), i64([1])), Slice(s, i64([1]), i64([2])), i64([1]))", "f32[a, b, 4]",
        [[0, HIGHEST], [-2, HIGHEST], [1, -1], [-HIGHEST, 2], [2, 1], [-1 - HIGHEST, HIGHEST]],
    ),
    "backwards": (
        "y = Slice(x, Slice(s, i64([0]), i64([1])), Slice(s, i64([1]), i64([2])), i64([1]), i64([-2]))", "f32[2, 3, 4]",
        [[-1, -HIGHEST], [2, 0], [HIGHEST, -2], [0, -9]],
    ),
    "pads": ("y = Pad(x, s)", "f32[a, b, 4]", [[0, 1, 0, 0, 2, 0], [0, -1, 1, 1, 0, -2], [-1, -1, 0, 0, -1, 0]]),
    "pads of edges": ("y = Pad(x, s, mode='edge')", "f32[a, b, 4]", [[0, 1, 0, 0, 2, 0], [0, -1, 1, 0, 0, -2]]),
    "sums": ("y = ReduceSum(x, s, keepdims=0)", "f32[2, 3, 4]", [[0, 1], [2, 0], [-1, -2], [-3, 2]]),
    "sums that keep": ("y = ReduceMax(x, s)", "f32[2, 3, 4]", [[0], [-1], [1]]),
    "new axes": ("y = Unsqueeze(x, s)", "f32[2, 3, 4]", [[0], [-1], [2], [3]]),
    "axes that go": ("y = Squeeze(x, s)", "f32[1, 3, 1]", [[0], [-1], [2]]),
}  # fmt: skip


@pytest.mark.parametrize("name", IDIOMS)
def test_inputs_say_bounds_and_shapes_as_onnx_does(name: str) -> None:
    text, shape, values = IDIOMS[name]
    extents = [{"a": 2, "b": 3}.get(n) or int(n) for n in shape[4:-1].split(", ")]
    x = np.arange(np.prod(extents), dtype=np.float32).reshape(extents)
    model = onnx_text(text, x=shape, s=f"i64[{len(values[0])}]")
    runtime = pytest.importorskip("pteron.runtime.model", reason="needs the built module")
    program = runtime.load(emit_bytes(plan(lower(model))))
    for value in values:
        feeds = {"x": x, "s": np.array(value, np.int64)}
        (want,) = (
            reference(model, feeds) if "pads" not in name else padded(x, value, "edge" in text)
        )
        for got in (program.run(feeds)["y"], run(lower(model), feeds)["y"]):
            np.testing.assert_array_equal(got, want, str(value))


def padded(x: np.ndarray, pads: list[int], by_edges: bool) -> list[np.ndarray]:
    """Cropped first, which the reference does not do."""
    ends = list(zip(pads[: x.ndim], pads[x.ndim :], strict=True))
    x = x[tuple(slice(max(0, -a), n - max(0, -b)) for n, (a, b) in zip(x.shape, ends, strict=True))]
    more = [(max(0, a), max(0, b)) for a, b in ends]
    return [np.pad(x, more, "edge" if by_edges else "constant")]


BAD = {
    "two extents of the rest": ("y = Reshape(x, s)", "f32[2, 3, 4]", [-1, -1, 6], "number of elements"),
    "an extent below -1": ("y = Reshape(x, s)", "f32[2, 3, 4]", [-2, 3, 4], "-1 or a size"),
    "elements that do not divide": ("y = Reshape(x, s)", "f32[2, 3, 4]", [5, -1, 1], "number of elements"),
    "neither 1 nor as many": ("y = Expand(x, s)", "f32[2, 3]", [2, 2], "by 1 or 3"),
    "more cut than there is": ("y = Pad(x, s)", "f32[2, 3]", [-2, 0, -2, 0], "extent"),
    "an axis twice": ("y = ReduceSum(x, s)", "f32[2, 3, 4]", [1, -2], "out of range"),
    "no such axis": ("y = ReduceSum(x, s)", "f32[2, 3, 4]", [0, 3], "out of range"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_onnx_forbids_ends_the_run(name: str) -> None:
    text, shape, value, why = BAD[name]
    runtime = pytest.importorskip("pteron.runtime.model", reason="needs the built module")
    model = onnx_text(text, x=shape, s=f"i64[{len(value)}]")
    program = runtime.load(emit_bytes(plan(lower(model))))
    x = np.zeros([int(n) for n in shape[4:-1].split(", ")], np.float32)
    with pytest.raises(PteronError, match=why):
        program.run({"x": x, "s": np.array(value, np.int64)})
