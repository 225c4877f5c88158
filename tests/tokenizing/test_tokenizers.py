"""Tokenizers trained by `tokenizers`, carried in a program: no id and no text differs. `make tokenizers` tries the long part."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import pteron
from pteron.cli import main
from pteron.export.text import from_file, from_folder, from_gguf

tokenizers = pytest.importorskip("tokenizers")

from tokenizing.compare import compare, opened, program_with, save  # noqa: E402
from tokenizing.kinds import KINDS, broken, noise, pieces  # noqa: E402

Reference = tokenizers.Tokenizer


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of tokenizers, by kind, as they are asked for."""
    return {"": tmp_path_factory.mktemp("tokenizers")}


def file_of(made: dict[str, Path], kind: str) -> Path:
    if kind not in made:
        made[kind] = save(KINDS[kind](), made[""] / f"{kind}.json")
    return made[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_and_text_are_those_of_tokenizers(made: dict[str, Path], kind: str) -> None:
    path = file_of(made, kind)
    ours, theirs = opened(path, made[""]), Reference.from_file(str(path))
    texts = [*noise(1, 250), *broken(2, 50), *pieces()[::12], "", " ", "a"]
    score = compare(ours, theirs, texts)
    assert (score.ids, score.decoded) == (0, 0), score.first


def test_text_comes_back(made: dict[str, Path]) -> None:
    """From bytes, whatever they are; a model that adds a space before the text takes it away again."""
    texts = [*noise(3, 100), *pieces()[::40]]
    for kind in ("gpt-2", "llama-2", "gemma"):
        ours = opened(file_of(made, kind), made[""])
        assert [ours.decode(ours.encode(text, plain=True, ends=False)) for text in texts] == [
            text.replace("▁", " ") if kind != "gpt-2" else text for text in texts
        ]


def test_a_stream_gives_whole_characters(made: dict[str, Path]) -> None:
    ours = opened(file_of(made, "gpt-2"), made[""])
    text = "naïve 🙂👍🏽 각 e\u0301"
    stream = ours.stream()
    parts = [stream.add(token) for token in ours.encode(text)]
    assert "".join(parts) + stream.end() == text and "" in parts
    stream = ours.stream()
    first = ours.encode("🙂")[0]
    assert stream.add(first) == "" and stream.end() == "\ufffd"
    assert stream.add(ours.size) == ""
    with pytest.raises(pteron.ArgumentError, match="token"):
        stream.add(-1)


def test_special_tokens_in_a_text_are_found_unless_it_is_plain(made: dict[str, Path]) -> None:
    ours = opened(file_of(made, "gpt-2"), made[""])
    end = ours.id_of("<|im_end|>")
    assert end is not None and ours.encode("a<|im_end|>")[-1] == end
    assert end not in ours.encode("a<|im_end|>", plain=True)
    assert ours.decode([end]) == "<|im_end|>" and ours.decode([end], skip_special=True) == ""
    assert ours.id_of("<|nothing|>") is None


def test_a_folder_says_what_ends_a_text(made: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(file_of(made, "gpt-2").read_bytes())
    config = {"eos_token": {"content": "<|im_end|>"}, "bos_token": "<|im_start|>"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [5, 7]}))
    out = tmp_path / "m.pte"
    pteron.export_model(digits(), out, tokenizer=tmp_path)
    with pteron.load(out, check=True) as model:
        t = model.tokenizer
        assert t.end == t.id_of("<|im_end|>") and t.begin == t.id_of("<|im_start|>")
        assert t.stops == (t.end, 5, 7) and t.pad is None


def digits() -> Path:
    return Path(__file__).resolve().parents[2] / "examples/digits/digits.onnx"


def test_a_program_without_a_tokenizer_says_how_to_get_one(tmp_path: Path) -> None:
    pteron.export_model(digits(), tmp_path / "m.pte")
    with pteron.load(tmp_path / "m.pte") as model:
        with pytest.raises(AttributeError, match="export it with --tokenizer"):
            _ = model.tokenizer
        assert not hasattr(model, "tokenizer")


def test_a_changed_segment_is_told_by_its_digest(made: dict[str, Path]) -> None:
    found = from_file(file_of(made, "gpt-2"))
    assert found.segment is not None
    data = bytearray(program_with(found.segment, made[""]).read_bytes())
    data[data.index(b"PTXT") + 5000] ^= 1
    model = pteron.load(bytes(data))
    with pytest.raises(pteron.ProgramError, match="the bytes of TEXT were changed"):
        _ = model.tokenizer


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pre_tokenizer": {"type": "UnicodeScripts"}}, "the pre-tokenizer UnicodeScripts"),
        ({"normalizer": {"type": "NFKC"}}, "the normalizer NFKC"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}}, "Precompiled"),
        ({"decoder": {"type": "CTC"}}, "the decoder CTC"),
        ({"model": {"type": "WordLevel", "vocab": {}}}, "the model WordLevel"),
        ({"post_processor": {"type": "Other"}}, "the post-processor Other"),
    ],
)
def test_what_is_not_covered_is_refused_by_name(
    made: dict[str, Path], tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    facts = json.loads(file_of(made, "gpt-2").read_text()) | change
    (tmp_path / "tokenizer.json").write_text(json.dumps(facts))
    found = from_folder(tmp_path)
    assert found.segment is None and reason in found.reason
    with pytest.raises(pteron.ModelError, match=r"not covered; without --tokenizer the program"):
        pteron.export_model(digits(), tmp_path / "m.pte", tokenizer=tmp_path)


@pytest.mark.parametrize(
    "pattern",
    [r"a(?=bc)", r"\bword", r"(?<=a)b", r"a++", r"(a)\1", r"^a", r"\p{Han}+", r"a*", r"(?i:ss)"],
)
def test_patterns_that_no_table_can_say_are_refused(
    made: dict[str, Path], tmp_path: Path, pattern: str
) -> None:
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    facts = json.loads(file_of(made, "gpt-2").read_text())
    facts["pre_tokenizer"] = split | {"invert": False}
    (tmp_path / "tokenizer.json").write_text(json.dumps(facts))
    found = from_folder(tmp_path)
    assert found.segment is None and "not covered" in found.reason


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"model": 3}', '{"model": {"type": "BPE"}}'])
def test_a_damaged_file_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokenizer.json").write_text(text)
    found = from_folder(tmp_path)
    assert found.segment is None and "tokenizer.json" in found.reason


