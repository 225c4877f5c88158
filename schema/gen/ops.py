"""The generated files about operators and steps: gen/ops.h, gen/ops.c, gen/steps.h, gen/steps.c."""

from __future__ import annotations

import collections
import struct
from collections.abc import Mapping, Sequence

from .. import relation, shape, signature
from ..formats import ROWS
from ..meaning.sequence import ACTIVATIONS
from ..ops import OPS
from ..row import Op
from ..steps import MAX_STEPS, REGISTERS, STEPS, TYPES

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


RELATION_DEPTH = 8
"""PTE_RELATION_DEPTH."""
RELATIONS = 1 << 9
"""The first index that a row of pte_op_relations may have, and the one behind."""


def head(what: str, source: str, guard: str = "") -> str:
    """The first lines of a generated C file."""
    text = (
        f"/* {what}\n * Written by schema/gen from {source}; do not edit. */\n// clang-format off\n"
    )
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
    out += ["/* X(OP, op, ATTR, attr) for every attribute that is one of some words. */"]
    out += ["#define PTE_ENUM_ATTRS(X) \\"]
    rows = [
        (op.name, a.name)
        for op in OPS.values()
        for a in signature.signature(op).attrs
        if a.kind == "enum"
    ]
    words = [f"  X({op.upper()}, {op}, {attr.upper()}, {attr})" for op, attr in rows]
    out += [" \\\n".join(words), ""]
    return "\n".join(out) + "\n#endif\n"


def _kept(what: str) -> list[str]:
    """Which values of an attribute a build for known programs has."""
    return [
        f"#ifdef PTE_KEPT_{what}",
        f"#define PTE_KEPT_IS_{what}(name, value) || (value) == PTE_{what}_##name",
        f"#define PTE_{what}_KEPT(value) (0 PTE_KEPT_{what}(PTE_KEPT_IS_{what}, value))",
        "#else",
        f"#define PTE_{what}_KEPT(value) 1",
        "#endif",
    ]


def _op_declarations(op: Op) -> list[str]:
    sig = signature.signature(op)
    out = []
    for a in sig.attrs:
        if a.kind == "enum":
            names = ", ".join(
                f"PTE_{op.name}_{a.name}_{v}".upper() + f" = {i}" for i, v in enumerate(a.values)
            )
            out.append(f"enum {{ {names} }};")
            out += _kept(f"{op.name}_{a.name}".upper())
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


class Pools:
    """What the rows share: each list is a table of its own, and a row names what is its own by the first index."""

    def __init__(self) -> None:
        self.texts = ""
        self.terms: list[str] = []
        self.ports: list[str] = []
        self.attrs: list[str] = []
        self.defaults: list[str] = []
        self.numbers: list[str] = []
        self.relations: list[str] = []
        self.codes = b""

    def text(self, word: str) -> int:
        """Where `word` begins among the texts; it may be the end of a longer one."""
        at = self.texts.find(word + "\0")
        if at < 0:
            at = len(self.texts)
            self.texts += word + "\0"
        if at >= 1 << 12:
            raise ValueError("names of operators take more than 4096 bytes; widen core/op.h")
        return at

    def relation(self, code: bytes) -> int:
        """Where the relation `code` begins; rows share those that are alike, and ends of longer ones."""
        at = self.codes.find(code)
        if at < 0:
            at = len(self.codes)
            self.codes += code
        return at

    def number(self, text: str) -> int:
        if text not in self.numbers:
            self.numbers.append(text)
        return self.numbers.index(text)

    @staticmethod
    def place(pool: list[str], rows: Sequence[str | None], most: int = 256) -> int:
        """The first index of `rows`, in order, in the pool: where they are already, or at its end, which may begin them. Where
        a row is None any will do."""

        def fits(at: int) -> bool:
            pairs = zip(rows, pool[at:], strict=False)
            return all(row is None or row == there for row, there in pairs)

        at = next(at for at in range(len(pool) + 1) if fits(at))
        pool += ["0" if row is None else row for row in rows[len(pool) - at :]]
        if at >= most:
            raise ValueError(f"a table of operators has more than {most} rows; widen core/op.h")
        return at

    def tables(self) -> list[str]:
        out = []
        for head, rows in (
            ("const pte_shape_term pte_op_terms[]", self.terms),
            ("const pte_op_port pte_op_ports[]", self.ports),
            ("const pte_op_attr pte_op_attrs[]", self.attrs),
            ("const uint64_t pte_op_default_words[]", self.defaults),
            ("const int64_t pte_op_numbers[]", self.numbers),
            ("const uint16_t pte_op_relations[]", self.relations),
        ):
            out += [f"{head} = {{", *(f"  {row}," for row in rows), "};", ""]
        out += ["const uint8_t pte_op_codes[] = {"]
        for at in range(0, len(self.codes), 24):
            out.append("  " + " ".join(f"{byte}," for byte in self.codes[at : at + 24]))
        out += ["};", ""]
        words, at = [], 0
        for word in self.texts.split("\0")[:-1]:
            words.append(f'  "{word}\\0" /* {at} */')
            at += len(word) + 1
        return [*out, "const char pte_op_texts[] =", *words, "  ;", ""]


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
    pools = Pools()
    for word in sorted({w for op in OPS.values() for w in _words(op)}, key=lambda w: (-len(w), w)):
        pools.text(word)
    _place_relations(pools)
    for op in OPS.values():
        _defaults(signature.signature(op), pools)  # the ends of some begin others
    for op in sorted(OPS.values(), key=lambda op: -signature.signature(op).attrs_bytes):
        _op_row(op, pools)  # the largest first: others lie inside
    rows = [_op_row(op, pools) for op in OPS.values()]
    out += [
        "",
        *pools.tables(),
        "const pte_op_row pte_op_rows[] = {",
        *rows,
        "};\n",
        f"const uint32_t pte_op_row_count = {len(OPS)};",
    ]
    return "\n".join(out) + "\n"


