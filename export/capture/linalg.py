"""Factorizations and what is made of them, on the traced graph: loops over the columns, written out, of operators that ONNX has.

Pivots, signs and packed forms are LAPACK's, as in PyTorch. A matrix that eager PyTorch refuses (singular, not positive definite) gives
infinities or NaN. Sources: Golub and Van Loan 2013, sections 3.4, 4.2, 5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pteron.schema.errors import ModelError

from . import singular
from .traced import calls

LARGEST: Final = 32
"""Columns: each is some twelve nodes."""
SQUARINGS: Final = 16
"""Of an exponential: a norm of 2^15, beyond which f32 has no digits left."""


def needed(torch: Any, program: Any) -> bool:
    """Whether an operator of the table is in the program."""
    known = table(torch)
    return any(n.target in known and singular.is_of_values(n) for n in calls(torch, program))


def table(torch: Any) -> Mapping[Any, Callable[..., Any]]:
    """Decompositions of aten's operators, with their parameters."""
    parts = (_triangles, _systems, _factors, _determinants, _reflections)
    made = {name: f for part in parts for name, f in part(torch).items()}
    aten = torch.ops.aten
    ours = {getattr(aten, name).default: f for name, f in made.items() if hasattr(aten, name)}
    return ours | singular.table(torch)


def _count(a: Any, name: str) -> int:
    """The columns that a loop goes over."""
    n = min(a.shape[-2:])
    if not isinstance(n, int) or n > LARGEST:
        raise ModelError(
            f"{name} of matrices {list(a.shape[-2:])}: expected sizes that are fixed, the smaller one up to {LARGEST}; "
            "compute it outside of the module, or register a translation: pteron.export.translation"
        )
    return n


def _swapped(torch: Any, rows: Any, k: int, p: Any) -> Any:
    """0, 1 .. with k and p [..] changed for each other."""
    p = p.unsqueeze(-1)
    return torch.where(rows == k, p, torch.where(rows == p, k, rows))


def _size(x: Any) -> Any:
    """What LAPACK chooses pivots by."""
    return x.real.abs() + x.imag.abs() if x.is_complex() else x.abs()


def _factored(torch: Any, a: Any) -> tuple[Any, Any]:
    """L and U in one matrix, and LAPACK's pivots, from 1 on."""
    m, n = a.shape[-2:]
    rows, columns, pivots = torch.arange(m), torch.arange(n), []
    for k in range(_count(a, "an LU factorization")):
        p = _size(a[..., k:, k]).argmax(-1) + k
        pivots.append(p + 1)
        order = _swapped(torch, rows, k, p).unsqueeze(-1).expand(a.shape)
        a = torch.gather(a, -2, order)
        pivot = a[..., k, k].unsqueeze(-1)
        by = torch.where(pivot == 0, torch.ones_like(pivot), pivot)
        is_below = rows > k
        factor = torch.where(is_below, a[..., :, k] / by, 0.0)
        right = torch.where(columns > k, a[..., k, :], 0.0)
        reduced = a - factor.unsqueeze(-1) * right.unsqueeze(-2)
        is_factor = is_below.unsqueeze(-1) & (columns == k)
        a = torch.where(is_factor, factor.unsqueeze(-1), reduced)
    empty = torch.zeros(*a.shape[:-2], 0, dtype=torch.int32)
    return a, torch.stack(pivots, -1).to(torch.int32) if pivots else empty


def _order(torch: Any, pivots: Any, m: int) -> Any:
    """Which row of A each row of L U is."""
    rows = torch.arange(m)
    order = rows.expand(*pivots.shape[:-1], m)
    for k in range(pivots.shape[-1]):
        step = _swapped(torch, rows, k, pivots[..., k].to(torch.int64) - 1)
        order = torch.gather(order, -1, step)
    return order


