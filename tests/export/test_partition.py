"""Segments, what becomes of them, and what is told of the nodes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper

import pteron
from pteron.export.capture import capture
from pteron.export.delegates import Delegate, Segment
from pteron.export.delegates.partition import BORDER, TOO_LIGHT, partition
from pteron.export.delegates.segments import _Groups, segments
from pteron.export.export import export
from pteron.export.file.emit import emit_bytes
from pteron.export.file.read import read
from pteron.export.options import Options
from pteron.export.passes import run_passes
from pteron.export.program.interpret import run as interpret
from pteron.export.report import Report
from pteron.export.verify.instructions import MAX_DELEGATES
from pteron.schema.errors import ArgumentError, DelegateError, LoweringError

RNG = np.random.default_rng(3)
partitions = import_module("pteron.export.delegates.partition")


def model(*nodes: onnx.NodeProto, batch: int | str = 2, width: int = 4, **weights: Any) -> bytes:
    """x f32[batch, width] -> the outputs of the last node."""
    info = helper.make_tensor_value_info
    last = [info(o, TensorProto.FLOAT, None) for o in nodes[-1].output]
    graph = helper.make_graph(
        list(nodes), "g", [info("x", TensorProto.FLOAT, [batch, width])], last,
        [numpy_helper.from_array(np.asarray(w), n) for n, w in weights.items()],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    return made.SerializeToString()


def node(op: str, reads: str, makes: str, name: str = "", **attrs: Any) -> onnx.NodeProto:
    return helper.make_node(op, reads.split(), makes.split(), name or makes.split()[0], **attrs)


def weight(n: int = 4) -> Any:
    return RNG.standard_normal((n, n)).astype(np.float32)


def takes(
    *ops: str, name: str = "test", compile: Callable[[Segment], bytes] | None = None
) -> Delegate:
    """A delegate that takes some operators and is on no machine: its segments run by the fallback."""
    return Delegate(
        name,
        f"{name}-1",
        lambda n: None if n.op_type in ops else f"no {n.op_type}",
        compile or (lambda s: b"payload."),
    )


def chain() -> bytes:
    """MatMul -> Relu -> Exp -> MatMul -> Relu."""
    return model(
        node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("Exp", "b", "c"),
        node("MatMul", "c v", "d"), node("Relu", "d", "y"), w=weight(), v=weight(),
    )  # fmt: skip


def placed(source: bytes, *delegates: Delegate, policy: str = "warn", **fix: int) -> dict[str, Any]:
    report = Report()
    export(source, Options(delegates=delegates, placement=policy, fix=fix), report=report)
    return {r.name: (r.delegate, r.reason) for r in report.placements}


# --- segments -----------------------------------------------------------------------------------------------------------


def reachable(successors: list[set[int]], start: set[int]) -> set[int]:
    seen, todo = set(start), list(start)
    while todo:
        for v in successors[todo.pop()] - seen:
            seen.add(v)
            todo.append(v)
    return seen


def is_acyclic(successors: list[set[int]], sets: list[list[int]]) -> bool:
    """Kahn's order of the contracted graph takes every group."""
    home = {v: i for i, group in enumerate(sets) for v in group}
    name = [home.get(v, len(sets) + v) for v in range(len(successors))]
    edges = {(name[u], name[v]) for u, many in enumerate(successors) for v in many}
    edges = {(a, b) for a, b in edges if a != b}
    left = set(name)
    while True:
        ready = {g for g in left if not any(b == g and a in left for a, b in edges)}
        if not ready:
            return not left
        left -= ready


