"""Every attribute of every operator is read by its lowering, or stands here with the reason why it need not be."""

from __future__ import annotations

import inspect
from types import CodeType
from typing import Any, Final

import numpy as np
import onnx.defs
import pytest

import pteron.export.lower  # noqa: F401  fills the table
from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.lower.table import LOWERINGS
from pteron.export.program.interpret import run

OPSET: Final = 28
IN_F32: Final = "computed in f32 whatever it says"
OF_R: Final = "the shape of R says it, and is checked"
REFUSED: Final = "what it brings is refused"
UNREAD: Final = {
    ("Constant", "sparse_value"): REFUSED,
    ("Constant", "value_string"): REFUSED,
    ("Constant", "value_strings"): REFUSED,
    ("Dropout", "seed"): "random results are refused",
    ("GRU", "hidden_size"): OF_R,
    ("LSTM", "hidden_size"): OF_R,
    ("RNN", "hidden_size"): OF_R,
    ("GroupNormalization", "stash_type"): IN_F32,
    ("LayerNormalization", "stash_type"): IN_F32,
    ("RMSNormalization", "stash_type"): IN_F32,
    ("Range", "stash_type"): IN_F32,
    ("Attention", "softmax_precision"): "scores and softmax are f32 whatever it says",
    ("TopK", "sorted"): "0 leaves the order open; sorted is one",
}


def codes(code: CodeType) -> list[CodeType]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return [code, *(deep for c in inner for deep in codes(c))]


def parts(thing: Any) -> list[Any]:
    """Functions behind a global name: of a class its methods, of a table its values."""
    if inspect.isclass(thing):
        return [f for f in vars(thing).values() if inspect.isfunction(f)]
    found = thing.values() if isinstance(thing, dict) else [thing]
    return [f for f in found if inspect.isfunction(f)]


def reached(function: Any, seen: set[Any]) -> set[Any]:
    """`function` and the exporter's functions that it mentions, and so on."""
    if function in seen or not function.__module__.startswith("pteron.export.lower"):
        return seen
    seen.add(function)
    used = [function.__globals__.get(n) for c in codes(function.__code__) for n in c.co_names]
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    for thing in (*used, *held):
        for part in parts(thing):
            reached(part, seen)
    return seen


def mentioned(function: Any) -> set[str]:
    """Texts that stand in the code reached from `function`."""
    found = set()
    for part in reached(function, set()):
        for code in codes(part.__code__):
            for c in code.co_consts:
                found |= {
                    s
                    for s in (c if isinstance(c, (tuple, frozenset)) else (c,))
                    if isinstance(s, str)
                }
    return found


def test_every_attribute_is_read_or_need_not_be() -> None:
    unread = set()
    names = [name for domain, name in LOWERINGS if domain == ""]
    assert len(names) > 150
    for name in names:
        schema = onnx.defs.get_schema(name, OPSET, "")
        missing = set(schema.attributes) - mentioned(LOWERINGS["", name])
        unread |= {(name, attribute) for attribute in missing}
    assert unread == set(UNREAD)


def test_no_lowering_reads_what_its_operator_had_before() -> None:
    """Graphs are at one opset. Bodies of ONNX's own functions are not: there axes may be an attribute."""
    once: dict[str, set[str]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            once.setdefault(schema.name, set()).update(schema.attributes)
    found = set()
    for name in (name for domain, name in LOWERINGS if domain == ""):
        gone = once[name] - set(onnx.defs.get_schema(name, OPSET, "").attributes)
        found |= {(name, a) for a in gone & mentioned(LOWERINGS["", name]) if a != "axes"}
    assert found == {("Clip", "min"), ("Clip", "max"), ("TopK", "k")}  # other texts of that name


@pytest.mark.parametrize(("mode", "want"), [("up", 4.0), ("down", 2.0)])
@pytest.mark.parametrize("call", ["Cast(x, to=24, {})", "CastLike(x, like, {})"])
def test_casts_to_powers_of_two_round_as_told(call: str, mode: str, want: float) -> None:
    told = call.format(f'round_mode="{mode}"')
    text = f"like = Cast(1.0, to=24); code = {told}; y = Cast(code, to=1)"
    program = lower(onnx_text(text, outputs="y", x="f32[3]"))
    x = np.array([2.5, 3.0, 3.5], np.float32)
    np.testing.assert_array_equal(run(program, {"x": x})["y"], np.full(3, want, np.float32))
