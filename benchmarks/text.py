"""Tokens a second of a decoder: python benchmarks/text.py [--threads 1,2] [--contexts 128,1500] [--peers PYTHON]

A Llama of 246 M weights (random ones: speed does not depend on them), in 4 bits: what decoding one token after another behind a
context takes, reading the context as a prompt, and the memory that loading and running add to the process at its peak.
Each runtime is a process that stays; they take turns, and the median and best of the rounds are told, so that a busy machine is
busy for all. llama.cpp and onnxruntime-genai take part where PYTHON has `llama_cpp`, `onnxruntime_genai`, `gguf`, `torch` and
`transformers`. llama.cpp is to be built for the machine: CMAKE_ARGS=-DGGML_NATIVE=ON pip install --no-binary :all: llama-cpp-python; 0.3.36 with AMX ended in
a segmentation fault: there -DGGML_NATIVE=OFF, and ON what the processor else has (-DGGML_AVX512_VNNI=ON and its kind).
`--where` says what a token's time goes to, by instruction. `--write` puts the rows measured into benchmarks/TEXT.md, in place of
those of the same contexts and threads, and of those of another machine.
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

from text_runtimes import code

BUILD = Path(__file__).resolve().parent.parent / "build/text"
ROOM, STEPS = 2048, 32
LONG = 1024  # prompts of that many tokens are read in each third round
CACHES = ("f32", "f16", "f8", "int8")
TABLE = Path(__file__).with_name("TEXT.md")
HEAD = """# Text generation beside other runtimes

Written by `make bench-text BENCH='--peers PYTHON --write'` (`benchmarks/text.py`): a Llama of 246 M random weights (16 layers, width
1,024, 4 key heads of 64), greedy, one sequence. Ours in NF4 (`--exec auto`), llama.cpp in Q4_0 with its f16 cache, onnxruntime-genai
in int4, blocks of 32. The runtimes take turns; a rate is the median of the rounds, in parentheses the best; ratio: median of the
rounds' pairs, ours / the faster of the others in that round. Where others work on the machine (load), ratios say more than rates.
Memory: what loading and running add to the process, its peak less what it began with, in MiB. Machine: {machine}.

| context | threads | runtime | decode tokens/s | ratio | prompt ms | ratio | memory | load |
|---|---|---|---|---|---|---|---|---|
"""


def shape() -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=16, num_attention_heads=16,
        num_key_value_heads=4, max_position_embeddings=ROOM, tie_word_embeddings=False,
    )  # fmt: skip


def export(cache: str) -> Path:
    """The decoder's program, made once."""
    path = BUILD / f"llama-nf4-{cache}.pte"
    if path.exists():
        return path
    import torch
    from transformers import LlamaForCausalLM

    import pteron
    from pteron.quantize.recipe import recipe

    torch.manual_seed(0)
    BUILD.mkdir(parents=True, exist_ok=True)
    pteron.export_model(
        LlamaForCausalLM(shape()).eval(),
        path,
        kwargs={"input_ids": torch.zeros((1, 8), dtype=torch.long), "use_cache": False},
        dynamic_shapes={"input_ids": {1: "tokens"}, "use_cache": None},
        max_context=ROOM,
        cache=cache,
        quantize=recipe("nf4", algorithm="nearest"),
    )
    return path


def made(python: str, step: str, path: Path) -> Path:
    """A model of another runtime, made once by `python`."""
    if not path.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        subprocess.run([python, Path(__file__).with_name("text_models.py"), step, path], check=True)
    return path


def gguf(python: str) -> Path:
    return made(python, "gguf", BUILD / "llama-q4_0.gguf")


def genai(python: str) -> Path:
    return made(python, "genai", BUILD / "genai-int4")