def _words(op: Op) -> list[str]:
    sig = signature.signature(op)
    ports = [port.name for port in (*sig.inputs, *sig.outputs)]
    return [op.name, *ports, *(attr.name for attr in sig.attrs)]


def _defaults(sig: signature.Signature, pools: Pools) -> int:
    """The attribute struct of an instruction that names no attribute, in words of 8 bytes. The verifier refuses a struct that ends
    before the last required attribute: words up to there are never read."""
    lists = [
        a.name for a in sig.attrs if a.default and not isinstance(a.default, int | float | str)
    ]
    if lists:
        raise ValueError(f"attributes {lists}: a list's default can only be empty")
    nothing = {a.name: a.values[0] if a.values else () if _is_list(a) else 0 for a in sig.attrs}
    given = {a.name: a.default for a in sig.attrs if a.default is not None}
    stored = signature.pack_attrs(sig, nothing | given)
    unread = max((a.offset // 8 + 1 for a in sig.attrs if a.default is None), default=0)
    words = [f"{word:#x}u" for (word,) in struct.iter_unpack("<Q", stored)]
    return pools.place(pools.defaults, [*[None] * unread, *words[unread:]])


def _is_list(a: signature.Attr) -> bool:
    return a.kind in ("ints", "floats", "dims", "steps")


def _attrs(sig: signature.Signature, pools: Pools) -> int:
    rows = []
    for a in sig.attrs:
        kind = list(signature.KINDS).index(a.kind)
        required = str(a.default is None).lower()
        name = pools.text(a.name)
        rows.append(f"{{{name}, {a.offset}, {kind}, {len(a.values)}, {required}}} /* {a.name} */")
    return pools.place(pools.attrs, rows)


def _ports(op: Op, output: bool, pools: Pools) -> int:
    sig, line = signature.signature(op), shape.parse(op)
    offsets = {a.name: a.offset for a in sig.attrs}
    if max(len(line.dims), len(line.runs)) > 12:
        raise ValueError(
            f"op {op.name}: more than 12 names in the shape line; raise PTE_MAX_SHAPE_SLOTS"
        )
    sides = (sig.outputs, line.outputs) if output else (sig.inputs, line.inputs)
    counted = op.counts if output and any(shape.counted_axes(op).values()) else ""
    rows = []
    for port, terms in zip(*sides, strict=True):
        first = pools.place(
            pools.terms,
            [
                f"{{{shape.TERMS.index(t.kind)}, {t.slot}, {_value(t, offsets, counted)}}}"
                for t in terms
            ],
        )
        inplace = not output and port.name in op.inplace
        flags = [port.optional, port.name in op.strided, inplace]
        words = ", ".join(str(flag).lower() for flag in flags)
        numbers = f"{pools.text(port.name)}, {len(terms)}, {first}, PTE_RULE_{port.rule.upper()}"
        rows.append(f"{{{numbers}, {words}}} /* {port.name} */")
    return pools.place(pools.ports, rows)


def _value(t: shape.Term, offsets: Mapping[str, int], counted: str) -> int:
    if t.kind == "dim":
        return int(t.name == counted)
    return offsets[t.attr] if t.attr else t.number


def _check_names(op: Op, sig: signature.Signature) -> None:
    known = {p.name for p in (*sig.inputs, *sig.outputs)}
    if not {*op.strided, *op.inplace} <= known:
        raise ValueError(
            f"op {op.name}: strided or inplace names no port: expected one of {sorted(known)}"
        )


def _relations(op: Op, pools: Pools) -> list[str]:
    """Where each of the row's relations begins, in postfix order."""
    rows = []
    for text, tree in shape.relations(op):
        code, depth = _codes(op, tree, pools)
        if depth > RELATION_DEPTH:
            raise ValueError(f"op {op.name}: {text}: is too deep; raise PTE_RELATION_DEPTH")
        rows.append(str(pools.relation(code + bytes([relation.CODES.index("end")]))))
    return rows


def _place_relations(pools: Pools) -> None:
    """The largest rows first: others lie inside. Those that share nothing come last, of these the longest at the end: the first
    index has nine bits."""
    rows = {op.name: _relations(op, pools) for op in OPS.values()}
    users = collections.Counter(one for row in rows.values() for one in set(row))
    alone = [name for name, row in rows.items() if all(users[one] == 1 for one in row)]
    shared = sorted(rows.keys() - alone, key=lambda name: (-len(rows[name]), name))
    for name in (*shared, *sorted(alone, key=lambda name: len(rows[name]))):
        pools.place(pools.relations, rows[name], RELATIONS)


def _codes(op: Op, tree: relation.Tree, pools: Pools) -> tuple[bytes, int]:
    """One tree in postfix order, and how many values it has on the stack at once."""
    sig, line = signature.signature(op), shape.parse(op)
    code, *args = tree
    ports = [port.name for port in (*sig.inputs, *sig.outputs)]
    number = relation.CODES.index(code)
    if code == "number":
        small = 0 <= args[0] <= 255
        at = args[0] if small else pools.number(f"INT64_C({args[0]})")
        return bytes([relation.CODES.index("small" if small else "number"), at]), 1
    if code in ("dim", "run"):
        return bytes([number, (line.dims if code == "dim" else line.runs).index(args[0])]), 1
    if code in relation.OF_PORT:
        return bytes([number, ports.index(args[0])]), 1
    if code in relation.OF_ATTR:
        return bytes([number, next(a.offset for a in sig.attrs if a.name == args[0])]), 1
    if code == "in":
        left, depth = _codes(op, args[0], pools)
        return left + bytes([number, pools.number(_mask(op, args[0], args[1]))]), depth
    if code in relation.OF_LIST:
        name, _ = _codes(op, args[0], pools)
        before, depth = _codes(op, args[1], pools) if len(args) == 2 else (b"", 1)
        return before + bytes([number]) + name, depth
    parts = [_codes(op, arg, pools) for arg in args]
    depth = max(i + used for i, (_, used) in enumerate(parts))
    return b"".join(part for part, _ in parts) + bytes([number]), depth


def _mask(op: Op, left: relation.Tree, words: tuple[str, ...]) -> str:
    """Bit x is set where x is one of the words: element types, formats or an enum's."""
    if left[0] == "dtype":
        return " | ".join(f"INT64_C(1) << PTE_{word.upper()}" for word in words)
    if left[0] == "format":
        places = [ROWS[word].id for word in words]
    else:
        values = next(a.values for a in signature.signature(op).attrs if a.name == left[1])
        places = [values.index(word) for word in words]
    if max(places) >= 63:
        raise ValueError(f"op {op.name}: a relation names a word whose number is above 62")
    return f"INT64_C({sum(1 << place for place in set(places))})"


def _op_row(op: Op, pools: Pools) -> str:
    sig = signature.signature(op)
    _check_names(op, sig)
    control = op.name in signature.CONTROL
    kernel = "NULL" if control else f"KERNEL_{op.name}"
    dtypes = " | ".join(f"1u << PTE_{d.upper()}" for d in op.dtypes)
    name = pools.text(op.name)
    pooled = f"{_ports(op, False, pools)}, {_ports(op, True, pools)}, {_attrs(sig, pools)}"
    relations = pools.place(pools.relations, _relations(op, pools), RELATIONS)
    variadic = [any(p.variadic for p in side) for side in (sig.inputs, sig.outputs)]
    flags = ", ".join(str(flag).lower() for flag in [*variadic, control, sig.has_defaults])
    first = (
        f"{kernel}, {name}, {flags}, {dtypes}, {op.id}, {_defaults(sig, pools)}, {sig.attrs_bytes}"
    )
    counts = f"{len(sig.inputs)}, {len(sig.outputs)}, {len(op.where)}, {str(bool(op.counts)).lower()}, {relations}, {len(sig.attrs)}"
    return f"  {{{first}, {pooled}, {counts}}},"


KEPT = [
    "/* A build for known programs has no other steps than theirs: PTE_KEPT_STEPS, from pteron export",
    " * --emit-kernel-list. Others are refused when a program is opened. */",
    "#ifdef PTE_KEPT_STEPS",
    "#define PTE_KEPT_IS(o, t, op, type) || ((op) == PTE_STEP_##o && (type) == PTE_STEP_##t)",
    "#define PTE_KEPT_IS_OP(o, t, op, type) || (op) == PTE_STEP_##o",
    "#define PTE_KEPT_IS_TYPE(o, t, op, type) || (type) == PTE_STEP_##t",
    "#define PTE_STEP_KEPT(op, type) (0 PTE_KEPT_STEPS(PTE_KEPT_IS, op, type))",
    "#define PTE_STEP_OP_KEPT(op) (0 PTE_KEPT_STEPS(PTE_KEPT_IS_OP, op, 0)) /* in any type */",
    "#define PTE_STEP_TYPE_KEPT(type) (0 PTE_KEPT_STEPS(PTE_KEPT_IS_TYPE, 0, type)) /* any opcode */",
    "#else",
    "#define PTE_STEP_KEPT(op, type) 1",
    "#define PTE_STEP_OP_KEPT(op) 1",
    "#define PTE_STEP_TYPE_KEPT(type) 1",
    "#endif",
    "/* What a compiler may rely on where a step of this type is run. */",
    "#define PTE_STEP_ONLY(op, type)                             \\",
    "  do {                                                      \\",
    "    if (!PTE_STEP_KEPT(op, type)) __builtin_unreachable();  \\",
    "  } while (0)",
    "",
]


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
    out += ["typedef struct pte_step_row {"]
    out += [
        "  uint8_t types; /* bit t: compute type t is admitted; 0: no such opcode */",
        "  uint8_t arity; /* registers read: a, b, c */",
    ]
    out += ["  uint8_t result;", "  uint8_t reads[3];", "} pte_step_row;", ""]
    last = max(row.id for row in STEPS.values())
    out += [
        f"#define PTE_STEP_ROWS {last + 1}",
        "extern const pte_step_row pte_step_rows[PTE_STEP_ROWS];",
        "",
    ]
    out += KEPT
    return "\n".join(out) + "#endif\n"


def steps_c() -> str:
    out = [head("The step table, by opcode.", "schema/steps.py"), '#include "gen/steps.h"\n']
    kept = " | ".join(
        f"PTE_STEP_KEPT(op, PTE_STEP_{t.upper()}) << {i}" for i, t in enumerate(TYPES)
    )
    out += [f"#define KEPT(op, types) ((types) & ({kept}))", ""]
    out += ["const pte_step_row pte_step_rows[PTE_STEP_ROWS] = {"]
    for row in sorted(STEPS.values(), key=lambda row: row.id):
        types = sum(1 << TYPES.index(t) for t in row.types)
        reads = [_type_code(t) for t in (*row.reads, "", "", "")[:3]]
        result = _type_code(row.result or "")
        out.append(
            f"  [PTE_STEP_{row.name.upper()}] = {{KEPT(PTE_STEP_{row.name.upper()}, {types}), {row.arity}, {result}, {{{', '.join(reads)}}}}},"
        )
    return "\n".join(out) + "\n};\n"


def _type_code(name: str) -> str:
    return f"PTE_STEP_{name.upper()}" if name else "PTE_STEP_SAME"
