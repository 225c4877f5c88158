"""`pteron bench --vs llama.cpp=FILE`: a decoder's prompt and its tokens. What stands in for the package reads by a program of ours."""

from __future__ import annotations

import ctypes
import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.decoder import VOCABULARY, decoder

import pteron
from pteron.cli import decoders, main

ROOM = 48
GGUF = b"GGUF"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("decoder") / "m.pte"
    pteron.export_model(decoder(window=5), path, max_context=ROOM)
    return path


class StandIn(types.ModuleType):
    """The functions of llama.cpp that are called; `runs` has the tokens of each llama_decode, `params` what a context was asked for."""

    LLAMA_FLASH_ATTN_TYPE_DISABLED = 0
    llama_token = ctypes.c_int32

    def __init__(self, program: Path, words: int = VOCABULARY) -> None:
        super().__init__("llama_cpp")
        self.session, self.words = pteron.load(program, threads=1), words
        self.runs: list[list[int]] = []
        self.params = types.SimpleNamespace()
        self.llama_log_callback = lambda call: call
        self.llama_log_set = lambda callback, data: None
        self.llama_backend_init = lambda: None
        self.llama_model_default_params = lambda: None
        self.llama_context_default_params = lambda: self.params
        self.llama_model_load_from_file = lambda path, _: Path(path.decode()).read_bytes() == GGUF
        self.llama_init_from_model = lambda model, params: params.n_ctx <= ROOM
        self.llama_model_get_vocab = lambda model: model
        self.llama_vocab_n_tokens = lambda vocab: self.words
        self.llama_get_memory = lambda context: context
        self.llama_memory_clear = lambda memory, data: self.session.rewind(0)
        self.llama_batch_get_one = lambda held, count: list(held)[:count]

    def llama_decode(self, context: Any, tokens: list[int]) -> int:
        self.runs.append(tokens)
        logits = self.session.run({"input_ids": np.array([tokens])})["logits"][0, -1]
        self.logits = (ctypes.c_float * self.words)(*logits[: self.words].tolist())
        return 0

    def llama_get_logits_ith(self, context: Any, i: int) -> Any:
        return ctypes.cast(self.logits, ctypes.POINTER(ctypes.c_float))


@pytest.fixture
def api(program: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn(program)
    monkeypatch.setitem(sys.modules, "llama_cpp", stand_in)
    monkeypatch.setattr("pteron.cli.peers.metadata.version", lambda package: f"{package} 1")
    return stand_in


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "m.gguf"
    path.write_bytes(GGUF)
    return path


def bench(program: Path, rival: Path, *more: str) -> int:
    words = ["bench", str(program), "--vs", f"llama.cpp={rival}", "--runs", "2", "--warmup", "1"]
    return main([*words, *more])


def test_turns_read_a_prompt_and_make_tokens(
    api: StandIn, program: Path, gguf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(program, gguf, "--threads", "1", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["tokens"] == {"read": ROOM - decoders.NEW, "made": decoders.NEW}
    assert set(report["tokens_per_s"]) == {"pteron", "llama.cpp"}
    for told in report["tokens_per_s"].values():
        assert all(told[part]["max"] >= told[part]["p50"] > 0 for part in ("prompt", "decode"))
    (peer,) = report["peers"].values()
    assert peer["version"] == "llama-cpp-python 1" and peer["difference"] == 0
    assert peer["ratio"]["prompt"] > 0 and peer["ratio"]["decode"] > 0
    assert (api.params.n_ctx, api.params.n_threads, api.params.n_threads_batch) == (ROOM, 1, 1)
    first, *turns = api.runs
    assert len(first) == ROOM - decoders.NEW
    assert turns == 3 * turns[: 1 + decoders.NEW] and turns[0] == first
    with pteron.load(program) as model:  # what it goes on with is what follows
        want = list(pteron.generate(model, first, max_new_tokens=decoders.NEW))
    assert [token for (token,) in turns[1 : 1 + decoders.NEW]] == want


def test_as_text(
    api: StandIn, program: Path, gguf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(program, gguf, "--dim", "tokens=3") == 0
    text = capsys.readouterr().out
    assert "3 tokens are read, 32 made behind them" in text
    assert "pteron / llama.cpp llama-cpp-python 1, time: prompt" in text


def test_a_prompt_of_ones_own(
    api: StandIn, program: Path, gguf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "ids.npy", np.array([[4, 2, 9]]))
    assert bench(program, gguf, "-i", str(tmp_path / "ids.npy")) == 0
    assert api.runs[0] == [4, 2, 9]


@pytest.mark.parametrize(
    "shape, why", [((1, 17), r"got \[1, 17\]"), ((2, 3), r"\[1, 1 to 16\], 32 less"), ((1, 0), r"\[1, 0\]")]
)  # fmt: skip
def test_prompts_without_room(
    shape: tuple[int, int], why: str, api: StandIn, program: Path, tmp_path: Path
) -> None:
    np.save(tmp_path / "ids.npy", np.zeros(shape, np.int64))
    args = types.SimpleNamespace(input=[str(tmp_path / "ids.npy")], dim=[], seed=None)
    with pteron.load(program) as model, pytest.raises(pteron.ArgumentError, match=why):
        decoders.prompt(args, model)  # type: ignore[arg-type]


def test_other_words_are_another_model(
    api: StandIn, program: Path, gguf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api.words = VOCABULARY - 1
    assert bench(program, gguf) == 2
    why = f"expected the program's model, with {VOCABULARY} words, got {VOCABULARY - 1}"
    assert why in capsys.readouterr().err


def test_no_gguf(
    api: StandIn, program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.gguf").write_bytes(b"?")
    assert bench(program, tmp_path / "m.gguf") == 2
    assert "m.gguf: llama.cpp refuses: expected a GGUF model" in capsys.readouterr().err


def test_not_installed(
    program: Path, gguf: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    assert bench(program, gguf) == 2
    assert "pip install llama-cpp-python, or leave it out" in capsys.readouterr().err


def test_no_decoder(
    api: StandIn, digits: Path, gguf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(digits, gguf) == 2
    assert "export the decoder with --max-context" in capsys.readouterr().err
    assert not api.runs


@pytest.mark.parametrize("rivals", ["{gguf},onnxruntime={gguf}", "onnxruntime={gguf},{gguf}"])
def test_not_beside_what_makes_no_text(
    rivals: str, program: Path, gguf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = rivals.replace("{gguf}", f"llama.cpp={gguf}", 1) if rivals[0] == "{" else rivals
    named = named.replace(",{gguf}", f",llama.cpp={gguf}").replace("{gguf}", str(gguf))
    assert main(["bench", str(program), "--vs", named]) == 2
    assert (
        "--vs llama.cpp: it makes text, expected it without onnxruntime" in capsys.readouterr().err
    )
