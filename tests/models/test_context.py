"""Decoders whose caches grow, or that have none, run with caches in place: `max_context`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from models.decoder import VOCABULARY, decoder, logits
from onnx import helper, numpy_helper
from ops.harness import variants

import pteron

pytestmark = pytest.mark.slow

CAPACITY = 48
TOKENS = np.random.default_rng(7).integers(0, VOCABULARY, (1, 40))
PIECES = ((0, 1), (1, 2), (2, 9), (9, 10), (10, 37), (37, 40))


def exported(model: onnx.ModelProto, folder: Path, **options: Any) -> pteron.Model:
    options = {"max_context": CAPACITY, "logits": "all"} | options
    pteron.export_model(model, folder / "m.pte", **options)
    return pteron.load(folder / "m.pte", threads=1)


def run(session: Any, tokens: Any) -> Any:
    return session.run({"input_ids": tokens})["logits"]


def pieces(session: Any, tokens: Any, cuts: Any = PIECES) -> Any:
    return np.concatenate([run(session, tokens[:, a:b]) for a, b in cuts], 1)


@pytest.mark.parametrize(
    "form, padded",
    [
        ("concat", False),
        ("concat", True),
        ("attention", False),
        ("attention", True),
        ("whole", False),
    ],
)
@pytest.mark.parametrize("window", [0, 5])
def test_pieces_give_the_bits_of_one_run(
    form: str, window: int, padded: bool, tmp_path: Path
) -> None:
    source = decoder(form, window, padded)
    model = exported(source, tmp_path)
    assert [p.name for p in model.inputs] == ["input_ids"], "the session has all else"
    whole = run(model, TOKENS)
    np.testing.assert_allclose(whole, logits(source, TOKENS), rtol=2e-5, atol=2e-5)
    assert pieces(model.session(), TOKENS).tobytes() == whole.tobytes()
    one_by_one = [(i, i + 1) for i in range(TOKENS.shape[1])]
    assert pieces(model.session(), TOKENS, one_by_one).tobytes() == whole.tobytes()


def test_caches_are_written_in_place(tmp_path: Path) -> None:
    report = pteron.export_model(decoder(window=5), tmp_path / "m.pte", max_context=CAPACITY)
    operators = report.methods[0].instructions
    assert operators["tensor_scatter"] == 2 and operators["attention"] == 2
    assert operators["panel_scatter"] == 2, "keys lie 16 side by side"
    assert report.methods[0].copied_bytes < 1024, "no cache"
    assert any(
        "1 see 5, 1 see all" in note or "1 see all, 1 see 5" in note for note in report.notes
    )


@pytest.mark.parametrize("cache", ["f32", "f16", "f8", "int8"])
def test_keys_in_panels_give_the_bits_of_keys_in_rows(cache: str, tmp_path: Path) -> None:
    """A room that is no whole number of panels has rows."""
    source, made = decoder(window=5), []
    for room in (CAPACITY, CAPACITY - 1):
        report = pteron.export_model(
            source, tmp_path / "m.pte", max_context=room, cache=cache, logits="all"
        )
        rows = report.methods[0].instructions["tensor_scatter"]
        scales = 4 if cache == "int8" else 0
        assert rows - scales == (2 if room == CAPACITY else 4)
        session = pteron.load(tmp_path / "m.pte", threads=1)
        made.append(run(session, TOKENS).tobytes() + pieces(session.session(), TOKENS).tobytes())
    assert made[0] == made[1]


FULL = r"(key count out of range|no room in the cache).*; .* all 512 tokens .* larger max_context"


@pytest.mark.parametrize("form", ["concat", "attention", "whole"])
@pytest.mark.parametrize("cache", ["f32", "f16", "int8"])
def test_a_window_is_kept_as_a_ring(
    cache: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """320 tokens of 512 for a window of 5: bytes of a cache with room for all, that take less."""
    source, room = decoder(form, 5), 512
    tokens = np.random.default_rng(7).integers(0, VOCABULARY, (1, room))
    model = exported(source, tmp_path, max_context=room, cache=cache)
    report = pteron.export_model(source, tmp_path / "m.pte", max_context=room, cache=cache)
    assert any("1 see all, 1 see 5 (kept: 320)" in note for note in report.notes)
    sizes = {name: size for name, size in report.states.items() if name.endswith((".key", "value"))}
    assert sorted(s / max(sizes.values()) for s in sizes.values()) == [320 / 512] * 2 + [1] * 2
    assert model.room == room and model.inputs[0].bounds[1] == (1, 316)
    cuts = [(0, 310), (310, 311), *((i, i + 1) for i in range(311, 330)), (330, 500), (500, room)]
    ring = pieces(model.session(), tokens, cuts)
    with pytest.raises(pteron.DataError, match=FULL):
        for _ in range(room + 1):
            run(model, tokens[:, :1])
    monkeypatch.setattr("pteron.export.passes.context.keep.RUN", room)
    whole = run(exported(source, tmp_path, max_context=room, cache=cache), tokens)
    assert ring.tobytes() == whole.tobytes()
    if cache == "f32":
        np.testing.assert_allclose(ring, logits(source, tokens), rtol=2e-5, atol=2e-5)


def test_rings_have_the_same_bits_for_every_processor(tmp_path: Path) -> None:
    exported(decoder(window=70), tmp_path, max_context=512)
    program = pteron.Program(tmp_path / "m.pte")
    tokens = np.random.default_rng(7).integers(0, VOCABULARY, (1, 500))
    cuts, made = [(0, 250), (250, 490), *((i, i + 1) for i in range(490, 500))], set()
    for cpu in variants():
        for threads in (1, 2, 3):
            session = pteron.Session(program, cpu=cpu, threads=threads)
            made.add(pieces(session, tokens, cuts).tobytes())
    assert len(made) == 1


def test_logits_of_the_last_token(tmp_path: Path) -> None:
    every = run(exported(decoder(), tmp_path), TOKENS)
    last = run(exported(decoder(), tmp_path, logits="last"), TOKENS)
    assert last.shape == (1, 1, VOCABULARY) and last.tobytes() == every[:, -1:].tobytes()


@pytest.mark.parametrize("form", ["concat", "attention", "whole"])
@pytest.mark.parametrize("cache, size, error", [("f16", 2, 0.02), ("f8", 1, 0.5), ("int8", 1, 0.1)])
def test_a_cache_of_few_bytes(
    cache: str, size: int, error: float, form: str, tmp_path: Path
) -> None:
    source, options = decoder(form, 5), {"max_context": CAPACITY, "logits": "all", "cache": cache}
    report = pteron.export_model(source, tmp_path / "m.pte", **options)
    scales = 4 if cache == "int8" else 0
    assert sum(report.states.values()) == 8 + 4 * CAPACITY * 2 * (8 * size + scales)
    assert report.methods[0].copied_bytes < 1024, "keys are read as they are kept"
    model = pteron.load(tmp_path / "m.pte", threads=1)
    whole, exact = run(model, TOKENS), logits(source, TOKENS)
    np.testing.assert_allclose(whole, exact, rtol=0, atol=error)
    assert np.abs(whole - exact).max() > error / 100, "it rounds"
    assert pieces(model.session(), TOKENS).tobytes() == whole.tobytes()
    pteron.export_model(source, tmp_path / "plain.pte", fuse=False, **options)
    plain = pteron.load(tmp_path / "plain.pte", threads=1)
    assert run(plain, TOKENS).tobytes() == whole.tobytes(), "without fusing too"


def test_keys_in_codes_are_turned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large channel of all keys would take the steps of the others: E4M3 rounds each number by itself, and rounds more."""
    monkeypatch.setattr("models.decoder.SIZE", 64)
    monkeypatch.setattr("models.decoder.WIDTH", 256)
    source = decoder(window=5)
    exact = logits(source, TOKENS)
    errors = {}
    for cache in ("f8", "int8"):
        model = exported(source, tmp_path, cache=cache)
        whole = run(model, TOKENS)
        assert pieces(model.session(), TOKENS).tobytes() == whole.tobytes()
        errors[cache] = np.abs(whole - exact).max()

    assert 0 < errors["int8"] < errors["f8"] / 3


