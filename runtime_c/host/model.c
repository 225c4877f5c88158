/* A program, a session and their memory under one handle. */
#include <string.h>

#include "core/error.h"
#include "core/sized.h"
#include "host/file.h"
#include "host/system.h"
#include "program/header.h"

#define PTE_HOST_MAX_EXTERNALS 64

struct pte_host_model {
  pte_memory self; /* this struct's memory */
  pte_host_options options;
  pte_machine machine;
  pte_host_memory memory;
  pte_host_log log;
  pte_pool *pool; /* its own, or NULL */
  pte_host_file file;
  pte_memory program_memory, session_memory, arena, state, told;
  pte_host_file external_files[PTE_HOST_MAX_EXTERNALS];
  pte_external externals[PTE_HOST_MAX_EXTERNALS];
  char external_names[PTE_HOST_MAX_EXTERNALS][256];
  uint32_t external_count;
  pte_program *program;
  pte_session *session;
};

/* Where a program's bytes come from: bytes, or a path, or a descriptor. */
typedef struct source {
  const char *path; /* NULL: not a path */
  const void *bytes;
  uint64_t offset, length;
  int descriptor; /* -1: bytes */
} source;

static pte_status allocate(const pte_host_model *m, uint64_t bytes, const char *what,
                           pte_memory *out, pte_error *error) {
  return pte_memory_take(&m->memory, bytes, what, out, error);
}

static void say(const pte_host_model *m, uint32_t level, const char *format, ...) {
  pte_error line;
  va_list args;
  if (m->log.say == NULL) return;
  va_start(args, format);
  (void)pte_fail_list(&line, PTE_OK, format, &args);
  va_end(args);
  m->log.say(m->log.self, level, line.text);
}

/* --- opening -------------------------------------------------------------------------------- */

static pte_status open_source(pte_host_model *m, const source *from, pte_error *error) {
  bool copy = m->options.copy != 0;
  if (from->path != NULL) return pte_host_file_path(from->path, copy, &m->memory, &m->file, error);
  const char *name = from->descriptor < 0 ? "bytes" : "file";
  pte_status status = from->descriptor < 0
                          ? pte_host_file_bytes(from->bytes, (size_t)from->length, copy, &m->memory,
                                                &m->file, error)
                          : pte_host_file_part(from->descriptor, name, from->offset, from->length,
                                               copy, &m->memory, &m->file, error);
  if (status == PTE_OK && !copy && m->file.copy.data != NULL)
    say(m, PTE_HOST_INFO, "%s: read into memory, for it does not lie on a multiple of 64", name);
  return status;
}

static const pte_external *given_external(const pte_host_model *m, const char *name) {
  for (uint32_t i = 0; i < m->options.external_count; i++)
    if (strcmp(m->options.externals[i].name, name) == 0) return &m->options.externals[i];
  return NULL;
}

/* Of a path, with what ends it; 0: a name alone. */
static size_t folder_length(const char *path) {
  size_t folder = 0;
  for (size_t i = 0; path[i] != 0; i++)
    if (pte_system_parts(path[i])) folder = i + 1;
  return folder;
}

/* Externals are given, or lie beside the program: a name is a file name, never a path. */
static pte_status find_external(pte_host_model *m, const char *path, const char *name,
                                pte_error *error) {
  const pte_external *given = given_external(m, name);
  if (m->external_count == PTE_HOST_MAX_EXTERNALS)
    return pte_fail(error, PTE_LIMIT, "program: more than %u external files",
                    PTE_HOST_MAX_EXTERNALS);
  if (given != NULL) {
    m->externals[m->external_count++] = *given;
    return PTE_OK;
  }
  if (path == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT,
                    "external %s: no path to look beside; give it in options.externals", name);
  size_t length = strlen(name), folder = folder_length(path);
  if (length == 0 || length >= sizeof m->external_names[0] || folder_length(name) != 0 ||
      name[0] == '.')
    return pte_fail(error, PTE_BAD_PROGRAM, "%s: external %s: expected a plain file name", path,
                    name);
  pte_memory beside = {NULL, 0};
  PTE_TRY(allocate(m, folder + length + 1, "path", &beside, error));
  memcpy(beside.data, path, folder);
  memcpy((char *)beside.data + folder, name, length + 1);
  pte_host_file *file = &m->external_files[m->external_count];
  pte_status status =
      pte_host_file_path(beside.data, m->options.copy != 0, &m->memory, file, error);
  pte_memory_give(&m->memory, beside);
  if (status != PTE_OK) return status;
  char *kept = m->external_names[m->external_count];
  memcpy(kept, name, length + 1);
  m->externals[m->external_count++] =
      (pte_external){kept, file->bytes.data, file->bytes.size_bytes};
  return PTE_OK;
}

