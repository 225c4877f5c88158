"""The structs, tables and enums of the program file, for Python.

Written by schema/gen from schema/frame.fbs, program.fbs and text.fbs; do not edit.

A struct's `letters` pack its fields in order; array fields named `zero` are padding and not among `fields`.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Final


@dataclasses.dataclass(frozen=True, slots=True)
class Struct:
    letters: str
    fields: tuple[str, ...]
    bytes: int
    align: int


SCHEMA_HASH: Final = bytes.fromhex("d74509e41b49a139")
FILE_IDENTIFIER: Final = b"PTE1"


class Segment(enum.IntEnum):
    MANIFEST = 1
    PROGRAM = 2
    CONSTANTS = 3
    BLOB = 4
    DEBUG = 5
    TEXT = 6


class DType(enum.IntEnum):
    BOOL = 0
    I8 = 1
    I16 = 2
    I32 = 3
    I64 = 4
    U8 = 5
    U16 = 6
    U32 = 7
    U64 = 8
    F16 = 9
    BF16 = 10
    F32 = 11
    F64 = 12
    F8E4M3 = 13
    F8E5M2 = 14
    F8E8M0 = 15
    F6E2M3 = 16
    F6E3M2 = 17
    F4E2M1 = 18
    I4 = 19
    U4 = 20
    I2 = 21
    U2 = 22
    F8E4M3FNUZ = 23
    F8E5M2FNUZ = 24


class Storage(enum.IntEnum):
    PLANNED = 0
    INPUT = 1
    OUTPUT = 2
    CONSTANT = 3
    STATE = 4
    VIEW = 5
    PARAM = 6


class Layout(enum.IntEnum):
    STRIDED = 0
    PANELS = 1
    TAPS = 2


class ExprOp(enum.IntEnum):
    CONST = 0
    DIM = 1
    ADD = 2
    SUB = 3
    MUL = 4
    FLOORDIV = 5
    CEILDIV = 6
    MOD = 7
    MIN = 8
    MAX = 9
    F64 = 10
    F32 = 11
    NARROW = 12
    FADD = 13
    FSUB = 14
    FMUL = 15
    FDIV = 16
    FFLOOR = 17
    FCEIL = 18
    FROUND = 19
    WHOLE = 20


class DimKind(enum.IntEnum):
    SYMBOLIC = 0
    SHAPE = 1
    COUNTED = 2


class CheckKind(enum.IntEnum):
    EQ = 0
    LE = 1
    DIVIDES = 2


class StateRole(enum.IntEnum):
    VALUE = 0
    POSITION = 1
    TOKENS = 2
    PANELS = 3


class Policy(enum.IntEnum):
    ALLOW = 0
    WARN = 1
    FORBID = 2


class TextModel(enum.IntEnum):
    BPE = 0
    UNIGRAM = 1
    WORD_PIECE = 2


class TextUnit(enum.IntEnum):
    BYTE = 0
    CHARACTER = 1
    FALLBACK = 2


class TextPart(enum.IntEnum):
    PIECES = 0
    PIECE_BYTES = 1
    SHOWN = 2
    SHOWN_BYTES = 3
    MARKS = 4
    LOOKUP = 5
    MERGES = 6
    MERGED = 7
    UNITS = 8
    SCORES = 9
    CLASS_INDEX = 10
    CLASSES = 11
    TRAITS = 12
    STEPS = 13
    STAGES = 14
    RULES = 15
    MAP_INDEX = 16
    MAPS = 17
    MAP_BYTES = 18
    ORDER_INDEX = 19
    ORDERS = 20
    PAIRS = 21
    NODES = 22
    LABELS = 23
    ADDED = 24
    FRONT = 25
    BACK = 26
    STOPS = 27


class TextOpening(enum.IntEnum):
    AS_SHOWN = 0
    LESS_SPACE = 1
    AS_PIECE = 2
    LESS_MARKS = 3


class TextMark(enum.IntEnum):
    SPECIAL = 1
    ONE_BYTE = 2
    WHOLE = 4


class TextTrait(enum.IntEnum):
    SPACE = 1
    WORD = 2


class TextKeep(enum.IntEnum):
    BOTH = 0
    BETWEEN = 1
    FOUND = 2
    PREVIOUS = 3
    NEXT = 4
    RUNS = 5


class TextAct(enum.IntEnum):
    MAP = 0
    DECOMPOSE = 1
    COMPOSE = 2
    PREPEND = 3
    REPLACE = 4
    STRIP = 5


class TextWhen(enum.IntEnum):
    ALWAYS = 0
    UNLESS_THERE = 1
    FIRST = 2


STRUCTS: Final = {
    "Header": Struct("<8sIIQ8s32s", ("magic", "version", "segment_count", "file_bytes", "schema", "digest"), 64, 8),
    "Entry": Struct("<IIQQ32sII", ("kind", "flags", "offset", "size", "digest", "external", "zero"), 64, 8),
    "Expr": Struct("<qIIB7x", ("value", "a", "b", "op"), 24, 8),
    "Dim": Struct("<qqqIIIIB7x", ("min", "max", "hint", "name", "port", "element", "capacity", "kind"), 48, 8),
    "Check": Struct("<IIIB3x", ("a", "b", "text", "kind"), 16, 4),
    "Range": Struct("<II", ("start", "count"), 8, 4),
    "Constant": Struct("<QQIIIIBBBBHH", ("offset", "size", "shape_start", "shape_count", "segment", "name", "format", "block", "dtype", "layout", "groups", "zero"), 40, 8),
    "State": Struct("<IIIIBBBBI", ("shape_start", "shape_count", "name", "initial", "dtype", "layout", "role", "axis", "reach"), 24, 4),
    "Value": Struct("<IIIIIIBBBBBBH", ("base", "shape", "strides", "offset", "above_start", "above_count", "dtype", "storage", "layout", "rank", "format", "block", "groups"), 32, 4),
    "Step": Struct("<BBBBBBH", ("op", "type", "dst", "a", "b", "c", "arg"), 8, 2),
    "Instr": Struct("<IIIIIIHH", ("inputs_start", "inputs_count", "outputs_start", "outputs_count", "attrs", "node", "op", "zero"), 28, 4),
    "Block": Struct("<IIIIIIIB3x", ("instrs_start", "instrs_count", "params_start", "params_count", "results_start", "results_count", "method", "depth"), 32, 4),
    "Port": Struct("<II", ("name", "value"), 8, 4),
    "Method": Struct("<IIIIIIII", ("inputs_start", "inputs_count", "outputs_start", "outputs_count", "values_start", "values_count", "name", "block"), 32, 4),
    "Delegate": Struct("<IIIIB3x", ("name", "target", "segment", "fallback", "policy"), 20, 4),
    "NeededOp": Struct("<IHH", ("dtypes", "op", "zero"), 8, 4),
    "MethodMemory": Struct("<IIQQQ", ("method", "zero", "planned_bytes", "live_bytes", "state_bytes"), 32, 8),
    "TextHead": Struct("<4sIIIIIIIIIIIQIBBBB", ("magic", "version", "bytes", "pieces", "unknown", "begin", "end", "pad", "vocabulary", "inside", "added", "normal", "unknown_score", "longest", "model", "unit", "fuse", "opening"), 64, 8),
    "TextStage": Struct("<IIB3x", ("steps", "states", "keep"), 12, 4),
    "TextRule": Struct("<BBBBIII", ("act", "when", "late", "growth", "map", "bytes", "with"), 16, 4),
    "TextMerge": Struct("<III", ("left", "right", "rank"), 12, 4),
    "TextPair": Struct("<III", ("first", "second", "composed"), 12, 4),
    "TextNode": Struct("<II", ("first", "value"), 8, 4),
    "TextAdded": Struct("<IBBBB", ("id", "single", "left", "right", "special"), 8, 4),
    "TextPlace": Struct("<II", ("offset", "bytes"), 8, 4),
}
"""Struct -> how to pack it; a Range field is flattened to <name>_start, <name>_count."""

TABLES: Final = {
    "Program": {
        "strings": "[string]",
        "refs": "[uint]",
        "ints": "[long]",
        "literals": "[ulong]",
        "steps": "[Step]",
        "attrs": "[ulong]",
        "exprs": "[Expr]",
        "dims": "[Dim]",
        "checks": "[Check]",
        "constants": "[Constant]",
        "states": "[State]",
        "values": "[Value]",
        "instrs": "[Instr]",
        "blocks": "[Block]",
        "ports": "[Port]",
        "methods": "[Method]",
        "delegates": "[Delegate]",
    },
    "Manifest": {
        "producer": "string",
        "model": "string",
        "minimum_runtime": "uint",
        "operators": "[NeededOp]",
        "delegates": "[string]",
        "externals": "[string]",
        "memory": "[MethodMemory]",
        "constant_bytes": "ulong",
        "activations": "string",
    },
    "DebugNode": {
        "name": "string",
        "op_type": "string",
        "source": "string",
    },
    "Debug": {
        "nodes": "[DebugNode]",
        "value_names": "[string]",
        "placements": "[string]",
    },
}
"""Table -> its fields in order of number, with their types."""
