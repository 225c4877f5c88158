#include "core/size.h"
#include "program/program.h"

pte_status pte_index_take(pte_arena *arena, uint64_t size, uint32_t **out) {
  uint64_t count = size / sizeof(pte_file_value) + size / sizeof(pte_file_method);
  void *room = NULL;
  PTE_TRY(pte_arena_take(arena, count, sizeof(uint32_t), sizeof(uint32_t), &room));
  *out = room;
  return PTE_OK;
}

void pte_index_fill(pte_program *p, uint32_t *room) {
  pte_index *index = &p->index;
  uint32_t *instrs = room, *states = room + p->method_count;
  for (uint32_t m = 0; m < p->method_count; m++) instrs[m] = 0;
  for (uint32_t b = 0; b < p->block_count; b++)
    instrs[p->blocks[b].method] += p->blocks[b].instrs.count;
  for (uint32_t v = 0; v < p->value_count; v++)
    if (p->values[v].storage == PTE_STORAGE_STATE) states[index->state_count++] = v;
  for (uint32_t d = 0; d < p->dim_count; d++) {
    uint32_t port = p->dims[d].port;
    if (p->dims[d].kind == PTE_DIM_SHAPE && port < PTE_MAX_LIST)
      index->shape_inputs[port / 32] |= 1u << port % 32;
  }
  index->instrs = instrs;
  index->states = states;
}

/* How many of the states are values below `value`. */
static uint32_t states_below(const pte_index *index, uint32_t value) {
  uint32_t low = 0, high = index->state_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (index->states[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

pte_range pte_index_states(const pte_program *p, const pte_file_method *method) {
  uint32_t start = states_below(&p->index, method->values.start);
  uint32_t end = states_below(&p->index, method->values.start + method->values.count);
  return (pte_range){start, end - start};
}
