"""A context's position, what is saved of it, and tokens drawn from logits."""

from __future__ import annotations

import functools
import json
import math
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from models.decoder import VOCABULARY, decoder

import pteron
from pteron.cli import main
from pteron.runtime.tokens import Sampler

pytestmark = pytest.mark.slow

TOKENS = np.random.default_rng(7).integers(0, VOCABULARY, (1, 30))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("decoder") / "m.pte"
    pteron.export_model(decoder(window=5), path, max_context=40, quantize="nf4")
    return path


@pytest.fixture
def model(path: Path) -> pteron.Model:
    return pteron.load(path, threads=1)


def run(session: Any, tokens: Any) -> bytes:
    return bytes(session.run({"input_ids": tokens})["logits"].tobytes())


def test_position_counts_tokens(model: pteron.Model) -> None:
    assert (model.position, model.room) == (0, 40)
    run(model, TOKENS[:, :7])
    run(model, TOKENS[:, 7:8])
    assert model.position == 8
    model.states.reset()
    assert model.position == 0


def test_back_and_on_again(model: pteron.Model) -> None:
    want = run(model, TOKENS)
    model.rewind(12)
    run(model, TOKENS[:, :9])  # what was there is written over
    model.rewind(12)
    assert run(model, TOKENS[:, 12:]) == want


@pytest.mark.parametrize("to", [-1, 9, 2**62])
def test_back_to_where_it_never_was(model: pteron.Model, to: int) -> None:
    run(model, TOKENS[:, :8])
    with pytest.raises(pteron.ArgumentError, match="position"):
        model.rewind(to)
    assert model.position == 8


def test_saved_and_restored_in_another_session(model: pteron.Model) -> None:
    want = run(model, TOKENS)
    model.rewind(11)
    saved = model.save()
    assert len(saved) == 104 + 8 + 4 * 11 * 2 * 8 * 4, (
        "rows in use alone: caches x tokens x heads x size x bytes"
    )
    other = model.session()
    other.restore(saved)
    assert other.position == 11 and run(other, TOKENS[:, 11:]) == want
    other.restore(saved)
    assert run(other, TOKENS[:, 11:]) == want
    assert run(model.fork(), TOKENS[:, 11:]) == run(model, TOKENS[:, 11:]) == want


