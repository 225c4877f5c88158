"""What rounding costs at the model's outputs: the graph is run with weights as inputs, so one program serves every variant.

An output is vectors along its last axis; one of single numbers is one vector. Outputs that are no floats say nothing. Metrics:

cosine      1 - cosine with the vector of the model as it is, times 10^4, the mean of all: what is called loss
top1        per cent of the vectors whose largest element is another
perplexity  exp of the mean of -log of the probability that logits [n, t, words] give the next of the tokens [n, t] that are read
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.schema.errors import RecipeError

from ..observe.samples import Runner, Sample
from ..recipe.layers import layers

Array = NDArray[Any]
Weights = Mapping[int, tuple[Array, Array | None]]
"""Number of a layer -> its matrix [n, k] instead of the model's own, and what its bias has more, [n]."""


@dataclasses.dataclass(frozen=True, slots=True)
class Metric:
    """`each`: costs of the vectors of an output, by what it was, is and the sample; `whole`: what their mean says."""

    each: Callable[[Array, Array, Sample], Array]
    whole: Callable[[float], float]


def losses(
    model: ir.Model,
    tables: bool,
    variants: Iterable[Weights],
    given: Sequence[Sample],
    runner: Runner,
    metric: str = "cosine",
) -> Iterator[float]:
    """The loss of each variant against the model as it is, over the samples.

    Args:
        tables: Layers are numbered as `layers(model, tables)` has them.

    Raises:
        RecipeError: no output is a float, or one is NaN or infinite; the metric is of other outputs.
    """
    copy, names, biases, own = _opened(model, tables)
    found = layers(model, tables)

    def feeds() -> Iterator[list[Sample]]:
        for variant in itertools.chain([{}], variants):
            changed = {names[i]: found[i].shaped(matrix) for i, (matrix, _) in variant.items()}
            changed |= {
                biases[i]: (own[biases[i]] + more).astype(np.float32)
                for i, (_, more) in variant.items()
                if more is not None
            }
            yield [{**sample, **own, **changed} for sample in given]

    outputs = [str(v.name) for v in model.graph.outputs]
    yield from losses_of_rounds(copy, outputs, feeds(), runner, metric)


def losses_of_rounds(
    model: ir.Model,
    outputs: Sequence[str],
    feeds: Iterable[Sequence[Sample]],
    runner: Runner,
    metric: str = "cosine",
) -> Iterator[float]:
    """The loss of each round of samples but the first against the first, all by one program."""
    rounds = iter(feeds)
    given = next(rounds)
    made = iter(
        runner(model, outputs, itertools.chain(given, itertools.chain.from_iterable(rounds)))
    )
    yield from judged([next(made) for _ in given], made, given, metric)


def losses_of(
    model: ir.Model,
    others: Iterable[ir.Model],
    given: Sequence[Sample],
    runner: Runner,
    metric: str = "cosine",
) -> Iterator[float]:
    """The loss of other models with the same inputs and outputs, as `losses`."""
    outputs = [str(v.name) for v in model.graph.outputs]
    wanted = list(runner(model, outputs, given))
    runs = (values for other in others for values in runner(other, outputs, given))
    yield from judged(wanted, runs, given, metric)


def judged(
    wanted: Sequence[Sample], made: Iterator[Sample], given: Sequence[Sample], metric: str
) -> Iterator[float]:
    """What the metric says of each round of the samples in `made`; `wanted` are the values that they had."""
    how = METRICS[metric]
    floats = [n for n in wanted[0] if all(is_float(w[n]) for w in wanted)]
    if not floats:
        raise RecipeError(
            "loss: expected an output of floats with elements, got none; drop what asks for it"
        )
    while True:
        each = []
        for want, sample in zip(wanted, given, strict=True):
            got = next(made, None)
            if got is None:
                return
            for name in floats:
                if not (np.isfinite(want[name]).all() and np.isfinite(got[name]).all()):
                    raise RecipeError(
                        "loss: an output is NaN or infinite on these samples; leave them out"
                    )
                each.append(how.each(want[name], got[name], sample))
        yield how.whole(float(np.concatenate(each).mean()))


CROSSED: Final = 128
"""Errors of other vectors that each is tried with."""


