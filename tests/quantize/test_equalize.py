"""Equalization leaves f32 as it is and brings channels to like ranges."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from passes.static import quantized, reference, run, values_of

from pteron.export import graph as g
from pteron.export.graph.text import onnx_text
from pteron.quantize.observe.calibrate import Ranges, observe
from pteron.quantize.observe.grids import observed
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.recipe.units import units
from pteron.quantize.transform.equalize import MOST, chains, equalized
from pteron.schema.errors import RecipeError

RNG = np.random.default_rng(8)
C = 8
LOUD = (2.5 ** -np.arange(C)).astype(np.float32)
"""Channels that differ by up to 2.5 ** 7."""

X = {"x": f"f32[1, {C}, 6, 6]"}
ONE = {"w": (RNG.standard_normal((C, C, 1, 1)) * LOUD[:, None, None, None]).astype(np.float32)}
ONE |= {"b": (RNG.standard_normal(C) * LOUD).astype(np.float32)}
BACK = {"v": (RNG.standard_normal((C, C, 3, 3)) / LOUD[None, :, None, None]).astype(np.float32)}
DEEP = {"d": RNG.standard_normal((2 * C, 1, 3, 3)).astype(np.float32)}
PAIRS = {"p": RNG.standard_normal((12, 2, 1, 1)).astype(np.float32)}
AGAIN = {"u": ONE["w"][::-1].copy() * LOUD[:, None, None, None]}
OTHER = {"o": ONE["w"][::-1].copy()}
FAR = {"f": (ONE["w"] * LOUD[:, None, None, None] ** 2).astype(np.float32)}
AROUND = {"a": (BACK["v"] / LOUD[None, :, None, None] ** 2).astype(np.float32)}
"""Channels that differ by up to 2.5 ** 21: more than is made up for."""

CHAINS = {
    "one": ("h = Conv(x, w, b); y = Conv(h, v)", {**ONE, **BACK}, [["h"]]),
    "relu": ("h = Relu(Conv(x, w, b)); y = Conv(h, v, pads=[1, 1, 1, 1])", {**ONE, **BACK}, [["h"]]),
    "depthwise": (f"h = Conv(x, w, b); y = Conv(h, d, group={C})", {**ONE, **DEEP}, [["h"]]),
    "groups": ("h = Conv(x, w); y = Conv(h, p, group=4)", {**ONE, **PAIRS}, [["h"]]),
    "two readers": (
        "h = Conv(x, w); i = Conv(h, v); j = Conv(h, v); y = Add(i, j)", {**ONE, **BACK}, [["h"]],
    ),
    "sums": (
        "h = Conv(x, w, b); i = Conv(x, w); j = Add(h, i); k = Relu(Add(j, h)); y = Conv(k, v)",
        {**ONE, **BACK}, [["h", "i", "j", "k"]],
    ),
    "unlike sums": (
        "h = Conv(x, w); i = Conv(x, o); j = Add(h, i); y = Conv(j, v)",
        {**ONE, **OTHER, **BACK}, [["h", "i", "j"]],
    ),
    "far apart": ("h = Conv(x, f); y = Conv(h, a)", {**FAR, **AROUND}, [["h"]]),
    "two links": (
        "h = Conv(x, w, b); i = Conv(h, u); y = Conv(i, v)", {**ONE, **AGAIN, **BACK}, [["h"], ["i"]],
    ),
}  # fmt: skip
LEFT = {
    "clip": "h = Clip(Conv(x, w), 0.0, 6.0); y = Conv(h, v)",
    "output": "h = Conv(x, w); y = Conv(h, v)",
    "another reader": "h = Conv(x, w); y = Add(Conv(h, v, pads=[1, 1, 1, 1]), Sigmoid(h))",
    "sum with an input": "h = Add(Conv(x, w), x); y = Conv(h, v)",
    "sum that is read elsewhere": "h = Conv(x, w); y = Add(Conv(h, w), h)",
    "means": "h = Conv(x, w); y = GlobalAveragePool(h)",
}


def samples(count: int) -> list[dict[str, np.ndarray]]:
    return [{"x": RNG.standard_normal((1, C, 6, 6)).astype(np.float32)} for _ in range(count)]


@pytest.mark.parametrize("case", CHAINS)
def test_the_network_computes_the_same_numbers(case: str) -> None:
    text, constants, wanted = CHAINS[case]
    model = onnx_text(text, **X, **constants)
    g.infer(model)
    plan, _ = units(model, recipe("int8"))
    found = chains(plan)
    assert [sorted(str(v.name) for v in chain) for chain in found] == wanted
    given = samples(4)
    each = [n for chain in wanted for n in chain]
    seen = observe(model, observed(plan), given, reference, 4, each)
    want = [run(model, x)[0] for x in given]
    plan, ranges = equalized(model, plan, found, seen)
    for x, y in zip(given, want, strict=True):
        np.testing.assert_allclose(run(model, x)[0], y, rtol=0, atol=2e-6 * np.abs(y).max())

    for name in each:  # ranges are those of the network as it is, and its channels are closer
        values = np.concatenate([values_of(model, x)[name] for x in given])
        np.testing.assert_allclose(ranges[name], (values.min(), values.max()), rtol=1e-5)
        low, high = seen.channels[name]
        before, after = np.maximum(-low, high), np.abs(values).max((0, 2, 3))
        assert after.max() <= (1 + 1e-5) * before.max()  # no value of a chain gets coarser steps
        if case != "unlike sums":
            spread = before.max() / before.min()
            assert after.max() / after.min() <= 4 * max(spread**0.5, spread / 2**MOST)
        grown = after / before
        assert (grown >= 1 - 1e-5).all() and (grown <= (1 + 1e-5) * 2**MOST).all()


def test_ranges_of_another_model_are_refused() -> None:
    text, constants, _ = CHAINS["one"]
    model = onnx_text(text, **X, **constants)
    g.infer(model)
    plan, _ = units(model, recipe("int8"))
    ranges = dict.fromkeys(observed(plan), (-1.0, 1.0))
    ends = np.zeros(C + 1, np.float32), np.ones(C + 1, np.float32)
    for channels in ({}, {"h": ends}):
        with pytest.raises(
            RecipeError, match="no range for 'h'; these ranges are of another model"
        ):
            equalized(model, plan, chains(plan), Ranges(1, ranges, channels))


@pytest.mark.parametrize("name", LEFT)
def test_values_that_others_touch_are_left_alone(name: str) -> None:
    outputs = "y h" if name == "output" else "y"
    model = onnx_text(LEFT[name], outputs=outputs, **X, w=ONE["w"], v=BACK["v"])
    g.infer(model)
    plan, _ = units(model, recipe("int8"))
    assert chains(plan) == []


def test_small_channels_lose_less() -> None:
    """What reads them makes them large again: their steps would be those of the largest channel."""
    text, constants, _ = CHAINS["one"]
    source = onnx_text(text, **X, **constants)
    given = samples(40)
    want = [run(source, x)[0] for x in given]

    def error(model: ir.Model) -> float:
        got = [run(model, x)[0] for x in given]
        return float(np.linalg.norm(np.array(got) - np.array(want)) / np.linalg.norm(want))

    whole = source.clone()
    quantized(whole, given)
    apart = source.clone()
    apart.graph.outputs.append(next(v for n in apart.graph for v in n.outputs if v.name == "h"))
    quantized(apart, given)  # h is an output: nothing may be scaled
    assert error(whole) < 0.2 * error(apart)