static pte_status find_externals(pte_host_model *m, const char *path, pte_flat manifest,
                                 pte_error *error) {
  pte_flat_vector names = pte_flat_get_vector(manifest, PTE_MANIFEST_EXTERNALS);
  for (uint32_t i = 0; i < names.count; i++)
    PTE_TRY(find_external(m, path, pte_flat_string_at(names, i, NULL), error));
  return PTE_OK;
}

/* The manifest alone, before the program can be opened: it says which externals opening asks for.
 * `head` and the manifest are copies: the file may change. */
static pte_status read_manifest(pte_host_model *m, const char *path, const pte_file_header *header,
                                uint8_t *head, pte_segment *segments, pte_error *error) {
  const uint8_t *bytes = m->file.bytes.data;
  pte_memory copy = {NULL, 0};
  pte_flat manifest;
  memcpy(head, bytes, pte_head_bytes(header->segment_count));
  PTE_TRY(pte_segments_read(head, bytes, header, segments, error));
  const pte_segment *segment =
      &segments[pte_segment_find(segments, header->segment_count, PTE_SEGMENT_MANIFEST)];
  PTE_TRY(allocate(m, segment->size, "manifest", &copy, error));
  memcpy(copy.data, segment->data, copy.size_bytes);
  pte_status status = pte_flat_verify(copy.data, copy.size_bytes, &pte_manifest_table,
                                      PTE_FILE_IDENTIFIER, "manifest", &manifest, error);
  if (status == PTE_OK) status = find_externals(m, path, manifest, error);
  pte_memory_give(&m->memory, copy);
  return status;
}

static pte_status open_externals(pte_host_model *m, const char *path, pte_error *error) {
  pte_file_header header;
  PTE_TRY(pte_header_read(m->file.bytes.data, m->file.bytes.size_bytes, &header, error));
  pte_memory head = {NULL, 0}, segments = {NULL, 0};
  uint64_t count = header.segment_count;
  pte_status status = allocate(m, pte_head_bytes(header.segment_count), "header", &head, error);
  if (status == PTE_OK)
    status = allocate(m, count * sizeof(pte_segment), "segments", &segments, error);
  if (status == PTE_OK) {
    memset(segments.data, 0, segments.size_bytes);
    status = read_manifest(m, path, &header, head.data, segments.data, error);
  }
  pte_memory_give(&m->memory, head);
  pte_memory_give(&m->memory, segments);
  return status;
}

static pte_status open_program(pte_host_model *m, const source *from, pte_error *error) {
  size_t bytes = 0;
  PTE_TRY(open_source(m, from, error));
  PTE_TRY(open_externals(m, from->path, error));
  const pte_memory file = m->file.bytes;
  PTE_TRY(pte_program_size(file.data, file.size_bytes, &bytes, error));
  PTE_TRY(allocate(m, bytes, "program", &m->program_memory, error));
  pte_open_options options = {.size = sizeof options,
                              .external_count = m->external_count,
                              .externals = m->externals,
                              .delegate_count = m->options.delegate_count,
                              .delegates = m->options.delegates};
  PTE_TRY(pte_program_open(file.data, file.size_bytes, &options, m->program_memory, &m->program,
                           error));
  uint32_t delegates = m->program->delegate_count;
  PTE_TRY(allocate(m, delegates, "placements", &m->told, error));
  if (delegates != 0) memset(m->told.data, 0, delegates);
  return PTE_OK;
}