@pytest.mark.parametrize("seed", range(40))
def test_segments_of_random_graphs_are_acyclic_and_none_could_be_joined(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(5, 25))
    successors = [
        {v for v in range(u + 1, count) if rng.random() < 2.5 / count} for u in range(count)
    ]
    members = {v for v in range(count) if rng.random() < 0.7}
    first = segments(successors, members)
    assert sorted(v for group in first for v in group) == sorted(members)
    assert is_acyclic(successors, first)
    for a in range(len(first)):
        for b in range(len(first)):
            edge = any(v in successors[u] for u in first[a] for v in first[b])
            if a != b and edge:
                joined = [g for i, g in enumerate(first) if i not in (a, b)]
                assert not is_acyclic(successors, [*joined, first[a] + first[b]])
    rest = set(range(count)) - members
    taken = [g for g in first if len(g) > 1]
    assert is_acyclic(successors, [*taken, *segments(successors, rest, taken)])


def test_siblings_are_joined_unless_that_makes_a_cycle() -> None:
    """0 -> 1, 2 and 4; 1 -> 3 -> 4, and 3 is nobody's: 1 and 2 may be one, 1 and 4 not."""
    successors = [{1, 2, 4}, {3}, set(), {4}, set()]
    assert segments(successors, {1, 2, 4}) == [[1], [2], [4]]
    assert segments(successors, {1, 2, 4}, siblings=[[1, 2, 4]]) == [[1, 2], [4]]


@pytest.mark.parametrize("seed", range(20))
def test_joined_siblings_of_random_graphs_are_acyclic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(5, 25))
    successors = [
        {v for v in range(u + 1, count) if rng.random() < 2.5 / count} for u in range(count)
    ]
    members = {v for v in range(count) if rng.random() < 0.7}
    siblings = [sorted(many & members) for many in successors if many & members]
    assert is_acyclic(successors, segments(successors, members, siblings=siblings))


