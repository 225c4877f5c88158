#include "session/delegates.h"

#include <string.h>

#include "core/error.h"
#include "core/kept.h"
#include "core/size.h"
#include "core/sized.h"
#include "gen/ops.h"
#include "program/blake2s.h"
#include "session/control_check.h"
#include "session/fault.h"
#include "session/tensor.h"

static const char *target_of(const pte_program *p, uint32_t entry) {
  return pte_program_string(p, p->delegates[entry].target);
}

/* Entries of a program. */
#define PTE_MAX_DELEGATES 1024

typedef struct entries {
  bool used[PTE_MAX_DELEGATES];
} entries;

/* The entries that a method's instructions name. An instance is prepared for one set of shapes:
 * each has one instruction. */
static pte_status find_entries(const pte_program *p, uint32_t method, entries *out,
                               pte_error *err) {
  memset(out, 0, sizeof *out);
  if (p->delegate_count == 0) return PTE_OK;
  if (p->delegate_count > PTE_MAX_DELEGATES)
    return pte_fail(err, PTE_LIMIT, "program: %u delegates, at most %u", p->delegate_count,
                    PTE_MAX_DELEGATES);
  for (uint32_t b = 0; b < p->block_count; b++) {
    const pte_file_block *block = &p->blocks[b];
    if (block->method != method) continue;
    for (uint32_t i = block->instrs.start; i < block->instrs.start + block->instrs.count; i++) {
      if (p->instrs[i].op != PTE_OP_DELEGATE) continue;
      uint64_t scratch[PTE_MAX_ATTRS_BYTES / 8];
      const pte_delegate_attrs *attrs = pte_program_attrs(p, &p->instrs[i], scratch);
      if (out->used[attrs->index])
        return pte_fail(err, PTE_BAD_PROGRAM, "instrs[%u].index: delegates[%u] has one already", i,
                        (uint32_t)attrs->index);
      out->used[attrs->index] = true;
    }
  }
  return PTE_OK;
}

static bool is_complete(const pte_delegate_api *api) {
  return api != NULL && api->size >= sizeof *api && api->version == PTE_DELEGATE_VERSION &&
         api->accepts != NULL && api->instance_size != NULL && api->open != NULL &&
         api->prepare != NULL && api->run != NULL && api->close != NULL;
}

/* The first permitted delegate of the entry's name that accepts its target, or NULL: `said` has a
 * reason. */
static const pte_delegate_api *choose(const pte_program *p, uint32_t entry, pte_error *said) {
  for (uint32_t i = 0; i < p->permitted_count; i++) {
    const pte_delegate_api *api = p->permitted[i];
    bool named = is_complete(api) && api->name != NULL &&
                 strcmp(api->name, pte_program_string(p, p->delegates[entry].name)) == 0;
    if (named && api->accepts(api->self, target_of(p, entry), said)) return api;
  }
  if (said->text[0] == 0) pte_fail(said, PTE_DELEGATE, "it is not in this build or not permitted");
  return NULL;
}

static bool digest_holds(const pte_program *p, uint32_t entry) {
  const pte_segment *segment = &p->segments[p->delegates[entry].segment];
  uint8_t digest[32];
  pte_blake2s_256(segment->data, (size_t)segment->size, digest);
  return memcmp(digest, segment->digest, sizeof digest) == 0;
}

/* An entry's delegate did not do `what`, as it `said`. PTE_OK: the fallback has its place (`placed`
 * is NULL while measuring); PTE_DELEGATE: there is none, or the policy forbids it. */
static pte_status give_up(const pte_program *p, uint32_t entry, pte_placed *placed,
                          const char *what, const pte_error *said, pte_error *err) {
  const pte_file_delegate *file = &p->delegates[entry];
  bool falls_back = file->fallback != PTE_NONE && file->policy != PTE_POLICY_FORBID;
  if (falls_back) err = placed == NULL ? NULL : &placed->why;
  pte_fail(err, PTE_DELEGATE, "delegate %s (%s) %s: %s", pte_program_string(p, file->name),
           target_of(p, entry), what, said->text[0] == 0 ? "it gives no reason" : said->text);
  if (!falls_back) return PTE_DELEGATE;
  if (placed != NULL && placed->api != NULL) {
    placed->api->close(placed->instance);
    placed->api = NULL;
  }
  return PTE_OK;
}

/* Takes memory for an entry's instance; opens it unless `placed` is NULL. */
static pte_status place(const pte_program *p, uint32_t entry, pte_placed *placed, pte_arena *arena,
                        pte_error *said) {
  const pte_delegate_api *api = choose(p, entry, said);
  if (api == NULL) return PTE_DELEGATE;
  if (!digest_holds(p, entry)) /* before the delegate sees a byte of it */
    return pte_fail(said, PTE_DELEGATE, "the blob's bytes have changed");
  const char *target = target_of(p, entry);
  uint64_t bytes = 0;
  const void *blob = pte_program_blob(p, entry, &bytes);
  pte_memory memory = {NULL, 0};
  PTE_TRY(api->instance_size(api->self, target, blob, (size_t)bytes, &memory.size_bytes, said));
  if (pte_arena_take(arena, 1, memory.size_bytes, PTE_ARENA_ALIGN, &memory.data) != PTE_OK)
    return pte_fail(said, PTE_DELEGATE, "it asks for more memory than there is");
  if (placed == NULL) return PTE_OK;
  PTE_TRY(api->open(api->self, target, blob, (size_t)bytes, memory, &placed->instance, said));
  placed->api = api;
  return PTE_OK;
}

