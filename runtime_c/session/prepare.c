/* Preparing: what is proved with sizes known, in this order, and by whom.
 *
 * - bind.c: every dimension that the method uses has a value within its bounds; shapes given agree
 *   with the ports'; the program's relations hold. Messages name input, axis, symbol, expected,
 *   got.
 * - values.c: every extent is known and not negative, every size fits; every view lies,
 *   lowest and highest element, inside its base; views of elements narrower than a byte are dense.
 * - plan.c: offset of a planned value = maximum of the ends of the values in `above`, rounded up
 *   to 64: all of it inside the arena by construction. A file that leaves one out gives wrong
 *   numbers, not wrong addresses.
 * - check.c, for each instruction: strides, shape line and relations of its row, then the kernel's
 *   own check, then its scratch. Outputs are writable, name each of their elements once and share
 *   no byte with an input or another output, except output 0 with an input that the row names in
 *   `inplace`, at the same address with the same strides and element size. So kernels may use
 *   restrict and memcpy, and an index tensor does not change under the kernel that reads it.
 *
 * Addresses that only an instruction binds (PARAM) and sizes that only data decides (counted
 * dimensions) are checked here by capacities and stand-in addresses, and again with the real ones
 * by each instruction that meets them (instruction.c): the same functions, no allocation. What a
 * PARAM is bound to is dense and has the room that the param needs.
 *
 * - kept.c: where each kernel's kept memory lies, and when it is filled: by the prepare, or before
 *   each execution.
 *
 * - written.c: which planned values and outputs are written before they are read; the others each
 *   run clears first, so that no bytes of an earlier run or of the caller's memory show.
 *
 * Not proved, because nothing depends on it: that two values live at once lie apart. */
#include <string.h>

#include "core/cpu.h"
#include "core/error.h"
#include "core/fp.h"
#include "core/size.h"
#include "core/sized.h"
#include "session/bind.h"
#include "session/check.h"
#include "session/counted.h"
#include "session/fault.h"
#include "session/kept.h"
#include "session/plan.h"
#include "session/state.h"
#include "session/values.h"
#include "session/written.h"

static pte_status read_options(const pte_prepare_options *given, pte_prepare_options *out,
                               pte_error *err) {
  const uint32_t known = PTE_CPU_FEATURES | PTE_CPU_PORTABLE;
  pte_pool pool;
  PTE_TRY(pte_sized_read(given, out, sizeof *out, "prepare options", err));
  PTE_TRY(pte_sized_read(out->pool, &pool, sizeof pool, "pool", err));
  if (out->threads == 0) out->threads = 1;
  if (pool.threads > out->threads)
    return pte_fail(err, PTE_BAD_ARGUMENT, "pool: has %u threads, options.threads is %u",
                    pool.threads, out->threads);
  if ((out->cpu & ~known) != 0)
    return pte_fail(err, PTE_BAD_ARGUMENT, "cpu: expected a sum of PTE_CPU_*, got %u", out->cpu);
  return PTE_OK;
}

/* Says whether it is another than before. */
static pte_status read_machine(pte_session *s, const pte_machine *given, bool *out_changed,
                               pte_error *err) {
#ifndef PTE_SMALL_BUFFERS
  const pte_machine before = s->machine;
  PTE_TRY(pte_sized_read(given, &s->machine, sizeof before, "machine", err));
  *out_changed |= memcmp(&before, &s->machine, sizeof before) != 0;
  s->call.machine = &s->machine;
#else
  (void)s, (void)given, (void)out_changed, (void)err;
#endif
  return PTE_OK;
}

