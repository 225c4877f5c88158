"""Functions of complex numbers, by functions of their parts: what they are decomposed to on the traced graph before `pairs` takes the parts
apart. Sources: Kahan 1987 (branch cuts), Hull, Fairgrieve and Tang 1994.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

Function = Callable[..., Any]


def table(torch: Any) -> Mapping[Any, Function]:
    """Decompositions of aten's operators, with their parameters; NotImplemented where nothing is complex."""
    aten, found = torch.ops.aten, {}
    for part in (_elementary, _inverse, _powers, _tests, _constants, _sums, _products):
        for name, function in part(torch).items():
            packet, _, overload = name.partition(".")
            op = getattr(getattr(aten, packet, None), overload or "default", None)
            if op is not None:
                found[op] = gated(torch, function)
    return found


def gated(torch: Any, function: Function) -> Function:
    """For calls with a complex tensor, number or dtype."""

    def is_complex(x: Any) -> bool:
        if isinstance(x, torch.dtype):
            return bool(x.is_complex)
        return isinstance(x, complex) or (isinstance(x, torch.Tensor) and x.is_complex())

    def chosen(*args: Any, **kwargs: Any) -> Any:
        if any(is_complex(x) for x in torch.utils._pytree.tree_leaves((args, kwargs))):
            return function(*args, **kwargs)
        return NotImplemented

    return chosen


def _elementary(torch: Any) -> dict[str, Function]:
    join = torch.complex

    def tanh(z: Any) -> Any:
        a, b = z.real.tanh(), z.imag.tan()
        below = 1 + (a * b) ** 2
        return join(a * (1 + b * b) / below, b * (1 - a * a) / below)

    def tan(z: Any) -> Any:
        y = tanh(join(-z.imag, z.real))
        return join(y.imag, -y.real)

    def log(z: Any) -> Any:
        return join(torch.hypot(z.real, z.imag).log(), torch.atan2(z.imag, z.real))

    def log1p(z: Any) -> Any:
        a, b = z.real, z.imag
        return join(torch.log1p(a * (2 + a) + b * b) / 2, torch.atan2(b, 1 + a))

    def expm1(z: Any) -> Any:
        a, b, half = z.real, z.imag, (z.imag / 2).sin()
        return join(torch.expm1(a) * b.cos() - 2 * half * half, a.exp() * b.sin())

    def sigmoid(z: Any) -> Any:
        return 1 / (torch.exp(-z) + 1)

    def sgn(z: Any) -> Any:
        size = z.abs()
        by = torch.where(size == 0, torch.ones_like(size), size)
        return join(z.real / by, z.imag / by)

    def sinc(z: Any) -> Any:
        is_zero = (z.real == 0) & (z.imag == 0)
        w = join(torch.where(is_zero, 1.0, z.real), z.imag) * math.pi
        y = torch.sin(w) / w
        return join(torch.where(is_zero, 1.0, y.real), y.imag)

    return {
        "sin": lambda z: join(z.real.sin() * z.imag.cosh(), z.real.cos() * z.imag.sinh()),
        "cos": lambda z: join(z.real.cos() * z.imag.cosh(), -z.real.sin() * z.imag.sinh()),
        "sinh": lambda z: join(z.real.sinh() * z.imag.cos(), z.real.cosh() * z.imag.sin()),
        "cosh": lambda z: join(z.real.cosh() * z.imag.cos(), z.real.sinh() * z.imag.sin()),
        "tan": tan, "tanh": tanh, "log": log, "log1p": log1p, "expm1": expm1, "sinc": sinc,
        "log2": lambda z: log(z) / math.log(2), "log10": lambda z: log(z) / math.log(10),
        "exp2": lambda z: torch.exp(z * math.log(2)), "special_exp2": lambda z: torch.exp(z * math.log(2)),
        "sigmoid": sigmoid, "silu": lambda z: z / (torch.exp(-z) + 1), "sgn": sgn,
    }  # fmt: skip


def _root(torch: Any, z: Any) -> Any:
    """Of the size of the real part first, so that nothing cancels."""
    a, b = z.real, z.imag
    size = ((a.abs() + torch.hypot(a, b)) / 2).sqrt()
    other = b.abs() / (2 * torch.where(size == 0, torch.ones_like(size), size))
    is_right = a >= 0
    return torch.complex(
        torch.where(is_right, size, other), torch.copysign(torch.where(is_right, other, size), b)
    )


