"""The generated files about the program file: pteron/types.h, gen/layout.h, gen/layout.c, gen/text.h, schema/layout.py."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..dtypes import DTYPES
from ..formats import BLOCKS, NF4_SEVEN, ROWS, Format
from . import isas
from .fbs import SCALARS, Field, Schema, Struct, Table, size_of
from .ops import head

C_SCALARS = {
    "ubyte": "uint8_t",
    "ushort": "uint16_t",
    "uint": "uint32_t",
    "ulong": "uint64_t",
    "long": "int64_t",
}

PUBLIC = {"DType": "PTE_", "Layout": "PTE_"}
"""Enums of the C interface; the others are PTE_<ENUM>_<NAME> in gen/layout.h."""

PREFIX = {
    "Segment": "PTE_SEGMENT_",
    "Storage": "PTE_STORAGE_",
    "ExprOp": "PTE_EXPR_",
    "DimKind": "PTE_DIM_",
    "StateRole": "PTE_ROLE_",
    "CheckKind": "PTE_CHECK_",
    "Policy": "PTE_POLICY_",
}

KERNEL_STRUCTS = {"Range": "pte_range", "Step": "pte_step"}
"""Structs that kernels see too: declared in core/kernel.h, asserted here."""

LEVELS = [f for f in ROWS.values() if f.levels is not None]


def code_kind(row: Format) -> str:
    """What names the decoder of one code: two formats with the same codes share it."""
    return row.codes + (f"_less_{row.offset}" if row.offset else "")


def table_of(row: Format) -> Format:
    """The first format with the same levels."""
    return next(f for f in LEVELS if f.same_levels(row))


TABLES = [f for f in LEVELS if table_of(f) is f]


def _alike(row: Format) -> tuple[int, str]:
    """What a decoder depends on; tables, scales and blocks it is told."""
    return row.bits, code_kind(row) if row.codes else ""


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def struct_name(name: str) -> str:
    own = f"pte_{snake(name)}" if name.startswith("Text") else f"pte_file_{snake(name)}"
    return KERNEL_STRUCTS.get(name, own)


def types_h(schema: Schema) -> str:
    out = [
        head(
            "Element types, layouts, formats, CPU features.",
            "schema/program.fbs, formats.py and isas.py",
            "PTERON_TYPES_H",
        ),
        "#include <stdint.h>\n",
    ]
    for name, prefix in PUBLIC.items():
        out += [f"enum {{ /* {name} */"]
        out += [f"  {prefix}{word} = {value}," for word, value in schema.enums[name].values]
        out += [
            "};",
            f"#define PTE_{name.upper()}_COUNT {1 + max(v for _, v in schema.enums[name].values)}",
            "",
        ]
    out += ["enum { /* storage formats */"]
    out += [f"  PTE_FORMAT_{f.row.upper()} = {f.id}," for f in ROWS.values()]
    out += ["};\n", *isas.constants(), "/* Bits of one element; 0: no such type. */"]
    out += ["static inline unsigned pte_dtype_bits(unsigned dtype) {"]
    bits = ", ".join(str(row.bits) for row in DTYPES.values())
    out += [f"  static const uint8_t bits[PTE_DTYPE_COUNT] = {{{bits}}};"]
    out += ["  return dtype < PTE_DTYPE_COUNT ? bits[dtype] : 0;", "}", "", "#endif", ""]
    return "\n".join(out)


def layout_h(schema: Schema, digest: bytes) -> str:
    out = [
        head(
            "The structs and tables of the program file.",
            "schema/frame.fbs and schema/program.fbs",
            "PTE_GEN_LAYOUT_H",
        ),
        '#include <stddef.h>\n\n#include "core/flat.h"\n',
        f"#define PTE_SCHEMA_HASH 0x{int.from_bytes(digest, 'little'):016x}u",
        f'#define PTE_FILE_IDENTIFIER "{schema.identifier}"\n',
    ]
    for name, prefix in PREFIX.items():
        values = schema.enums[name].values
        out += _c_enum(name, {f"{prefix}{word}": value for word, value in values})
        out += [f"#define {prefix}COUNT {1 + max(value for _, value in values)}", ""]
    for struct in schema.structs.values():
        out += _c_struct(schema, struct)
    out += ["/* Tables as the verifier sees them, fields by number. */"]
    for table in schema.tables.values():
        prefix = f"PTE_{snake(table.name)}_".upper()
        fields = {prefix + f.name.upper(): f.offset for f in table.fields}
        out += _c_enum(table.name, fields | {f"{prefix}FIELDS": len(fields)})
        out += [f"extern const pte_flat_table pte_{snake(table.name)}_table;", ""]
    out += [*_c_format_rows(), *_c_formats()]
    out += ["extern const uint8_t pte_nf4_seven[16]; /* round(63 value) + 64 */"]
    out += ["extern const char pte_dtype_names[][11];", "", "#endif", ""]
    return "\n".join(out)


def text_h(schema: Schema) -> str:
    """The text segment, which the core does not know."""
    out = [
        head("The structs of the text segment.", "schema/text.fbs", "PTE_GEN_TEXT_H"),
        "#include <stddef.h>\n#include <stdint.h>\n",
    ]
    for name, enum in schema.enums.items():
        prefix = f"PTE_{snake(name)}_".upper()
        out += _c_enum(name, {f"{prefix}{word}": value for word, value in enum.values})
        out += [f"#define {prefix}COUNT {1 + max(value for _, value in enum.values)}", ""]
    for struct in schema.structs.values():
        out += _c_struct(schema, struct)
    return "\n".join([*out, "#endif", ""])


def _c_enum(name: str, values: dict[str, int]) -> list[str]:
    rows = (f"  {word} = {value}," for word, value in values.items())
    return [f"enum {{ /* {name} */", *rows, "};"]


def _c_format_rows() -> list[str]:
    """What stored bytes say of a format, by its number."""
    names = ", ".join(f'[{f.id}] = "{name}"' for name, f in ROWS.items())
    return [
        "/* Dtypes are 0 where a format has no such plane. */",
        "typedef struct pte_format_row {",
        "  uint32_t bits : 4;        /* of a code; 0: elements of the constant's dtype, or no such format */",
        "  uint32_t scale : 6;       /* dtype of the scales */",
        "  uint32_t second : 6;      /* I8: of zero points; another: of what is added, codes from 0 on */",
        "  uint32_t outer : 6;       /* of the scales of scales, and of what is added */",
        "  uint32_t outer_block : 5; /* exponent of the elements of K that share one; 0: all of a row */",
        "} pte_format_row;",
        f"#define PTE_FORMAT_COUNT {1 + max(f.id for f in ROWS.values())}",
        "enum { /* exponents of a constant's block, where it is not 0 */",
        f"  PTE_LEAST_BLOCK = {_exponent(BLOCKS[0])},",
        f"  PTE_MOST_BLOCK = {_exponent(BLOCKS[-1])}",
        "};",
        "extern const pte_format_row pte_format_rows[PTE_FORMAT_COUNT];",
        "/* For tools: names by number. */",
        f"#define PTE_FORMAT_NAMES {{{names}}}",
    ]


def _c_formats() -> list[str]:
    """What a kernel asks about a format that it knows while compiling."""
    rows = ROWS.values()
    widths = {f.bits: f for f in reversed(LEVELS)}
    first = {f: next(o for o in rows if _alike(o) == _alike(f)) for f in rows}
    coded = [f for f in rows if f.codes and first[f] is f]
    tables = (
        f"const float pte_{f.row}_values[] = {{{', '.join(f'{float(v).hex()}f' for v in f.levels)}}};"
        for f in TABLES
        if f.levels is not None
    )
    return [
        *(f"extern const float pte_{f.row}_values[{1 << f.bits}];" for f in TABLES),
        "/* Their definitions, for the one file that has them. */",
        "#define PTE_LEVEL_TABLES " + " ".join(tables),
        "/* X(format): those whose codes are places in a table, the first with so many bits. */",
        _c_each("LEVEL", (f.row.upper() for f in widths.values())),
        "/* X(format, what its codes are): the others, the first with such codes. */",
        _c_each("CODE", (f"{f.row.upper()}, {code_kind(f)}" for f in coded)),
        "/* X(format): those with sums in integers. */",
        _c_each("DOT", (f.row.upper() for f in rows if f.dot)),
        "/* That table, or NULL. */",
        *_c_switch(
            "const float *pte_format_levels",
            {f: f"pte_{table_of(f).row}_values" for f in LEVELS},
            "NULL",
        ),
        "/* The first format with such codes, whose decoder is theirs. */",
        *_c_switch(
            "unsigned pte_format_codes",
            {f: f"PTE_FORMAT_{o.row.upper()}" for f, o in first.items()},
        ),
        "/* Bits of a code. */",
        *_c_switch("unsigned pte_format_bits", {f: str(f.bits) for f in rows}),
        "/* Dtype of the scales. */",
        *_c_switch(
            "unsigned pte_format_scale",
            {f: f"PTE_{f.scale.upper()}" if f.scale else "0" for f in rows},
        ),
    ]


def _c_each(kind: str, rows: Iterable[str]) -> str:
    return f"#define PTE_{kind}_FORMATS(X) " + " ".join(f"X({row})" for row in rows)


def _c_switch(signature: str, values: Mapping[Format, str], other: str = "0") -> list[str]:
    """A function of a format's number."""
    cases = (f"  case PTE_FORMAT_{f.row.upper()}: return {value};" for f, value in values.items())
    out = [f"static inline {signature}(uint32_t format) {{", "  switch (format) {", *cases]
    return [*out, f"  default: return {other};", "  }", "}"]


