"""The generated parts of docs/: docs/operators.md, and the tables of docs/format.md between their marks.

What a field means is the comment beside it in frame.fbs and program.fbs; what a type or format means, its docstring.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..dtypes import DTYPES
from ..formats import ROWS
from ..ops import OPS
from ..row import Op
from ..signature import CONTROL, Port, Signature, signature
from ..steps import STEPS
from .fbs import Field, Schema, size_of

TYPES = {"ubyte": "u8", "ushort": "u16", "uint": "u32", "ulong": "u64", "long": "i64"}
FAMILIES = {
    "matrix": "Products with weights and of two operands",
    "images": "Windows over images, boxes",
    "sequence": "Attention and recurrent layers",
    "rows": "Reductions and norms",
    "moving": "Elements that only move",
    "pointwise": "One element at a time",
    "stored": "Elements of 2 to 8 bits",
    "control": "Blocks and delegates, which the session runs",
}

Notes = dict[str, dict[str, str]]
"""Definition -> field or value -> its comment; the comment above it under the empty name."""


def notes(source: str) -> Notes:
    """The comments of an .fbs: beside a field, on lines of their own below it, and above a definition."""
    found: Notes = {}
    above: list[str] = []
    inside: dict[str, str] | None = None
    field = ""
    for line in source.splitlines():
        code, _, comment = (part.strip() for part in line.partition("//"))
        opened = re.match(r"(?:enum|struct|table) (\w+)", code)
        if opened:
            inside = found.setdefault(opened.group(1), {"": " ".join([*above, comment]).strip()})
            above, field = [], ""
        elif inside is None:
            above = [*above, comment] if comment else []
            continue
        elif code and not code.startswith("}"):
            field = code.split(":")[0].split("=")[0].strip()
            inside[field] = comment
        elif comment and field:
            inside[field] = f"{inside[field]} {comment}".strip()
        if code.endswith("}"):
            inside = None
    return found


def format_md(page: str, schema: Schema, comments: Notes) -> str:
    """The page with every marked part written anew: `<!-- schema/gen: what -->` up to `<!-- end -->`.

    Raises:
        ValueError: a mark names nothing that can be written.
    """

    def part(match: re.Match[str]) -> str:
        kind, _, name = match.group(2).partition(" ")
        makers = {"struct": _struct, "enum": _enum, "table": _table}
        if kind in makers:
            lines = makers[kind](schema, name, comments.get(name, {}))
        elif kind in ("formats", "dtypes"):
            lines = _formats() if kind == "formats" else _dtypes(schema)
        else:
            raise ValueError(
                f"docs/format.md: expected struct, enum, table, formats or dtypes, got {match.group(2)}"
            )
        return "\n".join([match.group(1), *lines, match.group(3)])

    return re.sub(r"(<!-- schema/gen: ([^\n]*?) -->)\n.*?(<!-- end -->)", part, page, flags=re.S)


def _rows(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table; a column whose head ends with `:` is set to the right."""
    rule = ["---:" if word.endswith(":") else "---" for word in head]
    lines = [[word.rstrip(":") for word in head], rule, *rows]
    return [
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines
    ]


def _type(f: Field) -> str:
    return TYPES.get(f.type, f.type) + (f"[{f.count}]" if f.count else "")


def _struct(schema: Schema, name: str, meant: dict[str, str]) -> list[str]:
    s = schema.structs[name]
    rows = [
        (
            f.offset,
            size_of(schema, f.type)[0] * (f.count or 1),
            f"`{f.name}`",
            _type(f),
            meant.get(f.name) or ("0" if f.name == "zero" else ""),
        )
        for f in s.fields
    ]
    text = f"`{name}`: {s.bytes} bytes, on a multiple of {s.align}."
    return [text, "", *_rows(("offset:", "size:", "field", "type", "meaning"), rows)]


def _enum(schema: Schema, name: str, meant: dict[str, str]) -> list[str]:
    e = schema.enums[name]
    text = f"`{name}`, a {TYPES[e.type]}:"
    if not any(meant.get(word) for word, _ in e.values):
        return [text + " " + ", ".join(f"{value} {word}" for word, value in e.values) + "."]
    rows = [(value, word, meant.get(word, "")) for word, value in e.values]
    return [text, "", *_rows(("value:", "name", "meaning"), rows)]


def _table(schema: Schema, name: str, meant: dict[str, str]) -> list[str]:
    rows = []
    for f in schema.tables[name].fields:
        element = f.type.strip("[]")
        kind = TYPES.get(element, element)
        required = "yes" if f.required else "no"
        shown = f"[{kind}]" if f.type.startswith("[") else kind
        rows.append(
            (f.offset, 4 + 2 * f.offset, f"`{f.name}`", shown, required, meant.get(f.name, ""))
        )
    return _rows(("field:", "in vtable:", "name", "type", "required", "meaning"), rows)


def _dtypes(schema: Schema) -> list[str]:
    rows = sorted((value, name) for name, value in schema.enums["DType"].values)
    return _rows(
        ("value:", "name", "bits:"), [(v, n.lower(), DTYPES[n.lower()].bits) for v, n in rows]
    )


def _formats() -> list[str]:
    rows = [
        (
            f.id,
            f.row,
            f.bits or "of the dtype",
            ", ".join(dtype for dtype in (f.scale, f.second) if dtype) or "none",
            f"{f.outer} of {f.outer_block or 'the row'}" if f.outer else "none",
            f.text,
        )
        for f in ROWS.values()
    ]
    heads = ("id:", "format", "bits a code", "of each block", "of those", "meaning")
    return _rows(heads, rows)


