"""Where a condition turns: defaults on tensors of higher rank, first and last index, lowest and highest code, sizes by name."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from lower.check import agrees, agrees_with_onnxruntime, listing

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run
from pteron.schema.errors import ArgumentError, LoweringError, ModelError

RNG = np.random.default_rng(8)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    "call",
    [
        "TopK(x, [2])", "Softmax(x)", "LogSoftmax(x)", "Hardmax(x)", "LpNormalization(x)", "LpNormalization(x, p=1)",
        "LayerNormalization(x, s)", "ArgMax(x)", "ArgMin(x, keepdims=0)", "Flatten(x)", "Gather(x, [1, 0, 1])",
        "OneHot(i, i64(5), v)", "Split(x, num_outputs=2)", "ReduceL2(x)", "Transpose(x)", "Compress(x, c)",
    ],
)  # fmt: skip
def test_the_default_axis_of_a_tensor_of_rank_3(call: str) -> None:
    given = {"s": floats(4), "v": floats(2), "c": np.array([True, False, True])}
    feeds = {"x": floats(2, 3, 4)} if "x" in call else {"i": RNG.integers(0, 5, (2, 3, 4))}
    kinds = {"x": "f32[2, 3, 4]"} if "x" in call else {"i": "i64[2, 3, 4]"}
    used = {k: v for k, v in given.items() if f", {k})" in call}
    names = "a, b" if call.startswith(("TopK", "Split")) else "y"
    # ONNX's reference takes the norm without absolute values
    check = agrees_with_onnxruntime if "p=1" in call else agrees
    check(f"{names} = {call}", feeds, **kinds, **used)


@pytest.mark.parametrize("axis", [-3, -2, -1, 0, 1, 2])
@pytest.mark.parametrize(
    "call", ["Gather(x, [1, 0])", "Concat(x, x)", "ArgMax(x)", "Softmax(x)", "Split(x, num_outputs=2)",
             "GatherElements(x, j)", "ScatterElements(x, j, u)"],
)  # fmt: skip
def test_each_axis_from_either_end(call: str, axis: int) -> None:
    feeds = {"x": floats(2, 4, 6)}
    given = {"j": np.array([[[1, 0]], [[0, 1]]]), "u": floats(2, 1, 2)}
    used = {k: v for k, v in given.items() if f", {k}" in call}
    names = "a, b" if call.startswith("Split") else "y"
    # ONNX's reference wants an index of the other axes' sizes
    check = agrees_with_onnxruntime if "GatherE" in call else agrees
    check(f"{names} = {call[:-1]}, axis={axis})", feeds, x="f32[2, 4, 6]", **used)


@pytest.mark.parametrize("at", ["[0, 2]", "[2, 0]", "[-1]", "i64(-3)", "[0, 1, 2]"])
def test_indices_in_even_steps_are_a_view(at: str) -> None:
    agrees(f"y = Neg(Gather(x, {at}, axis=1))", {"x": floats(2, 3, 4)}, x="f32[2, 3, 4]")
    lines = listing(f"y = Gather(x, {at}, axis=1)", x="f32[2, 3, 4]")
    assert not any("gather" in line for line in lines)


@pytest.mark.parametrize("at", ["[0, 1, 1]", "[0, 2, 1]", "[[0, 1], [1, 0]]"])
def test_other_indices_are_gathered(at: str) -> None:
    index = np.array(eval(at))
    agrees("y = Gather(x, i, axis=1)", {"x": floats(2, 3, 4)}, x="f32[2, 3, 4]", i=index)


@pytest.mark.parametrize("at", [-3, 3])
@pytest.mark.parametrize("text", ["y = Gather(x, [{}])", "y = Reshape(x, Gather(Shape(z), [{}]))"])
def test_an_index_beyond_either_end_is_an_error(text: str, at: int) -> None:
    wrong = at - 1 if at < 0 else at
    with pytest.raises((LoweringError, ModelError)):
        lower(onnx_text(text.format(wrong), x="f32[3]", z="f32[3, 2, 1]"))


@pytest.mark.parametrize("at", [-3, 2, [-3], [2, 1]])
def test_an_index_wants_an_axis_that_long(at: int | list[int]) -> None:
    """From either end; a view of one element in front of the data was an internal error."""
    program = lower(onnx_text(f"y = Gather(x, i64({at}), axis=1)", x="f32[2, n]"))
    for n in (3, 5):
        x = floats(2, n)
        np.testing.assert_array_equal(run(program, {"x": x})["y"], x[:, at])
    with pytest.raises(ArgumentError, match="elements lie inside their axis"):
        run(program, {"x": floats(2, 2)})


@pytest.mark.parametrize("at", [-3, -1, 0, 2])
def test_the_first_and_the_last_size(at: int) -> None:
    text = f"y = Expand(x, Gather(Shape(z), [{at}]))"
    feeds = {"x": floats(1), "z": floats(3, 2, 4)}
    agrees(text, feeds, x="f32[1]", z="f32[a, b, c]")


@pytest.mark.parametrize("op", ["L1", "L2", "LogSum", "LogSumExp", "SumSquare", "Mean", "Prod"])
@pytest.mark.parametrize("dtype", ["i32", "i64", "f64", "f32"])
def test_reductions_of_each_type(op: str, dtype: str) -> None:
    kind = {"i32": np.int32, "i64": np.int64, "f64": np.float64, "f32": np.float32}[dtype]
    x = RNG.integers(1, 5, (3, 4)).astype(kind)
    if kind in (np.float32, np.float64):
        x = (x + RNG.random((3, 4))).astype(kind)
    program = lower(onnx_text(f"y = Reduce{op}(x, [1], keepdims=0)", x=f"{dtype}[3, 4]"))
    wide = x.astype(np.float64)
    want = {
        "L1": np.abs(wide).sum(1), "L2": np.sqrt((wide * wide).sum(1)), "LogSum": np.log(wide.sum(1)),
        "LogSumExp": np.log(np.exp(wide).sum(1)), "SumSquare": (wide * wide).sum(1), "Mean": wide.mean(1),
        "Prod": wide.prod(1),
    }[op]  # fmt: skip
    got = run(program, {"x": x})["y"]
    assert got.dtype == kind
    if np.issubdtype(kind, np.integer):
        np.testing.assert_array_less(np.abs(got - want), 1.0)  # cut off, or the mean toward zero
    else:
        np.testing.assert_allclose(got, want, 1e-5 if kind == np.float32 else 1e-12)


@pytest.mark.parametrize("kind, bits, signed", [(22, 4, True), (21, 4, False)])
def test_codes_of_four_bits_from_lowest_to_highest(kind: int, bits: int, signed: bool) -> None:
    """Through a tensor of four bits and back; beyond its range ONNX keeps the low bits of integers."""
    x = np.arange(-40, 40, dtype=np.int32)
    program = lower(onnx_text(f"y = Cast(Cast(x, to={kind}), to=6)", x="i32[80]"))
    low = x & (2**bits - 1)
    want = np.where(low < 2 ** (bits - 1), low, low - 2**bits) if signed else low
    np.testing.assert_array_equal(run(program, {"x": x})["y"], want)


@pytest.mark.parametrize("zero", ["", ", i8(-5)", ", u8(7)", ", i16(-300)", ", u16(40000)"])
def test_codes_saturate_at_both_ends_and_round_to_even(zero: str) -> None:
    x = np.concatenate([np.arange(-4, 4, 0.25), [-1e6, 1e6, -0.0]]).astype(np.float32)
    agrees(f"y = QuantizeLinear(x, 0.5{zero})", {"x": x}, x="f32[35]")
    agrees(f"y = DequantizeLinear(QuantizeLinear(x, 0.5{zero}), 0.5{zero})", {"x": x}, x="f32[35]")


NAMES = ["n", "batch.size", "x:0", "a/b", "2 * n", "n + m", "seq-len", "1st"]


@pytest.mark.parametrize("name", NAMES)
def test_sizes_of_any_name_are_sizes(name: str) -> None:
    program = lower(onnx_text("y = Add(x, x); z = Add(w, w)", x="f32[n, m]", w="f32[q]"))
    model = onnx_text("y = Add(x, x); z = Add(w, w)", x="f32[n, m]", w="f32[q]")
    model.graph.inputs[1].shape = type(model.graph.inputs[1].shape)([name])
    program = lower(model)
    size = {"2 * n": 4, "n + m": 5, "n": 2}.get(name, 7)
    got = run(program, {"x": floats(2, 3), "w": np.ones(size, np.float32)})
    assert got["z"].shape == (size,)


@pytest.mark.parametrize("steps", [(1, 1), (-1, 1), (1, -1), (2, -2), (-3, 2)])
@pytest.mark.parametrize("start", [-9, -1, 0, 3, 9])
def test_slices_of_two_axes_by_every_step(steps: tuple[int, int], start: int) -> None:
    x = floats(4, 5)
    ends = [9 if s > 0 else -9 for s in steps]
    text = f"y = Slice(x, [{start}, {-start - 1}], {ends}, [0, 1], {list(steps)})"
    agrees_with_onnxruntime(text, {"x": x}, x="f32[4, 5]")


@pytest.mark.parametrize("step", [1, 2, 5])
@pytest.mark.parametrize("end", [-100, -4, -1, 0, 1, 5, 6, 100])
def test_slices_by_values_that_only_a_run_knows(step: int, end: int) -> None:
    x = np.arange(36, dtype=np.float32).reshape(6, 6)
    text = (
        "i = Cast(at, to=7); s = Slice(i, i64([0]), i64([2])); "
        f"e = Slice(i, i64([2]), i64([4])); y = Slice(x, s, e, i64([-1, 0]), i64([{step}, 1]))"
    )
    for start in (-100, -6, -2, 0, 3, 6, 100):
        at = np.array([start, 1, end, 5], np.float32)
        agrees(text, {"x": x, "at": at}, x="f32[6, n]", at="f32[4]")


@pytest.mark.parametrize("counts", [[2, 0, 4], [0, 0, 6], [1, 2, 3]])
def test_splits_by_values_that_only_a_run_knows(counts: list[int]) -> None:
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    text = "n = Cast(at, to=7); a, b, c = Split(x, n, axis=0); y = Concat(b, a, c, axis=0)"
    agrees(text, {"x": x, "at": np.array(counts, np.float32)}, x="f32[n, 2]", at="f32[3]")


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "i64", "i32"])
@pytest.mark.parametrize(
    "ends", [(1, 2, 0.3), (3, -4, -2), (2, 2, 1), (5, 2, 1), (-3, 3.5, 1), (0, 4, 4)]
)
def test_ranges_from_end_to_end(ends: tuple[float, float, float], dtype: str) -> None:
    if dtype[0] == "i":
        ends = tuple(int(e) or 1 for e in ends)  # type: ignore[assignment]
    kind = {
        "f32": np.float32,
        "f64": np.float64,
        "f16": np.float16,
        "i64": np.int64,
        "i32": np.int32,
    }[dtype]
    given = {n: np.array(e, kind) for n, e in zip("abc", ends, strict=True)}
    program = lower(onnx_text("y = Add(x, Range(a, b, c))", x=f"{dtype}[1]", **given))
    got = run(program, {"x": np.zeros(1, kind)})["y"]
    want = np.arange(*(given[n] for n in "abc"))
    assert got.shape == want.shape
    np.testing.assert_allclose(
        got.astype(float), want.astype(float), 2e-3 if dtype == "f16" else 1e-6
    )


def test_each_relation_between_sizes_is_kept_once() -> None:
    text = "a = MatMul(x, w); b = MatMul(x, v); c = MatMul(x, w); d = Add(a, c); y = Add(d, b)"
    program = lower(onnx_text(text, x="f32[2, k]", w="f32[m, 4]", v="f32[p, 4]"))
    relations = {(c.kind, frozenset((str(c.a), str(c.b)))) for c in program.checks}
    assert relations == {("eq", frozenset("km")), ("eq", frozenset("kp"))}
    assert len(program.checks) == 2


# --- sizes that an operand must have: said by a number they are refused at export, by a name at prepare -----------------------

NARROW = {
    "y = GroupNormalization(x, s, s, num_groups=3)": ("x", (2, 3, 4), (2, 4, 4)),
    "y, h = RNN(x, w, r, b, hidden_size=2)": ("b", (1, 4), (1, 3)),
    "y = NonMaxSuppression(p, q, i64([3]), t, t)": ("t", (1,), (3,)),
}
SHAPES = {
    "x": (2, 3, 4), "s": (3,), "w": (1, 2, 4), "r": (1, 2, 2), "b": (1, 4), "p": (1, 4, 4), "q": (1, 2, 4), "t": (1,),
}  # fmt: skip


@pytest.mark.parametrize("text", NARROW)
@pytest.mark.parametrize("named", [False, True])
def test_an_operand_of_another_size_is_refused_by_the_nodes_name(text: str, named: bool) -> None:
    name, right, wrong = NARROW[text]
    used = {n: s for n, s in SHAPES.items() if f"{n}," in text or f"{n})" in text}
    feeds = {n: np.abs(floats(*s)) for n, s in used.items()}

    def declared(shape: tuple[int, ...]) -> dict[str, str]:
        ports = {n: f"f32{list(s)}" for n, s in used.items()}
        axes = [f"n{i}" if named else str(n) for i, n in enumerate(shape)]
        return ports | {name: f"f32[{', '.join(axes)}]"}

    agrees(text, feeds, **declared(right))
    with pytest.raises((LoweringError, ArgumentError), match="n_y"):
        run(lower(onnx_text(text, **declared(wrong))), {**feeds, name: floats(*wrong)})


def test_a_squeeze_without_axes_does_not_keep_an_axis_that_is_1() -> None:
    program = lower(onnx_text("y = Squeeze(x)", x="f32[n, 1, 2]"))
    assert run(program, {"x": floats(3, 1, 2)})["y"].shape == (3, 2)
    with pytest.raises(ArgumentError, match="n_y: a Squeeze without axes keeps axis 0"):
        run(program, {"x": floats(1, 1, 2)})


def test_an_axis_split_in_more_parts_than_it_has_elements() -> None:
    agrees("a, b, c = Split(x, num_outputs=3)", {"x": floats(4)}, x="f32[4]")
    agrees("a, b, c = Split(x, num_outputs=3)", {"x": floats(1)}, x="f32[1]")
    agrees("a, b, c = Split(x, num_outputs=3)", {"x": floats(1)}, x="f32[n]")


def test_an_integer_input_without_elements() -> None:
    feeds = {"x": floats(2, 3), "i": np.zeros((0, 3), np.int64)}
    agrees("y = GatherElements(x, i)", feeds, x="f32[2, 3]", i="i64[0, m]")


@pytest.mark.parametrize("factors", ["alpha=0.5", "alpha=2.0, beta=0.5", "alpha=-3.0, beta=0.0"])
def test_integer_products_times_a_factor_are_cut_off_at_the_end(factors: str) -> None:
    feeds = {
        n: RNG.integers(-5, 9, s).astype(np.int32)
        for n, s in (("a", (2, 3)), ("b", (3, 4)), ("c", (4,)))
    }
    agrees(f"y = Gemm(a, b, c, {factors})", feeds, a="i32[2, 3]", b="i32[3, 4]", c="i32[4]")


HIGH = np.array([[2**64 - 1, 7, 2**63, 3], [2, 2**63 + 5, 0, 2**63 - 1]], np.uint64)


@pytest.mark.parametrize(
    "text",
    [
        "a, b = TopK(x, [2])", "a, b = TopK(x, [3], largest=0)", "y = ReduceMax(x, [1])", "y = ReduceMin(x, [0])",
        "a, b, c, d = Unique(x)", "y = ReduceL1(x, [0])", "y = Clip(x, u64(4), u64(9223372036854775813))",
    ],
)  # fmt: skip
def test_u64_beyond_2_to_the_63_is_larger_than_what_is_below(text: str) -> None:
    agrees(text, {"x": HIGH}, x="u64[2, 4]")


@pytest.mark.parametrize("corners", [0, 1])
@pytest.mark.parametrize("size", [[1, 2, 4, 3], [2, 1, 1, 5], [1, 1, 2, 3, 4]])
def test_affine_grid_of_any_batch(size: list[int], corners: int) -> None:
    rank = len(size) - 2
    theta = floats(size[0], rank, rank + 1)
    agrees(
        f"y = AffineGrid(t, {size}, align_corners={corners})",
        {"t": theta},
        t=f"f32{list(theta.shape)}",
    )


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_a_pad_of_elements_that_share_bytes(mode: str) -> None:
    text = f"y = Cast(Pad(Cast(x, to=21), [1, 0, 0, 1], mode='{mode}'), to=6)"
    agrees(text, {"x": RNG.integers(0, 16, (2, 3)).astype(np.int32)}, x="i32[2, 3]")


def test_integers_of_overlapping_columns_are_added_as_integers() -> None:
    x = np.full((1, 4, 2), 2**24 + 1, np.int32)
    agrees("y = Col2Im(x, [2, 3], [2, 2])", {"x": x}, x="i32[1, 4, 2]")


def test_the_least_of_nothing_is_the_dtypes_own_end() -> None:
    for op, want in (("ReduceMin", 2**31 - 1), ("ReduceMax", -(2**31))):
        program = lower(onnx_text(f"y = {op}(x, [0], keepdims=0)", x="i32[0, 2]"))
        assert run(program, {"x": np.zeros((0, 2), np.int32)})["y"].tolist() == [want, want]


def test_a_split_by_data_has_a_size_for_each_part() -> None:
    program = lower(
        onnx_text("a, b = Split(x, s, axis=0); y = Neg(a); z = Neg(b)", x="f32[4]", s="i64[n]")
    )
    got = run(program, {"x": floats(4), "s": np.array([3, 1])})
    assert [got[name].shape for name in "yz"] == [(3,), (1,)]


def test_every_small_float_is_seen_through_views() -> None:
    codes = np.arange(6).reshape(2, 3).astype(ml_dtypes.float8_e5m2)
    agrees("y = DequantizeLinear(Transpose(w, perm=[1, 0]), s)", {}, w=codes, s=np.float32(2))


@pytest.mark.parametrize(
    "text, declared, match",
    [
        ("y = MaxPool(x, kernel_shape=[5])", {"x": "f32[1, 1, 3]"}, "no extent below 0"),
        ("y = RMSNormalization(x, w)", {"x": "f32[3]", "w": "f32[4, 3]"}, "rank 2 is broadcast to rank 1"),
        ("y = STFT(x, i64(2), None, i64(4))", {"x": "f32[1, 8, 3]"}, "STFT.*3 components"),
        ("y = STFT(x, i64(2), None, i64(4))", {"x": "f32[1, 8, 1, 1]"}, "STFT.*rank 4"),
        ("y = ReduceLogSumExp(x)", {"x": "i16[2, 3]"}, "ReduceLogSumExp.*data is int16"),
        ("y = ConvTranspose(x, w)", {"x": "f32[1, 1, 3]", "w": np.full((1, 1, 2), np.inf, np.float32)}, "not all finite"),
    ],
)  # fmt: skip
def test_what_has_no_result_is_refused_by_the_nodes_name(
    text: str, declared: dict[str, str], match: str
) -> None:
    with pytest.raises(LoweringError, match=match):
        lower(onnx_text(text, **declared))


@pytest.mark.parametrize("call", ["Cast(x, to=19)", "Cast(x, to=19, saturate=0)", "CastLike(x, x)"])
def test_infinities_of_small_floats_saturate_in_a_cast_to_what_they_are(call: str) -> None:
    x = np.array([np.inf, -np.inf, 1.5, np.nan, 57344], ml_dtypes.float8_e5m2)
    agrees(f"y = {call}", {"x": x}, x="f8e5m2[5]", opset=21)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("extents", ["n, 0", "3, past", "past, 3", "0, n"])
def test_the_largest_of_nothing_is_nothing(extents: str, kind: str, axis: int) -> None:
    """ONNX's reference asks for the largest of no elements."""
    program = lower(onnx_text(f"y = Hardmax(x, axis={axis})", x=f"{kind}[{extents}]"))
    dtype = np.float32 if kind == "f32" else np.float64
    for least in (0, 2):
        shape = [{"n": 3, "past": least}[w] if w.isalpha() else int(w) for w in extents.split(", ")]
        x = -RNG.random(shape).astype(dtype) - 1
        want = np.zeros(shape)
        if x.size:
            np.put_along_axis(want, x.argmax(axis, keepdims=True), 1.0, axis)
        np.testing.assert_array_equal(run(program, {"x": x})["y"], want)


