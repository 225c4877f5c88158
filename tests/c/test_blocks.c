/* Block sizes of machines: those that were measured cut as they were measured to be best, smaller
 * caches cut smaller, and nothing that a machine may say gives a size that no kernel takes. */
// sources: library
#include "check.h"
#include "kernels/gemm/gemm_cut.h"
#include "kernels/gemm/panel_decode.h"

static const struct {
  size_t multiple, least, most;
} rows[] = {
#define ROW(name, level, share, bytes, multiple, least, most) {multiple, least, most},
    PTE_BLOCKS(ROW)
#undef ROW
};

/* Epyc of the first generation, Zen 4, Zen 5, Sapphire Rapids, and one that nobody knows. */
static const pte_machine
    zen =
        {
            .l1 = {32 << 10,  8, 64},
              .l2 = {512 << 10, 8, 64}
},
    zen4 = {.l1 = {32 << 10, 8, 64}, .l2 = {1 << 20, 8, 64}},
    zen5 = {.misses = 64, .memory_ns = 90, .l1 = {48 << 10, 12, 64}, .l2 = {1 << 20, 16, 64}},
    xeon = {.misses = 48, .memory_ns = 120, .l1 = {48 << 10, 12, 64}, .l2 = {2 << 20, 16, 64}},
    unknown = {.size = 0};

static void machines_that_were_measured_have_the_most_of_every_row(void) {
  const pte_machine *measured[] = {&zen, &zen4, &zen5, &xeon, &unknown};
  for (unsigned i = 0; i < 5; i++)
    for (unsigned b = 0; b < PTE_BLOCK_COUNT; b++)
      CHECK_EQUAL(pte_block_of(measured[i], (pte_block)b), rows[b].most);
}

static void caches_of_any_size_give_sizes_that_kernels_take(void) {
  static const uint32_t bytes[] = {1, 64, 4 << 10, 8 << 10, 48 << 10, 1 << 20, UINT32_MAX};
  for (unsigned b = 0; b < PTE_BLOCK_COUNT; b++) {
    size_t before = 0;
    for (unsigned i = 0; i < sizeof bytes / sizeof *bytes; i++) {
      const pte_machine m = {
          .l1 = {bytes[i], 3, 1},
            .l2 = {bytes[i], 0, 0}
      };
      const size_t size = pte_block_of(&m, (pte_block)b);
      CHECK(size >= rows[b].least && size <= rows[b].most && size % rows[b].multiple == 0);
      CHECK(size >= before);
      before = size;
    }
  }
}

static void less_cache_is_a_smaller_block(void) {
  const pte_machine m = {
      .l1 = {8 << 10,   2, 64},
        .l2 = {128 << 10, 8, 64}
  };
  for (unsigned b = 0; b < PTE_BLOCK_COUNT; b++)
    CHECK(pte_block_of(&m, (pte_block)b) < rows[b].most);
  CHECK_EQUAL(pte_block_of(&m, PTE_BLOCK_GEMM_DEPTH), 64);
  CHECK_EQUAL(pte_block_of(&m, PTE_BLOCK_INT8_BYTES), 128 << 10);
}

static void rows_that_meet_in_a_set_go_together_as_it_has_ways(void) {
  CHECK_EQUAL(pte_gemm_cut_of(&zen).span, 3);
  CHECK_EQUAL(pte_gemm_cut_of(&zen4).span, 3);
  CHECK_EQUAL(pte_gemm_cut_of(&unknown).span, 3);
  CHECK_EQUAL(pte_gemm_cut_of(&zen5).span, 6);
  CHECK_EQUAL(pte_gemm_cut_of(&xeon).span, 7);
}

static void features_say_nothing_of_the_machine(void) {
  const pte_tensor w = {
      .dtype = PTE_F32, .rank = 2, .shape = {16, 32},
              .format = PTE_FORMAT_I8
  };
  for (uint32_t bit = 0; bit < 32; bit++) {
    const pte_call on_zen = {.cpu = 1u << bit, .machine = &zen};
    const pte_call on_xeon = {.cpu = 1u << bit, .machine = &xeon};
    const pte_stored near = pte_stored_of(&w, &on_zen), far = pte_stored_of(&w, &on_xeon);
    CHECK(near.many_misses == pte_machine_many_misses(&zen) && !near.far_memory);
    CHECK(far.many_misses && far.far_memory);
  }
}

int main(void) {
  machines_that_were_measured_have_the_most_of_every_row();
  caches_of_any_size_give_sizes_that_kernels_take();
  less_cache_is_a_smaller_block();
  rows_that_meet_in_a_set_go_together_as_it_has_ways();
  features_say_nothing_of_the_machine();
  return check_done();
}
