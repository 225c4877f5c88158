"""Attention and RotaryEmbedding against ONNX's reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from lower.check import agrees, listing
from lower.test_families import floats

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower

Q, K, V = floats((2, 4, 5, 8)), floats((2, 2, 5, 8), 1), floats((2, 2, 5, 6), 2)
FOUR = {"q": "f32[b, 4, s, 8]", "k": "f32[b, 2, s, 8]", "v": "f32[b, 2, s, 6]"}


@pytest.mark.parametrize(
    ("causal", "softcap", "left", "right"),
    list(itertools.product([0, 1], [0.0, 2.0], [-1, 1], [-1, 1])),
)
def test_what_a_query_sees(causal: int, softcap: float, left: int, right: int) -> None:
    attrs = (
        f"is_causal={causal}, softcap={softcap}, left_window_size={left}, right_window_size={right}"
    )
    agrees(f"y = Attention(q, k, v, {attrs})", {"q": Q, "k": K, "v": V}, **FOUR)


@pytest.mark.parametrize("shape", [(5, 5), (1, 1, 5, 5), (2, 1, 1, 5), (2, 4, 5, 5), (4, 5, 3)])
@pytest.mark.parametrize("kind", ["bool", "float32"])
def test_masks_broadcast_and_are_filled_up(shape: tuple[int, ...], kind: str) -> None:
    m = floats(shape, 5) > -0.5 if kind == "bool" else floats(shape, 5)
    sizes = f"{'bool' if kind == 'bool' else 'f32'}[{', '.join(map(str, shape))}]"
    static = {k: t.replace("b,", "2,").replace("s,", "5,") for k, t in FOUR.items()}
    agrees("y = Attention(q, k, v, m)", {"q": Q, "k": K, "v": V, "m": m}, **static, m=sizes)


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
@pytest.mark.parametrize("causal", [0, 1])
def test_scores_on_request(mode: int, causal: int) -> None:
    text = (
        "y, pk, pv, scores = Attention(q, k, v, m, gk, gv, "
        f"is_causal={causal}, qk_matmul_output_mode={mode}, softcap={3.0 if mode else 0.0})"
    )
    past = {
        "gk": floats((2, 2, 3, 8), 7),
        "gv": floats((2, 2, 3, 6), 8),
        "m": floats((5, 8), 9) > -1,
    }
    types = FOUR | {"gk": "f32[b, 2, p, 8]", "gv": "f32[b, 2, p, 6]", "m": "bool[5, 8]"}
    types = {k: t.replace("s,", "5,").replace("p,", "3,") for k, t in types.items()}
    agrees(text, {"q": Q, "k": K, "v": V, **past}, **types)


@pytest.mark.parametrize("keys", [2, 5, 7])
@pytest.mark.parametrize(
    "attrs", ["is_causal=1", "left_window_size=2", "is_causal=1, left_window_size=1"]
)
def test_queries_stand_behind_the_past_whatever_the_keys(keys: int, attrs: str) -> None:
    feeds = {"q": Q, "k": floats((2, 2, keys, 8), 1), "v": floats((2, 2, keys, 6), 2)}
    feeds |= {"gk": floats((2, 2, 3, 8), 7), "gv": floats((2, 2, 3, 6), 8)}
    types = {k: f"f32[{', '.join(map(str, x.shape))}]" for k, x in feeds.items()}
    agrees(f"y, pk, pv = Attention(q, k, v, None, gk, gv, {attrs})", feeds, **types)


@pytest.mark.parametrize("causal", [0, 1])
def test_counted_keys(causal: int) -> None:
    n = np.array([3, 5], np.int64)
    text = f"y = Attention(q, k, v, None, None, None, n, is_causal={causal})"
    agrees(text, {"q": Q, "k": K, "v": V, "n": n}, **FOUR, n="i64[b]")


def test_three_axes_hold_the_heads_side_by_side() -> None:
    feeds = {"q": floats((2, 5, 32)), "k": floats((2, 5, 16), 1), "v": floats((2, 5, 12), 2)}
    types = {k: f"f32[b, s, {x.shape[2]}]" for k, x in feeds.items()}
    agrees("y = Attention(q, k, v, q_num_heads=4, kv_num_heads=2)", feeds, **types)


def test_heads_are_views() -> None:
    types = {"q": "f32[2, 5, 32]", "k": "f32[2, 5, 16]", "v": "f32[2, 5, 16]"}
    text = "y = Attention(q, k, v, q_num_heads=4, kv_num_heads=2)"
    lines = listing(text, fused=True, **types)
    assert [line.split(" = ")[1].split("(")[0] for line in lines] == ["attention"]


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("turned", [0, 4])
@pytest.mark.parametrize("shape", [(2, 3, 5, 8), (2, 5, 24)])
def test_rotary_embedding(shape: tuple[int, ...], turned: int, interleaved: int) -> None:
    half = (turned or 8) // 2
    feeds = {"x": floats(shape), "p": np.arange(10).reshape(2, 5)}
    tables = {"c": floats((12, half), 1), "s": floats((12, half), 2)}
    attrs = f"num_heads=3, interleaved={interleaved}, rotary_embedding_dim={turned}"
    kind = "f32[b, 3, t, 8]" if len(shape) == 4 else "f32[b, t, 24]"
    agrees(f"y = RotaryEmbedding(x, c, s, p, {attrs})", feeds, x=kind, p="i64[b, t]", **tables)


def test_a_batch_of_one_beside_a_named_one() -> None:
    """A pass may have joined them where shapes were unknown: MatMul broadcasts."""
    types = {"q": "f32[1, 4, 5, 8]", "k": "f32[b, 2, 5, 8]", "v": "f32[b, 2, 5, 6]"}
    agrees("y = Attention(q, k, v)", {"q": Q[:1], "k": K, "v": V}, **types)
    one = {k: t.replace("b,", "1,") for k, t in types.items()}
    feeds = {"q": Q[:1], "k": K[:1], "v": V[:1], "m": floats((2, 1, 5, 5), 5)}
    agrees("y = Attention(q, k, v, m)", feeds, **one, m="f32[b, 1, 5, 5]")


def test_after_a_cache_queries_stand_at_its_end_whatever_the_width() -> None:
    """In three axes the last is the width: as many queries as that, more than keys."""
    feeds = {"q": floats((1, 4, 4)), "k": floats((1, 3, 4), 1), "v": floats((1, 3, 4), 2)}
    feeds |= {"gk": floats((1, 1, 2, 4), 3), "gv": floats((1, 1, 2, 4), 4)}
    attrs = "is_causal=1, q_num_heads=1, kv_num_heads=1"
    types = {k: f"f32{list(v.shape)}" for k, v in feeds.items()}
    agrees(f"y, pk, pv = Attention(q, k, v, None, gk, gv, {attrs})", feeds, **types)


def test_a_head_of_any_size_has_an_angle_for_each_pair() -> None:
    """Beside a node that ties the other sizes: the check is not left to where memory happens to end."""
    text = "y = RotaryEmbedding(x, c, c, p); z = Expand(i, [2, 1])"
    c = np.zeros((5, 4), np.float32)
    program = lower(onnx_text(text, x="f32[2, s, m, h]", c=c, p="i64[2, 3]", i="f32[s, 1]"))
    assert any("an angle for each pair" in check.text for check in program.checks)
