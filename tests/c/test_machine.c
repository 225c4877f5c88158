/* What is found of this machine's caches, what is read where Linux writes them, and what kernels
 * conclude. */
// sources: library
// samples: yes
#include <stdio.h>
#include <sys/stat.h>

#include "core/machine.h"
#include "host/machine.h"
#include "pteron/host.h"
#include "session/session.h"
#include "stage.h"
#if defined(__linux__)
#include "host/posix/machine.h"
#endif

static void what_is_found_is_a_cache_or_unknown(void) {
  pte_machine m = {.size = sizeof m};
  CHECK_EQUAL(pte_host_machine(&m), PTE_OK);
  CHECK_EQUAL(m.size, sizeof m);
  const pte_cache levels[] = {m.l1, m.l2, m.l3};
  for (unsigned i = 0; i < 3; i++) {
    if (levels[i].bytes == 0) continue;
    CHECK(levels[i].bytes % 1024 == 0);
    CHECK(levels[i].line == 0 || (levels[i].line & (levels[i].line - 1)) == 0);
    CHECK(i == 0 || levels[i].bytes >= levels[0].bytes);
  }
#if defined(__x86_64__)
  CHECK(m.l1.bytes >= 16 << 10 && m.l1.bytes <= 1 << 20 && m.l1.ways != 0 && m.l1.line == 64);
#endif
}

static void structs_without_a_size_are_refused(void) {
  pte_machine m = {.size = 0};
  stage s = open_stage("state", "step", false);
  pte_prepare_options options = shapes_of(NULL);
  CHECK_EQUAL(pte_host_machine(&m), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_host_machine(NULL), PTE_BAD_ARGUMENT);
  options.machine = &m;
  CHECK_EQUAL(prepare(&s, &options), PTE_BAD_ARGUMENT);
  CHECK(strstr(s.error.text, "machine: `size`") != NULL);
  close_stage(&s);
}

static void calls_see_the_machine_of_the_last_prepare(void) {
  pte_machine m = {
      .size = sizeof m, .misses = 7, .l1 = {8192, 2, 64}
  };
  stage s = open_stage("state", "step", false);
  pte_prepare_options options = shapes_of(NULL);
  CHECK_EQUAL(prepare(&s, &options), PTE_OK);
  CHECK_EQUAL(s.session->call.machine->l1.bytes, 0);
  options.machine = &m;
  CHECK_EQUAL(prepare(&s, &options), PTE_OK);
  m.misses = 8; /* copied */
  const pte_machine *seen = s.session->works[0].call.machine;
  CHECK(seen == s.session->call.machine && seen->misses == 7 && seen->l1.ways == 2);
  close_stage(&s);
}

/* A folder as Linux has one for each cache; NULL: the file is missing. */
static void write_cache(unsigned index, const char *const texts[5]) {
  static const char *const names[] = {"type", "level", "size", "ways_of_associativity",
                                      "coherency_line_size"};
  char path[128];
  snprintf(path, sizeof path, "build/samples/index%u", index);
  mkdir(path, 0777);
  for (unsigned i = 0; i < 5; i++) {
    snprintf(path, sizeof path, "build/samples/index%u/%s", index, names[i]);
    remove(path);
    FILE *file = texts[i] == NULL ? NULL : fopen(path, "w");
    if (file == NULL) continue;
    fputs(texts[i], file);
    fclose(file);
  }
}

static void caches_are_read_where_linux_writes_them(void) {
#if defined(__linux__)
  pte_machine m = {
      .size = sizeof m, .l3 = {5, 5, 5}
  };
  write_cache(0, (const char *[]){"Data\n", "1\n", "64K\n", "4\n", "64\n"});
  write_cache(1, (const char *[]){"Instruction\n", "1\n", "32K\n", "8\n", "64\n"});
  write_cache(2, (const char *[]){"Unified\n", "2\n", "1M\n", NULL, "words"});
  write_cache(3, (const char *[]){"Unified\n", "9\n", "1K\n", "1\n", "1\n"});
  pte_system_caches("build/samples/index", &m);
  CHECK(m.l1.bytes == 64 << 10 && m.l1.ways == 4 && m.l1.line == 64);
  CHECK(m.l2.bytes == 1 << 20 && m.l2.ways == 0 && m.l2.line == 0);
  CHECK(m.l3.bytes == 5); /* of no level that there is */
  write_cache(0, (const char *[]){"Data\n", "1\n", "99999999999999999999999K\n", "", "-4\n"});
  pte_system_caches("build/samples/index", &m);
  CHECK(m.l1.bytes == 0 && m.l1.ways == 0 && m.l1.line == 0);
  const pte_machine before = m;
  pte_system_caches("build/samples/none", &m);
  CHECK(memcmp(&before, &m, sizeof m) == 0);
#endif
}

static void a_family_has_a_row_or_stays_unknown(void) {
#if defined(__x86_64__) || defined(__i386__)
  static const struct {
    uint32_t vendor, signature, misses, memory_ns;
  } rows[] = {
      {PTE_CPUID_INTEL, 0x000806f8, 48, 120}, /* Sapphire Rapids */
      {PTE_CPUID_INTEL, 0x000c06f2, 48, 120}, /* Emerald Rapids */
      {PTE_CPUID_INTEL, 0x00090672, 48, 90 }, /* Alder Lake */
      {PTE_CPUID_INTEL, 0x000b0671, 48, 90 }, /* Raptor Lake */
      {PTE_CPUID_INTEL, 0x000606a6, 0,  0  }, /* Ice Lake */
      {PTE_CPUID_INTEL, 0x00050654, 0,  0  }, /* Skylake */
      {PTE_CPUID_AMD,   0x00b40f40, 64, 90 }, /* Zen 5 */
      {PTE_CPUID_AMD,   0x00a60f12, 0,  0  }, /* Zen 4 */
      {PTE_CPUID_AMD,   0x00800f12, 0,  0  }, /* Zen */
      {0,               0x000806f8, 0,  0  },
  };
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    pte_machine m = {.size = sizeof m};
    pte_machine_family(rows[i].vendor, rows[i].signature, &m);
    CHECK_EQUAL(m.misses, rows[i].misses);
    CHECK_EQUAL(m.memory_ns, rows[i].memory_ns);
    CHECK(pte_machine_many_misses(&m) == (rows[i].misses != 0));
    CHECK(pte_machine_far_memory(&m) == (rows[i].memory_ns == 120));
  }
#endif
}

static void lines_a_way_apart_share_a_set(void) {
  const pte_machine usual =
                        {
                            .size = 0
  },
                    zen4 = {.l1 = {32 << 10, 8, 64}}, zen5 = {.l1 = {48 << 10, 12, 64}},
                    neoverse = {.l1 = {64 << 10, 4, 64}}, odd = {.l1 = {4, 8, 64}};
  const pte_machine *four[] = {&usual, &zen4, &zen5, &odd};
  for (unsigned i = 0; i < 4; i++) {
    CHECK(pte_machine_same_set(four[i], 4096) && pte_machine_same_set(four[i], 12288));
    CHECK(!pte_machine_same_set(four[i], 2048) && !pte_machine_same_set(four[i], 4160));
  }
  CHECK(pte_machine_same_set(&neoverse, 16384) && !pte_machine_same_set(&neoverse, 4096));
}

int main(void) {
  what_is_found_is_a_cache_or_unknown();
  structs_without_a_size_are_refused();
  calls_see_the_machine_of_the_last_prepare();
  caches_are_read_where_linux_writes_them();
  a_family_has_a_row_or_stays_unknown();
  lines_a_way_apart_share_a_set();
  return check_done();
}
