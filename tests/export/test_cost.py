"""What an export costs: calls in proportion to nodes, memory that does not hold the model."""

from __future__ import annotations

import gc
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pteron.export.delegates.segments import segments
from pteron.export.export import export
from pteron.export.file.emit import emit_bytes

ROOT = Path(__file__).parents[2]


def shapes() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("cost", ROOT / "benchmarks/export_cost.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.SHAPES)


def calls(work: Any) -> int:
    """Functions called, of Python and of C: what takes time, but the same on every machine."""
    count = 0

    def note(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", sorted(shapes()))
def test_twice_the_nodes_take_about_twice_the_calls(name: str):
    """Quadratic work would be four times, with what is linear beside it three or so."""
    make = shapes()[name]
    emit_bytes(export(make(40)))  # tables and caches
    few, many = (calls(lambda n=n: emit_bytes(export(make(n)))) for n in (400, 800))
    assert many < 2.5 * few, (few, many)


@pytest.mark.parametrize("asked", [(700, 10, 10), (0, 10, 10), (200_000, 5, 5)])
def test_the_collector_is_as_it_was_after_an_export(asked: tuple[int, int, int]):
    seen: list[tuple[int, int, int]] = []

    def look(model: Any) -> None:
        seen.append(gc.get_threshold())
        if len(seen) > 1:
            raise RuntimeError("in the middle")

    before = gc.get_threshold()
    try:
        gc.set_threshold(*asked)
        model = shapes()["dense"](4)
        export(model, transform=look)
        assert gc.get_threshold() == asked
        with pytest.raises(RuntimeError):
            export(model, transform=look)
        assert gc.get_threshold() == asked
    finally:
        gc.set_threshold(*before)
    assert seen == [(50_000, 10, 10) if asked[0] == 700 else asked] * 2


def test_segments_of_a_chain_and_of_skips_take_calls_in_proportion():
    def chain(n: int, skip: int) -> list[set[int]]:
        return [{v for v in (i + 1, i + skip * (i % skip == 0)) if i < v < n} for i in range(n)]

    def counted(n: int, skip: int) -> int:
        edges = chain(n, skip)
        return calls(lambda: segments(edges, range(n)))

    for skip in (1, 4):
        assert counted(2000, skip) < 2.5 * counted(1000, skip)


MEASURE = """
import json, sys
from pathlib import Path
from pteron.cli.memory import peak_bytes
from pteron.pipeline import export_model
source, options = Path(sys.argv[1]), json.loads(sys.argv[2])
export_model(source.with_name("small.onnx"), source.with_suffix(".pte"), **options)
before = peak_bytes()
export_model(source, source.with_suffix(".pte"), **options)
print(peak_bytes() - before)
"""


def write(path: Path, width: int, layers: int) -> int:
    """A chain of products, its weights in the file; their bytes."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.standard_normal((width, width)).astype(np.float32), f"w{i}")
        for i in range(layers)
    ]
    nodes = [helper.make_node("MatMul", [f"v{i}", f"w{i}"], [f"v{i + 1}"]) for i in range(layers)]
    ends = [f"v{i}" for i in (0, layers)]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, width]) for n in ends)
    graph = helper.make_graph(nodes, "chain", [x], [y], weights)
    imports = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), path)
    return layers * width * width * 4


@pytest.mark.parametrize(("quantize", "part"), [(None, 0.3), ("nf4", 0.6), ("int8", 0.8)])
def test_an_export_holds_a_part_of_the_weights(tmp_path: Path, quantize: str | None, part: float):
    """100 MB in 24 weights: f32 needs a few of them at a time, quantized ones a byte a weight and what was packed."""
    size = write(tmp_path / "model.onnx", 1024, 24)
    write(tmp_path / "small.onnx", 64, 2)
    options = json.dumps({} if quantize is None else {"quantize": quantize})
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "model.onnx"), options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert int(done.stdout) < part * size, f"{int(done.stdout) >> 20} MiB of {size >> 20}"


def test_many_families_of_siblings_take_calls_in_proportion() -> None:
    """Pairs of nodes that read the same value, one pair after the other."""

    def counted(n: int) -> int:
        successors = [{i + 1, i + 2} if i % 3 == 0 else {i + 3 - i % 3} for i in range(3 * n)]
        siblings = [{i + 1, i + 2} for i in range(0, 3 * n, 3)]
        members = {i for i in range(3 * n) if i % 3}
        successors[-1] = successors[-2] = set()
        made: list[list[list[int]]] = []
        count = calls(lambda: made.append(segments(successors, members, (), siblings)))
        assert made == [[sorted(s) for s in siblings]]
        return count

    assert counted(800) < 2.5 * counted(400)