def _c_struct(schema: Schema, struct: Struct) -> list[str]:
    name = struct_name(struct.name)
    out = []
    if struct.name not in KERNEL_STRUCTS:
        out.append(f"typedef struct {name} {{")
        for f in struct.fields:
            type = C_SCALARS.get(f.type) or struct_name(f.type)
            out.append(f"  {type} {f.name}{f'[{f.count}]' if f.count else ''};")
        out.append(f"}} {name};")
    out.append(f'_Static_assert(sizeof({name}) == {struct.bytes}, "{struct.name}");')
    for f in struct.fields:
        out.append(
            f'_Static_assert(offsetof({name}, {f.name}) == {f.offset}, "{struct.name}.{f.name}");'
        )
    return [*out, ""]


def layout_c(schema: Schema) -> str:
    out = [
        head(
            "The verifier's tables, and the storage formats.",
            "schema/program.fbs and schema/formats.py",
        ),
        '#include "gen/layout.h"\n\n#include "pteron/types.h"\n',
    ]
    for table in reversed(schema.tables.values()):
        name = snake(table.name)
        out += [f"static const pte_flat_field {name}_fields[] = {{"]
        out += [f"  {_flat_field(schema, f)}," for f in table.fields]
        out += [
            "};",
            f"const pte_flat_table pte_{name}_table = "
            + f'{{"{table.name}", {name}_fields, {len(table.fields)}, {_element(schema, table)}}};',
            "",
        ]
    out += ["const pte_format_row pte_format_rows[PTE_FORMAT_COUNT] = {"]
    for fmt in ROWS.values():
        dtypes = (
            f"PTE_{name.upper()}" if name else "0" for name in (fmt.scale, fmt.second, fmt.outer)
        )
        out.append(
            f"  [{fmt.id}] = {{{fmt.bits}, {', '.join(dtypes)}, {_exponent(fmt.outer_block)}}},"
        )
    sevens = ", ".join(str(t) for t in NF4_SEVEN)
    out += ["};"]
    out += [f"const uint8_t pte_nf4_seven[16] = {{{sevens}}};\n"]
    out += ["const char pte_dtype_names[][11] = {"]
    out += [
        f'  "{name.lower()}",'
        for name, _ in sorted(schema.enums["DType"].values, key=lambda v: v[1])
    ]
    return "\n".join(out) + "\n};\n"


