"""Generate tokens with a decoder that has a KV cache (exported with --max-context).

Example:

    pteron generate decoder.pte --tokens 1,2,3 --max-new-tokens 20 --temperature 0.8 --seed 7
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pteron.schema.errors import ArgumentError

from . import say
from .pairs import as_json, at_least, program, tolerance

if TYPE_CHECKING:
    from ..runtime import Model
    from ..runtime.tokenizer import Tokenizer

Show = Callable[[int | None], str]


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", type=Path, help=".pte file of a decoder")
    parser.add_argument(
        "--text",
        help="prompt as text, for a program with a tokenizer; prints text, up to its end token",
    )
    parser.add_argument(
        "--tokens", type=ids, metavar="1,2,3", help="prompt as token ids; prints ids"
    )
    parser.add_argument(
        "--max-new-tokens",
        type=at_least(0),
        metavar="N",
        help="most tokens to generate; default: until the context is full",
    )
    parser.add_argument(
        "--stop",
        type=ids,
        default=[],
        metavar="1,2",
        help="token ids that end the generation, as eos",
    )
    parser.add_argument(
        "--temperature",
        type=tolerance,
        default=0.0,
        help="0 (default): greedy, the most probable token; above: sampling, the flatter the higher",
    )
    parser.add_argument(
        "--top-k",
        type=at_least(0),
        default=0,
        metavar="K",
        help="sample from the K most probable tokens (0: all)",
    )
    parser.add_argument(
        "--top-p",
        type=tolerance,
        default=1.0,
        metavar="P",
        help="sample from the fewest tokens whose probabilities sum to P",
    )
    parser.add_argument(
        "--min-p",
        type=tolerance,
        default=0.0,
        metavar="P",
        help="drop tokens below P times the highest probability",
    )
    parser.add_argument("--seed", type=at_least(0, 2**64 - 1), default=0, help="seed of sampling")
    parser.add_argument("--threads", type=at_least(0, 256), help="threads (default: all)")
    as_json(parser)


def ids(text: str) -> list[int]:
    """1,2,3 or 1 2 3."""
    parts = re.split(r"\s*,\s*|\s+", text.strip())
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise argparse.ArgumentTypeError(f"expected tokens as 1,2,3, got {text!r}")
    return [int(part) for part in parts]


def run(args: argparse.Namespace) -> int:
    from ..runtime import load
    from ..runtime.tokens import Sampling, generate

    sampling = Sampling(
        temperature=args.temperature,
        top_k=args.top_k,
        top_p=args.top_p,
        min_p=args.min_p,
        seed=args.seed,
    )
    drawn = any((args.top_k, args.top_p != 1.0, args.min_p, args.seed))
    if args.temperature == 0 and drawn:
        raise ArgumentError(
            "--top-k, --top-p, --min-p and --seed: expected a --temperature above 0"
        )
    if (args.tokens is None) == (args.text is None):
        raise ArgumentError("expected either --tokens or --text, got both or neither; give one")
    with load(program(args.program), threads=args.threads) as model:
        tokens, stop, show = prompt(args, model)
        times = [time.perf_counter()]
        made: list[int] = []
        each = generate(
            model, tokens, max_new_tokens=args.max_new_tokens, sampling=sampling, stop=stop
        )
        try:
            for token in each:
                times.append(time.perf_counter())
                made.append(token)
                shown = show(token)
                if not args.json:
                    print(shown, end="", flush=True)
        finally:  # what came before an interrupt is told whole
            rest = show(None)
            if made and not args.json:
                print(rest, flush=True)
            if made:
                say.aside(rate(len(tokens), times))
        if each.end == "full":
            say.aside(
                f"the context of {model.room} tokens is full; export with a larger --max-context for more"
            )
    if args.json:
        text = {"text": show.text} if isinstance(show, Shown) else {}
        told = {"tokens": made, "end": each.end, **text, **facts(tokens, times)}
        say.result("generate", True, told, str)
    return 0


def prompt(args: argparse.Namespace, model: Model) -> tuple[list[int], list[int], Show]:
    """The tokens that are read, those that end the text, and how the new ones are shown."""
    if args.text is None:
        return args.tokens, args.stop, number
    tokenizer = model.tokenizer
    return tokenizer.encode(args.text), [*args.stop, *tokenizer.stops], Shown(tokenizer)


def number(token: int | None) -> str:
    """A token as it is told where there is no text; None: their end."""
    return "" if token is None else f"{token} "


class Shown:
    """What tokens add to the text, and all of it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._stream = tokenizer.stream()
        self.text = ""

    def __call__(self, token: int | None) -> str:
        added = self._stream.end() if token is None else self._stream.add(token)
        self.text += added
        return added


def facts(prompt: list[int], times: list[float]) -> dict[str, Any]:
    """Of the first token the prompt's time, of the others the rate."""
    first = (times[1] - times[0]) * 1e3 if len(times) > 1 else None
    rest = len(times) - 2
    per_s = rest / (times[-1] - times[1]) if rest > 0 else None
    return {"prompt": prompt, "first_ms": first, "tokens_per_s": per_s}


def rate(prompt: int, times: list[float]) -> str:
    told = facts([], times)
    text = f"{prompt} tokens read in {told['first_ms']:.1f} ms"
    return text if told["tokens_per_s"] is None else f"{text}; {told['tokens_per_s']:.1f} tokens/s"