def test_indices_of_elements_lie_inside_the_other_axes() -> None:
    program = lower(onnx_text("y = GatherElements(x, i, axis=1)", x="f32[n, 3]", i="i64[m, 2]"))
    assert any("inside the other axes" in c.text for c in program.checks)


def test_what_a_row_compares_is_checked_at_prepare() -> None:
    """ScatterND's updates start as its indices do: a size that has a name may be any."""
    program = lower(
        onnx_text("y = ScatterND(x, i, u)", x="f32[4, 3]", i="i64[n, 1]", u="f32[m, 3]")
    )
    assert {(c.kind, str(c.a), str(c.b)) for c in program.checks} == {("eq", "m", "n")}
    feeds = {"x": floats(4, 3), "i": np.array([[1]])}
    assert run(program, {**feeds, "u": floats(1, 3)})["y"].shape == (4, 3)
    with pytest.raises(ArgumentError, match="eq fails for 2 and 1"):
        run(program, {**feeds, "u": floats(2, 3)})


@pytest.mark.parametrize("dtype", ["i32", "u64"])
def test_log_sum_exp_of_integers(dtype: str) -> None:
    x = np.array([[1, 2, 60], [0, 0, 0]], {"i32": np.int32, "u64": np.uint64}[dtype])
    got = run(lower(onnx_text("y = ReduceLogSumExp(x, [1])", x=f"{dtype}[2, 3]")), {"x": x})["y"]
    assert got.dtype == x.dtype
    assert got.tolist() == [[60], [1]]  # log 3 is 1.09


