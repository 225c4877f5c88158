"""Tokens a second of a decoder: python benchmarks/text.py [--threads 1,2] [--contexts 128,1500] [--peers PYTHON]

A Llama of 246 M weights (random ones: speed does not depend on them), in 4 bits: what decoding one token after another behind a
context takes, reading the context as a prompt, and the memory that loading and running add to the process at its peak.
Each runtime is a process that stays; they take turns, and the median and best of the rounds are told, so that a busy machine is
busy for all. Those take part whose modules PYTHON has: `llama_cpp` (its model needs `gguf`), `onnxruntime_genai` (`onnx_ir`, `onnx`),
`openvino` (`nncf`; prompts alone); all need `torch` and `transformers` until their models are made. llama.cpp is to be built for the machine: CMAKE_ARGS=-DGGML_NATIVE=ON pip install --no-binary :all: llama-cpp-python; 0.3.36 with AMX ended in
a segmentation fault: there -DGGML_NATIVE=OFF, and ON what the processor else has (-DGGML_AVX512_VNNI=ON and its kind).
`--where` says what a token's time goes to, by instruction. `--write` puts the rows measured into this machine's section of
benchmarks/TEXT.md, in place of those of the same contexts and threads.
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

Written by `make bench-text BENCH='--peers PYTHON --write'` (`benchmarks/text.py`), a section a machine: a Llama of 246 M random weights
(16 layers, width 1,024, 4 key heads of 64), greedy, one sequence. Ours in NF4 (`--activations auto`), llama.cpp in Q4_0 with its f16 cache,
onnxruntime-genai in int4, blocks of 32, OpenVINO in int4, groups of 32, which reads prompts only, in the precision it chooses: bf16
where the processor has AMX (logits 2.6 % from those of its f32, which takes twice as long). The runtimes take turns; a rate is the
median of the rounds, in parentheses the best; ratio: median of the rounds' pairs, ours / the faster of the others in that round. Where
others work on the machine (load), ratios say more than rates. Memory: what loading and running add to the process, its peak less what
it began with, in MiB.
"""
COLUMNS = """| context | threads | runtime | decode tokens/s | ratio | prompt ms | ratio | memory | load |
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
    from pteron.quantize.recipe.rules import recipe

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


def openvino(python: str) -> Path:
    return made(python, "openvino", BUILD / "openvino-int4.xml")


PEERS = {
    "llama_cpp": ("llama.cpp", "Q4_0", gguf),
    "onnxruntime_genai": ("onnxruntime-genai", "int4", genai),
    "openvino": ("openvino", "int4", openvino),
}
"""By the module that PYTHON needs: the runtime, its format, and what makes its model."""


def there(python: str | None) -> list[str]:
    """The modules of PEERS that `python` has."""
    if not python:
        return []
    asked = f"import importlib.util as u; print(*(m for m in {[*PEERS]} if u.find_spec(m)))"
    return subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.split()  # fmt: skip


class Child:
    """A runtime in a process of its own that waits for its turn."""

    def __init__(self, python: str, runtime: str, path: Path, threads: int, context: int) -> None:
        words = [python, "-c", code(runtime), *map(str, (path, threads, context, STEPS))]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.prompt_s, self.rates, self.memory_mib = list[float](), list[float](), 0.0
        while not (line := self._line()).startswith("ready"):
            pass
        self.version = line.split()[1]

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
        if rate:
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
    ours = {
        f"pteron nf4, {cache}": Child(here, "pteron", export(cache), threads, context)
        for cache in args.caches
    }
    others = {}
    for module in there(peer):
        name, form, make = PEERS[module]
        child = Child(peer, name, make(peer), threads, context)
        others[f"{name} {child.version} {form}"] = child
    children = {**ours, **others}
    for turn in range(args.rounds):
        for child in children.values():
            child.turn(prompt=context < LONG or turn % 3 == 0)
    rows = []
    for name, child in children.items():
        child.close()
        of = [] if name in others else list(others.values())
        faster = ratio(child.rates, [c.rates for c in of if c.rates], max)
        sooner = ratio(child.prompt_s, [c.prompt_s for c in of], min)
        told = f"{statistics.median(child.rates):.0f} ({max(child.rates):.0f})" if child.rates else "-"  # fmt: skip
        prompt = f"{statistics.median(child.prompt_s) * 1e3:.0f} ({min(child.prompt_s) * 1e3:.0f})"
        rows.append(
            f"| {context} | {threads} | {name} | {told} | {faster} | {prompt} | {sooner} "
            f"| {child.memory_mib:.0f} | {os.getloadavg()[0]:.1f} |"
        )
        print(rows[-1], flush=True)
    return rows


def ratio(ours: list[float], others: list[list[float]], best: Any) -> str:
    """The median over rounds of ours / the best of the others in that round."""
    pairs = [a / best(of) for a, *of in zip(ours, *others, strict=True)] if others else []
    return f"{statistics.median(pairs):.2f}" if pairs else ""


def sections() -> dict[str, list[str]]:
    """The rows of each machine that the file has."""
    found: dict[str, list[str]] = {}
    for line in TABLE.read_text().splitlines() if TABLE.exists() else []:
        if line.startswith("## "):
            rows = found.setdefault(line[3:], [])
        elif line.startswith("| ") and line[2].isdigit():
            rows.append(line)
    return found


def write(rows: list[str]) -> None:
    """Into this machine's section, in place of those of the same context and threads."""
    from pteron.runtime import cpu

    def size(row: str) -> list[int]:
        return [int(n) for n in row.split("|")[1:3]]

    found = sections()
    kept = [row for row in found.get(cpu.machine(), []) if size(row) not in map(size, rows)]
    found[cpu.machine()] = sorted(kept + rows, key=size)
    parts = [
        HEAD,
        *(f"## {name}\n\n{COLUMNS}" + "\n".join(of) + "\n" for name, of in found.items()),
    ]
    TABLE.write_text("\n".join(parts))


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
    parser.add_argument("--caches", type=lambda text: text.split(","), default=["f16", "int8"])
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