def _inverse(torch: Any) -> dict[str, Function]:
    join = torch.complex

    def roots(z: Any, sign: float) -> tuple[Any, Any]:
        """Of 1 - z and 1 + z, or of z - 1 and z + 1."""
        return _root(torch, join(1 - z.real, -z.imag) if sign > 0 else z - 1), _root(torch, z + 1)

    def asin(z: Any) -> Any:
        p, q = roots(z, 1)
        return join(
            torch.atan2(z.real, p.real * q.real - p.imag * q.imag),
            torch.asinh(p.real * q.imag - p.imag * q.real),
        )

    def acos(z: Any) -> Any:
        p, q = roots(z, 1)
        return join(2 * torch.atan2(p.real, q.real), torch.asinh(q.real * p.imag - q.imag * p.real))

    def acosh(z: Any) -> Any:
        p, q = roots(z, -1)
        return join(torch.asinh(p.real * q.real + p.imag * q.imag), 2 * torch.atan2(p.imag, q.real))

    def atanh(z: Any) -> Any:
        a, b = z.real, z.imag
        re = torch.log1p(4 * a / ((1 - a) ** 2 + b * b)) / 4
        return join(re, torch.atan2(2 * b, (1 - a) * (1 + a) - b * b) / 2)

    def turned(function: Function) -> Function:
        """-i f(i z)."""

        def of(z: Any) -> Any:
            y = function(join(-z.imag, z.real))
            return join(y.imag, -y.real)

        return of

    return {
        "asin": asin, "acos": acos, "acosh": acosh, "atanh": atanh, "asinh": turned(asin), "atan": turned(atanh),
    }  # fmt: skip


def _powers(torch: Any) -> dict[str, Function]:
    def power(z: Any, w: Any) -> Any:
        """exp(w log z); 0 to a power is 0, to that of 0 it is 1."""
        if not isinstance(w, torch.Tensor):
            if w in (1, 2, 3, 4):
                return NotImplemented
            if w == 0:
                return torch.ones_like(z)
            if w in (-1, -2, -3, -4):
                return 1 / z ** int(-w)
            if w == 0.5:
                return _root(torch, z)
        if not isinstance(z, torch.Tensor):
            z = (
                torch.full_like(w, z)
                if w.is_complex()
                else torch.full_like(w, z, dtype=torch.complex64)
            )
        z = z if z.is_complex() else torch.complex(z, torch.zeros_like(z))
        y = torch.exp(torch.log(z) * w)
        is_zero = (z.real == 0) & (z.imag == 0)
        no_power = w == 0
        at_zero = (
            torch.as_tensor(no_power).to(y.real.dtype)
            if isinstance(no_power, torch.Tensor)
            else 0.0
        )
        re = torch.where(is_zero, at_zero, y.real)
        return torch.complex(re, torch.where(is_zero, 0.0, y.imag))

    return {
        "sqrt": lambda z: _root(torch, z), "rsqrt": lambda z: 1 / _root(torch, z),
        "pow.Tensor_Tensor": power, "pow.Tensor_Scalar": power, "pow.Scalar": power,
    }  # fmt: skip


def _tests(torch: Any) -> dict[str, Function]:
    def parts(x: Any) -> tuple[Any, Any]:
        if not isinstance(x, torch.Tensor):
            return complex(x).real, complex(x).imag
        return (x.real, x.imag) if x.is_complex() else (x, 0.0)

    def equal(x: Any, y: Any) -> Any:
        (a, b), (c, d) = parts(x), parts(y)
        return torch.as_tensor(a == c) & torch.as_tensor(b == d)

    def is_set(x: Any) -> Any:
        a, b = parts(x)
        return (a != 0) | (b != 0) if x.is_complex() else a != 0

    def either(function: Function) -> Function:
        return lambda x: function(x.real) | function(x.imag)

    def of_truth(function: Function) -> Function:
        return lambda *xs, **how: function(
            *(is_set(x) if isinstance(x, torch.Tensor) else x for x in xs), **how
        )

    logical = ("logical_and", "logical_or", "logical_xor", "logical_not", "any", "all")
    made = {name: of_truth(getattr(torch, name)) for name in logical}
    return {
        **made, "any.dim": made["any"], "all.dim": made["all"], "any.dims": made["any"], "all.dims": made["all"],
        "eq.Tensor": equal, "eq.Scalar": equal, "ne.Tensor": lambda x, y: ~equal(x, y), "ne.Scalar": lambda x, y: ~equal(x, y),
        "isnan": either(torch.isnan), "isinf": either(torch.isinf),
        "isfinite": lambda x: torch.isfinite(x.real) & torch.isfinite(x.imag), "isreal": lambda x: x.imag == 0,
        "nonzero": lambda x: torch.nonzero(is_set(x)), "count_nonzero.dim_IntList": lambda x, dim: is_set(x).sum(dim),
    }  # fmt: skip


