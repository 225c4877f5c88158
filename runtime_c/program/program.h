/* An open program: typed, counted vectors in a copy of the file's tables, all of them verified.
 *
 * `pte_program_open` hands out a pte_program only after verify.h's promises hold, so its readers
 * (session/) index without checks. Everything is const and shared by any number of sessions.
 * Nothing here depends on shapes. Memory, brought to pte_program_open: this struct, one pte_segment
 * a segment, copies of header, segment table, manifest, program and debug information, an index.
 * Constants and blobs stay in the file, which may change at any time: what is read there decides
 * numbers, never an address, unless it is read once and compared behind that. */
#ifndef PTE_PROGRAM_H
#define PTE_PROGRAM_H

#include "core/arena.h"
#include "core/op.h"
#include "gen/layout.h"
#include "program/flatbuf.h"

/* At most so many inputs, outputs, params, results, elements of a list attribute. */
#define PTE_MAX_LIST 4096

/* Side by side along the last axis of a state whose role is PANELS. */
#define PTE_PANEL_TOKENS 16

typedef struct pte_segment {
  const uint8_t *data; /* CONSTANTS and BLOB: in the file or the external that the caller brought,
                          64-byte aligned; else a copy, aligned to 16 */
  uint64_t size;
  const uint8_t *digest; /* 32 bytes, BLAKE2s-256 */
  uint32_t kind;         /* PTE_SEGMENT_* */
} pte_segment;

/* What callers ask of an open program by number, found once (index.c): without it each question
 * would walk over all values, blocks or dimensions. */
typedef struct pte_index {
  const uint32_t *instrs; /* how many, by method */
  const uint32_t *states; /* values that are STATE, ascending */
  uint32_t state_count;
  uint32_t shape_inputs[PTE_MAX_LIST / 32]; /* a bit an input: it decides a dimension */
} pte_index;

struct pte_program {
  uint64_t size;       /* of the file */
  const uint8_t *head; /* header and segment table */
  const pte_segment *segments;
  uint32_t segment_count;
  uint32_t external_count;
  const pte_external *externals;
  const pte_delegate_api *const *permitted; /* delegates that the caller permits */
  uint32_t permitted_count;

  pte_flat manifest, root, debug; /* debug.bytes is NULL where the file has none, or a broken one */
  pte_flat_vector strings;

  /* Side tables; `tables.extents` is NULL here: a session has its own. */
  pte_tables tables;
  const uint64_t *attrs;
  uint32_t int_count, literal_count, step_count, ref_count, attr_words;

  const pte_file_expr *exprs;
  const pte_file_dim *dims;
  const pte_file_check *checks;
  const pte_file_constant *constants;
  const pte_file_state *states;
  const pte_file_value *values;
  const pte_file_instr *instrs;
  const pte_file_block *blocks;
  const pte_file_port *ports;
  const pte_file_method *methods;
  const pte_file_delegate *delegates;
  uint32_t expr_count, dim_count, check_count, constant_count, state_count, value_count,
      instr_count, block_count;
  uint32_t port_count, method_count, delegate_count;
  pte_index index;
};

/* Takes room for the index of a program segment of `size` bytes and stores its address in `*out`.
 * PTE_NO_MEMORY: the arena has too little; it is unchanged. */
PTE_CHECKED pte_status pte_index_take(pte_arena *arena, uint64_t size, uint32_t **out);

/* Fills in `index` of a verified program, in the room that was taken for it. */
void pte_index_fill(pte_program *program, uint32_t *room);

/* Where the states of a method begin and end in `program->index.states`. */
pte_range pte_index_states(const pte_program *program, const pte_file_method *method);

/* String `i` of the program, terminated; "" for PTE_NONE. Borrowed until the program's memory
 * goes. */
const char *pte_program_string(const pte_program *program, uint32_t i);

/* First byte of constant `i`, and of delegate `i`'s blob with its size. */
const void *pte_program_constant(const pte_program *program, uint32_t i);
const void *pte_program_blob(const pte_program *program, uint32_t delegate, uint64_t *out_size);

/* The complete attribute struct of an instruction: in the file, or the row's defaults, or, where
 * the file's is a shorter one of an older version, completed in `scratch` (PTE_MAX_ATTRS_BYTES,
 * 8-byte aligned). */
const void *pte_program_attrs(const pte_program *program, const pte_file_instr *instr,
                              void *scratch);

/* The operator's row (never NULL for an instruction of an open program). */
const pte_op_row *pte_program_row(const pte_file_instr *instr);

/* Node `i` of the debug segment; false: there is none. */
bool pte_program_find_node(const pte_program *program, uint32_t i, pte_flat *out);

/* Says in `err` (may be NULL) that its failure is of instruction `instr`, with its node's name. */
void pte_program_where(const pte_program *program, uint32_t instr, pte_error *err);

/* pte_dtype_bits, with its table once in the core instead of once a file. */
unsigned pte_element_bits(uint32_t dtype);

/* Whether a storage format has this number, and may have this block. */
bool pte_is_format(uint32_t format, uint32_t block);
/* Bytes that a tensor's elements take by its dtype, layout, format, block, groups and shape;
 * extents are at least 0. false: more than 63 bits, or a combination that no format has. */
bool pte_storage_bytes(const pte_tensor *t, uint64_t *out);

#endif
