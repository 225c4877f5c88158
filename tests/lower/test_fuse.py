"""Random graphs, with states and without: fused and unfused give the same bits, and both the reference's numbers."""

from __future__ import annotations

import random

import numpy as np
import pytest
from lower.check import agrees, reference

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.optimize.fuse import fuse
from pteron.export.program.interpret import run

SHAPE = (2, 3, 4)


def random_graph(seed: int) -> tuple[str, str]:
    """Statements over tensors of one shape or its permutations, and the names of a few outputs."""
    r = random.Random(seed)
    shapes = {"x": SHAPE, "y": SHAPE}
    lines = []
    for i in range(r.randint(4, 14)):
        a = r.choice(list(shapes))
        alike = [n for n, s in shapes.items() if s == shapes[a]]
        b, name, shape = r.choice(alike), f"v{i}", shapes[a]
        kind = r.randrange(9)
        if kind == 0:
            axes = r.sample(range(3), 3)
            call, shape = f"Transpose({a}, perm={axes})", tuple(shape[k] for k in axes)
        elif kind == 1:
            call = f"Softmax({a}, axis={r.randrange(3)})"
        elif kind == 2:
            axis = r.randrange(3)
            call = f"Concat({a}, {b}, axis={axis})"
            shape = tuple(2 * n if k == axis else n for k, n in enumerate(shape))
        elif kind == 3 and shape[0] > 1:
            call, shape = f"Slice({a}, [1], [{shape[0]}], [0])", (shape[0] - 1, *shape[1:])
        elif kind == 4:
            call, shape = (
                f"Reshape({a}, [{shape[0]}, {shape[2]}, {shape[1]}])",
                (
                    shape[0],
                    shape[2],
                    shape[1],
                ),
            )
        elif kind == 5:
            call = f"ReduceMean({a}, [{r.randrange(3)}])"
            axis = int(call[-3])
            shape = tuple(1 if k == axis else n for k, n in enumerate(shape))
        else:
            op = r.choice(["Add", "Mul", "Sub", "Max"])
            call = r.choice([f"{op}({a}, {b})", f"Tanh({a})", f"Mul({a}, 0.5)", f"Relu({a})"])
        lines.append(f"{name} = {call}")
        shapes[name] = shape
    outputs = r.sample([n for n in shapes if n.startswith("v")], min(3, len(lines)))
    return "\n".join(lines), " ".join(outputs)


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs(seed: int) -> None:
    text, outputs = random_graph(seed)
    rng = np.random.default_rng(seed)
    feeds = {n: rng.standard_normal(SHAPE).astype(np.float32) for n in ("x", "y")}
    used = {n: feeds[n] for n in feeds if f"({n}" in text or f", {n}" in text}
    agrees(text, used, outputs=outputs, **dict.fromkeys(used, "f32[2, 3, 4]"))


SQUARE = (4, 4)


def random_update(seed: int) -> str:
    """Statements that make `new_s` and `new_t` of the states s and t, which are read before, between and after."""
    r = random.Random(seed)
    names, lines = ["x", "s", "t"], []
    for i in range(r.randint(3, 10)):
        a, b = r.choice(names), r.choice(names)
        call = r.choice(
            [
                f"Add({a}, {b})", f"Mul({a}, {b})", f"Sub({a}, 0.5)", f"Tanh({a})", f"Transpose({a}, perm=[1, 0])",
                f"Softmax({a})", f"Concat(Slice({a}, [1], [4], [0]), Slice({b}, [0], [1], [0]), axis=0)",
                f"Concat(Slice({a}, [1], [4], [1]), Slice({b}, [0], [1], [1]), axis=1)",
                f"Slice({a}, [3], [-5], [0], [-1])", f"ScatterND({a}, [[2], [0]], Slice({b}, [0], [2], [0]))",
                f"Reshape(Reshape({a}, [2, 8]), [4, 4])",
            ]
        )  # fmt: skip
        lines.append(f"v{i} = {call}")
        names.append(f"v{i}")
    last = [n for n in names if n.startswith("v")]
    new, out = r.choice(last), r.choice(last)
    lines += [f"new_s = {r.choice([f'Identity({new})', f'Add({new}, s)', f'Transpose({new})'])}"]
    lines += [f"new_t = {r.choice([f'Relu({out})', 'Identity(s)', f'Sub(t, {new})'])}", f"y = Add({out}, {r.choice(names)})"]  # fmt: skip
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(80))
def test_random_updates_of_states(seed: int) -> None:
    """Three runs: what a run leaves in a state is what the reference gives back."""
    text, names = random_update(seed), ("x", "s", "t")
    model = onnx_text(text, outputs="y new_s new_t", **dict.fromkeys(names, "f32[4, 4]"))
    rng = np.random.default_rng(seed)
    kept = {n: rng.standard_normal(SQUARE).astype(np.float32) for n in ("s", "t")}
    program = lower(model, states={"s": "new_s", "t": "new_t"})
    plain, fused = ({n: a.copy() for n, a in kept.items()} for _ in range(2))
    for _ in range(3):
        x = rng.standard_normal(SQUARE).astype(np.float32)
        y, kept["s"], kept["t"] = reference(model, {"x": x, **kept})
        got = run(program, {"x": x}, states=plain)["y"]
        np.testing.assert_allclose(got, y, rtol=1e-4, atol=1e-5)
        assert got.tobytes() == run(fuse(program), {"x": x}, states=fused)["y"].tobytes()
        for n, want in kept.items():
            np.testing.assert_allclose(plain[n], want, rtol=1e-4, atol=1e-5, err_msg=n)
            assert plain[n].tobytes() == fused[n].tobytes(), f"{n}: fusing changed bits"


@pytest.mark.parametrize(
    "use", ["Size(t)", "Shape(t)", "EyeLike(t, dtype=1)", "ConstantOfShape(Shape(t))"]
)
def test_what_sets_a_size_stays_where_only_the_size_is_read(use: str) -> None:
    feeds = {"x": np.ones((4, 4), np.float32), "c": np.array([False, True, True, False])}
    agrees(f"t = Compress(x, c, axis=1)\ny = {use}", feeds, x="f32[4, 4]", c="bool[4]")
