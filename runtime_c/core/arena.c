#include "core/arena.h"

#include "core/size.h"

pte_arena pte_arena_open(pte_memory memory) {
  return (pte_arena){memory.data, memory.data == NULL ? 0 : memory.size_bytes, 0};
}

pte_arena pte_arena_measure(void) { return (pte_arena){NULL, UINT64_MAX, 0}; }

pte_status pte_arena_take(pte_arena *arena, uint64_t count, uint64_t size, uint64_t align,
                          void **out) {
  uint64_t begin, bytes, end;
  if (!pte_align(arena->used, align, &begin) || !pte_mul(count, size, &bytes) ||
      !pte_add(begin, bytes, &end) || end > arena->size)
    return PTE_NO_MEMORY;
  arena->used = end;
  *out = arena->data == NULL ? NULL : arena->data + begin;
  return PTE_OK;
}
