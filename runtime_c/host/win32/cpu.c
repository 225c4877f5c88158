/* What Windows says about the processor. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "core/cpu.h"
#include "pteron/host.h"

/* On x86 the processor has said all; on 64-bit Arm, where no Windows has run this, NEON is taken.
 */
uint32_t pte_host_cpu(void) { return pte_cpu_detect(); }

uint32_t pte_host_processors(void) {
  DWORD_PTR allowed = 0, present = 0;
  uint32_t count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &allowed, &present))
    for (; allowed != 0; allowed &= allowed - 1) count++;
  return count == 0 ? 1 : count;
}
