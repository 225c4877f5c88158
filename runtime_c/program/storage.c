/* How many bytes elements take: dense, in panels, in taps (docs/format.md as arithmetic). */
#include "core/size.h"
#include "program/program.h"
#include "pteron/types.h"

unsigned pte_element_bits(uint32_t dtype) { return pte_dtype_bits(dtype); }

/* Of an extent: below 2^63. */
static uint64_t ceil_to(uint64_t extent, uint64_t step) {
  return (extent + step - 1) / step * step;
}

static bool dense_bytes(uint32_t dtype, uint32_t rank, const int64_t *shape, uint64_t *out) {
  uint64_t bits = pte_element_bits(dtype);
  bool empty = false;
  for (uint32_t i = 0; i < rank; i++) {
    if (shape[i] == 0) empty = true;
    else if (!pte_mul(bits, (uint64_t)shape[i], &bits)) return false;
  }
  *out = empty ? 0 : bits / 8 + (bits % 8 != 0);
  return true;
}

/* Elements along K that one step of 64 bytes (or of one element a row) holds: K is padded to it. A
 * code of 3 or 6 bits lies in two planes, of which the lower one has two thirds of it. */
static uint32_t panel_step(uint32_t bits) {
  return bits > 8 ? 1 : (bits % 3 == 0 ? 96 : 32) / bits;
}

/* Rows of all groups, each padded to 16. */
static bool panel_rows(uint64_t n, uint32_t groups, uint64_t *out) {
  uint64_t g = groups > 1 ? groups : 1;
  return n % g == 0 && pte_mul(ceil_to(n / g, 16), g, out);
}

bool pte_is_format(uint32_t format, uint32_t block) {
  if (format == PTE_FORMAT_PLAIN) return block == 0;
  if (format >= PTE_FORMAT_COUNT || pte_format_rows[format].bits == 0) return false;
  return block == 0 ? pte_format_rows[format].outer_block == 0
                    : block >= PTE_LEAST_BLOCK && block <= PTE_MOST_BLOCK;
}

static bool panel_bytes(const pte_tensor *t, uint64_t *out) {
  const pte_format_row row = pte_format_rows[t->format];
  uint32_t bits = row.bits != 0 ? row.bits : pte_element_bits(t->dtype);
  uint64_t step = panel_step(bits), rows, k = (uint64_t)t->shape[1], bytes;
  if (!panel_rows((uint64_t)t->shape[0], t->groups, &rows) ||
      !pte_mul(rows, ceil_to(k, step), &bytes) || !pte_mul(bytes, bits, &bytes))
    return false;
  *out = bytes / 8;
  const uint8_t planes[] = {row.scale, row.second, row.outer, row.second != 0 ? row.outer : 0};
  for (unsigned i = 0; i < sizeof planes; i++) {
    if (planes[i] == 0) continue;
    uint32_t block = i < 2 ? t->block : row.outer_block;
    uint64_t blocks = block == 0 ? 1 : (k + (1u << block) - 1) >> block; /* k is positive */
    if (!pte_mul(rows, blocks, &bytes) ||
        !pte_mul(bytes, pte_element_bits(planes[i]) / 8, &bytes) || !pte_add(*out, bytes, out))
      return false;
  }
  return true;
}

static bool taps_bytes(uint32_t dtype, const int64_t *shape, uint64_t *out) {
  uint64_t count, bytes = pte_element_bits(dtype) / 8;
  return bytes != 0 && pte_mul(ceil_to((uint64_t)shape[0], 16), (uint64_t)shape[1], &count) &&
         pte_mul(count, bytes, out);
}

bool pte_storage_bytes(const pte_tensor *t, uint64_t *out) {
  uint64_t bytes = 0;
  bool fits = false;
  if (pte_element_bits(t->dtype) == 0 || !pte_is_format(t->format, t->block)) return false;
  if (t->layout == PTE_STRIDED && t->format == PTE_FORMAT_PLAIN)
    fits = dense_bytes(t->dtype, t->rank, t->shape, &bytes);
  else if (t->layout == PTE_PANELS && t->rank == 2) fits = panel_bytes(t, &bytes);
  else if (t->layout == PTE_TAPS && t->rank == 2 && t->format == PTE_FORMAT_PLAIN)
    fits = taps_bytes(t->dtype, t->shape, &bytes);
  if (!fits || bytes > INT64_MAX) return false;
  *out = bytes;
  return true;
}