def _constants(torch: Any) -> dict[str, Function]:
    def full(make: Function, value: Any) -> Any:
        z = complex(value)
        return torch.complex(make(z.real), make(z.imag))

    def like(x: Any, value: Any, dtype: Any = None, **_: Any) -> Any:
        real = (dtype or x.dtype).to_real() if (dtype or x.dtype).is_complex else dtype or x.dtype
        if not (dtype or x.dtype).is_complex:
            return torch.full(x.shape, value, dtype=real)
        return full(lambda v: torch.full(x.shape, v, dtype=real), value)

    def new(x: Any, size: Any, value: Any, dtype: Any = None, **_: Any) -> Any:
        kind = dtype or x.dtype
        if not kind.is_complex:
            return torch.full(size, value, dtype=kind)
        return full(lambda v: torch.full(size, v, dtype=kind.to_real()), value)

    def eye(*sizes: int, dtype: Any = None, **_: Any) -> Any:
        real = torch.eye(*sizes, dtype=dtype.to_real())
        return torch.complex(real, torch.zeros_like(real))

    def filled(x: Any, mask: Any, value: Any) -> Any:
        return where(mask, value, x)

    def where(mask: Any, x: Any, y: Any) -> Any:
        def part(z: Any, name: str) -> Any:
            if not isinstance(z, torch.Tensor):
                return getattr(complex(z), name)
            return (
                getattr(z, name) if z.is_complex() else z if name == "real" else torch.zeros_like(z)
            )

        return torch.complex(*(torch.where(mask, part(x, n), part(y, n)) for n in ("real", "imag")))

    def index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
        if not x.dim():
            return like(x, value)
        n = x.shape[dim]
        hit = (torch.arange(n).unsqueeze(1) == index.reshape(1, -1) % n).any(1)
        return where(hit.reshape(-1, *[1] * (x.dim() - 1 - dim % x.dim())), value, x)

    def scatter(x: Any, dim: int, index: Any, value: Any) -> Any:
        re, im = (part.clone() for part in (x.real, x.imag))
        z = complex(value)
        return torch.complex(re.scatter(dim, index, z.real), im.scatter(dim, index, z.imag))

    return {
        "index_fill.int_Scalar": index_fill, "scatter.value": scatter,
        "full": lambda size, value, *, dtype=None, **_: full(lambda v: torch.full(size, v, dtype=dtype.to_real() if dtype else None), value),
        "full_like": like, "fill.Scalar": like, "ones_like": lambda x, **how: like(x, 1, **how),
        "new_full": new, "new_ones": lambda x, size, **how: new(x, size, 1, **how),
        "new_zeros": lambda x, size, **how: new(x, size, 0, **how),
        "eye": eye, "eye.m": eye, "masked_fill.Scalar": filled, "masked_fill.Tensor": filled,
        "where.ScalarOther": where, "where.ScalarSelf": where,
    }  # fmt: skip


