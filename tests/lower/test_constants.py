"""Constants that are codes stay codes until it is known what reads them; sizes that are computed are those of the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from lower.check import agrees, listing

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run
from pteron.schema.errors import InternalError, LoweringError

RNG = np.random.default_rng(12)
CODES = RNG.integers(-128, 128, (6, 8)).astype(np.int8)


# --- codes ------------------------------------------------------------------------------------------------------------

READERS = {
    "rows": ("Slice(w, [1], [5], [0])", CODES[1:5]),
    "every other column": ("Slice(w, [0], [8], [1], [2])", CODES[:, ::2]),
    "turned": ("Transpose(w, perm=[1, 0])", CODES.T),
    "whole": ("Slice(w, [0], [9], [0])", CODES),
}


@pytest.mark.parametrize("through", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("reader", READERS)
def test_a_weight_keeps_its_codes_beside_it(reader: str, through: str) -> None:
    """What packing stores: the codes of the elements that are read, and the dtype that they were rounded to on the way."""
    call, part = READERS[reader]
    w = "DequantizeLinear(q, 0.1)"
    if through != "f32":
        w = f"Cast(Cast({w}, to={10 if through == 'f16' else 16}), to=1)"
    text = f"w = {w}; v = {call}; y = MatMul(x, v)"
    model = onnx_text(text, x=f"f32[2, {len(part)}]", q=CODES)
    (constant,) = [c for c in lower(model).constants if c.coded is not None]
    assert constant.coded is not None and constant.coded.dtype == through
    np.testing.assert_array_equal(np.asarray(constant.coded.codes), part.T)
    x = RNG.standard_normal((2, len(part))).astype(np.float32)
    agrees(model, {"x": x})


def test_a_table_keeps_its_codes_beside_it() -> None:
    text = "y = Gather(DequantizeLinear(q, 0.1), i, axis=0)"
    program = lower(onnx_text(text, i="i64[2]", q=CODES))
    (constant,) = [c for c in program.constants if c.coded is not None]
    assert constant.coded is not None
    np.testing.assert_array_equal(np.asarray(constant.coded.codes), CODES)
    agrees(text, {"i": np.array([5, 2])}, i="i64[2]", q=CODES)


@pytest.mark.parametrize("call", ["Gather(w, i, axis=1)", "Slice(w, [2], [6], [1])", "Flatten(w)"])
def test_a_decoded_constant_is_read_as_the_reference_reads_it(call: str) -> None:
    text = f"w = DequantizeLinear(q, 0.125, i8(3)); y = Add(x, {call})"
    given = {"i": np.array([0, 5, 1])} if "i," in call else {}
    agrees(text, {"x": np.zeros(1, np.float32)}, x="f32[1]", q=CODES, **given)


def test_a_constant_that_is_no_code_is_gathered_as_it_is() -> None:
    table = RNG.standard_normal((5, 3)).astype(np.float32)
    text = "y = Gather(w, i, axis=0)"
    agrees(text, {"i": np.array([4, 0])}, i="i64[2]", w=table)
    (line,) = listing(text, i="i64[2]", w=table)
    assert "gather" in line


# --- sizes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["Min", "Max", "Add", "Mul", "Div", "Mod", "Sub"])
@pytest.mark.parametrize("n", [1, 3, 7])
def test_sizes_of_whole_numbers(op: str, n: int) -> None:
    """f(n, 4) and f(4 n + 4, 3) of a symbolic n."""
    text = (
        f"s = Shape(x); a = {op}(s, [4]); b = {op}(Add(Mul(s, [4]), [4]), [3]); y = Expand(1.0, b)"
    )
    if op != "Sub":
        text += "; z = Expand(1.0, a)"
    outputs = "y" if op == "Sub" else "y z"
    agrees(text, {"x": np.zeros(n, np.float32)}, x="f32[n]", outputs=outputs)


@pytest.mark.parametrize("attributes", ["", ", keepdims=0", ", keepdims=1"])  # fmt: skip
@pytest.mark.parametrize("op", ["Prod", "Sum", "Max", "Min"])
def test_reductions_of_sizes(op: str, attributes: str) -> None:
    text = f"r = Reduce{op}(Shape(x){attributes}); y = Expand(1.0, Reshape(r, [-1]))"
    agrees(text, {"x": np.zeros((2, 3), np.float32)}, x="f32[n, 3]")
    axes = f"r = Reduce{op}(Shape(x), [0]{attributes}); y = Expand(1.0, Reshape(r, [-1]))"
    agrees(axes, {"x": np.zeros((2, 3), np.float32)}, x="f32[n, 3]")


def test_a_reduction_over_no_axes_leaves_the_sizes() -> None:
    text = "y = Add(z, ReduceProd(Shape(x), noop_with_empty_axes=1))"
    feeds = {"x": np.zeros((2, 3), np.float32), "z": np.array([5, 6])}
    agrees(text, feeds, x="f32[n, 3]", z="i64[2]")


@pytest.mark.parametrize("op", ["Prod", "Sum"])
def test_reductions_of_no_sizes(op: str) -> None:
    """A scalar has no sizes, whose product is 1 and whose sum 0."""
    text = f"y = Add(z, Reduce{op}(Shape(x), keepdims=0))"
    agrees(text, {"x": np.float32(2), "z": np.array([5])}, x="f32[]", z="i64[1]")


@pytest.mark.parametrize("by", ["0.0", "-0.0"])
def test_a_size_divided_by_zero_is_no_size(by: str) -> None:
    text = f"r = Div(Cast(Shape(x), to=1), {by}); y = Add(r, z)"
    agrees(text, {"x": np.zeros(3, np.float32), "z": np.zeros(1, np.float32)}, x="f32[n]", z="f32[1]")  # fmt: skip


SIZES = ("s", "Add(s, [1])", "Sub(s, [1])", "Mul(s, [2])", "[1]", "[0]", "[3]", "Add(s, t)")


@pytest.mark.parametrize("op", ["Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"])
def test_comparisons_of_sizes(op: str) -> None:
    """What is proved for all sizes holds for each."""
    made = [f"c{i} = {op}({a}, {b})" for i, (a, b) in enumerate(itertools.product(SIZES, SIZES))]
    wheres = [f"w{i} = Where(c{i}, 1.0, 0.0)" for i in range(len(made))]
    outputs = [f"w{i}" for i in range(len(made))]
    text = "; ".join(["s = Shape(x)", "t = Shape(z)", *made, *wheres])
    model = onnx_text(text, x="f32[n]", z="f32[m]", outputs=" ".join(outputs))
    for n, m in ((1, 1), (1, 4), (2, 3), (5, 2)):
        agrees(model, {"x": np.zeros(n, np.float32), "z": np.zeros(m, np.float32)})


@pytest.mark.parametrize(
    "power", [[2.0], [3.0], [2.0, 3.0, 2.0], [3.0, 2.0, 1.0], [0.0], [2.5], []]
)
def test_powers(power: list[float]) -> None:
    x = RNG.standard_normal((2, len(power) if len(power) > 1 else 3)).astype(np.float32)
    p = np.array(power, np.float32) if power else np.float32(2)
    if power == [2.5]:
        x = abs(x)
    agrees("y = Pow(x, p)", {"x": x}, x="f32[2, 3]", p=p)


# --- elements that move -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("block", [1, 2, 3])
def test_depth_becomes_space(block: int, mode: str) -> None:
    x = RNG.standard_normal((2, 5 * block * block, 2, 3)).astype(np.float32)
    shape = ", ".join(map(str, x.shape))
    agrees(f"y = DepthToSpace(x, blocksize={block}, mode='{mode}')", {"x": x}, x=f"f32[{shape}]")
    back = f"y = SpaceToDepth(DepthToSpace(x, blocksize={block}), blocksize={block})"
    agrees(back, {"x": x}, x=f"f32[{shape}]")


BOUNDS = (-9, -4, -3, -1, 0, 1, 2, 3, 4, 9)


@pytest.mark.parametrize("step", [1, 2, -1, -2])
def test_slices_of_a_symbolic_axis(step: int) -> None:
    """Bounds from either end and beyond; backwards, ONNX takes a start before the first element for the first."""
    x = RNG.standard_normal(4).astype(np.float32)
    for start in BOUNDS:
        for end in BOUNDS:
            text = f"y = Slice(x, [{start}], [{end}], [0], [{step}])"
            got = run(lower(onnx_text(text, x="f32[n]")), {"x": x})["y"]
            first = max(start, -4) if step < 0 else start
            np.testing.assert_array_equal(got, x[first:end:step], err_msg=text)


@pytest.mark.parametrize("equation", ["...ij,...jk->...ik", "a...i,...i->a...", "...i,...i", "...->..."])  # fmt: skip
def test_einsum_of_axes_without_a_letter(equation: str) -> None:
    a, b = RNG.standard_normal((2, 3, 4, 5)), RNG.standard_normal((3, 5, 5))
    if equation == "a...i,...i->a...":
        a, b = RNG.standard_normal((2, 3, 4, 5)), RNG.standard_normal((4, 5))
    if equation == "...i,...i":
        a, b = RNG.standard_normal((3, 4, 5)), RNG.standard_normal((4, 5))
    arrays = {"a": a.astype(np.float32), "b": b.astype(np.float32)}
    if "," not in equation:
        arrays.pop("b")
    kinds = {n: f"f32[{', '.join(map(str, x.shape))}]" for n, x in arrays.items()}
    agrees(f"y = Einsum({', '.join(arrays)}, equation='{equation}')", arrays, **kinds)


@pytest.mark.parametrize("inverse, onesided, parts", [(0, 0, 1), (0, 0, 2), (0, 1, 1), (1, 0, 2)])
@pytest.mark.parametrize("n", [1, 4, 5, 6])
def test_fourier_transforms(n: int, inverse: int, onesided: int, parts: int) -> None:
    x = RNG.standard_normal((2, n, parts)).astype(np.float32)
    text = f"y = DFT(x, None, i64(1), inverse={inverse}, onesided={onesided})"
    got = run(lower(onnx_text(text, x=f"f32[2, {n}, {parts}]")), {"x": x})["y"]
    z = x[..., 0] + (1j * x[..., 1] if parts == 2 else 0)
    want = np.fft.ifft(z, axis=1) if inverse else np.fft.fft(z, axis=1)
    want = want[:, : n // 2 + 1] if onesided else want
    np.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 6])
def test_points_of_a_real_signal_go_back(n: int) -> None:
    """As many points as there are say it, or a length, of any parity; it cuts or fills."""
    z = RNG.standard_normal((2, 3, 2)).astype(np.float32)
    z[:, 0, 1] = z[:, 2, 1] = 0
    length = f"i64({n})" if n else "None"
    text = f"y = DFT(x, {length}, i64(-2), inverse=1, onesided=1)"
    got = run(lower(onnx_text(text, x="f32[2, 3, 2]")), {"x": z})["y"]
    want = np.fft.irfft(z[..., 0] + 1j * z[..., 1], n or 4, axis=1)
    np.testing.assert_allclose(got[..., 0], want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n", [1, 3, 5, 9])
def test_a_transform_of_another_length_cuts_or_fills(n: int) -> None:
    x = RNG.standard_normal((2, 5, 1)).astype(np.float32)
    got = run(lower(onnx_text(f"y = DFT(x, i64({n}), i64(1))", x="f32[2, 5, 1]")), {"x": x})["y"]
    want = np.fft.fft(x[..., 0], n, axis=1)
    np.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("length", "shape"), [("i64(0)", "f32[2, 5, 1]"), ("i64(-3)", "f32[2, 5, 1]"), ("None", "f32[2, n, 1]")])  # fmt: skip
def test_a_transform_of_no_known_length_is_refused(length: str, shape: str) -> None:
    with pytest.raises(LoweringError, match="expected a number above 0"):
        lower(onnx_text(f"y = DFT(x, {length}, i64(1))", x=shape))


def test_a_transform_is_not_along_real_and_imaginary_parts() -> None:
    """Where a run decides the axis: a constant one is refused by onnx's inference."""
    x = RNG.standard_normal((2, 5, 1)).astype(np.float32)
    program = lower(onnx_text("y = DFT(x, None, a)", x="f32[2, 5, 1]", a="i64[]"))
    for axis in (0, 1, -3):
        got = run(program, {"x": x, "a": np.array(axis)})["y"]
        want = np.fft.fft(x[..., 0], axis=axis % 3)
        np.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], want, rtol=1e-5, atol=1e-5)


