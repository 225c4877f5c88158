"""ONNX's own node tests, all of them: how many run with nothing but the model, how many with structure inputs guarded, why not the others.

`python benchmarks/node_cases.py` prints the counts and the refusals by reason; `--names` each case that is not right, `--only TEXT`
those whose names have it. A case is right (every output is what the standard says), wrong, dead (it exports and does not run), or
refused with a reason.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

import pteron
from pteron.export.export import export
from pteron.export.file.emit import emit_bytes
from pteron.export.options import Options

Feeds = Mapping[str, Any]
Verdict = tuple[str, str]

CLOSE: Final = {"float64": 1e-6, "float32": 1e-4, "float16": 4e-3, "bfloat16": 3e-2}
"""Relative and absolute; other types are equal."""
RANDOM: Final = "bernoulli"
"""In the names of cases whose answers are one draw of many: ours has its shape and type."""
LONGEST: Final = 100
"""Characters of a reason."""
OTHER: Final = "other numbers"


def array(x: Any) -> Any:
    return numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else np.asarray(x)


def verdict(case: Any, *, guarded: bool) -> Verdict:
    """right, wrong, dead, refused or traceback, with the reason; the worst of the case's sets of data."""
    graph = case.model.graph
    if not all(p.type.HasField("tensor_type") for p in (*graph.input, *graph.output)):
        return "refused", "sequences and optionals as inputs or outputs"
    for ins, outs in case.data_sets:
        feeds = {p.name: array(x) for p, x in zip(graph.input, ins, strict=False)}
        wanted = {p.name: array(x) for p, x in zip(graph.output, outs, strict=True)}
        found = once(case.model, feeds, wanted, guarded=guarded)
        drawn = RANDOM in case.name and found == ("wrong", OTHER)
        if found[0] != "right" and not drawn:
            return found
    return "right", ""


def once(model: onnx.ModelProto, feeds: Feeds, wanted: Feeds, *, guarded: bool) -> Verdict:
    options = Options(example=feeds) if guarded else Options()
    try:
        data = emit_bytes(export(model.SerializeToString(), options))
    except pteron.PteronError as e:
        return "refused", reason(e)
    except Exception as e:
        return "traceback", f"{type(e).__name__}: {e}"
    try:
        with pteron.load(data, threads=1) as program:
            got = program.run(dict(feeds))
            return compared(got, wanted)
    except pteron.PteronError as e:
        return "dead", reason(e)


def compared(got: Feeds, wanted: Feeds) -> Verdict:
    for name, want in wanted.items():
        y = np.asarray(got[name])
        if (y.shape, y.dtype) != (want.shape, want.dtype):
            return "wrong", f"{name}: {y.dtype}{y.shape} for {want.dtype}{want.shape}"
        close = CLOSE.get(want.dtype.name, 0)
        if want.dtype.kind in "iub":
            if not np.array_equal(y, want):
                return "wrong", f"{name}: other integers"
        elif not np.allclose(
            y.astype(np.float64), want.astype(np.float64), close, close, equal_nan=True
        ):
            return "wrong", OTHER
    return "right", ""


def reason(error: Exception) -> str:
    """The first node's, without names and shapes."""
    lines = [line.strip() for line in str(error).splitlines()]
    text = lines[1] if len(lines) > 1 else lines[0]
    return re.sub(r"'[^']*'|\[[^\]]*\]|\b\d+\b", "_", text)[:LONGEST]


def cases(only: str) -> Iterator[Any]:
    found = {case.name: case for case in collect_testcases(None)}
    yield from (case for name, case in sorted(found.items()) if only in name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="a part of the names of cases")
    parser.add_argument("--names", action="store_true", help="each case that is not right")
    parser.add_argument("--plain", action="store_true", help="with nothing but the model alone")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        every = list(cases(given.only))
    bad = 0
    for guarded in (False,) if given.plain else (False, True):
        found = {case.name: verdict(case, guarded=guarded) for case in every}
        counts = collections.Counter(kind for kind, _ in found.values())
        shown = ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
        print(f"{'structure inputs guarded' if guarded else 'the model alone'}: {shown}")
        for (kind, why), n in collections.Counter(found.values()).most_common():
            if kind != "right":
                print(f"{n:5d}  {kind:9s}  {why}")
        if given.names:
            for name, (kind, why) in found.items():
                if kind != "right":
                    print(f"       {name}: {kind}: {why}")
        bad += sum(counts[kind] for kind in ("wrong", "dead", "traceback"))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
