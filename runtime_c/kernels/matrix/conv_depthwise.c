/* conv_depthwise: y[b, o, c] = sum over taps t, row-major, of x[b, o * stride + t * dilation -
 * begin, c] * w[c, t] (+ bias[c]), then the epilogue. x dense, y of any strides, channels last; w
 * as taps [c/16][t][16]; no aliasing. Each sum is one fused chain from +0 in which padding takes
 * part as zeros, never skipped. Vectors run over channels, six pixels at a time. */
#include <string.h>

#include "core/size.h"
#include "gen/ops.h"
#include "kernels/matrix/conv_window.h"
#include "kernels/matrix/epilogue.h"
#include "kernels/matrix/finish.h"
#include "kernels/matrix/panels.h"
#include "kernels/moving/place.h"

enum {
  CHUNK = 4096,     /* elements, about: half of a small L1 */
  MOST_TAPS = 65536 /* the row's; a tile of one pixel sums them all: PTE_CHUNK steps */
};

typedef struct depthwise_plan {
  const pte_call *call;
  const pte_depthwise_f32 *kernel;
  pte_conv_window w;
  size_t pixels, channels, taps, chunk; /* pixels of a chunk, a multiple of PTE_STRIP */
  float *out;
  size_t out_stride;
  const pte_tensor *place; /* NULL, or where results go that are not even */
  /* scratch: the epilogue's, one pixel of zeros, and for each thread a table and a block */
  uint64_t epilogue_bytes, zeros_bytes, table_bytes, share_bytes;
  const float *zeros;
  char *shares;
  pte_finish_f32 finish;
  const pte_engine *epilogue; /* NULL: the finish is all */
} depthwise_plan;

static pte_conv_lists lists_of(const pte_conv_depthwise_attrs *a) {
  return (pte_conv_lists){
      a->kernel, a->stride, a->dilation, a->begin, a->end, {0, 0}
  };
}

