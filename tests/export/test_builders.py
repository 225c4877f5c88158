"""Decoders from checkpoints: without PyTorch and transformers, and what is refused by name."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.decoders import CONFIG, GEMMA, KEYS, folder, gguf, gguf_of_text, safetensors, tensors
from shell import sh

import pteron
from pteron.export.builders import is_checkpoint
from pteron.export.builders.from_checkpoint import build

ALONE = """
import sys
for name in ("torch", "transformers", "tokenizers", "safetensors", "gguf", "sentencepiece"):
    sys.modules[name] = None
import pteron
for i, source in enumerate(sys.argv[1:3]):
    report = pteron.export_model(source, f"{sys.argv[3]}/m{i}.pte")
    assert "context of 32 tokens" in report.as_text(), report.as_text()
    with pteron.load(f"{sys.argv[3]}/m{i}.pte") as model:
        assert len(list(pteron.generate(model, [1, 2, 3], max_new_tokens=9))) == 9
"""


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_neither_pytorch_nor_transformers_is_needed(tmp_path: Path) -> None:
    file = written(tmp_path / "of no suffix", gguf())
    sh(tmp_path, sys.executable, "-c", ALONE, folder(tmp_path / "folder"), file, tmp_path)


def test_the_command_line_makes_a_file_that_generates(tmp_path: Path) -> None:
    source, out = folder(tmp_path / "folder"), tmp_path / "m.pte"
    said = sh(tmp_path, sys.executable, "-m", "pteron", "export", source, "-o", out, "-q")
    assert "made for 32 tokens" in said and "a text ends with token 2" in said
    said = sh(
        tmp_path,
        sys.executable,
        "-m",
        "pteron",
        "generate",
        out,
        "--tokens",
        "1,2",
        "--max-new-tokens",
        "3",
    )
    assert len(said.split()) == 3


def test_the_tokenizer_of_a_gguf_file_comes_along(tmp_path: Path) -> None:
    report = pteron.export_model(written(tmp_path / "m.gguf", gguf_of_text()), tmp_path / "m.pte")
    assert "generate --stop" not in report.as_text()
    with pteron.load(tmp_path / "m.pte") as model:
        assert bytes(model.tokenizer.encode("a b")) and model.tokenizer.stops == (256,)
        assert model.tokenizer.decode(model.tokenizer.encode("grüß dich")) == "grüß dich"
    words = ("generate", tmp_path / "m.pte", "--text", "a b", "--max-new-tokens", "3", "--json")
    assert '"text"' in sh(tmp_path, sys.executable, "-m", "pteron", *words)


@pytest.mark.parametrize("kind", ["gguf", "folder"])
def test_a_tokenizer_that_is_not_there_is_a_note(kind: str, tmp_path: Path) -> None:
    source = written(tmp_path / "m.gguf", gguf()) if kind == "gguf" else folder(tmp_path / "f")
    text = pteron.export_model(source, tmp_path / "m.pte").as_text()
    assert "the program has no tokenizer and generates tokens, not text: " in text
    with pytest.raises(pteron.ModelError, match=r"tokenizer: .*; without --tokenizer"):
        pteron.export_model(source, tmp_path / "m.pte", tokenizer=source)


def test_a_context_is_as_long_as_asked_for_or_bounded(tmp_path: Path) -> None:
    long = folder(tmp_path / "long", CONFIG | {"max_position_embeddings": 1 << 20})
    assert build(long).context == 4096
    report = pteron.export_model(long, tmp_path / "m.pte", max_context=48, quantize="nf4")
    assert "context of 48 tokens" in report.as_text()


def test_a_file_and_its_folder_are_one_model(tmp_path: Path) -> None:
    """GGUF has rows of queries and keys in another order: what a converter would write is what is read here."""
    held = tensors()
    turned = {
        name: array.reshape(-1, 2, 2, 8).swapaxes(1, 2).reshape(array.shape)
        if name.endswith(("q_proj.weight", "k_proj.weight")) else array
        for name, array in held.items()
    }  # fmt: skip
    scaling = {"rope_type": "linear", "factor": 2.0}
    sources = (
        folder(tmp_path / "folder", CONFIG | {"rope_scaling": scaling}),
        written(tmp_path / "m.gguf", gguf(KEYS, turned)),
    )
    logits = []
    for source in sources:
        pteron.export_model(source, tmp_path / "m.pte", logits="all")
        with pteron.load(tmp_path / "m.pte") as model:
            logits.append(model.run({"input_ids": np.arange(9)[None]})["logits"])
    assert np.array_equal(*logits)


def test_a_head_that_is_the_table_is_stored_once(tmp_path: Path) -> None:
    held = tensors()
    big = {"model.embed_tokens.weight": np.ones((5000, 8), np.float32)}
    both = {n: a for n, a in held.items() if n != "lm_head.weight"} | big
    tied = CONFIG | {"tie_word_embeddings": True, "vocab_size": 5000}
    for name, more in (("one", {}), ("two", {"lm_head.weight": np.ones((5000, 8), np.float32)})):
        pteron.export_model(folder(tmp_path / name, tied, both | more), tmp_path / f"{name}.pte")
        assert (tmp_path / f"{name}.pte").stat().st_size < 1.5 * 5000 * 8 * 4
    differs = both | {"lm_head.weight": np.zeros((5000, 8), np.float32)}
    with pytest.raises(pteron.ModelError, match=r"to be one tied matrix, got two that differ"):
        build(folder(tmp_path / "three", tied, differs))


def test_files_that_the_index_does_not_name_are_not_read(tmp_path: Path) -> None:
    source = folder(tmp_path / "folder")
    written(
        source / "consolidated.safetensors",
        safetensors({"tok_embeddings.weight": np.ones(3, np.float32)}),
    )
    build(source)
    written(
        source / "model.safetensors.index.json",
        b'{"weight_map": {"a": "model-00001-of-00002.safetensors"}}',
    )
    with pytest.raises(
        pteron.QuantError, match=r"expected model-00001-of-00002\.safetensors, which"
    ):
        build(source)


def test_what_a_checkpoint_is_follows_from_its_content(tmp_path: Path) -> None:
    assert is_checkpoint(folder(tmp_path / "folder"))
    assert is_checkpoint(str(written(tmp_path / "m.onnx", gguf())))
    assert not is_checkpoint(written(tmp_path / "m.gguf", b"GGU"))
    assert (
        not is_checkpoint(tmp_path / "none")
        and not is_checkpoint(tmp_path)
        and not is_checkpoint(b"GGUF")
    )
    with pytest.raises(pteron.ModelError, match="a checkpoint's decoder takes tokens"):
        pteron.export_model(tmp_path / "folder", args=(1,))
    with pytest.raises(pteron.ArgumentError, match="which has its own; drop weights"):
        pteron.export_model(tmp_path / "folder", weights=tmp_path / "m.onnx")


REFUSED: dict[str, tuple[Mapping[str, Any], str]] = {
    "an architecture without a row": ({"model_type": "falcon"}, r"model_type 'falcon': expected one of llama, .*pteron export model\.py:make"),
    "a classifier": ({"architectures": ["LlamaForSequenceClassification"]}, r"architectures: expected one of a decoder"),
    "a key that nobody knows": ({"attention_chunk_size": 64}, r"expected no other keys, got attention_chunk_size = 64, of which"),
    "a key that is missing": ({"rms_norm_eps": None}, "expected rms_norm_eps, got none"),
    "a count that is text": ({"hidden_size": "8"}, "hidden_size: expected an integer from 1 to 2147483647, got '8'"),
    "a count that is true": ({"hidden_size": True}, "hidden_size: expected an integer"),
    "a count below 1": ({"num_attention_heads": 0}, "num_attention_heads: expected an integer from 1"),
    "more layers than any model has": ({"num_hidden_layers": 5000}, "num_hidden_layers: expected at most 4096, got 5000"),
    "more layers than the file": ({"num_hidden_layers": 3}, r"expected tensor model\.layers\.2\.input_layernorm\.weight \[8\], got none"),
    "fewer layers than the file": ({"num_hidden_layers": 1}, r"expected no other tensors, got model\.layers\.1\..* and 1 more, which have no place"),
    "another width": ({"intermediate_size": 16}, r"tensor model\.layers\.0\.mlp\.gate_proj\.weight: expected \[16, 8\], got \[12, 8\]"),
    "heads that do not share": ({"num_attention_heads": 3, "head_dim": 4, "num_key_value_heads": 2}, "a multiple of those of keys, got 3 and 2"),
    "an activation": ({"hidden_act": "xielu"}, "hidden_act: expected silu, .*, got 'xielu'"),
    "biases that are not there": ({"attention_bias": True}, r"expected tensor model\.layers\.0\.self_attn\.q_proj\.bias \[8\], got none"),
    "a rotary type": ({"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, "rope_type: expected default, linear, llama3, yarn, got 'dynamic'"),
    "a rotary key": ({"rope_scaling": {"rope_type": "linear", "factor": 2.0, "mrope_section": [1]}}, r"rope_scaling: expected no other keys, got mrope_section = \[1\]"),
    "a rotary factor": ({"rope_scaling": {"rope_type": "linear", "factor": 0}}, "factor: expected a number above 0, got 0.0"),
    "an odd rotary width": ({"partial_rotary_factor": 0.3}, "expected an even width of at most 4 and a theta above 1, got 1 and 10000"),
    "interleaved rotation": ({"rope_interleaved": True}, "rope_interleaved: expected False, got True"),
    "an epsilon of 0": ({"rms_norm_eps": 0.0}, "expected an epsilon, .* above 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_config_is_refused_by_what_is_not_known(name: str, tmp_path: Path) -> None:
    change, text = REFUSED[name]
    with pytest.raises(pteron.ModelError, match=text):
        build(folder(tmp_path / "folder", CONFIG | change))


def test_a_layer_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    types = ["sliding_attention", "linear_attention"]
    with pytest.raises(
        pteron.ModelError, match=r"layer_types: expected .*, got 'linear_attention'"
    ):
        build(folder(tmp_path / "folder", GEMMA | {"layer_types": types}))


OTHER_KEYS: dict[str, tuple[Mapping[str, Any], str]] = {
    "an architecture without a row": ({"general.architecture": "gpt2"}, r"architecture 'gpt2': expected one of llama, smollm3, "),
    "experts": ({"llama.expert_count": 8}, r"expected no other keys, got llama\.expert_count = 8"),
    "a rotary type": ({"llama.rope.scaling.type": "longrope"}, r"llama\.rope\.scaling\.type: expected none, linear or yarn, got 'longrope'"),
    "values of another width": ({"llama.attention.value_length": 8}, r"llama\.attention\.value_length: expected 4, got 8"),
    "an adapter": ({"general.type": "adapter"}, r"general\.type: expected 'model', got 'adapter'"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_KEYS)
def test_keys_of_gguf_are_refused_by_name(name: str, tmp_path: Path) -> None:
    change, text = OTHER_KEYS[name]
    held = {
        n: a
        for n, a in tensors().items()
        if change.get("general.architecture") is None or "layers" not in n
    }
    with pytest.raises(pteron.ModelError, match=text):
        build(written(tmp_path / "m.gguf", gguf(KEYS | change, held)))


@pytest.mark.parametrize("name", tensors())
def test_a_tensor_that_is_dropped_doubled_or_exchanged_is_an_error(
    name: str, tmp_path: Path
) -> None:
    """A head may be missing where the file has none: in GGUF it is the table then."""
    held = tensors()
    without = {n: a for n, a in held.items() if n != name}
    added = held | {name.replace(".weight", ".bias"): np.ones(len(held[name]), np.float32)}
    other = next((n for n, a in held.items() if a.shape != held[name].shape), "")
    swapped = held | {name: held[other], other: held[name]}
    for i, bad in enumerate((without, added, swapped)):
        with pytest.raises(
            pteron.ModelError, match=r"expected (tensor|no other tensors|\[)|: expected \["
        ):
            build(folder(tmp_path / f"{i}", CONFIG, bad))
    if name != "lm_head.weight":
        for bad in (without, swapped):
            with pytest.raises((pteron.ModelError, pteron.QuantError)):
                build(written(tmp_path / "m.gguf", gguf(KEYS, bad)))