def test_a_table_that_no_memory_holds_is_the_nodes_fault() -> None:
    with pytest.raises(LoweringError, match=r"DFT 'n_y' .*needs more memory than there is") as e:
        lower(onnx_text("y = DFT(x, i64(30000000), i64(1))", x="f32[2, 5, 1]"))
    assert not isinstance(e.value, InternalError)


@pytest.mark.parametrize("dtype", ["f32", "f64", "i32", "f16"])
def test_columns_are_added_in_their_own_width(dtype: str) -> None:
    lines = listing("y = Col2Im(x, [3, 3], [2, 2])", x=f"{dtype}[1, 4, 4]")
    assert any("f64" in line for line in lines) == (dtype == "f64")


CROPS = [
    ([0, 0, 0.25, 0, 1, 1, 0.75, 1], [1, 1, 3, 4]), ([0, 0, 0, 0.5, 1, 1, 1, 0.9], [1, 1, 5, 4]),
    ([0, 0, 0, 0, 1, 1, 1, 1], [1, 1, 3, 7]), ([0, 0, 0.2, -0.3, 1, 1, 1.3, 0.6], [1, 1, 5, 4]),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("region, sizes", CROPS)
def test_a_region_that_is_resized(region: list[float], sizes: list[int], mode: str) -> None:
    x = RNG.standard_normal((1, 1, 5, 4)).astype(np.float32)
    text = (
        f"y = Resize(x, r, None, {sizes}, mode='{mode}', extrapolation_value=7.0,"
        "coordinate_transformation_mode='tf_crop_and_resize')"
    )
    given = {"r": np.array(region, np.float32)}
    agrees(
        text, {"x": x}, x="f32[1, 1, 5, 4]", **given
    )  # onnxruntime copies where sizes are the same
