"""The generated files about operators and steps: gen/ops.h, gen/ops.c, gen/steps.h, gen/steps.c."""

from __future__ import annotations

from pteron.schema import shape, signature
from pteron.schema.ops import OPS
from pteron.schema.row import Op
from pteron.schema.sequence import ACTIVATIONS
from pteron.schema.steps import MAX_STEPS, REGISTERS, STEPS, TYPES

C_TYPES = {
    "int": "int64_t",
    "float": "double",
    "bool": "uint32_t",
    "enum": "uint32_t",
    "ints": "pte_range",
    "floats": "pte_range",
    "dims": "pte_range",
    "steps": "pte_steps",
    "block": "uint32_t",
}


def head(what: str, source: str, guard: str = "") -> str:
    """The first lines of a generated C file."""
    text = f"/* {what}\n * Written by schema/gen.py from {source}; do not edit. */\n// clang-format off\n"
    return text + (f"#ifndef {guard}\n#define {guard}\n" if guard else "")


def ops_h() -> str:
    out = [
        head("Operators: numbers, attribute structs, kernels.", "schema/ops.py", "PTE_GEN_OPS_H"),
        '#include <stddef.h>\n\n#include "core/kernel.h"\n\nenum {',
    ]
    out += [f"  PTE_OP_{op.name.upper()} = {op.id}," for op in OPS.values()]
    out += ["};\n", "enum { /* elements of `activations` */"]
    out += [f"  PTE_ACTIVATION_{name.upper()} = {i}," for i, name in enumerate(ACTIVATIONS)]
    out += ["};\n"]
    for op in OPS.values():
        out += _op_declarations(op)
    out += ["/* X(name) for every operator that has a kernel. */", "#define PTE_KERNELS(X) \\"]
    names = [op.name for op in OPS.values() if op.name not in signature.CONTROL]
    out += [f"  X({name}) \\" for name in names[:-1]] + [f"  X({names[-1]})", ""]
    return "\n".join(out) + "\n#endif\n"


def _op_declarations(op: Op) -> list[str]:
    sig = signature.signature(op)
    out = []
    for a in sig.attrs:
        if a.kind == "enum":
            names = ", ".join(
                f"PTE_{op.name}_{a.name}_{v}".upper() + f" = {i}" for i, v in enumerate(a.values)
            )
            out.append(f"enum {{ {names} }};")
    out += [f"typedef struct pte_{op.name}_attrs {{", "  uint32_t size;"]
    end = 4
    for a in sig.attrs:
        out.append(f"  {C_TYPES[a.kind]} {a.name};")
        end = a.offset + a.bytes
    if sig.attrs_bytes - end == 4:
        out.append("  uint32_t zero;")
    out.append(f"}} pte_{op.name}_attrs;")
    out.append(f'_Static_assert(sizeof(pte_{op.name}_attrs) == {sig.attrs_bytes}, "{op.name}");')
    if sig.attrs:
        last = sig.attrs[-1]
        out.append(
            f'_Static_assert(offsetof(pte_{op.name}_attrs, {last.name}) == {last.offset}, "{op.name}");'
        )
    if op.name not in signature.CONTROL:
        out.append(f"extern const pte_kernel pte_{op.name}_kernel;")
    return [*out, ""]


def ops_c() -> str:
    largest = max(signature.signature(op).attrs_bytes for op in OPS.values())
    out = [
        head("The operator table.", "schema/ops.py"),
        '#include "gen/ops.h"\n\n#include "core/op.h"\n#include "pteron/types.h"\n',
        f'_Static_assert(PTE_MAX_ATTRS_BYTES >= {largest}, "raise PTE_MAX_ATTRS_BYTES");\n',
        "/* -DPTE_WITHOUT_<OP> leaves a kernel out of a build; programs that need it are PTE_UNSUPPORTED. */",
    ]
    for op in OPS.values():
        if op.name not in signature.CONTROL:
            out += [
                f"#ifdef PTE_WITHOUT_{op.name.upper()}",
                f"#define KERNEL_{op.name} NULL",
                "#else",
                f"#define KERNEL_{op.name} &pte_{op.name}_kernel",
                "#endif",
            ]
    out.append("")
    for op in OPS.values():
        out += _op_tables(op)
    out.append("const pte_op_row pte_op_rows[] = {")
    out += [_op_row(op) for op in sorted(OPS.values(), key=lambda op: op.id)]
    out += ["};\n", f"const uint32_t pte_op_row_count = {len(OPS)};"]
    return "\n".join(out) + "\n"