class Child:
    """A runtime in a process of its own that waits for its turn."""

    def __init__(self, python: str, runtime: str, path: Path, threads: int, context: int) -> None:
        words = [python, "-c", code(runtime), *map(str, (path, threads, context, STEPS))]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.prompt_s, self.rates, self.memory_mib = list[float](), list[float](), 0.0
        while not self._line().startswith("ready"):
            pass

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args}: ended")
        return line

    def turn(self, prompt: bool) -> None:
        """Generates behind the context, which is read again first if `prompt`."""
        assert self.process.stdin is not None
        self.process.stdin.write("prompt\n" if prompt else "go\n")
        self.process.stdin.flush()
        read, rate, self.memory_mib = map(float, self._line().split())
        self.rates.append(rate)
        if prompt:
            self.prompt_s.append(read)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(args: argparse.Namespace, threads: int, context: int) -> list[str]:
    """Rows of the table."""
    here, peer = sys.executable, args.peers
    children = {
        f"pteron nf4, {cache}": Child(here, "pteron", export(cache), threads, context)
        for cache in args.caches
    }
    if peer:
        children["llama.cpp Q4_0"] = Child(peer, "llama.cpp", gguf(peer), threads, context)
        children["genai int4"] = Child(peer, "onnxruntime-genai", genai(peer), threads, context)
    for turn in range(args.rounds):
        for child in children.values():
            child.turn(prompt=context < LONG or turn % 3 == 0)
    others = [c for name, c in children.items() if not name.startswith("pteron")]
    rows = []
    for name, child in children.items():
        child.close()
        ours = others if child not in others else []
        faster = ratio(child.rates, [c.rates for c in ours], max)
        sooner = ratio(child.prompt_s, [c.prompt_s for c in ours], min)
        rows.append(
            f"| {context} | {threads} | {name} | {statistics.median(child.rates):.0f} ({max(child.rates):.0f}) | {faster} "
            f"| {statistics.median(child.prompt_s) * 1e3:.0f} ({min(child.prompt_s) * 1e3:.0f}) | {sooner} "
            f"| {child.memory_mib:.0f} | {os.getloadavg()[0]:.1f} |"
        )
        print(
            f"{name:16} {threads} threads, context {context:4}:"
            f" decode {statistics.median(child.rates):6.1f} (best {max(child.rates):6.1f}) tokens/s,"
            f" prompt {statistics.median(child.prompt_s) * 1e3:6.0f} (best {min(child.prompt_s) * 1e3:6.0f}) ms,"
            f" memory {child.memory_mib:4.0f} MiB; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    return rows


def ratio(ours: list[float], others: list[list[float]], best: Any) -> str:
    """The median over rounds of ours / the best of the others in that round."""
    pairs = [a / best(of) for a, *of in zip(ours, *others, strict=True)] if others else []
    return f"{statistics.median(pairs):.2f}" if pairs else ""


def write(rows: list[str]) -> None:
    """Into the table, in place of those of the same context and threads; rows of another machine go."""
    from pteron.runtime import cpu

    head = HEAD.format(machine=cpu.machine())
    same = {tuple(row.split("|")[1:3]) for row in rows}
    text = TABLE.read_text() if TABLE.exists() else ""
    kept = text.splitlines() if text.startswith(head) else []
    kept = [
        r
        for r in kept
        if r[:2] == "| " and r[2:3].isdigit() and tuple(r.split("|")[1:3]) not in same
    ]
    by_size = sorted(kept + rows, key=lambda row: [int(n) for n in row.split("|")[1:3]])
    TABLE.write_text(head + "\n".join(by_size) + "\n")


def where(context: int) -> None:
    """By instruction, the least of eight steps each, on one thread."""
    import numpy as np

    import pteron
    from pteron.schema.ops import OPS

    names = {op.id: name for name, op in OPS.items()}
    for cache in CACHES:
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
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peers", metavar="PYTHON")
    parser.add_argument("--caches", type=lambda text: text.split(","), default=CACHES)
    parser.add_argument("--where", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    for context in args.contexts:
        for threads in () if args.where else args.threads:
            rows = compare(args, threads, context)
            if args.write:
                write(rows)
        if args.where:
            where(context)


if __name__ == "__main__":
    main()