def test_a_folder_without_a_tokenizer_is_told(tmp_path: Path) -> None:
    assert "expected a tokenizer.json in it" in from_folder(tmp_path).reason


# --- GGUF -----------------------------------------------------------------------------------------------------------------------


def keys_of(path: Path, pre: str) -> dict[str, Any]:
    """A GGUF file's keys of a tokenizer.json."""
    facts = json.loads(path.read_text())
    ids = facts["model"]["vocab"] | {a["content"]: a["id"] for a in facts["added_tokens"]}
    special = {a["content"]: a["special"] for a in facts["added_tokens"]}
    tokens = sorted(ids, key=ids.__getitem__)
    types = [{None: 1, True: 3, False: 4}[special.get(token)] for token in tokens]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.merges": [" ".join(pair) for pair in facts["model"]["merges"]],
        "tokenizer.ggml.eos_token_id": ids["<|im_end|>"],
        "tokenizer.ggml.add_bos_token": False,
    }


@pytest.mark.parametrize(
    ("kind", "pre"), [("gpt-2", "gpt-2"), ("smollm", "smollm"), ("llama-3", "llama-bpe"), ("qwen-2", "qwen2")]
)  # fmt: skip
def test_keys_of_gguf_give_the_tokenizer_that_they_were_made_from(
    made: dict[str, Path], kind: str, pre: str
) -> None:
    theirs = Reference.from_file(str(file_of(made, kind)))
    facts = json.loads(theirs.to_str())
    plain = ("<|im_start|>", "<|im_end|>")  # GGUF has no word for the sides of a token
    facts["added_tokens"] = [a for a in facts["added_tokens"] if a["content"] in plain]
    theirs = Reference.from_str(json.dumps(facts))
    found = from_gguf(keys_of(save(theirs, made[""] / "some.json"), pre))
    assert found.segment is not None, found.reason
    ours = pteron.load(program_with(found.segment, made[""])).tokenizer
    score = compare(ours, theirs, [*noise(4, 200), *pieces()[::40]])
    assert (score.ids, score.decoded) == (0, 0), score.first
    assert ours.stops == (ours.id_of("<|im_end|>"),)


def by_scores(text: str, scores: dict[str, float]) -> list[str]:
    """SentencePiece's BPE, as llama.cpp has it: of all neighbours that are a piece together those of the largest score are merged,
    the leftmost of equal ones; then what is no piece becomes its bytes."""
    parts = list("▁" + text.replace(" ", "▁")) if text else []
    while True:
        pairs = [scores.get(a + b, -1e9) for a, b in itertools.pairwise(parts)]
        if not pairs or max(pairs) == -1e9:
            break
        at = pairs.index(max(pairs))
        parts[at : at + 2] = ["".join(parts[at : at + 2])]
    as_bytes = ([p] if p in scores else [f"<0x{b:02X}>" for b in p.encode()] for p in parts)
    return [piece for pieces in as_bytes for piece in pieces]


def test_scores_of_gguf_merge_as_sentencepiece_does(made: dict[str, Path]) -> None:
    facts = json.loads(file_of(made, "llama-2").read_text())
    ids = facts["model"]["vocab"]
    tokens = sorted(ids, key=ids.__getitem__)
    keys = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [2, 3, 3, *[6] * 256, *[1] * (len(tokens) - 259)],
        "tokenizer.ggml.scores": [0.0 if i < 259 else -float(i) for i in range(len(tokens))],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
    }
    found = from_gguf(keys)
    assert found.segment is not None, found.reason
    ours = pteron.load(program_with(found.segment, made[""])).tokenizer
    scores = {t: s for t, s in zip(tokens, keys["tokenizer.ggml.scores"], strict=True) if s}
    scores = {t: s for t, s in scores.items() if not t.startswith("<0x")}
    texts = [t for t in [*noise(6, 150), *pieces(200)[::200]] if "<" not in t]
    for text in texts:
        assert [tokens[i] for i in ours.encode(text)] == ["<s>", *by_scores(text, scores)], text


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({}, "tokenizer.ggml.model: expected gpt2 or llama, got None"),
        ({"tokenizer.ggml.model": "t5"}, "got 't5'"),
        ({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": []}, "pre: default is not covered"),
        ({"tokenizer.ggml.model": "gpt2"}, "tokenizer.ggml: damaged tables"),
    ],
)  # fmt: skip
def test_keys_that_tell_no_tokenizer_are_refused(keys: dict[str, Any], reason: str) -> None:
    found = from_gguf(keys)
    assert found.segment is None and reason in found.reason


def test_text_of_a_program_without_a_tokenizer_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pteron.export_model(digits(), tmp_path / "m.pte")
    assert main(["generate", str(tmp_path / "m.pte"), "--text", "a"]) == 2
    assert "the program has no tokenizer: export it with --tokenizer" in capsys.readouterr().err
    assert main(["generate", str(tmp_path / "m.pte")]) == 2
    assert "expected either --tokens or --text" in capsys.readouterr().err
