/* Bytes of elements that do not fill their last step, panel or block. */
// sources: program/storage.c gen/layout.c
#include "check.h"
#include "program/program.h"
#include "pteron/types.h"

/* Bytes of [n, k]; 0: there is no such layout. */
static uint64_t bytes(uint32_t dtype, uint32_t layout, uint32_t format, uint32_t block,
                      uint32_t groups, int64_t n, int64_t k) {
  const pte_tensor t = {
      .dtype = (uint8_t)dtype,
      .rank = 2,
      .layout = (uint8_t)layout,
      .format = (uint8_t)format,
      .block = (uint8_t)block,
      .groups = (uint16_t)groups,
      .shape = {n, k}
  };
  uint64_t out = 0;
  return pte_storage_bytes(&t, &out) ? out : 0;
}

static void narrow_elements_fill_bytes(void) {
  CHECK_EQUAL(bytes(PTE_I4, PTE_STRIDED, PTE_FORMAT_PLAIN, 0, 0, 3, 3), 5);
  CHECK_EQUAL(bytes(PTE_I4, PTE_STRIDED, PTE_FORMAT_PLAIN, 0, 0, 2, 3), 3);
  CHECK_EQUAL(bytes(PTE_F32, PTE_STRIDED, PTE_FORMAT_PLAIN, 0, 0, 2, 3), 24);
  CHECK_EQUAL(bytes(PTE_F32, PTE_STRIDED, PTE_FORMAT_PLAIN, 0, 0, INT64_MAX, 0), 0);
  CHECK_EQUAL(bytes(PTE_F32, PTE_STRIDED, PTE_FORMAT_PLAIN, 0, 0, INT64_MAX, 2), 0);
}

/* 16 rows a panel, K to the step of a register, a scale for each begun block. */
static void panels_are_padded_to_steps_and_scales_to_blocks(void) {
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 0, 0, 17, 3), 32 * 3 * 4);
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_NF4, 6, 0, 16, 64), 16 * (64 / 2 + 2));
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_NF4, 6, 0, 16, 65), 16 * (72 / 2 + 2 * 2));
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_NF4, 6, 0, 17, 1), 32 * (8 / 2 + 2));
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_MXFP8, 5, 0, 16, 33), 16 * (36 + 2));
  /* Codes of 6 bits in steps of 16, of 3 in steps of 32: a plane of their lower bits, and one more.
   */
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_MXFP6, 5, 0, 16, 16), 16 * (12 + 1));
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_MXFP6, 5, 0, 16, 17), 16 * (24 + 1));
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_I3, 5, 0, 16, 32), 16 * (12 + 2));
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_I3, 5, 0, 16, 33), 16 * (24 + 2 * 2));
}

/* The block is the constant's, not the format's. */
static void blocks_are_powers_of_two_or_the_row(void) {
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_I4, 4, 0, 16, 65), 16 * (72 / 2 + 5 * 2));
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_I4, 8, 0, 16, 65), 16 * (72 / 2 + 2));
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_I4, 0, 0, 16, 65), 16 * (72 / 2 + 2));
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_I4, 3, 0, 16, 64), 0);
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_I4, 9, 0, 16, 64), 0);
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_I4, 255, 0, 16, 64), 0);
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_Q4_K, 5, 0, 16, 256), 16 * (128 + 8 + 8 + 4));
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_Q4_K, 0, 0, 16, 256), 0);
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 5, 0, 16, 64), 0);
  CHECK_EQUAL(bytes(PTE_F32, PTE_STRIDED, PTE_FORMAT_PLAIN, 5, 0, 16, 64), 0);
}

static void each_group_has_its_own_panels(void) {
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 0, 3, 51, 2), 3 * 32 * 2 * 4);
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 0, 1, 51, 2), 64 * 2 * 4);
  CHECK_EQUAL(bytes(PTE_F32, PTE_PANELS, PTE_FORMAT_PLAIN, 0, 2, 51, 2), 0);
}

int main(void) {
  narrow_elements_fill_bytes();
  panels_are_padded_to_steps_and_scales_to_blocks();
  blocks_are_powers_of_two_or_the_row();
  each_group_has_its_own_panels();
  return check_done();
}
