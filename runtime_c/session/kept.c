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

void pte_kept_mark(const pte_session *s, pte_work *work) {
  work->late = !work->row->control && (ALL_LATE || work->dynamic || !reads_constants(s, work));
}

void pte_kept_mark_fallbacks(pte_session *s) {
  const pte_program *p = s->program;
  for (uint32_t d = 0; d < p->delegate_count; d++) {
    const uint32_t block = p->delegates[d].fallback;
    if (block >= p->block_count || s->first_work[block] == PTE_NONE) continue;
    pte_work *work = &s->works[s->first_work[block]];
    for (uint32_t i = 0; i < p->blocks[block].instrs.count; i++, work++) {
      if (work->row->control || work->row->kernel->keep == NULL) continue;
      work->late = true, work->run = NULL;
    }
  }
}

bool pte_kept_plan(pte_session *s, uint32_t work, uint64_t bytes) {
  pte_work *of = &s->works[work];
  of->kept_bytes = bytes;
  if (of->late) {
    if (bytes > s->late_bytes) s->late_bytes = bytes;
    return true;
  }
  return pte_add(s->sizes.kept_bytes, bytes, &s->sizes.kept_bytes);
}

void pte_kept_place(pte_session *s, unsigned char *base) {
  unsigned char *late = base + (s->sizes.kept_bytes - s->late_bytes);
  for (uint32_t w = 0; w < s->work_count; w++) {
    pte_work *work = &s->works[w];
    work->call.kept = work->late ? late : base;
    if (!work->late) base += work->kept_bytes;
  }
}

pte_status pte_kept_fill(pte_session *s, pte_error *err) {
  pte_status status = PTE_OK;
  const pte_fp_word caller = pte_fp_enter();
  for (uint32_t w = 0; status == PTE_OK && w < s->work_count; w++) {
    const pte_work *work = &s->works[w];
    if (work->late || work->row->control || work->row->kernel->keep == NULL) continue;
    pte_fault_clear(s);
    status = work->row->kernel->keep(&work->call);
    if (status != PTE_OK) status = pte_fault_text(s, w, status, err);
  }
  pte_fp_leave(caller);
  return status;
}

pte_status pte_kept_run(const pte_work *work) {
  const pte_kernel *kernel = work->row->kernel;
  if (work->late && kernel->keep != NULL) PTE_TRY(kernel->keep(&work->call));
  return kernel->run(&work->call);
}