/* Tells once of each part that runs on the CPU instead of its delegate. */
static void tell_placements(pte_host_model *m) {
  unsigned char *told = m->told.data;
  pte_placement p = {.size = sizeof p};
  for (uint32_t i = 0; m->log.say != NULL && i < m->program->delegate_count; i++) {
    if (told[i] || pte_session_placement(m->session, i, &p) != PTE_OK || !p.used || p.placed)
      continue;
    told[i] = 1;
    say(m, p.policy == PTE_POLICY_WARN ? PTE_HOST_WARNING : PTE_HOST_INFO,
        "%s; its part runs on the CPU", p.reason);
  }
}

static pte_status open_session(pte_host_model *m, pte_error *error) {
  uint32_t method = 0;
  size_t bytes = 0;
  PTE_TRY(pte_program_find_method(m->program, m->options.method, &method, error));
  PTE_TRY(pte_session_size(m->program, method, &bytes, error));
  PTE_TRY(allocate(m, bytes, "session", &m->session_memory, error));
  PTE_TRY(pte_session_open(m->program, method, m->session_memory, &m->session, error));
  tell_placements(m);
  if (m->options.pool != NULL || m->options.threads <= 1) return PTE_OK;
  pte_host_pool_options pool = {.size = sizeof pool, .threads = m->options.threads};
  return pte_host_pool_open(&pool, &m->pool, error);
}

/* The caller's structs, complete. */
static pte_status read_options(const pte_host_options *given, pte_host_model *m, pte_error *error) {
  pte_host_options *o = &m->options;
  pte_host_allocator *a = &m->memory.allocator;
  pte_pool pool;
  PTE_TRY(pte_sized_read(given, o, sizeof *o, "host options", error));
  PTE_TRY(pte_sized_read(o->allocator, a, sizeof *a, "allocator", error));
  PTE_TRY(pte_sized_read(o->log, &m->log, sizeof m->log, "log", error));
  PTE_TRY(pte_sized_read(o->pool, &pool, sizeof pool, "pool", error));
  if (o->allocator == NULL) m->memory = pte_host_system;
  if (a->allocate == NULL || a->release == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "allocator: a function is NULL");
  if (o->external_count != 0 && o->externals == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "externals: NULL");
  if (o->cpu == PTE_CPU_DETECT) o->cpu = pte_host_cpu();
  PTE_TRY(pte_sized_read(o->machine, &m->machine, sizeof m->machine, "machine", error));
  if (o->machine == NULL) {
    m->machine.size = sizeof m->machine;
    PTE_TRY(pte_host_machine(&m->machine));
  }
  if (o->threads == 0) o->threads = o->pool != NULL ? pool.threads : pte_host_processors();
  return PTE_OK;
}

static pte_status open_model(const source *from, const pte_host_options *given,
                             pte_host_model **out, pte_error *error) {
  pte_host_model probe = {0};
  if (out == NULL) return pte_fail(error, PTE_BAD_ARGUMENT, "out: NULL");
  PTE_TRY(read_options(given, &probe, error));
  PTE_TRY(allocate(&probe, sizeof probe, "model", &probe.self, error));
  pte_host_model *m = probe.self.data;
  *m = probe;
  pte_status status = open_program(m, from, error);
  if (status == PTE_OK) status = open_session(m, error);
  if (status == PTE_OK) *out = m;
  else pte_host_model_close(m);
  return status;
}

pte_status pte_host_model_open(const char *path, const pte_host_options *options,
                               pte_host_model **out, pte_error *error) {
  if (path == NULL) return pte_fail(error, PTE_BAD_ARGUMENT, "path: NULL");
  return open_model(&(source){.path = path, .descriptor = -1}, options, out, error);
}

