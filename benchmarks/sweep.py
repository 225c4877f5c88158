"""Architectures of transformers and timm, small and with random weights: export, run, compare with eager.

    python benchmarks/sweep.py [--only REGEX] [--limit N] [--journal FILE] [--seconds N] [--layers N] [--static] [--again]
    python benchmarks/sweep.py --report        what the journal says, by verdict

Each is exported with dynamic batch (and sequence) and must agree at the example's sizes and at others; where torch.export refuses
that, or with --static, also with fixed sizes. A verdict a line goes to the journal; what is there already is not run again, so a
sweep that was killed goes on. Every architecture has a process of its own, forked from one that has imported everything, and a time
limit. No network: models are made from their configs' classes.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib
import json
import os
import re
import signal
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import pteron
from pteron.export.check import differs

SIZES = {
    **dict.fromkeys(
        ["hidden_size", "d_model", "n_embd", "embed_dim", "encoder_hidden_size", "dim"], 32
    ),
    **dict.fromkeys(["decoder_hidden_size", "embedding_size", "word_embed_proj_dim"], 32),
    **dict.fromkeys(["num_attention_heads", "n_head", "n_heads", "num_heads"], 4),
    **dict.fromkeys(["encoder_attention_heads", "decoder_attention_heads"], 4),
    **dict.fromkeys(["num_key_value_heads", "n_groups", "num_groups"], 2),
    **dict.fromkeys(
        ["intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff"], 64
    ),
    **dict.fromkeys(["n_inner", "ffn_hidden_size", "shared_expert_intermediate_size"], 64),
    **dict.fromkeys(["moe_intermediate_size"], 16),
    **dict.fromkeys(["num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"], 4),
    **dict.fromkeys(["num_experts_per_tok", "moe_topk", "moe_k"], 2),
    **dict.fromkeys(["head_dim", "d_kv", "kv_channels", "v_head_dim", "attention_head_dim"], 8),
    **dict.fromkeys(["qk_nope_head_dim", "qk_rope_head_dim"], 8),
    **dict.fromkeys(["q_lora_rank", "kv_lora_rank"], 16),
    "vocab_size": 128,
    "max_position_embeddings": 128,
    "image_size": 32,
    "patch_size": 8,
    "num_mel_bins": 16,
    "num_labels": 3,
    "mm_tokens_per_image": 4,
}
LAYERS = [
    *("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers"),
    *("num_encoder_layers", "num_decoder_layers", "depth"),
]


def main() -> None:
    warnings.simplefilter("ignore")
    options = parsed()
    journal = Path(options.journal)
    if options.report:
        report(read(journal))
        return
    stub_torchvision()
    import_all()
    journal.parent.mkdir(parents=True, exist_ok=True)
    done = {row["name"] for row in read(journal)} if not options.again else set()
    left = [n for n in names(options.only) if n not in done][: options.limit]
    for i, name in enumerate(left):
        row = apart(lambda name=name: one(name, options), options.seconds)
        row = {"name": name, **row}
        with journal.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(
            f"{i + 1}/{len(left)} {name}: {row['verdict']} {row.get('text', '')[:160]}", flush=True
        )
    report(read(journal))


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="names that the expression finds")
    parser.add_argument("--limit", type=int, default=10**6)
    parser.add_argument("--journal", default="build/sweep.jsonl")
    parser.add_argument("--seconds", type=int, default=300, help="for one architecture")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--static", action="store_true", help="fixed sizes, too")
    parser.add_argument("--again", action="store_true", help="those in the journal, too")
    parser.add_argument("--report", action="store_true")
    return parser.parse_args()


def read(journal: Path) -> list[dict[str, Any]]:
    """The last verdict of each name."""
    rows = (
        [json.loads(line) for line in journal.read_text().splitlines()] if journal.is_file() else []
    )
    return list({row["name"]: row for row in rows}.values())


def report(rows: list[dict[str, Any]]) -> None:
    count = collections.Counter(row["verdict"] for row in rows)
    for row in sorted(rows, key=lambda r: (r["verdict"], r["name"])):
        if row["verdict"] != "ok":
            print(f"{row['verdict']:10s} {row['name']:40s} {row.get('text', '')[:200]}")
    print(", ".join(f"{n} {verdict}" for verdict, n in count.most_common()))


def apart(work: Callable[[], dict[str, Any]], seconds: int) -> dict[str, Any]:
    """Runs `work` in a fork, which is ended after `seconds`; a verdict whatever happens to it."""
    into, out = os.pipe()
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.close(into)
        signal.alarm(seconds)
        try:
            row = work()
        except Exception as error:
            row = {"verdict": "traceback", "text": f"{type(error).__name__}: {error}"}
        os.write(out, json.dumps(row).encode()[:60000])
        os._exit(0)
    os.close(out)
    with os.fdopen(into, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    row = json.loads(data) if data else {"verdict": "killed", "text": f"status {status}"}
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        row = {"verdict": "slow", "text": f"more than {seconds} s"}
    return {**row, "seconds": round(time.monotonic() - started, 1)}


def import_all() -> None:
    """Once, in front of all forks."""
    for name in ("capture.torch", "capture.translations", "lower"):
        importlib.import_module(f"pteron.export.{name}")
    importlib.import_module("pteron.runtime")
    importlib.import_module("transformers.models.auto.modeling_auto")


def stub_torchvision() -> None:
    """timm imports torchvision, whose compiled operators may be for another build of torch; none of them is used."""
    sys.modules["torchvision._meta_registrations"] = types.ModuleType("no operators")


# --- the architectures ---------------------------------------------------------------------------------------------------


def names(only: str) -> list[str]:
    """transformers/TYPE and timm/MODEL, in turns, so that a part of the sweep has both."""
    a, b = list(of_transformers()), list(of_timm())
    ahead = max(1, len(a) // max(len(b), 1))
    mixed = [n for i, each in enumerate(b) for n in [*a[i * ahead : (i + 1) * ahead], f"{each}"]]
    mixed += a[len(b) * ahead :]
    return [n for n in mixed if re.search(only, n)]


def of_transformers() -> Iterator[str]:
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    for kind in sorted(MODEL_MAPPING_NAMES, key=lambda n: hash_of(n)):
        yield f"transformers/{kind}"


def of_timm() -> Iterator[str]:
    """The smallest by its name of each module."""
    try:
        import timm
    except ImportError:
        return
    small = [
        "test_",
        "atto",
        "femto",
        "pico",
        "nano",
        "xxs",
        "_xs",
        "tiny",
        "mini",
        "_s",
        "18",
        "small",
        "050",
    ]
    for module in sorted(timm.list_modules(), key=hash_of):
        found = timm.list_models(module=module)
        rank = {n: next((i for i, word in enumerate(small) if word in n), 99) for n in found}
        if found:
            yield f"timm/{min(found, key=lambda n: (rank[n], len(n), n))}"


def hash_of(name: str) -> int:
    """An order that mixes families, the same each time."""
    import zlib

    return zlib.crc32(name.encode())


class First(torch.nn.Module):
    """Inputs by position, the tensors of the result (at most three) as a tuple."""

    def __init__(self, model: Any, inputs: list[str], **fixed: Any) -> None:
        super().__init__()
        self.model, self.inputs, self.fixed = model, inputs, fixed

    def forward(self, *values: Any) -> Any:
        result = self.model(**dict(zip(self.inputs, values, strict=True)), **self.fixed)
        leaves = torch.utils._pytree.tree_leaves(result)
        return tuple(x for x in leaves if isinstance(x, torch.Tensor))[:3]


def build(
    name: str, layers: int
) -> tuple[Any, Callable[[int, int], tuple[Any, ...]], list[dict[int, str]]]:
    """The module, its inputs for (batch, sequence), and its dynamic axes."""
    torch.manual_seed(0)
    source, _, kind = name.partition("/")
    if source == "timm":
        import timm

        model = timm.create_model(kind, pretrained=False, num_classes=10)
        channels, height, width = model.default_cfg["input_size"]
        model = steady(model)
        return model, lambda b, s: (torch.randn(b, channels, height, width),), [{0: "batch"}]
    return from_config(kind, layers)


def from_config(kind: str, layers: int) -> Any:
    import inspect

    from transformers import AutoModel
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config = CONFIG_MAPPING[kind]()
    shrink(config, layers)
    model = steady(AutoModel.from_config(config))
    parameters = inspect.signature(model.forward).parameters
    text = getattr(config, "text_config", config)
    vocabulary = int(getattr(text, "vocab_size", None) or 100)
    vision = getattr(config, "vision_config", config)
    made: dict[str, tuple[Callable[[int, int], Any], dict[int, str]]] = {}

    def ids(b: int, s: int) -> Any:
        return torch.randint(3, max(vocabulary - 1, 4), (b, s))

    image = getattr(vision, "image_size", 32)
    image = image if isinstance(image, (list, tuple)) else (image, image)
    channels = getattr(vision, "num_channels", 3)
    bins = getattr(config, "num_mel_bins", 16)
    frames = 2 * (getattr(config, "max_source_positions", None) or 64)
    if model.main_input_name == "input_ids" or "input_ids" in parameters:
        made["input_ids"] = (ids, {0: "batch", 1: "seq"})
        if "attention_mask" in parameters:
            made["attention_mask"] = (
                lambda b, s: torch.ones(b, s, dtype=torch.long),
                {0: "batch", 1: "seq"},
            )
    if model.main_input_name == "pixel_values" or (
        vision is not config and "pixel_values" in parameters
    ):
        made["pixel_values"] = (lambda b, s: torch.randn(b, channels, *image), {0: "batch"})
    if "input_values" in parameters and model.main_input_name == "input_values":
        made["input_values"] = (lambda b, s: torch.randn(b, 800), {0: "batch"})
    if "input_features" in parameters and model.main_input_name == "input_features":
        made["input_features"] = (lambda b, s: torch.randn(b, bins, frames), {0: "batch"})
    if "decoder_input_ids" in parameters:
        made["decoder_input_ids"] = (ids, {0: "batch", 1: "target"})
    if not made:
        raise LookupError(f"inputs {list(parameters)[:4]} are not made here")
    fixed = {"use_cache": False} if "use_cache" in parameters else {}
    module = First(model, list(made), **fixed)
    makers = [m for m, _ in made.values()]
    return module, lambda b, s: tuple(m(b, s) for m in makers), [axes for _, axes in made.values()]


def shrink(config: Any, layers: int) -> None:
    """Small sizes where the config and its parts have such fields; lists by layer are cut."""
    for part in vars(config).values():
        if hasattr(part, "to_dict") and hasattr(part, "model_type"):
            shrink(part, layers)
    for key in LAYERS:
        if isinstance(getattr(config, key, None), int):
            setattr(config, key, min(getattr(config, key), layers))
    for key, size in SIZES.items():
        had = getattr(config, key, None)
        if isinstance(had, int) and not isinstance(had, bool) and had > size:
            setattr(config, key, size)
    for key in ("layer_types", "layers_block_type", "mlp_layer_types"):
        if isinstance(getattr(config, key, None), list):
            with contextlib.suppress(AttributeError):  # some compute it
                setattr(config, key, getattr(config, key)[:layers])
    for key in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
        if isinstance(getattr(config, key, None), int) and hasattr(config, "vocab_size"):
            setattr(config, key, min(getattr(config, key), 2))


def steady(model: Any) -> Any:
    """In eval mode, with weights of ordinary size, so that results move with the inputs."""
    for p in model.parameters():
        if p.ndim > 1 and float(p.detach().abs().max()) < 1e-3:
            torch.nn.init.normal_(p, std=0.05)
    return model.eval().requires_grad_(False)


# --- one architecture ----------------------------------------------------------------------------------------------------


def one(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Its verdict: ok, unmade (no such small model), refused by torch.export, or what is wrong with the export."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    try:
        module, inputs, axes = build(name, options.layers)
        cases = [inputs(2, 8), inputs(3, 11)]
        wanted = [module(*case) for case in cases]
    except Exception as error:
        return {"verdict": "unmade", "text": f"{type(error).__name__}: {error}"[:300]}
    specs: Any = (tuple(axes),) if isinstance(module, First) else tuple(axes)
    row = attempt(module, cases, wanted, specs)
    if row["verdict"] == "ok" and not options.static:
        return {**row, "dynamic": True}
    fixed = attempt(module, cases[:1], wanted[:1], None)
    if row["verdict"] == "untraced":
        return {**fixed, "dynamic": False, "dynamic_text": row["text"]}
    return row if row["verdict"] != "ok" else {**fixed, "dynamic": True}


def attempt(module: Any, cases: list[Any], wanted: list[Any], dynamic: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.pte"
        try:
            pteron.export_model(module, path, args=cases[0], dynamic_shapes=dynamic)
            model = pteron.load(path, threads=1)
            for i, (case, want) in enumerate(zip(cases, wanted, strict=True)):
                got = model(*case)
                want = want if isinstance(want, tuple) else (want,)
                got = got if isinstance(got, tuple) else (got,)
                for g, w in zip(got, want, strict=True):
                    text = differs(np.asarray(g), w.detach().numpy())
                    if text is not None:
                        return {"verdict": "wrong", "text": f"case {i}: {text}"}
        except pteron.PteronError as error:
            text = str(error)
            kind = "untraced" if "torch.export failed" in text else type(error).__name__
            return {"verdict": kind, "text": text[:600]}
    return {"verdict": "ok"}


if __name__ == "__main__":
    main()
