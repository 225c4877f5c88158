"""Operators of matrices of our own, `pteron::`, that decompositions put into a traced graph (`linalg`, `singular`) and a Loop becomes
in ONNX (`aten_factors`, `aten_singular`): what each means, by LAPACK, for the check of an export.

A complex matrix is its real and its imaginary part, `im` of a real one None; a result has an axis of 2 in front then.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

NEAR: Final = 1e-4
"""Of the whole: what rounding may cost."""
LU, QR, JACOBI, BASIS = (f"pteron.{name}.default" for name in ("lu", "qr", "jacobi", "basis"))
FREE: Final = (LU, QR, JACOBI, BASIS)
"""Operators with more than one right result: signs are free, and what rounding leaves of columns that depend on others."""


@functools.cache
def library(torch: Any) -> Any:
    """Defines the operators; what it gives must live as long as they do.

    lu(A [.., m, n]): [.., m + 1, n], L and U in one matrix, and in a last row LAPACK's pivots, from 1 on, then zeros.
    order(pivots [.., k], m): [.., m], which row of A each row of L U is.
    cholesky(A): L of A = L L^H.
    triangular(A, B, upper, unit): X of A X = B, both with the same batches.
    qr(A): [.., m + 1, n], R with the reflections 1 - tau v v^H below it, and in a last row tau, then zeros.
    reflected(A, tau, Y, transposed): H_0 H_1 .. Y of these reflections, or H_k^H .. H_0^H Y.
    jacobi(A [.., m, n]): the rows [.., n, m + n], in any order, of (A V | V) transposed, V unitary such that the columns of A V are
    orthogonal.
    basis(U [.., m, n], count), whose columns are orthonormal, or 0 from one on: [.., m, count], these columns, and any for those that
    are 0 or lack.
    """
    made = torch.library.Library("pteron", "FRAGMENT")
    for schema, eager, fake in (*_factors(torch), *_of_values(torch)):
        name = schema.split("(")[0]
        made.define(schema)
        made.impl(name, eager, "CPU")
        torch.library.register_fake(f"pteron::{name}", fake, lib=made)
    return made


def whole(torch: Any, re: Any, im: Any) -> Any:
    return re if im is None else torch.complex(re, im)


def run(torch: Any, name: str, *args: Any) -> Any:
    """An operator of complex or of real tensors, whose result is as these are."""
    is_complex = args[0].is_complex()
    parts: list[Any] = []
    for x in args:
        if not isinstance(x, torch.Tensor):
            parts.append(x)
        else:
            parts += [x.real, x.imag] if is_complex else [x, None]
    made = getattr(torch.ops.pteron, name)(*parts)
    return torch.complex(*made.unbind(0)) if is_complex else made


def _parts(torch: Any, x: Any) -> Any:
    return torch.stack([x.real, x.imag]) if x.is_complex() else x.contiguous()


def _like(re: Any, im: Any, *shape: Any) -> Any:
    return re.new_empty(*([] if im is None else [2]), *re.shape[:-2], *shape)


Row = tuple[str, Callable[..., Any], Callable[..., Any]]
"""Schema, what LAPACK computes, and its shapes."""


def _factors(torch: Any) -> tuple[Row, ...]:
    def lu(re: Any, im: Any) -> Any:
        packed, pivots, _ = torch.linalg.lu_factor_ex(whole(torch, re, im))
        return below(packed, pivots)

    def below(packed: Any, row: Any) -> Any:
        row = torch.nn.functional.pad(row.to(packed.dtype), (0, packed.shape[-1] - row.shape[-1]))
        return _parts(torch, torch.cat([packed, row.unsqueeze(-2)], -2))

    def longer(re: Any, im: Any) -> Any:
        return _like(re, im, re.shape[-2] + 1, re.shape[-1])

    def order(pivots: Any, rows: Any) -> Any:
        return _order(torch, pivots, rows)

    def cholesky(re: Any, im: Any) -> Any:
        return _parts(torch, torch.linalg.cholesky_ex(whole(torch, re, im))[0])

    def triangular(re: Any, im: Any, p: Any, q: Any, upper: bool, unit: bool) -> Any:
        a, b = whole(torch, re, im), whole(torch, p, q)
        x = torch.linalg.solve_triangular(a, b, upper=upper, unitriangular=unit)
        return _parts(torch, x)

    def qr(re: Any, im: Any) -> Any:
        return below(*torch.geqrf(whole(torch, re, im)))

    def reflected(re: Any, im: Any, t: Any, ti: Any, y: Any, yi: Any, transposed: bool) -> Any:
        a, tau, y = (whole(torch, *pair) for pair in ((re, im), (t, ti), (y, yi)))
        return _parts(torch, torch.ormqr(a, tau, y, True, transposed))

    def of_first(re: Any, im: Any) -> Any:
        return _like(re, im, *re.shape[-2:])

    def of_second(re: Any, im: Any, p: Any, q: Any, *rest: Any) -> Any:
        return of_first(p, q)

    def of_third(re: Any, im: Any, t: Any, ti: Any, y: Any, yi: Any, transposed: bool) -> Any:
        return of_first(y, yi)

    def order_like(pivots: Any, rows: Any) -> Any:
        return pivots.new_empty(*pivots.shape[:-1], rows)

    return (
        ("lu(Tensor re, Tensor? im) -> Tensor", lu, longer),
        ("order(Tensor pivots, SymInt rows) -> Tensor", order, order_like),
        ("cholesky(Tensor re, Tensor? im) -> Tensor", cholesky, of_first),
        ("triangular(Tensor re, Tensor? im, Tensor b_re, Tensor? b_im, bool upper, bool unit) -> Tensor", triangular, of_second),
        ("qr(Tensor re, Tensor? im) -> Tensor", qr, longer),
        ("reflected(Tensor re, Tensor? im, Tensor tau_re, Tensor? tau_im, Tensor y_re, Tensor? y_im, bool transposed) -> Tensor", reflected, of_third),
    )  # fmt: skip


def _order(torch: Any, pivots: Any, rows: Any) -> Any:
    places = torch.arange(rows).repeat(*pivots.shape[:-1], 1)
    for k in range(pivots.shape[-1]):
        p = pivots[..., k : k + 1] - 1
        here, there = places[..., k : k + 1].clone(), places.gather(-1, p)
        places.scatter_(-1, p, here)[..., k : k + 1] = there
    return places


def _of_values(torch: Any) -> tuple[Row, ...]:
    def jacobi(re: Any, im: Any = None) -> Any:
        a = whole(torch, re, im)
        v = torch.linalg.svd(a, full_matrices=a.shape[-2] < a.shape[-1])[2].mH
        return _parts(torch, torch.cat([a @ v, v], -2).mT)

    def jacobi_like(re: Any, im: Any = None) -> Any:
        m, n = re.shape[-2:]
        return _like(re, im, n, m + n)

    def basis(re: Any, im: Any, count: int) -> Any:
        u = whole(torch, re, im)
        q = torch.linalg.qr(u, "complete")[0][..., :count]
        is_some = (u.abs().sum(-2, keepdim=True) > 0).expand(u.shape)
        n = u.shape[-1]
        q = torch.cat([torch.where(is_some, u, q[..., :n]), q[..., n:]], -1)
        return _parts(torch, q)

    def basis_like(re: Any, im: Any, count: int) -> Any:
        return _like(re, im, re.shape[-2], count)

    return (
        ("jacobi(Tensor re, Tensor? im) -> Tensor", jacobi, jacobi_like),
        ("basis(Tensor re, Tensor? im, int count) -> Tensor", basis, basis_like),
    )


def is_right(torch: Any, target: Any, got: Any, re: Any, im: Any, count: int = 0) -> bool:
    """Whether this may be the result of an operator of `FREE`, by the operator's definition."""
    a = whole(torch, re, im).to(torch.complex128)
    made = whole(torch, *((got, None) if im is None else got.unbind(0))).to(torch.complex128)
    away = AWAY[str(target)](torch, made, a)
    return not any(bool((x.abs() > NEAR).any()) for x in away)