def sure(
    wanted: Sequence[Sample], made: Sequence[Sample], metric: str, times: float = 1.0
) -> float:
    """Of `top1` what few samples tell better than a count: each vector with the errors of others, as large beside its own size.

    `times`: what errors are multiplied by.

    A count of 3 per cent of 200 vectors is off by 1.2 per cent as often as not by less, and of many mixes one is lucky. 0 of other metrics.
    """
    if metric != "top1":
        return 0.0
    hits = tried = 0
    for name in (n for n in wanted[0] if all(is_float(w[n]) for w in wanted)):
        want, got = (np.concatenate([_vectors(s[name]) for s in some]) for some in (wanted, made))
        level = want - want.mean(1, keepdims=True)
        size = np.sqrt(np.square(level).mean(1, keepdims=True))
        error, top = times * (got - want) / np.where(size > 0, size, 1), want.argmax(1)
        for step in range(1, min(len(want), CROSSED)):
            hits += int(((want + size * np.roll(error, step, 0)).argmax(1) != top).sum())
            tried += len(want)
    return 100 * hits / max(tried, 1)


def _opened(
    model: ir.Model, tables: bool
) -> tuple[ir.Model, list[str], dict[int, str], dict[str, Array]]:
    """A copy whose layers' weights and biases are inputs; what each layer's is called, and what the model has there."""
    copy = model.clone()
    used = graphs.names(copy)
    inputs: dict[int, ir.Value] = {}
    names: list[str] = []
    own: dict[str, Array] = {}
    biases: dict[int, str] = {}

    def opened(tensor: ir.TensorProtocol, name: str) -> ir.Value:
        kind = ir.TensorType(ir.DataType.FLOAT)
        made = ir.Value(name=name, type=kind, shape=graphs.sizes(tensor))
        copy.graph.inputs.append(made)
        own[name] = np.ascontiguousarray(tensor.numpy(), np.float32)
        return made

    for number, layer in enumerate(layers(copy, tables)):
        weight = layer.node.inputs[layer.slot]
        assert weight is not None
        tensor = graphs.constant_tensor(weight)
        assert tensor is not None
        key = id(weight)
        if key not in inputs:
            inputs[key] = opened(tensor, graphs.fresh(used, f"{weight.name}.weight"))
        layer.node.replace_input_with(layer.slot, inputs[key])
        names.append(str(inputs[key].name))
        bias, numbers = layer.bias, graphs.constant_tensor(layer.bias)
        if bias is not None and numbers is not None:
            biases[number] = graphs.fresh(used, f"{bias.name}.bias")
            layer.node.replace_input_with(2, opened(numbers, biases[number]))
    graphs.drop_unread(copy)
    return copy, names, biases, own


def is_float(x: Array) -> bool:
    return x.dtype.kind == "f" and x.size > 0


def _vectors(x: Array) -> Array:
    whole = x.ndim == 0 or x.shape[-1] == 1
    return x.astype(np.float64).reshape((1, -1) if whole else (-1, x.shape[-1]))


def distances(want: Array, got: Array) -> Array:
    """1 - cosine of each pair of vectors, from 0 to 2; 0 of two zeros, 1 where one is zero."""
    a, b = _vectors(want), _vectors(got)
    sizes = [np.sqrt(np.square(x).sum(1)) for x in (a, b)]
    both = sizes[0] * sizes[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = np.where(
            both > 0, (a * b).sum(1) / both, (sizes[0] == sizes[1]).astype(np.float64)
        )
    return np.asarray(np.maximum(1 - cosine, 0))


def _elsewhere(want: Array, got: Array) -> Array:
    """1 where the first largest elements of two vectors lie apart, else 0."""
    return np.asarray(_vectors(want).argmax(1) != _vectors(got).argmax(1), np.float64)


def _surprises(got: Array, sample: Sample) -> Array:
    """-log of the probability of each next token."""
    tokens = next((x for x in sample.values() if x.dtype.kind in "iu" and x.ndim == 2), None)
    if tokens is None or got.ndim != 3 or got.shape[:2] != tokens.shape or tokens.shape[1] < 2:
        shape = None if tokens is None else list(tokens.shape)
        raise RecipeError(
            f"metric perplexity: expected logits [n, t, words] of tokens [n, t], two or more, got {list(got.shape)} of {shape}; "
            "ask for another metric"
        )
    logits = got[:, :-1].astype(np.float64)
    logits -= logits.max(-1, keepdims=True)
    following = np.take_along_axis(logits, tokens[:, 1:, None].astype(np.int64), 2)[..., 0]
    return np.asarray(np.log(np.exp(logits).sum(-1)) - following).reshape(-1)


METRICS: Final = {
    "cosine": Metric(lambda want, got, _: distances(want, got), lambda mean: 1e4 * mean),
    "top1": Metric(lambda want, got, _: _elsewhere(want, got), lambda mean: 100 * mean),
    "perplexity": Metric(lambda _, got, sample: _surprises(got, sample), math.exp),
}
