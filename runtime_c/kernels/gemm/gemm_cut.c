#include "kernels/gemm/gemm_cut.h"

#include "kernels/gemm/gemm_f32.h"

/* A set of eight ways has room for six rows beside what else is read (1024^3, Zen 4: 94 % of peak,
 * fourteen 86), one of twelve for twelve; where memory is far, fourteen lose less by the set than
 * twelve do by reading weights more often (Xeon: 89 %, twelve 86, six 78). */
static uint8_t span_of(const pte_machine *machine) {
  enum { MANY_WAYS = 12 };
  if (pte_machine_far_memory(machine)) return PTE_SPAN;
  return machine->l1.ways >= MANY_WAYS ? 6 : 3;
}

pte_gemm_cut pte_gemm_cut_of(const pte_machine *machine) {
  pte_gemm_cut cut = {.span = span_of(machine)};
#ifndef PTE_SMALL_BUFFERS
  cut.way = (uint32_t)pte_machine_way(machine);
  for (unsigned i = 0; i < PTE_GEMM_BLOCKS; i++)
    cut.blocks[i] = (uint16_t)pte_block_of(machine, (pte_block)i);
#endif
  return cut;
}
