"""Tokens a second of a decoder: python benchmarks/text.py [--threads 1,2] [--contexts 128,1500] [--gguf FILE --llama PYTHON]

A Llama of 246 M weights (random ones: speed does not depend on them), NF4, its context in f32 and f16, decoding one token after
another behind a context. Each runtime is a process that stays; they take turns, and the median and best of the rounds are told,
so that a busy machine is busy for all. llama.cpp takes part where PYTHON has `xllamacpp` and FILE is the model in GGUF.
`--where` says what a token's time goes to, by instruction.
"""

from __future__ import annotations

import argparse
import collections
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

BUILD = Path(__file__).resolve().parent.parent / "build/text"
ROOM, STEPS = 2048, 24
OURS = """
import sys, time, numpy as np, pteron
path, threads, context, steps = sys.argv[1], *map(int, sys.argv[2:])
model = pteron.load(path, threads=threads)
tokens = np.random.default_rng(0).integers(3, 32000, (1, context))
begin = time.perf_counter()
model.run({"input_ids": tokens})
print("ready", time.perf_counter() - begin, flush=True)
for line in sys.stdin:
    model.rewind(context)
    each = pteron.generate(model, [5], max_new_tokens=steps)
    next(each)
    begin = time.perf_counter()
    made = len(list(each))
    print(made / (time.perf_counter() - begin), flush=True)
"""
LLAMA = """
import sys, json, numpy as np, xllamacpp
path, threads, context, steps = sys.argv[1], *map(int, sys.argv[2:])
p = xllamacpp.CommonParams()
p.model.path, p.n_ctx, p.n_parallel, p.verbosity, p.n_gpu_layers = path, 2048, 1, 0, 0
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = threads
server = xllamacpp.Server(p)
ids = np.random.default_rng(0).integers(3, 32000, context).tolist()
def go():
    asked = {"prompt": ids, "n_predict": steps, "temperature": 0, "ignore_eos": True, "cache_prompt": True}
    told = server.handle_completions(asked)
    return (json.loads(told) if isinstance(told, (str, bytes)) else told)["timings"]
print("ready", go()["prompt_ms"] / 1e3, flush=True)
for line in sys.stdin:
    print(go()["predicted_per_second"], flush=True)
"""


def export(cache: str) -> Path:
    """The decoder's program, made once."""
    path = BUILD / f"llama-nf4-{cache}.pte"
    if path.exists():
        return path
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    import pteron
    from pteron.quantize.recipe import recipe

    torch.manual_seed(0)
    shape = LlamaConfig(
        vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=16, num_attention_heads=16,
        num_key_value_heads=4, max_position_embeddings=ROOM,
    )  # fmt: skip
    BUILD.mkdir(parents=True, exist_ok=True)
    pteron.export_model(
        LlamaForCausalLM(shape).eval(),
        path,
        kwargs={"input_ids": torch.zeros((1, 8), dtype=torch.long), "use_cache": False},
        dynamic_shapes={"input_ids": {1: "tokens"}, "use_cache": None},
        max_context=ROOM,
        cache=cache,
        quantize=recipe("nf4", algorithm="nearest"),
    )
    return path


class Child:
    """A runtime in a process of its own that waits for its turn."""

    def __init__(self, python: str, code: str, path: Path, threads: int, context: int) -> None:
        words = [python, "-c", code, str(path), str(threads), str(context), str(STEPS)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)
        line = self._line()
        while not line.startswith("ready"):
            line = self._line()
        self.prompt_s, self.rates = float(line.split()[1]), list[float]()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args}: ended")
        return line

    def turn(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.rates.append(float(self._line()))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(args: argparse.Namespace, threads: int, context: int) -> None:
    children = {
        f"pteron nf4, {cache}": Child(sys.executable, OURS, export(cache), threads, context)
        for cache in ("f32", "f16")
    }
    if args.gguf:
        children["llama.cpp"] = Child(args.llama, LLAMA, args.gguf, threads, context)
    for _ in range(args.rounds):
        for child in children.values():
            child.turn()
    for name, child in children.items():
        child.close()
        rates = child.rates
        print(
            f"{name:18} {threads} threads, context {context}: median {statistics.median(rates):6.1f}, best {max(rates):6.1f} tokens/s; "
            f"prompt {child.prompt_s:.2f} s; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )


def where(context: int) -> None:
    """By instruction, the least of eight steps each, on one thread."""
    import numpy as np

    import pteron
    from pteron.schema.ops import OPS

    names = {op.id: name for name, op in OPS.items()}
    for cache in ("f32", "f16"):
        model = pteron.load(export(cache), threads=1)
        model.run({"input_ids": np.random.default_rng(0).integers(3, 32000, (1, context))})
        least: dict[str, float] = {}
        for _ in range(8):
            events: list[Any] = []
            model.rewind(context)
            model.session_of_calls.run({"input_ids": np.array([[5]])}, trace=events)
            sums: dict[str, float] = collections.Counter()
            for e in events:
                sums[names[e.op]] += (e.end_ns - e.begin_ns) / 1e6
            least = {n: min(ms, least.get(n, ms)) for n, ms in sums.items()}
        told = sorted(least.items(), key=lambda row: -row[1])[:5]
        print(f"cache {cache}, context {context}:", ", ".join(f"{n} {ms:.2f} ms" for n, ms in told))


def main() -> None:
    numbers = lambda text: [int(x) for x in text.split(",")]  # noqa: E731
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--contexts", type=numbers, default=[128, 1500])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--gguf", type=Path)
    parser.add_argument("--llama", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--where", action="store_true")
    args = parser.parse_args()
    for context in args.contexts:
        for threads in () if args.where else args.threads:
            compare(args, threads, context)
        if args.where:
            where(context)


if __name__ == "__main__":
    main()
