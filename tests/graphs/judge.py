"""What became of a model: the reference's numbers, an error of Pteron's that names a node, or a defect."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import multiprocessing
import re
import signal
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from graphs.draft import DTYPES, NAMES, Array, value_info
from graphs.finish import Case, inner_reads
from graphs.reference import Call, See, evaluator
from graphs.sized import elsewhere
from graphs.undefined import deviates, is_open

import pteron
from pteron.schema.errors import InternalError, PteronError

onnxruntime.set_default_logger_severity(4)

RTOL: Final = {
    "float": 2e-4,
    "double": 2e-4,
    "float16": 1e-2,
    "bfloat16": 6e-2,
    "float8e4m3fn": 0.0,
    "float8e5m2": 0.0,
    "int4": 0.0,
    "uint4": 0.0,
}
"""Of the largest magnitude nearby, after up to six operators."""

KINDS: Final = {number: np.dtype(kind) for number, kind in DTYPES.values()}
QUANTIZES: Final = {"QLinearMatMul", "QLinearConv", "QuantizeLinear", "DynamicQuantizeLinear"}
"""Their results may be a step apart: a tie falls by the last bit of a product of scales."""

NOISE: Final = {"float": 2.0**-21, "double": 2.0**-21, "float16": 2.0**-9, "bfloat16": 2.0**-6}
"""Relative; kernels compute much of f64 in f32 (docs/numerics.md)."""

TRIALS: Final = 4
SAFETY: Final = 4.0
EXACT: Final = {
    "Abs", "And", "ArgMax", "ArgMin", "BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "CastLike", "Ceil",
    "Clip", "Compress", "Concat", "Constant", "ConstantOfShape", "DepthToSpace", "Equal", "Expand", "EyeLike", "Flatten", "Floor",
    "Gather", "GatherElements", "GatherND", "Greater", "GreaterOrEqual", "Identity", "If", "IsInf", "IsNaN", "Less", "LessOrEqual",
    "Loop", "Max", "MaxPool", "Min", "Neg", "NonMaxSuppression", "NonZero", "Not", "OneHot", "Or", "Pad", "ReduceMax", "ReduceMin",
    "Relu", "Reshape", "ReverseSequence", "Round", "Scan", "ScatterElements", "ScatterND", "Shape", "Sign", "Size", "Slice",
    "SpaceToDepth", "Split", "Squeeze", "Tile", "TopK", "Transpose", "Trilu", "Unique", "Unsqueeze", "Where", "Xor",
}  # fmt: skip
"""Operators whose results nobody rounds."""

ROUNDED: Final = {"Resize", "Upsample"}
"""Operators that compute integers as numbers, and round."""

INEXACT: Final = {"float16", "bfloat16"}
FORK: Final = multiprocessing.get_context("fork")
ARBITER_DIED: Final = "its process ended"
LIMIT_S: Final = 60
"""Of the processor's time; a machine that is busy may take `PATIENCE` times as long."""

PATIENCE: Final = 20
IN_ORDER: Final = (pteron.ArgumentError, pteron.DataError, pteron.LimitError)
"""What a run may say of data."""

