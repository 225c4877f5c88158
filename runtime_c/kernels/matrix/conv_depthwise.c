/* conv_depthwise: y[b, o, c] = sum over taps t, row-major, of x[b, o * stride + t * dilation -
 * begin, c] * w[c, t] (+ bias[c]), then the epilogue. x dense, y of any strides, channels last; w
 * as taps [c/16][t][16]; no aliasing. Each sum is one fused chain from +0 in which padding takes
 * part as zeros, never skipped. */
#include <string.h>

#include "core/integer.h"
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/blocks.h"
#include "kernels/depthwise/depthwise.h"
#include "kernels/gemm/epilogue.h"
#include "kernels/moving/place.h"
#include "kernels/panels.h"

enum { TASK_WORK = 65536 }; /* products that are worth a band */

typedef struct depthwise_plan {
  const pte_call *call;
  pte_depthwise sums;
  size_t pixels, bands, band_unit, band_pixels;
  float *out;
  size_t out_stride;
  const pte_tensor *place; /* NULL, or where results go that are not even */
  pte_needs follows;       /* the epilogue's; kept behind the plan */
  /* scratch: the epilogue's, one pixel of zeros, and for each thread addresses, steps and a block
   */
  uint64_t zeros_bytes, table_bytes, share_bytes;
  char *shares;
  const pte_engine *epilogue; /* NULL: the finish is all */
} depthwise_plan;

/* Bands of pixels, about four for each thread where they are worth it; of whole lines, where there
 * are enough. */
static void plan_bands(depthwise_plan *p, size_t threads) {
  size_t work = p->sums.channels * p->sums.taps * p->pixels / TASK_WORK + 1;
  size_t wanted = threads <= 1 ? 1 : pte_least(4 * threads, work);
  const size_t band = pte_block_of(pte_call_machine(p->call), PTE_BLOCK_DEPTHWISE_BAND);
  p->bands = pte_most(pte_ceil_div(p->pixels, band / (p->sums.channels + 1) + 1), 1);
  p->bands = pte_ceil_div(p->bands, wanted) * wanted;
  size_t width = pte_most((size_t)p->sums.w.axis[2].out, 1);
  p->band_unit = p->pixels / width >= p->bands ? width : 1;
  p->band_pixels = pte_ceil_div(p->pixels / p->band_unit, p->bands) * p->band_unit;
}

