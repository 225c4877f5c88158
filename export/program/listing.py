"""A Program as text, for tests and eyes: one line an instruction, views written as what they do to their base.

main(x: f32[batch, 3], b: f32[3]) -> (y)
  %3: f32[batch, 3] = pointwise(x, b{0, 1}) add(0, 1)
"""

from __future__ import annotations

import re

from ..sizes import Extent
from . import Instr, Method, Program
from .terms import Term, read_terms


def as_text(program: Program) -> str:
    """All methods; blocks named by an instruction follow it, indented. Values are numbered as they appear."""
    text = "\n".join(_method(program, m) for m in program.methods)
    body = "\n".join(line for line in text.splitlines() if line.startswith(" "))
    order = dict.fromkeys(re.findall(r"%\d+", body + text))
    names = {old: f"%{i}" for i, old in enumerate(order, 1)}
    return re.sub(r"%\d+", lambda m: names[m.group()], text)


def _method(p: Program, m: Method) -> str:
    inputs = ", ".join(f"{port.name}: {_type(p, port.value)}" for port in m.inputs)
    outputs = ", ".join(f"{port.name} = {_name(p, port.value)}" for port in m.outputs)
    lines = [f"{m.name}({inputs}) -> ({outputs})"]
    for c in p.checks:
        lines.append(f"  check {c.a} {c.kind} {c.b}")
    return "\n".join([*lines, *_block(p, m.block, "  ")])


def _block(p: Program, index: int, indent: str) -> list[str]:
    lines: list[str] = []
    block = p.blocks[index]
    if block.params:
        lines.append(indent + "params " + ", ".join(f"%{v}: {_type(p, v)}" for v in block.params))
    for i in block.instrs:
        lines.append(indent + _instr(p, i))
        for key in ("then_block", "else_block", "body"):
            if key in i.attrs:
                lines.append(f"{indent}  {key}")
                lines += _block(p, i.attrs[key], indent + "    ")
    if block.results:
        lines.append(indent + "results " + ", ".join(_name(p, v) for v in block.results))
    return lines


def _instr(p: Program, i: Instr) -> str:
    left = ", ".join("-" if v is None else f"{_name(p, v)}: {_type(p, v)}" for v in i.outputs)
    right = ", ".join("-" if v is None else _name(p, v) for v in i.inputs)
    attrs = "".join(
        f" {k}={v}" if k != "steps" else " " + "; ".join(_term(t) for t in read_terms(v))
        for k, v in i.attrs.items()
        if k not in ("then_block", "else_block", "body") and not (k == "steps" and not v)
    )
    return f"{left} = {i.op}({right}){attrs}"


def _type(p: Program, v: int) -> str:
    value = p.values[v]
    return f"{value.dtype}[{_list(value.shape)}]"


def _name(p: Program, v: int) -> str:
    """Inputs, constants and states by name; views by base, strides and offset."""
    value = p.values[v]
    if value.storage == "view":
        strides = "" if value.strides is None else _list(value.strides)
        offset = "" if value.offset == 0 else f" + {value.offset}"
        return f"{_name(p, value.base)}{{{strides}{offset}}}"
    if value.storage == "constant":
        constant = p.constants[value.base]
        small = constant.elements.size <= 4
        flat = constant.array.reshape(-1).tolist() if small else []
        return repr(flat) if small else constant.name or f"#{value.base}"
    if value.storage in ("input", "state") and re.fullmatch(r"[\w.]+", value.name):
        return value.name
    return f"%{v}"


def _list(shape: tuple[Extent, ...]) -> str:
    return ", ".join(map(str, shape))


def _term(t: Term) -> str:
    """As a formula; operands are $0, $1, ..."""
    if t.op == "load":
        return f"${t.arg}"
    if t.op == "literal":
        return str(t.arg)
    if t.op in ("index", "round", "wrap"):
        inside = ", ".join([*(_term(a) for a in t.args), str(t.arg)])
        return f"{t.op}({inside})"
    kind = f".{t.type}" if t.op == "cast" else ""
    return f"{t.op}{kind}({', '.join(_term(a) for a in t.args)})"
