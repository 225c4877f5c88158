"""A module on other inputs than its example's: other values, and other sizes where they are dynamic. `check` compares the graph there.

What the module refuses is left out. Integers that may be places, counts or lengths are drawn from the example's (`input_draws`).
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import sympy

from . import input_draws, matrix_operators
from .check import Array, Shapes, Variation, apart, differs, tolerance
from .examples import array, flat_inputs, named_inputs, named_outputs, origin, tensor

FRAGILE: Final = (
    *("embedding_bag", "_embedding_bag", "_embedding_bag_forward_only", "ctc_loss", "_ctc_loss"),
    *("torchvision", "while_loop"),
)
"""Operators that end the process or never end for values that they do not expect."""
ORDERED: Final = ("searchsorted", "bucketize", "histogram", "segment_reduce")
"""Operators that mean something of ascending rows alone: those of the example stay so."""
BOXED: Final = ("nms", "roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool")
"""Operators of boxes: first corner, second corner, and before them perhaps the image. Of corners the other way round ONNX and
torchvision mean different areas, and an image that is not there is read all the same: rows of the example stay whole."""
TIES: Final = ("topk", "sort", "kthvalue", "median", "nanmedian", "mode", "argsort", "msort")
"""Operators that may choose any of equals."""
CONVERSIONS: Final = ("_to_copy", "to", "convert_element_type")
SAMPLERS: Final = ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
EXPONENTIALS: Final = ("linalg_matrix_exp", "matrix_exp")
LONG: Final = 64
"""The norm of a matrix of f32 beyond which rounding costs its exponential more than the check allows."""
PLACED: Final = (
    *(*SAMPLERS, "histc"),
    *("fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine"),
)
"""Operators that round places which they compute of their operands: a result may jump by a rounding. Where operands alone decide, as
in round and floor, a jump is a defect."""
LARGEST: Final = 1 << 26
"""Elements of an input, beyond which sizes are not made larger."""
ENOUGH: Final = 192
"""Elements that all draws of a small input have together."""
TURNS: Final = 16
Draw = Callable[..., Any]
"""From torch, the tensor of the example, a shape and a generator: values of the shape."""


@dataclasses.dataclass(slots=True)
class Subject:
    """A module whose runs leave no trace: it is copied once, its parameters shared, and has the same buffers before each run."""

    torch: Any
    module: Any
    buffers: Mapping[str, Any]
    copied: Any = None

    def run(
        self, leaves: list[Any], spec: Any, weights: Any = None
    ) -> tuple[Any, dict[str, Any], list[Any]]:
        """The result, and the buffers and inputs afterwards; `weights` changes a copy of all."""
        torch = self.torch
        if self.copied is None:
            self.copied = copy.deepcopy(self.module, {id(p): p for p in self.module.parameters()})
            with contextlib.suppress(NotImplementedError):
                self.copied.eval()
        ours = self.copied
        if weights is not None:
            ours = copy.deepcopy(ours)
            weights(ours)
        for name, value in self.buffers.items():
            path, _, last = name.rpartition(".")
            ours.get_submodule(path)._buffers[last] = value.clone()
        given = [x.clone() if isinstance(x, torch.Tensor) else x for x in leaves]
        args, kwargs = torch.utils._pytree.tree_unflatten(given, spec)
        call = ours.forward if isinstance(ours, torch.fx.GraphModule) else ours
        # What is compiled ends the process by an index out of range, which is an error where it is not.
        with torch.no_grad(), torch.compiler.set_stance("force_eager"):
            result = call(*args, **kwargs)
        after = {n: b.clone() for n, b in ours.named_buffers() if n in self.buffers}
        return result, after, given


@dataclasses.dataclass(frozen=True, slots=True)
class Varied:
    """Sizes that are dynamic: `axes` are (leaf, axis, size as an expression); limits of the symbols there, and their names."""

    axes: list[tuple[int, int, Any]]
    limits: dict[Any, tuple[int, int]]
    called: Mapping[Any, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Maker:
    """`states`: what they begin as."""

    torch: Any
    subject: Subject
    captured: Any
    example: Any
    varied: Varied
    states: list[Any]

    def itself(self) -> Variation | None:
        """The example as it is."""
        leaves, spec = self.torch.utils._pytree.tree_flatten(self.example)
        return self._variation("the example's values", leaves, spec)

    def others(self, shapes: Shapes) -> Iterator[Variation]:
        """The most telling first."""
        tree = self.torch.utils._pytree
        leaves, spec = tree.tree_flatten(self.example)
        tensors = [i for i, x in enumerate(leaves) if isinstance(x, self.torch.Tensor)]
        names = dict(zip(tensors, self.captured.inputs, strict=False))
        hints = self._hints(leaves)
        forced = self._forced(names, shapes)
        free = {s: n for s, n in hints.items() if s not in forced}
        base = {**hints, **forced}
        rng = self.torch.Generator().manual_seed(0)
        for text, draw, sizes in self._ways(leaves, spec, free, base, bool(forced), rng):
            each = self._each(leaves, tensors, draw, sizes, rng)
            if each is None:
                continue
            changed = {s: n for s, n in sizes.items() if hints.get(s) != n}
            told = ", ".join(f"{self.varied.called.get(s, s)} = {n}" for s, n in changed.items())
            made = self._variation(text + (f", {told}" if told else ""), each, spec)
            if made is not None:
                yield made

    def _ways(
        self,
        leaves: list[Any],
        spec: Any,
        free: dict[Any, int],
        base: dict[Any, int],
        is_forced: bool,
        rng: Any,
    ) -> Iterator[tuple[str, Draw, dict[Any, int]]]:
        """How the values are drawn, in words too, and the sizes."""
        if is_forced:
            yield "the sizes that are fixed", input_draws.drawn, base
        magnitudes = "values of all magnitudes", input_draws.wide
        is_fragile = self._has(FRAGILE) or self._has_unbacked()
        draw = self._more(leaves, spec, base, rng)
        integers = [
            ("more integers", functools.partial(draw, True), base),
            ("more integers from 0 on", functools.partial(draw, False), base),
        ]
        if not is_fragile:
            yield *magnitudes, base
            yield from integers
        larger = [{**base, **s} for s in input_draws.sizes(free, self.varied.limits)]
        for sizes in [base, *larger]:
            yield "other values", input_draws.drawn, sizes
        if not is_fragile:
            for sizes in larger[:1]:
                yield *magnitudes, sizes
            for words, by in input_draws.SCALES.items():
                yield words, functools.partial(input_draws.scaled, by=by), base
            if not self.captured.has_complex:  # of infinite parts PyTorch leaves open which are NaN
                yield "rows of 0", input_draws.with_zeros, base
            yield "values below 0", input_draws.below, base
            yield "values about 1", input_draws.usual, base
        yield "other values", input_draws.shuffled, base
        counts = [x.numel() for x in leaves if isinstance(x, self.torch.Tensor)]
        for _ in range(min(ENOUGH // max(*counts, 1, 1), TURNS) if not is_fragile else 0):
            yield *magnitudes, base
            yield from integers

    def _hints(self, leaves: list[Any]) -> dict[Any, int]:
        """The example's sizes by symbol."""
        found: dict[Any, int] = {}
        for i, axis, e in sorted(self.varied.axes, key=lambda a: not a[2].is_Symbol):
            for s in e.free_symbols - found.keys() if len(e.free_symbols) == 1 else ():
                solved = sympy.solve(e - leaves[i].shape[axis], s)
                if len(solved) == 1 and solved[0].is_Integer:
                    found[s] = int(solved[0])
        return found

    def _forced(self, names: Mapping[int, str], shapes: Shapes) -> dict[Any, int]:
        """Sizes that the graph takes no other of."""
        found = {}
        for i, axis, e in self.varied.axes:
            fixed = shapes[names[i]][axis] if names.get(i) in shapes else None
            if fixed is not None and e.is_Symbol:
                found[e] = fixed
        return found

    def _has(self, words: Sequence[str]) -> bool:
        return any(_is(n.target, words) for n in self.captured.program.graph.nodes)

    def _has_unbacked(self) -> bool:
        """Whether data decides a size: integers may be lengths."""
        nodes = self.captured.program.graph.nodes
        return any(n.meta.get("unbacked_bindings") for n in nodes)

    def _more(self, leaves: list[Any], spec: Any, sizes: dict[Any, int], rng: Any) -> Any:
        """Draws the widest integers that the module takes, each input tried alone beside the example."""
        torch = self.torch

        def takes(i: int, x: Any) -> bool:
            tried = [self._fit(leaf, k, sizes) for k, leaf in enumerate(leaves)]
            tried[i] = x
            with contextlib.suppress(Exception):
                self.subject.run(tried, spec)
                return True
            return False

        @functools.cache
        def rung(i: int, is_signed: bool) -> Any:
            x = self._fit(leaves[i], i, sizes)
            for each in input_draws.SIGNED if is_signed else ():
                if takes(i, input_draws.whole(torch, x, each, x.shape, rng)):
                    return each
            end = input_draws.most(
                lambda n: takes(i, torch.full_like(x, min(n - 1, torch.iinfo(x.dtype).max)))
            )
            return (0, end) if end else ()

        def draw(is_signed: bool, torch: Any, x: Any, shape: Sequence[int], rng: Any) -> Any:
            kinds = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
            if x.dtype not in kinds:
                return input_draws.sized(torch, x, shape)
            found = rung(next(i for i, leaf in enumerate(leaves) if leaf is x), is_signed)
            if found == ():
                return input_draws.shuffled(torch, x, shape, rng)
            return input_draws.whole(torch, x, found, shape, rng)

        return draw

    def _fit(self, x: Any, i: int, sizes: Mapping[Any, int]) -> Any:
        if not isinstance(x, self.torch.Tensor):
            return x
        return input_draws.sized(self.torch, x, self._shape(x, i, sizes))

    def _shape(self, x: Any, i: int, sizes: Mapping[Any, int]) -> list[int]:
        shape = list(x.shape)
        for leaf, axis, e in self.varied.axes:
            if leaf == i and e.free_symbols <= sizes.keys():
                shape[axis] = int(e.subs(sizes))
        return shape

    def _each(
        self,
        leaves: list[Any],
        tensors: list[int],
        draw: Draw,
        sizes: Mapping[Any, int],
        rng: Any,
    ) -> list[Any] | None:
        """Inputs; None where they are as the example's, or too large."""
        made, is_ordered, is_boxed = list(leaves), self._has(ORDERED), self._has(BOXED)
        for i in tensors:
            shape = self._shape(leaves[i], i, sizes)
            count = math.prod(shape)
            if count > max(LARGEST, leaves[i].numel()):
                return None
            made[i] = draw(self.torch, leaves[i], shape, rng)
            if is_ordered and input_draws.is_sorted(self.torch, leaves[i]):
                made[i] = made[i].sort(-1).values
            if is_boxed and input_draws.is_boxes(leaves[i]):
                made[i] = input_draws.rows(self.torch, leaves[i], shape, rng)
        same = all(array_equal(self.torch, made[i], leaves[i]) for i in tensors)
        return None if same else made

    def _variation(self, text: str, leaves: list[Any], spec: Any) -> Variation | None:
        torch, captured = self.torch, self.captured
        given = [x for x in leaves if isinstance(x, torch.Tensor)][: len(captured.inputs)]
        values = [*given, *self.states]
        try:
            outputs = named_outputs(torch, captured, *self.subject.run(leaves, spec))
        except Exception:  # the module does not take them
            return None

        def moved(is_traced: bool) -> list[dict[str, Array]] | None:
            found = None if self._has(TIES) else self._moved(leaves, spec)
            if found is None or not is_traced:
                return found
            rngs = (torch.Generator().manual_seed(seed) for seed in range(2))
            rounded = [self._traced(values, rng) for rng in rngs]
            return found + [r for r in rounded if r.keys() >= outputs.keys()]

        return Variation(
            text,
            named_inputs(torch, captured, values),
            outputs,
            moved,
            lambda: self._traced(values),
            lambda: self._is_one_point(leaves, spec),
            lambda: is_left_open(torch, captured, values),
            lambda known: alone(torch, captured, values, known),
        )

    def _moved(self, leaves: list[Any], spec: Any) -> list[dict[str, Array]] | None:
        torch = self.torch
        found = []
        for seed in range(4):
            rng = torch.Generator().manual_seed(seed)

            def weights(module: Any, rng: Any = rng) -> None:
                for each in (*module.parameters(), *module.buffers()):
                    with torch.no_grad():
                        each.copy_(input_draws.nudged(torch, each, rng))

            try:
                result = self.subject.run(self._nudged(leaves, rng), spec, weights)
                found.append(named_outputs(torch, self.captured, *result))
            except Exception:  # at the edge of what it takes
                return None
        return found

    def _nudged(self, leaves: list[Any], rng: Any) -> list[Any]:
        kind = self.torch.Tensor
        return [
            input_draws.nudged(self.torch, x, rng) if isinstance(x, kind) else x for x in leaves
        ]

    def _is_one_point(self, leaves: list[Any], spec: Any) -> bool:
        for seed in range(4):
            near = self._nudged(leaves, self.torch.Generator().manual_seed(seed))
            tensors = [x for x in near if isinstance(x, self.torch.Tensor)]
            values = [*tensors[: len(self.captured.inputs)], *self.states]
            try:
                want = named_outputs(self.torch, self.captured, *self.subject.run(near, spec))
            except Exception:
                return False
            got = self._traced(values)
            if got.keys() != want.keys() or any(differs(got[n], want[n]) for n in want):
                return False
        return True

    def _traced(self, values: list[Any], rng: Any = None) -> dict[str, Array]:
        """Results of the captured program, each operator's changed by a rounding where there is a generator; nothing where it fails."""
        torch, names = self.torch, [*self.captured.outputs]
        names += [f"present.{s}" for s in self.captured.states]

        kind = torch.fx.Interpreter if rng is None else rounding(torch, rng)
        flat = flat_inputs(torch, self.captured, values)
        try:
            with torch.no_grad():
                results = kind(self.captured.program.graph_module).run(*flat)
        except Exception:
            return {}
        return {n: array(torch, x) for n, x in zip(names, results, strict=True)}