def _exponent(size: int) -> int:
    """Of a power of two above 1; 0: none."""
    return max(size, 1).bit_length() - 1


def _element(schema: Schema, table: Table) -> str:
    """The table that the vectors of tables of `table` hold."""
    inner = {f.type[1:-1] for f in table.fields if f.type[1:-1] in schema.tables}
    if len(inner) > 1:
        raise ValueError(f"table {table.name}: vectors of two kinds of tables; see pte_flat_table")
    return "".join(f"&pte_{snake(name)}_table" for name in inner) or "NULL"


def _flat_field(schema: Schema, f: Field) -> str:
    required = str(f.required).lower()
    if f.type == "string":
        return f'{{"{f.name}", PTE_FLAT_STRING, {required}, 4, 4}}'
    if not f.type.startswith("["):
        size, align = size_of(schema, f.type)
        return f'{{"{f.name}", PTE_FLAT_SCALAR, {required}, {size}, {align}}}'
    element = f.type[1:-1]
    if element == "string":
        return f'{{"{f.name}", PTE_FLAT_STRINGS, {required}, 4, 4}}'
    if element in schema.tables:
        return f'{{"{f.name}", PTE_FLAT_TABLES, {required}, 4, 4}}'
    size, align = size_of(schema, element)
    return f'{{"{f.name}", PTE_FLAT_VECTOR, {required}, {size}, {align}}}'


