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
  {"activations", PTE_FLAT_STRING, false, 4, 4},
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
  {"states", PTE_FLAT_VECTOR, true, 24, 4},
  {"values", PTE_FLAT_VECTOR, true, 32, 4},
  {"instrs", PTE_FLAT_VECTOR, true, 28, 4},
  {"blocks", PTE_FLAT_VECTOR, true, 32, 4},
  {"ports", PTE_FLAT_VECTOR, true, 8, 4},
  {"methods", PTE_FLAT_VECTOR, true, 32, 4},
  {"delegates", PTE_FLAT_VECTOR, true, 20, 4},
};
const pte_flat_table pte_program_table = {"Program", program_fields, 17, NULL};

const pte_format_row pte_format_rows[PTE_FORMAT_COUNT] = {
  [0] = {0, 0, 0, 0, 0},
  [1] = {8, PTE_F32, 0, 0, 0},
  [2] = {4, PTE_F16, 0, 0, 0},
  [3] = {8, PTE_F32, 0, 0, 0},
  [4] = {8, PTE_F8E8M0, 0, 0, 0},
  [5] = {6, PTE_F8E8M0, 0, 0, 0},
  [6] = {4, PTE_F8E8M0, 0, 0, 0},
  [7] = {4, PTE_F16, 0, 0, 0},
  [8] = {4, PTE_F32, 0, 0, 0},
  [10] = {8, PTE_F8E8M0, 0, 0, 0},
  [11] = {6, PTE_F8E8M0, 0, 0, 0},
  [12] = {8, PTE_F8E8M0, 0, 0, 0},
  [13] = {4, PTE_F16, PTE_I8, 0, 0},
  [15] = {4, PTE_F32, PTE_I8, 0, 0},
  [16] = {4, PTE_F16, PTE_F16, 0, 0},
  [17] = {4, PTE_U8, PTE_U8, PTE_F16, 8},
  [18] = {6, PTE_F16, 0, 0, 0},
  [19] = {6, PTE_U8, PTE_U8, PTE_F16, 8},
  [20] = {6, PTE_I8, 0, PTE_F16, 8},
  [21] = {8, PTE_F16, 0, 0, 0},
  [22] = {4, PTE_F16, 0, 0, 0},
  [23] = {4, PTE_F8E4M3, 0, PTE_F32, 0},
  [24] = {4, PTE_F32, 0, 0, 0},
  [26] = {4, PTE_F8E4M3, 0, PTE_F32, 0},
  [27] = {8, PTE_F32, 0, 0, 0},
  [28] = {8, PTE_F32, PTE_I8, 0, 0},
  [29] = {4, PTE_F32, 0, 0, 0},
  [30] = {4, PTE_F32, 0, 0, 0},
  [33] = {6, PTE_F32, 0, 0, 0},
  [34] = {6, PTE_F32, 0, 0, 0},
  [35] = {6, PTE_F16, PTE_F16, 0, 0},
  [36] = {4, PTE_I8, 0, PTE_F16, 8},
  [37] = {2, PTE_U8, PTE_U8, PTE_F16, 8},
  [38] = {3, PTE_F16, 0, 0, 0},
  [39] = {3, PTE_F32, 0, 0, 0},
  [40] = {3, PTE_I8, 0, PTE_F16, 8},
  [43] = {3, PTE_F16, PTE_I8, 0, 0},
  [48] = {2, PTE_F16, 0, 0, 0},
  [49] = {2, PTE_F32, 0, 0, 0},
  [53] = {2, PTE_F16, PTE_I8, 0, 0},
};
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
