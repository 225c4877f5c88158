/* The structs and tables of the program file.
 * Written by schema/gen from schema/frame.fbs and schema/program.fbs; do not edit. */
// clang-format off
#ifndef PTE_GEN_LAYOUT_H
#define PTE_GEN_LAYOUT_H

#include <stddef.h>

#include "core/flat.h"

#define PTE_SCHEMA_HASH 0x39a1491be40945d7u
#define PTE_FILE_IDENTIFIER "PTE1"

enum { /* Segment */
  PTE_SEGMENT_MANIFEST = 1,
  PTE_SEGMENT_PROGRAM = 2,
  PTE_SEGMENT_CONSTANTS = 3,
  PTE_SEGMENT_BLOB = 4,
  PTE_SEGMENT_DEBUG = 5,
  PTE_SEGMENT_TEXT = 6,
};
#define PTE_SEGMENT_COUNT 7

enum { /* Storage */
  PTE_STORAGE_PLANNED = 0,
  PTE_STORAGE_INPUT = 1,
  PTE_STORAGE_OUTPUT = 2,
  PTE_STORAGE_CONSTANT = 3,
  PTE_STORAGE_STATE = 4,
  PTE_STORAGE_VIEW = 5,
  PTE_STORAGE_PARAM = 6,
};
#define PTE_STORAGE_COUNT 7

enum { /* ExprOp */
  PTE_EXPR_CONST = 0,
  PTE_EXPR_DIM = 1,
  PTE_EXPR_ADD = 2,
  PTE_EXPR_SUB = 3,
  PTE_EXPR_MUL = 4,
  PTE_EXPR_FLOORDIV = 5,
  PTE_EXPR_CEILDIV = 6,
  PTE_EXPR_MOD = 7,
  PTE_EXPR_MIN = 8,
  PTE_EXPR_MAX = 9,
  PTE_EXPR_F64 = 10,
  PTE_EXPR_F32 = 11,
  PTE_EXPR_NARROW = 12,
  PTE_EXPR_FADD = 13,
  PTE_EXPR_FSUB = 14,
  PTE_EXPR_FMUL = 15,
  PTE_EXPR_FDIV = 16,
  PTE_EXPR_FFLOOR = 17,
  PTE_EXPR_FCEIL = 18,
  PTE_EXPR_FROUND = 19,
  PTE_EXPR_WHOLE = 20,
};
#define PTE_EXPR_COUNT 21

enum { /* DimKind */
  PTE_DIM_SYMBOLIC = 0,
  PTE_DIM_SHAPE = 1,
  PTE_DIM_COUNTED = 2,
};
#define PTE_DIM_COUNT 3

enum { /* StateRole */
  PTE_ROLE_VALUE = 0,
  PTE_ROLE_POSITION = 1,
  PTE_ROLE_TOKENS = 2,
  PTE_ROLE_PANELS = 3,
};
#define PTE_ROLE_COUNT 4

enum { /* CheckKind */
  PTE_CHECK_EQ = 0,
  PTE_CHECK_LE = 1,
  PTE_CHECK_DIVIDES = 2,
};
#define PTE_CHECK_COUNT 3

enum { /* Policy */
  PTE_POLICY_ALLOW = 0,
  PTE_POLICY_WARN = 1,
  PTE_POLICY_FORBID = 2,
};
#define PTE_POLICY_COUNT 3

typedef struct pte_file_header {
  uint8_t magic[8];
  uint32_t version;
  uint32_t segment_count;
  uint64_t file_bytes;
  uint8_t schema[8];
  uint8_t digest[32];
} pte_file_header;
_Static_assert(sizeof(pte_file_header) == 64, "Header");
_Static_assert(offsetof(pte_file_header, magic) == 0, "Header.magic");
_Static_assert(offsetof(pte_file_header, version) == 8, "Header.version");
_Static_assert(offsetof(pte_file_header, segment_count) == 12, "Header.segment_count");
_Static_assert(offsetof(pte_file_header, file_bytes) == 16, "Header.file_bytes");
_Static_assert(offsetof(pte_file_header, schema) == 24, "Header.schema");
_Static_assert(offsetof(pte_file_header, digest) == 32, "Header.digest");

