"""A decoder that keeps its context beside llama.cpp on a GGUF file of the same model: a prompt is read, then tokens made, in turns."""

from __future__ import annotations

import argparse
import dataclasses
import functools
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pteron.schema.errors import ArgumentError
from pteron.schema.printable import joined

from .. import __version__
from ..runtime import Model, cpu
from ..runtime.tokens import PIECE, generate
from . import feeds, peers, say

PROMPT, NEW = 128, 32
"""Tokens that are read where no input and no size says how many, and that are made behind them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Decoder:
    """`read(tokens)` begins anew and gives the logits [words] behind them; `go_on(token, count)` reads that token and makes more,
    the likeliest each time, `count` in all."""

    read: Callable[[Any], Any]
    go_on: Callable[[int, int], None]


def pteron_of(model: Model) -> Decoder:
    """Our own.

    Raises:
        ArgumentError: no decoder that keeps its context.
    """
    session, fits = model.session_of_calls, generate(model, [0], max_new_tokens=0)
    assert fits.end is None
    port, output = session.inputs[0], session.outputs[0].name
    piece = min(PIECE, port.bounds[1][1])

    def read(tokens: Any) -> Any:
        session.rewind(0)
        for i in range(0, len(tokens), piece):
            ids = tokens[None, i : i + piece].astype(port.numpy_dtype)
            logits = session.run({port.name: ids})[output]
        return logits[0, -1]

    def go_on(token: int, count: int) -> None:
        for _ in generate(model, [token], max_new_tokens=count):
            pass

    return Decoder(read, go_on)


def llama_cpp(path: Path, room: int, threads: int) -> Decoder:
    """By its C API, with its defaults but for flash attention, which is slower on CPUs (29 and 56 ms a token behind 1,472).

    Raises:
        ValueError: it cannot load the file; ImportError: it is not here.
    """
    import llama_cpp as api  # pyright: ignore[reportMissingImports]

    quiet = api.llama_log_callback(lambda *_: None)
    api.llama_log_set(quiet, None)
    api.llama_backend_init()
    model = api.llama_model_load_from_file(str(path).encode(), api.llama_model_default_params())
    if not model:
        raise ValueError("expected a GGUF model that it loads")
    params = api.llama_context_default_params()
    params.n_ctx, params.n_batch = room, room
    params.n_threads, params.n_threads_batch = threads, threads
    params.flash_attn_type = api.LLAMA_FLASH_ATTN_TYPE_DISABLED
    context = api.llama_init_from_model(model, params)
    if not context:
        raise ValueError(f"expected a model that takes a context of {room} tokens")
    words = api.llama_vocab_n_tokens(api.llama_model_get_vocab(model))
    memory = api.llama_get_memory(context)

    def run(tokens: list[int], _: Any = quiet) -> Any:
        held = (api.llama_token * len(tokens))(*tokens)
        if status := api.llama_decode(context, api.llama_batch_get_one(held, len(tokens))):
            raise ValueError(f"llama_decode: {status}")
        return np.ctypeslib.as_array(api.llama_get_logits_ith(context, -1), (words,))

    def read(tokens: Any) -> Any:
        api.llama_memory_clear(memory, True)
        return run(tokens.tolist()).copy()

    def go_on(token: int, count: int) -> None:
        for _ in range(count):
            token = int(run([token]).argmax())

    return Decoder(read, go_on)


def first(path: Path, room: int, threads: int, tokens: Any) -> tuple[Decoder, Any]:
    """llama.cpp, and what it says of the prompt."""
    decoder = llama_cpp(path, room, threads)
    return decoder, decoder.read(tokens)


def run(args: argparse.Namespace, rivals: Mapping[str, Path]) -> int:
    """`pteron bench` where a peer makes text."""
    started = time.perf_counter()
    model = feeds.model_of(args)
    opened_ms = (time.perf_counter() - started) * 1e3
    ours, threads = pteron_of(model), cpu.threads(args.threads)
    tokens = prompt(args, model)
    wanted = ours.read(tokens)
    decoders, differences = {"pteron": ours}, dict[str, float]()
    for name, path in rivals.items():
        decoders[name], got = peers.opened(
            name, path, functools.partial(first, path, model.room, threads, tokens)
        )
        if got.shape != wanted.shape:
            raise ArgumentError(
                f"{path}: expected the program's model, with {len(wanted)} words, got {len(got)}"
            )
        differences[name] = peers.difference(wanted, got)
    prompts, tails = interleaved(decoders, tokens, args.runs, args.warmup)
    report = {
        "machine": cpu.machine(),
        "versions": {
            "pteron": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "threads": threads,
        "open_ms": opened_ms,
        "file_bytes": model.program.size_bytes,
        "tokens": {"read": len(tokens), "made": NEW},
        "tokens_per_s": {
            name: {
                "prompt": rates(len(tokens), prompts[name]),
                "decode": rates(NEW, tails[name]),
            }
            for name in decoders
        },
        "peers": {
            name: {
                "version": peers.version(name),
                "ratio": {
                    "prompt": pairs(prompts["pteron"], prompts[name]),
                    "decode": pairs(tails["pteron"], tails[name]),
                },
                "difference": difference,
            }
            for name, difference in differences.items()
        },
    }
    say.result("bench", args.json, report, lambda: text(report))
    return 0


def prompt(args: argparse.Namespace, model: Model) -> Any:
    """The tokens [n] that the command line asks for: an input's, or random ones.

    Raises:
        ArgumentError: several prompts at once, or more tokens than there is room for with those that are made.
    """
    room = model.room - NEW
    if args.input or args.dim:
        given = next(iter(feeds.of(args, model).values()))
        if given.ndim != 2 or len(given) != 1 or not 0 < given.shape[1] <= room:
            raise ArgumentError(
                f"{model.inputs[0].name}: expected [1, 1 to {room}], {NEW} less than the context has room for, got {list(given.shape)}"
            )
        if args.input:
            return given[0]
        count = given.shape[1]
    else:
        count = min(PROMPT, room)
    words = int(model.outputs[0].shape[-1])
    return np.random.default_rng(args.seed or 0).integers(0, words, max(count, 1))


def interleaved(
    decoders: Mapping[str, Decoder], tokens: Any, runs: int, warmup: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Seconds that each takes for the prompt, and for the tokens behind it, in turn. See bench.interleaved for the rest."""
    prompts: dict[str, list[float]] = {name: [] for name in decoders}
    tails: dict[str, list[float]] = {name: [] for name in decoders}
    for i in range(warmup + runs):
        for name, decoder in decoders.items():
            time.sleep(peers.REST)
            began = time.perf_counter()
            token = int(decoder.read(tokens).argmax())
            read = time.perf_counter()
            decoder.go_on(token, NEW)
            if i >= warmup:
                prompts[name].append(read - began)
                tails[name].append(time.perf_counter() - read)
    return prompts, tails