/* Rooms of all values, and where they lie. */
static pte_status plan_values(pte_session *s, pte_error *err) {
  s->sizes = (pte_sizes){0};
  for (uint32_t v = 0; v < s->value_count; v++) {
    pte_status status = pte_value_size(s, v, true, err);
    if (status == PTE_OK) status = pte_plan_value(s, v, err);
    if (status != PTE_OK) {
      pte_fault_value(s, v, err);
      return status;
    }
  }
  return PTE_OK;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The needs of all instructions, `least` at least. */
static pte_status check_works(pte_session *s, const pte_needs *least, pte_error *err) {
  s->sizes.scratch_bytes = least->scratch, s->late_bytes = least->kept, s->own_bytes = 0;
  for (uint32_t w = 0; w < s->work_count; w++) {
    pte_needs needs;
    PTE_TRY(pte_check_work(s, w, false, &needs, err));
    s->sizes.scratch_bytes = larger(s->sizes.scratch_bytes, needs.scratch);
    pte_kept_plan(s, w, needs.kept);
  }
  return PTE_OK;
}

static pte_status total(pte_session *s, const pte_prepare_options *options, pte_error *err) {
  uint64_t all = 0;
  pte_sizes *sizes = &s->sizes;
  if (!pte_align(sizes->scratch_bytes, PTE_ARENA_ALIGN, &sizes->scratch_bytes) ||
      !pte_add(s->own_bytes, s->late_bytes, &sizes->kept_bytes) ||
      !pte_add(sizes->planned_bytes, sizes->scratch_bytes, &all) ||
      !pte_add(all, sizes->kept_bytes, &sizes->arena_bytes) ||
      !pte_add(sizes->arena_bytes, sizes->state_bytes, &all) || all > SIZE_MAX / 2)
    return pte_fail(err, PTE_LIMIT, "memory: more than the address space");
  if (options->max_bytes == 0 || all <= options->max_bytes) return PTE_OK;
  return pte_fail(err, PTE_LIMIT, "memory: these shapes need %llu bytes, max_bytes is %llu", all,
                  options->max_bytes);
}

/* Sizes may fall while a counted dimension grows (what is left of a list): so rooms and scratch are
 * taken at two points, all counted dimensions at 0 and all at their capacities. The first need not
 * make sense for every operator; a size that is largest in between is a PTE_LIMIT when a run meets
 * it. */
static pte_needs measure_emptied(pte_session *s) {
  pte_needs most = {0, 0};
  bool sized = true;
  pte_counted_set_all(s, false);
  for (uint32_t v = 0; v < s->value_count; v++)
    sized = pte_value_size(s, v, true, NULL) == PTE_OK && sized;
  for (uint32_t w = 0; sized && w < s->work_count; w++) {
    pte_needs needs;
    bool asks = s->works[w].dynamic && !s->works[w].row->control;
    if (!asks || pte_check_work(s, w, false, &needs, NULL) != PTE_OK) continue;
    most.scratch = larger(most.scratch, needs.scratch), most.kept = larger(most.kept, needs.kept);
  }
  pte_counted_set_all(s, true);
  return most;
}

typedef struct steady_task {
  pte_task task;
  void *context;
} steady_task;

static void run_steady(void *context, size_t begin, size_t end, uint32_t thread) {
  const steady_task *steady = context;
  pte_fp_word before = pte_fp_enter();
  steady->task(steady->context, begin, end, thread);
  pte_fp_leave(before);
}

static void run_on_lent(void *self, size_t count, size_t grain, pte_task task, void *context) {
  const pte_pool *lent = ((const pte_session *)self)->lent;
  steady_task steady = {task, context};
  lent->run(lent->self, count, grain, run_steady, &steady);
}

void pte_session_record(pte_session *s) {
  for (uint32_t w = 0; w < s->work_count; w++) {
    pte_call *call = &s->works[w].call, own = *call;
    *call = s->call;
    call->attrs = own.attrs;
    call->in = own.in;
    call->out = own.out;
    call->in_count = own.in_count;
    call->out_count = own.out_count;
    call->kept = own.kept;
  }
}

/* What the last measuring found of memory. */
static void forget(pte_session *s) {
  s->looks = PTE_LOOKS + s->work_count;
  for (uint32_t v = 0; v < s->value_count; v++) {
    s->tensors[v].data = NULL;
    s->slots[v].room_bytes = 0;
  }
}

/* Everything but addresses, unless that has been done for these sizes and nothing has changed them
 * since. The session is unprepared until its end. */
static pte_status measure(pte_session *s, const pte_prepare_options *given, pte_error *err) {
  pte_prepare_options read, *options = &read;
  if (s == NULL) return pte_fail(err, PTE_BAD_ARGUMENT, "session: NULL");
  PTE_TRY(read_options(given, options, err));
  uint32_t cpu = pte_cpu_allow(options->cpu);
  if ((cpu & PTE_LEAST) != PTE_LEAST)
    return pte_fail(err, PTE_UNSUPPORTED, "cpu: %u, this build is for processors with %u", cpu,
                    PTE_LEAST);
  bool changed = s->has_dynamic || s->call.threads != options->threads || s->call.cpu != cpu;
  bool known = s->measured;
  s->prepared = s->measured = false;
  s->lent = options->pool;
  s->pool = (pte_pool){sizeof s->pool, s->lent == NULL ? 0 : s->lent->threads, s, run_on_lent};
  s->call = (pte_call){.tables = &s->tables,
                       .pool = options->pool == NULL ? NULL : &s->pool,
                       .threads = options->threads,
                       .cpu = cpu,
                       .fault = &s->fault};
  PTE_TRY(read_machine(s, options->machine, &changed, err));
  pte_session_record(s);
  PTE_TRY(pte_bind(s, options, &changed, err));
  if (changed || !known) {
    forget(s);
    pte_needs emptied = {0, 0};
    if (s->has_dynamic) emptied = measure_emptied(s);
    PTE_TRY(plan_values(s, err));
    PTE_TRY(check_works(s, &emptied, err));
    pte_written_find(s);
  }
  PTE_TRY(total(s, options, err));
  s->measured = true;
  return PTE_OK;
}

pte_status pte_prepare_size(pte_session *s, const pte_prepare_options *options, pte_sizes *out,
                            pte_error *err) {
  PTE_TRY(measure(s, options, err));
  if (pte_sized_write(out, &s->sizes, sizeof s->sizes) == PTE_OK) return PTE_OK;
  return pte_fail(err, PTE_BAD_ARGUMENT, "sizes: expected a struct that says its size");
}

static pte_status check_memory(const char *name, pte_memory memory, uint64_t needed,
                               pte_error *err) {
  if (needed == 0) return PTE_OK;
  if (memory.data == NULL || memory.size_bytes < needed)
    return pte_fail(err, PTE_NO_MEMORY, "%s: got %llu bytes, needs %llu", name,
                    (uint64_t)memory.size_bytes, needed);
  if ((uintptr_t)memory.data % PTE_ARENA_ALIGN != 0)
    return pte_fail(err, PTE_BAD_ARGUMENT, "%s: expected 64-byte alignment", name);
  return PTE_OK;
}

/* Notes the sizes of the states; says whether they and the memory are those of last time. */
static bool states_stay(pte_session *s, const unsigned char *state) {
  bool same = s->state_valid && s->state == state;
  for (uint32_t i = 0; i < s->state_count; i++) {
    uint64_t bytes = s->slots[s->state_values[i]].room_bytes;
    same = same && s->state_kept[i] == bytes;
    s->state_kept[i] = bytes;
  }
  return same;
}

pte_status pte_session_prepare(pte_session *s, const pte_prepare_options *options, pte_memory arena,
                               pte_memory state, int reset, pte_error *err) {
  if (reset < PTE_STATE_KEEP || reset > PTE_STATE_ADOPT)
    return pte_fail(err, PTE_BAD_ARGUMENT, "reset: expected PTE_STATE_*, got %d", (int32_t)reset);
  PTE_TRY(measure(s, options, err));
  PTE_TRY(check_memory("arena", arena, s->sizes.arena_bytes, err));
  PTE_TRY(check_memory("state", state, s->sizes.state_bytes, err));
  /* No address is NULL, not even of no bytes: memcpy and pointer arithmetic forbid it. */
  unsigned char *kept = state.data != NULL ? state.data : (unsigned char *)s;
  bool stay = states_stay(s, kept);
  s->state = kept;
  s->arena = arena.data != NULL ? arena.data : (unsigned char *)s;
  s->call.scratch = s->arena + s->sizes.planned_bytes + s->sizes.kept_bytes;
  pte_kept_place(s, s->arena + s->sizes.planned_bytes);
  pte_session_record(s);
  for (uint32_t v = 0; v < s->value_count; v++) pte_value_place(s, v);
  if (reset == PTE_STATE_RESET || (reset == PTE_STATE_KEEP && !stay)) pte_states_reset(s);
  s->state_valid = true;
  PTE_TRY(pte_kept_fill(s, err)); /* last: states are whole where it fails */
  s->prepared = true;
  return PTE_OK;
}
