/* Opening a program: header, tables, verification, and what the caller brings beside it. */
#include <stddef.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/sized.h"
#include "program/check.h"
#include "program/header.h"
#include "pteron/delegate.h"

#define MEMORY_ALIGN 16
#ifndef PTE_IN_PLACE
#define PTE_IN_PLACE 0 /* 1: programs lie where nobody writes (flash) and are read there */
#endif

/* The pieces of the caller's memory whose sizes the header says. */
typedef struct rooms {
  pte_program *program;
  pte_segment *segments;
  uint8_t *head;
} rooms;

static pte_status take_rooms(pte_arena *arena, uint32_t segment_count, rooms *out) {
  void *program = NULL, *segments = NULL, *head = NULL;
  PTE_TRY(pte_arena_take(arena, 1, sizeof(pte_program), MEMORY_ALIGN, &program));
  PTE_TRY(pte_arena_take(arena, segment_count, sizeof(pte_segment), MEMORY_ALIGN, &segments));
  PTE_TRY(pte_arena_take(arena, 1, pte_head_bytes(segment_count), MEMORY_ALIGN, &head));
  *out = (rooms){program, segments, head};
  return PTE_OK;
}

/* Whoever writes the file while it is in use must not move an address: what addresses are computed
 * from is copied before it is verified, and never read from the file again. */
static pte_status take_copy(pte_arena *arena, uint32_t kind, uint64_t size, void **out) {
  bool kept =
      kind == PTE_SEGMENT_MANIFEST || kind == PTE_SEGMENT_PROGRAM || kind == PTE_SEGMENT_DEBUG;
  *out = NULL;
  return kept && !PTE_IN_PLACE ? pte_arena_take(arena, 1, size, MEMORY_ALIGN, out) : PTE_OK;
}

pte_status pte_program_size(const void *bytes, size_t size, size_t *out_bytes, pte_error *error) {
  if (bytes == NULL || out_bytes == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "program_size: null pointer");
  pte_file_header header;
  PTE_TRY(pte_header_read(bytes, size, &header, error));
  PTE_TRY(pte_segments_read(bytes, bytes, &header, NULL, error));
  pte_arena arena = pte_arena_measure();
  rooms taken;
  void *copy;
  uint32_t *index;
  PTE_TRY(take_rooms(&arena, header.segment_count, &taken));
  for (uint32_t i = 0; i < header.segment_count; i++) {
    pte_file_entry entry = pte_segment_entry_at(bytes, i);
    PTE_TRY(take_copy(&arena, entry.kind, entry.size, &copy));
    if (entry.kind == PTE_SEGMENT_PROGRAM) PTE_TRY(pte_index_take(&arena, entry.size, &index));
  }
  *out_bytes = (size_t)arena.used;
  return PTE_OK;
}

static pte_status copy_segments(pte_arena *arena, pte_segment *segments, uint32_t count,
                                uint32_t **out_index) {
  for (uint32_t i = 0; i < count; i++) {
    void *copy = NULL;
    PTE_TRY(take_copy(arena, segments[i].kind, segments[i].size, &copy));
    if (segments[i].kind == PTE_SEGMENT_PROGRAM)
      PTE_TRY(pte_index_take(arena, segments[i].size, out_index));
    if (copy == NULL) continue;
    memcpy(copy, segments[i].data, (size_t)segments[i].size);
    segments[i].data = copy;
  }
  return PTE_OK;
}

/* --- what the caller brings --------------------------------------------------------------------
 */

static const pte_external *find_external(const pte_program *p, const char *name) {
  for (uint32_t i = 0; i < p->external_count; i++)
    if (p->externals[i].name != NULL && strcmp(p->externals[i].name, name) == 0)
      return &p->externals[i];
  return NULL;
}

static pte_status bind_external(const pte_program *p, pte_segment *segment, uint32_t i,
                                uint32_t index, pte_error *error) {
  pte_flat_vector names = pte_flat_get_vector(p->manifest, PTE_MANIFEST_EXTERNALS);
  if (index >= names.count)
    return pte_fail(error, PTE_BAD_PROGRAM, "segments[%u].external: expected below %u, got %u", i,
                    names.count, index);
  const char *name = pte_flat_string_at(names, index, NULL);
  const pte_external *external = find_external(p, name);
  if (external == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT,
                    "external '%s' of %llu bytes is needed: none was given", name, segment->size);
  if (external->size_bytes != segment->size)
    return pte_fail(error, PTE_BAD_ARGUMENT, "external '%s': expected %llu bytes, got %llu", name,
                    segment->size, (uint64_t)external->size_bytes);
  if (external->data == NULL || (uintptr_t)external->data % 64 != 0)
    return pte_fail(error, PTE_BAD_ARGUMENT, "external '%s': expected data aligned to 64", name);
  segment->data = external->data;
  return PTE_OK;
}

