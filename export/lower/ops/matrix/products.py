"""MatMul, Gemm, Einsum and the integer products: `multiply` does the work for all of them.

A constant right operand becomes a weight [n, k] of `matmul`, whose layout the packing pass settles; two computed ones
go to `batch_matmul`. f16 and bf16 are widened and rounded once; integers multiply in i64 and wrap; f64 is products and
sums.
"""

from __future__ import annotations

from collections.abc import Sequence

from pteron.schema.dtypes import DTYPES, INTEGERS

from ....program import views
from ....program.terms import Term, cast, register, term
from ....program.views import Shape
from ....sizes import Extent, extents
from ....sizes.extents import product, same
from ...context import Lowering
from ...elementwise import cast_term, convert
from ...node import Node
from ...refs import Ref
from ...table import lowers

INNER = "columns of the first operand and rows of the second"

# --- the product of two tensors -----------------------------------------------------------------------------------------


def multiply(l: Lowering, a: Ref, b: Ref, bias: Ref | None = None) -> Ref:
    """a b as NumPy's matmul, with `bias` [n] added where it is given (f32 alone)."""
    dtype = a.dtype
    if dtype == "f64":
        return _multiply_f64(l, a, b)
    if dtype in INTEGERS:
        wide = _batched(l, "matmul_integer", convert(l, a, "i64"), convert(l, b, "i64"))
        return convert(l, wide, dtype)
    a, b = convert(l, a, "f32"), convert(l, b, "f32")
    if b.rank == 2 and l.values.is_constant(b):
        y = linear(l, a, l.transpose(b, (1, 0)), bias)
    else:
        y = _batched(l, "batch_matmul", a, b)
        y = y if bias is None else l.pointwise(lambda p, q: p + q, [y, bias], "f32")
    return convert(l, y, dtype)


def linear(l: Lowering, x: Ref, w: Ref, bias: Ref | None = None) -> Ref:
    """x w^T + bias for a weight [n, k]; x is [*m, k] or [k]."""
    n, k = w.shape
    x = l.agree(x, -1, k, INNER)
    rows = l.unsqueeze(x, [0]) if x.rank == 1 else x
    y = l.one("matmul", [rows, w, bias], {}, "f32", (*rows.shape[:-1], n))
    return l.squeeze(y, [0]) if x.rank == 1 else y


def _batched(l: Lowering, op: str, a: Ref, b: Ref) -> Ref:
    """Two operands with their batch axes broadcast; a shared right operand makes one product of all rows."""
    lone = (a.rank == 1, b.rank == 1)
    a = l.unsqueeze(a, [0]) if lone[0] else a
    b = l.unsqueeze(b, [1]) if lone[1] else b
    k = extents.simpler(a.shape[-1], b.shape[-2])
    a, b = l.agree(a, -1, k, INNER), l.agree(b, -2, k, INNER)
    m, n = a.shape[-2], b.shape[-1]
    if b.rank == 2 and a.rank > 2:
        y = l.one(
            op,
            [l.reshape(a, (product(a.shape[:-1]), k)), b],
            {},
            a.dtype,
            (product(a.shape[:-1]), n),
        )
        y = l.reshape(y, (*a.shape[:-1], n))
    else:
        batch = l.sizes.broadcast([a.shape[:-2], b.shape[:-2]])
        a, b = l.expand(a, (*batch, m, k)), l.expand(b, (*batch, k, n))
        y = l.one(op, [a, b], {}, a.dtype, (*batch, m, n))
    gone = [axis for axis, is_lone in zip((-2, -1), lone, strict=True) if is_lone]
    return l.squeeze(y, gone) if gone else y


def _multiply_f64(l: Lowering, a: Ref, b: Ref) -> Ref:
    """Products over an axis k of their own, then sums: the runtime's matmul is f32 alone."""
    left = l.unsqueeze(a, [a.rank - 1]) if a.rank > 1 else a  # [*b, m, 1, k]
    right = (
        l.transpose(b, (*range(b.rank - 2), b.rank - 1, b.rank - 2)) if b.rank > 1 else b
    )  # [*b, n, k]
    if a.rank > 1 and b.rank > 1:
        right = l.unsqueeze(right, [right.rank - 2])
    elif a.rank > 1:
        left = a
    products = l.pointwise(lambda p, q: p * q, [left, right], "f64")
    return l.one("reduce", [products], {"kind": "sum", "count": 1}, "f64", products.shape[:-1])


# --- ONNX ---------------------------------------------------------------------------------------------------------------


@lowers("MatMul")
def lower_matmul(l: Lowering, n: Node) -> Ref:
    return multiply(l, n[0], n[1])


@lowers("Gemm")
def lower_gemm(l: Lowering, n: Node) -> Ref:
    a, b, c = n[0], n[1], n.get(2)
    a = l.transpose(a, (1, 0)) if n.integer("transA") else a
    b = l.transpose(b, (1, 0)) if n.integer("transB") else b
    alpha, beta = n.number("alpha", 1.0), n.number("beta", 1.0)
    row = None if c is None or beta != 1.0 or alpha != 1.0 else _as_row(l, c, b.shape[1])
    if row is not None and a.dtype == "f32":
        return multiply(l, a, b, row)
    y = multiply(l, a, b)
    return _scaled_sum(l, y, alpha, None if beta == 0.0 else c, beta)