typedef struct pte_file_entry {
  uint32_t kind;
  uint32_t flags;
  uint64_t offset;
  uint64_t size;
  uint8_t digest[32];
  uint32_t external;
  uint32_t zero;
} pte_file_entry;
_Static_assert(sizeof(pte_file_entry) == 64, "Entry");
_Static_assert(offsetof(pte_file_entry, kind) == 0, "Entry.kind");
_Static_assert(offsetof(pte_file_entry, flags) == 4, "Entry.flags");
_Static_assert(offsetof(pte_file_entry, offset) == 8, "Entry.offset");
_Static_assert(offsetof(pte_file_entry, size) == 16, "Entry.size");
_Static_assert(offsetof(pte_file_entry, digest) == 24, "Entry.digest");
_Static_assert(offsetof(pte_file_entry, external) == 56, "Entry.external");
_Static_assert(offsetof(pte_file_entry, zero) == 60, "Entry.zero");

typedef struct pte_file_expr {
  int64_t value;
  uint32_t a;
  uint32_t b;
  uint8_t op;
  uint8_t zero[7];
} pte_file_expr;
_Static_assert(sizeof(pte_file_expr) == 24, "Expr");
_Static_assert(offsetof(pte_file_expr, value) == 0, "Expr.value");
_Static_assert(offsetof(pte_file_expr, a) == 8, "Expr.a");
_Static_assert(offsetof(pte_file_expr, b) == 12, "Expr.b");
_Static_assert(offsetof(pte_file_expr, op) == 16, "Expr.op");
_Static_assert(offsetof(pte_file_expr, zero) == 17, "Expr.zero");

typedef struct pte_file_dim {
  int64_t min;
  int64_t max;
  int64_t hint;
  uint32_t name;
  uint32_t port;
  uint32_t element;
  uint32_t capacity;
  uint8_t kind;
  uint8_t zero[7];
} pte_file_dim;
_Static_assert(sizeof(pte_file_dim) == 48, "Dim");
_Static_assert(offsetof(pte_file_dim, min) == 0, "Dim.min");
_Static_assert(offsetof(pte_file_dim, max) == 8, "Dim.max");
_Static_assert(offsetof(pte_file_dim, hint) == 16, "Dim.hint");
_Static_assert(offsetof(pte_file_dim, name) == 24, "Dim.name");
_Static_assert(offsetof(pte_file_dim, port) == 28, "Dim.port");
_Static_assert(offsetof(pte_file_dim, element) == 32, "Dim.element");
_Static_assert(offsetof(pte_file_dim, capacity) == 36, "Dim.capacity");
_Static_assert(offsetof(pte_file_dim, kind) == 40, "Dim.kind");
_Static_assert(offsetof(pte_file_dim, zero) == 41, "Dim.zero");

typedef struct pte_file_check {
  uint32_t a;
  uint32_t b;
  uint32_t text;
  uint8_t kind;
  uint8_t zero[3];
} pte_file_check;
_Static_assert(sizeof(pte_file_check) == 16, "Check");
_Static_assert(offsetof(pte_file_check, a) == 0, "Check.a");
_Static_assert(offsetof(pte_file_check, b) == 4, "Check.b");
_Static_assert(offsetof(pte_file_check, text) == 8, "Check.text");
_Static_assert(offsetof(pte_file_check, kind) == 12, "Check.kind");
_Static_assert(offsetof(pte_file_check, zero) == 13, "Check.zero");

_Static_assert(sizeof(pte_range) == 8, "Range");
_Static_assert(offsetof(pte_range, start) == 0, "Range.start");
_Static_assert(offsetof(pte_range, count) == 4, "Range.count");

typedef struct pte_file_constant {
  uint64_t offset;
  uint64_t size;
  pte_range shape;
  uint32_t segment;
  uint32_t name;
  uint8_t format;
  uint8_t block;
  uint8_t dtype;
  uint8_t layout;
  uint16_t groups;
  uint16_t zero;
} pte_file_constant;
_Static_assert(sizeof(pte_file_constant) == 40, "Constant");
_Static_assert(offsetof(pte_file_constant, offset) == 0, "Constant.offset");
_Static_assert(offsetof(pte_file_constant, size) == 8, "Constant.size");
_Static_assert(offsetof(pte_file_constant, shape) == 16, "Constant.shape");
_Static_assert(offsetof(pte_file_constant, segment) == 24, "Constant.segment");
_Static_assert(offsetof(pte_file_constant, name) == 28, "Constant.name");
_Static_assert(offsetof(pte_file_constant, format) == 32, "Constant.format");
_Static_assert(offsetof(pte_file_constant, block) == 33, "Constant.block");
_Static_assert(offsetof(pte_file_constant, dtype) == 34, "Constant.dtype");
_Static_assert(offsetof(pte_file_constant, layout) == 35, "Constant.layout");
_Static_assert(offsetof(pte_file_constant, groups) == 36, "Constant.groups");
_Static_assert(offsetof(pte_file_constant, zero) == 38, "Constant.zero");

