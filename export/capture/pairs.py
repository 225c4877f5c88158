"""Complex numbers as pairs of real tensors, on the traced graph: ONNX computes with none, and torch.onnx translates few.

A node with a complex value becomes two nodes, of its real and of its imaginary parts. A parameter, buffer or constant becomes one
real tensor with an axis of two behind the others. Fourier transforms become products with matrices of cosines and sines.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from pteron.schema.errors import ModelError

from . import complex_functions, spectra
from .traced import decomposed


@dataclasses.dataclass(frozen=True, slots=True)
class Pair:
    """Nodes of the real and imaginary parts; of a real operand the second is None."""

    re: Any
    im: Any


def without_complex(
    torch: Any, program: Any, where: str, complex_pairs: bool = False
) -> tuple[Any, tuple[str, ...]]:
    """The program, decomposed as far as needed, with real tensors alone; as it is where it has no other. And what became of its
    inputs and outputs, in words.

    Args:
        complex_pairs: Of complex inputs and outputs become real ones with an axis of 2 behind the others.

    Raises:
        ModelError: an input or output is complex without that, a state is, or an operator on complex numbers is not known here.
    """
    if not any(_is_complex(torch, n) for n in program.graph.nodes):
        return program, ()
    table = torch._decomp.decomposition_table
    transforms = {op: how for op, how in table.items() if str(op).startswith("aten.fft_")}
    program = decomposed(program, {**transforms, **spectra.table(torch)})
    program = _known_operators(torch, program)
    writer = _Writer(torch, program, where, complex_pairs)
    for node in list(program.graph.nodes):
        if node.op == "placeholder" and _is_complex(torch, node):
            writer.hold(node)
        elif node.op == "output":
            writer.finish(node)
        elif node.op == "call_function" and writer.is_touched(node):
            writer.write(node)
    for node in reversed(writer.replaced):
        program.graph.erase_node(node)
    program.graph.lint()
    program.graph_module.recompile()
    return program, tuple(writer.notes)


def _known_operators(torch: Any, program: Any) -> Any:
    """The program with complex numbers in operators alone that have a row here, as far as decompositions are known."""
    own, others = complex_functions.table(torch), torch.export.default_decompositions()
    before: set[Any] = set()
    for _ in range(ROUNDS):
        touched = {n.target for n in program.graph.nodes if _touches(torch, n)}
        known = {t for t in touched if _name(t) in FORMULAS or _name(t) in EACH}
        found = {t: own[t] for t in touched if t in own}
        found |= {t: others[t] for t in touched - known - found.keys() if t in others}
        if found.keys() <= before:
            break
        program, before = decomposed(program, found), before | found.keys()
    return program


def _touches(torch: Any, node: Any) -> bool:
    inputs = (_is_complex(torch, x) for x in node.all_input_nodes)
    return node.op == "call_function" and (_is_complex(torch, node) or any(inputs))


def _name(target: Any) -> str:
    return str(getattr(target, "_opname", getattr(target, "__name__", target)))


def as_pairs(torch: Any, x: Any) -> Any:
    """A complex tensor as a real one, its parts along an axis of 2 behind the others; another as it is."""
    return torch.view_as_real(x.resolve_conj()) if x.is_complex() else x


def _is_complex(torch: Any, node: Any) -> bool:
    leaves = torch.utils._pytree.tree_leaves(node.meta.get("val"))
    return any(isinstance(x, torch.Tensor) and x.is_complex() for x in leaves)


class _Writer:
    """Writes real nodes in front of the complex ones; `pairs` has what stands for each of these."""

    def __init__(self, torch: Any, program: Any, where: str, pairs_outside: bool) -> None:
        self.torch, self.program, self.where = torch, program, where
        self.aten = torch.ops.aten
        self.pairs: dict[Any, Pair] = {}
        self.pairs_outside = pairs_outside
        self.notes: list[str] = []
        self.replaced: list[Any] = []
        self.node: Any = None
        values = (n.meta.get("val") for n in program.graph.nodes)
        self.fake = next(v.fake_mode for v in values if hasattr(v, "fake_mode"))

    # --- the graph ---------------------------------------------------------------------------------------------------

    def hold(self, node: Any) -> None:
        """A complex weight or input: its parts are taken from one real tensor."""
        spec = next(s for s in self.program.graph_signature.input_specs if s.arg.name == node.name)
        written = set(self.program.graph_signature.buffers_to_mutate.values())
        if spec.target is None and self.pairs_outside:
            self.note(f"input {node.name!r}")
        elif spec.target is None or spec.target in written:
            what = "input" if spec.target is None else "buffer that is written"
            name = spec.target or node.name
            raise ModelError(
                f"{self.where}: {what} {name!r} is complex, which a program has no type for; "
                "use torch.view_as_real outside of the module and torch.view_as_complex inside"
                + ", or export with complex_pairs (--complex-pairs)"
                * (spec.target is None)
            )
        else:
            self.hold_weight(spec)
        with self.fake:
            node.meta["val"] = self.torch.view_as_real(node.meta["val"])
        self.node = node.next
        self.pairs[node] = self.parts(node)

    def note(self, what: str) -> None:
        self.notes.append(
            f"{self.where}: {what} is complex: in its place are real and imaginary part, along a last axis of 2"
        )

    def hold_weight(self, spec: Any) -> None:
        held = "_state_dict" if spec.target in self.program.state_dict else "_constants"
        table = dict(getattr(self.program, held))
        weight = table[spec.target]
        with self.torch.no_grad():
            real = self.torch.view_as_real(weight.resolve_conj()).clone()
        is_parameter = isinstance(weight, self.torch.nn.Parameter)
        table[spec.target] = self.torch.nn.Parameter(real, False) if is_parameter else real
        setattr(self.program, held, table)

    def finish(self, node: Any) -> None:
        signature = self.program.graph_signature
        self.node = node
        for x in [x for x in node.all_input_nodes if x in self.pairs]:
            specs = [s for s in signature.output_specs if s.arg.name == x.name]
            if any(s.kind.name == "USER_INPUT_MUTATION" for s in specs):
                raise ModelError(
                    f"{self.where}: a complex input is written, which a program has no type for; return what it becomes"
                )
            if not self.pairs_outside:
                raise ModelError(
                    f"{self.where}: an output is complex, which a program has no type for; return torch.view_as_real of it, "
                    "or export with complex_pairs (--complex-pairs)"
                )
            self.note("an output")
            pair = x if x.op == "placeholder" else self.joined(x)
            node.replace_input_with(x, pair)
            for spec in specs:
                spec.arg.name = pair.name

    def joined(self, x: Any) -> Any:
        pair = self.pairs[x]
        return self.call(self.aten.stack.default, [pair.re, pair.im], -1)

    def is_touched(self, node: Any) -> bool:
        return _is_complex(self.torch, node) or any(x in self.pairs for x in node.all_input_nodes)

    def write(self, node: Any) -> None:
        self.node = node
        target = node.target
        name = _name(target)
        result: Any = None
        if name in EACH and getattr(target, "_overloadname", "") not in WITH_NUMBERS:
            result = self.each(target, node.args, node.kwargs)
        elif name in FORMULAS:
            taken = self.torch.fx.node.map_aggregate
            args, kwargs = (taken(x, self.operand) for x in (node.args, node.kwargs))
            result = FORMULAS[name](self, *args, **kwargs)
        elif name not in SILENT:
            raise ModelError(f"{self.where}: {target} {REASONS.get(name, UNKNOWN)}")
        self.replaced.append(node)
        if isinstance(result, Pair):
            self.pairs[node] = self.fitted(result)
        elif result is not None:
            node.replace_all_uses_with(result)
            for spec in self.program.graph_signature.output_specs:
                if spec.arg.name == node.name:
                    spec.arg.name = result.name

    def call(self, target: Any, *args: Any, **kwargs: Any) -> Any:
        """A real node in front of the one that is written, with its origin."""
        graph = self.program.graph
        with graph.inserting_before(self.node):
            made = graph.call_function(target, args, kwargs)
        value = lambda n: n.meta["val"]  # noqa: E731
        real, named = self.torch.fx.map_arg(args, value), self.torch.fx.map_arg(kwargs, value)
        drop = ("val", "unbacked_bindings", "tensor_meta")
        made.meta = {k: v for k, v in self.node.meta.items() if k not in drop}
        with self.fake:
            made.meta["val"] = target(*real, **named)
        return made

    def operand(self, x: Any) -> Any:
        """A node as a pair, a number as one: only what stands for a tensor."""
        if isinstance(x, self.torch.fx.Node):
            value = x.meta.get("val")
            return self.pairs.get(x) or (Pair(x, None) if hasattr(value, "dtype") else x)
        return Pair(x.real, x.imag) if isinstance(x, complex) else x

    def fitted(self, pair: Pair) -> Pair:
        """Both parts in the shape and precision of the complex value."""
        value = self.node.meta["val"]
        if not isinstance(value, self.torch.Tensor):
            return pair
        dtype = value.dtype.to_real()
        parts = [p if p is not None else self.zeros(pair.re) for p in (pair.re, pair.im)]
        for i, part in enumerate(parts):
            if part.meta["val"].dtype != dtype:
                parts[i] = self.call(self.aten._to_copy.default, part, dtype=dtype)
        return Pair(*parts)

    def each(self, target: Any, args: Any, kwargs: Any) -> Pair:
        """What moves elements, or is linear: of each part by itself."""
        if target is self.aten.view.default:
            target = self.aten.reshape.default  # parts lie otherwise in memory
        kwargs = {k: v for k, v in kwargs.items() if k not in ("dtype", "memory_format")}
        results = []
        for part in ("re", "im"):
            chosen = lambda x, part=part: getattr(self.operand_of(x), part)  # noqa: E731
            results.append(self.call(target, *self.torch.fx.map_arg(args, chosen), **kwargs))
        return Pair(*results)

    def operand_of(self, x: Any) -> Pair:
        """For `each`: a real tensor among complex ones has zeros beside it; an index, mask or size is the same for both."""
        if x in self.pairs:
            return self.pairs[x]
        value = x.meta.get("val")
        is_part = hasattr(value, "dtype") and value.dtype.is_floating_point
        return Pair(x, self.zeros(x) if is_part else x)

    # --- arithmetic --------------------------------------------------------------------------------------------------

    def zeros(self, x: Any) -> Any:
        return self.call(self.aten.zeros_like.default, x)

    def parts(self, x: Any) -> Pair:
        return Pair(*(self.call(self.aten.select.int, x, -1, i) for i in (0, 1)))

    def neg(self, x: Any) -> Any:
        return self.call(self.aten.neg.default, x) if isinstance(x, self.torch.fx.Node) else -x

    def add(self, a: Any, b: Any) -> Any:
        node = self.torch.fx.Node
        if not isinstance(a, node):
            return self.call(self.aten.add.Tensor, b, a) if isinstance(b, node) else a + b
        return self.call(self.aten.add.Tensor, a, b)

    def sub(self, a: Any, b: Any) -> Any:
        return self.add(a, self.neg(b))

    def mul(self, a: Any, b: Any) -> Any:
        node = self.torch.fx.Node
        if not isinstance(a, node):
            return self.call(self.aten.mul.Tensor, b, a) if isinstance(b, node) else a * b
        return self.call(self.aten.mul.Tensor, a, b)

    def product(self, a: Pair, b: Pair, times: Callable[[Any, Any], Any]) -> Pair:
        """(a + bi)(c + di), of which a real operand has half."""
        if a.im is None or b.im is None:
            im = (
                None
                if a.im is None and b.im is None
                else times(*((a.re, b.im) if a.im is None else (a.im, b.re)))
            )
            return Pair(times(a.re, b.re), im)
        re = self.sub(times(a.re, b.re), times(a.im, b.im))
        return Pair(re, self.add(times(a.re, b.im), times(a.im, b.re)))

    def square(self, x: Pair) -> Any:
        """|x|^2."""
        return self.add(self.mul(x.re, x.re), self.mul(x.im, x.im))

    # --- Fourier -----------------------------------------------------------------------------------------------------

    def size(self, x: Any, axis: int) -> Any:
        n = x.meta["val"].shape[axis]
        return n if isinstance(n, int) else self.call(self.aten.sym_size.int, x, axis)

    def waves(self, rows: Any, columns: Any, period: Any, dtype: Any) -> tuple[Any, Any]:
        """cos and sin of 2 pi i j / period, [rows, columns]; i j is reduced in integers first."""
        i, j = (self.call(self.aten.arange.default, n) for n in (rows, columns))
        turns = self.mul(self.call(self.aten.unsqueeze.default, i, 1), j)
        if isinstance(period, int):
            turns = self.call(self.aten.remainder.Scalar, turns, period)
            angle = self.call(self.aten._to_copy.default, turns, dtype=dtype)
            angle = self.mul(angle, 2 * self.torch.pi / period)
        else:
            whole = self.call(self.aten.scalar_tensor.default, period, dtype=self.torch.int64)
            turns = self.call(self.aten.remainder.Tensor, turns, whole)
            angle = self.call(self.aten._to_copy.default, turns, dtype=dtype)
            whole = self.call(self.aten._to_copy.default, whole, dtype=dtype)
            angle = self.mul(self.call(self.aten.div.Tensor, angle, whole), 2 * self.torch.pi)
        return self.call(self.aten.cos.default, angle), self.call(self.aten.sin.default, angle)

    def transform(self, x: Pair, axis: int, columns: Any, forward: bool) -> Pair:
        """Along one axis, of whose results the first `columns` are wanted."""
        n = self.size(x.re, axis)
        cos, sin = self.waves(n, columns, n, x.re.meta["val"].dtype)
        turned = Pair(
            *(p and self.call(self.aten.transpose.int, p, axis, -1) for p in (x.re, x.im))
        )
        wave = Pair(cos, self.neg(sin) if forward else sin)
        y = self.product(turned, wave, self.matmul)
        return Pair(*(self.call(self.aten.transpose.int, p, axis, -1) for p in (y.re, y.im)))

    def matmul(self, a: Any, b: Any) -> Any:
        return self.call(self.aten.matmul.default, a, b)


def _sum(w: _Writer, a: Any, b: Any, alpha: Any = 1, *, sign: int = 1) -> Pair:
    a, b = (x if isinstance(x, Pair) else Pair(x, None) for x in (a, b))
    scaled = Pair(
        *(x if x is None or sign * alpha == 1 else w.mul(x, sign * alpha) for x in (b.re, b.im))
    )
    im = [
        x if x is not None else w.zeros(y) if hasattr(y, "meta") else 0.0
        for x, y in ((a.im, a.re), (scaled.im, scaled.re))
    ]
    return Pair(w.add(a.re, scaled.re), w.add(*im))


def _product(w: _Writer, a: Any, b: Any) -> Pair:
    return w.product(a, b if isinstance(b, Pair) else Pair(b, None), w.mul)


def _quotient(w: _Writer, a: Pair, b: Any) -> Pair:
    if not isinstance(b, Pair) or b.im is None:
        by = b.re if isinstance(b, Pair) else b
        by = _unsigned_zero(w, by) if hasattr(by, "meta") else by
        return Pair(*(w.call(w.aten.div.Tensor, part, by) for part in (a.re, a.im)))
    if not hasattr(b.re, "meta"):
        return _product(
            w, a, Pair(*((1 / complex(b.re, b.im)).real, (1 / complex(b.re, b.im)).imag))
        )
    return _by_larger(w, a, b)


def _by_larger(w: _Writer, a: Pair, b: Pair) -> Pair:
    """a / b by the ratio of b's smaller part to its larger one (Smith 1962), so that no square overflows; by 0 each part is divided
    by 0. So does PyTorch."""
    aten = w.aten
    a = a if a.im is not None else Pair(a.re, w.zeros(a.re))
    wide = w.call(aten.ge.Tensor, *(w.call(aten.abs.default, part) for part in (b.re, b.im)))

    def choose(x: Any, y: Any) -> Any:
        return w.call(aten.where.self, wide, x, y)

    large, small = choose(b.re, b.im), choose(b.im, b.re)
    ratio = w.call(aten.div.Tensor, small, large)
    scale = w.add(large, w.mul(small, ratio))
    parts = (
        choose(w.add(a.re, w.mul(a.im, ratio)), w.add(w.mul(a.re, ratio), a.im)),
        choose(w.sub(a.im, w.mul(a.re, ratio)), w.sub(w.mul(a.im, ratio), a.re)),
    )
    is_zero, zero = w.call(aten.eq.Scalar, large, 0), _unsigned_zero(w, large)
    return Pair(
        *(
            w.call(
                aten.where.self,
                is_zero,
                w.call(aten.div.Tensor, whole, zero),
                w.call(aten.div.Tensor, part, scale),
            )
            for whole, part in zip((a.re, a.im), parts, strict=True)
        )
    )


def _unsigned_zero(w: _Writer, x: Any) -> Any:
    """-0 as 0."""
    return w.call(
        w.aten.where.self, w.call(w.aten.eq.Scalar, x, 0), w.call(w.aten.abs.default, x), x
    )


def _reciprocal(w: _Writer, x: Pair) -> Pair:
    one, zero = (w.call(w.aten.full_like.default, x.re, n) for n in (1, 0))
    return _by_larger(w, Pair(one, zero), x)


def _complex(w: _Writer, re: Pair, im: Pair) -> Pair:
    """Parts of two shapes broadcast."""
    parts = [re.re, im.re]
    shapes = [part.meta["val"].shape for part in parts]
    if shapes[0] == shapes[1]:
        return Pair(*parts)
    both = w.call(w.aten.broadcast_tensors.default, parts)
    return Pair(*(w.call(operator.getitem, both, i) for i in (0, 1)))


def _matmul(w: _Writer, a: Pair, b: Pair) -> Pair:
    return w.product(a, b, w.matmul)


def _power(w: _Writer, x: Pair, n: Any) -> Pair:
    if n not in (1, 2, 3, 4):
        raise ModelError(f"{w.where}: complex numbers to the power of {n}: expected 1 to 4")
    y = x
    for _ in range(int(n) - 1):
        y = _product(w, y, x)
    return y


def _exp(w: _Writer, x: Pair) -> Pair:
    return _polar(w, Pair(w.call(w.aten.exp.default, x.re), None), Pair(x.im, None))


def _polar(w: _Writer, length: Pair, angle: Pair) -> Pair:
    return Pair(
        *(w.mul(length.re, w.call(f, angle.re)) for f in (w.aten.cos.default, w.aten.sin.default))
    )


def _copy(w: _Writer, x: Pair, dtype: Any = None, **options: Any) -> Any:
    if dtype is None or dtype.is_complex:
        return x  # `fitted` has the precision, and zeros beside what was real
    return w.call(w.aten._to_copy.default, x.re, dtype=dtype)


def _zeros_like(w: _Writer, x: Pair, dtype: Any = None, **options: Any) -> Any:
    if dtype is None or dtype.is_complex:
        return Pair(w.zeros(x.re), w.zeros(x.re))
    return w.call(w.aten.zeros_like.default, x.re, dtype=dtype)


def _pad(w: _Writer, x: Pair, pad: Sequence[Any], value: Any = 0) -> Pair:
    both = (x.re, complex(value).real), (x.im, complex(value).imag)
    return Pair(*(w.call(w.aten.constant_pad_nd.default, part, pad, v) for part, v in both))


def _c2c(w: _Writer, x: Pair, *, dim: Sequence[int], forward: bool) -> Pair:
    for axis in dim:
        x = w.transform(x, axis, w.size(x.re, axis), forward)
    return x


def _r2c(w: _Writer, x: Pair, *, dim: Sequence[int], onesided: bool) -> Pair:
    n = w.size(x.re, dim[-1])
    half = n // 2 if isinstance(n, int) else w.call(operator.floordiv, n, 2)
    count = n if not onesided else half + 1 if isinstance(n, int) else w.call(operator.add, half, 1)
    return _c2c(w, w.transform(x, dim[-1], count, True), dim=dim[:-1], forward=True)


def _c2r(w: _Writer, x: Pair, *, dim: Sequence[int], last_dim_size: Any) -> Any:
    """The half that is not there is the conjugate: what has a mirror image counts twice."""
    x, axis, n = _c2c(w, x, dim=dim[:-1], forward=False), dim[-1], last_dim_size
    m, dtype = w.size(x.re, axis), x.re.meta["val"].dtype
    place = w.call(w.aten.arange.default, m)
    n_there = (
        n if isinstance(n, int) else w.call(w.aten.scalar_tensor.default, n, dtype=w.torch.int64)
    )
    kind = "Scalar" if isinstance(n, int) else "Tensor"
    alone = [
        w.call(w.aten.eq.Scalar, place, 0),
        w.call(getattr(w.aten.eq, kind), w.mul(place, 2), n_there),
    ]
    alone = [w.call(w.aten._to_copy.default, a, dtype=dtype) for a in alone]
    twice = w.call(w.aten.unsqueeze.default, w.add(w.neg(w.add(*alone)), 2.0), 1)
    cos, sin = (w.mul(wave, twice) for wave in w.waves(m, n, n, dtype))
    re, im = (w.call(w.aten.transpose.int, p, axis, -1) for p in (x.re, x.im))
    y = w.sub(w.matmul(re, cos), w.matmul(im, sin))
    return w.call(w.aten.transpose.int, y, axis, -1)


FORMULAS: Final[dict[str, Callable[..., Any]]] = {
    "view_as_complex": lambda w, x: w.parts(x.re),
    "view_as_real": lambda w, x: w.call(w.aten.stack.default, [x.re, x.im], -1),
    "complex": _complex,
    "polar": _polar,
    "real": lambda w, x: x.re,
    "imag": lambda w, x: x.im,
    "_conj": lambda w, x: Pair(x.re, w.neg(x.im)),
    "_conj_physical": lambda w, x: Pair(x.re, w.neg(x.im)),
    "conj_physical": lambda w, x: Pair(x.re, w.neg(x.im)),
    "resolve_conj": lambda w, x: x,
    "_neg_view": lambda w, x: w.neg(x.re),
    "abs": lambda w, x: w.call(w.aten.hypot.default, x.re, x.im),
    "angle": lambda w, x: w.call(w.aten.atan2.default, x.im, x.re),
    "add": _sum,
    "sub": lambda w, a, b, alpha=1: _sum(w, a, b, alpha, sign=-1),
    "rsub": lambda w, a, b, alpha=1: _sum(w, b, a, alpha, sign=-1),
    "mul": _product,
    "div": _quotient,
    "reciprocal": _reciprocal,
    "matmul": _matmul,
    "mm": _matmul,
    "bmm": _matmul,
    "pow": _power,
    "square": lambda w, x: _power(w, x, 2),
    "exp": _exp,
    "_to_copy": _copy,
    "zeros_like": _zeros_like,
    "constant_pad_nd": _pad,
    "sym_size": lambda w, x, axis: w.call(w.aten.sym_size.int, x.re, axis),
    "fft_c2c": _c2c,
    "fft_r2c": _r2c,
    "fft_c2r": _c2r,
}
"""By the operator's name: operands as pairs; gives a pair, or a real node."""
EACH: Final = {
    *("view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "expand", "permute", "transpose"),
    *("t", "mT", "select", "slice", "clone", "alias", "detach", "index", "index_select", "gather"),
    *("flip", "roll", "repeat", "cat", "stack", "split", "split_with_sizes", "chunk", "unbind"),
    *("narrow", "diagonal", "neg", "sum", "mean", "cumsum", "where", "getitem"),
    *("contiguous", "lift_fresh_copy", "unfold", "triu", "tril", "tile"),
    *(
        "view_copy",
        "unsqueeze_copy",
        "squeeze_copy",
        "expand_copy",
        "permute_copy",
        "transpose_copy",
        "t_copy",
        "select_copy",
    ),
    *(
        "slice_copy",
        "unbind_copy",
        "split_copy",
        "split_with_sizes_copy",
        "unfold_copy",
        "diagonal_copy",
        "narrow_copy",
    ),
    *(
        "alias_copy",
        "as_strided_copy",
        "detach_copy",
        "as_strided",
        "unsafe_split",
        "unsafe_split_with_sizes",
        "broadcast_tensors",
    ),
    *(
        "scatter",
        "scatter_add",
        "index_put",
        "put",
        "take",
        "index_add",
        "index_copy",
        "index_fill",
        "masked_scatter",
        "im2col",
    ),
    *(
        "col2im",
        "select_scatter",
        "slice_scatter",
        "diagonal_scatter",
        "as_strided_scatter",
        "copy",
        "repeat_interleave",
    ),
    *("broadcast_to", "rot90", "trace", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle"),
}
"""What moves elements or is linear, so that each part is by itself."""
WITH_NUMBERS: Final = {
    "ScalarOther",
    "ScalarSelf",
    "Scalar",
    "int_Scalar",
    "value",
    "value_reduce",
    "reduce",
}
"""Overloads of these that take a number as a value, which is not the same for both parts, or that multiply."""
ROUNDS: Final = 8
"""Of decompositions, each of which may bring operators that have one."""
SILENT: Final = {"_assert_tensor_metadata"}
UNKNOWN: Final = "of complex numbers is not known to the export; write it with real tensors, or with sums and products"
REASONS: Final = dict.fromkeys(
    ("linalg_eig", "linalg_eigvals", "_linalg_eigvals"),
    "needs eigenvalues of a matrix that need not be Hermitian, for which the export has no operator; use torch.linalg.eigh or "
    "eigvalsh where it is, or compute them outside of the module",
)
"""What is refused for another reason than that numbers are complex."""