RUNTIME: Final = re.compile(r"op \d+ \(\w+\): |shapes: |dimension ")
"""How the runtime names what it ran: the instruction, or a relation of sizes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """kind: same, refused (a model that the reference runs), invalid (one that it does not), arbiter (as onnxruntime, not
    as the reference), judge (the reference cannot run it and onnxruntime ends the process), open (the standard does not say),
    deviates (Pteron says that it does otherwise), rounding (the reference moves as far by its own), or a defect: traceback, internal, dead, unnamed, wrong, hang."""

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

    signal.signal(signal.SIGPROF, late)
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    signal.alarm(PATIENCE * LIMIT_S)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _judge(case)
    except Timeout:
        return Verdict("hang", f"more than {LIMIT_S} s")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def _judge(case: Case) -> Verdict:
    stage = "export"
    try:
        wanted = reference(case)
    except Timeout:  # its own loops, not ours
        wanted = None
        signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.pte"
            onnx_path = Path(folder) / "m.onnx"
            onnx.save(case.model, onnx_path)
            pteron.export_model(onnx_path, path)
            stage = "load"
            program = pteron.load(path)
            stage = "run"
            with contextlib.suppress(*IN_ORDER):
                program.run(others(case.feeds))
            got = program.run(case.feeds)
            stage = "run elsewhere"
            away = _elsewhere(case, program)
            if away is not None:
                return away
    except InternalError as error:
        return Verdict("internal", str(error))
    except PteronError as error:
        return refused(case, stage, error, wanted)
    except Exception as error:
        return Verdict("traceback", f"{stage}: {type(error).__name__}: {error}{_where(error)}")
    return compare(case, got, wanted)


def _elsewhere(case: Case, program: Any) -> Verdict | None:
    """What is wrong at another size of one of the inputs' named dimensions: other results than the reference's, or a refusal that
    names nothing. None where nothing is."""
    feeds = None if case.spoilt else elsewhere(case.model, case.feeds)
    if feeds is None:
        return None
    away = Case(case.model, feeds, "")
    wanted = reference(away)
    try:
        got = program.run(feeds)
    except IN_ORDER as error:
        found = refused(away, "run", error, wanted)
        return found if found.is_defect else None
    verdict = None if wanted is None else compare(away, got, wanted)
    return verdict if verdict is not None and verdict.is_defect else None


def others(feeds: dict[str, Array]) -> dict[str, Array]:
    """Data in front of those that are judged, which count as much as any: what they leave in memory is nobody's result."""
    return {n: x if x.dtype.kind in "iu" else np.ones(x.shape, x.dtype) for n, x in feeds.items()}


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
    names = names_of(case.model.graph).union(*map(names_of_nodes, case.model.functions))
    if not any(word in text for word in names) and not RUNTIME.search(text):
        return Verdict("unnamed", text)
    return Verdict("invalid" if wanted is None else "refused", f"{type(error).__name__}: {text}")


def names_of(graph: onnx.GraphProto) -> set[str]:
    """What an error may name: nodes, operators, inputs, weights, outputs."""
    out = {x.name for side in (graph.input, graph.output, graph.initializer) for x in side}
    return (out | names_of_nodes(graph)) - {""}


def names_of_nodes(graph: onnx.GraphProto | onnx.FunctionProto) -> set[str]:
    out: set[str] = set()
    for node in graph.node:
        out |= {node.name, node.op_type}
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                out |= names_of(a.g)
    return out - {""}


# --- numbers ------------------------------------------------------------------------------------------------------------


def reference(case: Case, see: See | None = None) -> dict[str, Array] | None:
    try:
        results = evaluator(case.model, see).run(None, dict(case.feeds))
    except Exception:  # a model that it cannot run; some it should
        return None
    names = [o.name for o in case.model.graph.output]
    out = {n: np.asarray(r) for n, r in zip(names, results, strict=True)}
    return out if all(a.dtype in NAMES for a in out.values()) else None


def by_onnxruntime(case: Case) -> dict[str, Array] | str:
    """Its outputs, or why there are none. In a process of its own: some models end it."""
    here, there = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_onnxruntime, args=(case, there), daemon=True)
    process.start()
    there.close()
    try:
        results: list[Array] | str = here.recv()
    except EOFError:
        results = ARBITER_DIED
    process.join()
    if isinstance(results, str):
        return results
    names = [o.name for o in case.model.graph.output]
    return dict(zip(names, results, strict=True))


def _onnxruntime(case: Case, answer: Any) -> None:
    try:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            case.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        results = session.run(None, dict(case.feeds))
        answer.send([np.asarray(r) for r in results])
    except Exception as error:
        answer.send(f"it refuses the model: {error}")


def compare(case: Case, got: dict[str, Array], wanted: dict[str, Array] | None) -> Verdict:
    """What the outputs are beside what is wanted; of another shape, each node is asked what it makes of its own operands."""
    verdict = _compare(case, got, wanted)
    if not verdict.is_defect or wanted is None or len(case.model.graph.node) < 2:
        return verdict
    if all(got[n].shape == a.shape for n, a in wanted.items()):
        return verdict
    return by_steps(case, got, verdict)