static pte_status bind_externals(const pte_program *p, pte_segment *segments, pte_error *error) {
  for (uint32_t i = 0; i < p->segment_count; i++) {
    pte_file_entry entry = pte_segment_entry_at(p->head, i);
    if (entry.flags == PTE_SEGMENT_EXTERNAL)
      PTE_TRY(bind_external(p, &segments[i], i, entry.external, error));
  }
  return PTE_OK;
}

static pte_status take_options(pte_program *p, const pte_open_options *options, pte_error *error) {
  pte_open_options all;
  PTE_TRY(pte_sized_read(options, &all, sizeof all, "open options", error));
  if ((all.external_count != 0 && all.externals == NULL) ||
      (all.delegate_count != 0 && all.delegates == NULL))
    return pte_fail(error, PTE_BAD_ARGUMENT, "options: null pointer");
  p->externals = all.externals;
  p->external_count = all.external_count;
  p->permitted = all.delegates;
  p->permitted_count = all.delegate_count;
  return PTE_OK;
}

/* --- what the file brings ----------------------------------------------------------------------
 */

/* Where the program keeps a vector of the file: its address and its count. */
typedef struct placement {
  uint16_t data, count;
} placement;

#define PLACE(FIELD, MEMBER, COUNT)                                                                \
  [FIELD] = {offsetof(pte_program, MEMBER), offsetof(pte_program, COUNT)}

static const placement PLACEMENTS[PTE_PROGRAM_FIELDS] = {
    PLACE(PTE_PROGRAM_STRINGS, strings.data, strings.count),
    PLACE(PTE_PROGRAM_REFS, tables.refs, ref_count),
    PLACE(PTE_PROGRAM_INTS, tables.ints, int_count),
    PLACE(PTE_PROGRAM_LITERALS, tables.literals, literal_count),
    PLACE(PTE_PROGRAM_STEPS, tables.steps, step_count),
    PLACE(PTE_PROGRAM_ATTRS, attrs, attr_words),
    PLACE(PTE_PROGRAM_EXPRS, exprs, expr_count),
    PLACE(PTE_PROGRAM_DIMS, dims, dim_count),
    PLACE(PTE_PROGRAM_CHECKS, checks, check_count),
    PLACE(PTE_PROGRAM_CONSTANTS, constants, constant_count),
    PLACE(PTE_PROGRAM_STATES, states, state_count),
    PLACE(PTE_PROGRAM_VALUES, values, value_count),
    PLACE(PTE_PROGRAM_INSTRS, instrs, instr_count),
    PLACE(PTE_PROGRAM_BLOCKS, blocks, block_count),
    PLACE(PTE_PROGRAM_PORTS, ports, port_count),
    PLACE(PTE_PROGRAM_METHODS, methods, method_count),
    PLACE(PTE_PROGRAM_DELEGATES, delegates, delegate_count),
};

static void place_vectors(pte_program *p) {
  for (uint32_t field = 0; field < PTE_PROGRAM_FIELDS; field++) {
    pte_flat_vector vector = pte_flat_get_vector(p->root, field);
    unsigned char *at = (unsigned char *)p;
    memcpy(at + PLACEMENTS[field].data, &vector.data, sizeof vector.data);
    memcpy(at + PLACEMENTS[field].count, &vector.count, sizeof vector.count);
  }
}

static pte_status open_table(const pte_program *p, uint32_t kind, const pte_flat_table *table,
                             const char *what, pte_flat *out, pte_error *error) {
  uint32_t i = pte_segment_find(p->segments, p->segment_count, kind);
  if (kind != PTE_SEGMENT_DEBUG) PTE_TRY(pte_segment_check_digest(p->segments, i, error));
  const pte_segment *segment = &p->segments[i];
  return pte_flat_verify(segment->data, (size_t)segment->size, table, PTE_FILE_IDENTIFIER, what,
                         out, error);
}