typedef struct pte_file_state {
  pte_range shape;
  uint32_t name;
  uint32_t initial;
  uint8_t dtype;
  uint8_t layout;
  uint8_t role;
  uint8_t axis;
  uint32_t reach;
} pte_file_state;
_Static_assert(sizeof(pte_file_state) == 24, "State");
_Static_assert(offsetof(pte_file_state, shape) == 0, "State.shape");
_Static_assert(offsetof(pte_file_state, name) == 8, "State.name");
_Static_assert(offsetof(pte_file_state, initial) == 12, "State.initial");
_Static_assert(offsetof(pte_file_state, dtype) == 16, "State.dtype");
_Static_assert(offsetof(pte_file_state, layout) == 17, "State.layout");
_Static_assert(offsetof(pte_file_state, role) == 18, "State.role");
_Static_assert(offsetof(pte_file_state, axis) == 19, "State.axis");
_Static_assert(offsetof(pte_file_state, reach) == 20, "State.reach");

typedef struct pte_file_value {
  uint32_t base;
  uint32_t shape;
  uint32_t strides;
  uint32_t offset;
  pte_range above;
  uint8_t dtype;
  uint8_t storage;
  uint8_t layout;
  uint8_t rank;
  uint8_t format;
  uint8_t block;
  uint16_t groups;
} pte_file_value;
_Static_assert(sizeof(pte_file_value) == 32, "Value");
_Static_assert(offsetof(pte_file_value, base) == 0, "Value.base");
_Static_assert(offsetof(pte_file_value, shape) == 4, "Value.shape");
_Static_assert(offsetof(pte_file_value, strides) == 8, "Value.strides");
_Static_assert(offsetof(pte_file_value, offset) == 12, "Value.offset");
_Static_assert(offsetof(pte_file_value, above) == 16, "Value.above");
_Static_assert(offsetof(pte_file_value, dtype) == 24, "Value.dtype");
_Static_assert(offsetof(pte_file_value, storage) == 25, "Value.storage");
_Static_assert(offsetof(pte_file_value, layout) == 26, "Value.layout");
_Static_assert(offsetof(pte_file_value, rank) == 27, "Value.rank");
_Static_assert(offsetof(pte_file_value, format) == 28, "Value.format");
_Static_assert(offsetof(pte_file_value, block) == 29, "Value.block");
_Static_assert(offsetof(pte_file_value, groups) == 30, "Value.groups");

_Static_assert(sizeof(pte_step) == 8, "Step");
_Static_assert(offsetof(pte_step, op) == 0, "Step.op");
_Static_assert(offsetof(pte_step, type) == 1, "Step.type");
_Static_assert(offsetof(pte_step, dst) == 2, "Step.dst");
_Static_assert(offsetof(pte_step, a) == 3, "Step.a");
_Static_assert(offsetof(pte_step, b) == 4, "Step.b");
_Static_assert(offsetof(pte_step, c) == 5, "Step.c");
_Static_assert(offsetof(pte_step, arg) == 6, "Step.arg");

typedef struct pte_file_instr {
  pte_range inputs;
  pte_range outputs;
  uint32_t attrs;
  uint32_t node;
  uint16_t op;
  uint16_t zero;
} pte_file_instr;
_Static_assert(sizeof(pte_file_instr) == 28, "Instr");
_Static_assert(offsetof(pte_file_instr, inputs) == 0, "Instr.inputs");
_Static_assert(offsetof(pte_file_instr, outputs) == 8, "Instr.outputs");
_Static_assert(offsetof(pte_file_instr, attrs) == 16, "Instr.attrs");
_Static_assert(offsetof(pte_file_instr, node) == 20, "Instr.node");
_Static_assert(offsetof(pte_file_instr, op) == 24, "Instr.op");
_Static_assert(offsetof(pte_file_instr, zero) == 26, "Instr.zero");

