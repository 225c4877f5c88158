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
import copy
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
    "num_queries": 10,
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
    parser.add_argument("--seconds", type=int, default=60, help="for one architecture")
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
        model = of_few_layers(kind)
        channels, height, width = model.default_cfg["input_size"]
        model = steady(model)
        return model, lambda b, s: (torch.randn(b, channels, height, width),), [{0: "batch"}]
    return from_config(kind, layers)


def of_few_layers(kind: str) -> Any:
    """timm's model without blocks that only repeat the one in front, where it runs so."""
    import timm

    model = timm.create_model(kind, pretrained=False, num_classes=10).eval()
    short = copy.deepcopy(model)
    for blocks in list(short.modules()):
        if isinstance(blocks, torch.nn.Sequential):
            for i in reversed(range(1, len(blocks))):
                if repr(blocks[i]) == repr(blocks[i - 1]) and any(
                    True for _ in blocks[i].parameters()
                ):
                    del blocks[i]
    try:
        short(torch.randn(2, *model.default_cfg["input_size"]))
    except Exception:
        return model
    return short


Made = dict[str, tuple[Callable[[int, int], Any], dict[int, str]]]
"""For each input: its value for (batch, sequence), and its dynamic axes."""


def from_config(kind: str, layers: int) -> Any:
    """The smallest model, and the first set of inputs, that eager runs: some sizes depend on others that have no common name."""
    from transformers import AutoModel
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    first: Exception | None = None
    for how in (shrink, shallow):
        try:
            config = CONFIG_MAPPING[kind]()
            how(config, layers)
            with torch.device("meta"):
                size = sum(p.numel() for p in AutoModel.from_config(config).parameters())
            if size > 80e6:
                raise MemoryError(f"{size / 1e6:.0f} M parameters with {how.__name__}")
            model = steady(AutoModel.from_config(config))
        except Exception as error:
            first = first or error
            continue
        for made in candidates(config, model):
            module, inputs, axes = with_inputs(model, made)
            try:
                for case in (inputs(2, 8), inputs(3, 11)):
                    module(*case)
            except Exception as error:
                first = first or error
            else:
                return module, inputs, axes
    raise first or LookupError("no inputs are made here")


def with_inputs(model: Any, made: Made) -> Any:
    import inspect

    caches = "use_cache" in inspect.signature(model.forward).parameters
    module = First(model, list(made), **({"use_cache": False} if caches else {}))
    makers = [m for m, _ in made.values()]
    return module, lambda b, s: tuple(m(b, s) for m in makers), [axes for _, axes in made.values()]


def candidates(config: Any, model: Any) -> Iterator[Made]:
    """Sets of inputs, the fullest first: text and pictures, text alone, then what takes one tensor in one of its usual shapes."""
    import inspect

    parameters = inspect.signature(model.forward).parameters
    text = texts(config, parameters)
    pictures = list(images(config)) if "pixel_values" in parameters else []
    for image in pictures:
        yield {**text, "pixel_values": image}
    if text:
        yield text
    for image in pictures:
        yield {"pixel_values": image}
    batch, features = {0: "batch"}, "input_features"
    bins = {getattr(config, k, None) for k in ("num_mel_bins", "feature_size", "n_mels")}
    frames = 2 * (getattr(config, "max_source_positions", None) or 64)
    rest = {k: v for k, v in text.items() if k == "decoder_input_ids"}
    if "input_values" in parameters:
        yield {"input_values": (lambda b, s: torch.randn(b, 800), batch), **rest}
        yield {"input_values": (lambda b, s: torch.randn(b, 1, 1920), batch), **rest}
    for key in [features, "input_values"]:
        for n in [n for n in (*bins, 16, 80, 128) if isinstance(n, int) and key in parameters]:
            yield {key: (lambda b, s, n=n: torch.randn(b, n, frames), batch), **rest}
            yield {key: (lambda b, s, n=n: torch.randn(b, frames, n), batch), **rest}