def _as_row(l: Lowering, c: Ref, n: Extent) -> Ref | None:
    """`c` as a bias [n], where it is one."""
    if c.rank == 0 or not same(c.shape[-1], n) or any(not same(e, 1) for e in c.shape[:-1]):
        return None
    return l.reshape(c, (n,))


def _scaled_sum(l: Lowering, y: Ref, alpha: float, c: Ref | None, beta: float) -> Ref:
    if alpha == 1.0 and c is None:
        return y
    whole = y.dtype not in INTEGERS or all(f.is_integer() and abs(f) < 2**53 for f in (alpha, beta))
    kind = register(y.dtype) if whole else "f64"  # half of an integer is cut off at the end

    def scaled(x: Term, by: float) -> Term:
        x = cast_term(x, y.dtype, kind)
        return x if by == 1.0 else x * (by if kind in ("f32", "f64") else int(by))

    if c is None:
        return l.pointwise(lambda p: cast_term(scaled(p, alpha), kind, y.dtype), [y], y.dtype)
    return l.pointwise(
        lambda p, q: cast_term(scaled(p, alpha) + scaled(q, beta), kind, y.dtype), [y, c], y.dtype
    )


# --- integers -----------------------------------------------------------------------------------------------------------


def centered(l: Lowering, x: Ref, zero: Ref | None) -> Ref:
    """x - zero in i64; `zero` broadcasts."""
    if zero is None:
        return convert(l, x, "i64")
    return l.pointwise(lambda a, b: a - b, [x, zero], "i64")


def _by_row(l: Lowering, x: Ref | None, rank: int) -> Ref | None:
    """A scale or zero point of the left operand: a vector holds one for each row."""
    if x is None or x.rank != 1 or rank < 2 or same(x.shape[0], 1):
        return x
    return l.unsqueeze(x, [1])


@lowers("MatMulInteger")
def lower_matmul_integer(l: Lowering, n: Node) -> Ref:
    a = centered(l, n[0], _by_row(l, n.get(2), n[0].rank))
    return convert(l, multiply(l, a, centered(l, n[1], n.get(3))), "i32")


@lowers("QLinearMatMul")
def lower_qlinear_matmul(l: Lowering, n: Node) -> Ref:
    a, b = n[0], n[3]
    sums = multiply(l, centered(l, a, _by_row(l, n.get(2), a.rank)), centered(l, b, n.get(5)))
    return requantize(l, sums, _by_row(l, n[1], a.rank) or n[1], n[4], n[6], n.get(7), a.dtype)


def requantize(
    l: Lowering, sums: Ref, a_scale: Ref, b_scale: Ref, y_scale: Ref, zero: Ref | None, dtype: str
) -> Ref:
    """round(sums * (a_scale * b_scale / y_scale)) + zero, saturated; `sums` i64."""
    row = DTYPES[zero.dtype if zero is not None else dtype]
    scales = [convert(l, s, "f32") for s in (a_scale, b_scale, y_scale)]

    def build(x: Term, p: Term, q: Term, r: Term, *z: Term) -> Term:
        y = cast(x, "f32") * (p * q / r)
        y = y if not z else y + cast(z[0], "f32")
        return cast(
            term("max", term("min", term("nearest", y), float(row.most)), float(row.least)), "i64"
        )

    operands = [sums, *scales, *([] if zero is None else [zero])]
    return l.pointwise(build, operands, dtype if zero is None else zero.dtype)


# --- Einsum -------------------------------------------------------------------------------------------------------------


@lowers("Einsum")
def lower_einsum(l: Lowering, n: Node) -> Ref:
    """Operands are joined from left to right; each label is one axis, the ellipsis stands for labels of its own."""
    refs = [n[i] for i in range(len(n.inputs))]
    terms_, out = _parse(l, n.text("equation"), refs)
    sizes = _sizes(l, terms_, refs)
    labels, y = _own(l, terms_[0], refs[0], set("".join(terms_[1:]) + out))
    for i, (term_, ref) in enumerate(zip(terms_[1:], refs[1:], strict=True), 2):
        rest = set("".join(terms_[i:]) + out)
        other, x = _own(l, term_, ref, rest | set(labels))
        labels, y = _join(l, (labels, y), (other, x), rest, sizes)
    missing = [c for c in out if c not in labels]
    assert not missing, "every output label stands in an operand"
    labels, y = _sum_out(l, labels, y, set(out))
    y = l.transpose(y, [labels.index(c) for c in out])
    return l.expand(y, tuple(sizes[c] for c in out))