typedef struct pte_file_block {
  pte_range instrs;
  pte_range params;
  pte_range results;
  uint32_t method;
  uint8_t depth;
  uint8_t zero[3];
} pte_file_block;
_Static_assert(sizeof(pte_file_block) == 32, "Block");
_Static_assert(offsetof(pte_file_block, instrs) == 0, "Block.instrs");
_Static_assert(offsetof(pte_file_block, params) == 8, "Block.params");
_Static_assert(offsetof(pte_file_block, results) == 16, "Block.results");
_Static_assert(offsetof(pte_file_block, method) == 24, "Block.method");
_Static_assert(offsetof(pte_file_block, depth) == 28, "Block.depth");
_Static_assert(offsetof(pte_file_block, zero) == 29, "Block.zero");

typedef struct pte_file_port {
  uint32_t name;
  uint32_t value;
} pte_file_port;
_Static_assert(sizeof(pte_file_port) == 8, "Port");
_Static_assert(offsetof(pte_file_port, name) == 0, "Port.name");
_Static_assert(offsetof(pte_file_port, value) == 4, "Port.value");

typedef struct pte_file_method {
  pte_range inputs;
  pte_range outputs;
  pte_range values;
  uint32_t name;
  uint32_t block;
} pte_file_method;
_Static_assert(sizeof(pte_file_method) == 32, "Method");
_Static_assert(offsetof(pte_file_method, inputs) == 0, "Method.inputs");
_Static_assert(offsetof(pte_file_method, outputs) == 8, "Method.outputs");
_Static_assert(offsetof(pte_file_method, values) == 16, "Method.values");
_Static_assert(offsetof(pte_file_method, name) == 24, "Method.name");
_Static_assert(offsetof(pte_file_method, block) == 28, "Method.block");

typedef struct pte_file_delegate {
  uint32_t name;
  uint32_t target;
  uint32_t segment;
  uint32_t fallback;
  uint8_t policy;
  uint8_t zero[3];
} pte_file_delegate;
_Static_assert(sizeof(pte_file_delegate) == 20, "Delegate");
_Static_assert(offsetof(pte_file_delegate, name) == 0, "Delegate.name");
_Static_assert(offsetof(pte_file_delegate, target) == 4, "Delegate.target");
_Static_assert(offsetof(pte_file_delegate, segment) == 8, "Delegate.segment");
_Static_assert(offsetof(pte_file_delegate, fallback) == 12, "Delegate.fallback");
_Static_assert(offsetof(pte_file_delegate, policy) == 16, "Delegate.policy");
_Static_assert(offsetof(pte_file_delegate, zero) == 17, "Delegate.zero");

typedef struct pte_file_needed_op {
  uint32_t dtypes;
  uint16_t op;
  uint16_t zero;
} pte_file_needed_op;
_Static_assert(sizeof(pte_file_needed_op) == 8, "NeededOp");
_Static_assert(offsetof(pte_file_needed_op, dtypes) == 0, "NeededOp.dtypes");
_Static_assert(offsetof(pte_file_needed_op, op) == 4, "NeededOp.op");
_Static_assert(offsetof(pte_file_needed_op, zero) == 6, "NeededOp.zero");

typedef struct pte_file_method_memory {
  uint32_t method;
  uint32_t zero;
  uint64_t planned_bytes;
  uint64_t live_bytes;
  uint64_t state_bytes;
} pte_file_method_memory;
_Static_assert(sizeof(pte_file_method_memory) == 32, "MethodMemory");
_Static_assert(offsetof(pte_file_method_memory, method) == 0, "MethodMemory.method");
_Static_assert(offsetof(pte_file_method_memory, zero) == 4, "MethodMemory.zero");
_Static_assert(offsetof(pte_file_method_memory, planned_bytes) == 8, "MethodMemory.planned_bytes");
_Static_assert(offsetof(pte_file_method_memory, live_bytes) == 16, "MethodMemory.live_bytes");
_Static_assert(offsetof(pte_file_method_memory, state_bytes) == 24, "MethodMemory.state_bytes");

