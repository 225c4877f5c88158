"""docs/onnx.md: which operators of a program each operator of ONNX becomes, found by lowering the cases that come with ONNX.

`python tests/lower/onnx_map.py` writes the page; `--check` says whether it is as it would be written.
"""

from __future__ import annotations

import collections
import logging
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import onnx
from onnx.backend.test.case.node import collect_testcases
from test_onnx_cases import array, with_constants

from pteron.export.capture.contrib.foreign import DOMAIN, TRANSLATIONS
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

| ONNX | in a program |
|---|---|
"""


CONTROL: Final = {"If": {"if"}, "Loop": {"loop"}, "Scan": {"loop"}}
"""Of blocks there are few cases, and what lies in them is other nodes'."""


def programs() -> Iterator[tuple[str, Program]]:
    """The operator of each case, and its program, where there is one."""
    for case in collect_testcases(None):
        graph = case.model.graph
        if case.name.endswith("_expanded") or len(graph.node) != 1:
            continue
        if not all(p.type.HasField("tensor_type") for p in (*graph.input, *graph.output)):
            continue  # sequences, optionals
        for model in (case.model, constant(case)):
            try:
                yield graph.node[0].op_type, lower(capture_onnx(model))
            except PteronError:
                continue
            break

    yield "Not", lower(onnx_text("y = Not(x)", x="bool[n]"))
    yield "GlobalLpPool", lower(onnx_text("y = GlobalLpPool(x, p=2)", x="f32[n, 3, 8]"))


def constant(case: object) -> onnx.ModelProto:
    model, (data, *_) = case.model, case.data_sets  # type: ignore[attr-defined]
    feeds = {p.name: array(x) for p, x in zip(model.graph.input, data[0], strict=False)}
    return with_constants(model, feeds)


def found() -> dict[str, set[str]]:
    made: dict[str, set[str]] = collections.defaultdict(set)
    for op_type, program in programs():
        made[op_type] |= {instr.op for block in program.blocks for instr in block.instrs}
    return made


def page() -> str:
    made = found()
    known = {op_type for domain, op_type in LOWERINGS if not domain}
    made |= {name: ops for name, ops in CONTROL.items() if name in known}
    rows = [f"| {name} | {_links(made.get(name, ()))} |" for name in sorted(known | set(made))]
    foreign = ", ".join(f"`{name}`" for name in sorted(TRANSLATIONS[DOMAIN]))
    tail = [
        "",
        "Of onnxruntime's domain `com.microsoft` these are rewritten as nodes of ONNX while a model is read: "
        f"{foreign}.",
    ]
    return HEAD + "\n".join([*rows, *tail]) + "\n"


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