def rates(count: int, seconds: list[float]) -> dict[str, float]:
    """Tokens a second: the median of the turns, and the best."""
    return {"p50": count / float(np.median(seconds)), "max": count / min(seconds)}


def pairs(ours: list[float], others: list[float]) -> float:
    return float(np.median(np.array(ours) / np.array(others)))


def text(report: dict[str, Any]) -> str:
    read, made = report["tokens"]["read"], report["tokens"]["made"]
    lines = [
        f"{report['machine']}; {report['threads']} threads; pteron {report['versions']['pteron']}",
        f"open {report['open_ms']:.2f} ms, file {report['file_bytes'] / 1e6:.2f} MB; {read} tokens are read, {made} made behind them",
    ]
    lines += [
        f"{name:12s} prompt {r['prompt']['p50']:.0f} (best {r['prompt']['max']:.0f}), "
        f"decode {r['decode']['p50']:.1f} (best {r['decode']['max']:.1f}) tokens/s"
        for name, r in report["tokens_per_s"].items()
    ]
    lines += [
        f"pteron / {name} {p['version']}, time: prompt {p['ratio']['prompt']:.2f}, decode {p['ratio']['decode']:.2f} "
        f"(medians of pairs); largest relative difference of the prompt's last logits {p['difference']:.2g}"
        for name, p in report["peers"].items()
    ]
    return joined(lines)
