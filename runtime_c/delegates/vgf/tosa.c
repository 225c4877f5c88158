#include "delegates/vgf/tosa.h"

enum { MAX_WINDOW = 8192 };
#define MAX_TERMS (UINT64_C(1) << 32) /* of one sum: no product below overflows */

typedef struct operation {
  const pte_vgf_code *c;
  const uint32_t *in; /* operands */
  const pte_vgf_shape *y;
  uint64_t terms; /* for each element of y */
} operation;

static bool value(const operation *o, uint32_t k, uint32_t bits, uint32_t rank,
                  pte_vgf_shape *out) {
  return pte_vgf_value(o->c, o->in[k], out) && out->bits == bits &&
         (rank == 0 || out->rank == rank);
}

static bool has_rank(const pte_vgf_shape *s, uint32_t bits, uint32_t rank) {
  return s->bits == bits && s->rank == rank;
}

/* Operand `k` as `count` constant integers in low .. high. */
static bool integers(const operation *o, uint32_t k, uint32_t count, int32_t low, int32_t high,
                     int32_t *out) {
  for (uint32_t i = 0; i < count; i++)
    if (!pte_vgf_element(o->c, o->in[k], 32, count, i, &out[i]) || out[i] < low || out[i] > high)
      return false;
  return true;
}

/* Operand `k` is one constant zero point of `bits`. */
static bool zero_point(const operation *o, uint32_t k, uint32_t bits) {
  int32_t unused;
  return pte_vgf_element(o->c, o->in[k], bits, 1, 0, &unused);
}

/* Operand `k` is a scalar (an enum) in low .. high. */
static bool number(const operation *o, uint32_t k, int32_t low, int32_t high) {
  int32_t n = 0;
  return pte_vgf_int(o->c, o->in[k], 32, &n) && n >= low && n <= high;
}

/* Whether windows of `kernel` over x's rows and columns end with x and give y's. pads: top, bottom,
 * left, right. */
static bool windows_fit(const pte_vgf_shape *x, const pte_vgf_shape *y, const uint32_t kernel[2],
                        const int32_t stride[2], const int32_t dilation[2], const int32_t pad[4]) {
  for (uint32_t k = 0; k < 2; k++) {
    if (kernel[k] == 0 || kernel[k] > MAX_WINDOW) return false;
    int64_t span = (int64_t)(kernel[k] - 1) * dilation[k] + 1;
    int64_t over = (int64_t)x->dims[1 + k] + pad[2 * k] + pad[2 * k + 1] - span;
    if (over < 0 || over % stride[k] != 0 || over / stride[k] + 1 != y->dims[1 + k]) return false;
  }
  return true;
}

/* Rows and columns, and the bias, of both convolutions; `channels` is y's. */
static bool convolution_fits(operation *o, const pte_vgf_shape *x, const uint32_t kernel[2],
                             uint32_t channels, uint64_t terms) {
  int32_t pad[4], stride[2], dilation[2];
  pte_vgf_shape bias;
  bool bound = false;
  if (!integers(o, 0, 4, 0, MAX_WINDOW, pad) || !integers(o, 1, 2, 1, MAX_WINDOW, stride) ||
      !integers(o, 2, 2, 1, MAX_WINDOW, dilation))
    return false;
  if (!number(o, 3, 1, 1) || !pte_vgf_bool(o->c, o->in[4], &bound) || bound) return false;
  if (!value(o, 7, 32, 1, &bias) || (bias.dims[0] != channels && bias.dims[0] != 1)) return false;
  if (!zero_point(o, 8, 8) || !zero_point(o, 9, 8)) return false;
  o->terms = terms;
  return terms <= MAX_TERMS && o->y->dims[0] == x->dims[0] && o->y->dims[3] == channels &&
         windows_fit(x, o->y, kernel, stride, dilation, pad);
}

/* in: pad stride dilation acc_type local_bound x w[n, kh, kw, c] bias x_zero w_zero */
static bool conv2d(operation *o) {
  pte_vgf_shape x, w;
  if (!value(o, 5, 8, 4, &x) || !value(o, 6, 8, 4, &w) || !has_rank(o->y, 32, 4)) return false;
  return w.dims[3] == x.dims[3] &&
         convolution_fits(o, &x, w.dims + 1, w.dims[0], pte_vgf_elements(&w) / w.dims[0]);
}

/* w[kh, kw, c, m]: y has c * m channels */
static bool depthwise_conv2d(operation *o) {
  pte_vgf_shape x, w;
  if (!value(o, 5, 8, 4, &x) || !value(o, 6, 8, 4, &w) || !has_rank(o->y, 32, 4)) return false;
  return w.dims[2] == x.dims[3] &&
         convolution_fits(o, &x, w.dims, w.dims[2] * w.dims[3], (uint64_t)w.dims[0] * w.dims[1]);
}

/* in: kernel stride pad nan_mode x */
static bool max_pool2d(operation *o) {
  static const int32_t dilation[2] = {1, 1};
  int32_t kernel[2], stride[2], pad[4];
  pte_vgf_shape x;
  if (!integers(o, 0, 2, 1, MAX_WINDOW, kernel) || !integers(o, 1, 2, 1, MAX_WINDOW, stride) ||
      !integers(o, 2, 4, 0, MAX_WINDOW, pad))
    return false;
  if (!number(o, 3, 1, 2) || !value(o, 4, 8, 4, &x) || !has_rank(o->y, 8, 4)) return false;
  for (uint32_t k = 0; k < 4; k++)
    if (pad[k] >= kernel[k / 2]) return false;
  uint32_t window[2] = {(uint32_t)kernel[0], (uint32_t)kernel[1]};
  o->terms = (uint64_t)window[0] * window[1];
  return o->y->dims[0] == x.dims[0] && o->y->dims[3] == x.dims[3] &&
         windows_fit(&x, o->y, window, stride, dilation, pad);
}

