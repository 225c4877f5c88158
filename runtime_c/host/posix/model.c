/* A program, a session and their memory under one handle. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/sized.h"
#include "program/header.h"
#include "pteron/host.h"

#define PTE_HOST_MAX_EXTERNALS 64

struct pte_host_model {
  pte_host_options options;
  pid_t owner;
  pte_pool *pool;
  pte_memory file, program_memory, session_memory, arena, state;
  pte_memory external_files[PTE_HOST_MAX_EXTERNALS];
  pte_external externals[PTE_HOST_MAX_EXTERNALS];
  char external_names[PTE_HOST_MAX_EXTERNALS][256];
  uint32_t external_count;
  pte_program *program;
  pte_session *session;
};

static pte_status allocate(uint64_t bytes, const char *what, pte_memory *out, pte_error *error) {
  if (pte_host_alloc(bytes, out) == PTE_OK) return PTE_OK;
  return pte_fail(error, PTE_NO_MEMORY, "%s: the system has no %llu bytes", what, bytes);
}

/* --- opening -------------------------------------------------------------------------------- */

static pte_status open_file(const pte_host_model *m, const char *path, pte_memory *out,
                            pte_error *error) {
  return m->options.copy ? pte_host_read(path, out, error) : pte_host_map(path, out, error);
}

static void close_file(const pte_host_model *m, pte_memory file) {
  if (m->options.copy) pte_host_free(file);
  else pte_host_unmap(file);
}

/* Externals lie beside the program: a name is a file name, never a path. */
static pte_status map_external(pte_host_model *m, const char *path, const char *name,
                               pte_error *error) {
  if (m->external_count == PTE_HOST_MAX_EXTERNALS)
    return pte_fail(error, PTE_LIMIT, "%s: more than %u external files", path,
                    PTE_HOST_MAX_EXTERNALS);
  size_t length = strlen(name);
  if (length == 0 || length >= sizeof m->external_names[0] || strchr(name, '/') != NULL ||
      name[0] == '.')
    return pte_fail(error, PTE_BAD_PROGRAM, "%s: external %s: expected a plain file name", path,
                    name);
  const char *slash = strrchr(path, '/');
  size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
  char *beside = malloc(folder + length + 1);
  if (beside == NULL) return pte_fail(error, PTE_NO_MEMORY, "the system has no memory");
  memcpy(beside, path, folder);
  memcpy(beside + folder, name, length + 1);
  pte_memory *file = &m->external_files[m->external_count];
  pte_status status = open_file(m, beside, file, error);
  free(beside);
  if (status != PTE_OK) return status;
  char *kept = m->external_names[m->external_count];
  memcpy(kept, name, length + 1);
  m->externals[m->external_count++] = (pte_external){kept, file->data, file->size_bytes};
  return PTE_OK;
}

static pte_status map_externals(pte_host_model *m, const char *path, pte_flat manifest,
                                pte_error *error) {
  pte_flat_vector names = pte_flat_get_vector(manifest, PTE_MANIFEST_EXTERNALS);
  for (uint32_t i = 0; i < names.count; i++)
    PTE_TRY(map_external(m, path, pte_flat_string_at(names, i, NULL), error));
  return PTE_OK;
}

/* The manifest alone, before the program can be opened: it says which externals opening asks for.
 * `head` and the manifest are copies: the file may change. */
static pte_status read_manifest(pte_host_model *m, const char *path, const pte_file_header *header,
                                uint8_t *head, pte_segment *segments, pte_error *error) {
  pte_memory copy = {NULL, 0};
  pte_flat manifest;
  memcpy(head, m->file.data, pte_head_bytes(header->segment_count));
  PTE_TRY(pte_segments_read(head, m->file.data, header, segments, error));
  const pte_segment *segment =
      &segments[pte_segment_find(segments, header->segment_count, PTE_SEGMENT_MANIFEST)];
  PTE_TRY(allocate(segment->size, "manifest", &copy, error));
  memcpy(copy.data, segment->data, copy.size_bytes);
  pte_status status = pte_flat_verify(copy.data, copy.size_bytes, &pte_manifest_table,
                                      PTE_FILE_IDENTIFIER, "manifest", &manifest, error);
  if (status == PTE_OK) status = map_externals(m, path, manifest, error);
  pte_host_free(copy);
  return status;
}

static pte_status find_externals(pte_host_model *m, const char *path, pte_error *error) {
  pte_file_header header;
  PTE_TRY(pte_header_read(m->file.data, m->file.size_bytes, &header, error));
  uint8_t *head = malloc(pte_head_bytes(header.segment_count));
  pte_segment *segments = calloc(header.segment_count, sizeof *segments);
  pte_status status = PTE_OK;
  if (head == NULL || segments == NULL)
    status = pte_fail(error, PTE_NO_MEMORY, "the system has no memory");
  else status = read_manifest(m, path, &header, head, segments, error);
  free(head);
  free(segments);
  return status;
}

static pte_status open_program(pte_host_model *m, const char *path, pte_error *error) {
  size_t bytes = 0;
  PTE_TRY(open_file(m, path, &m->file, error));
  PTE_TRY(find_externals(m, path, error));
  PTE_TRY(pte_program_size(m->file.data, m->file.size_bytes, &bytes, error));
  PTE_TRY(allocate(bytes, "program", &m->program_memory, error));
  pte_open_options options = {.size = sizeof options,
                              .external_count = m->external_count,
                              .externals = m->externals,
                              .delegate_count = m->options.delegate_count,
                              .delegates = m->options.delegates};
  return pte_program_open(m->file.data, m->file.size_bytes, &options, m->program_memory,
                          &m->program, error);
}

