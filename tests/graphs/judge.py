"""What became of a model: the reference's numbers, an error of Pteron's that names a node, or a defect."""

from __future__ import annotations

import collections
import dataclasses
import re
import signal
import tempfile
import warnings
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import onnxruntime
from graphs.draft import DTYPES, NAMES, Array
from graphs.make import Case
from onnx.reference import ReferenceEvaluator

import pteron
from pteron.schema.errors import InternalError, PteronError

onnxruntime.set_default_logger_severity(4)

RTOL: Final = {"float": 2e-4, "double": 2e-4, "float16": 1e-2, "bfloat16": 6e-2}
"""Of the largest magnitude nearby, after up to six operators."""

KINDS: Final = {number: np.dtype(kind) for number, kind in DTYPES.values()}
QUANTIZES: Final = {"QLinearMatMul", "QLinearConv", "QuantizeLinear", "DynamicQuantizeLinear"}
"""Their results may be a step apart: a tie falls by the last bit of a product of scales."""

INEXACT: Final = {"float16", "bfloat16"}
LIMIT_S: Final = 60
RUNTIME: Final = re.compile(r"op \d+ \(\w+\): |shapes: |dimension ")
"""How the runtime names what it ran: the instruction, or a relation of sizes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """kind: same, refused (a model that the reference runs), invalid (one that it does not), arbiter (as onnxruntime, not
    as the reference), unsure (the references differ), or a defect: traceback, internal, dead, unnamed, wrong, hang."""

    kind: str
    text: str = ""

    @property
    def is_defect(self) -> bool:
        return self.kind in ("traceback", "internal", "dead", "unnamed", "wrong", "hang")


class Timeout(BaseException):
    pass


def judge(case: Case) -> Verdict:
    def late(*_: Any) -> None:
        raise Timeout

    signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT_S)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _judge(case)
    except Timeout:
        return Verdict("hang", f"more than {LIMIT_S} s")
    finally:
        signal.alarm(0)


def _judge(case: Case) -> Verdict:
    stage = "export"
    wanted = reference(case)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.pte"
            onnx_path = Path(folder) / "m.onnx"
            onnx.save(case.model, onnx_path)
            pteron.export_model(onnx_path, path)
            stage = "load"
            program = pteron.load(path)
            stage = "run"
            got = program.run(case.feeds)
    except InternalError as error:
        return Verdict("internal", str(error))
    except PteronError as error:
        return refused(case, stage, error, wanted)
    except Exception as error:
        return Verdict("traceback", f"{stage}: {type(error).__name__}: {error}{_where(error)}")
    return compare(case, got, wanted)


def _where(error: BaseException) -> str:
    at = error.__traceback__
    last = ""
    while at is not None:
        name = at.tb_frame.f_code.co_filename
        if "/w-" in name or "pteron" in name or "/export/" in name:
            last = f" in {Path(name).name}:{at.tb_frame.f_code.co_name}"
        at = at.tb_next
    return last


def refused(case: Case, stage: str, error: PteronError, wanted: dict[str, Array] | None) -> Verdict:
    """An error of ours: in order where it names a node or an input; a program that does not load never is."""
    text = str(error)
    if "its lowering fails" in text:
        return Verdict("internal", text)
    if stage == "load" or (stage == "run" and isinstance(error, pteron.ProgramError)):
        return Verdict("dead", text)
    if not any(word in text for word in names_of(case.model.graph)) and not RUNTIME.search(text):
        return Verdict("unnamed", text)
    return Verdict("invalid" if wanted is None else "refused", f"{type(error).__name__}: {text}")


def names_of(graph: onnx.GraphProto) -> set[str]:
    """What an error may name: nodes, operators, inputs, weights, outputs."""
    out = {x.name for side in (graph.input, graph.output, graph.initializer) for x in side}
    for node in graph.node:
        out |= {node.name, node.op_type}
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                out |= names_of(a.g)
    return out - {""}


# --- numbers ------------------------------------------------------------------------------------------------------------


def reference(case: Case) -> dict[str, Array] | None:
    try:
        results = ReferenceEvaluator(case.model).run(None, dict(case.feeds))
    except Exception:  # a model that it cannot run; some it should
        return None
    names = [o.name for o in case.model.graph.output]
    out = {n: np.asarray(r) for n, r in zip(names, results, strict=True)}
    return out if all(a.dtype in NAMES for a in out.values()) else None


def by_onnxruntime(case: Case) -> dict[str, Array] | None:
    try:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(
            case.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        results = session.run(None, dict(case.feeds))
    except Exception:
        return None
    names = [o.name for o in session.get_outputs()]
    return {n: np.asarray(r) for n, r in zip(names, results, strict=True)}


REFERENCE_WRONG: Final = {
    "AveragePool": "of the padding that auto_pad asks for, dilations are left out",
    "GlobalMaxPool": "of three and of five dimensions gives another rank",
    "MaxPool": "places of the largest begin anew with each image",
    "LRN": "of size 1 the window is empty",
    "QLinearMatMul": "cuts off where the standard rounds",
    "RoiAlign": "samples outside of the image",
    "OneHot": "float indices",
    "Hardmax": "before opset 13 all axes from `axis` on are one",
    "Softmax": "before opset 13 all axes from `axis` on are one",
    "LogSoftmax": "before opset 13 all axes from `axis` on are one",
}
"""Operators for which the reference is known to be wrong, in a way that onnxruntime cannot settle for every dtype."""

STEPS: Final = {
    "Ceil", "Floor", "Round", "Sign", "Cast", "CastLike", "QuantizeLinear", "DynamicQuantizeLinear", "ArgMax", "ArgMin", "TopK",
    "Hardmax", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Unique", "NonZero", "Mod", "Shrink", "ThresholdedRelu",
    "IsInf", "IsNaN", "Not", "Where", "Compress", "GridSample", "RoiAlign", "NonMaxSuppression", "QLinearMatMul", "Range", "Div",
}  # fmt: skip
"""Operators that make a difference in the last bit of what comes before them a large one."""


def compare(case: Case, got: dict[str, Array], wanted: dict[str, Array] | None) -> Verdict:
    why = "the reference does not run it" if wanted is None else difference(case, got, wanted)
    if not why:
        return Verdict("same")
    other = by_onnxruntime(case)
    if other is not None and not difference(case, got, other):
        return Verdict("arbiter", why)
    if wanted is None:
        return Verdict(
            "invalid" if other is None else "wrong",
            f"as onnxruntime: {difference(case, got, other or {})}"
            if other
            else "runs, though the references do not",
        )
    if other is not None and difference(case, other, wanted):
        return Verdict("unsure", why)
    ops = [node.op_type for node in case.model.graph.node]
    if other is None and any(
        op in REFERENCE_WRONG or op in STEPS for op in (ops if len(ops) > 1 else [])
    ):
        return Verdict("unsure", why)
    if other is None and any(op in REFERENCE_WRONG for op in ops):
        return Verdict("unsure", why)
    return Verdict("wrong", why)


def difference(case: Case, got: dict[str, Array], wanted: dict[str, Array]) -> str:
    rough = any(NAMES.get(a.dtype) in INEXACT for a in (*wanted.values(), *case.feeds.values()))
    declared = {
        o.name: KINDS[o.type.tensor_type.elem_type]
        for o in case.model.graph.output
        if o.type.tensor_type.elem_type in KINDS
    }
    rounds = any(node.op_type in QUANTIZES for node in case.model.graph.node)
    for name, want in wanted.items():
        y = got[name]
        if declared.get(name, want.dtype) != want.dtype:
            want = want.astype(declared[name])
        if y.shape != want.shape or y.dtype != want.dtype:
            return f"{name}: expected {want.dtype}{list(want.shape)}, got {y.dtype}{list(y.shape)}"
        if (
            want.dtype.itemsize == 1
            and rounds
            and np.abs(y.astype(int) - want.astype(int)).max(initial=0) <= 1
        ):
            continue
        why = _numbers(y, want, rough)
        if why:
            return f"{name}: {why}"
    return ""


def _numbers(y: Array, want: Array, rough: bool) -> str:
    if want.dtype.kind not in "fV":
        if np.array_equal(y, want):
            return ""
        return f"expected {_short(want)}, got {_short(y)}"
    a, b = y.astype(np.float64), want.astype(np.float64)
    tolerance = RTOL["float16"] if rough else RTOL[NAMES[want.dtype]]
    if NAMES[want.dtype] == "bfloat16":
        tolerance = RTOL["bfloat16"]
    finite = np.abs(b[np.isfinite(b)])
    scale = float(finite.max()) if finite.size else 0.0
    close = np.isclose(
        a, b, rtol=tolerance, atol=tolerance * 0.05 * min(scale, 1e3) + 1e-6, equal_nan=True
    )
    if close.all():
        return ""
    at = tuple(int(i[0]) for i in np.nonzero(~close)) if close.ndim else ()
    return f"at {list(at)}: expected {b[at]:.6g}, got {a[at]:.6g}"


def _short(x: Array) -> str:
    return np.array2string(x, threshold=8, edgeitems=3).replace("\n", " ")


def reason(case: Case, verdict: Verdict) -> str:
    """The text without names and numbers, for counting."""
    text = re.sub(r"'[^']*'", "'_'", verdict.text)
    text = re.sub(r"\b[bls]?\d*[te]?_?[wx]\d+\b|\bn\d+_\d+\b", "_", text)
    return f"{verdict.kind}: {re.sub(r'-?[0-9]+(?:[.][0-9]+)?(?:e[+-]?[0-9]+)?', '#', text)[:150]}"


Counts = collections.Counter
