#include "kernels/blocks.h"

#ifndef PTE_SMALL_BUFFERS
enum { WHOLE = 80 }; /* shares are of */

size_t pte_block_of(const pte_machine *machine, pte_block block) {
  static const struct {
    uint8_t level, share, multiple;
    uint16_t bytes, least;
    uint32_t most;
  } rows[PTE_BLOCK_COUNT] = {
#define ROW(name, level, share, bytes, multiple, least, most)                                      \
  {level, share, multiple, bytes, least, most},
      PTE_BLOCKS(ROW)
#undef ROW
  };
  const uint32_t found = rows[block].level == 1 ? machine->l1.bytes : machine->l2.bytes;
  const uint32_t usual = rows[block].level == 1 ? PTE_USUAL_L1 : PTE_USUAL_L2;
  const uint64_t cache = found == 0 ? usual : found;
  const uint64_t items = cache * rows[block].share / WHOLE / rows[block].bytes;
  if (items >= rows[block].most) return rows[block].most;
  if (items < rows[block].least) return rows[block].least;
  return (size_t)(items - items % rows[block].multiple);
}
#endif