def rounding(torch: Any, rng: Any) -> Any:
    """An interpreter that changes each operator's result by a rounding."""

    class Rounding(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, n: Any) -> Any:
            result = super().run_node(n)
            is_moved = n.op == "call_function" and isinstance(result, torch.Tensor)
            return input_draws.nudged(torch, result, rng) if is_moved else result

    return Rounding


def _is(target: Any, words: Sequence[str]) -> bool:
    """By the operator's name, or its library's."""
    name = str(getattr(target, "_opname", getattr(target, "__name__", target)))
    library = str(getattr(target, "namespace", ""))
    return name in words or library in words


def left_open(torch: Any, target: Any, args: Sequence[Any], result: Any) -> Any:
    """Where PyTorch leaves open what the result is. None: nowhere.

    A conversion to integers that meets NaN or a float beyond the type; a picture sampled at a place that is not finite, which counts as
    -1 by PyTorch's manual and makes NaN in its vector loops; singular vectors and eigenvectors, whose signs are free; an exponential of a
    matrix whose norm costs it its digits.
    """
    if not isinstance(result, torch.Tensor):
        return None
    if str(target) in matrix_operators.FREE:
        return torch.ones_like(result, dtype=torch.bool)
    if _is(target, EXPONENTIALS):
        size = args[0].abs().sum(-2).amax(-1)
        nowhere = ~(size < LONG)[..., None, None].expand(result.shape)
        return nowhere if nowhere.any() else None
    if _is(target, SAMPLERS):
        nowhere = ~args[1].isfinite().all(-1).unsqueeze(1).expand(result.shape)
        return nowhere if nowhere.any() else None
    return _unheld(torch, args[0], result) if _is(target, CONVERSIONS) else None


