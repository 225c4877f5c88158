/* No system: what a board without files and threads has of pteron/host.h. Everything else the
 * caller brings. */
#include "core/cpu.h"
#include "core/error.h"
#include "core/sized.h"
#include "pteron/host.h"

uint32_t pte_host_cpu(void) { return pte_cpu_detect(); }

uint32_t pte_host_processors(void) { return 1; }

pte_status pte_host_machine(pte_machine *out) {
  const pte_machine unknown = {.size = sizeof unknown};
  return pte_sized_write(out, &unknown, sizeof unknown);
}

uint64_t pte_host_now(void *self) {
  (void)self;
  return 0;
}

pte_status pte_host_map(const char *path, pte_memory *out, pte_error *error) {
  (void)out;
  return pte_fail(error, PTE_UNSUPPORTED, "%s: this build has no files", path);
}

void pte_host_unmap(pte_memory mapped) { (void)mapped; }

pte_status pte_host_read(const char *path, pte_memory *out, pte_error *error) {
  return pte_host_map(path, out, error);
}

pte_status pte_host_alloc(uint64_t size_bytes, pte_memory *out) {
  (void)size_bytes, (void)out;
  return PTE_NO_MEMORY;
}

void pte_host_free(pte_memory memory) { (void)memory; }

pte_status pte_host_pool_open(const pte_host_pool_options *options, pte_pool **out,
                              pte_error *error) {
  (void)options, (void)out;
  return pte_fail(error, PTE_UNSUPPORTED, "pool: this build has no threads");
}

void pte_host_pool_close(pte_pool *pool) { (void)pool; }