def _op_tables(op: Op) -> list[str]:
    """Attribute defaults and fields, shape terms, ports of one operator."""
    sig, line = signature.signature(op), shape.parse(op)
    offsets = {a.name: a.offset for a in sig.attrs}
    out = []
    if max(len(line.dims), len(line.runs)) > 12:
        raise ValueError(
            f"op {op.name}: more than 12 names in the shape line; raise PTE_MAX_SHAPE_SLOTS"
        )
    values = [f".{a.name} = {_c_value(a)}" for a in sig.attrs if a.default is not None]
    init = ", ".join([f".size = {sig.attrs_bytes}", *values])
    out.append(f"static const pte_{op.name}_attrs {op.name}_defaults = {{{init}}};")
    if sig.attrs:
        out.append(f"static const pte_op_attr {op.name}_attrs[] = {{")
        for a in sig.attrs:
            kind = list(signature.KINDS).index(a.kind)
            required = str(a.default is None).lower()
            out.append(f'  {{"{a.name}", {a.offset}, {kind}, {required}, {len(a.values)}}},')
        out.append("};")
    for side, ports, lines in (("in", sig.inputs, line.inputs), ("out", sig.outputs, line.outputs)):
        rows = []
        for i, (port, terms) in enumerate(zip(ports, lines, strict=True)):
            name = "NULL"
            if terms:
                name = f"{op.name}_{side}{i}"
                body = ", ".join(
                    f"{{{shape.TERMS.index(t.kind)}, {t.slot}, {offsets.get(t.attr, 0)}, {t.number}}}"
                    for t in terms
                )
                out.append(f"static const pte_shape_term {name}[] = {{{body}}};")
            flags = [
                port.optional,
                port.name in op.strided,
                side == "in" and port.name in op.inplace,
            ]
            words = ", ".join(str(flag).lower() for flag in flags)
            rows.append(
                f'  {{"{port.name}", {name}, {len(terms)}, PTE_RULE_{port.rule.upper()}, {words}}},'
            )
        if rows:
            out += [f"static const pte_op_port {op.name}_{side}[] = {{", *rows, "};"]
    _check_names(op, sig)
    return [*out, ""]


def _check_names(op: Op, sig: signature.Signature) -> None:
    known = {p.name for p in (*sig.inputs, *sig.outputs)}
    if not {*op.strided, *op.inplace} <= known:
        raise ValueError(
            f"op {op.name}: strided or inplace names no port: expected one of {sorted(known)}"
        )


def _c_value(a: signature.Attr) -> str:
    if a.kind in ("ints", "floats", "dims", "steps"):
        if a.default:
            raise ValueError(f"attribute {a.name}: a list's default can only be empty")
        return "{0, 0}" if a.kind != "steps" else "{{0, 0}, {0, 0}}"
    return repr(signature.words(a, a.default)[0])


def _op_row(op: Op) -> str:
    sig = signature.signature(op)
    control = op.name in signature.CONTROL
    kernel = "NULL" if control else f"KERNEL_{op.name}"
    dtypes = " | ".join(f"1u << PTE_{d.upper()}" for d in op.dtypes)
    ports = [f"{op.name}_in" if sig.inputs else "NULL", f"{op.name}_out" if sig.outputs else "NULL"]
    attrs = f"{op.name}_attrs" if sig.attrs else "NULL"
    counts = f"{len(sig.inputs)}, {len(sig.outputs)}, {len(sig.attrs)}"
    variadic = [any(p.variadic for p in side) for side in (sig.inputs, sig.outputs)]
    flags = ", ".join(
        str(flag).lower() for flag in [*variadic, control, sig.has_defaults, op.counts]
    )
    first = f'"{op.name}", {kernel}, &{op.name}_defaults, {ports[0]}, {ports[1]}, {attrs}'
    return f"  {{{first}, {dtypes}, {op.id}, {sig.attrs_bytes}, {counts}, {flags}}},"


def steps_h() -> str:
    out = [
        head("Steps of pointwise programs.", "schema/steps.py", "PTE_GEN_STEPS_H"),
        "#include <stdint.h>\n",
    ]
    out += [f"#define PTE_REGISTERS {REGISTERS}", f"#define PTE_MAX_STEPS {MAX_STEPS}", ""]
    out += ["enum { /* compute types */"]
    out += [f"  PTE_STEP_{name.upper()} = {i}," for i, name in enumerate(TYPES)]
    out += ["};\n", "enum { /* opcodes */"]
    out += [f"  PTE_STEP_{row.name.upper()} = {row.id}," for row in STEPS.values()]
    out += ["};\n", "#define PTE_STEP_SAME 255 /* of `result`, `reads`: the compute type */", ""]
    out += ["typedef struct pte_step_row {", "  const char *name; /* NULL: no such opcode */"]
    out += [
        "  uint8_t types; /* bit t: compute type t is admitted */",
        "  uint8_t arity; /* registers read: a, b, c */",
    ]
    out += ["  uint8_t result;", "  uint8_t reads[3];", "} pte_step_row;", ""]
    last = max(row.id for row in STEPS.values())
    out += [
        f"#define PTE_STEP_ROWS {last + 1}",
        "extern const pte_step_row pte_step_rows[PTE_STEP_ROWS];",
        "",
    ]
    return "\n".join(out) + "#endif\n"


def steps_c() -> str:
    out = [head("The step table, by opcode.", "schema/steps.py"), '#include "gen/steps.h"\n']
    out += ["const pte_step_row pte_step_rows[PTE_STEP_ROWS] = {"]
    for row in sorted(STEPS.values(), key=lambda row: row.id):
        types = sum(1 << TYPES.index(t) for t in row.types)
        reads = [_type_code(t) for t in (*row.reads, "", "", "")[:3]]
        result = _type_code(row.result or "")
        out.append(
            f'  [{row.id}] = {{"{row.name}", {types}, {row.arity}, {result}, {{{", ".join(reads)}}}}},'
        )
    return "\n".join(out) + "\n};\n"


def _type_code(name: str) -> str:
    return f"PTE_STEP_{name.upper()}" if name else "PTE_STEP_SAME"