def _triangular(torch: Any, a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """X of A X = B, row after row."""
    n = _count(a, "a triangular system")
    lead = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = a.expand(*lead, *a.shape[-2:]), b.expand(*lead, *b.shape[-2:])
    found: list[Any] = []
    for k in reversed(range(n)) if upper else range(n):
        row = b[..., k : k + 1, :]
        if found:
            left = a[..., k : k + 1, k + 1 :] if upper else a[..., k : k + 1, :k]
            row = row - left @ torch.cat(found, -2)
        row = row if unit else row / a[..., k : k + 1, k : k + 1]
        found = [row, *found] if upper else [*found, row]
    return torch.cat(found, -2) if found else b.clone()


def _no_info(torch: Any, a: Any) -> Any:
    return torch.zeros(a.shape[:-2], dtype=torch.int32)


def _triangles(torch: Any) -> dict[str, Callable[..., Any]]:
    """Cholesky factorizations, and systems with triangles."""

    def cholesky(a: Any, upper: bool = False) -> Any:
        a = a.mH if upper else a
        rows, columns = torch.arange(a.shape[-1]), []
        for k in range(_count(a, "a Cholesky factorization")):
            column = torch.where(rows >= k, a[..., :, k] / a[..., k, k].sqrt().unsqueeze(-1), 0.0)
            columns.append(column)
            a = a - column.unsqueeze(-1) * column.conj().unsqueeze(-2)
        made = torch.stack(columns, -1) if columns else a.clone()
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
        """Of complex numbers; of real ones `aten_singular` has a Loop. Of A / 2^s, whose norm is at most 1/2, then squared s times."""
        if not a.is_complex():
            return NotImplemented
        unit = torch.eye(a.shape[-1], dtype=a.dtype)
        size = a.abs().sum(-2).amax(-1)
        times = torch.clamp(torch.ceil(torch.log2(torch.clamp(size, min=0.25))) + 1, 0, SQUARINGS)
        part = a * torch.exp2(-times)[..., None, None]
        y = unit.expand(a.shape)
        for k in range(16 if a.dtype == torch.complex128 else 9, 0, -1):
            y = unit + part @ y / k
        for k in range(SQUARINGS):
            y = torch.where((times > k)[..., None, None], y @ y, y)
        return y

    def tensorinv(a: Any, ind: int = 2) -> Any:
        lead, rest = a.shape[:ind], a.shape[ind:]
        return inverse(a.reshape(lead.numel(), -1)).reshape(*rest, *lead)

    def old_lu_solve(b: Any, lu: Any, pivots: Any) -> Any:
        return lu_solve(lu, pivots, b)

    return {
        "linalg_lu_solve": lu_solve, "lu_solve": old_lu_solve, "linalg_solve": solve, "linalg_solve_ex": solve_ex,
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

    def reflected(y: Any, v: Any, tau: Any) -> Any:
        return y - tau[..., None, None] * v.unsqueeze(-1) * (v.conj().unsqueeze(-2) @ y)

    def squared(x: Any) -> Any:
        return x.real * x.real + x.imag * x.imag if x.is_complex() else x * x

    def packed(a: Any) -> tuple[Any, Any]:
        """R with each v below its diagonal, and tau."""
        rows, columns, taus = torch.arange(a.shape[-2]), torch.arange(a.shape[-1]), []
        for k in range(_count(a, "a QR factorization")):
            x, alpha = a[..., :, k], a[..., k, k]
            rest = torch.where(rows > k, x, 0.0)
            tail = squared(rest).sum(-1)
            length = (squared(alpha) + tail).sqrt()
            is_done = (tail == 0) & (alpha.imag == 0) if a.is_complex() else tail == 0
            beta = torch.where((alpha.real if a.is_complex() else alpha) >= 0, -length, length)
            one = torch.ones_like(beta)
            by = torch.where(is_done, one, alpha - beta)
            tau = torch.where(is_done, 0.0, (beta - alpha) / torch.where(is_done, one, beta))
            v = torch.where(rows == k, 1.0, rest / by.unsqueeze(-1))
            done = reflected(a, v, tau.conj())
            is_stored = (rows > k).unsqueeze(-1) & (columns == k)
            kept = torch.where(columns < k, a, done)
            a = torch.where(is_stored, v.unsqueeze(-1), kept)
            taus.append(tau)
        empty = torch.zeros(*a.shape[:-2], 0, dtype=a.dtype)
        return a.clone(), torch.stack(taus, -1) if taus else empty

    def applied(a: Any, tau: Any, y: Any, is_transposed: bool) -> Any:
        """H_0 H_1 .. y; transposed, the other way."""
        rows = torch.arange(a.shape[-2])
        _count(a, "a product of reflections")
        places = range(tau.shape[-1])
        for k in places if is_transposed else reversed(places):
            below = torch.where(rows > k, a[..., :, k], 0.0)
            v = torch.where(rows == k, 1.0, below)
            y = reflected(y, v, tau[..., k].conj() if is_transposed else tau[..., k])
        return y

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