def _unheld(torch: Any, x: Any, result: Any) -> Any:
    """Where the integers that `x` becomes do not hold it; None: nowhere."""
    if result.dtype == torch.bool or result.is_floating_point() or result.is_complex():
        return None
    if not isinstance(x, torch.Tensor) or not x.is_floating_point():
        return None
    whole, limits = x.double().trunc(), torch.iinfo(result.dtype)
    outside = ~((whole >= float(limits.min)) & (whole < float(limits.max + 1)))
    return outside if outside.any() else None


def is_left_open(torch: Any, captured: Any, values: list[Any]) -> bool:
    """Whether some operator of the program meets what it leaves open."""
    found: list[str] = []

    class Looks(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, n: Any) -> Any:
            result = super().run_node(n)
            if n.op == "call_function":
                args, _ = self.fetch_args_kwargs_from_env(n)
                if left_open(torch, n.target, args, result) is not None:
                    found.append(n.name)
            return result

    with torch.no_grad(), contextlib.suppress(Exception):
        Looks(captured.program.graph_module).run(*flat_inputs(torch, captured, values))
    return bool(found)


def array_equal(torch: Any, a: Any, b: Any) -> bool:
    return array(torch, a).tobytes() == array(torch, b).tobytes() and a.shape == b.shape


def is_as_near(got: Array, want: Array, wide: Array) -> bool:
    """Whether what differs from PyTorch's result `want` is about as far from the one in f64 as that is elsewhere.

    What overflows in `want` alone says nothing of other elements.
    """
    with np.errstate(over="ignore"):
        exact = wide.astype(want.dtype)
    usual = apart(want, exact)
    usual = usual[np.isfinite(usual)]
    least = max(tolerance(want), 16 * float(usual.max(initial=0.0)))
    off = apart(got, want) > tolerance(want)
    return bool(np.all(apart(got, exact)[off] <= least))


