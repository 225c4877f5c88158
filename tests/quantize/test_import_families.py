"""GGUF files of every architecture that families.py has a row for, written with the names of the gguf package and the changes of
llama.cpp's converter: every parameter of transformers' module gets its values back, and nothing is left over on either side."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from models.checkpoint_files import gguf_file

import pteron.export.graph as graphs
from pteron.export.checkpoint import read_checkpoint
from pteron.export.checkpoint.families import FAMILIES
from pteron.export.graph.text import onnx_text
from pteron.quantize.checkpoint.place import Import
from pteron.schema.errors import QuantError

RNG = np.random.default_rng(0)
HEADS, PAIRS, LAYERS = 4, 2, 2


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """`arch`: of GGUF; `kind`: of transformers."""

    arch: str
    kind: str
    options: dict[str, Any] = dataclasses.field(default_factory=dict)


MOE = {
    "num_experts": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
}
CASES = {
    "llama": Case("llama", "llama", {"attention_bias": True}),
    "llama tied": Case("llama", "llama", {"tie_word_embeddings": True}),
    "mistral": Case("llama", "mistral"),
    "mixtral": Case("llama", "mixtral", MOE),
    "smollm3": Case("smollm3", "smollm3"),
    "granite": Case("granite", "granite"),
    "arcee": Case("arcee", "arcee"),
    "qwen2": Case("qwen2", "qwen2"),
    "qwen3": Case("qwen3", "qwen3", {"head_dim": 32}),
    "qwen2moe": Case("qwen2moe", "qwen2_moe", {**MOE, "shared_expert_intermediate_size": 48}),
    "qwen3moe": Case("qwen3moe", "qwen3_moe", {**MOE, "head_dim": 16}),
    "command-r": Case("command-r", "cohere", {"use_qk_norm": False}),
    "cohere2": Case("cohere2", "cohere2", {"head_dim": 16}),
    "ernie4_5": Case("ernie4_5", "ernie4_5", {"head_dim": 16}),
    "stablelm": Case("stablelm", "stablelm", {"use_qkv_bias": True}),
    "starcoder2": Case("starcoder2", "starcoder2"),
    "olmo2": Case("olmo2", "olmo2"),
    "exaone4": Case("exaone4", "exaone4"),
    "gemma": Case("gemma", "gemma", {"head_dim": 16}),
    "gemma2": Case("gemma2", "gemma2", {"head_dim": 16}),
    "gemma3": Case("gemma3", "gemma3_text", {"head_dim": 16}),
    "phi3": Case("phi3", "phi3"),
    "gpt2": Case("gpt2", "gpt2", {"n_embd": 64, "n_layer": LAYERS, "n_head": HEADS}),
}  # fmt: skip


def module_of(case: Case) -> Any:
    """With other norms and biases than a new module has."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    sizes = {
        "vocab_size": 96, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": LAYERS, "pad_token_id": 0,
        "num_attention_heads": HEADS, "num_key_value_heads": PAIRS, "max_position_embeddings": 64,
    }  # fmt: skip
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(case.kind, **{**sizes, **case.options})
    module = transformers.AutoModelForCausalLM.from_config(config)
    for parameter in module.parameters():
        parameter.data.normal_()
    return module


def file_of(case: Case, module: Any, path: Path, drop: str = "") -> Path:
    return gguf_file(path, case.arch, module, drop=drop)


def graph_of(state: dict[str, Any], is_tied: bool) -> ir.Model:
    """What capture gives of a module, as far as an import sees it: its state, zeros here, and who reads it."""
    model = onnx_text("y = Identity(x)", x="f32[n]")
    model.meta[graphs.PARAMETERS] = frozenset(state)
    ends = []
    for name, value in state.items():
        if is_tied and name.endswith("embed_tokens.weight"):
            continue
        zeros = graphs.initializer(model.graph, np.zeros(tuple(value.shape), np.float32), name)
        readers = [name.removesuffix(".weight")]
        if is_tied and name == "lm_head.weight":
            readers.append("model.embed_tokens")
        for reader in readers:
            node = ir.Node("", "Identity", [zeros], num_outputs=1, name=f"{reader}/Identity")
            node.metadata_props[graphs.MODULE] = reader
            model.graph.append(node)
            ends.append(node.outputs[0])
    model.graph.outputs.extend(ends)
    return model


@pytest.mark.parametrize("name", CASES)
def test_every_parameter_gets_its_values(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    module = module_of(case)
    tied = module.config.tie_word_embeddings
    path = file_of(case, module, tmp_path / "m.gguf")
    model = graph_of(module.state_dict(), tied)
    done = Import(path.name, read_checkpoint(path))
    done.fill(model)
    assert done.notes == []
    for key, value in model.graph.initializers.items():
        want = module.state_dict()[key].numpy()
        tensor = value.const_value
        assert tensor is not None
        np.testing.assert_allclose(tensor.numpy(), want, rtol=0, atol=3e-7, err_msg=key)


def test_every_row_has_a_case() -> None:
    assert {case.arch for case in CASES.values()} == FAMILIES.keys() - {"mistral3"}


@pytest.mark.parametrize(
    "drop",
    ["model.layers.1.input_layernorm.weight", "model.layers.0.mlp.up_proj.weight", "model.embed_tokens.weight",
     "model.layers.0.self_attn.q_proj.bias"],
)  # fmt: skip
def test_a_parameter_without_a_tensor_is_an_error_by_name(drop: str, tmp_path: Path) -> None:
    module = module_of(CASES["llama"])
    path = file_of(CASES["llama"], module, tmp_path / "m.gguf", drop)
    tensors, model = read_checkpoint(path), graph_of(module.state_dict(), False)
    told = rf"m\.gguf: 1 parameter of the model without a tensor: {drop.removesuffix('.weight')}; .*--partial"
    with pytest.raises(QuantError, match=told):
        Import(path.name, tensors).fill(model)
    done = Import(path.name, tensors, partial=True)
    done.fill(model)
    assert done.notes == [
        f"weights: 1 parameter of the model without a tensor: {drop.removesuffix('.weight')}"
    ]
    assert not model.graph.initializers[drop].const_value.numpy().any()


def test_a_tensor_without_a_place_is_an_error_by_name(tmp_path: Path) -> None:
    module = module_of(CASES["qwen3"])
    path = file_of(CASES["qwen3"], module, tmp_path / "m.gguf")
    state = {n: v for n, v in module.state_dict().items() if "layers.1.self_attn.q_norm" not in n}
    told = r"1 tensor without a place: layers\.1\.self_attn\.q_norm\.weight"
    with pytest.raises(QuantError, match=told):
        Import(path.name, read_checkpoint(path)).fill(graph_of(state, False))


def test_an_architecture_without_a_row_is_refused_by_name(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "falcon")
    writer.add_tensor("blk.0.attn_qkv.weight", np.zeros((8, 8), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(QuantError, match=r"architecture 'falcon': expected one of llama, "):
        read_checkpoint(tmp_path / "m.gguf")


def test_a_model_that_ties_what_the_file_has_two_of_is_refused(tmp_path: Path) -> None:
    module = module_of(CASES["llama"])
    path = file_of(CASES["llama"], module, tmp_path / "m.gguf")
    with pytest.raises(QuantError, match="as one matrix, the file has two that differ"):
        Import(path.name, read_checkpoint(path)).fill(graph_of(module.state_dict(), True))