def by_steps(case: Case, got: dict[str, Array], verdict: Verdict) -> Verdict:
    """How many elements there are may hang on a rounding, as Unique's of a window that is symmetric but for its last bits. Then
    each node's results are those of the operands that it got; else the first node that is wrong."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    shown = [o for n in model.graph.node for o in n.output if o and o not in got]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in shown)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.pte"
            pteron.export_model(model, path)
            made = pteron.load(path).run(case.feeds)
    except PteronError as error:
        return Verdict("wrong", f"{verdict.text}; not judged node by node: {error}")
    for name, a in got.items():
        if not np.array_equal(a, made[name], equal_nan=a.dtype.kind in "fV"):
            return Verdict("wrong", f"{name}: not the same beside other outputs")
    known = {w.name: onnx.numpy_helper.to_array(w) for w in model.graph.initializer}
    known |= {**case.feeds, **made}
    for node in model.graph.node:
        one = _alone(model, node, known)
        own = compare(one, {o: made[o] for o in node.output if o}, reference(one))
        if own.is_defect:
            return Verdict("wrong", f"{node.name}: {own.text}")
    return Verdict("rounding", verdict.text)


def _alone(model: onnx.ModelProto, node: onnx.NodeProto, known: dict[str, Array]) -> Case:
    """One node of a model, with these operands."""
    reads = {*node.input, *inner_reads([node])} & known.keys()
    graph = onnx.helper.make_graph(
        [node],
        "one",
        [value_info(n, known[n]) for n in sorted(reads)],
        [onnx.ValueInfoProto(name=o) for o in node.output if o],
    )
    one = onnx.ModelProto()
    one.CopyFrom(model)
    one.graph.CopyFrom(graph)
    return Case(one, {n: known[n] for n in reads}, "")


def _compare(case: Case, got: dict[str, Array], wanted: dict[str, Array] | None) -> Verdict:
    by = "same" if wanted is not None else "arbiter"
    if wanted is None:
        other = by_onnxruntime(case)
        if isinstance(other, str):
            kind = "judge" if other == ARBITER_DIED else "invalid"
            return Verdict(kind, f"runs, though the reference does not; onnxruntime: {other}")
        wanted = other
    bad = unlike(case, got, wanted)
    if not bad:
        return Verdict(by)
    why = "; ".join(bad.values())
    for kind, is_excused in (("open", is_open), ("deviates", deviates)):
        bad = {n: w for n, w in bad.items() if n not in tainted(case, is_excused)}
        if not bad:
            return Verdict(kind, why)
    room = unsteady(case, {n: wanted[n] for n in bad})
    bad = unlike(case, got, {n: wanted[n] for n in bad}, room)
    if not bad:
        return Verdict("rounding", why)
    if by == "arbiter":
        return Verdict("wrong", "as onnxruntime: " + "; ".join(bad.values()))
    other = by_onnxruntime(case)
    if not isinstance(other, str):
        bad = {n: w for n, w in bad.items() if unlike(case, got, {n: other[n]}, room)}
    return Verdict("wrong", "; ".join(bad.values())) if bad else Verdict("arbiter", why)


def unlike(
    case: Case,
    got: dict[str, Array],
    wanted: dict[str, Array],
    room: dict[str, Array] | None = None,
) -> dict[str, str]:
    """Outputs that are not what is wanted, and how."""
    found = {n: difference(case, got, {n: a}, room) for n, a in wanted.items()}
    return {n: why for n, why in found.items() if why}


def tainted(case: Case, is_excused: Callable[..., bool]) -> set[str]:
    """Outputs that come of what a row of undefined.py excuses."""
    found: set[str] = set()

    def see(node: onnx.NodeProto, call: Call, inputs: Sequence[Any]) -> tuple[Any, ...]:
        outputs: tuple[Any, ...] = ()
        try:
            outputs = call(*inputs)
        finally:
            if is_excused(node, inputs, outputs):
                found.add(node.name)
        return outputs

    reference(case, see)
    names: set[str] = set()
    for node in case.model.graph.node:
        reads = {*node.input, *inner_reads([node])}
        if found & _names_in(node, case.model) or names & reads:
            names |= set(node.output) - {""}
    return names


def _names_in(node: onnx.NodeProto, model: onnx.ModelProto) -> set[str]:
    """Of the node, and of all that it runs."""
    inner = [a.g.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    inner += [f.node for f in model.functions if (f.domain, f.name) == (node.domain, node.op_type)]
    return {node.name}.union(*(_names_in(n, model) for nodes in inner for n in nodes))


def unsteady(case: Case, wanted: dict[str, Array]) -> dict[str, Array]:
    """How far each element goes when every inexact node's operands and results move by a few units in their last places;
    infinity where it is an integer that changes, and everywhere where a shape does. What rounding decides, it finds; a
    fault of more than rounding stays one."""
    room = {n: np.zeros(a.shape) for n, a in wanted.items()}
    for trial in range(TRIALS):
        got = reference(case, _shaking(np.random.default_rng(trial)))
        for n, want in wanted.items():
            if got is None:
                continue
            if got[n].shape != want.shape:
                room[n] = np.full(want.shape, np.inf)
            elif want.dtype.kind in "fV":
                a, b = got[n].astype(np.float64), want.astype(np.float64)
                far = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
                room[n] = np.maximum(room[n], np.nan_to_num(far, nan=np.inf))
            else:
                room[n] = np.where(got[n] == want, room[n], np.inf)
    return {n: SAFETY * a for n, a in room.items()}


def _shaking(rng: np.random.Generator) -> See:
    def see(node: onnx.NodeProto, call: Call, inputs: Sequence[Any]) -> tuple[Any, ...]:
        if node.op_type in EXACT:
            return call(*inputs)
        if node.op_type in ROUNDED and NAMES[inputs[0].dtype].lstrip("u").startswith("int"):
            return (_rounded(call, inputs, rng),)
        terms = 1.0 if node.op_type.endswith("Window") else 0.0
        return tuple(_moved(y, rng, terms) for y in call(*(_moved(x, rng) for x in inputs)))

    return see


def _rounded(call: Call, inputs: Sequence[Any], rng: np.random.Generator) -> Array:
    """Of integers moved as if they were numbers."""
    x, *rest = inputs
    (y,) = call(_moved(x.astype(np.float64), rng), *rest)
    ends = ml_dtypes.iinfo(x.dtype)
    return np.clip(np.rint(y), int(ends.min), int(ends.max)).astype(x.dtype)


def _moved(x: Any, rng: np.random.Generator, terms: float = 0.0) -> Any:
    """`terms`: how large what it is the sum of is, where that is more than it."""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fV" or x.dtype not in NAMES:
        return x
    far = NOISE.get(NAMES[x.dtype], 0.0) * rng.uniform(-1, 1, x.shape)
    wide = x.astype(np.float64)
    return np.asarray(wide + far * np.maximum(np.abs(wide), terms)).astype(x.dtype)


def difference(
    case: Case,
    got: dict[str, Array],
    wanted: dict[str, Array],
    room: dict[str, Array] | None = None,
) -> str:
    """The first output that is not what is wanted; `room`: by how much more each element may differ."""
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
        free = None if room is None or room[name].shape != want.shape else room[name]
        why = _numbers(y, want, rough, free)
        if why:
            return f"{name}: {why}"
    return ""


def _numbers(y: Array, want: Array, rough: bool, room: Array | None) -> str:
    if want.dtype.kind not in "fV":
        close = y == want if room is None else (y == want) | (room > 0)
        return "" if close.all() else f"expected {_short(want)}, got {_short(y)}"
    a, b = y.astype(np.float64), want.astype(np.float64)
    tolerance = RTOL["float16"] if rough else RTOL[NAMES[want.dtype]]
    if NAMES[want.dtype] == "bfloat16":
        tolerance = RTOL["bfloat16"]
    finite = np.abs(b[np.isfinite(b)])
    scale = float(finite.max()) if finite.size else 0.0
    close = np.isclose(
        a, b, rtol=tolerance, atol=tolerance * 0.05 * min(scale, 1e3) + 1e-6, equal_nan=True
    )
    if room is not None:
        close = close | (np.abs(a - b) <= room) | np.isinf(room)
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
