"""The decoder of benchmarks/text.py as other runtimes take it: python text_models.py gguf FILE | genai FOLDER | openvino FILE.xml

`gguf`: Q4_0, the norms in f32, for llama.cpp. `genai`: int4 in blocks of 32 by onnxruntime-genai's own builder. `openvino`: symmetric
int4 in groups of 32 by NNCF; reads a prompt and gives the last logits, without the states that tokens behind it would need.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

VOCABULARY = 32000
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
OUTER = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def decoder() -> Any:
    import torch
    from text import shape
    from transformers import LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(shape()).eval()


def in_gguf(name: str) -> str:
    name = name.removesuffix(".weight")
    if name in OUTER:
        return OUTER[name] + ".weight"
    _, _, layer, part = name.split(".", 3)
    return f"blk.{layer}.{NAMES[part]}.weight"


def paired(name: str, values: Any, config: Any) -> Any:
    """Queries and keys, whose channels llama.cpp rotates in pairs side by side."""
    if "q_proj" not in name and "k_proj" not in name:
        return values
    heads = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
    halves = values.reshape(heads, 2, -1, values.shape[1])
    return halves.swapaxes(1, 2).reshape(values.shape).copy()


def gguf(path: Path) -> None:
    import gguf as g

    model = decoder()
    c, q4 = model.config, g.GGMLQuantizationType.Q4_0
    w = g.GGUFWriter(path, "llama")
    w.add_file_type(g.LlamaFileType.MOSTLY_Q4_0)
    w.add_context_length(c.max_position_embeddings)
    w.add_embedding_length(c.hidden_size)
    w.add_block_count(c.num_hidden_layers)
    w.add_feed_forward_length(c.intermediate_size)
    w.add_head_count(c.num_attention_heads)
    w.add_head_count_kv(c.num_key_value_heads)
    w.add_layer_norm_rms_eps(c.rms_norm_eps)
    w.add_rope_dimension_count(c.hidden_size // c.num_attention_heads)
    w.add_vocab_size(VOCABULARY)
    w.add_tokenizer_model("llama")
    bytes_ = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % i for i in range(256)]
    words = [b"t%d" % i for i in range(VOCABULARY - len(bytes_))]
    w.add_token_list(bytes_ + words)
    w.add_token_scores([0.0] * VOCABULARY)
    w.add_token_types([2, 3, 3] + [6] * 256 + [1] * len(words))
    for name, weight in model.state_dict().items():
        values = paired(name, weight.numpy(), c)
        if values.ndim == 1:
            w.add_tensor(in_gguf(name), values)
        else:
            w.add_tensor(in_gguf(name), g.quants.quantize(values, q4), raw_dtype=q4)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def genai(path: Path) -> None:
    import onnxruntime_genai
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {"<unk>": 0, "<s>": 1, "</s>": 2, **{f"t{i}": i for i in range(3, VOCABULARY)}}
    builder = Path(onnxruntime_genai.__file__).parent / "models/builder.py"
    with tempfile.TemporaryDirectory() as folder:
        decoder().save_pretrained(folder)
        PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="<unk>")),
            unk_token="<unk>", bos_token="<s>", eos_token="</s>",
        ).save_pretrained(folder)  # fmt: skip
        source = ["-m", folder, "-i", folder, "-c", f"{folder}/cache"]
        extra = ["--extra_options", "int4_accuracy_level=4", "int4_block_size=32"]
        what = ["-o", path, "-p", "int4", "-e", "cpu"]
        subprocess.run([sys.executable, builder, *source, *what, *extra], check=True)


def openvino(path: Path) -> None:
    import nncf
    import openvino as ov
    import torch

    class Last(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.whole = decoder()

        def forward(self, input_ids: Any) -> Any:
            mask = torch.ones_like(input_ids)  # else it looks for packed sequences, by a diff
            seen = self.whole.model(input_ids=input_ids, attention_mask=mask, use_cache=False)[0]
            return self.whole.lm_head(seen[:, -1])

    model = ov.convert_model(Last().eval(), example_input=torch.zeros((1, 8), dtype=torch.long))
    mode = nncf.CompressWeightsMode.INT4_SYM
    ov.save_model(nncf.compress_weights(model, mode=mode, group_size=32, all_layers=True), path)


def main() -> None:
    {"gguf": gguf, "genai": genai, "openvino": openvino}[sys.argv[1]](Path(sys.argv[2]))


if __name__ == "__main__":
    main()