def is_near(got: Array, want: Array, others: Iterable[Array]) -> bool:
    """Whether each element is as in `want` or one of the others."""
    away = apart(got, want)
    for other in others:
        away = np.minimum(away, apart(got, other))
    return bool(np.all(away <= tolerance(want)))


def alone(torch: Any, captured: Any, values: list[Any], known: Mapping[str, Array]) -> str | None:
    """Runs the program with the graph's values for the operands of each operator. The first that gives something else, in words."""
    found: list[str] = []

    class Beside(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, n: Any) -> Any:
            result = super().run_node(n)
            if n.op != "call_function" or n.name not in known or found:
                return result
            if not isinstance(result, torch.Tensor):
                return result
            got = known[n.name]
            text = differs(got, array(torch, result))
            if text is not None and not self.is_excused(n, got, result):
                found.append(f"the operator to differ is {n.name!r} of {origin(n)}: {text}")
            same = got.shape == tuple(result.shape) and got.dtype == array(torch, result).dtype
            return tensor(torch, got) if same else result

        def is_excused(self, n: Any, got: Array, result: Any) -> bool:
            """One of equals, what PyTorch leaves open, or as far from the result in f64 as PyTorch's own."""
            if str(n.target) in matrix_operators.FREE:
                args, _ = self.fetch_args_kwargs_from_env(n)
                return matrix_operators.is_right(torch, n.target, tensor(torch, got), *args)
            outside = left_open(torch, n.target, self.fetch_args_kwargs_from_env(n)[0], result)
            if outside is not None:
                held = ~outside.numpy()
                return (
                    got.shape == held.shape
                    and differs(got[held], array(torch, result)[held]) is None
                )
            name = str(n.target)
            source = n.args[0] if "getitem" in name else n
            if not result.is_floating_point() and _is(source.target, TIES):
                return True
            if source is not n or not result.is_floating_point() or got.shape != result.shape:
                return False
            want = array(torch, result)
            if _is(n.target, PLACED) and is_near(got, want, self.beside(n)):
                return True
            try:
                wide = array(torch, self.in_f64(n))
            except Exception:
                return False
            return wide.shape == got.shape and is_as_near(got, want, wide)

        def beside(self, n: Any) -> Iterator[Array]:
            """What PyTorch gives for operands a rounding away."""
            rng, (args, kwargs) = (
                torch.Generator().manual_seed(0),
                self.fetch_args_kwargs_from_env(n),
            )
            for _ in range(16):
                moved = torch.utils._pytree.tree_map(
                    lambda x: (
                        input_draws.nudged(torch, x, rng) if isinstance(x, torch.Tensor) else x
                    ),
                    args,
                )
                yield array(torch, n.target(*moved, **kwargs))

        def in_f64(self, n: Any) -> Any:
            args, kwargs = self.fetch_args_kwargs_from_env(n)

            def widened(x: Any) -> Any:
                if isinstance(x, torch.Tensor) and x.is_floating_point():
                    return x.double()
                floats = (torch.float32, torch.float16, torch.bfloat16)
                return torch.float64 if x in floats else x

            args, kwargs = torch.utils._pytree.tree_map(widened, (args, kwargs))
            return n.target(*args, **kwargs)

    try:
        with torch.no_grad():
            Beside(captured.program.graph_module).run(*flat_inputs(torch, captured, values))
    except Exception as error:
        found.append(f"which operator differs cannot be told ({type(error).__name__}: {error})")
    return found[0] if found else None