@pytest.mark.parametrize("quantize", ["nf4", "int8", "int4", "fp8-e4m3"])
def test_weights_in_fewer_bits(quantize: str, tmp_path: Path) -> None:
    model = exported(decoder(window=5), tmp_path, quantize=quantize)
    whole = run(model, TOKENS)
    assert pieces(model.session(), TOKENS).tobytes() == whole.tobytes()


@pytest.mark.parametrize("cache", ["f32", "f16", "f8", "int8"])
def test_same_bits_for_every_processor_and_number_of_threads(cache: str, tmp_path: Path) -> None:
    exported(decoder(window=5), tmp_path, cache=cache)
    program = pteron.Program(tmp_path / "m.pte")
    made = set()
    for cpu in variants():
        for threads in (1, 2, 3):
            session = pteron.Session(program, cpu=cpu, threads=threads)
            made.add(pieces(session, TOKENS).tobytes())
    assert len(made) == 1


def test_threads_share_the_keys_of_a_long_context(tmp_path: Path) -> None:
    """Two waves of tiles for two key heads: bits of one thread, of one run and of pieces."""
    exported(decoder(), tmp_path, max_context=2304)
    program = pteron.Program(tmp_path / "m.pte")
    tokens = np.random.default_rng(8).integers(0, VOCABULARY, (1, 2200))
    made = {run(pteron.Session(program, threads=2), tokens).tobytes()}
    cuts = ((0, 2040), (2040, 2046), (2046, 2053), (2053, 2190))
    cuts += tuple((i, i + 1) for i in range(2190, 2200))
    for cpu, threads in (*((cpu, 3) for cpu in variants()), (0, 1), (0, 2), (0, 4)):
        session = pteron.Session(program, cpu=cpu, threads=threads)
        made.add(pieces(session, tokens, cuts).tobytes())
    assert len(made) == 1