def _sums(torch: Any) -> dict[str, Function]:
    def norm(
        x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
    ) -> Any:
        size = x.abs()
        size = size if dtype is None else size.to(dtype.to_real() if dtype.is_complex else dtype)
        return torch.linalg.vector_norm(size, ord, dim, keepdim)

    def var(x: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
        how = {
            "dim": dim,
            "correction": 1 if correction is None else correction,
            "keepdim": keepdim,
        }
        return torch.var(x.real, **how) + torch.var(x.imag, **how)

    def mean(x: Any, dim: Any, keepdim: bool) -> Any:
        axes = list(range(x.dim())) if dim is None else dim
        return torch.mean(x, axes, keepdim)

    def logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
        most = x.real.amax(dim, keepdim=True)
        most = torch.where(most.abs() == math.inf, 0.0, most)
        total = torch.log(torch.exp(x - most).sum(dim, keepdim=True)) + most
        if keepdim or not x.dim():
            return total
        axes = [dim] if isinstance(dim, int) else list(dim)
        return total.squeeze(axes)

    def softmax(x: Any, dim: int, half: bool = False) -> Any:
        y = torch.exp(x - x.real.amax(dim, keepdim=True))
        return y / y.sum(dim, keepdim=True)

    def log_softmax(x: Any, dim: int, half: bool = False) -> Any:
        return x - logsumexp(x, dim, True)

    def logaddexp(a: Any, b: Any) -> Any:
        most = torch.maximum(a.real, b.real)
        return torch.log(torch.exp(a - most) + torch.exp(b - most)) + most

    return {
        "linalg_vector_norm": norm, "var.correction": var, "std.correction": lambda x, dim=None, **how: var(x, dim, **how).sqrt(),
        "var_mean.correction": lambda x, dim=None, *, keepdim=False, **how: (var(x, dim, keepdim=keepdim, **how), mean(x, dim, keepdim)),
        "std_mean.correction": lambda x, dim=None, *, keepdim=False, **how: (var(x, dim, keepdim=keepdim, **how).sqrt(), mean(x, dim, keepdim)),
        "logsumexp": logsumexp, "_softmax": softmax, "_log_softmax": log_softmax, "logaddexp": logaddexp,
    }  # fmt: skip


def _products(torch: Any) -> dict[str, Function]:
    def prod(x: Any, dim: int, keepdim: bool = False, *, dtype: Any = None) -> Any:
        """Halves by each other."""
        x = x if dtype is None else x.to(dtype)
        if not x.dim():
            return x.clone()
        while x.shape[dim] > 1:
            n = x.shape[dim]
            y = x.narrow(dim, 0, n // 2) * x.narrow(dim, n // 2, n // 2)
            x = torch.cat([y, x.narrow(dim, n - 1, 1)], dim) if n % 2 else y
        x = x if x.shape[dim] else torch.ones_like(x.sum(dim, keepdim=True))
        return x if keepdim else x.squeeze(dim)

    def cumprod(x: Any, dim: int, *, dtype: Any = None) -> Any:
        x = x if dtype is None else x.to(dtype)
        step = 1
        while x.dim() and step < x.shape[dim]:
            n = x.shape[dim]
            y = x.narrow(dim, step, n - step) * x.narrow(dim, 0, n - step)
            x, step = torch.cat([x.narrow(dim, 0, step), y], dim), 2 * step
        return x.clone()

    def convolution(x: Any, w: Any, bias: Any, *how: Any) -> Any:
        def apply(a: Any, b: Any) -> Any:
            return torch.ops.aten.convolution.default(a, b, None, *how)

        re = apply(x.real, w.real) - apply(x.imag, w.imag)
        y = torch.complex(re, apply(x.real, w.imag) + apply(x.imag, w.real))
        return y if bias is None else y + bias.reshape(-1, *[1] * (w.dim() - 2))

    def added(c: Any, y: Any, beta: Any, alpha: Any) -> Any:
        y = y if alpha == 1 else y * alpha
        return y if beta == 0 else y + (c if beta == 1 else c * beta)

    def through(multiply: Function) -> Function:
        return lambda c, a, b, *, beta=1, alpha=1: added(c, multiply(a, b), beta, alpha)

    def mv(a: Any, b: Any) -> Any:
        return (a @ b.unsqueeze(1)).squeeze(1)

    def lerp(a: Any, b: Any, weight: Any) -> Any:
        return a + (b - a) * weight

    return {
        "prod": lambda x, *, dtype=None: prod(x.reshape(-1), 0, dtype=dtype), "prod.dim_int": prod, "cumprod": cumprod,
        "convolution": convolution, "addmm": through(torch.matmul), "baddbmm": through(torch.matmul), "addmv": through(mv), "mv": mv,
        "addbmm": through(lambda a, b: (a @ b).sum(0)), "addr": through(lambda a, b: a.unsqueeze(1) * b),
        "dot": lambda a, b: (a * b).sum(), "vdot": lambda a, b: (a.conj() * b).sum(),
        "addcmul": lambda x, a, b, *, value=1: x + a * b * value, "addcdiv": lambda x, a, b, *, value=1: x + a / b * value,
        "lerp.Scalar": lerp, "lerp.Tensor": lerp,
    }  # fmt: skip
