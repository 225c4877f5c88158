/* conv_depthwise: y[b, o, c] = sum over taps t, row-major, of x[b, o * stride + t * dilation -
 * begin, c] * w[c, t] (+ bias[c]), then the epilogue. x and y dense, channels last; w as taps
 * [c/16][t][16]; no aliasing. Each sum is one fused chain from +0 in which padding takes part as
 * zeros (DESIGN section 4). Vectors run over channels, six pixels at a time. */
#include <string.h>

#include "core/size.h"
#include "gen/ops.h"
#include "kernels/conv_window.h"
#include "kernels/epilogue.h"
#include "kernels/panels.h"

typedef struct depthwise_plan {
  const pte_call *call;
  const pte_depthwise_f32 *kernel;
  pte_conv_window w;
  size_t pixels, channels, taps;
  uint64_t epilogue_bytes, zeros_bytes, table_bytes; /* of scratch; a table for each thread */
  const float *zeros;                                /* one pixel */
  char *tables;
  const pte_engine *epilogue;
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
  PTE_TRY(pte_epilogue_scratch(call, a->steps, 3, &p->epilogue_bytes));
  bool fits = pte_mul(p->channels, sizeof(float), &p->zeros_bytes) &&
              pte_align(p->zeros_bytes, 64, &p->zeros_bytes) &&
              pte_mul(p->taps, sizeof(float *[PTE_STRIP]), &p->table_bytes) &&
              pte_align(p->table_bytes, 64, &p->table_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static void fill_pixel(const depthwise_plan *p, const pte_conv_pixel *pixel, const float **slot) {
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  const float *x = p->call->in[0]->data;
  x += pixel->batch * deep->in * high->in * wide->in * p->w.channels;
  for (int64_t d = 0; d < deep->kernel; d++)
    for (int64_t i = 0; i < high->kernel; i++) {
      int64_t z = pte_conv_place(deep, pixel->at[0], d), y = pte_conv_place(high, pixel->at[1], i);
      for (int64_t j = 0; j < wide->kernel; j++, slot += PTE_STRIP) {
        int64_t place = pte_conv_place(wide, pixel->at[2], j);
        bool outside = (z | y | place) < 0;
        *slot = outside ? p->zeros : x + ((z * high->in + y) * wide->in + place) * p->w.channels;
      }
    }
}

/* All channels of `rows` pixels from `first` on. */
static void strip_run(const depthwise_plan *p, size_t first, size_t rows, const float **table) {
  const float *w = p->call->in[1]->data,
              *bias = p->call->in[2] == NULL ? NULL : p->call->in[2]->data;
  pte_depthwise_tile_f32 s = {.row = table, .taps = p->taps, .out_stride = p->channels};
  for (size_t c = 0; c < p->channels; c += PTE_PANEL) {
    s.channel = c;
    s.lanes = p->channels - c < PTE_PANEL ? p->channels - c : PTE_PANEL;
    s.weight = w + c * p->taps;
    s.bias = bias == NULL ? NULL : bias + c;
    s.out = (float *)p->call->out[0]->data + first * p->channels + c;
    p->kernel->tile(rows, &s);
  }
}

static void depthwise_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_plan *p = context;
  const float **table = (const float **)(void *)(p->tables + p->table_bytes * thread);
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, begin * PTE_STRIP);
  for (size_t strip = begin; strip < end; strip++) {
    size_t first = strip * PTE_STRIP,
           rows = p->pixels - first < PTE_STRIP ? p->pixels - first : PTE_STRIP;
    for (size_t m = 0; m < rows; m++) {
      fill_pixel(p, &pixel, table + m);
      pte_conv_pixel_next(&p->w, &pixel);
    }
    strip_run(p, first, rows, table);
    if (p->epilogue != NULL)
      pte_epilogue_run(p->epilogue, thread, (int64_t)first, 0, (int64_t)(rows * p->channels),
                       (float *)p->call->out[0]->data + first * p->channels);
  }
}

static pte_status conv_depthwise_check(const pte_call *call) {
  const pte_conv_depthwise_attrs *a = call->attrs;
  const pte_conv_lists lists = lists_of(a);
  const pte_tensor *w = call->in[1];
  int64_t taps;
  PTE_TRY(pte_conv_window_check(call, &lists));
  PTE_TRY(pte_conv_taps(call, a->kernel, &taps));
  if (w->layout != PTE_TAPS || w->dtype != PTE_F32 || w->format != PTE_FORMAT_PLAIN)
    return pte_kernel_fail(call, PTE_UNSUPPORTED, "storage format of the taps", 1, -1, w->format,
                           PTE_FORMAT_PLAIN);
  if (taps != w->shape[1])
    return pte_kernel_fail(call, PTE_BAD_PROGRAM, "taps", 1, -1, w->shape[1], taps);
  return pte_epilogue_check(call, a->steps, 3);
}

static pte_status conv_depthwise_scratch(const pte_call *call, uint64_t *out_bytes) {
  depthwise_plan p;
  uint64_t tables, bytes;
  PTE_TRY(plan_of(call, &p));
  bool fits = pte_mul(p.table_bytes, call->threads, &tables) &&
              pte_add(p.zeros_bytes, p.epilogue_bytes, &bytes) && pte_add(bytes, tables, out_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status conv_depthwise_run(const pte_call *call) {
  const pte_conv_depthwise_attrs *a = call->attrs;
  depthwise_plan p;
  PTE_TRY(plan_of(call, &p));
  if (p.pixels == 0 || p.channels == 0) return PTE_OK;
  char *zeros = (char *)call->scratch + p.epilogue_bytes;
  p.zeros = memset(zeros, 0, (size_t)p.zeros_bytes);
  p.tables = zeros + p.zeros_bytes;
  p.epilogue = pte_epilogue_open(call, a->steps, 3, call->scratch);
  size_t strips = pte_strips(p.pixels), work = p.channels * p.taps * PTE_STRIP;
  pte_parallel(call, strips, 65536 / (work + 1) + 1, depthwise_task, &p);
  return pte_epilogue_close(p.epilogue, call);
}

const pte_kernel pte_conv_depthwise_kernel = {
    .check = conv_depthwise_check, .scratch = conv_depthwise_scratch, .run = conv_depthwise_run};
