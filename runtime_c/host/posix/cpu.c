/* What the system says about the processor. */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#if (defined(__aarch64__) || defined(__riscv)) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include "core/cpu.h"
#include "pteron/host.h"

#if (defined(__aarch64__) || defined(__riscv)) && defined(__linux__)
static bool has(const pte_isa *row) {
  return (row->hwcap | row->hwcap2) != 0 && (getauxval(AT_HWCAP) & row->hwcap) == row->hwcap &&
         (getauxval(AT_HWCAP2) & row->hwcap2) == row->hwcap2;
}
#elif defined(__aarch64__) && defined(__APPLE__)
static bool has(const pte_isa *row) {
  int found = 0;
  size_t size = sizeof found;
  return row->sysctl != NULL && sysctlbyname(row->sysctl, &found, &size, NULL, 0) == 0 &&
         found != 0;
}
#elif defined(__x86_64__) && defined(__linux__)
/* The system makes room for such state in each thread that uses it, once the process has asked. */
static bool has(const pte_isa *row) {
  enum { REQUEST = 0x1023, TILE_DATA = 18 }; /* ARCH_REQ_XCOMP_PERM */
  return (row->state & PTE_STATE_ON_REQUEST) != 0 && pte_cpu_allow(row->feature) != 0 &&
         syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}
#else
static bool has(const pte_isa *row) { /* the processor has said all */
  (void)row;
  return false;
}
#endif

uint32_t pte_host_cpu(void) {
  uint32_t features = pte_cpu_detect();
  for (const pte_isa *row = pte_isas; row < pte_isas + pte_isa_count; row++)
    if ((features & row->needs) == row->needs && has(row)) features |= row->feature;
  return features;
}

uint32_t pte_host_processors(void) {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return (uint32_t)CPU_COUNT(&allowed);
#endif
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1u : (uint32_t)count;
}
