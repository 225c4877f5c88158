/* matmul, batch_matmul and pack against plain loops, for every variant and 1 to 3 threads. */
// sources: library
#include "core/math.h"
#include "gen/ops.h"
#include "kernel_case.h"

static const pte_matmul_attrs matmul_attrs = {.size = sizeof matmul_attrs};
static const pte_batch_matmul_attrs batch_attrs = {.size = sizeof batch_attrs};
static const pte_pack_attrs pack_attrs = {.size = sizeof pack_attrs};

static float sum_of(const float *a, int64_t a_step, const float *b, int64_t b_step, int64_t k) {
  float sum = 0;
  for (int64_t i = 0; i < k; i++) sum = pte_fma(a[i * a_step], b[i * b_step], sum);
  return sum;
}

static void check_matmul(int64_t m, int64_t n, int64_t k, bool bias) {
  pte_tensor plain = case_tensor(2, (int64_t[]){n, k});
  kernel_case c = {.kernel = &pte_matmul_kernel, .attrs = &matmul_attrs, .in_count = 3};
  c.in[0] = case_tensor(2, (int64_t[]){m, k});
  c.in[1] = case_panels(&plain, 1);
  c.in[2] = case_tensor(1, (int64_t[]){n});
  c.out = case_tensor(2, (int64_t[]){m, n});
  c.present[0] = c.present[1] = true;
  c.present[2] = bias;
  float *expected = case_memory((size_t)(m * n) * sizeof *expected);
  const float *x = c.in[0].data, *w = plain.data, *b = c.in[2].data;
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      expected[i * n + j] = sum_of(x + i * k, 1, w + j * k, 1, k);
      if (bias) expected[i * n + j] += b[j];
    }
  case_run(&c, expected, (size_t)(m * n));
  free(expected), free(plain.data), free(c.out.data);
  for (int i = 0; i < 3; i++) free(c.in[i].data);
}

static void every_row_count_and_ragged_width_is_the_plain_sum(void) {
  static const int64_t widths[] = {1, 5, 15, 16, 17, 31, 32, 33, 48, 63, 130};
  for (int64_t m = 1; m <= 13; m++)
    for (unsigned i = 0; i < sizeof widths / sizeof *widths; i++)
      check_matmul(m, widths[i], 1 + case_below(70), i % 2 == 0);
}

static void blocks_of_every_kind_meet_at_their_edges(void) {
  check_matmul(193, 530, 7, true);
  check_matmul(203, 33, 517, true);
  check_matmul(49, 77, 700, false);
  check_matmul(1, 1030, 300, true);
  check_matmul(6, 40, 1031, true);
}

static void no_terms_give_the_bias_and_no_rows_give_nothing(void) {
  check_matmul(3, 20, 0, true);
  check_matmul(3, 20, 0, false);
  check_matmul(0, 20, 5, true);
  check_matmul(4, 0, 5, true);
}

static void wrong_weights_are_refused(void) {
  pte_tensor plain = case_tensor(2, (int64_t[]){20, 5});
  kernel_case c = {.kernel = &pte_matmul_kernel, .attrs = &matmul_attrs, .in_count = 3};
  c.in[0] = case_tensor(2, (int64_t[]){2, 5});
  c.in[1] = case_panels(&plain, 1);
  c.out = case_tensor(2, (int64_t[]){2, 20});
  c.present[0] = c.present[1] = true;
  c.in[1].groups = 4;
  CHECK_EQUAL(case_check(&c), PTE_BAD_PROGRAM);
  c.in[1].groups = 0;
  CHECK_EQUAL(case_check(&c), PTE_OK);
  c.in[1].dtype = PTE_F64;
  CHECK_EQUAL(case_check(&c), PTE_BAD_PROGRAM);
  free(plain.data), free(c.in[0].data), free(c.in[1].data), free(c.out.data);
}

/* Swaps the last two axes without moving anything. */
static pte_tensor turned(pte_tensor t) {
  unsigned i = t.rank - 2u, j = t.rank - 1u;
  int64_t shape = t.shape[i], stride = t.stride[i];
  t.shape[i] = t.shape[j], t.stride[i] = t.stride[j];
  t.shape[j] = shape, t.stride[j] = stride;
  return t;
}

/* kinds: bit 0 a turned, bit 1 b turned, bit 2 b expanded over the batch */
static void check_batch(int64_t batch, int64_t m, int64_t k, int64_t n, unsigned kinds) {
  kernel_case c = {.kernel = &pte_batch_matmul_kernel, .attrs = &batch_attrs, .in_count = 2};
  c.in[0] = kinds & 1 ? turned(case_tensor(3, (int64_t[]){batch, k, m}))
                      : case_tensor(3, (int64_t[]){batch, m, k});
  c.in[1] = kinds & 2 ? turned(case_tensor(3, (int64_t[]){batch, n, k}))
                      : case_tensor(3, (int64_t[]){batch, k, n});
  if (kinds & 4) c.in[1].stride[0] = 0;
  c.out = case_tensor(3, (int64_t[]){batch, m, n});
  c.present[0] = c.present[1] = true;
  float *expected = case_memory((size_t)(batch * m * n) * sizeof *expected), *y = expected;
  const pte_tensor *a = &c.in[0], *b = &c.in[1];
  for (int64_t g = 0; g < batch; g++)
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++)
        *y++ =
            sum_of((const float *)a->data + g * a->stride[0] + i * a->stride[1], a->stride[2],
                   (const float *)b->data + g * b->stride[0] + j * b->stride[2], b->stride[1], k);
  case_run(&c, expected, (size_t)(batch * m * n));
  free(expected), free(c.in[0].data), free(c.in[1].data), free(c.out.data);
}

static void operands_of_any_strides_multiply(void) {
  for (unsigned kinds = 0; kinds < 8; kinds++)
    for (unsigned i = 0; i < 8; i++)
      check_batch(1 + case_below(4), 1 + case_below(20), case_below(40), 1 + case_below(70), kinds);
  check_batch(1, 200, 33, 100, 1);
  check_batch(2, 5, 5000, 40, 0);
  check_batch(0, 3, 3, 3, 0);
  check_batch(2, 3, 0, 3, 0);
}

static void packing_gives_the_panels_of_the_layout(void) {
  for (int64_t n = 1; n < 50; n += 7)
    for (unsigned kinds = 0; kinds < 2; kinds++) {
      int64_t k = 1 + case_below(20);
      kernel_case c = {.kernel = &pte_pack_kernel, .attrs = &pack_attrs, .in_count = 1};
      pte_tensor plain = case_tensor(2, (int64_t[]){n, k});
      pte_tensor expected = case_panels(&plain, 1);
      c.in[0] = kinds ? turned(case_tensor(2, (int64_t[]){k, n})) : plain;
      for (int64_t i = 0; kinds && i < n; i++)
        for (int64_t j = 0; j < k; j++)
          ((float *)c.in[0].data)[j * n + i] = ((float *)plain.data)[i * k + j];
      c.out = case_panels(&plain, 1);
      c.present[0] = true;
      case_run(&c, expected.data, (size_t)((n + 15) / 16 * 16 * k));
      if (kinds) free(c.in[0].data);
      free(plain.data), free(expected.data), free(c.out.data);
    }
}

int main(void) {
  every_row_count_and_ragged_width_is_the_plain_sum();
  blocks_of_every_kind_meet_at_their_edges();
  no_terms_give_the_bias_and_no_rows_give_nothing();
  wrong_weights_are_refused();
  operands_of_any_strides_multiply();
  packing_gives_the_panels_of_the_layout();
  return check_done();
}
