"""Small models with random weights of the architectures of transformers and timm, and inputs for them: what the sweep exports.

Each is as deep as asked and otherwise as small as it runs: few channels, words and pixels. No network: models are made from
their configs' classes.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import re
import sys
import types
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import singular
import torch
from singular import Made

WORDS: Final = 128
SIZES: Final = {
    **dict.fromkeys(
        ["hidden_size", "d_model", "n_embd", "embed_dim", "encoder_hidden_size", "dim"], 32
    ),
    **dict.fromkeys(["decoder_hidden_size", "embedding_size", "word_embed_proj_dim"], 32),
    **dict.fromkeys(["projection_size", "d_latents"], 32),
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
    **dict.fromkeys(["qk_nope_head_dim", "qk_rope_head_dim", "rotary_dim", "d_head"], 8),
    **dict.fromkeys(["q_lora_rank", "kv_lora_rank"], 16),
    "vocab_size": WORDS,
    "max_position_embeddings": 128,
    "image_size": 32,
    "patch_size": 8,
    "num_mel_bins": 16,
    "num_labels": 3,
    "mm_tokens_per_image": 4,
    "num_queries": 10,
    "num_latents": 8,
}
OWED: Final = {"num_experts_per_tok": 2, "prediction_length": 4}
"""What some configs leave to the user."""
LAYERS: Final = [
    *("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers"),
    *("num_encoder_layers", "num_decoder_layers", "depth"),
]


POPULAR: Final = {
    name: place
    for place, name in enumerate((Path(__file__).parent / "popular.txt").read_text().split())
}
"""Types of transformers and modules of timm, about as often as they are used; the others follow in an order that mixes families."""
SMALL: Final = [
    *("test_", "atto", "femto", "pico", "nano", "xxs", "_xs", "tiny", "mini", "_s", "18", "26"),
    *("small", "050", "_b0"),
]


def find_networks() -> None:
    """From here on timm and torchvision can be imported. They stand in a folder of their own, since transformers imports a torchvision
    that it finds, whose compiled operators may be for another build of torch. None of those is used here, and none is registered."""
    sys.path.append(str(Path(sys.prefix) / "networks"))
    sys.modules["torchvision._meta_registrations"] = types.ModuleType("no operators")


def names() -> list[str]:
    """transformers/TYPE twice, timm/MODEL once, and so on, so that a part of the sweep has both; the popular first."""
    a, b = list(of_transformers()), list(of_timm())
    mixed = [n for i, each in enumerate(b) for n in [*a[2 * i : 2 * i + 2], each]]
    return mixed + a[len(b) * 2 :]


def of_transformers() -> Iterator[str]:
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    yield from by_use(f"transformers/{kind}" for kind in MODEL_MAPPING_NAMES)


def of_timm() -> Iterator[str]:
    """Of each module the smallest model by its name, then of each family in it that has another name."""
    try:
        import timm  # pyright: ignore[reportMissingImports]
    except ImportError:
        return
    first, rest = [], []
    for module in by_use(f"timm/{m}" for m in timm.list_modules()):
        families: dict[str, list[str]] = {}
        for name in timm.list_models(module=module.removeprefix("timm/")):
            families.setdefault(re.match(r"[a-z]+", name)[0], []).append(name)  # type: ignore[index]
        smallest = sorted((min(f, key=_smallness) for f in families.values()), key=_smallness)
        first += smallest[:1]
        rest += smallest[1:]
    for name in [*first, *sorted(rest, key=hash_of)]:
        yield f"timm/{name}"


def _smallness(name: str) -> tuple[int, int, str]:
    return next((i for i, word in enumerate(SMALL) if word in name), 99), len(name), name


def by_use(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda n: (POPULAR.get(n, 10**6), hash_of(n)))


def hash_of(name: str) -> int:
    """An order that mixes families, the same each time."""
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


def build(name: str, layers: int) -> tuple[Any, Inputs, list[dict[int, str]]]:
    """The module, its inputs for (batch, sequence), and its dynamic axes."""
    torch.manual_seed(0)
    source, _, kind = name.partition("/")
    return from_timm(kind, layers) if source == "timm" else from_config(kind, layers)


def from_timm(kind: str, layers: int) -> tuple[Any, Inputs, list[dict[int, str]]]:
    """The narrowest and shallowest form of a model of timm that runs, on the smallest picture that it takes."""
    import timm  # pyright: ignore[reportMissingImports]

    narrow = {"depth": layers, "embed_dim": 48, "num_heads": 4}
    for options in [{**narrow, "img_size": 64}, {"img_size": 64}, {}]:
        try:
            whole = timm.create_model(kind, pretrained=False, num_classes=10, **options).eval()
        except Exception:  # not every model has every option
            continue
        channels, *default = whole.default_cfg["input_size"]
        sides = [n for n in (64, 96, 128) if n < default[0]]
        sizes = [(n, n) for n in (sides[:1] if "img_size" in options else sides)] + [tuple(default)]
        for model in (few_repeats(whole, layers), whole):
            for height, width in sizes:
                shape = (channels, height, width)
                with contextlib.suppress(Exception), torch.no_grad():
                    model(torch.randn(2, *shape))
                    return (
                        steady(model),
                        lambda b, s, shape=shape: (torch.randn(b, *shape),),
                        [{0: "batch"}],
                    )
    raise LookupError("no picture runs")


def few_repeats(model: Any, layers: int) -> Any:
    """A copy without most of the blocks that only repeat the one in front: `layers` of them are left in all."""
    short = copy.deepcopy(model)
    lists = [
        m for m in short.modules() if isinstance(m, (torch.nn.Sequential, torch.nn.ModuleList))
    ]
    runs = [m for m in lists if any(_repeats(m, i) for i in range(1, len(m)))]
    kept = max(1, -(-layers // max(len(runs), 1)))
    for blocks in runs:
        run = 0
        for i in range(len(blocks) - 1, 0, -1):
            if _repeats(blocks, i):
                run += 1
        for i in range(len(blocks) - 1, 0, -1):
            if run >= kept and _repeats(blocks, i):
                del blocks[i]
                run -= 1
    return short


def _repeats(blocks: Any, i: int) -> bool:
    return repr(blocks[i]) == repr(blocks[i - 1]) and any(True for _ in blocks[i].parameters())


Inputs = Callable[[int, int], tuple[Any, ...]]


def from_config(kind: str, layers: int) -> Any:
    """The smallest model, and the first set of inputs, that eager runs: some sizes depend on others that have no common name."""
    from transformers import AutoModel
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    first: Exception | None = None
    for how in (shrink, shallow, few_words):
        try:
            config = CONFIG_MAPPING[kind](**copy.deepcopy(singular.CONFIGS.get(kind, {})))
            how(config, layers)
            with torch.device("meta"):
                size = sum(p.numel() for p in AutoModel.from_config(config).parameters())
            if size > 80e6:
                raise MemoryError(f"{size / 1e6:.0f} M parameters with {how.__name__}")
            model = steady(AutoModel.from_config(config))
        except Exception as error:
            first = first or error
            continue
        for made in candidates(kind, config, model):
            try:
                return running(config, model, made)
            except Exception as error:
                first = first or error
    raise first or LookupError("no inputs are made here")


def running(config: Any, model: Any, made: Made) -> Any:
    """The module with inputs that eager runs; where it says how many tokens stand for a picture, they are put in front."""
    module, inputs, axes = with_inputs(model, made)
    try:
        tried(module, inputs)
    except Exception as error:
        token = getattr(config, "image_token_id", getattr(config, "image_token_index", None))
        wanted = re.search(r"tokens: 0, features:? (\d+)", str(error))
        if wanted is None or token is None:
            raise
        count = int(wanted[1]) // (2 if int(wanted[1]) % 2 == 0 else 1)  # of two pictures
        ids, axis = made["input_ids"]
        lead = lambda b, s: torch.cat([torch.full((b, count), token), ids(b, s)], 1)  # noqa: E731
        wide = lambda b, s: padded(b, s + count)  # noqa: E731
        more: Made = {**made, "input_ids": (lead, axis)}
        if "attention_mask" in made:
            more["attention_mask"] = (wide, made["attention_mask"][1])
        module, inputs, axes = with_inputs(model, more)
        tried(module, inputs)
    return module, inputs, axes


def tried(module: Any, inputs: Inputs) -> None:
    with torch.no_grad():
        for case in (inputs(2, 8), inputs(3, 11)):
            module(*case)


def with_inputs(model: Any, made: Made) -> Any:
    caches = "use_cache" in inspect.signature(model.forward).parameters
    module = First(model, list(made), **({"use_cache": False} if caches else {}))
    makers = [m for m, _ in made.values()]
    return module, lambda b, s: tuple(m(b, s) for m in makers), [axes for _, axes in made.values()]


def candidates(kind: str, config: Any, model: Any) -> Iterator[Made]:
    """Sets of inputs, the fullest first: text and pictures, text alone, then what takes one tensor in one of its usual shapes."""
    parameters = inspect.signature(model.forward).parameters
    own = singular.INPUTS[kind](config) if kind in singular.INPUTS else {}
    for made in common(config, parameters):
        yield {**made, **own}
    yield own


def common(config: Any, parameters: Any) -> Iterator[Made]:
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
    width = getattr(config, "d_model", None) or getattr(config, "hidden_size", None)
    if isinstance(width, int):
        hidden = (lambda b, s: torch.randn(b, s, width)), {0: "batch", 1: "seq"}
        names = [k for k in ("inputs", "input_values") if k in parameters]
        after = {k: hidden for k in ("decoder_input_values",) if k in parameters}
        if names and (after or names == ["inputs"]):
            yield {names[0]: hidden, **after}
    longest = getattr(config, "max_length", None)
    if "input_values" in parameters and isinstance(longest, int):
        bands = config.num_mel_bins
        yield {"input_values": (lambda b, s: torch.randn(b, longest, bands), batch)}
    if "input_values" in parameters:
        yield {"input_values": (lambda b, s: torch.randn(b, 800), batch), **rest}
        yield {"input_values": (lambda b, s: torch.randn(b, 1, 1920), batch), **rest}
    for key in [features, "input_values"]:
        for n in [n for n in (*bins, 16, 80, 128) if isinstance(n, int) and key in parameters]:
            yield {key: (lambda b, s, n=n: torch.randn(b, n, frames), batch), **rest}
            yield {key: (lambda b, s, n=n: torch.randn(b, frames, n), batch), **rest}


def texts(config: Any, parameters: Any) -> Made:
    def ids(b: int, s: int) -> Any:
        words = min(WORDS, getattr(config, "vocab_size", WORDS)) - 20
        return torch.randint(3, words, (b, s))

    both = {0: "batch", 1: "seq"}
    made: Made = {}
    if "input_ids" in parameters:
        made["input_ids"] = (ids, both)
        if "attention_mask" in parameters:
            made["attention_mask"] = (padded, both)
    if "decoder_input_ids" in parameters:
        made["decoder_input_ids"] = (ids, {0: "batch", 1: "target"})
    return made


def padded(b: int, s: int) -> Any:
    """The end of the last sequence is left out: for masks without effect transformers goes ways in eager that it does not export."""
    mask = torch.ones(b, s, dtype=torch.long)
    mask[-1, -2:] = 0
    return mask


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


def few_words(config: Any, layers: int) -> None:
    """A small vocabulary, special tokens at its end, all else as it is."""
    for part in parts_of(config):
        few_words(part, layers)
    if isinstance(getattr(config, "vocab_size", None), int):
        put(config, "vocab_size", min(config.vocab_size, WORDS))
    for key in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
        if isinstance(getattr(config, key, None), int):
            put(config, key, min(getattr(config, key), 2))
    special = [k for k in vars(config) if re.search(r"_token_(id|index)$", k)]
    for i, key in enumerate(sorted(special)):
        if isinstance(getattr(config, key), int) and getattr(config, key) >= WORDS - 20:
            put(config, key, WORDS - 1 - i % 20)


def shallow(config: Any, layers: int) -> None:
    """Few layers and words, all else as it is."""
    few_words(config, layers)
    for part in parts_of(config):
        shallow(part, layers)
    for key in LAYERS:
        if isinstance(getattr(config, key, None), int):
            put(config, key, min(getattr(config, key), layers))
    for key in ("layer_types", "layers_block_type", "mlp_layer_types"):
        if isinstance(getattr(config, key, None), list):
            put(config, key, getattr(config, key)[:layers])
    if isinstance(getattr(config, "depths", None), (list, tuple)):
        each = -(-layers // len(config.depths))
        put(config, "depths", [min(each, n) for n in config.depths])
    if isinstance(getattr(config, "hidden_sizes", None), (list, tuple)) and hasattr(
        config, "num_stages"
    ):
        put(config, "hidden_sizes", config.hidden_sizes[: config.num_stages])


def parts_of(config: Any) -> list[Any]:
    return [p for p in vars(config).values() if hasattr(p, "to_dict") and hasattr(p, "model_type")]


def shrink(config: Any, layers: int) -> None:
    """Small sizes, too, where the config and its parts have such fields."""
    shallow(config, layers)
    for part in parts_of(config):
        shrink(part, layers)
    for key, size in SIZES.items():
        had = getattr(config, key, None)
        if isinstance(had, int) and not isinstance(had, bool) and had > size:
            put(config, key, size)
    if {"qk_head_dim", "qk_nope_head_dim", "qk_rope_head_dim"} <= set(vars(config)):
        put(config, "qk_head_dim", config.qk_nope_head_dim + config.qk_rope_head_dim)
    if hasattr(config, "kv_lora_rank"):  # latent attention: a key for each head
        put(config, "num_key_value_heads", config.num_attention_heads)
    if {"expand", "num_heads", "head_dim", "hidden_size"} <= set(vars(config)):  # state spaces
        put(config, "num_heads", config.expand * config.hidden_size // config.head_dim)
    if hasattr(config, "mamba_n_heads"):
        inner = config.mamba_expand * config.hidden_size
        put(config, "mamba_d_head", inner // 4)
        put(config, "mamba_n_heads", 4)
    for key, value in OWED.items():
        if hasattr(config, key) and getattr(config, key) is None:
            put(config, key, value)
    rope = getattr(config, "rope_parameters", None)
    if isinstance(rope, dict):
        rope["mrope_section"] = [2, 1, 1]  # half of head_dim, where a model asks for it


def put(config: Any, key: str, value: Any) -> None:
    with contextlib.suppress(AttributeError, NotImplementedError):  # some compute it
        setattr(config, key, value)


def steady(model: Any) -> Any:
    """In eval mode, with weights of ordinary size, so that results move with the inputs: small ones would make all scores one."""
    for name, p in model.named_parameters():
        w = p.detach()
        if name.endswith("weight") and p.ndim == 1 and float(w.abs().mean()) < 0.1:  # of a norm
            torch.nn.init.normal_(p, 1.0, 0.1)
        if p.ndim > 1 and p.is_floating_point():
            gain = float(w.std()) * w[0].numel() ** 0.5
            if gain < 1e-3:
                torch.nn.init.normal_(p, std=0.05)
            elif gain < 0.5:
                w.mul_(0.7 / gain)
    return model.eval().requires_grad_(False)
