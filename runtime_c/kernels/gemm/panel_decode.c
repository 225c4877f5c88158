#include "kernels/gemm/panel_decode.h"

#include "core/integer.h"
#include "core/kept.h"
#include "kernels/blocks.h"

PTE_LEVEL_TABLES

enum { ROW = 8 * sizeof(size_t) - 1 };

/* Whether kernels/gemm/panel_floats.h may take it. */
static bool is_floats(const pte_format_row *row, uint32_t codes, size_t k) {
  return (codes == PTE_FORMAT_E4M3 || codes == PTE_FORMAT_MXFP8_E5M2) && k % 4 == 0 &&
         (row->scale == PTE_F32 || row->scale == PTE_F8E8M0) && row->second == 0 && row->outer == 0;
}

/* A whole row where there is no exponent. */
static size_t size_of(unsigned exponent) {
  return exponent == 0 ? SIZE_MAX : (size_t)1 << exponent;
}

/* The planes behind the codes, in order. */
static void planes_place(pte_stored *s, size_t panels, const pte_format_row *row) {
  const uint8_t dtypes[] = {row->scale, row->second, row->outer, row->second ? row->outer : 0};
  const uint8_t *at = s->scales;
  for (size_t i = 0; i < PTE_STORED_PLANES; i++) {
    if (dtypes[i] == 0) continue;
    s->planes[i] = at;
    at += panels * (i < 2 ? s->blocks : s->outers) * PTE_PANEL * (pte_dtype_bits(dtypes[i]) / 8);
  }
}

pte_stored pte_stored_of(const pte_tensor *w, const pte_call *call) {
  const pte_machine *machine = pte_call_machine(call);
  const pte_format_row *row = &pte_format_rows[w->format];
  size_t k = (size_t)w->shape[1], groups = w->groups > 1 ? w->groups : 1;
  size_t panels = groups * pte_panel_count((size_t)w->shape[0] / groups);
  pte_stored s = {.codes = w->data,
                  .depth = k,
                  .block = size_of(w->block),
                  .blocks = w->block == 0 ? 1 : pte_ceil_div(k, size_of(w->block)),
                  .outer_block = size_of(row->outer_block),
                  .outers = row->outer_block == 0 ? 1 : pte_ceil_div(k, size_of(row->outer_block)),
                  .format = w->format,
                  .scale_bytes = pte_dtype_bits(row->scale) / 8,
                  .block_exponent = w->block == 0 ? ROW : w->block - 5u,
                  .floats = is_floats(row, pte_format_codes(w->format), k),
                  .many_misses = pte_machine_many_misses(machine),
                  .far_memory = pte_machine_far_memory(machine),
                  .turn_bytes = (uint32_t)pte_block_of(machine, PTE_BLOCK_INT8_TURN)};
  switch (row->bits) {
  case 2: s.steps = pte_ceil_div(k, 16); break;
  case 3: s.steps = pte_ceil_div(k, 32) * 2; break;
  case 4: s.steps = pte_ceil_div(k, 8); break;
  case 6: s.steps = pte_ceil_div(k, 16) * 2; break;
  default: s.steps = pte_ceil_div(k, 4); break;
  }
  if (s.codes == NULL) return s; /* at prepare there are shapes only */
  s.high = s.codes + panels * s.steps * 64;
  s.scales = s.high + (row->bits % 3 == 0 ? panels * s.steps * 32 : 0);
  planes_place(&s, panels, row);
  return s;
}

uint32_t pte_panel_codes(uint32_t format) { return pte_format_codes(format); }

pte_panels pte_weight_panels(const pte_tensor *w, const pte_call *call, pte_weight *memory) {
  if (!PTE_STORED_KEPT || w->format == PTE_FORMAT_PLAIN) {
    memory->plain = (pte_plain_panels){w->data, (size_t)w->shape[1]};
    return (pte_panels){.read = pte_plain_panels_read, .self = &memory->plain};
  }
  const pte_panel_decode *decode = pte_panel_decode_pick(call->cpu);
  pte_stored *s = &memory->stored;
  *s = pte_stored_of(w, call);
  return (pte_panels){decode->read, s->floats ? decode->few : NULL, s, true, s->floats};
}