def test_nothing_unsigned_is_below_0() -> None:
    x = np.array([2**64 - 1, 5], np.uint64)
    agrees("y = PRelu(x, s)", {"x": x, "s": np.array([[3]], np.uint64)}, x="u64[2]", s="u64[1, 1]")


def test_integers_beyond_24_bits_are_shrunk_exactly() -> None:
    x = np.array([2**30 + 1, -(2**30) - 1, 0], np.int32)
    agrees("y = Shrink(x, bias=3.0, lambd=1.0)", {"x": x}, x="i32[3]")


@pytest.mark.parametrize("bits", [4, 8])
def test_a_constant_becomes_a_scalar(bits: int) -> None:
    w = np.array([3], ml_dtypes.uint4 if bits == 4 else np.uint8)
    program = lower(onnx_text("y = Reshape(w, s)", w=w, s=np.zeros(0, np.int64)))
    assert run(program, {})["y"].shape == ()


@pytest.mark.parametrize("at", range(1, 5))
@pytest.mark.parametrize("value", [np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("fixed", [True, False])
def test_parameters_of_a_normalization_may_be_infinite(at: int, value: float, fixed: bool) -> None:
    """Scale, shift, mean, variance; and some whose products are infinite."""
    given = {name: np.array([1, 2], np.float32) for name in "sbmv"}
    given["smbv"[at - 1]][1] = abs(value) if at == 4 else value
    x = np.array([[[1.0, np.inf], [2.0, -np.inf]]], np.float32)
    declared = given if fixed else dict.fromkeys(given, "f32[2]")
    feeds = {"x": x} if fixed else {"x": x, **given}
    program = lower(
        onnx_text("y = BatchNormalization(x, s, b, m, v)", x="f32[1, 2, 2]", **declared)
    )
    s, b, m, v = (a.astype(np.float64)[:, None] for a in given.values())
    with np.errstate(all="ignore"):
        want = ((x - m) / np.sqrt(v + 1e-5) * s + b).astype(np.float32)
    np.testing.assert_allclose(run(program, feeds)["y"], want, rtol=1e-5)


@pytest.mark.parametrize(
    "op, dtype",
    [*((op, d) for op in ("Sum", "Mean", "Max") for d in ("f32", "f16")), ("Min", "u64")],
)
@pytest.mark.parametrize("count", [64, 65, 300])
def test_any_number_of_operands(op: str, dtype: str, count: int) -> None:
    """Those of f16 are rounded once."""
    kind = {"f32": np.float32, "f16": np.float16, "u64": np.uint64}[dtype]
    feeds = {f"x{i}": (RNG.random(3) * 9 + i % 7).astype(kind) for i in range(count)}
    declared = {name: f"{dtype}[{'n' if i % 2 else 3}]" for i, name in enumerate(feeds)}
    got = run(lower(onnx_text(f"y = {op}({', '.join(feeds)})", **declared)), feeds)["y"]
    total = np.stack(list(feeds.values())).astype(np.float64)
    want = {"Sum": np.sum, "Mean": np.mean, "Max": np.max, "Min": np.min}[op](total, 0)
    np.testing.assert_allclose(got, want.astype(kind), rtol=1e-3 if dtype == "f16" else 1e-6)


def test_heads_that_have_names_are_a_multiple_at_prepare() -> None:
    kinds = {"q": "f32[1, h, 2, 4]", "k": "f32[1, g, 2, 4]", "v": "f32[1, g, 2, 4]"}
    program = lower(onnx_text("y = Attention(q, k, v)", **kinds))
    feeds = {"k": floats(1, 2, 2, 4), "v": floats(1, 2, 2, 4)}
    assert run(program, {**feeds, "q": floats(1, 4, 2, 4)})["y"].shape == (1, 4, 2, 4)
    with pytest.raises(ArgumentError, match="eq fails"):
        run(program, {**feeds, "q": floats(1, 3, 2, 4)})


def test_an_error_lists_some_operands() -> None:
    names = {f"x{i}": "i32[2]" for i in range(20)}
    with pytest.raises(LoweringError) as caught:
        lower(onnx_text(f"y = Sum({', '.join(names)})", **names))
    assert str(caught.value).count("i32[2]") == 8 and "20 in all" in str(caught.value)


def test_what_is_scattered_keeps_all_its_bits() -> None:
    x, at = np.array([1e300, 2.0, -1e-300]), np.array([[1]])
    kinds = {"x": "f64[3]", "i": "i64[1, 1]", "u": "f64[1]"}
    agrees("y = ScatterND(x, i, u)", {"x": x, "i": at, "u": np.array([1e200])}, **kinds)


@pytest.mark.parametrize("kind", [ml_dtypes.int4, np.int8])
def test_a_narrow_constant_takes_a_shape_that_an_input_decides(kind: type) -> None:
    """A quantized one too, which stays codes until then."""
    w = np.arange(-3, 3).astype(kind)
    program = lower(onnx_text("y = DequantizeLinear(Reshape(w, s), 2.0)", w=w, s="i64[2]"))
    feeds = {"s": np.array([2, 3])}
    assert run(program, feeds)["y"].tolist() == [[-6, -4, -2], [0, 2, 4]]
    program = lower(onnx_text("y = Reshape(DequantizeLinear(w, 2.0), s)", w=w, s="i64[2]"))
    assert run(program, feeds)["y"].tolist() == [[-6, -4, -2], [0, 2, 4]]


@pytest.mark.parametrize("length", [1, 2, 4, 6, 8, 12])
def test_what_vanishes_of_a_transform_is_0(length: int) -> None:
    """The imaginary parts of the mean and of the highest frequency: whoever scales by them made numbers of roundings."""
    x = floats(2, length, 1)
    y = run(lower(onnx_text("y = DFT(x, None, i64(1))", x=f"f32[2, {length}, 1]")), {"x": x})["y"]
    assert not y[:, [0, *([length // 2] if length % 2 == 0 else [])], 1].any()
    np.testing.assert_allclose(y[..., 0] + 1j * y[..., 1], np.fft.fft(x[..., 0]), atol=1e-5)


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("parts", [1, 2])
def test_one_side_of_the_frames_of_a_signal(parts: int, onesided: int) -> None:
    text = f"y = STFT(x, i64(2), None, i64(4), onesided={onesided})"
    agrees(text, {"x": floats(1, 8, parts)}, x=f"f32[1, 8, {parts}]")


@pytest.mark.parametrize(("block", "count"), [(1, 5), (2, 3), (3, 2), (5, 1)])
@pytest.mark.parametrize("op", ["QuantizeLinear", "DequantizeLinear"])
def test_sizes_that_have_names_are_those_of_the_blocks(op: str, block: int, count: int) -> None:
    w = abs(floats(2, count, 3)) + np.float32(0.1)
    x = floats(2, 5, 3) if op[0] == "Q" else np.arange(30, dtype=np.int32).reshape(2, 5, 3)
    text = f"y = {op}(x, w, axis=1, block_size={block})"
    types = {"x": f"{'f32' if op[0] == 'Q' else 'i32'}[a, b, 3]"}
    agrees(text, {"x": x}, **types, w=w)
    with pytest.raises(ArgumentError, match="each block has a scale"):
        run(lower(onnx_text(text, **types, w=w)), {"x": np.concatenate([x, x], 1)})
    with pytest.raises(ArgumentError, match="each block has a scale"):
        run(lower(onnx_text(text, **types, w=w)), {"x": np.concatenate([x, x], 0)})


@pytest.mark.parametrize("shape", ["4,5", "3,4,5"])
def test_axes_that_a_function_body_takes_for_granted_are_checked(shape: str) -> None:
    """MeanVarianceNormalization's own axes are [0, 2, 3]: a tensor of fewer axes has them not."""
    graph = onnx_text("y = MeanVarianceNormalization(x)", x=f"f32[{shape}]")
    with pytest.raises(LoweringError, match="expected axes from"):
        lower(graph)


@pytest.mark.parametrize(
    ("axes", "match"),
    [
        ("1,2", "its axes have the shape .1, 2.; expected a row of them"),
        ("4", "4 axes of rank 3; expected each once"),
        ("1000000000", "1000000000 axes of rank 3"),
        ("n", "the number of its axes is n"),
    ],
)
@pytest.mark.parametrize("op", ["ReduceProd", "ReduceSum", "Squeeze"])
def test_axes_of_a_run_are_a_row_of_at_most_so_many(op: str, axes: str, match: str) -> None:
    graph = onnx_text(f"y = {op}(x, a)", x="f32[1, 1, 1]", a=f"i64[{axes}]")
    with pytest.raises(LoweringError, match=match):
        lower(graph)
