/* The verifier's tables, and the storage formats.
 * Written by schema/gen from schema/program.fbs and schema/formats.py; do not edit. */
// clang-format off

#include "gen/layout.h"

#include "pteron/types.h"

static const pte_flat_field debug_fields[] = {
  {"nodes", PTE_FLAT_TABLES, true, 4, 4},
  {"value_names", PTE_FLAT_STRINGS, true, 4, 4},
  {"placements", PTE_FLAT_STRINGS, false, 4, 4},
};
const pte_flat_table pte_debug_table = {"Debug", debug_fields, 3, &pte_debug_node_table};

static const pte_flat_field debug_node_fields[] = {
  {"name", PTE_FLAT_STRING, false, 4, 4},
  {"op_type", PTE_FLAT_STRING, false, 4, 4},
  {"source", PTE_FLAT_STRING, false, 4, 4},
};
const pte_flat_table pte_debug_node_table = {"DebugNode", debug_node_fields, 3, NULL};

static const pte_flat_field manifest_fields[] = {
  {"producer", PTE_FLAT_STRING, true, 4, 4},
  {"model", PTE_FLAT_STRING, true, 4, 4},
  {"minimum_runtime", PTE_FLAT_SCALAR, false, 4, 4},
  {"operators", PTE_FLAT_VECTOR, true, 8, 4},
  {"delegates", PTE_FLAT_STRINGS, true, 4, 4},
  {"externals", PTE_FLAT_STRINGS, true, 4, 4},
  {"memory", PTE_FLAT_VECTOR, true, 32, 8},
  {"constant_bytes", PTE_FLAT_SCALAR, false, 8, 8},
  {"exec_mode", PTE_FLAT_STRING, false, 4, 4},
};
const pte_flat_table pte_manifest_table = {"Manifest", manifest_fields, 9, NULL};

static const pte_flat_field program_fields[] = {
  {"strings", PTE_FLAT_STRINGS, true, 4, 4},
  {"refs", PTE_FLAT_VECTOR, true, 4, 4},
  {"ints", PTE_FLAT_VECTOR, true, 8, 8},
  {"literals", PTE_FLAT_VECTOR, true, 8, 8},
  {"steps", PTE_FLAT_VECTOR, true, 8, 2},
  {"attrs", PTE_FLAT_VECTOR, true, 8, 8},
  {"exprs", PTE_FLAT_VECTOR, true, 24, 8},
  {"dims", PTE_FLAT_VECTOR, true, 48, 8},
  {"checks", PTE_FLAT_VECTOR, true, 16, 4},
  {"constants", PTE_FLAT_VECTOR, true, 40, 8},
  {"states", PTE_FLAT_VECTOR, true, 20, 4},
  {"values", PTE_FLAT_VECTOR, true, 32, 4},
  {"instrs", PTE_FLAT_VECTOR, true, 28, 4},
  {"blocks", PTE_FLAT_VECTOR, true, 32, 4},
  {"ports", PTE_FLAT_VECTOR, true, 8, 4},
  {"methods", PTE_FLAT_VECTOR, true, 32, 4},
  {"delegates", PTE_FLAT_VECTOR, true, 20, 4},
};
const pte_flat_table pte_program_table = {"Program", program_fields, 17, NULL};

const pte_format_row pte_format_rows[PTE_FORMAT_COUNT] = {
  [0] = {"plain", 0, 0, 0, false},
  [1] = {"i8_channel", 8, PTE_F32, 0, true},
  [2] = {"nf4", 4, PTE_F16, 64, true},
  [3] = {"e4m3_channel", 8, PTE_F32, 0, true},
  [4] = {"mxfp8", 8, PTE_F8E8M0, 32, true},
  [5] = {"mxfp6", 6, PTE_F8E8M0, 32, true},
  [6] = {"mxfp4", 4, PTE_F8E8M0, 32, true},
  [7] = {"i4", 4, PTE_F16, 32, true},
  [8] = {"i4_f32", 4, PTE_F32, 32, true},
  [9] = {"i8_f32", 8, PTE_F32, 32, true},
  [10] = {"mxfp8_e5m2", 8, PTE_F8E8M0, 32, true},
  [11] = {"mxfp6_e3m2", 6, PTE_F8E8M0, 32, true},
  [12] = {"mxint8", 8, PTE_F8E8M0, 32, true},
};
const float pte_nf4_values[16] = {-0x1.0000000000000p+0f, -0x1.6473620000000p-1f, -0x1.0cd6600000000p-1f, -0x1.9465400000000p-2f, -0x1.23449a0000000p-2f, -0x1.7a6a7e0000000p-3f, -0x1.74f0e20000000p-4f, 0x0.0p+0f, 0x1.45f5fe0000000p-4f, 0x1.4995c60000000p-3f, 0x1.f809ba0000000p-3f, 0x1.5a06740000000p-2f, 0x1.c349700000000p-2f, 0x1.200f560000000p-1f, 0x1.7227660000000p-1f, 0x1.0000000000000p+0f};
const uint8_t pte_nf4_seven[16] = {1, 20, 31, 39, 46, 52, 58, 64, 69, 74, 80, 85, 92, 99, 110, 127};

const char pte_dtype_names[][11] = {
  "bool",
  "i8",
  "i16",
  "i32",
  "i64",
  "u8",
  "u16",
  "u32",
  "u64",
  "f16",
  "bf16",
  "f32",
  "f64",
  "f8e4m3",
  "f8e5m2",
  "f8e8m0",
  "f6e2m3",
  "f6e3m2",
  "f4e2m1",
  "i4",
  "u4",
  "i2",
  "u2",
  "f8e4m3fnuz",
  "f8e5m2fnuz",
};
