/* What this machine is like: its caches as the processor or the system says them, and what neither
 * says as a row of its family has it. */
#include "host/machine.h"

#include "core/sized.h"
#include "host/system.h"
#include "pteron/host.h"

#if defined(__x86_64__) || defined(__i386__)
#include "core/cpuid.h"

/* Processors of a family, `first` .. `last` by model. The misses are those that prefetching was
 * seen to gain from, not those of a manual; Zen 5 and Sapphire Rapids were measured, the others of
 * Intel's with AVX-VNNI are taken to be like them. */
typedef struct family {
  bool amd; /* else Intel's */
  uint8_t first_family, last_family, first, last, misses, memory_ns;
} family;

static const family families[] = {
    {true,  26, 255, 0x00, 0xff, 64, 90 }, /* Zen 5 and what follows */
    {false, 6,  6,   0x8f, 0x8f, 48, 120}, /* Sapphire Rapids */
    {false, 6,  6,   0xad, 0xae, 48, 120}, /* Granite Rapids */
    {false, 6,  6,   0xcf, 0xcf, 48, 120}, /* Emerald Rapids */
    {false, 6,  6,   0x97, 0x9a, 48, 90 }, /* Alder Lake */
    {false, 6,  6,   0xaa, 0xac, 48, 90 }, /* Meteor Lake */
    {false, 6,  6,   0xaf, 0xaf, 48, 90 }, /* Sierra Forest */
    {false, 6,  6,   0xb5, 0xbf, 48, 90 }, /* Raptor Lake, Lunar Lake, Arrow Lake U, Grand Ridge */
    {false, 6,  6,   0xc5, 0xcc, 48, 90 }, /* Arrow Lake, Panther Lake */
    {false, 6,  6,   0xdd, 0xdd, 48, 90 }, /* Clearwater Forest */
    {false, 18, 18,  0x00, 0xff, 48, 90 }, /* Nova Lake */
    {false, 19, 19,  0x00, 0xff, 48, 120}, /* Diamond Rapids */
};

void pte_machine_family(uint32_t vendor, uint32_t signature, pte_machine *m) {
  const uint32_t base = signature >> 8 & 15, more = signature >> 20 & 255;
  const uint32_t number = base == 15 ? base + more : base;
  const uint32_t model = (signature >> 4 & 15) | (signature >> 12 & 0xf0);
  for (const family *f = families; f < families + sizeof families / sizeof *families; f++)
    if (vendor == (f->amd ? PTE_CPUID_AMD : PTE_CPUID_INTEL) && f->first_family <= number &&
        number <= f->last_family && f->first <= model && model <= f->last)
      m->misses = f->misses, m->memory_ns = f->memory_ns;
}

/* Leaf 4 of Intel's; AMD's of that form where it has one (the bit TopologyExtensions). */
static void read_machine(pte_machine *m) {
  enum { DATA = 1, BOTH = 3, MOST = 16, EXTENDED = 1 << 22 };
  const pte_cpuid_words zero = pte_cpuid(0, 0);
  const uint32_t top = pte_cpuid(0x80000000u, 0).a;
  const bool extended = top >= 0x8000001du && (pte_cpuid(0x80000001u, 0).c & EXTENDED) != 0;
  const uint32_t leaf = zero.b == PTE_CPUID_AMD ? (extended ? 0x8000001du : 0)
                        : zero.a >= 4           ? 4
                                                : 0;
  if (zero.a >= 1) pte_machine_family(zero.b, pte_cpuid(1, 0).a, m);
  for (uint32_t i = 0; leaf != 0 && i < MOST; i++) {
    const pte_cpuid_words w = pte_cpuid(leaf, i);
    const uint32_t kind = w.a & 31, level = w.a >> 5 & 7, sets = w.c + 1;
    const uint32_t line = (w.b & 0xfff) + 1, ways = (w.b >> 22) + 1,
                   parts = (w.b >> 12 & 0x3ff) + 1;
    const uint64_t bytes = (uint64_t)line * ways * parts * sets;
    if (kind == 0) return;
    if (kind == DATA || kind == BOTH)
      pte_machine_put(m, level, (pte_cache){bytes > UINT32_MAX ? 0 : (uint32_t)bytes, ways, line});
  }
}

#else
static void read_machine(pte_machine *m) { pte_system_machine(m); }
#endif

pte_status pte_host_machine(pte_machine *out) {
  pte_machine m = {.size = sizeof m};
  read_machine(&m);
  return pte_sized_write(out, &m, sizeof m);
}
