#include "core/cpu.h"

#if defined(__x86_64__) || defined(__i386__)
#include "core/cpuid.h"

/* Register state that the system saves (XCR0). */
static uint32_t xgetbv(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/* Of rows whose state is in `admitted`. */
static uint32_t features_of(uint32_t admitted) {
  const uint32_t osxsave = 1u << 27, most = pte_cpuid(0, 0).a;
  const pte_cpuid_words one = pte_cpuid(1, 0), none = {0, 0, 0, 0};
  const pte_cpuid_words seven = most >= 7 ? pte_cpuid(7, 0) : none,
                        more = seven.a >= 1 ? pte_cpuid(7, 1) : none;
  const uint32_t has[5] = {one.c, seven.b, seven.c, more.a, seven.d};
  const uint32_t state = (one.c & osxsave) != 0 ? xgetbv() & admitted : 0;
  uint32_t features = 0;
  for (const pte_isa *row = pte_isas; row < pte_isas + pte_isa_count; row++) {
    bool all = (features & row->needs) == row->needs && (state & row->state) == row->state;
    for (unsigned i = 0; i < 5; i++) all = all && (has[i] & row->cpuid[i]) == row->cpuid[i];
    if (all) features |= row->feature;
  }
  return features;
}

uint32_t pte_cpu_detect(void) { return features_of(~PTE_STATE_ON_REQUEST); }

uint32_t pte_cpu_allow(uint32_t wanted) {
  return wanted == PTE_CPU_DETECT ? pte_cpu_detect() : features_of(UINT32_MAX) & wanted;
}

#else

uint32_t pte_cpu_detect(void) {
  uint32_t features = 0;
  for (const pte_isa *row = pte_isas; row < pte_isas + pte_isa_count; row++)
    if ((row->hwcap | row->hwcap2) == 0 && row->sysctl == NULL) features |= row->feature;
  return features;
}

uint32_t pte_cpu_allow(uint32_t wanted) {
  uint32_t known = 0;
  for (const pte_isa *row = pte_isas; row < pte_isas + pte_isa_count; row++) known |= row->feature;
  return wanted == PTE_CPU_DETECT ? pte_cpu_detect() : wanted & known;
}

#endif