/* Tables as the verifier sees them, fields by number. */
enum { /* Program */
  PTE_PROGRAM_STRINGS = 0,
  PTE_PROGRAM_REFS = 1,
  PTE_PROGRAM_INTS = 2,
  PTE_PROGRAM_LITERALS = 3,
  PTE_PROGRAM_STEPS = 4,
  PTE_PROGRAM_ATTRS = 5,
  PTE_PROGRAM_EXPRS = 6,
  PTE_PROGRAM_DIMS = 7,
  PTE_PROGRAM_CHECKS = 8,
  PTE_PROGRAM_CONSTANTS = 9,
  PTE_PROGRAM_STATES = 10,
  PTE_PROGRAM_VALUES = 11,
  PTE_PROGRAM_INSTRS = 12,
  PTE_PROGRAM_BLOCKS = 13,
  PTE_PROGRAM_PORTS = 14,
  PTE_PROGRAM_METHODS = 15,
  PTE_PROGRAM_DELEGATES = 16,
  PTE_PROGRAM_FIELDS = 17,
};
extern const pte_flat_table pte_program_table;

enum { /* Manifest */
  PTE_MANIFEST_PRODUCER = 0,
  PTE_MANIFEST_MODEL = 1,
  PTE_MANIFEST_MINIMUM_RUNTIME = 2,
  PTE_MANIFEST_OPERATORS = 3,
  PTE_MANIFEST_DELEGATES = 4,
  PTE_MANIFEST_EXTERNALS = 5,
  PTE_MANIFEST_MEMORY = 6,
  PTE_MANIFEST_CONSTANT_BYTES = 7,
  PTE_MANIFEST_ACTIVATIONS = 8,
  PTE_MANIFEST_FIELDS = 9,
};
extern const pte_flat_table pte_manifest_table;

enum { /* DebugNode */
  PTE_DEBUG_NODE_NAME = 0,
  PTE_DEBUG_NODE_OP_TYPE = 1,
  PTE_DEBUG_NODE_SOURCE = 2,
  PTE_DEBUG_NODE_FIELDS = 3,
};
extern const pte_flat_table pte_debug_node_table;

enum { /* Debug */
  PTE_DEBUG_NODES = 0,
  PTE_DEBUG_VALUE_NAMES = 1,
  PTE_DEBUG_PLACEMENTS = 2,
  PTE_DEBUG_FIELDS = 3,
};
extern const pte_flat_table pte_debug_table;