static pte_status plan_of(const pte_call *call, depthwise_plan *p) {
  const pte_conv_depthwise_attrs *a = call->attrs;
  const pte_conv_lists lists = lists_of(a);
  const pte_tensor *y = call->out[0];
  *p = (depthwise_plan){.call = call, .kernel = pte_depthwise_f32_pick(call->cpu)};
  p->w = pte_conv_window_of(call, &lists);
  p->pixels = (size_t)pte_tensor_span(y, 0, y->rank - 1u);
  p->channels = (size_t)p->w.channels;
  p->taps = (size_t)call->in[1]->shape[1];
  p->chunk = pte_strips(CHUNK / (p->channels + 1) + 1) * PTE_STRIP;
  p->out = y->data;
  if (!pte_place_even(y, &p->out_stride)) p->place = y, p->out_stride = p->channels;
  PTE_TRY(pte_epilogue_scratch(call, a->steps, 3, &p->epilogue_bytes));
  uint64_t block = 0;
  bool fits = pte_mul(p->channels, sizeof(float), &p->zeros_bytes) &&
              pte_mul(p->place == NULL ? 0 : p->chunk, p->zeros_bytes, &block) &&
              pte_align(block, 64, &block) && pte_align(p->zeros_bytes, 64, &p->zeros_bytes) &&
              pte_mul(p->taps, sizeof(float *[PTE_STRIP]), &p->table_bytes) &&
              pte_align(p->table_bytes, 64, &p->table_bytes) &&
              pte_add(p->table_bytes, block, &p->share_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

/* Pixels first .. first + count that are computed together, into the result or the thread's block.
 */
typedef struct depthwise_chunk {
  size_t first, count;
  float *out;
  size_t out_stride;
} depthwise_chunk;

/* All channels of `rows` pixels of the chunk, from `at` on. */
static bool strip_run(const depthwise_plan *p, pte_pace *pace, const depthwise_chunk *k, size_t at,
                      size_t rows, const float **table) {
  const float *w = p->call->in[1]->data;
  pte_depthwise_tile_f32 s = {.row = table, .taps = p->taps, .out_stride = k->out_stride};
  int64_t all = (int64_t)p->channels, cost = (int64_t)(rows * p->taps), end = 0;
  for (size_t c = 0; c < p->channels; c += PTE_PANEL) {
    int64_t now = (int64_t)c;
    if (now == end && (end += pte_pace_take(pace, all - now, cost, PTE_PANEL)) == now) return false;
    pte_finish_f32 finish = pte_finish_at(&p->finish, k->first + at, c);
    s.channel = c;
    s.lanes = p->channels - c < PTE_PANEL ? p->channels - c : PTE_PANEL;
    s.weight = w + c * p->taps;
    s.finish = &finish;
    s.out = k->out + at * k->out_stride + c;
    p->kernel->tile(rows, &s);
  }
  return true;
}

/* What follows the sums: the epilogue, dense rows as one span, and the way to a place that is not
 * even. */
static bool chunk_finish(const depthwise_plan *p, pte_pace *pace, const depthwise_chunk *k,
                         uint32_t thread) {
  size_t rows = k->count, span = p->channels;
  if (k->out_stride == p->channels) rows = 1, span = k->count * p->channels;
  for (size_t m = 0; p->epilogue != NULL && m < rows; m++) {
    if (!pte_pace_go(pace, (int64_t)span * p->epilogue->step_count)) return false;
    pte_epilogue_run(p->epilogue, thread, (int64_t)(k->first + m), 0, (int64_t)span,
                     k->out + m * k->out_stride);
  }
  for (size_t at = 0, count; p->place != NULL && at < p->channels; at += count) {
    count = (size_t)pte_pace_take(pace, (int64_t)(p->channels - at), (int64_t)k->count, 16);
    if (count == 0) return false;
    pte_place_put(p->place, k->first, k->count, at, count, k->out + at, k->out_stride);
  }
  return true;
}

static void depthwise_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_plan *p = context;
  const pte_conv_axis *axis = p->w.axis;
  char *scratch = p->shares + p->share_bytes * thread;
  const float **table = (const float **)(void *)scratch, *x = p->call->in[0]->data;
  int64_t image = axis[0].in * axis[1].in * axis[2].in * p->w.channels;
  size_t strip = p->taps > MOST_TAPS / 8 ? 1 : PTE_STRIP;
  pte_pace pace = pte_call_pace(p->call);
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, begin * p->chunk);
  for (size_t i = begin; i < end; i++) {
    depthwise_chunk k = {.first = i * p->chunk, .out_stride = p->out_stride};
    k.count = p->pixels - k.first < p->chunk ? p->pixels - k.first : p->chunk;
    k.out = p->place != NULL ? (float *)(void *)(scratch + p->table_bytes)
                             : p->out + k.first * p->out_stride;
    for (size_t at = 0; at < k.count; at += strip) {
      size_t rows = k.count - at < strip ? k.count - at : strip;
      for (size_t m = 0; m < rows; m++) {
        pte_conv_fill(&p->w, x + pixel.batch * image, p->zeros, &pixel, table + m);
        pte_conv_pixel_next(&p->w, &pixel);
      }
      if (!strip_run(p, &pace, &k, at, rows, table)) return;
    }
    if (!chunk_finish(p, &pace, &k, thread)) return;
  }
}

static pte_status conv_depthwise_scratch(const pte_call *call, uint64_t *out_bytes) {
  depthwise_plan p;
  uint64_t shares, bytes;
  PTE_TRY(plan_of(call, &p));
  bool fits = pte_mul(p.share_bytes, call->threads, &shares) &&
              pte_add(p.zeros_bytes, p.epilogue_bytes, &bytes) && pte_add(bytes, shares, out_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status conv_depthwise_run(const pte_call *call) {
  const pte_conv_depthwise_attrs *a = call->attrs;
  depthwise_plan p;
  PTE_TRY(plan_of(call, &p));
  if (p.pixels == 0 || p.channels == 0) return PTE_OK;
  char *zeros = (char *)call->scratch + p.epilogue_bytes;
  pte_pace pace = pte_call_pace(call);
  static const float zero = 0;
  if (!pte_row_move(&pace, zeros, 1, &zero, 0, (int64_t)p.zeros_bytes / 4, 4)) return PTE_CANCELLED;
  p.zeros = (const float *)(const void *)zeros;
  p.shares = zeros + p.zeros_bytes;
  if (!pte_finish_of(call, a->steps, 3, &p.finish))
    p.epilogue = pte_epilogue_open(call, a->steps, 3, call->scratch);
  size_t chunks = p.pixels / p.chunk + (p.pixels % p.chunk != 0);
  pte_parallel(call, chunks, 65536 / (p.chunk * p.channels * p.taps) + 1, depthwise_task, &p);
  return pte_epilogue_close(p.epilogue, call);
}

const pte_kernel pte_conv_depthwise_kernel = {.scratch = conv_depthwise_scratch,
                                              .run = conv_depthwise_run};
