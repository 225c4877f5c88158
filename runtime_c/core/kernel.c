#include "core/kernel.h"

/* Grains of PTE_CHUNK / GRAINS operations are one look apart. */
enum { GRAINS = 16 };

typedef struct slices {
  pte_watch *watch;
  pte_task task;
  void *context;
  size_t slice;
} slices;

static void run_slices(void *context, size_t begin, size_t end, uint32_t thread) {
  const slices *s = context;
  for (size_t next; begin < end && !pte_watch_look(s->watch); begin = next) {
    next = end - begin > s->slice ? begin + s->slice : end;
    s->task(s->context, begin, next, thread);
  }
}

void pte_parallel(const pte_call *call, size_t count, size_t grain, pte_task task, void *context) {
  slices s = {call->watch, task, context, 1};
  if (count == 0) return;
  if (s.watch != NULL) {
    size_t grains = (size_t)s.watch->chunk / (PTE_CHUNK / GRAINS);
    if (grains > 0 && grain > 1) s.slice = grains * grain;
    task = run_slices, context = &s;
  }
  if (call->pool == NULL || call->threads <= 1 || count <= grain) task(context, 0, count, 0);
  else call->pool->run(call->pool->self, count, grain, task, context);
}