def texts(config: Any, parameters: Any) -> Made:
    vocabulary = int(
        getattr(getattr(config, "text_config", config), "vocab_size", None)
        or getattr(config, "vocab_size", None)
        or 100
    )

    def ids(b: int, s: int) -> Any:
        return torch.randint(3, max(vocabulary - 1, 4), (b, s))

    made: Made = {}
    if "input_ids" in parameters:
        made["input_ids"] = (ids, {0: "batch", 1: "seq"})
        if "attention_mask" in parameters:
            ones = {0: "batch", 1: "seq"}
            made["attention_mask"] = (lambda b, s: torch.ones(b, s, dtype=torch.long), ones)
    if "decoder_input_ids" in parameters:
        made["decoder_input_ids"] = (ids, {0: "batch", 1: "target"})
    return made


def images(config: Any) -> Iterator[tuple[Callable[[int, int], Any], dict[int, str]]]:
    """Pictures of the size of the config, then films and pairs of them."""
    parts = [getattr(config, k, None) for k in ("vision_config", "backbone_config", "encoder")]
    parts = [part for part in [*parts, config] if part is not None]

    def of(key: str, default: Any) -> Any:
        return next((v for v in (getattr(p, key, None) for p in parts) if v), default)

    size = of("image_size", 64)
    size = tuple(size) if isinstance(size, (list, tuple)) else (size, size)
    channels = of("num_channels", 3)
    for lead in [(), (of("num_frames", 2),), (2,)]:
        shape = (*lead, channels, *size)
        yield (lambda b, s, shape=shape: torch.randn(b, *shape)), {0: "batch"}


def shallow(config: Any, layers: int) -> None:
    """Few layers and words, all else as it is."""
    for part in vars(config).values():
        if hasattr(part, "to_dict") and hasattr(part, "model_type"):
            shallow(part, layers)
    for key in LAYERS:
        if isinstance(getattr(config, key, None), int):
            put(config, key, min(getattr(config, key), layers))
    for key in ("layer_types", "layers_block_type", "mlp_layer_types"):
        if isinstance(getattr(config, key, None), list):
            put(config, key, getattr(config, key)[:layers])
    if isinstance(getattr(config, "depths", None), (list, tuple)):
        put(config, "depths", [1] * len(config.depths))
    if isinstance(getattr(config, "hidden_sizes", None), (list, tuple)) and hasattr(
        config, "num_stages"
    ):
        put(config, "hidden_sizes", config.hidden_sizes[: config.num_stages])
    if isinstance(getattr(config, "vocab_size", None), int):
        put(config, "vocab_size", min(config.vocab_size, 128))
        for key in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
            if isinstance(getattr(config, key, None), int):
                put(config, key, min(getattr(config, key), 2))


def shrink(config: Any, layers: int) -> None:
    """Small sizes, too, where the config and its parts have such fields."""
    shallow(config, layers)
    for part in vars(config).values():
        if hasattr(part, "to_dict") and hasattr(part, "model_type"):
            shrink(part, layers)
    for key, size in SIZES.items():
        had = getattr(config, key, None)
        if isinstance(had, int) and not isinstance(had, bool) and had > size:
            put(config, key, size)
    if isinstance(getattr(config, "qk_head_dim", None), int) and hasattr(config, "v_head_dim"):
        put(config, "qk_head_dim", config.qk_nope_head_dim + config.qk_rope_head_dim)
    if hasattr(config, "kv_lora_rank"):  # latent attention: a key for each head
        put(config, "num_key_value_heads", config.num_attention_heads)
    if {"expand", "num_heads", "head_dim", "hidden_size"} <= set(vars(config)):  # state spaces
        put(config, "num_heads", config.expand * config.hidden_size // config.head_dim)
    rope = getattr(config, "rope_parameters", None)
    if isinstance(rope, dict):
        rope["mrope_section"] = [2, 1, 1]  # half of head_dim, where a model asks for it


def put(config: Any, key: str, value: Any) -> None:
    with contextlib.suppress(AttributeError):  # some compute it
        setattr(config, key, value)


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
