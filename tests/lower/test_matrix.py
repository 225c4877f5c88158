"""Products against ONNX's reference: constant and computed operands, integers, Einsum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lower.check import agrees, listing
from lower.test_families import floats, typed

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run
from pteron.schema.dtypes import DTYPES
from pteron.schema.errors import LoweringError, ModelError

FEW = settings(max_examples=40, deadline=None, derandomize=True)
PRODUCTS = [
    ((5, 3), (3, 4)),
    ((2, 5, 3), (3, 4)),
    ((2, 5, 3), (2, 3, 4)),
    ((2, 1, 5, 3), (4, 3, 2)),
    ((3,), (3, 4)),
    ((5, 3), (3,)),
    ((3,), (3,)),
    ((3,), (2, 3, 4)),
    ((2, 5, 3), (3,)),
]


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32", "uint64"])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize(("a", "b"), PRODUCTS)
def test_matmul(a: tuple[int, ...], b: tuple[int, ...], constant: bool, dtype: str) -> None:
    x, y = (4 * floats(s, seed=i) for i, s in enumerate((a, b)))
    if dtype.startswith("uint"):
        x, y = abs(x), abs(y)
    x, y = x.astype(dtype), y.astype(dtype)
    if constant:
        agrees("out = MatMul(x, y)", {"x": x}, x=typed(x), y=y)
    else:
        agrees("out = MatMul(x, y)", {"x": x, "y": y}, x=typed(x), y=typed(y))


def test_a_constant_right_operand_is_a_weight() -> None:
    assert listing("out = MatMul(x, w)", x="f32[n, 3]", w=floats((3, 4))) == [
        "%1: f32[n, 4] = matmul(x, w{1, 4}, -)"
    ]


@pytest.mark.parametrize("shape, is_bias", [((4,), True), ((1, 4), True), ((5, 1), False)])
def test_an_addend_of_gemm_is_a_bias_where_it_is_a_row(
    shape: tuple[int, ...], is_bias: bool
) -> None:
    lines = listing("out = Gemm(x, w, c)", x="f32[5, 3]", w=floats((3, 4)), c=floats(shape))
    assert (len(lines) == 1) is is_bias, lines


@pytest.mark.parametrize("c", [(), (4,), (1, 4), (5, 1), (5, 4), None])
@pytest.mark.parametrize("attrs", ["", "alpha=0.5", "beta=2.0", "alpha=0.5, beta=0.0"])
def test_gemm_adds_what_broadcasts(c: tuple[int, ...] | None, attrs: str) -> None:
    a, b = floats((3, 5)), floats((4, 3), 1)
    extra = {} if c is None else {"c": floats(c, 2)}
    call = f"Gemm(a, b, {'None' if c is None else 'c'}, transA=1, transB=1{', ' + attrs if attrs else ''})"
    agrees(
        f"out = {call}",
        {"a": a, **extra},
        a=typed(a),
        b=b,
        **{k: typed(v) for k, v in extra.items()},
    )


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32"])
@pytest.mark.parametrize(
    ("alpha", "beta"), [(1.0, 1.0), (2.0, 3.0), (0.5, 1.0), (1.0, 0.5), (300.0, 0.0)]
)
def test_gemm_of_integers_is_cut_off_at_the_end(alpha: float, beta: float, dtype: str) -> None:
    a, b, c = (np.array(x, dtype) for x in ([[3, 2], [1, 7]], [[1, 4], [5, 6]], [[1, 3]]))
    program = lower(
        onnx_text(
            f"y = Gemm(a, b, c, alpha={alpha}, beta={beta})", a=typed(a), b=typed(b), c=typed(c)
        )
    )
    want = np.trunc(alpha * (a @ b).astype(float) + beta * c).astype(dtype)
    np.testing.assert_array_equal(run(program, {"a": a, "b": b, "c": c})["y"], want)


def test_gemm_of_integers_keeps_64_bits() -> None:
    """Factors that are whole are multiplied as integers."""
    a, b = np.array([[2**54 + 1]]), np.array([[1]])
    program = lower(onnx_text("y = Gemm(a, b, alpha=128.0)", a="i64[1, 1]", b="i64[1, 1]"))
    assert run(program, {"a": a, "b": b})["y"].item() == (2**54 + 1) * 128


EINSUMS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("bij,jk", [(2, 3, 4), (4, 5)]),
    ("ii->i", [(3, 3)]),
    ("ii", [(3, 3)]),
    ("ij->ji", [(2, 3)]),
    ("ij->j", [(2, 3)]),
    ("i,j->ij", [(2,), (3,)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("ij,ij->", [(2, 3), (2, 3)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("ijk,k->ji", [(2, 3, 4), (4,)]),
    ("aij,bjk->ik", [(2, 3, 4), (5, 4, 2)]),
]


@pytest.mark.parametrize(("equation", "shapes"), EINSUMS)
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    xs = {f"x{i}": floats(s, i) for i, s in enumerate(shapes)}
    agrees(
        f"out = Einsum({', '.join(xs)}, equation='{equation}')",
        xs,
        **{k: f"f32[{', '.join(map(str, x.shape))}]" for k, x in xs.items()},
    )


@FEW
@given(st.integers(0, 255), st.integers(-128, 127), st.booleans(), st.integers(0, 99))
def test_integers_lose_their_zero_points(a: int, b: int, by_column: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (4, 3)).astype(np.uint8)
    y = rng.integers(-128, 128, (3, 5)).astype(np.int8)
    zero = rng.integers(-128, 128, 5).astype(np.int8) if by_column else np.array(b, np.int8)
    text = "out = MatMulInteger(x, y, p, q)"
    agrees(text, {"x": x}, x=typed(x), y=y, p=np.array(a, np.uint8), q=zero)


@pytest.mark.parametrize("zero", [np.uint8(118), np.int8(-110)])
def test_quantized_products_round_once(zero: np.generic) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 256, (4, 3)).astype(np.uint8)
    agrees(
        "out = QLinearMatMul(a, s, z, b, t, u, v, w)",
        {"a": a},
        a=typed(a),
        b=rng.integers(0, 256, (3, 5)).astype(np.uint8),
        s=np.float32(0.01),
        z=np.uint8(113),
        t=np.float32(0.02),
        u=np.uint8(120),
        v=np.float32(0.03),
        w=zero,
    )


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_determinants_of_small_matrices(size: int, dtype: str) -> None:
    x = np.random.default_rng(size).standard_normal((2, 3, size, size)).astype(dtype)
    kind = {"float32": "f32", "float64": "f64"}[dtype]
    agrees("y = Det(x)", {"x": x}, x=f"{kind}[b, 3, {size}, {size}]")


def test_determinants_of_larger_ones_are_refused() -> None:
    with pytest.raises(LoweringError, match="of matrices of 5 rows"):
        lower(onnx_text("y = Det(x)", x="f32[5, 5]"))


@pytest.mark.parametrize(
    ("source", "to"),
    [("f32", "i32"), ("i32", "f32"), ("u64", "f64"), ("f16", "u16"), ("bool", "u8"), ("i8", "u8")],
)
def test_bits_as_another_type(source: str, to: str) -> None:
    x = (np.random.default_rng(3).standard_normal((3, 5)) * 100).astype(DTYPES[source].numpy)
    program = lower(onnx_text(f"y = BitCast(x, to={DTYPES[to].onnx})", x=f"{source}[n, 5]"))
    np.testing.assert_array_equal(run(program, {"x": x})["y"], x.view(DTYPES[to].numpy))


@pytest.mark.parametrize(("source", "to"), [("f32", "i64"), ("u8", "bool"), ("u4", "i4")])
def test_bits_as_a_type_that_has_not_as_many_are_refused(source: str, to: str) -> None:
    with pytest.raises(
        (LoweringError, ModelError), match=r"as many bits|than two values|same bit-width"
    ):
        lower(onnx_text(f"y = BitCast(x, to={DTYPES[to].onnx})", x=f"{source}[n, 4]"))