def test_more_tokens_than_there_is_room_for(tmp_path: Path) -> None:
    model = exported(decoder(), tmp_path)
    run(model, TOKENS)
    with pytest.raises(pteron.DataError, match="no room in the cache at this position"):
        run(model, TOKENS[:, :9])


@pytest.mark.parametrize("form", ["concat", "attention", "whole"])
def test_a_run_has_no_more_tokens_than_there_is_room_for(form: str, tmp_path: Path) -> None:
    model = exported(decoder(form), tmp_path)
    assert model.inputs[0].bounds[1] == (1, model.room)
    with pytest.raises(pteron.ArgumentError, match=rf"expected 1 to {model.room}, got"):
        run(model, np.zeros((1, model.room + 1), np.int64))
    with pytest.raises(pteron.ArgumentError, match=rf"hint .*1 to {model.room}"):
        exported(decoder(form), tmp_path, hints={model.inputs[0].shape[1]: 4096})


def test_reset_before_the_first_run(tmp_path: Path) -> None:
    model = exported(decoder(), tmp_path)
    model.states.reset()
    first = run(model, TOKENS)
    model.states.reset()
    assert run(model, TOKENS).tobytes() == first.tobytes()


# --- what is refused -------------------------------------------------------------------------------------------------


def changed(kind: str, index: int, **attributes: Any) -> onnx.ModelProto:
    model = decoder()
    node = [n for n in model.graph.node if n.op_type == kind][index]
    del node.attribute[:]
    node.attribute.extend(helper.make_attribute(k, v) for k, v in attributes.items())
    return model


def spliced(kind: str, to: str, form: str = "concat") -> onnx.ModelProto:
    """The first node of a kind is of another."""
    model = decoder(form)
    next(n for n in model.graph.node if n.op_type == kind).op_type = to
    return model


def mixed(form: str, *nodes: onnx.NodeProto, **constants: Any) -> onnx.ModelProto:
    """`nodes` make "mixed" of "logits" and constants."""
    model = decoder(form)
    for name, array in constants.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
    model.graph.node.extend(nodes)
    model.graph.output[0].name = "mixed"
    return model


REFUSED = {
    "sees what comes": (lambda: spliced("LessOrEqual", "GreaterOrEqual"), "neither causal nor a window: query"),
    "sees not itself": (lambda: spliced("LessOrEqual", "Less"), "neither causal nor a window: "),
    "sums over tokens": (
        lambda: mixed("whole", helper.make_node("CumSum", ["logits", "c0"], ["mixed"])),
        r"\(CumSum\) may mix tokens",
    ),
    "shuffles tokens": (
        lambda: mixed("whole", helper.make_node("Transpose", ["logits"], ["turned"], perm=[0, 2, 1]),
                      helper.make_node("Shape", ["logits"], ["extents"]),
                      helper.make_node("Reshape", ["turned", "extents"], ["mixed"])),
        r"\(Reshape\) may mix tokens",
    ),
    "repeats tokens": (
        lambda: mixed("whole", helper.make_node("Tile", ["logits", "twice"], ["mixed"]), twice=[1, 2, 1]),
        r"\(Tile\) may mix tokens",
    ),
    "puts tokens side by side": (
        lambda: mixed("whole", helper.make_node("Tile", ["logits", "twice"], ["texts"]),
                      helper.make_node("Reshape", ["texts", "pairs"], ["mixed"]), twice=[1, 2, 1], pairs=[1, -1, 2 * VOCABULARY]),
        r"\(Reshape\) may mix tokens",
    ),
    "writes over a token": (
        lambda: mixed("whole", helper.make_node("ScatterND", ["logits", "at", "row"], ["mixed"]), at=[[0, 0]],
                      row=np.zeros((1, VOCABULARY), np.float32)),
        r"\(ScatterND\) may mix tokens",
    ),
    "normalizes over tokens": (
        lambda: mixed("whole", helper.make_node("Softmax", ["logits"], ["mixed"], axis=1)),
        r"\(Softmax\) may mix tokens",
    ),
    "is no decoder": (lambda: helper.make_model(helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])], "g",
        [helper.make_tensor_value_info("x", 1, [1, "n", 3])], [helper.make_tensor_value_info("y", 1, [1, "n", 3])])), "expected Attention"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_decoder_is_refused_by_name(case: str, tmp_path: Path) -> None:
    make, text = REFUSED[case]
    with pytest.raises(pteron.ModelError, match=text):
        exported(make(), tmp_path)


@pytest.mark.parametrize("tokens", [0, 1, -3, 2**40, "many", True])
def test_contexts_that_are_none(tokens: Any, tmp_path: Path) -> None:
    with pytest.raises(
        pteron.ArgumentError, match="max_context: expected a number of tokens from 2"
    ):
        exported(decoder(), tmp_path, max_context=tokens)
