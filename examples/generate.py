"""A transformers decoder on device: python generate.py [PROMPT TOKENS ...]

Exports a small Llama with random weights (a checkpoint of yours: LlamaForCausalLM.from_pretrained), its weights in NF4, then
generates: greedy, and drawn by a seed. A second text goes on from the middle of the first.
Needs PyTorch and transformers: make dev-torch, or pip install '.[search]'.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pteron


def export(path: Path) -> None:
    """Needs torch and transformers; running what it writes does not."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    shape = LlamaConfig(
        vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256,
    )  # fmt: skip
    model = LlamaForCausalLM(shape).eval()
    pteron.export_model(
        model,
        path,
        kwargs={"input_ids": torch.zeros((1, 8), dtype=torch.long), "use_cache": False},
        dynamic_shapes={"input_ids": {1: "tokens"}, "use_cache": None},
        max_context=256,
        quantize="nf4",
    )


def main() -> None:
    prompt = [int(x) for x in sys.argv[1:]] or [1, 2, 3]
    with tempfile.TemporaryDirectory() as folder:
        export(Path(folder) / "decoder.pte")
        with pteron.load(Path(folder) / "decoder.pte") as model:
            print("greedy", *pteron.generate(model, prompt, max_new_tokens=12))
            model.rewind(len(prompt))  # the prompt is still known
            twin = model.fork()
            drawn = pteron.Sampling(temperature=0.8, top_k=40, top_p=0.95, seed=7)
            for name, session in (("drawn", model), ("again", twin)):
                print(name, *pteron.generate(session, [5], max_new_tokens=12, sampling=drawn))


if __name__ == "__main__":
    main()
