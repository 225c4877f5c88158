"""What is made of factorizations (LU, Cholesky, QR), on the traced graph: systems, inverses, determinants, powers, around operators of
our own (`matrix_operators`).

A matrix that eager PyTorch refuses (singular, not positive definite) gives infinities or NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pteron.schema.errors import ModelError

from . import matrix_operators, singular
from .traced import calls

LARGEST: Final = 1024
"""Columns: a run takes time with the third power."""


def needed(torch: Any, program: Any) -> bool:
    """Whether an operator of the table is in the program."""
    known = table(torch)
    return any(n.target in known and singular.is_of_values(n) for n in calls(torch, program))


def table(torch: Any) -> Mapping[Any, Callable[..., Any]]:
    """Decompositions of aten's operators, with their parameters."""
    matrix_operators.library(torch)
    parts = (_triangles, _systems, _factors, _determinants, _reflections)
    made = {name: f for part in parts for name, f in part(torch).items()}
    aten = torch.ops.aten
    ours = {getattr(aten, name).default: f for name, f in made.items() if hasattr(aten, name)}
    return ours | singular.table(torch)


def _checked(a: Any, name: str) -> Any:
    """Matrices that are not too large, as far as sizes are known."""
    n = min((n for n in a.shape[-2:] if isinstance(n, int)), default=0)
    if n > LARGEST:
        raise ModelError(
            f"{name} of matrices {list(a.shape[-2:])}: expected the smaller size up to {LARGEST}; "
            "compute it outside of the module, or register a translation: pteron.export.translation"
        )
    return a


def _is_empty(*tensors: Any) -> bool:
    return any(isinstance(n, int) and not n for x in tensors for n in x.shape[-2:])


def _factored(torch: Any, a: Any) -> tuple[Any, Any]:
    """L and U in one matrix, and LAPACK's pivots, from 1 on."""
    if _is_empty(a):
        return a.clone(), torch.zeros(*a.shape[:-2], 0, dtype=torch.int32)
    lu = matrix_operators.run(torch, "lu", _checked(a, "an LU factorization"))
    pivots = lu[..., -1, : _least(torch, a)]
    return lu[..., :-1, :].clone(), (pivots.real if lu.is_complex() else pivots).to(torch.int32)


def _least(torch: Any, a: Any) -> Any:
    m, n = a.shape[-2:]
    return m if m is n else torch.sym_min(m, n)


def _order(torch: Any, pivots: Any, m: Any) -> Any:
    """Which row of A each row of L U is."""
    if not pivots.shape[-1]:
        return torch.arange(m).expand(*pivots.shape[:-1], m)
    return torch.ops.pteron.order(pivots.to(torch.int64), m)