def _sentence(meaning: Callable[..., Any]) -> str:
    return " ".join((meaning.__doc__ or "").split())


def operators_md() -> str:
    """docs/operators.md."""
    out = [
        "# Operators",
        "",
        "Written by schema/gen from schema/ops_*.py and schema/steps.py; do not edit.",
        "",
        f"What an instruction of a program may be: {len(OPS)} operators, and {len(STEPS)} opcodes of pointwise programs.",
        "`schema/row.py` explains the words of a row. In short:",
        "",
        "- *Signature*: inputs; attributes; outputs. `F` is one of the dtypes listed, the same everywhere; `A` any dtype, `T` any, the same everywhere; `W` a weight in panels, `Taps` depthwise taps. `?` may be absent, `*` is any number.",
        "- *Shape line*: an operand a bracket, in order of the signature, outputs behind the arrow. `*s` is any number of dimensions, `#a` the value of attribute a.",
        "- *Holds*: relations between extents, attributes and dtypes that the exporter, `verify` and `prepare` check. What names an absent operand holds.",
        "- *Bound*: the error against the NumPy function of the row in f64; eps is 2^-24 (f32), K the terms of a sum. Exact: the same number, bit for bit.",
        "- *Any strides*: operands that may be views; the others are dense. *In place*: inputs whose memory output 0 may take.",
        "- *Struct*: offsets of the attributes behind an instruction's `attrs`; `size` (u32, offset 0) is in front. `docs/format.md` has the kinds.",
        "",
    ]
    families = {name: [op for op in OPS.values() if _family(op) == name] for name in FAMILIES}
    lost = set(OPS) - {op.name for ops in families.values() for op in ops}
    if lost:
        raise ValueError(f"schema/gen/pages.py: no family for {sorted(lost)}; name it in FAMILIES")
    for name, ops in families.items():
        links = ", ".join(f"[{op.name}](#{op.name})" for op in ops)
        out.append(f"- **[{name}](#family-{name})**: {links}")
    for name, ops in families.items():
        out += ["", f"## Family {name}", "", f"{FAMILIES[name]}."]
        for op in ops:
            out += ["", *_operator(op)]
        if name == "pointwise":
            out += ["", *_steps()]
    return "\n".join(out) + "\n"


def _family(op: Op) -> str:
    return op.meaning.__module__.rsplit("ops_", 1)[-1]


def _operator(op: Op) -> list[str]:
    sig = signature(op)
    facts = [f"id {op.id}", f"since {op.since}"]
    if any(p.rule == "F" for p in (*sig.inputs, *sig.outputs)):
        facts.append("F: " + ", ".join(op.dtypes))
    facts.append(f"bound: {op.bound}" if op.name not in CONTROL else "run by the session")
    facts += [f"any strides: {', '.join(op.strided)}"] if op.strided else []
    facts += [f"in place: {', '.join(op.inplace)}"] if op.inplace else []
    facts += [f"the data decides {op.counts}"] if op.counts else []
    out = [
        f"### {op.name}",
        "",
        _sentence(op.meaning),
        "",
        "```text",
        _signature(op, sig),
        op.shape,
    ]
    if op.where:
        out += ["holds:", *_wrap(op.where)]
    if sig.attrs:
        places = [f"{a.name} {a.offset}" for a in sig.attrs]
        out += [f"struct of {sig.attrs_bytes} bytes:", *_wrap(places)]
    return [*out, "```", "", "; ".join(facts) + "."]


def _signature(op: Op, sig: Signature) -> str:
    attrs = []
    for a in sig.attrs:
        kind = " | ".join(a.values) if a.kind == "enum" else a.kind
        given = f" = {a.default}" if a.default not in (None, ()) else ""
        attrs.append(f"{a.name}: {kind}{given}")
    inputs = ", ".join(_port(p) for p in sig.inputs)
    inside = "; ".join(filter(None, (inputs, ", ".join(attrs))))
    return f"{op.name}({inside}) -> {', '.join(_port(p) for p in sig.outputs)}"


def _port(p: Port) -> str:
    return f"{'*' if p.variadic else ''}{p.name}: {p.rule}{'?' if p.optional else ''}"


def _wrap(parts: Sequence[str], width: int = 110) -> list[str]:
    """Joined by `; `, in lines of that width, indented."""
    lines: list[str] = []
    for i, part in enumerate(parts):
        text = part + (";" if i + 1 < len(parts) else "")
        if lines and len(lines[-1]) + len(text) < width:
            lines[-1] += " " + text
        else:
            lines.append("  " + text)
    return lines


def _expression(meaning: Callable[..., Any]) -> str:
    """What a function of one short statement returns, without NumPy's wrapping; else nothing."""
    body = ast.parse(textwrap.dedent(inspect.getsource(meaning))).body[0]
    last = body.body[-1] if isinstance(body, ast.FunctionDef) and len(body.body) == 1 else None
    if not isinstance(last, ast.Return) or last.value is None:
        return ""
    value = last.value
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "np.asarray":
        value = value.args[0]
    text = ast.unparse(value)
    return f"`{text}`" if len(text) <= 60 else ""


def _steps() -> list[str]:
    rows = [
        (
            s.id,
            f"`{s.name}`",
            ", ".join(s.types),
            s.result or "the same",
            f"{s.ulp:g} ulp" if s.ulp else "exact",
            _sentence(s.meaning) or _expression(s.meaning),
        )
        for s in STEPS.values()
    ]
    head = ("opcode:", "step", "types", "result", "bound", "meaning")
    return ["### Steps of a pointwise program", "", *_rows(head, rows)]
