#include "session/kept.h"

#include "core/fp.h"
#include "core/size.h"
#include "session/fault.h"

#ifdef PTE_SMALL_BUFFERS /* a machine with some tens of KB of memory, which is dearer than time */
enum { ALL_LATE = 1 };
#else
enum { ALL_LATE = 0 };
#endif

/* Whether all inputs that the kernel's `keep` reads are constants. */
static bool reads_constants(const pte_session *s, const pte_work *work) {
  const uint32_t reads = work->row->kernel->reads;
  for (uint32_t i = 0; i < work->call.in_count && i < 32; i++) {
    const pte_tensor *x = work->call.in[i];
    if ((reads >> i & 1) == 0 || x == NULL) continue;
    const uint32_t base = s->slots[pte_session_value_of(s, x)].base;
    if (pte_session_file_value(s, base)->storage != PTE_STORAGE_CONSTANT) return false;
  }
  return true;
}

/* `count` instructions from `first` on, if their kernels keep anything: all of them late, or those
 * that cannot be filled before. */
static void mark(pte_session *s, uint32_t first, uint32_t count, bool all) {
  for (uint32_t w = first; w < first + count; w++) {
    pte_work *work = &s->works[w];
    if (work->row->control || work->row->kernel->keep == NULL) continue;
    work->late = all || work->dynamic || !reads_constants(s, work);
    if (work->late) work->run = NULL;
  }
}

void pte_kept_mark(pte_session *s) {
  const pte_program *p = s->program;
  mark(s, 0, s->work_count, ALL_LATE);
  for (uint32_t d = 0; d < p->delegate_count; d++) {
    const uint32_t block = p->delegates[d].fallback;
    if (block == PTE_NONE || s->first_work[block] == PTE_NONE) continue;
    mark(s, s->first_work[block], p->blocks[block].instrs.count, true);
  }
}

void pte_kept_plan(pte_session *s, uint32_t work, uint64_t bytes) {
  pte_work *of = &s->works[work];
  of->kept_bytes = bytes;
  if (!of->late) { /* what does not fit leaves a sum that does not either */
    if (!pte_add(s->own_bytes, bytes, &s->own_bytes)) s->own_bytes = UINT64_MAX;
  } else if (bytes > s->late_bytes) s->late_bytes = bytes;
}

void pte_kept_place(pte_session *s, unsigned char *base) {
  unsigned char *late = base + s->own_bytes;
  for (uint32_t w = 0; w < s->work_count; w++) {
    pte_work *work = &s->works[w];
    if (work->row->control) continue;
    work->call.kept = work->late ? late : base;
    if (!work->late) base += work->kept_bytes;
  }
}

pte_status pte_kept_fill(pte_session *s, pte_error *err) {
  pte_status status = PTE_OK;
  const pte_fp_word caller = pte_fp_enter();
  for (uint32_t w = 0; status == PTE_OK && w < s->work_count; w++) {
    const pte_work *work = &s->works[w];
    if (work->kept_bytes == 0 || work->late) continue;
    pte_fault_clear(s);
    status = work->row->kernel->keep(&work->call);
    if (status != PTE_OK) status = pte_fault_text(s, w, status, err);
  }
  pte_fp_leave(caller);
  return status;
}

pte_status pte_kept_run(const pte_work *work) {
  const pte_kernel *kernel = work->row->kernel;
  if (work->late) PTE_TRY(kernel->keep(&work->call));
  return kernel->run(&work->call);
}