def _triangular(torch: Any, a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """X of A X = B."""
    lead = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (x.expand(*lead, *x.shape[-2:]) for x in (a, b))
    if _is_empty(a, b):
        return b.clone()
    a = _checked(a, "a triangular system")
    return matrix_operators.run(torch, "triangular", a, b, upper, unit)


def _no_info(torch: Any, a: Any) -> Any:
    return torch.zeros(a.shape[:-2], dtype=torch.int32)


def _triangles(torch: Any) -> dict[str, Callable[..., Any]]:
    """Cholesky factorizations, and systems with triangles."""

    def cholesky(a: Any, upper: bool = False) -> Any:
        if _is_empty(a):
            return a.clone()
        a = _checked(a, "a Cholesky factorization")
        made = matrix_operators.run(torch, "cholesky", a.mH if upper else a)
        return made.mH.clone() if upper else made

    def linalg_cholesky_ex(a: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
        return cholesky(a, upper), _no_info(torch, a)

    def solve_triangular(a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:  # fmt: skip
        if left:
            return _triangular(torch, a, b, upper, unitriangular)
        return _triangular(torch, a.mT, b.mT, not upper, unitriangular).mT.clone()

    def triangular_solve(b: Any, a: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:  # fmt: skip
        is_upper = upper != transpose
        return _triangular(torch, a.mT if transpose else a, b, is_upper, unitriangular), a.clone()

    def cholesky_solve(b: Any, a: Any, upper: bool = False) -> Any:
        low = a.mH if upper else a
        return _triangular(torch, low.mH, _triangular(torch, low, b, False, False), True, False)

    def cholesky_inverse(a: Any, upper: bool = False) -> Any:
        return cholesky_solve(torch.eye(a.shape[-1], dtype=a.dtype).expand(a.shape), a, upper)

    return {
        "cholesky": cholesky, "linalg_cholesky": lambda a, *, upper=False: cholesky(a, upper),
        "linalg_cholesky_ex": linalg_cholesky_ex, "cholesky_solve": cholesky_solve, "cholesky_inverse": cholesky_inverse,
        "linalg_solve_triangular": solve_triangular, "triangular_solve": triangular_solve,
    }  # fmt: skip


def _systems(torch: Any) -> dict[str, Callable[..., Any]]:
    """Systems, inverses and powers by an LU factorization."""

    def lu_solve(lu: Any, pivots: Any, b: Any, *, left: bool = True, adjoint: bool = False) -> Any:
        if not left:
            return lu_solve(lu, pivots, b.mH, adjoint=not adjoint).mH.clone()
        order = _order(torch, pivots, lu.shape[-1]).unsqueeze(-1)
        lead = torch.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
        b, order = b.expand(*lead, *b.shape[-2:]), order.expand(*lead, *b.shape[-2:])
        if not adjoint:
            low = _triangular(torch, lu, torch.gather(b, -2, order), False, True)
            return _triangular(torch, lu, low, True, False)
        high = _triangular(torch, lu.mH, b, False, False)
        return torch.gather(_triangular(torch, lu.mH, high, True, True), -2, order.argsort(-2))

    def solve(a: Any, b: Any, *, left: bool = True) -> Any:
        is_vector = b.dim() == 1 or (a.dim() - 1 == b.dim() and b.shape == a.shape[:-1])
        x = lu_solve(*_factored(torch, a), b.unsqueeze(-1) if is_vector else b, left=left)
        return x.squeeze(-1) if is_vector else x

    def solve_ex(a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
        return solve(a, b, left=left), _no_info(torch, a)

    def inverse(a: Any) -> Any:
        return solve(a, torch.eye(a.shape[-1], dtype=a.dtype).expand(a.shape))

    def inv_ex(a: Any, *, check_errors: bool = False) -> Any:
        return inverse(a), _no_info(torch, a)

    def matrix_power(a: Any, n: int) -> Any:
        a, n = (inverse(a), -n) if n < 0 else (a, n)
        y = None
        for bit in reversed(f"{n:b}"):
            y = y if bit == "0" else a if y is None else y @ a
            a = a @ a
        return torch.eye(a.shape[-1], dtype=a.dtype).expand(a.shape) if y is None else y.clone()

    def matrix_exp(a: Any) -> Any:
        """Of a complex matrix that of a real one of twice its size; of a real one `aten_singular` has a Loop."""
        if not a.is_complex():
            return NotImplemented
        n = a.shape[-1]
        re, im = a.real, a.imag
        both = torch.cat([torch.cat([re, -im], -1), torch.cat([im, re], -1)], -2)
        left = torch.linalg.matrix_exp(both)[..., :n]
        return torch.complex(left[..., :n, :], left[..., n:, :])

    def tensorsolve(a: Any, b: Any, dims: Any = None) -> Any:
        last = [d % a.dim() for d in dims or ()]
        a = a.permute([d for d in range(a.dim()) if d not in last] + last)
        return solve(a.reshape(b.numel(), -1), b.reshape(-1)).reshape(a.shape[b.dim() :])

    def solve_parts(a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
        return solve(a, b, left=left), *_factored(torch, a), _no_info(torch, a)

    def tensorinv(a: Any, ind: int = 2) -> Any:
        lead, rest = a.shape[:ind], a.shape[ind:]
        return inverse(a.reshape(lead.numel(), -1)).reshape(*rest, *lead)

    def old_lu_solve(b: Any, lu: Any, pivots: Any) -> Any:
        return lu_solve(lu, pivots, b)

    return {
        "linalg_lu_solve": lu_solve, "lu_solve": old_lu_solve, "linalg_solve": solve, "linalg_solve_ex": solve_ex, "_linalg_solve_ex": solve_parts, "linalg_tensorsolve": tensorsolve,
        "linalg_inv": inverse, "inverse": inverse, "linalg_inv_ex": inv_ex,
        "linalg_matrix_power": matrix_power, "matrix_power": matrix_power, "linalg_tensorinv": tensorinv,
        "linalg_matrix_exp": matrix_exp,
    }  # fmt: skip


def _factors(torch: Any) -> dict[str, Callable[..., Any]]:
    """LU factorizations as they are."""

    def lu_factor(a: Any, *, pivot: bool = True) -> Any:
        return _factored(torch, a)

    def lu_factor_ex(a: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
        return *_factored(torch, a), _no_info(torch, a)

    def old_lu_factor(a: Any, pivot: bool = True, check_errors: bool = True) -> Any:
        return lu_factor_ex(a)

    def lu_unpack(lu: Any, pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:  # fmt: skip
        (m, n), none = lu.shape[-2:], torch.empty(0, dtype=lu.dtype)
        k = min(m, n)
        order = _order(torch, pivots, m)
        p = (order.unsqueeze(-2) == torch.arange(m).unsqueeze(-1)).to(lu.dtype)
        low = lu[..., :, :k].tril(-1) + torch.eye(m, k, dtype=lu.dtype)
        parts = (low, lu[..., :k, :].triu()) if unpack_data else (none, none)
        return p if unpack_pivots else none, *parts

    def linalg_lu(a: Any, *, pivot: bool = True) -> Any:
        return lu_unpack(*_factored(torch, a))

    return {
        "linalg_lu_factor": lu_factor, "linalg_lu_factor_ex": lu_factor_ex, "_lu_with_info": old_lu_factor,
        "lu_unpack": lu_unpack, "linalg_lu": linalg_lu,
    }  # fmt: skip


def _determinants(torch: Any) -> dict[str, Callable[..., Any]]:
    def triangle(a: Any) -> tuple[Any, Any]:
        """The sign of the permutation, and the diagonal of U."""
        lu, pivots = _factored(torch, a)
        is_moved = pivots != torch.arange(1, a.shape[-1] + 1)
        sign = 1 - 2 * (is_moved.sum(-1) % 2).to(a.dtype)
        return sign, lu.diagonal(dim1=-2, dim2=-1)

    def det(a: Any) -> Any:
        sign, diagonal = triangle(a)
        return sign * diagonal.prod(-1)

    def slogdet(a: Any) -> Any:
        sign, diagonal = triangle(a)
        return sign * diagonal.sign().prod(-1), diagonal.abs().log().sum(-1)

    def logdet(a: Any) -> Any:
        if a.is_complex():
            return det(a).log()
        sign, log = slogdet(a)
        return torch.where(sign < 0, torch.full_like(log, float("nan")), log)

    return {
        "slogdet": slogdet, "linalg_slogdet": slogdet, "logdet": logdet, "det": det, "linalg_det": det,
    }  # fmt: skip


def _reflections(torch: Any) -> dict[str, Callable[..., Any]]:
    """QR by Householder's reflections 1 - tau v v^T."""

    def packed(a: Any) -> tuple[Any, Any]:
        """R with each v below its diagonal, and tau."""
        if _is_empty(a):
            return a.clone(), torch.zeros(*a.shape[:-2], 0, dtype=a.dtype)
        made = matrix_operators.run(torch, "qr", _checked(a, "a QR factorization"))
        return made[..., :-1, :].clone(), made[..., -1, : _least(torch, a)].clone()

    def applied(a: Any, tau: Any, y: Any, is_transposed: bool) -> Any:
        """H_0 H_1 .. y; transposed, the other way."""
        if _is_empty(a, y) or not tau.shape[-1]:
            return y.clone()
        a = _checked(a, "a product of reflections")
        return matrix_operators.run(torch, "reflected", a, tau, y, is_transposed)

    def product(a: Any, tau: Any) -> Any:
        unit = torch.eye(*a.shape[-2:], dtype=a.dtype).expand(a.shape)
        return applied(a, tau, unit, False).clone()

    def ormqr(a: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
        if left:
            return applied(a, tau, other, transpose)
        return applied(a, tau, other.mH, not transpose).mH.clone()

    def qr(a: Any, mode: str = "reduced") -> Any:
        m, n = a.shape[-2:]
        r, tau = packed(a)
        k = m if mode == "complete" else min(m, n)
        upper = r[..., : min(k, m), :].triu()
        if mode == "r":
            return torch.empty(0, dtype=a.dtype), upper
        unit = torch.eye(m, k, dtype=a.dtype).expand(*a.shape[:-2], m, k)
        return applied(r, tau, unit, False).clone(), upper

    def old_qr(a: Any, some: bool = True) -> Any:
        return qr(a, "reduced" if some else "complete")

    return {
        "geqrf": packed, "linalg_householder_product": product, "orgqr": product, "ormqr": ormqr, "linalg_qr": qr, "qr": old_qr,
    }  # fmt: skip
