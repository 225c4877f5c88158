"""Singular values, eigenvalues of Hermitian matrices and what PyTorch makes of them, on the traced graph, around two operators of our
own: `jacobi`, a loop of rotations, and `basis` (`matrix_operators`). Source: Golub and Van Loan 2013, sections 8.5, 8.6.3.

Vectors are unique up to a sign (a complex factor of length 1; where values are equal, a rotation among them), which PyTorch leaves open.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from pteron.schema.errors import ModelError

from . import matrix_operators
from .traced import overload

MOST: Final = 256
"""Columns: a run takes time with the third power."""
STEPS: Final = 3
"""From eigenvectors that rounding in f32 has rotated by a tenth to those of f64's digits."""
WHOLE: Final = (
    *("linalg_eigh", "linalg_eigvalsh", "linalg_svd", "linalg_svdvals", "svd", "linalg_pinv"),
    *("pinverse", "linalg_matrix_rank", "linalg_cond", "nuclear_norm"),
)
"""Operators that PyTorch writes with those of `_factorizations`,"""
NORMS: Final = ("linalg_norm", "linalg_matrix_norm")
"""and those that it does for some orders."""
ORDERS: Final = (2, -2, "nuc")


def table(torch: Any) -> dict[Any, Callable[..., Any]]:
    """Decompositions by aten's operators."""
    matrix_operators.library(torch)
    aten, composite = torch.ops.aten, torch._C.DispatchKey.CompositeImplicitAutograd
    found: dict[Any, Callable[..., Any]] = {}
    for name in (*WHOLE, *NORMS):
        packet = getattr(aten, name, None)
        for kind in packet.overloads() if packet is not None else ():
            whole = getattr(packet, kind)
            if whole.has_kernel_for_dispatch_key(composite) and not whole._schema.is_mutable:
                found[whole] = functools.partial(whole._op_dk, composite)  # past this table
    return found | {overload(aten, name): f for name, f in _factorizations(torch).items()}


def is_of_values(node: Any) -> bool:
    """Whether the operator of the table takes singular values: most norms do not."""
    return node.target._opname not in NORMS or any(
        order in ORDERS and not isinstance(order, bool)
        for order in (*node.args[1:2], node.kwargs.get("ord"))
        if isinstance(order, (int, float, str))
    )


def _rows(torch: Any, a: Any) -> tuple[Any, Any, Any]:
    """Lengths of the columns of A V, descending, and (A V)^T and V^T in their order."""
    m, n = a.shape[-2:]
    if not (isinstance(m, int) and isinstance(n, int)) or n > MOST:
        raise ModelError(
            f"singular values or eigenvalues of matrices {[m, n]}: expected sizes that are fixed, the smaller one up to {MOST}; "
            "compute them outside of the module, or register a translation: pteron.export.translation"
        )
    size = a.abs()
    scale = (size.amax if m * n else size.sum)((-2, -1), keepdim=True)
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    even = a / scale
    rows = matrix_operators.run(torch, "jacobi", even)
    squares = rows[..., :m].abs().square().sum(-1)
    order = _descending(torch, squares)
    lengths = torch.gather(squares, -1, order)
    rows = torch.gather(rows, -2, order.unsqueeze(-1).expand(rows.shape))
    return lengths.sqrt() * scale.squeeze(-1), rows[..., :m] * scale, rows[..., m:]


def _descending(torch: Any, x: Any) -> Any:
    """The places of the last axis, the largest element's first. f64, which no kernel orders, by how many elements come before each."""
    if x.dtype != torch.float64:
        return x.argsort(-1, descending=True)
    places = torch.arange(x.shape[-1])
    one, other = x.unsqueeze(-1), x.unsqueeze(-2)
    is_before = (other > one) | ((other == one) & (places < places.unsqueeze(-1)))
    is_there = is_before.sum(-1).unsqueeze(-2) == places.unsqueeze(-1)
    return (is_there * places).sum(-1).clamp(max=max(x.shape[-1] - 1, 0))  # NaN comes before none