def layout_py(schema: Schema, digest: bytes) -> str:
    out = [
        '"""The structs, tables and enums of the program file, for Python.\n',
        "Written by schema/gen from schema/frame.fbs, program.fbs and text.fbs; do not edit.\n",
        "A struct's `letters` pack its fields in order; array fields named `zero` are padding and not among `fields`.",
        '"""\n',
        "from __future__ import annotations\n",
        "import dataclasses\nimport enum\nfrom typing import Final\n\n",
        "@dataclasses.dataclass(frozen=True, slots=True)\nclass Struct:",
        "    letters: str\n    fields: tuple[str, ...]\n    bytes: int\n    align: int\n\n",
        f"SCHEMA_HASH: Final = bytes.fromhex({digest.hex()!r})".replace("'", '"'),
        f'FILE_IDENTIFIER: Final = b"{schema.identifier}"\n',
    ]
    for e in schema.enums.values():
        out += [
            "",
            f"class {e.name}(enum.IntEnum):",
            *(f"    {name} = {value}" for name, value in e.values),
            "",
        ]
    out += ["", "STRUCTS: Final = {"]
    for s in schema.structs.values():
        letters, names = _py_fields(schema, s, "")
        fields = ", ".join(f'"{n}"' for n in names)
        out.append(f'    "{s.name}": Struct("<{letters}", ({fields}), {s.bytes}, {s.align}),')
    out += [
        "}",
        '"""Struct -> how to pack it; a Range field is flattened to <name>_start, <name>_count."""',
        "",
    ]
    out += ["TABLES: Final = {"]
    for t in schema.tables.values():
        out += [
            f'    "{t.name}": {{',
            *(f'        "{f.name}": "{f.type}",' for f in t.fields),
            "    },",
        ]
    out += ["}", '"""Table -> its fields in order of number, with their types."""', ""]
    return "\n".join(out)


def _py_fields(schema: Schema, struct: Struct, prefix: str) -> tuple[str, list[str]]:
    letters, names = "", []
    for f in struct.fields:
        if f.type in schema.structs:
            inner, inner_names = _py_fields(schema, schema.structs[f.type], prefix + f.name + "_")
            letters += inner
            names += inner_names
        elif f.count and f.name != "zero":
            letters += f"{f.count * SCALARS[f.type][0]}s"
            names.append(prefix + f.name)
        elif f.count:
            letters += f"{f.count * SCALARS[f.type][0]}x"
        else:
            letters += SCALARS[f.type][1]
            names.append(prefix + f.name)
    return letters, names