def _from_factors(torch: Any, made: Any, a: Any) -> list[Any]:
    (m, n), packed = a.shape[-2:], made[..., :-1, :]
    k, pivots = min(m, n), made[..., -1, : min(m, n)].real.to(torch.int64)
    if bool(((pivots < 1) | (pivots > m)).any()):
        return [torch.ones(1)]
    low = packed[..., :k].tril(-1) + torch.eye(m, k, dtype=made.dtype)
    order = _order(torch, pivots, m).unsqueeze(-1).expand(a.shape)
    product = low @ packed[..., :k, :].triu()
    longest = low.abs() - (2**0.5 if a.imag.any() else 1)
    return [(product - a.gather(-2, order)) / _size(a), longest.clamp(min=0)]


def _from_reflections(torch: Any, made: Any, a: Any) -> list[Any]:
    m, n = a.shape[-2:]
    packed, tau = made[..., :-1, :], made[..., -1, : min(m, n)].contiguous()
    whole = torch.zeros(*a.shape[:-2], m, m, dtype=made.dtype)
    whole[..., : min(m, n)] = packed[..., : min(m, n)]
    q = torch.linalg.householder_product(whole, tau)
    return [_unlike_unit(torch, q), (q @ packed.triu() - a) / _size(a)]


def _from_columns(torch: Any, made: Any, a: Any) -> list[Any]:
    is_some = a.abs().sum(-2, keepdim=True) > 0
    return [_unlike_unit(torch, made), torch.where(is_some, made[..., : a.shape[-1]] - a, 0.0)]


def _from_rotations(torch: Any, made: Any, a: Any) -> list[Any]:
    m = a.shape[-2]
    b, v, size = made[..., :m], made[..., m:], _size(a)
    inner = b @ b.mH
    off = inner - torch.diag_embed(inner.diagonal(dim1=-2, dim2=-1))
    return [_unlike_unit(torch, v.mT), (b - v @ a.mT) / size, off / size.square()]


def _size(a: Any) -> Any:
    return a.abs().square().sum((-2, -1), keepdim=True).sqrt()


def _unlike_unit(torch: Any, columns: Any) -> Any:
    return columns.mH @ columns - torch.eye(columns.shape[-1])


AWAY: Final = {
    LU: _from_factors, QR: _from_reflections, BASIS: _from_columns, JACOBI: _from_rotations,
}  # fmt: skip
"""How far a result is from what it is to be, in several respects, each of which is 0 of an exact one."""