def _factorizations(torch: Any) -> dict[str, Callable[..., Any]]:
    def eigh(a: Any, uplo: str = "L", compute_v: bool = True) -> Any:
        """Of A + c 1, whose eigenvalues lie between |A| and 3 |A|: there the singular vectors are A's eigenvectors, up to the
        rounding of A + c 1, from which a step of `_refined` leads back."""
        n = a.shape[-1]
        half = a.tril(-1) if uplo.upper() == "L" else a.triu(1)
        middle = torch.eye(n, dtype=a.dtype) * (a.real if a.is_complex() else a)
        a = half + half.mH + middle
        shift = 2 * (a.abs().sum(-1).amax(-1) if n else a.abs().sum((-2, -1)))
        unit = torch.eye(n, dtype=a.dtype)
        v = _rows(torch, a + shift[..., None, None] * unit)[2].mT.flip(-1)
        values, v = _refined(torch, a, v)
        order = _descending(torch, values).flip(-1)
        values = torch.gather(values, -1, order)
        v = torch.gather(v, -1, order.unsqueeze(-2).expand(v.shape))
        return values, v if compute_v else torch.empty(0, dtype=a.dtype)

    def svd(
        a: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
    ) -> Any:
        m, n = a.shape[-2:]
        if m < n:
            u, s, vh = svd(a.mH, full_matrices, compute_uv)
            return (vh.mH.clone(), s, u.mH.clone()) if compute_uv else (u, s, vh)
        s, rows, v = _rows(torch, a)
        none = torch.empty(0, dtype=a.dtype)
        if not compute_uv:
            return none, s, none
        return _basis(torch, s, rows, full_matrices), s, v.conj()

    def pinv(a: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
        if not a.numel():
            return a.mT.clone()
        if hermitian:
            s, left = eigh(a)
            right = left.mH
        else:
            left, s, right = svd(a)
        size = s.abs()
        usual = torch.full_like(size[..., 0], max(a.shape[-2:]) * torch.finfo(s.dtype).eps)
        if rtol is None:
            rtol = usual if atol is None else torch.where(atol > 0, torch.zeros_like(usual), usual)
        least = rtol * size.amax(-1)
        least = (least if atol is None else torch.maximum(atol.to(least.dtype), least)).unsqueeze(
            -1
        )
        by = torch.where(size > least, 1 / s, torch.zeros_like(s)).unsqueeze(-2)
        return (right.mH * by) @ left.mH

    return {
        "_linalg_eigh.default": eigh, "_linalg_svd.default": svd, "linalg_pinv.atol_rtol_tensor": pinv,
    }  # fmt: skip


def _refined(torch: Any, a: Any, v: Any) -> tuple[Any, Any]:
    """Eigenvalues, and eigenvectors as exact as f64 has them: an error squares with each step. Source: Ogita and Aishima 2018,
    algorithm 1."""
    wide = torch.complex128 if a.is_complex() else torch.float64
    kind, a, v = a.dtype, a.to(wide), v.to(wide)
    unit = torch.eye(a.shape[-1], dtype=wide)
    for _ in range(STEPS):
        r, s = unit - v.mH @ v, v.mH @ (a @ v)
        values = (s * unit).sum(-1) / (1 - (r * unit).sum(-1))
        real = values.real if a.is_complex() else values
        gap = real.unsqueeze(-2) - real.unsqueeze(-1)
        away = s - unit * values.unsqueeze(-2)
        is_apart = gap.abs() > 2 * away.abs()
        by = torch.where(is_apart, gap, torch.ones_like(gap))
        step = torch.where(is_apart, (s + values.unsqueeze(-2) * r) / by, r / 2)
        v = v + v @ step
    v = v.to(kind)
    return real.to(v.real.dtype if v.is_complex() else v.dtype), v


def _basis(torch: Any, s: Any, rows: Any, is_full: bool) -> Any:
    """The rows' directions as columns, where they are none any that are orthogonal to the others."""
    n, m = rows.shape[-2:]
    if not n:
        unit = torch.eye(m, m if is_full else 0, dtype=rows.dtype)
        return unit.expand(*rows.shape[:-2], *unit.shape).clone()
    is_some = s > s.amax(-1, keepdim=True) * (m * torch.finfo(s.dtype).eps)
    by = torch.where(is_some, s, torch.ones_like(s)).unsqueeze(-1)
    u = torch.where(is_some.unsqueeze(-1), rows / by, torch.zeros_like(rows)).mT
    count = m if is_full else n
    return matrix_operators.run(torch, "basis", u, count)
