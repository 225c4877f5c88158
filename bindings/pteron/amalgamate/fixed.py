"""The image of one program: what verifying and preparing it gave, as constants, and a call for each instruction.

Tensors have their extents, strides and addresses; those in the caller's buffers get theirs in each run. Attributes and side
tables are those of the file. No size is computed on the board and no byte is checked there: the program is as much a part of
the image as its code.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pteron.export.file.flat import read_table
from pteron.export.file.read import read_file
from pteron.export.plan.measure import measured
from pteron.export.program import Instr, Program, Value
from pteron.export.sizes.expressions import applied
from pteron.schema.dtypes import DTYPES
from pteron.schema.errors import ArgumentError
from pteron.schema.layout import STRUCTS, ExprOp, Segment
from pteron.schema.ops import OPS
from pteron.schema.signature import CONTROL, Port, pack_attrs, signature

from .prepared import Prepared
from .texts import Model, array

FOLDERS: Final[tuple[str, ...]] = ("core", "gen")
"""Of runtime_c, whole."""
HEADERS: Final[tuple[str, ...]] = ("core/fp.h",)
"""Of runtime_c, that no source of this form includes."""

NONE: Final = 0xFFFFFFFF


def model(data: bytes, program: Program, ready: Prepared) -> Model:
    refuse(program)
    file = read_file(data)
    entry = next(e for e in file.entries if e.kind is Segment.PROGRAM)
    tables = read_table(data[entry.offset : entry.offset + entry.size], "Program")
    memory = ready.planned_bytes + ready.scratch_bytes
    text = [
        constants(data, file.entries),
        "static _Alignas(64) unsigned char memory[PTERON_MODEL_MEMORY];\n\n",
        side_tables(tables, ready),
    ]
    places = Places(program, tables, ready)
    text += [places.tensors(), run(program, tables, places)]
    stored = sum(e.size for e in file.entries if e.kind is Segment.CONSTANTS)
    declared = DECLARED.replace("MEMORY_BYTES", str(max(memory, 1)))
    return Model("".join(text), declared, stored, memory)


def refuse(program: Program) -> None:
    """Raises:
    ArgumentError: something is decided in a run that a table of constants cannot hold.
    """
    for instr in program.blocks[program.methods[0].block].instrs:
        if instr.op in CONTROL:
            raise ArgumentError(f"{instr.op}: a fixed image has no blocks; --replaceable has")
    if any(d.kind == "counted" for d in program.dims):
        raise ArgumentError("the data decides sizes: a fixed image has none; --replaceable has")


# --- constants and side tables -----------------------------------------------------------------


def constants(data: bytes, entries: Sequence[Any]) -> str:
    return "".join(
        array(
            f"static _Alignas(64) const unsigned char constants_{i}[]",
            data[e.offset : e.offset + e.size],
        )
        for i, e in enumerate(entries)
        if e.kind is Segment.CONSTANTS
    )


def side_tables(tables: Mapping[str, Any], ready: Prepared) -> str:
    steps = (f"{{{', '.join(map(str, row))}}}" for row in tables["steps"])
    return "".join(
        [
            array("static const int64_t ints[]", map(int64, tables["ints"])),
            array("static const uint64_t literals[]", (f"{n}u" for n in tables["literals"])),
            array("static const pte_step steps[]", list(steps) or ["{0}"]),
            array("static const uint32_t refs[]", (f"{n}u" for n in tables["refs"])),
            array("static const int64_t extents[]", map(int64, evaluated(tables, ready))),
            "static const pte_tables tables = {ints, literals, steps, refs, extents};\n\n",
        ]
    )


def evaluated(tables: Mapping[str, Any], ready: Prepared) -> list[int]:
    """Each expression; 0 for one that divides by zero, which prepare has found to be used by nothing."""
    dims = [tables["strings"][row(r, "Dim")["name"]] for r in tables["dims"]]
    out: list[int] = []
    for value, a, b, op in tables["exprs"]:
        match ExprOp(op):
            case ExprOp.CONST:
                out.append(value)
                continue
            case ExprOp.DIM:
                out.append(ready.at.dims.get(dims[a], 1))
                continue
        value_at = applied(ExprOp(op), out[a], out[b])
        out.append(0 if value_at is None else value_at)
    return out


def row(values: Sequence[Any], struct_name: str) -> dict[str, Any]:
    return dict(zip(STRUCTS[struct_name].fields, values, strict=True))


def int64(n: int) -> str:
    return "INT64_MIN" if n == -(1 << 63) else f"{n}" if abs(n) < 1 << 31 else f"INT64_C({n})"


# --- tensors -----------------------------------------------------------------------------------


class Places:
    """Where each value lies: `names` has how C names its tensor, `callers` those in the caller's buffers."""

    def __init__(
        self,
        program: Program,
        tables: Mapping[str, Any],
        ready: Prepared,
    ) -> None:
        self.program, self.ready = program, ready
        self.values = [row(r, "Value") for r in tables["values"]]
        self.constants = [row(r, "Constant") for r in tables["constants"]]
        self.planned = measured(program, 0, ready.at.dims)
        if self.planned.memory.planned_bytes != ready.planned_bytes:
            raise AssertionError("the exporter's plan is not the runtime's")
        used = {
            v
            for instr in program.blocks[program.methods[0].block].instrs
            for v in (*instr.inputs, *instr.outputs)
            if v is not None
        }
        self.callers = sorted(v for v in used if self.root(v).storage in ("input", "output"))
        self.rest = sorted(used - set(self.callers))
        self.names = {v: f"caller[{i}]" for i, v in enumerate(self.callers)}
        self.names |= {v: f"values[{i}]" for i, v in enumerate(self.rest)}

    def root(self, v: int) -> Value:
        value = self.program.values[v]
        return self.program.values[value.base] if value.storage == "view" else value

    def skipped(self, v: int) -> int:
        """Bytes from the start of its base."""
        value = self.program.values[v]
        return self.ready.at.extent(value.offset) * (DTYPES[value.dtype].bits // 8)

    def address(self, v: int) -> str:
        value = self.program.values[v]
        base, skipped = (value.base if value.storage == "view" else v), self.skipped(v)
        root = self.root(v)
        if root.storage == "planned":
            return f"memory + {self.planned.offsets[base] + skipped}"
        if root.storage == "constant":
            stored = self.constants[root.base]
            where = stored["offset"] + skipped
            return f"(void *)(constants_{stored['segment']} + {where})"
        return "NULL"

    def tensor(self, v: int) -> str:
        value, at = self.program.values[v], self.ready.at
        shape = [at.extent(e) for e in value.shape]
        stride = [1] * len(shape)
        for axis in range(len(shape) - 2, -1, -1):
            stride[axis] = stride[axis + 1] * shape[axis + 1]
        if value.strides is not None:
            stride = [at.extent(e) for e in value.strides]
        words = [
            self.address(v),
            f"{{{', '.join(map(int64, shape)) or '0'}}}",
            f"{{{', '.join(map(int64, stride)) or '0'}}}",
            str(self.values[v]["dtype"]),
            str(len(shape)),
            str(self.values[v]["layout"]),
            str(self.values[v]["format"]),
            str(self.values[v]["block"]),
            str(self.values[v]["groups"]),
        ]
        return f"{{{', '.join(words)}}}"

    def tensors(self) -> str:
        return "".join(
            [
                array("static pte_tensor caller[]", map(self.tensor, self.callers))
                if self.callers
                else "static pte_tensor caller[1];\n",
                array("static const pte_tensor values[]", map(self.tensor, self.rest))
                if self.rest
                else "static const pte_tensor values[1];\n",
                "\n",
            ]
        )


# --- the run -----------------------------------------------------------------------------------


def run(program: Program, tables: Mapping[str, Any], places: Places) -> str:
    instrs = program.blocks[program.methods[0].block].instrs
    first = row(tables["blocks"][program.methods[0].block], "Block")["instrs_start"]
    out, lines = [], []
    attr_bytes = struct.pack(f"<{len(tables['attrs'])}Q", *tables["attrs"])
    for i, instr in enumerate(instrs):
        at = row(tables["instrs"][first + i], "Instr")["attrs"]
        out += [attributes(i, instr, attr_bytes, at), operands(i, instr, places)]
        sides = f"attrs_{i}, in_{i}, {inputs(instr)}, out_{i}, {outputs(instr)}"
        lines.append(f"  PTE_TRY(step(measure, &pte_{instr.op}_kernel, {sides}));\n")
    method = program.methods[0]
    rows = {"INPUTS": places.ready.inputs, "OUTPUTS": places.ready.outputs}
    text = RUN
    for word, side in rows.items():
        storage = word[:-1].lower()
        values = [p.value for p in (method.inputs if storage == "input" else method.outputs)]
        sizes = (
            f"{{{port.bytes}, {max(DTYPES[program.values[v].dtype].bits // 8, 1)}}}"
            for port, v in zip(side, values, strict=True)
        )
        text = text.replace(f"{word}_ROWS", ", ".join(sizes) or "{0, 1}")
        text = text.replace(f"{word}_COUNT", str(len(side)))
    binds = "".join(bind(places, v) for v in places.callers)
    text = text.replace("PLANNED_BYTES", str(places.ready.planned_bytes))
    return "".join(out) + text.replace("BINDS", binds).replace("CALLS", "".join(lines))


def attributes(i: int, instr: Instr, stored: bytes, at: int) -> str:
    """The operator's struct, as the file has it; its defaults, where the file has none."""
    sig = signature(OPS[instr.op])
    data = pack_attrs(sig, {}) if at == NONE else stored[at : at + sig.attrs_bytes]
    words = struct.unpack(f"<{len(data) // 8}Q", data)
    return array(f"static const uint64_t attrs_{i}[]", (f"{n:#x}u" for n in words))


def inputs(instr: Instr) -> int:
    return padded(signature(OPS[instr.op]).inputs, len(instr.inputs))


def outputs(instr: Instr) -> int:
    return padded(signature(OPS[instr.op]).outputs, len(instr.outputs))


def padded(ports: Sequence[Port], listed: int) -> int:
    """Operands with trailing optional ones: a kernel may look at each port of its row."""
    return max(listed, sum(not p.variadic for p in ports))


def operands(i: int, instr: Instr, places: Places) -> str:
    def side(values: Sequence[int | None], count: int, cast: str) -> list[str]:
        there = [*values, *[None] * (count - len(values))]
        return ["NULL" if v is None else f"{cast}&{places.names[v]}" for v in there]

    return array(
        f"static const pte_tensor *const in_{i}[]", side(instr.inputs, inputs(instr), "")
    ) + array(
        f"static pte_tensor *const out_{i}[]",
        side(instr.outputs, outputs(instr), "(pte_tensor *)"),
    )


def bind(places: Places, v: int) -> str:
    root, skipped = places.root(v), places.skipped(v)
    data = f"inputs[{root.base}]" if root.storage == "input" else f"outputs[{root.base}]"
    cast = "const unsigned char *" if root.storage == "input" else "unsigned char *"
    return f"  {places.names[v]}.data = (void *)(({cast}){data} + {skipped});\n"


DECLARED: Final = """/* Static memory for values and scratch: enough for any machine. pteron_model_used says what this one
 * needs; a run with less is refused. */
#ifndef PTERON_MODEL_MEMORY
#define PTERON_MODEL_MEMORY MEMORY_BYTES
#endif
#define PTERON_MODEL_FIXED 1 /* nothing to open: the program is in the code */

int pteron_model_run(const void *const *inputs, void *const *outputs);
const char *pteron_model_error(void);
size_t pteron_model_used(void);
"""

RUN: Final = """
typedef struct buffer {
  uint32_t bytes, align;
} buffer;
static const buffer input_buffers[] = {INPUTS_ROWS}, output_buffers[] = {OUTPUTS_ROWS};
static const char *failure = "";
static pte_fault fault;
static size_t used, scratch_most, kept_most; /* of the instructions; 0: not measured */

enum { PLANNED = PLANNED_BYTES };

static int fits(const void *data, const buffer *b) {
  return b->bytes == 0 || (data != NULL && (uintptr_t)data % b->align == 0);
}

/* Runs an instruction; or takes part in finding the memory that the greatest one needs. What its
 * kernel keeps is made anew in each run: memory is dearer than time. */
static pte_status step(bool measure, const pte_kernel *kernel, const void *attrs,
                       const pte_tensor *const *in, uint32_t in_count, pte_tensor *const *out,
                       uint32_t out_count) {
  const pte_call call = {.attrs = attrs,
                         .in = in,
                         .out = out,
                         .in_count = in_count,
                         .out_count = out_count,
                         .tables = &tables,
                         .scratch = memory + PLANNED,
                         .kept = measure ? NULL : memory + PLANNED + scratch_most,
                         .threads = 1,
                         .fault = &fault};
  if (measure) {
    pte_needs needs = {0, 0};
    if (kernel->needs != NULL) PTE_TRY(kernel->needs(&call, &needs));
    const size_t scratch = ((size_t)needs.scratch + 63) / 64 * 64;
    if (scratch > scratch_most) scratch_most = scratch;
    if (needs.kept > kept_most) kept_most = (size_t)needs.kept;
    return PTE_OK;
  }
  if (kernel->keep != NULL) PTE_TRY(kernel->keep(&call));
  return kernel->run(&call);
}

static pte_status each(bool measure) {
CALLS  return PTE_OK;
}

int pteron_model_run(const void *const *inputs, void *const *outputs) {
  failure = "PTERON_MODEL_MEMORY is less than pteron_model_used()";
  if (pteron_model_used() > sizeof memory) return PTE_NO_MEMORY;
  failure = "an input or output is NULL or not aligned";
  for (int i = 0; i < INPUTS_COUNT; i++)
    if (!fits(inputs[i], &input_buffers[i])) return PTE_BAD_ARGUMENT;
  for (int i = 0; i < OUTPUTS_COUNT; i++)
    if (!fits(outputs[i], &output_buffers[i])) return PTE_BAD_ARGUMENT;
BINDS  const pte_fp_word caller_word = pte_fp_enter();
  const pte_status status = each(false);
  pte_fp_leave(caller_word);
  failure = status == PTE_OK ? "" : fault.text;
  return status;
}

size_t pteron_model_used(void) {
  if (used == 0) used = each(true) != PTE_OK ? SIZE_MAX : PLANNED + scratch_most + kept_most;
  return used;
}

const char *pteron_model_error(void) { return failure; }
"""
