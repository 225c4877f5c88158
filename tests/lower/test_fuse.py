"""Random graphs: fused and unfused give the same bits, and both the reference's numbers."""

from __future__ import annotations

import random

import numpy as np
import pytest
from lower.check import agrees

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