pte_status pte_host_model_open_fd(int file, uint64_t offset, uint64_t length,
                                  const pte_host_options *options, pte_host_model **out,
                                  pte_error *error) {
  if (file < 0) return pte_fail(error, PTE_BAD_ARGUMENT, "file: got %d", (int32_t)file);
  return open_model(&(source){.offset = offset, .length = length, .descriptor = file}, options, out,
                    error);
}

pte_status pte_host_model_open_bytes(const void *bytes, size_t size_bytes,
                                     const pte_host_options *options, pte_host_model **out,
                                     pte_error *error) {
  return open_model(&(source){.bytes = bytes, .length = size_bytes, .descriptor = -1}, options, out,
                    error);
}

void pte_host_model_close(pte_host_model *m) {
  if (m == NULL) return;
  const pte_host_memory memory = m->memory; /* outlives the model's own memory */
  const pte_memory taken[] = {m->arena,          m->state, m->session_memory,
                              m->program_memory, m->told,  m->self};
  pte_session_close(m->session);
  pte_host_pool_close(m->pool);
  pte_host_file_close(&m->file, &memory);
  for (uint32_t i = 0; i < m->external_count; i++)
    pte_host_file_close(&m->external_files[i], &memory);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) pte_memory_give(&memory, taken[i]);
}

const pte_program *pte_host_model_program(const pte_host_model *m) { return m->program; }
pte_session *pte_host_model_session(const pte_host_model *m) { return m->session; }

/* --- preparing and running ------------------------------------------------------------------ */

/* Makes `*memory` at least (for states: exactly) `bytes` large. */
static pte_status resize(const pte_host_model *m, pte_memory *memory, uint64_t bytes, bool exactly,
                         const char *what, pte_error *error) {
  if (memory->data != NULL && (exactly ? memory->size_bytes == bytes : memory->size_bytes >= bytes))
    return PTE_OK;
  pte_memory_give(&m->memory, *memory);
  *memory = (pte_memory){NULL, 0};
  return allocate(m, bytes, what, memory, error);
}

pte_status pte_host_model_prepare(pte_host_model *m, const int64_t *const *shapes,
                                  const int64_t *const *values, pte_sizes *out_sizes,
                                  pte_error *error) {
  if (m == NULL) return pte_fail(error, PTE_BAD_ARGUMENT, "model: NULL");
  pte_prepare_options options = {.size = sizeof options,
                                 .threads = m->options.threads,
                                 .shapes = shapes,
                                 .values = values,
                                 .pool = m->options.pool != NULL ? m->options.pool : m->pool,
                                 .cpu = m->options.cpu,
                                 .max_bytes = m->options.max_bytes,
                                 .max_extent = m->options.max_extent,
                                 .machine = &m->machine};
  pte_sizes sizes = {.size = sizeof sizes};
  PTE_TRY(pte_prepare_size(m->session, &options, &sizes, error));
  PTE_TRY(resize(m, &m->arena, sizes.arena_bytes, false, "arena", error));
  if (m->state.size_bytes != sizes.state_bytes) /* others may lie at the address that it has now */
    PTE_TRY(pte_session_reset(m->session, error));
  PTE_TRY(resize(m, &m->state, sizes.state_bytes, true, "states", error));
  PTE_TRY(pte_session_prepare(m->session, &options, m->arena, m->state, PTE_STATE_KEEP, error));
  tell_placements(m);
  if (out_sizes == NULL || pte_sized_write(out_sizes, &sizes, sizeof sizes) == PTE_OK)
    return PTE_OK;
  return pte_fail(error, PTE_BAD_ARGUMENT, "sizes: expected a struct that says its size");
}

pte_status pte_host_model_run(pte_host_model *m, const void *const *inputs, void *const *outputs,
                              const pte_run_options *options, pte_error *error) {
  if (m == NULL) return pte_fail(error, PTE_BAD_ARGUMENT, "model: NULL");
  pte_status status = pte_session_run(m->session, inputs, outputs, options, error);
  tell_placements(m);
  return status;
}