@pytest.mark.parametrize("seed", range(20))
def test_ranks_order_the_sets(seed: int) -> None:
    """Every edge goes up after every merge, so that a way back is looked for between two ranks alone."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(8, 30))
    successors = [
        {v for v in range(u + 1, count) if rng.random() < 2.5 / count} for u in range(count)
    ]
    groups = _Groups(successors)
    for _ in range(4 * count):
        a, b = (groups.of(int(v)) for v in rng.integers(0, count, 2))
        if a == b or groups.rank[a] > groups.rank[b] or groups.other_path(a, b):
            continue
        groups.merge(a, b)
        names = sorted({groups.of(v) for v in range(count)})
        assert len({groups.rank[s] for s in names}) == len(names)
        assert all(groups.rank[s] < groups.rank[t] for s in names for t in groups.after[s])


# --- placement ----------------------------------------------------------------------------------------------------------


def test_every_node_has_a_row_with_its_reason() -> None:
    rows = placed(chain(), takes("MatMul", "Relu"))
    assert rows == {
        "a": ("test", "segment 0"),
        "b": ("test", "segment 0"),
        "c": ("cpu", "no Exp"),
        "d": ("test", "segment 1"),
        "y": ("test", "segment 1"),
    }


def test_segments_without_a_heavy_node_stay() -> None:
    rows = placed(chain(), takes("Relu"))
    assert rows["b"] == rows["y"] == ("cpu", TOO_LIGHT)


def test_delegates_are_asked_in_order_and_each_has_its_say() -> None:
    rows = placed(chain(), takes("MatMul", name="one"), takes("MatMul", "Relu", name="two"))
    assert rows["a"][0] == rows["d"][0] == "one"
    assert rows["b"] == ("cpu", f"one: no Relu; two: {TOO_LIGHT}")
    assert rows["c"] == ("cpu", "no Exp")


def test_cpu_ends_the_list() -> None:
    report = Report()
    export(chain(), Options(delegates=["cpu", takes("MatMul")]), report=report)
    assert report.placements == []


def test_a_compiler_that_gives_up_leaves_the_nodes_to_the_next() -> None:
    def compile(segment: Segment) -> bytes:
        raise DelegateError("the segment needs more scratch than there is; split it")

    rows = placed(
        chain(), takes("MatMul", "Relu", name="one", compile=compile), takes("MatMul", name="two")
    )
    assert rows["a"][0] == "two"
    assert rows["b"] == (
        "cpu",
        "one: the segment needs more scratch than there is; split it; two: no Relu",
    )


def test_a_symbolic_size_is_refused_and_fixed() -> None:
    source = model(node("MatMul", "x w", "y"), batch="batch", w=weight())
    why = "dimension batch is symbolic; fix it with --fix batch=1"
    assert placed(source, takes("MatMul"))["y"] == ("cpu", why)
    assert placed(source, takes("MatMul"), batch=3)["y"][0] == "test"
    program = export(source, Options(fix={"batch": 3}))
    assert program.dims == () and program.values[program.methods[0].inputs[0].value].shape == (3, 4)
    with pytest.raises(ArgumentError, match=r"fix rows: .* those are batch"):
        export(source, Options(fix={"rows": 3}))
    with pytest.raises(ArgumentError, match="at least 1, got 0"):
        export(source, Options(fix={"batch": 0}))


def test_nodes_with_bodies_stay_and_what_their_bodies_read_is_an_output() -> None:
    """b is read from inside the If alone, beside c."""
    inner = helper.make_graph(
        [node("Neg", "b", "n")], "then", [], [helper.make_tensor_value_info("n", 1, [2, 4])]
    )
    other = helper.make_graph(
        [node("Exp", "b", "e")], "else", [], [helper.make_tensor_value_info("e", 1, [2, 4])]
    )
    source = model(
        node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("ReduceMax", "x", "m", keepdims=0),
        node("Cast", "m", "p", to=TensorProto.BOOL),
        helper.make_node("If", ["p"], ["y"], "y", then_branch=inner, else_branch=other), w=weight(),
    )  # fmt: skip
    rows = placed(source, takes("MatMul", "Relu", "If"))
    assert rows["y"] == ("cpu", "If has a body: control flow stays on the CPU")
    assert rows["b"] == ("test", "segment 0")
    same_bytes(source, takes("MatMul", "Relu"))


def test_heavy_nodes_that_read_the_same_value_share_a_segment() -> None:
    source = model(
        node("MatMul", "x w", "a"), node("MatMul", "x v", "b"), node("Relu", "x", "c"),
        node("Exp", "a", "d"), node("Mul", "d b", "e"), node("Mul", "e c", "y"), w=weight(), v=weight(),
    )  # fmt: skip
    rows = placed(source, takes("MatMul", "Relu"))
    assert rows["a"] == rows["b"] == ("test", "segment 0")
    assert rows["c"] == ("cpu", TOO_LIGHT)
    same_bytes(source, takes("MatMul", "Relu"))


def test_conversions_inside_name_what_they_are_for() -> None:
    codes = {"s": np.float32(0.1), "z": np.int8(3)}
    source = model(
        node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "f"),
        node("Softmax", "f", "p"), node("QuantizeLinear", "p s z", "r"),
        node("DequantizeLinear", "r s z", "y"), **codes,
    )  # fmt: skip
    rows = placed(source, takes("MatMul"))
    assert rows["f"][1] == rows["r"][1] == "converts for Softmax p, which computes in f32"


# --- what becomes of it -------------------------------------------------------------------------------------------------


def same_bytes(source: bytes, *delegates: Delegate) -> None:
    """The fallback gives what the whole gives, in C and in NumPy."""
    x = RNG.standard_normal((2, 4)).astype(np.float32)
    whole, parts = export(source), export(source, Options(delegates=delegates, placement="allow"))
    assert parts.delegates
    want = pteron.load(emit_bytes(whole)).run({"x": x})
    got = pteron.load(emit_bytes(parts)).run({"x": x})
    assert list(got) == list(want)
    for name in want:
        assert got[name].tobytes() == want[name].tobytes()
    unpacked = export(source, Options(delegates=delegates, placement="allow", fuse=False))
    if not any(c.layout != "strided" for c in unpacked.constants):
        for name, y in interpret(unpacked, {"x": x}).items():
            np.testing.assert_allclose(y, want[name], rtol=1e-5, atol=1e-6)


def test_the_fallback_computes_the_same() -> None:
    same_bytes(chain(), takes("MatMul", "Relu"))


def test_a_value_inside_is_output_twice_and_read_outside() -> None:
    source = model(
        node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("Exp", "a", "c"),
        node("Add", "b c", "d"), node("Split", "d", "y z", axis=1, num_outputs=2), w=weight(),
    )  # fmt: skip
    same_bytes(source, takes("MatMul", "Relu"))
    same_bytes(source, takes("MatMul", "Relu", "Add", "Split"))


def test_a_diamond_with_a_refused_node_becomes_two_segments() -> None:
    """a -> (b on the delegate, c on the CPU) -> d: one segment of a, b and d would wait for itself."""
    source = model(
        node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("Exp", "a", "c"),
        node("MatMul", "b v", "e"), node("Add", "e c", "y"), w=weight(), v=weight(),
    )  # fmt: skip
    rows = placed(source, takes("MatMul", "Relu", "Add"))
    assert {rows[n] for n in "abe"} == {("test", "segment 0")}
    assert rows["y"] == ("cpu", TOO_LIGHT)
    same_bytes(source, takes("MatMul", "Relu", "Add"))


@pytest.mark.parametrize("order", ["one two", "two one"])
def test_a_segment_reads_what_another_one_makes(order: str) -> None:
    """a -> (b on the CPU) -> e: a and e are two segments, and e reads a too; then two delegates one behind the other."""
    around = model(
        node("MatMul", "x w", "a"), node("Exp", "a", "b"), node("MatMul", "b v", "c"),
        node("Add", "a c", "d"), node("MatMul", "d w", "y"), w=weight(), v=weight(),
    )  # fmt: skip
    rows = placed(around, takes("MatMul", "Add"))
    assert (rows["a"][1], rows["c"][1]) == ("segment 0", "segment 1")
    same_bytes(around, takes("MatMul", "Add"))
    behind = model(
        node("MatMul", "x w", "a"), node("Gemm", "a v", "b"), node("MatMul", "b w", "y"),
        w=weight(), v=weight(),
    )  # fmt: skip
    both = {"one": takes("MatMul", name="one"), "two": takes("Gemm", name="two")}
    same_bytes(behind, *(both[name] for name in order.split()))


def test_methods_have_their_own_delegates() -> None:
    row = takes("MatMul", "Relu")
    w = weight()
    one = model(node("MatMul", "x w", "y"), w=w)
    two = model(node("MatMul", "x w", "a"), node("Exp", "a", "b"), node("MatMul", "b w", "y"), w=w)
    report = Report()
    program = export(
        {"one": one, "two": two}, Options(delegates=[row], placement="allow"), report=report
    )
    assert [(p.method, p.delegate, p.reason) for p in report.placements] == [
        ("one", "test", "segment 0"), ("two", "test", "segment 1"), ("two", "cpu", "no Exp"),
        ("two", "test", "segment 2"),
    ]  # fmt: skip
    data, x = emit_bytes(program), np.ones((2, 4), np.float32)
    whole = emit_bytes(export({"one": one, "two": two}))
    for method, entries in (("one", 1), ("two", 2)):
        got = pteron.load(data, method=method)
        assert len(got.placements) == entries
        assert got(x).tobytes() == pteron.load(whole, method=method)(x).tobytes()
    assert len(program.constants) == 1


def test_forbid_names_every_node_that_is_left() -> None:
    with pytest.raises(LoweringError) as error:
        placed(chain(), takes("MatMul"), policy="forbid")
    assert error.value.nodes == ("b", "c", "y")
    assert "got 3 on the CPU" in str(error.value) and "Exp 'c': no Exp" in str(error.value)
    with pytest.raises(ArgumentError, match="placement: expected allow, warn, forbid, got 'never'"):
        placed(chain(), takes("MatMul"), policy="never")


def test_forbid_stores_no_fallback_and_nobody_stands_in() -> None:
    program = export(
        chain(), Options(delegates=[takes("MatMul", "Relu", "Exp")], placement="forbid")
    )
    (entry,) = program.delegates
    assert (entry.fallback, entry.policy, entry.blob) == (None, "forbid", b"payload.")
    assert program.constants == () and len(program.blocks) == 1
    with pytest.raises(DelegateError, match=r"delegate test \(test-1\) did not open"):
        pteron.load(emit_bytes(program))


def test_what_converts_at_the_border_may_stay_under_forbid() -> None:
    codes = {"s": np.float32(0.1), "z": np.int8(3)}
    source = model(
        node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "f"),
        node("MatMul", "f w", "a"), node("QuantizeLinear", "a s z", "r"),
        node("DequantizeLinear", "r s z", "y"), w=weight(), **codes,
    )  # fmt: skip
    graph = run_passes(capture(source))
    rows = partition(graph, [takes("MatMul", "QuantizeLinear", "DequantizeLinear")], "forbid")
    left = {r.name: r.reason for r in rows if r.delegate == "cpu"}
    assert left == {"q": BORDER, "y": BORDER}


def test_a_compiler_that_is_not_installed_is_named_with_its_command() -> None:
    row = Delegate(
        "x", "x-1", lambda n: None, lambda s: b"", lambda: [("clang", "apt-get install clang-19")]
    )
    with pytest.raises(
        DelegateError, match="delegate x: its compiler needs clang: apt-get install"
    ):
        export(chain(), Options(delegates=[row]))


def test_segments_say_what_they_read_and_make() -> None:
    seen: list[Segment] = []

    def compile(segment: Segment) -> bytes:
        seen.append(segment)
        return b"payload."

    export(chain(), Options(delegates=[takes("MatMul", "Relu", compile=compile)]))
    shapes = [[list(v.shape or ()) for v in (*s.inputs, *s.outputs)] for s in seen]
    assert shapes == [[[2, 4], [2, 4]], [[2, 4], [2, 4]]]
    assert all(v.dtype == ir.DataType.FLOAT for s in seen for v in (*s.inputs, *s.outputs))


# --- the file -----------------------------------------------------------------------------------------------------------


def test_rows_go_into_the_debug_segment_and_are_stripped_with_it() -> None:
    program = export(chain(), Options(delegates=[takes("MatMul", "Relu")]))
    assert [(p.name, p.delegate, p.macs) for p in program.placements] == [
        ("a", "test", 32), ("b", "test", 0), ("c", "cpu", 0), ("d", "test", 32), ("y", "test", 0),
    ]  # fmt: skip
    assert read(emit_bytes(program)).placements == program.placements
    assert read(emit_bytes(program, debug=False)).placements == ()


def test_names_that_nobody_knows_are_refused_with_those_known(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"expected .*null.*, cpu; got 'npu'"):
        pteron.export_model(chain(), tmp_path / "x.pte", delegates=["npu", "cpu"])
    with pytest.raises(ArgumentError, match=r"this build has null.*; got 'npu'"):
        pteron.load(emit_bytes(export(chain())), delegates=["npu"])


def test_a_program_has_room_for_so_many_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with the most work stay, the others run on the CPU and say why."""
    assert partitions.MOST_SEGMENTS == MAX_DELEGATES
    monkeypatch.setattr(partitions, "MOST_SEGMENTS", 1)
    wide = model(
        node("MatMul", "x w", "a"), node("Exp", "a", "b"), node("MatMul", "b v", "y"),
        w=weight(), v=RNG.standard_normal((4, 8)).astype(np.float32),
    )  # fmt: skip
    rows = placed(wide, takes("MatMul"))
    assert rows["y"] == ("test", "segment 0")
    assert rows["a"][0] == "cpu" and "at most 1 segments" in rows["a"][1]
