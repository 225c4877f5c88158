#include "core/watch.h"

bool pte_watch_look(pte_watch *w) {
  uint32_t why = atomic_load_explicit(&w->ended, memory_order_relaxed);
  if (why != PTE_OK) return true;
  const pte_run_options *o = w->until;
  if (o->cancel != NULL && *o->cancel != 0) why = PTE_CANCELLED;
  else if (o->deadline_ns != 0 && o->now(o->now_self) >= o->deadline_ns) why = PTE_DEADLINE;
  if (why != PTE_OK) atomic_store_explicit(&w->ended, why, memory_order_relaxed);
  return why != PTE_OK;
}

int64_t pte_pace_take(pte_pace *pace, int64_t left, int64_t cost, int64_t unit) {
  int64_t all, units;
  if (pace->watch == NULL) return left;
  if (pace->left <= 0) {
    if (pte_watch_look(pace->watch)) return 0;
    pace->left = pace->watch->chunk;
  }
  if (__builtin_mul_overflow(left, cost, &all) || all > pace->left) {
    units = pace->left / cost / unit;
    units = (units > 0 ? units : 1) * unit;
    if (units < left) left = units;
  }
  pace->left -= left * cost;
  return left;
}

bool pte_pace_go(pte_pace *pace, int64_t cost) { return pte_pace_take(pace, 1, cost, 1) != 0; }