static pte_status place_all(const pte_program *p, uint32_t method, pte_placed *placed,
                            pte_arena *arena, pte_error *err) {
  entries all;
  if (!PTE_OP_KEPT(DELEGATE)) return PTE_OK; /* nor has the program an instruction for one */
  PTE_TRY(find_entries(p, method, &all, err));
  for (uint32_t entry = 0; entry < p->delegate_count; entry++) {
    pte_placed *own = placed == NULL ? NULL : &placed[entry];
    pte_error said = {0};
    if (!all.used[entry]) continue;
    if (own != NULL) own->used = true;
    if (place(p, entry, own, arena, &said) != PTE_OK)
      PTE_TRY(give_up(p, entry, own, "did not open", &said, err));
  }
  return PTE_OK;
}

pte_status pte_delegates_measure(const pte_program *p, uint32_t method, pte_arena *arena,
                                 pte_error *err) {
  return place_all(p, method, NULL, arena, err);
}

void pte_session_close(pte_session *s) {
  if (s == NULL) return;
  for (uint32_t entry = 0; entry < s->program->delegate_count; entry++) {
    pte_placed *placed = &s->placed[entry];
    if (placed->api != NULL) placed->api->close(placed->instance);
    placed->api = NULL;
  }
  s->prepared = false;
}

pte_status pte_delegates_open(pte_session *s, pte_arena *arena, pte_error *err) {
  uint32_t count = s->program->delegate_count;
  if (count != 0) memset(s->placed, 0, count * sizeof *s->placed);
  pte_status status = place_all(s->program, s->method_index, s->placed, arena, err);
  if (status != PTE_OK) pte_session_close(s);
  return status;
}

pte_status pte_session_placement(const pte_session *s, uint32_t index, pte_placement *out) {
  if (s == NULL || index >= s->program->delegate_count) return PTE_BAD_ARGUMENT;
  const pte_file_delegate *file = &s->program->delegates[index];
  const pte_placement placement = {.name = pte_program_string(s->program, file->name),
                                   .target = target_of(s->program, index),
                                   .reason = s->placed[index].why.text,
                                   .policy = file->policy,
                                   .placed = s->placed[index].api != NULL,
                                   .used = s->placed[index].used};
  return pte_sized_write(out, &placement, sizeof placement);
}

/* --- one instruction ------------------------------------------------------------------------ */

static void describe(const pte_tensor *t, pte_delegate_tensor *out) {
  *out = (pte_delegate_tensor){.data = t->data, .dtype = t->dtype, .rank = t->rank};
  memcpy(out->shape, t->shape, sizeof out->shape);
  uint64_t bytes = 0; /* tensors have passed pte_value_size: it fits */
  if (pte_storage_bytes(t, &bytes)) out->size_bytes = bytes;
}

/* false: an operand is not dense. */
static bool describe_all(pte_session *s, const pte_work *work, pte_delegate_io *out) {
  pte_delegate_tensor *room = s->delegate_tensors;
  *out = (pte_delegate_io){
      room, room + work->call.in_count, work->call.in_count, work->call.out_count, s->call.threads,
      0};
  for (uint32_t i = 0; i < work->call.in_count + work->call.out_count; i++) {
    const pte_tensor *t =
        i < work->call.in_count ? work->call.in[i] : work->call.out[i - work->call.in_count];
    if (t->layout != PTE_STRIDED || !pte_tensor_is_dense(t)) return false;
    describe(t, room++);
  }
  return true;
}

static uint32_t entry_of(const pte_session *s, uint32_t index) {
  return (uint32_t)((const pte_delegate_attrs *)s->works[index].call.attrs)->index;
}

static pte_status describe_work(pte_session *s, uint32_t index, pte_delegate_io *out,
                                pte_error *err) {
  if (describe_all(s, &s->works[index], out)) return PTE_OK;
  return pte_fault_at(s, index, PTE_BAD_PROGRAM, "operands of a delegate must be dense", 255, err);
}

pte_status pte_delegate_check(pte_session *s, uint32_t index, uint64_t *out_scratch,
                              pte_error *err) {
  uint32_t entry = entry_of(s, index);
  pte_placed *placed = &s->placed[entry];
  pte_delegate_io io;
  pte_error said = {0};
  PTE_TRY(pte_control_check(s, index, err));
  if (placed->api == NULL) return PTE_OK;
  PTE_TRY(describe_work(s, index, &io, err));
  if (s->works[index].dynamic) pte_fail(&said, PTE_DELEGATE, "it takes no counted dimensions");
  else if (placed->api->prepare(placed->instance, &io, out_scratch, &said) == PTE_OK) return PTE_OK;
  *out_scratch = 0;
  pte_status status = give_up(s->program, entry, placed, "cannot prepare", &said, err);
  if (status != PTE_OK) pte_fault_where(s, index, err);
  return status;
}

pte_status pte_delegate_run(pte_execution *run, uint32_t index) {
  pte_session *s = run->s;
  const pte_run_options *o = &run->options;
  const pte_delegate_until until = {o->cancel, o->deadline_ns, o->now, o->now_self};
  uint32_t entry = entry_of(s, index);
  pte_placed *placed = &s->placed[entry];
  pte_delegate_io io;
  pte_error said = {0};
  PTE_TRY(describe_work(s, index, &io, run->err));
  if (placed->api->run(placed->instance, &io, s->call.scratch, &until, &said) == PTE_OK)
    return PTE_OK;
  PTE_TRY(pte_execution_look(run, index)); /* it was told to end: that is no failure of its own */
  pte_status status = give_up(s->program, entry, placed, "failed", &said, run->err);
  if (status != PTE_OK) pte_fault_where(s, index, run->err);
  return status;
}
