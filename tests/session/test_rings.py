"""A context whose windows are kept as rings: going back, what is saved, prompts longer than a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.decoder import VOCABULARY, decoder

import pteron


def run(session: Any, tokens: Any) -> bytes:
    return bytes(session.run({"input_ids": tokens})["logits"].tobytes())


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One layer of two sees 5 tokens, and keeps 320 of them."""
    path = tmp_path_factory.mktemp("ring") / "m.pte"
    report = pteron.export_model(decoder(window=5), path, max_context=700)
    rows = [report.states[f"past_key_values.{i}.key"] // (2 * 8 * 4) for i in range(2)]
    assert rows in ([700, 320], [320, 700])
    return path


def test_a_ring_goes_back_as_far_as_it_holds_what_is_seen(ring: Path) -> None:
    model = pteron.load(ring, threads=1)
    tokens = np.random.default_rng(3).integers(0, VOCABULARY, (1, 600))
    for at in range(0, 600, 200):
        want = run(model, tokens[:, at : at + 200])
    with pytest.raises(
        pteron.ArgumentError, match="expected 0 or a position of 284 to 600, got 283"
    ):
        model.rewind(283)
    model.rewind(300)
    run(model, tokens[:, :50])
    with pytest.raises(pteron.ArgumentError, match="284 to 350"):
        model.rewind(283)
    model.rewind(284)
    with pytest.raises(pteron.ArgumentError, match="284 to 284"):
        model.fork().rewind(283)
    saved = model.save()
    other = model.session()
    other.restore(saved)
    assert other.save() == saved
    for session in (model, other):
        run(session, tokens[:, 284:500])
        assert run(session, tokens[:, 500:]) == run_from(ring, tokens, 500)
        session.rewind(0)
        run(session, tokens[:, :200]), run(session, tokens[:, 200:400])
        assert run(session, tokens[:, 400:]) == want


def run_from(path: Path, tokens: Any, at: int) -> bytes:
    """What a session of its own gives for the tokens from `at` on."""
    model = pteron.load(path, threads=1)
    for i in range(0, at, 50):
        run(model, tokens[:, i : i + 50])
    return run(model, tokens[:, at:])


def test_what_a_ring_forgot_is_not_saved(ring: Path) -> None:
    tokens = np.random.default_rng(3).integers(0, VOCABULARY, (1, 600))
    made = []
    for secret in (tokens, VOCABULARY - 1 - tokens):
        model = pteron.load(ring, threads=1)
        run(model, tokens[:, :300]), run(model, tokens[:, 300:430])
        run(model, secret[:, 430:450])
        model.rewind(430)
        made.append(model.save())
    assert made[0] == made[1]


def test_prompts_longer_than_a_run_of_a_ring(ring: Path) -> None:
    prompt = np.random.default_rng(3).integers(0, VOCABULARY, 650).tolist()
    model = pteron.load(ring, threads=1)
    with pytest.raises(pteron.ArgumentError, match="1 to 316"):
        run(model, np.zeros((1, 317), np.int64))
    text = list(pteron.generate(model, prompt, max_new_tokens=20))
    model.states.reset()
    made = list(pteron.generate(model, prompt[:640], max_new_tokens=0))
    run(model, np.array([prompt[:300]])), run(model, np.array([prompt[300:600]]))
    assert made + list(pteron.generate(model, prompt[600:], max_new_tokens=20)) == text
    model.states.reset()
    assert len(list(pteron.generate(model, prompt))) == 700 - 650 + 1