def _parse(l: Lowering, equation: str, refs: Sequence[Ref]) -> tuple[list[str], str]:
    """Labels of each operand and of the result; the ellipsis becomes capitals outside the alphabet."""
    left, arrow, out = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(refs):
        l.fail(f"equation {equation!r} has {len(parts)} operands; got {len(refs)}")
    extra = max(
        (
            r.rank - len(p.replace("...", ""))
            for p, r in zip(parts, refs, strict=True)
            if "..." in p
        ),
        default=0,
    )
    dots = [chr(0x2460 + i) for i in range(extra)]
    done = []
    for p, r in zip(parts, refs, strict=True):
        count = r.rank - len(p.replace("...", ""))
        done.append(p.replace("...", "".join(dots[extra - count :])))
        if len(done[-1]) != r.rank:
            l.fail(f"equation {equation!r}: operand {p!r} has rank {r.rank}")
    if not arrow:
        once = [c for c in sorted(set("".join(done)) - set(dots)) if "".join(done).count(c) == 1]
        out = "..." + "".join(once)
    return done, out.replace("...", "".join(dots))


def _sizes(l: Lowering, terms_: Sequence[str], refs: Sequence[Ref]) -> dict[str, Extent]:
    sizes: dict[str, Extent] = {}
    for term_, ref in zip(terms_, refs, strict=True):
        for label, n in zip(term_, ref.shape, strict=True):
            known = sizes.get(label, 1)
            if same(known, 1):
                sizes[label] = n
            elif not same(n, 1):
                l.sizes.require_equal(known, n, f"einsum label {label}")
    return sizes


def _own(l: Lowering, labels: str, x: Ref, needed: set[str]) -> tuple[str, Ref]:
    """Takes diagonals of repeated labels and sums what nobody else needs."""
    for label in sorted(set(labels)):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            x = _diagonal(l, x, i, j)
            labels = labels[:j] + labels[j + 1 :]
    return _sum_out(l, labels, x, needed)


def _diagonal(l: Lowering, x: Ref, i: int, j: int) -> Ref:
    """Axes i < j walked together: one axis at i whose step is the sum of both."""
    view = l.real(x)
    l.sizes.require_equal(x.shape[i], x.shape[j], "a diagonal is of a square")
    steps = list(view.steps)
    steps[i] = extents.add(steps[i], steps.pop(j))
    shape = [n for axis, n in enumerate(x.shape) if axis != j]
    return views.place(view, tuple(shape), tuple(steps), view.offset)


def _sum_out(l: Lowering, labels: str, x: Ref, needed: set[str]) -> tuple[str, Ref]:
    gone = [i for i, c in enumerate(labels) if c not in needed]
    if not gone:
        return labels, x
    keep = [i for i in range(x.rank) if i not in gone]
    moved = l.transpose(x, [*keep, *gone])
    kept = "".join(labels[i] for i in keep)
    return kept, _sum_last(l, moved, len(gone))


def _sum_last(l: Lowering, x: Ref, count: int) -> Ref:
    wide = {"f64": "f64", "f32": "f32", "f16": "f32", "bf16": "f32"}.get(x.dtype, "i64")
    attrs = {"kind": "sum", "count": count}
    shape: Shape = x.shape[: x.rank - count]
    return convert(l, l.one("reduce", [convert(l, x, wide)], attrs, wide, shape), x.dtype)


def _join(
    l: Lowering,
    left: tuple[str, Ref],
    right: tuple[str, Ref],
    needed: set[str],
    sizes: dict[str, Extent],
) -> tuple[str, Ref]:
    """The product of two operands, summed over what nobody needs from here on."""
    (p, a), (q, b) = left, right
    batch = [c for c in p if c in q and c in needed]
    inner = [c for c in p if c in q and c not in needed]
    rows, columns = [c for c in p if c not in q], [c for c in q if c not in p]
    if not inner:
        order = [*batch, *rows, *columns]
        return "".join(order), l.pointwise(
            lambda x, y: x * y, [_spread(l, p, a, order), _spread(l, q, b, order)], a.dtype
        )
    a = _arranged(l, p, a, [batch, rows, inner], sizes)
    b = _arranged(l, q, b, [batch, inner, columns], sizes)
    y = multiply(l, a, b) if batch else multiply(l, *(l.squeeze(x, [0]) for x in (a, b)))
    order = [*batch, *rows, *columns]
    return "".join(order), l.reshape(y, tuple(sizes[c] for c in order))


def _spread(l: Lowering, labels: str, x: Ref, order: Sequence[str]) -> Ref:
    """`x` with its axes in `order` and axes of extent 1 where it has none."""
    have = [c for c in order if c in labels]
    x = l.transpose(x, [labels.index(c) for c in have])
    return l.unsqueeze(x, [i for i, c in enumerate(order) if c not in labels])


def _arranged(
    l: Lowering,
    labels: str,
    x: Ref,
    groups: Sequence[Sequence[str]],
    sizes: dict[str, Extent],
) -> Ref:
    """One axis a group of labels, each at its full size."""
    order = [c for group in groups for c in group]
    x = l.transpose(x, [labels.index(c) for c in order])
    x = l.expand(x, tuple(sizes[c] for c in order))
    return l.reshape(x, tuple(product(sizes[c] for c in group) for group in groups))
