"""docs/onnx.md: which operators of a program each operator of ONNX becomes, found by lowering the cases that come with ONNX.

`python tests/lower/onnx_map.py` writes the page; `--check` says whether it is as it would be written.
"""

from __future__ import annotations

import collections
import dataclasses
import logging
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import onnx
from onnx.backend.test.case.node import collect_testcases
from test_onnx_cases import array, with_constants

from pteron.export.capture.contrib.foreign import DOMAIN, LEARNED, TRANSLATIONS
from pteron.export.capture.onnx import capture_onnx
from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.lower.table import LOWERINGS
from pteron.export.program import Program
from pteron.schema.errors import PteronError
from pteron.schema.ops import OPS

PAGE: Final = Path(__file__).resolve().parent.parent.parent / "docs/onnx.md"
HEAD: Final = """# Operators of ONNX

Written by tests/lower/onnx_map.py, which lowers the cases that come with ONNX; do not edit.

What each operator becomes in a program, before anything is fused: one of its [operators](operators.md), or no instruction at all
where it is a view or its result is known at export. Several are several steps, or ways for several types and forms; a `copy`
is often that of a result to its output.
An operator that is not here is refused at export by its name, unless ONNX defines it as a function of others.

Where runtimes differ from ONNX's reference, the framework that models come from decides: GridSample with mode cubic and
padding border clamps each of the 16 taps, as PyTorch and onnxruntime do (the reference clamps the point between them); a
TreeEnsembleClassifier of two classes with weights of both gives the label of the larger, as the reference does (onnxruntime
gives 1 wherever the second is above 0). DynamicQuantizeLSTM is the LSTM of its dequantized weights: nearer to the model before
quantization than onnxruntime, which rounds the input and the hidden state to 8 bits at each step.

| ONNX | in a program |
|---|---|
"""


CONTROL: Final = {"If": {"if"}, "Loop": {"loop"}, "Scan": {"loop"}}
"""Of blocks there are few cases, and what lies in them is other nodes'."""


ALONE: Final = {
    "Not": ("x", "bool[n]"),
    "GlobalLpPool": ("x, p=2", "f32[n, 3, 8]"),
    "RandomNormal": ("shape=[2], seed=1.0", "f32[n]"),
    "RandomUniform": ("shape=[2], seed=1.0", "f32[n]"),
    "RandomNormalLike": ("x, seed=1.0", "f32[n]"),
    "RandomUniformLike": ("x, seed=1.0", "f32[n]"),
    "Multinomial": ("x, seed=1.0", "f32[n, 3]"),
}
"""Operators of which no case is lowered: operands and attributes, the type of x."""


REASONS: Final = (
    ("text", r"STRING|strings|reads text|in text"),
    ("a sequence or an optional", r"sequence|optional"),
    ("training", r"it trains|training"),
    ("random numbers", r"random numbers"),
    ("files of images", r"files of images"),
    (
        "an operand that is an input decides what the graph is: an axis, a shape, a scale",
        r"depends? on sizes|computed while running|not numbers|are resized|rank",
    ),
)
"""What an error says -> why the case is refused; the first that fits."""


@dataclasses.dataclass(slots=True)
class Cases:
    """The operators of a case that was lowered, and what was refused of the models as they are: reason -> operators."""

    programs: list[tuple[str, Program]] = dataclasses.field(default_factory=list)
    whole: int = 0
    count: int = 0
    refused: dict[str, collections.Counter[str]] = dataclasses.field(default_factory=dict)


def cases() -> Cases:
    """ONNX's own cases but those of functions written out; each as it is and, where that is refused, with constants."""
    found = Cases()
    for case in collect_testcases(None):
        graph = case.model.graph
        if case.name.endswith("_expanded"):
            continue
        found.count += 1
        op_type = graph.node[0].op_type
        plain = all(p.type.HasField("tensor_type") for p in (*graph.input, *graph.output))
        for model in (case.model, constant(case)) if plain else (case.model,):
            try:
                found.programs.append((op_type, lower(capture_onnx(model))))
                found.whole += model is case.model
            except PteronError as error:
                if model is case.model:
                    found.refused.setdefault(_reason(str(error)), collections.Counter())[
                        op_type
                    ] += 1
                continue
            break
    for op_type, (text, given) in ALONE.items():
        found.programs.append((op_type, lower(onnx_text(f"y = {op_type}({text})", x=given))))
    return found


def _reason(text: str) -> str:
    return next((why for why, words in REASONS if re.search(words, text)), "another reason")


def constant(case: object) -> onnx.ModelProto:
    model, (data, *_) = case.model, case.data_sets  # type: ignore[attr-defined]
    feeds = {p.name: array(x) for p, x in zip(model.graph.input, data[0], strict=False)}
    return with_constants(model, feeds)


def page() -> str:
    found = cases()
    made: dict[str, set[str]] = collections.defaultdict(set)
    for op_type, program in found.programs:
        made[op_type] |= {instr.op for block in program.blocks for instr in block.instrs}
    known = {op_type for domain, op_type in LOWERINGS if not domain}
    made |= {name: ops for name, ops in CONTROL.items() if name in known}
    names = sorted(known | (set(made) - TRANSLATIONS[LEARNED].keys()))
    rows = [f"| {name} | {_links(made.get(name, ()))} |" for name in names]
    return HEAD + "\n".join([*rows, *_foreign(), *_refused(found)]) + "\n"


def _foreign() -> list[str]:
    """What of other domains is read."""
    told = {
        DOMAIN: "Of onnxruntime's domain `com.microsoft`",
        LEARNED: "Of `ai.onnx.ml`, where keys, values and labels are numbers,",
    }
    lines = []
    for domain, who in told.items():
        listed = ", ".join(f"`{name}`" for name in sorted(TRANSLATIONS[domain]))
        lines += [
            "",
            f"{who} these are rewritten as nodes of ONNX while a model is read: {listed}.",
        ]
    return [
        *lines,
        "A `ZipMap` at the end is left away: the output is the table of scores that it was made of, and the report says so.",
    ]


def _refused(found: Cases) -> list[str]:
    """Why cases that come with ONNX are refused as they are, with nothing but the model."""
    lines = [
        "",
        f"Of the {found.count:,} cases of operators that come with ONNX {found.whole:,} are exported as they are, with every operand an input. The others:",
        "",
        "| refused because of | cases | operators |",
        "|---|---|---|",
    ]
    for reason, names in sorted(found.refused.items(), key=lambda row: -row[1].total()):
        shown = ", ".join(f"{name} {count}" for name, count in sorted(names.items()))
        lines.append(f"| {reason} | {names.total()} | {shown} |")
    return lines


def _links(ops: Iterable[str]) -> str:
    shown = [name for name in OPS if name in set(ops)]
    return ", ".join(f"[{name}](operators.md#{name})" for name in shown) or "no instruction"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable()
    text = page()
    if "--check" in sys.argv[1:]:
        sys.exit(PAGE.read_text() != text and f"{PAGE}: not as it would be written; run {__file__}")
    PAGE.write_text(text)