/* in: min max nan_mode x */
static bool clamp(operation *o) {
  pte_vgf_shape x;
  int32_t low = 0, high = 0;
  return pte_vgf_int(o->c, o->in[0], 8, &low) && pte_vgf_int(o->c, o->in[1], 8, &high) &&
         low <= high && number(o, 2, 1, 2) && value(o, 3, 8, 0, &x) && pte_vgf_same_shape(&x, o->y);
}

/* in: x1 x2; no broadcasting */
static bool add(operation *o) {
  pte_vgf_shape a, b;
  return value(o, 0, 32, 0, &a) && value(o, 1, 32, 0, &b) && pte_vgf_same_shape(&a, o->y) &&
         pte_vgf_same_shape(&b, o->y);
}

/* in: scale32 rounding per_channel x_unsigned y_unsigned x multiplier shift x_zero y_zero */
static bool rescale(operation *o) {
  bool flags[5] = {false};
  pte_vgf_shape x;
  for (uint32_t k = 0; k < 5; k++)
    if (k != 1 && !pte_vgf_bool(o->c, o->in[k], &flags[k])) return false;
  if (!flags[0] || flags[3] || flags[4] || !number(o, 1, 1, 1)) return false;
  if (!pte_vgf_value(o->c, o->in[5], &x) || x.rank != o->y->rank) return false;
  uint32_t count = flags[2] ? x.dims[x.rank - 1] : 1;
  for (uint32_t i = 0; i < count; i++) {
    int32_t multiplier = 0, shift = 0;
    if (!pte_vgf_element(o->c, o->in[6], 32, count, i, &multiplier) || multiplier < 0 ||
        !pte_vgf_element(o->c, o->in[7], 8, count, i, &shift) || shift < 2 || shift > 62)
      return false;
  }
  if (!zero_point(o, 8, x.bits) || !zero_point(o, 9, o->y->bits)) return false;
  x.bits = o->y->bits;
  return pte_vgf_same_shape(&x, o->y);
}

/* in: x shape */
static bool reshape(operation *o) {
  pte_vgf_shape x;
  int32_t dims[PTE_VGF_MAX_RANK];
  if (!pte_vgf_value(o->c, o->in[0], &x) || x.bits != o->y->bits) return false;
  if (!integers(o, 1, o->y->rank, 1, INT32_MAX, dims)) return false;
  for (uint32_t k = 0; k < o->y->rank; k++)
    if ((uint32_t)dims[k] != o->y->dims[k]) return false;
  return pte_vgf_elements(&x) == pte_vgf_elements(o->y);
}

/* in: perms x */
static bool transpose(operation *o) {
  pte_vgf_shape x;
  int32_t perm[PTE_VGF_MAX_RANK];
  uint32_t seen = 0;
  if (!value(o, 1, o->y->bits, o->y->rank, &x)) return false;
  if (!integers(o, 0, x.rank, 0, (int32_t)x.rank - 1, perm)) return false;
  for (uint32_t k = 0; k < x.rank; k++) {
    if (o->y->dims[k] != x.dims[perm[k]]) return false;
    seen |= UINT32_C(1) << perm[k];
  }
  return seen == (UINT32_C(1) << x.rank) - 1;
}

/* in: x start size */
static bool slice(operation *o) {
  pte_vgf_shape x;
  int32_t start[PTE_VGF_MAX_RANK], size[PTE_VGF_MAX_RANK];
  if (!value(o, 0, o->y->bits, o->y->rank, &x)) return false;
  if (!integers(o, 1, x.rank, 0, INT32_MAX, start) || !integers(o, 2, x.rank, 1, INT32_MAX, size))
    return false;
  for (uint32_t k = 0; k < x.rank; k++)
    if ((uint32_t)size[k] != o->y->dims[k] ||
        (uint64_t)(uint32_t)start[k] + (uint32_t)size[k] > x.dims[k])
      return false;
  return true;
}

/* Numbers of the extended instruction set TOSA.001000.1. */
static const struct {
  uint32_t opcode, operands;
  bool (*check)(operation *o);
} rows[] = {
    {2,  10, conv2d          },
    {4,  10, depthwise_conv2d},
    {7,  5,  max_pool2d      },
    {10, 4,  clamp           },
    {14, 2,  add             },
    {56, 2,  reshape         },
    {58, 3,  slice           },
    {60, 2,  transpose       },
    {65, 10, rescale         },
};

bool pte_vgf_tosa_check(const pte_vgf_code *c, uint32_t opcode, const uint32_t *operands,
                        uint32_t count, const pte_vgf_shape *result, uint64_t *out_steps) {
  operation o = {c, operands, result, 1};
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    if (rows[r].opcode != opcode) continue;
    if (rows[r].operands != count || !rows[r].check(&o)) return false;
    *out_steps = o.terms * pte_vgf_elements(result); /* at most 2^32 times 2^30 */
    return true;
  }
  return false;
}