@pytest.mark.parametrize("cache", ["f32", "f16", "f8", "int8"])
def test_keys_in_panels_are_saved_without_what_was_forgotten(cache: str, tmp_path: Path) -> None:
    pteron.export_model(decoder(window=5), tmp_path / "m.pte", max_context=48, cache=cache)
    model = pteron.load(tmp_path / "m.pte", threads=1)
    want, size = run(model, TOKENS), {"f32": 4, "f16": 2, "f8": 1, "int8": 1}[cache]
    scales = 4 * 2 * 4 if cache == "int8" else 0  # of a token: caches x heads x bytes
    for back in (0, 1, 15, 16, 17, 29):
        session, fresh = model.fork(), model.session()
        session.rewind(back)
        saved = session.save()
        if back:
            run(fresh, TOKENS[:, :back])
        assert fresh.save() == saved, "the 30 tokens that were there are not in it"
        rows = 2 * back + 2 * 16 * -(-back // 16)
        assert len(saved) == 104 + 8 + rows * 2 * 8 * size + back * scales
        assert run(session.fork(), TOKENS[:, back:]) == want
    bent = bytearray(saved)
    bent[48] = 49
    with pytest.raises(pteron.DataError, match="room for 48"):
        model.restore(bytes(bent))


def test_prompts_are_read_in_pieces(tmp_path: Path) -> None:
    """Memory is planned for a piece; the tokens are those of one run."""
    pteron.export_model(decoder(), tmp_path / "m.pte", max_context=700)
    prompt = np.random.default_rng(3).integers(0, VOCABULARY, 600)
    one, other = (pteron.load(tmp_path / "m.pte", threads=1) for _ in range(2))
    logits = one.run({"input_ids": prompt[None]})["logits"]
    text = list(pteron.generate(other, prompt.tolist(), max_new_tokens=5))
    assert text[0] == int(logits[0, -1].argmax()) and other.position == 604
    assert text[1:] == list(pteron.generate(one, text[:1], max_new_tokens=4))
    sizes = [m.session_of_calls._arena.size for m in (one, other)]
    assert sizes[1] < sizes[0] / 2


def test_saved_sessions_are_not_trusted(model: pteron.Model, tmp_path: Path) -> None:
    run(model, TOKENS[:, :3])
    saved = model.save()
    other = model.session()
    want = run(other, TOKENS[:, :5])
    for i in (0, 9, 41, 48, 55, 56, 63, 64, 71, 72, 103, 104, 112, len(saved) - 1):
        for bit in (1, 128):
            bent = bytearray(saved)
            bent[i] ^= bit
            with pytest.raises(pteron.DataError, match="saved session"):
                other.restore(bytes(bent))
    for n in (0, 1, 103, 104, len(saved) - 1):
        with pytest.raises(pteron.DataError, match="saved session"):
            other.restore(saved[:n])
    with pytest.raises(pteron.DataError, match="saved session"):
        other.restore(saved + b"x")
    with pytest.raises(pteron.ArgumentError, match="saved session: expected bytes"):
        other.restore("text")  # type: ignore[arg-type]
    other.rewind(0)
    assert run(other, TOKENS[:, :5]) == want, "the session is as it was"


def test_another_program_is_told_apart(model: pteron.Model, tmp_path: Path) -> None:
    pteron.export_model(decoder(window=5), tmp_path / "f32.pte", max_context=40)
    run(model, TOKENS[:, :3])
    with pytest.raises(pteron.DataError, match="of another program"):
        pteron.load(tmp_path / "f32.pte").restore(model.save())


def test_a_program_without_context(tmp_path: Path) -> None:
    pteron.export_model(decoder("whole"), tmp_path / "m.pte")
    model = pteron.load(tmp_path / "m.pte")
    with pytest.raises(pteron.ArgumentError, match="keeps no context"):
        model.position  # noqa: B018
    with pytest.raises(pteron.ArgumentError, match="--max-context"):
        pteron.generate(model, [1])


# --- tokens ----------------------------------------------------------------------------------------------------------


def greedy(model: pteron.Model, prompt: list[int], count: int) -> list[int]:
    """As anyone would write it."""
    session, made, feed = model.session(), list[int](), list(prompt)
    for _ in range(count):
        made.append(int(session.run({"input_ids": np.array([feed])})["logits"][0, -1].argmax()))
        feed = made[-1:]
    return made


def test_greedy(model: pteron.Model) -> None:
    want = greedy(model, [3, 1, 4], 20)
    assert list(pteron.generate(model, [3, 1, 4], max_new_tokens=20)) == want
    assert model.position == 3 + 19
    model.rewind(3)
    assert list(pteron.generate(model, want[:1], max_new_tokens=5)) == want[1:6]
    model.rewind(0)
    stop = [want[4]]
    assert list(pteron.generate(model, [3, 1, 4], stop=stop)) == want[: want.index(want[4]) + 1]


def test_the_end_has_a_reason(model: pteron.Model) -> None:
    want = greedy(model, [3, 1, 4], 38)
    for options, end in (
        ({}, "full"),
        ({"max_new_tokens": 38}, "length"),
        ({"max_new_tokens": 39}, "full"),
        ({"max_new_tokens": 5}, "length"),
        ({"max_new_tokens": 0}, "length"),
        ({"stop": want[-1:], "max_new_tokens": 38}, "stop"),
    ):
        model.rewind(0)
        made = pteron.generate(model, [3, 1, 4], **options)
        ends = [made.end for _ in made]
        assert made.end == end and ends[:-1] == [None] * len(ends[:-1]), options
        assert ends[-1:] in ([], [end])
    model.rewind(0)
    made = pteron.generate(model, [3, 1, 4], max_new_tokens=38)
    assert next(made) == want[0] and made.end is None


def test_until_the_context_is_full(model: pteron.Model) -> None:
    assert len(list(pteron.generate(model, [3, 1, 4]))) == 40 - 3 + 1
    with pytest.raises(pteron.ArgumentError, match="at most the 0 that the context has room for"):
        pteron.generate(model, [1])


def test_draws_belong_to_positions(model: pteron.Model) -> None:
    drawn = pteron.Sampling(temperature=1.2, top_k=30, top_p=0.9, min_p=0.01, seed=5)
    whole = list(pteron.generate(model, [1, 2], max_new_tokens=16, sampling=drawn))
    model.rewind(2 + 6)
    again = list(pteron.generate(model.fork(), whole[6:7], max_new_tokens=9, sampling=drawn))
    assert again == whole[7:]
    model.rewind(0)
    other = pteron.Sampling(temperature=1.2, top_k=30, top_p=0.9, min_p=0.01, seed=6)
    assert list(pteron.generate(model, [1, 2], max_new_tokens=16, sampling=other)) != whole


@pytest.mark.parametrize(
    "options, words",
    [
        ({"sampling": None}, "sampling: expected a pteron.Sampling, got None"),
        ({"sampling": {"seed": 3}}, "sampling: expected a pteron.Sampling, got dict"),
        ({"max_new_tokens": 1.5}, "max_new_tokens: expected an integer .*, got 1.5"),
        ({"max_new_tokens": TOKENS}, "max_new_tokens: expected an integer .*, got ndarray"),
        ({"stop": 3}, "stop: expected a list of integers, got int"),
    ],
    ids=str,
)  # fmt: skip
def test_options_of_other_kinds(model: pteron.Model, options: dict[str, Any], words: str) -> None:
    with pytest.raises(pteron.ArgumentError, match=f"^{words}") as raised:
        pteron.generate(model, [1], **options)
    assert "\n" not in str(raised.value) and model.position == 0


WRONG_TOKENS: list[tuple[Any, type[Exception], str]] = [
    ([3, -1], pteron.DataError, "tokens: expected tokens of 0 to 60, which the model has, got -1 at position 1"),
    ([VOCABULARY], pteron.DataError, "got 61 at position 0"),
    ([1, 2, 2**31], pteron.DataError, "got 2147483648 at position 2"),
    ([2**32 + 1], pteron.DataError, "got 4294967297 at position 0"),
    ([2**63, -1], pteron.DataError, "got 9223372036854775808 at position 0"),
    ([2**70], pteron.DataError, "at position 0"),
    (np.array([0, 2**64 - 1], np.uint64), pteron.DataError, "at position 1"),
    ([], pteron.ArgumentError, "at least one"),
    ([[1, 2]], pteron.ArgumentError, "list of integers"),
    ([1.0], pteron.ArgumentError, "list of integers"),
    (5, pteron.ArgumentError, "list of integers, got int"),
    ("12", pteron.ArgumentError, "list of integers, got str"),
]  # fmt: skip


@pytest.fixture(scope="module", params=["int32", "int64"])
def narrow(request: Any, tmp_path_factory: pytest.TempPathFactory) -> pteron.Model:
    """A decoder whose tokens are of that type."""
    source = decoder()
    kind = {"int32": onnx.TensorProto.INT32, "int64": onnx.TensorProto.INT64}[request.param]
    source.graph.input[0].type.tensor_type.elem_type = kind
    path = tmp_path_factory.mktemp(request.param) / "m.pte"
    pteron.export_model(source, path, max_context=8)
    model = pteron.load(path, threads=1)
    assert model.inputs[0].numpy_dtype == request.param
    return model


@pytest.mark.parametrize("tokens, error, text", WRONG_TOKENS, ids=str)
def test_tokens_that_the_model_does_not_have(
    narrow: pteron.Model, tokens: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        pteron.generate(narrow, tokens)
    if len(np.shape(tokens)) == 1 and np.size(tokens):
        with pytest.raises(error, match=text.replace("tokens: ", "stop: ")):
            pteron.generate(narrow, [1], stop=tokens)
    assert narrow.position == 0


def test_the_last_token_of_the_vocabulary_is_one(narrow: pteron.Model) -> None:
    assert len(list(pteron.generate(narrow.session(), [VOCABULARY - 1, 0], max_new_tokens=2))) == 2


# --- the interrupt key ------------------------------------------------------------------------------------------------

heeds = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # ignored behind `&`


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "m.pte"
    pteron.export_model(decoder(), path, max_context=1 << 15)
    return path


def test_the_interrupt_key_ends_generate(long: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "pteron", "generate", long, "--tokens", "1,2,3"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeds,
    )  # fmt: skip
    assert child.stdout is not None
    first = child.stdout.read(20)  # it is at it
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    want = greedy(pteron.load(long, threads=1), [1, 2, 3], 5)
    assert child.returncode == 130
    assert [int(x) for x in (first + out).split()][:5] == want and (first + out).endswith("\n")
    assert re.fullmatch(
        r"3 tokens read in .* ms(; .* tokens/s)?\npteron generate: interrupted\n", err
    )


INTERRUPTED = """
import os, signal, sys, threading
import pteron
model = pteron.load(sys.argv[1], threads=1)
text = list(pteron.generate(model, [1, 2, 3], max_new_tokens=4))
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    list(pteron.generate(model, [0] * 32_000))  # many seconds
except KeyboardInterrupt:
    print("interrupted", model.position)
model.rewind(3)
print(list(pteron.generate(model, text[:1], max_new_tokens=3)) == text[1:])
"""


def test_a_session_goes_on_after_the_interrupt_key(long: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, long], capture_output=True, text=True, timeout=60,
        preexec_fn=heeds, check=True,
    )  # fmt: skip
    told = re.fullmatch(r"interrupted (\d+)\nTrue\n", done.stdout)
    assert told and (int(told[1]) - 6) % 256 == 0, "what a run did not finish is not counted"


# --- sampling against NumPy -------------------------------------------------------------------------------------------


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Salmon et al. 2011, ten rounds."""
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            (b >> 32) ^ counter[1] ^ key[0],
            b & 0xFFFFFFFF,
            (a >> 32) ^ counter[3] ^ key[1],
            a & 0xFFFFFFFF,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


VECTORS = [
    ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ([0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0], "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


@pytest.mark.parametrize("counter, key, want", VECTORS)
def test_the_reference_is_random123s(counter: list[int], key: list[int], want: str) -> None:
    assert " ".join(f"{x:08x}" for x in philox(counter, key)) == want


def drawn(options: pteron.Sampling, logits: Any, position: int, exp: Any) -> int:
    """`exp`: e^x in f32 with the runtime's bits."""
    ids = np.flatnonzero(~np.isnan(logits))
    order = ids[np.lexsort((ids, -logits[ids]))]
    top = logits[order[0]]
    if options.temperature == 0:
        return int(order[0])
    kept = order[: options.top_k or None]
    with np.errstate(all="ignore"):
        away = np.where(
            logits[kept] == top,
            np.float32(0),
            (logits[kept] - top) / np.float32(options.temperature),
        )
    p = exp(away.astype(np.float32))
    weight = (p * np.float32(2**30)).astype(np.uint64)
    good = (weight > 0) & (p >= np.float32(options.min_p))
    kept, weight = kept[good], weight[good]
    if options.top_p < 1:
        limit = int(float(int(weight.sum())) * float(np.float32(options.top_p)))
        count = int(np.argmax(np.cumsum(weight) >= limit)) + 1
        kept, weight = kept[:count], weight[:count]
    by_id = np.argsort(kept)
    kept, weight = kept[by_id], weight[by_id]
    low = lambda x: x & 0xFFFFFFFF  # noqa: E731
    c = philox(
        [low(position), position >> 32, low(options.stream), options.stream >> 32],
        [low(options.seed), options.seed >> 32],
    )
    at = ((c[1] << 32 | c[0]) * int(weight.sum())) >> 64
    return int(kept[np.searchsorted(np.cumsum(weight), at, side="right")])


@pytest.fixture(scope="module")
def exp(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The runtime's own, by a program of one instruction."""
    from pteron.export.graph.text import onnx_text

    path = tmp_path_factory.mktemp("exp") / "exp.pte"
    pteron.export_model(onnx_text("y = Exp(x)", x="f32[n]"), path)
    return pteron.load(path, cpu=0)


def test_draws_are_those_of_numpy(exp: Any) -> None:
    rng = np.random.default_rng(11)
    for position in range(400):
        logits = (rng.standard_normal(rng.integers(1, 300)) * rng.uniform(0.1, 9)).astype(
            np.float32
        )
        logits[rng.integers(0, len(logits), 9)] = logits[0]  # equal ones
        if position % 5 == 0:
            logits[rng.integers(0, len(logits))] = rng.choice([np.nan, -np.inf, np.inf])
        if np.isnan(logits).all():
            continue
        options = pteron.Sampling(
            temperature=float(rng.choice([0.0, 0.3, 1.0, 2.0])), top_k=int(rng.choice([0, 1, 5, 40])),
            top_p=float(rng.choice([1.0, 0.9, 0.5, 1e-6])), min_p=float(rng.choice([0.0, 0.05, 0.5])),
            seed=int(rng.integers(0, 2**63)), stream=int(rng.integers(0, 2**63)),
        )  # fmt: skip
        at = position + (2**40 if position % 3 == 0 else 0)
        assert Sampler(options)(logits, at) == drawn(options, logits, at, exp), (position, options)


def test_draws_have_the_right_frequencies() -> None:
    logits = np.array([2.0, 1.0, 0.0, -1.0, 0.5], np.float32)
    sampler = Sampler(pteron.Sampling(temperature=0.7, seed=42))
    count = 20_000
    found = np.bincount([sampler(logits, i) for i in range(count)], minlength=5) / count
    want = np.exp(logits / 0.7) / np.exp(logits / 0.7).sum()
    assert np.abs(found - want).max() < 4 * math.sqrt(0.25 / count)


BAD: list[dict[str, Any]] = [
    {"temperature": -1.0}, {"temperature": math.inf}, {"temperature": math.nan}, {"top_p": 0.0}, {"top_p": 1.1}, {"top_p": -0.1},
    {"min_p": 1.5}, {"top_k": -1}, {"top_k": 2**32}, {"seed": -1}, {"seed": 2**64}, {"stream": 1.5}, {"temperature": "hot"},
    {"temperature": TOKENS}, {"top_k": TOKENS}, {"seed": "x"},
]  # fmt: skip


@pytest.mark.parametrize("options", BAD, ids=str)
def test_options_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(pteron.ArgumentError, match=next(iter(options))):
        pteron.Sampling(**({"temperature": 1.0} | options))


def test_numbers_of_numpy_are_numbers() -> None:
    made = pteron.Sampling(temperature=np.float32(0.5), top_k=np.int64(3), seed=np.uint64(2))
    assert Sampler(made)(np.array([1, 2, 3], np.float32), 0) in (0, 1, 2)


@pytest.mark.parametrize("logits", [[], [np.nan], [np.nan, np.nan]])
def test_no_logit_is_a_number(logits: list[float]) -> None:
    with pytest.raises(pteron.DataError, match="no logit is a number"):
        Sampler(pteron.Sampling(temperature=1.0))(np.array(logits, np.float32), 0)


# --- command ---------------------------------------------------------------------------------------------------------


def test_generate_on_the_command_line(
    path: Path, model: pteron.Model, capfd: pytest.CaptureFixture[str]
) -> None:
    want = greedy(model, [3, 1, 4], 6)
    command = [
        "generate",
        str(path),
        "--tokens",
        "3,1,4",
        "--max-new-tokens",
        "6",
        "--threads",
        "1",
    ]
    assert main(command) == 0
    out, err = capfd.readouterr()
    assert [int(x) for x in out.split()] == want
    assert "3 tokens read in" in err and "tokens/s" in err
    assert main([*command, "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["tokens"] == want and told["tokens_per_s"] > 0
    sampled = [
        *command,
        "--temperature",
        "0.9",
        "--top-k",
        "20",
        "--top-p",
        "0.9",
        "--min-p",
        "0.02",
        "--seed",
        "3",
    ]
    texts = set()
    for _ in range(2):
        assert main(sampled) == 0
        texts.add(capfd.readouterr().out)
    assert len(texts) == 1


def test_a_full_context_is_told(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for count, end in (("37", "length"), ("99", "full")):
        command = ["generate", str(path), "--tokens", "3,1,4", "--max-new-tokens", count]
        assert main(command) == 0
        told = "the context of 40 tokens is full; " in capfd.readouterr().err
        assert told == (end == "full")
        assert main([*command, "--json"]) == 0
        assert json.loads(capfd.readouterr().out)["end"] == end


@pytest.mark.parametrize(
    "wrong, code",
    [
        (["--tokens", "1,x"], 2),
        (["--tokens", ""], 2),
        (["--tokens", "1", "--seed", "3"], 2),
        (["--tokens", "1", "--temperature", "-1"], 2),
        (["--tokens", "99999"], 5),
        (["--tokens", "1,4294967297"], 5),
        (["--tokens", f"{2**70}"], 5),
        (["--tokens", "1", "--stop", "99999"], 5),
    ],
    ids=str,
)
def test_wrong_use(path: Path, wrong: list[str], code: int) -> None:
    try:
        got = main(["generate", str(path), *wrong])
    except SystemExit as error:
        got = int(str(error.code))
    assert got == code


def test_the_example_runs(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    example = Path(__file__).resolve().parents[2] / "examples" / "generate.py"
    assert len(example.read_text().splitlines()) < 60
    done = subprocess.run(
        [sys.executable, example, "4", "5"], capture_output=True, text=True, check=True
    )
    lines = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert len(lines["greedy"]) == 12 and lines["drawn"] == lines["again"]