/* Dtypes are 0 where a format has no such plane. */
typedef struct pte_format_row {
  uint32_t bits : 4;        /* of a code; 0: elements of the constant's dtype, or no such format */
  uint32_t scale : 6;       /* dtype of the scales */
  uint32_t second : 6;      /* I8: of zero points; another: of what is added, codes from 0 on */
  uint32_t outer : 6;       /* of the scales of scales, and of what is added */
  uint32_t outer_block : 5; /* exponent of the elements of K that share one; 0: all of a row */
} pte_format_row;
#define PTE_FORMAT_COUNT 54
enum { /* exponents of a constant's block, where it is not 0 */
  PTE_LEAST_BLOCK = 4,
  PTE_MOST_BLOCK = 8
};
extern const pte_format_row pte_format_rows[PTE_FORMAT_COUNT];
/* For tools: names by number. */
#define PTE_FORMAT_NAMES {[0] = "plain", [1] = "i8", [2] = "nf4", [3] = "e4m3", [4] = "mxfp8", [5] = "mxfp6", [6] = "mxfp4", [7] = "i4", [8] = "i4_f32", [10] = "mxfp8_e5m2", [11] = "mxfp6_e3m2", [12] = "mxint8", [13] = "i4_zero", [15] = "i4_zero_f32", [16] = "q4_1", [17] = "q4_k", [18] = "q5_0", [19] = "q5_k", [20] = "q6_k", [21] = "q8_0", [22] = "iq4_nl", [23] = "nvfp4", [24] = "nf4_f32", [26] = "nf4_e4m3", [27] = "e5m2", [28] = "i8_zero", [29] = "e2m1", [30] = "fp4", [33] = "e2m3", [34] = "e3m2", [35] = "q5_1", [36] = "iq4_xs", [37] = "q2_k", [38] = "i3", [39] = "i3_f32", [40] = "q3_k", [43] = "i3_zero", [48] = "i2", [49] = "i2_f32", [53] = "i2_zero"}
extern const float pte_nf4_values[16];
extern const float pte_iq4_nl_values[16];
extern const float pte_fp4_values[16];
/* Their definitions, for the one file that has them. */
#define PTE_LEVEL_TABLES const float pte_nf4_values[] = {-0x1.0000000000000p+0f, -0x1.6473620000000p-1f, -0x1.0cd6600000000p-1f, -0x1.9465400000000p-2f, -0x1.23449a0000000p-2f, -0x1.7a6a7e0000000p-3f, -0x1.74f0e20000000p-4f, 0x0.0p+0f, 0x1.45f5fe0000000p-4f, 0x1.4995c60000000p-3f, 0x1.f809ba0000000p-3f, 0x1.5a06740000000p-2f, 0x1.c349700000000p-2f, 0x1.200f560000000p-1f, 0x1.7227660000000p-1f, 0x1.0000000000000p+0f}; const float pte_iq4_nl_values[] = {-0x1.fc00000000000p+6f, -0x1.a000000000000p+6f, -0x1.4c00000000000p+6f, -0x1.0400000000000p+6f, -0x1.8800000000000p+5f, -0x1.1800000000000p+5f, -0x1.6000000000000p+4f, -0x1.4000000000000p+3f, 0x1.0000000000000p+0f, 0x1.a000000000000p+3f, 0x1.9000000000000p+4f, 0x1.3000000000000p+5f, 0x1.a800000000000p+5f, 0x1.1400000000000p+6f, 0x1.6400000000000p+6f, 0x1.c400000000000p+6f}; const float pte_fp4_values[] = {-0x1.0000000000000p+0f, -0x1.5555560000000p-1f, -0x1.0000000000000p-1f, -0x1.5555560000000p-2f, -0x1.0000000000000p-2f, -0x1.5555560000000p-3f, -0x1.5555560000000p-8f, -0x0.0p+0f, 0x0.0p+0f, 0x1.5555560000000p-8f, 0x1.5555560000000p-3f, 0x1.0000000000000p-2f, 0x1.5555560000000p-2f, 0x1.0000000000000p-1f, 0x1.5555560000000p-1f, 0x1.0000000000000p+0f};
/* X(format): those whose codes are places in a table, the first with so many bits. */
#define PTE_LEVEL_FORMATS(X) X(NF4)
/* X(format, what its codes are): the others, the first with such codes. */
#define PTE_CODE_FORMATS(X) X(I8, i8) X(E4M3, f8e4m3) X(MXFP6, f6e2m3) X(MXFP4, f4e2m1) X(I4, i4_less_8) X(MXFP8_E5M2, f8e5m2) X(MXFP6_E3M2, f6e3m2) X(Q5_0, i6_less_32) X(Q2_K, i2_less_2) X(I3, i3_less_4)
/* X(format): those with sums in integers. */
#define PTE_DOT_FORMATS(X) X(I8) X(NF4) X(MXFP6) X(MXFP4) X(I4)
/* That table, or NULL. */
static inline const float *pte_format_levels(uint32_t format) {
  switch (format) {
  case PTE_FORMAT_NF4: return pte_nf4_values;
  case PTE_FORMAT_IQ4_NL: return pte_iq4_nl_values;
  case PTE_FORMAT_NF4_F32: return pte_nf4_values;
  case PTE_FORMAT_NF4_E4M3: return pte_nf4_values;
  case PTE_FORMAT_FP4: return pte_fp4_values;
  case PTE_FORMAT_IQ4_XS: return pte_iq4_nl_values;
  default: return NULL;
  }
}
/* The first format with such codes, whose decoder is theirs. */
static inline unsigned pte_format_codes(uint32_t format) {
  switch (format) {
  case PTE_FORMAT_PLAIN: return PTE_FORMAT_PLAIN;
  case PTE_FORMAT_I8: return PTE_FORMAT_I8;
  case PTE_FORMAT_NF4: return PTE_FORMAT_NF4;
  case PTE_FORMAT_E4M3: return PTE_FORMAT_E4M3;
  case PTE_FORMAT_MXFP8: return PTE_FORMAT_E4M3;
  case PTE_FORMAT_MXFP6: return PTE_FORMAT_MXFP6;
  case PTE_FORMAT_MXFP4: return PTE_FORMAT_MXFP4;
  case PTE_FORMAT_I4: return PTE_FORMAT_I4;
  case PTE_FORMAT_I4_F32: return PTE_FORMAT_I4;
  case PTE_FORMAT_MXFP8_E5M2: return PTE_FORMAT_MXFP8_E5M2;
  case PTE_FORMAT_MXFP6_E3M2: return PTE_FORMAT_MXFP6_E3M2;
  case PTE_FORMAT_MXINT8: return PTE_FORMAT_I8;
  case PTE_FORMAT_I4_ZERO: return PTE_FORMAT_I4;
  case PTE_FORMAT_I4_ZERO_F32: return PTE_FORMAT_I4;
  case PTE_FORMAT_Q4_1: return PTE_FORMAT_I4;
  case PTE_FORMAT_Q4_K: return PTE_FORMAT_I4;
  case PTE_FORMAT_Q5_0: return PTE_FORMAT_Q5_0;
  case PTE_FORMAT_Q5_K: return PTE_FORMAT_Q5_0;
  case PTE_FORMAT_Q6_K: return PTE_FORMAT_Q5_0;
  case PTE_FORMAT_Q8_0: return PTE_FORMAT_I8;
  case PTE_FORMAT_IQ4_NL: return PTE_FORMAT_NF4;
  case PTE_FORMAT_NVFP4: return PTE_FORMAT_MXFP4;
  case PTE_FORMAT_NF4_F32: return PTE_FORMAT_NF4;
  case PTE_FORMAT_NF4_E4M3: return PTE_FORMAT_NF4;
  case PTE_FORMAT_E5M2: return PTE_FORMAT_MXFP8_E5M2;
  case PTE_FORMAT_I8_ZERO: return PTE_FORMAT_I8;
  case PTE_FORMAT_E2M1: return PTE_FORMAT_MXFP4;
  case PTE_FORMAT_FP4: return PTE_FORMAT_NF4;
  case PTE_FORMAT_E2M3: return PTE_FORMAT_MXFP6;
  case PTE_FORMAT_E3M2: return PTE_FORMAT_MXFP6_E3M2;
  case PTE_FORMAT_Q5_1: return PTE_FORMAT_Q5_0;
  case PTE_FORMAT_IQ4_XS: return PTE_FORMAT_NF4;
  case PTE_FORMAT_Q2_K: return PTE_FORMAT_Q2_K;
  case PTE_FORMAT_I3: return PTE_FORMAT_I3;
  case PTE_FORMAT_I3_F32: return PTE_FORMAT_I3;
  case PTE_FORMAT_Q3_K: return PTE_FORMAT_I3;
  case PTE_FORMAT_I3_ZERO: return PTE_FORMAT_I3;
  case PTE_FORMAT_I2: return PTE_FORMAT_Q2_K;
  case PTE_FORMAT_I2_F32: return PTE_FORMAT_Q2_K;
  case PTE_FORMAT_I2_ZERO: return PTE_FORMAT_Q2_K;
  default: return 0;
  }
}
/* Bits of a code. */
static inline unsigned pte_format_bits(uint32_t format) {
  switch (format) {
  case PTE_FORMAT_PLAIN: return 0;
  case PTE_FORMAT_I8: return 8;
  case PTE_FORMAT_NF4: return 4;
  case PTE_FORMAT_E4M3: return 8;
  case PTE_FORMAT_MXFP8: return 8;
  case PTE_FORMAT_MXFP6: return 6;
  case PTE_FORMAT_MXFP4: return 4;
  case PTE_FORMAT_I4: return 4;
  case PTE_FORMAT_I4_F32: return 4;
  case PTE_FORMAT_MXFP8_E5M2: return 8;
  case PTE_FORMAT_MXFP6_E3M2: return 6;
  case PTE_FORMAT_MXINT8: return 8;
  case PTE_FORMAT_I4_ZERO: return 4;
  case PTE_FORMAT_I4_ZERO_F32: return 4;
  case PTE_FORMAT_Q4_1: return 4;
  case PTE_FORMAT_Q4_K: return 4;
  case PTE_FORMAT_Q5_0: return 6;
  case PTE_FORMAT_Q5_K: return 6;
  case PTE_FORMAT_Q6_K: return 6;
  case PTE_FORMAT_Q8_0: return 8;
  case PTE_FORMAT_IQ4_NL: return 4;
  case PTE_FORMAT_NVFP4: return 4;
  case PTE_FORMAT_NF4_F32: return 4;
  case PTE_FORMAT_NF4_E4M3: return 4;
  case PTE_FORMAT_E5M2: return 8;
  case PTE_FORMAT_I8_ZERO: return 8;
  case PTE_FORMAT_E2M1: return 4;
  case PTE_FORMAT_FP4: return 4;
  case PTE_FORMAT_E2M3: return 6;
  case PTE_FORMAT_E3M2: return 6;
  case PTE_FORMAT_Q5_1: return 6;
  case PTE_FORMAT_IQ4_XS: return 4;
  case PTE_FORMAT_Q2_K: return 2;
  case PTE_FORMAT_I3: return 3;
  case PTE_FORMAT_I3_F32: return 3;
  case PTE_FORMAT_Q3_K: return 3;
  case PTE_FORMAT_I3_ZERO: return 3;
  case PTE_FORMAT_I2: return 2;
  case PTE_FORMAT_I2_F32: return 2;
  case PTE_FORMAT_I2_ZERO: return 2;
  default: return 0;
  }
}
/* Dtype of the scales. */
static inline unsigned pte_format_scale(uint32_t format) {
  switch (format) {
  case PTE_FORMAT_PLAIN: return 0;
  case PTE_FORMAT_I8: return PTE_F32;
  case PTE_FORMAT_NF4: return PTE_F16;
  case PTE_FORMAT_E4M3: return PTE_F32;
  case PTE_FORMAT_MXFP8: return PTE_F8E8M0;
  case PTE_FORMAT_MXFP6: return PTE_F8E8M0;
  case PTE_FORMAT_MXFP4: return PTE_F8E8M0;
  case PTE_FORMAT_I4: return PTE_F16;
  case PTE_FORMAT_I4_F32: return PTE_F32;
  case PTE_FORMAT_MXFP8_E5M2: return PTE_F8E8M0;
  case PTE_FORMAT_MXFP6_E3M2: return PTE_F8E8M0;
  case PTE_FORMAT_MXINT8: return PTE_F8E8M0;
  case PTE_FORMAT_I4_ZERO: return PTE_F16;
  case PTE_FORMAT_I4_ZERO_F32: return PTE_F32;
  case PTE_FORMAT_Q4_1: return PTE_F16;
  case PTE_FORMAT_Q4_K: return PTE_U8;
  case PTE_FORMAT_Q5_0: return PTE_F16;
  case PTE_FORMAT_Q5_K: return PTE_U8;
  case PTE_FORMAT_Q6_K: return PTE_I8;
  case PTE_FORMAT_Q8_0: return PTE_F16;
  case PTE_FORMAT_IQ4_NL: return PTE_F16;
  case PTE_FORMAT_NVFP4: return PTE_F8E4M3;
  case PTE_FORMAT_NF4_F32: return PTE_F32;
  case PTE_FORMAT_NF4_E4M3: return PTE_F8E4M3;
  case PTE_FORMAT_E5M2: return PTE_F32;
  case PTE_FORMAT_I8_ZERO: return PTE_F32;
  case PTE_FORMAT_E2M1: return PTE_F32;
  case PTE_FORMAT_FP4: return PTE_F32;
  case PTE_FORMAT_E2M3: return PTE_F32;
  case PTE_FORMAT_E3M2: return PTE_F32;
  case PTE_FORMAT_Q5_1: return PTE_F16;
  case PTE_FORMAT_IQ4_XS: return PTE_I8;
  case PTE_FORMAT_Q2_K: return PTE_U8;
  case PTE_FORMAT_I3: return PTE_F16;
  case PTE_FORMAT_I3_F32: return PTE_F32;
  case PTE_FORMAT_Q3_K: return PTE_I8;
  case PTE_FORMAT_I3_ZERO: return PTE_F16;
  case PTE_FORMAT_I2: return PTE_F16;
  case PTE_FORMAT_I2_F32: return PTE_F32;
  case PTE_FORMAT_I2_ZERO: return PTE_F16;
  default: return 0;
  }
}
extern const uint8_t pte_nf4_seven[16]; /* round(63 value) + 64 */
extern const char pte_dtype_names[][11];

#endif