static pte_status open_session(pte_host_model *m, pte_error *error) {
  uint32_t method = 0;
  size_t bytes = 0;
  PTE_TRY(pte_program_find_method(m->program, m->options.method, &method, error));
  PTE_TRY(pte_session_size(m->program, method, &bytes, error));
  PTE_TRY(allocate(bytes, "session", &m->session_memory, error));
  PTE_TRY(pte_session_open(m->program, method, m->session_memory, &m->session, error));
  if (m->options.threads <= 1) return PTE_OK;
  pte_status status = pte_host_pool_open(m->options.threads, &m->pool);
  if (status == PTE_OK) return PTE_OK;
  return pte_fail(error, status, "the system refused a pool of %u threads", m->options.threads);
}

static pte_status read_options(const pte_host_options *given, pte_host_options *out,
                               pte_error *error) {
  PTE_TRY(pte_sized_read(given, out, sizeof *out, "host options", error));
  if (out->cpu == PTE_CPU_DETECT) out->cpu = pte_host_cpu();
  if (out->threads == 0) out->threads = pte_host_processors();
  return PTE_OK;
}

pte_status pte_host_model_open(const char *path, const pte_host_options *given,
                               pte_host_model **out, pte_error *error) {
  if (path == NULL || out == NULL) return pte_fail(error, PTE_BAD_ARGUMENT, "path or out: NULL");
  pte_host_model *m = calloc(1, sizeof *m);
  if (m == NULL) return pte_fail(error, PTE_NO_MEMORY, "the system has no memory");
  m->owner = getpid();
  pte_status status = read_options(given, &m->options, error);
  if (status == PTE_OK) status = open_program(m, path, error);
  if (status == PTE_OK) status = open_session(m, error);
  if (status == PTE_OK) *out = m;
  else pte_host_model_close(m);
  return status;
}

void pte_host_model_close(pte_host_model *m) {
  if (m == NULL) return;
  pte_session_close(m->session);
  pte_host_pool_close(m->pool);
  pte_host_free(m->arena);
  pte_host_free(m->state);
  pte_host_free(m->session_memory);
  pte_host_free(m->program_memory);
  close_file(m, m->file);
  for (uint32_t i = 0; i < m->external_count; i++) close_file(m, m->external_files[i]);
  free(m);
}

const pte_program *pte_host_model_program(const pte_host_model *m) { return m->program; }
pte_session *pte_host_model_session(const pte_host_model *m) { return m->session; }

/* --- preparing and running ------------------------------------------------------------------ */

static pte_status check_owner(const pte_host_model *m, pte_error *error) {
  if (m == NULL) return pte_fail(error, PTE_BAD_ARGUMENT, "model: NULL");
  if (getpid() == m->owner) return PTE_OK;
  return pte_fail(error, PTE_BAD_ARGUMENT,
                  "model: opened in process %d, used in its child %d; open it after the fork",
                  (int32_t)m->owner, (int32_t)getpid());
}

/* Makes `*memory` at least (for states: exactly) `bytes` large. */
static pte_status resize(pte_memory *memory, uint64_t bytes, bool exactly, const char *what,
                         pte_error *error) {
  if (memory->data != NULL && (exactly ? memory->size_bytes == bytes : memory->size_bytes >= bytes))
    return PTE_OK;
  pte_host_free(*memory);
  *memory = (pte_memory){NULL, 0};
  return allocate(bytes, what, memory, error);
}

pte_status pte_host_model_prepare(pte_host_model *m, const int64_t *const *shapes,
                                  const int64_t *const *values, pte_sizes *out_sizes,
                                  pte_error *error) {
  PTE_TRY(check_owner(m, error));
  pte_prepare_options options = {.size = sizeof options,
                                 .threads = m->options.threads,
                                 .shapes = shapes,
                                 .values = values,
                                 .pool = m->pool,
                                 .cpu = m->options.cpu,
                                 .max_bytes = m->options.max_bytes,
                                 .max_extent = m->options.max_extent};
  pte_sizes sizes = {.size = sizeof sizes};
  PTE_TRY(pte_prepare_size(m->session, &options, &sizes, error));
  PTE_TRY(resize(&m->arena, sizes.arena_bytes, false, "arena", error));
  PTE_TRY(resize(&m->state, sizes.state_bytes, true, "states", error));
  PTE_TRY(pte_session_prepare(m->session, &options, m->arena, m->state, PTE_STATE_KEEP, error));
  if (out_sizes == NULL || pte_sized_write(out_sizes, &sizes, sizeof sizes) == PTE_OK)
    return PTE_OK;
  return pte_fail(error, PTE_BAD_ARGUMENT, "sizes: expected a struct that says its size");
}

pte_status pte_host_model_run(pte_host_model *m, const void *const *inputs, void *const *outputs,
                              const pte_run_options *options, pte_error *error) {
  PTE_TRY(check_owner(m, error));
  return pte_session_run(m->session, inputs, outputs, options, error);
}
