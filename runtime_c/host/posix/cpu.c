/* What the system says about the processor. */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include "core/cpu.h"
#include "pteron/host.h"

#if defined(__aarch64__) && defined(__linux__)
uint32_t pte_host_cpu(void) {
  const unsigned long dotprod = 1ul << 20, i8mm = 1ul << 13; /* HWCAP_ASIMDDP, HWCAP2_I8MM */
  uint32_t features = pte_cpu_detect();
  if (getauxval(AT_HWCAP) & dotprod) features |= PTE_CPU_DOTPROD;
  if (getauxval(AT_HWCAP2) & i8mm) features |= PTE_CPU_I8MM;
  return features;
}
#elif defined(__aarch64__) && defined(__APPLE__)
static uint32_t feature(const char *name, uint32_t bit) {
  int has = 0;
  size_t size = sizeof has;
  return sysctlbyname(name, &has, &size, NULL, 0) == 0 && has != 0 ? bit : 0;
}
uint32_t pte_host_cpu(void) {
  return pte_cpu_detect() | feature("hw.optional.arm.FEAT_DotProd", PTE_CPU_DOTPROD) |
         feature("hw.optional.arm.FEAT_I8MM", PTE_CPU_I8MM);
}
#else
uint32_t pte_host_cpu(void) { return pte_cpu_detect(); }
#endif

uint32_t pte_host_processors(void) {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return (uint32_t)CPU_COUNT(&allowed);
#endif
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1u : (uint32_t)count;
}