static pte_status check_manifest(const pte_program *p, pte_error *error) {
  uint32_t needed = (uint32_t)pte_flat_get_scalar(p->manifest, PTE_MANIFEST_MINIMUM_RUNTIME, 4);
  if (needed <= PTE_API_VERSION) return PTE_OK;
  return pte_fail(error, PTE_UNSUPPORTED,
                  "manifest.minimum_runtime: this is version %u, the program needs %u: update it",
                  PTE_API_VERSION, needed);
}

/* Names are shown where they can be read; a broken debug segment is none. */
static void open_debug(pte_program *p) {
  if (pte_segment_find(p->segments, p->segment_count, PTE_SEGMENT_DEBUG) == PTE_NONE) return;
  if (open_table(p, PTE_SEGMENT_DEBUG, &pte_debug_table, "debug", &p->debug, NULL) != PTE_OK)
    p->debug = (pte_flat){NULL, 0};
}

static pte_status verify(const pte_program *p, pte_error *error) {
  uint32_t i = pte_segment_find(p->segments, p->segment_count, PTE_SEGMENT_PROGRAM);
  uint64_t size = p->segments[i].size;
  pte_verifier v = {p, error, 1024 + size / 4, 65536 + size / 2}; /* a ref has 4 bytes */
  PTE_TRY(pte_verify_exprs(&v));
  PTE_TRY(pte_verify_constants(&v));
  PTE_TRY(pte_verify_values(&v));
  return pte_verify_blocks(&v);
}

/* A program whose segments are known but not yet looked into. */
static pte_status copy_program(pte_arena *arena, const uint8_t *bytes, size_t size,
                               const pte_open_options *options, pte_program **out,
                               pte_segment **out_segments, uint32_t **out_index, pte_error *error) {
  pte_file_header header;
  rooms taken;
  PTE_TRY(pte_header_read(bytes, size, &header, error));
  PTE_TRY(take_rooms(arena, header.segment_count, &taken));
  memcpy(taken.head, bytes, pte_head_bytes(header.segment_count));
  memset(taken.program, 0, sizeof *taken.program);
  taken.program->size = size;
  taken.program->head = taken.head;
  taken.program->segments = taken.segments;
  taken.program->segment_count = header.segment_count;
  PTE_TRY(take_options(taken.program, options, error));
  PTE_TRY(pte_segments_read(taken.head, bytes, &header, taken.segments, error));
  PTE_TRY(copy_segments(arena, taken.segments, header.segment_count, out_index));
  *out = taken.program;
  *out_segments = taken.segments;
  return PTE_OK;
}

pte_status pte_program_open(const void *bytes, size_t size, const pte_open_options *options,
                            pte_memory memory, pte_program **out, pte_error *error) {
  if (bytes == NULL || memory.data == NULL || out == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "program_open: null pointer");
  if ((uintptr_t)bytes % 64 != 0 || (uintptr_t)memory.data % MEMORY_ALIGN != 0)
    return pte_fail(error, PTE_BAD_ARGUMENT,
                    "program_open: expected bytes aligned to 64, memory to 16");
  pte_arena arena = pte_arena_open(memory);
  pte_program *p = NULL;
  pte_segment *segments = NULL;
  uint32_t *index = NULL;
  pte_status taken = copy_program(&arena, bytes, size, options, &p, &segments, &index, error);
  if (taken == PTE_NO_MEMORY) {
    size_t needed = 0;
    PTE_TRY(pte_program_size(bytes, size, &needed, error));
    return pte_fail(error, PTE_NO_MEMORY, "program_open: expected %llu bytes of memory, got %llu",
                    (uint64_t)needed, (uint64_t)memory.size_bytes);
  }
  PTE_TRY(taken);
  PTE_TRY(
      open_table(p, PTE_SEGMENT_MANIFEST, &pte_manifest_table, "manifest", &p->manifest, error));
  PTE_TRY(check_manifest(p, error));
  PTE_TRY(open_table(p, PTE_SEGMENT_PROGRAM, &pte_program_table, "program", &p->root, error));
  PTE_TRY(bind_externals(p, segments, error));
  place_vectors(p);
  open_debug(p); /* first: a refused instruction is named after its node */
  PTE_TRY(verify(p, error));
  pte_index_fill(p, index);
  *out = p;
  return PTE_OK;
}

pte_status pte_program_check_digests(const pte_program *program, pte_error *error) {
  if (program == NULL) return pte_fail(error, PTE_BAD_ARGUMENT, "check_digests: null pointer");
  for (uint32_t i = 0; i < program->segment_count; i++)
    PTE_TRY(pte_segment_check_digest(program->segments, i, error));
  return PTE_OK;
}
