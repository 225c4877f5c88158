/* conv_depthwise: y[b, o, c] = sum over taps t, row-major, of x[b, o * stride + t * dilation -
 * begin, c] * w[c, t] (+ bias[c]), then the epilogue. x and y dense, channels last; w as taps
 * [c/16][t][16]; no aliasing. Each sum is one fused chain from +0 in which padding takes part as
 * zeros (DESIGN section 4). Vectors run over channels, six pixels at a time. */
#include <string.h>

#include "core/size.h"
#include "gen/ops.h"
#include "kernels/conv_window.h"
#include "kernels/epilogue.h"
#include "kernels/finish.h"
#include "kernels/panels.h"

enum { EPILOGUE_SPAN = 4096 }; /* elements: a quarter of a small L1 */

typedef struct depthwise_plan {
  const pte_call *call;
  const pte_depthwise_f32 *kernel;
  pte_conv_window w;
  size_t pixels, channels, taps;
  uint64_t epilogue_bytes, zeros_bytes, table_bytes; /* of scratch; a table for each thread */
  const float *zeros;                                /* one pixel */
  char *tables;
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
  PTE_TRY(pte_epilogue_scratch(call, a->steps, 3, &p->epilogue_bytes));
  bool fits = pte_mul(p->channels, sizeof(float), &p->zeros_bytes) &&
              pte_align(p->zeros_bytes, 64, &p->zeros_bytes) &&
              pte_mul(p->taps, sizeof(float *[PTE_STRIP]), &p->table_bytes) &&
              pte_align(p->table_bytes, 64, &p->table_bytes);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

/* All channels of `rows` pixels from `first` on. */
static void strip_run(const depthwise_plan *p, size_t first, size_t rows, const float **table) {
  const float *w = p->call->in[1]->data;
  pte_depthwise_tile_f32 s = {.row = table, .taps = p->taps, .out_stride = p->channels};
  for (size_t c = 0; c < p->channels; c += PTE_PANEL) {
    s.channel = c;
    s.lanes = p->channels - c < PTE_PANEL ? p->channels - c : PTE_PANEL;
    s.weight = w + c * p->taps;
    pte_finish_f32 finish = pte_finish_at(&p->finish, first, c);
    s.finish = &finish;
    s.out = (float *)p->call->out[0]->data + first * p->channels + c;
    p->kernel->tile(rows, &s);
  }
}

/* The pixels begin .. end, whose sums are complete, in long spans. */
static void epilogue_run(const depthwise_plan *p, size_t begin, size_t end, uint32_t thread) {
  float *y = (float *)p->call->out[0]->data + begin * p->channels;
  pte_epilogue_run(p->epilogue, thread, (int64_t)begin, 0, (int64_t)((end - begin) * p->channels),
                   y);
}

static void depthwise_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_plan *p = context;
  const pte_conv_axis *axis = p->w.axis;
  const float **table = (const float **)(void *)(p->tables + p->table_bytes * thread);
  const float *x = p->call->in[0]->data;
  int64_t image = axis[0].in * axis[1].in * axis[2].in * p->w.channels;
  size_t first = begin * PTE_STRIP,
         last = end * PTE_STRIP < p->pixels ? end * PTE_STRIP : p->pixels;
  size_t pending = first;
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, first);
  for (; first < last; first += PTE_STRIP) {
    size_t rows = last - first < PTE_STRIP ? last - first : PTE_STRIP;
    for (size_t m = 0; m < rows; m++) {
      pte_conv_fill(&p->w, x + pixel.batch * image, p->zeros, &pixel, table + m);
      pte_conv_pixel_next(&p->w, &pixel);
    }
    strip_run(p, first, rows, table);
    if (p->epilogue == NULL || (first + rows - pending) * p->channels < EPILOGUE_SPAN) continue;
    epilogue_run(p, pending, first + rows, thread);
    pending = first + rows;
  }
  if (p->epilogue != NULL && pending < last) epilogue_run(p, pending, last, thread);
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
  if (!pte_finish_of(call, a->steps, 3, &p.finish))
    p.epilogue = pte_epilogue_open(call, a->steps, 3, call->scratch);
  size_t strips = pte_strips(p.pixels), work = p.channels * p.taps * PTE_STRIP;
  pte_parallel(call, strips, 65536 / (work + 1) + 1, depthwise_task, &p);
  return pte_epilogue_close(p.epilogue, call);
}

const pte_kernel pte_conv_depthwise_kernel = {
    .check = conv_depthwise_check, .scratch = conv_depthwise_scratch, .run = conv_depthwise_run};