static pte_status plan_of(const pte_call *call, depthwise_plan *p) {
  const pte_conv_depthwise_attrs *a = call->attrs;
  const pte_conv_lists lists = PTE_CONV_LISTS(a, PTE_NO_SPREAD);
  const pte_tensor *y = call->out[0];
  *p = (depthwise_plan){.call = call};
  p->sums = (pte_depthwise){.kernel = pte_depthwise_f32_pick(call->cpu),
                            .w = pte_conv_window_of(call, &lists),
                            .taps = (size_t)call->in[1]->shape[1],
                            .held = INT64_MAX};
  pte_depthwise_shape(&p->sums);
  p->pixels = (size_t)pte_tensor_span(y, 0, y->rank - 1u);
  plan_bands(p, call->threads);
  if (!pte_place_even(y, &p->out_stride)) p->place = y, p->out_stride = p->sums.channels;
  PTE_TRY(pte_epilogue_needs(call, a->steps, 3, &p->follows));
  uint64_t block = 0;
  bool fits = pte_mul(p->sums.channels, sizeof(float), &p->zeros_bytes) &&
              pte_mul(p->place == NULL ? 0 : p->band_pixels, p->zeros_bytes, &block) &&
              pte_align(block, 64, &block) && pte_align(p->zeros_bytes, 64, &p->zeros_bytes) &&
              pte_depthwise_room(&p->sums, &p->table_bytes) &&
              pte_add(p->table_bytes, block, &p->share_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

/* What follows the sums: the epilogue, dense rows as one span, and the way to a place that is not
 * even. */
static bool band_finish(const depthwise_plan *p, pte_pace *pace, const pte_depthwise_band *k,
                        uint32_t thread) {
  size_t rows = k->count, span = p->sums.channels;
  if (k->out_stride == p->sums.channels) rows = 1, span = k->count * p->sums.channels;
  for (size_t m = 0; p->epilogue != NULL && m < rows; m++) {
    if (!pte_pace_go(pace, (int64_t)span * p->epilogue->step_count)) return false;
    pte_epilogue_run(p->epilogue, thread, (int64_t)(k->first + m), 0, (int64_t)span,
                     k->out + m * k->out_stride);
  }
  for (size_t at = 0, count; p->place != NULL && at < p->sums.channels; at += count) {
    count = (size_t)pte_pace_take(pace, (int64_t)(p->sums.channels - at), (int64_t)k->count, 16);
    if (count == 0) return false;
    pte_place_put(p->place, k->first, k->count, at, count, k->out + at, k->out_stride);
  }
  return true;
}

static void depthwise_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_plan *p = context;
  char *scratch = p->shares + p->share_bytes * thread;
  pte_pace pace = pte_call_pace(p->call);
  for (size_t i = begin; i < end; i++) {
    const size_t units = p->pixels / p->band_unit;
    pte_depthwise_band k = {.first = units * i / p->bands * p->band_unit,
                            .out_stride = p->out_stride};
    k.count = units * (i + 1) / p->bands * p->band_unit - k.first;
    pte_depthwise_aim(&p->sums, scratch, &k);
    k.out = p->place != NULL ? (float *)(void *)(scratch + p->table_bytes)
                             : p->out + k.first * p->out_stride;
    if (k.count == 0) continue;
    if (!pte_depthwise_run(&p->sums, &pace, &k) || !band_finish(p, &pace, &k, thread)) return;
  }
}

static pte_status conv_depthwise_needs(const pte_call *call, pte_needs *out) {
  depthwise_plan p;
  PTE_TRY(plan_of(call, &p));
  bool fits = pte_mul(p.share_bytes, call->threads, &out->scratch) &&
              pte_add(out->scratch, p.zeros_bytes, &out->scratch) &&
              pte_add(out->scratch, p.follows.scratch, &out->scratch) &&
              pte_add(p.follows.kept, PTE_KEPT_BYTES(depthwise_plan), &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status conv_depthwise_keep(const pte_call *call) {
  const pte_conv_depthwise_attrs *a = call->attrs;
  depthwise_plan *p = call->kept;
  PTE_TRY(plan_of(call, p));
  p->sums.weight = call->in[1]->data;
  pte_epilogue_keep(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(depthwise_plan)));
  return PTE_OK;
}

static pte_status conv_depthwise_run(const pte_call *call) {
  const pte_conv_depthwise_attrs *a = call->attrs;
  depthwise_plan *p = call->kept;
  if (p->pixels == 0 || p->sums.channels == 0) return PTE_OK;
  char *zeros = (char *)call->scratch + p->follows.scratch;
  pte_pace pace = pte_call_pace(call);
  static const float zero = 0;
  if (!pte_row_move(&pace, zeros, 1, &zero, 0, (int64_t)p->zeros_bytes / 4, 4))
    return PTE_CANCELLED;
  p->call = call;
  p->sums.x = call->in[0]->data, p->out = call->out[0]->data;
  if (p->place != NULL) p->place = call->out[0];
  p->sums.zeros = (const float *)(const void *)zeros;
  p->shares = zeros + p->zeros_bytes;
  p->epilogue =
      pte_epilogue_open(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(depthwise_plan)),
                        call->scratch, &p->sums.finish);
  pte_parallel(call, p->bands, 1, depthwise_task, p);
  return pte_epilogue_close(p->epilogue, call);
}

const pte_kernel pte_conv_depthwise_kernel = {.needs = conv_depthwise_needs,
                                              .keep = conv_depthwise_keep,
                                              .run = conv_depthwise_run,
                                              .reads = 1u << 1};
