/* conv_block: y = conv(depthwise(conv(x, expand)), w), each with what follows it: a product that
 * makes more channels of a pixel, windows of each channel, a product that makes few again; the
 * first may be missing. x [b, i, j, c] dense, y [b, p, q, n] dense, channels last; no aliasing. The
 * bits are those of the three operators, whose tiles and rows these are.
 *
 * What is between them is there for a few lines of y at a time: a thread goes down its lines, keeps
 * the expanded ones that windows read in a ring, which stays in L2, and finds them there when it
 * goes on where it ended. Where it begins elsewhere it makes those above anew, kernel - stride of
 * them. */
#include "core/integer.h"
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/depthwise/depthwise.h"
#include "kernels/gemm/gemm_plain.h"

typedef struct block_plan {
  const pte_call *call;
  pte_gemm expand, project; /* of the pixels that go together */
  pte_plain_panels expand_panels, project_panels;
  pte_depthwise middle;
  int64_t high, wide, out_high, out_wide; /* pixels */
  int64_t lines, expand_lines;            /* that go together */
  pte_needs follows; /* the epilogue's; kept behind the plan, scratch in front of the rest */
  uint64_t zeros_bytes, ring_bytes, between_bytes, table_bytes, share_bytes;
  char *shares;
  const pte_engine *epilogue;
} block_plan;

/* What a thread has for itself; behind it are the ring, pixels between the windows and the last
 * product, addresses of windows, and scratch of pte_gemm_part. */
typedef struct block_share {
  _Alignas(64) int64_t first, end; /* lines of x, through all images, that were expanded one behind
                                      the other: the last ones are in the ring */
} block_share;

static pte_gemm product_of(const pte_call *call, int64_t rows, int64_t columns, int64_t run) {
  return (pte_gemm){.groups = 1,
                    .rows = (size_t)rows,
                    .columns = (size_t)columns,
                    .taps = 1,
                    .run = (size_t)run,
                    .fill = pte_matrix_fill,
                    .lines = pte_matrix_lines((size_t)rows, (size_t)run, (size_t)run),
                    .panels = {.read = pte_plain_panels_read},
                    .cut = pte_gemm_cut_of(pte_call_machine(call)),
                    .out_stride = (size_t)columns};
}

static pte_conv_axis axis_of(const pte_conv_block_attrs *a, int64_t in, int64_t out) {
  return (pte_conv_axis){in, out, a->kernel, a->stride, 1, a->begin, 1};
}

/* Bytes of a x b x c floats, a multiple of 64. */
static bool floats(int64_t a, int64_t b, size_t c, uint64_t *out_bytes) {
  return pte_mul((uint64_t)a, (uint64_t)b, out_bytes) && pte_mul(*out_bytes, c, out_bytes) &&
         pte_mul(*out_bytes, sizeof(float), out_bytes) && pte_align(*out_bytes, 64, out_bytes);
}

/* What lies behind a share. */
static bool plan_share(block_plan *p, int64_t ring_lines) {
  const size_t channels = p->middle.channels;
  uint64_t expand, project;
  bool fits = floats(ring_lines, p->wide, channels, &p->ring_bytes) &&
              floats(p->lines, p->out_wide, channels, &p->between_bytes) &&
              pte_depthwise_room(&p->middle, &p->table_bytes) &&
              pte_gemm_scratch(&p->expand, 1, &expand) &&
              pte_gemm_scratch(&p->project, 1, &project) &&
              pte_add(expand > project ? expand : project, sizeof(block_share), &p->share_bytes) &&
              pte_add(p->share_bytes, p->ring_bytes, &p->share_bytes) &&
              pte_add(p->share_bytes, p->between_bytes, &p->share_bytes) &&
              pte_add(p->share_bytes, p->table_bytes, &p->share_bytes);
  return fits && floats(1, 1, channels, &p->zeros_bytes);
}

static bool plan_of(const pte_call *call, block_plan *p) {
  const pte_conv_block_attrs *a = call->attrs;
  const pte_tensor *x = call->in[0], *y = call->out[0], *taps = call->in[3];
  const int64_t channels = taps->shape[0];
  *p = (block_plan){.call = call,
                    .high = x->shape[1],
                    .wide = x->shape[2],
                    .out_high = y->shape[1],
                    .out_wide = y->shape[2]};
  /* pixels that go together: whole tiles of the products */
  const int64_t pass = (int64_t)pte_block_of(pte_call_machine(call), PTE_BLOCK_CONV_PIXELS);
  p->lines = pte_most_i64(1, pte_least_i64(p->out_high, pass / pte_most_i64(p->out_wide, 1)));
  p->expand_lines = pte_most_i64(1, pass / pte_most_i64(p->wide, 1));
  const int64_t ring = call->in[1] == NULL ? 0 : (p->lines - 1) * a->stride + a->kernel;
  p->middle = (pte_depthwise){.kernel = pte_depthwise_f32_pick(call->cpu),
                              .taps = (size_t)taps->shape[1],
                              .held = call->in[1] == NULL ? INT64_MAX : ring};
  p->middle.w = (pte_conv_window){
      {{1, 1, 1, 1, 1, 0, 1}, axis_of(a, p->high, p->out_high), axis_of(a, p->wide, p->out_wide)},
      x->shape[0],
      channels
  };
  pte_depthwise_shape(&p->middle);
  p->expand = product_of(call, p->expand_lines * p->wide, channels, x->shape[3]);
  p->project = product_of(call, p->lines * p->out_wide, y->shape[3], channels);
  return pte_epilogue_needs(call, a->steps, 7, &p->follows) == PTE_OK && plan_share(p, ring);
}

/* `rows` pixels from x on, the first of them number `first` of all, to `out`. */
static bool product_run(const block_plan *p, pte_pace *pace, const pte_gemm *of, const float *x,
                        int64_t first, int64_t rows, float *out, void *scratch) {
  const pte_matrix source = {x, of->run, 0};
  pte_gemm g = *of;
  g.source = &source, g.out = out, g.watch = p->call->watch;
  g.finish = pte_finish_at(&of->finish, (size_t)first, 0);
  if (!pte_pace_go(pace, rows * (int64_t)(g.columns * g.run))) return false;
  pte_gemm_part(&g, p->call->cpu, scratch, 0, (size_t[]){0, (size_t)rows},
                (size_t[]){0, pte_panel_count(g.columns)});
  return true;
}

/* Lines of x up to `end` into the ring, from `first` on as far as they are not there. */
static bool expand_run(const block_plan *p, pte_pace *pace, block_share *s, int64_t first,
                       int64_t end, float *ring, void *scratch) {
  const int64_t held = p->middle.held;
  if (first < s->first || first > s->end || first < s->end - held) s->first = s->end = first;
  while (s->end < end) {
    const int64_t at = s->end % held,
                  count = pte_least_i64(pte_least_i64(end - s->end, held - at), p->expand_lines);
    const float *x =
        (const float *)p->call->in[0]->data + s->end * p->wide * (int64_t)p->expand.run;
    float *out = ring + at * p->wide * (int64_t)p->middle.channels;
    if (!product_run(p, pace, &p->expand, x, 0, count * p->wide, out, scratch)) return false;
    s->end += count;
  }
  return true;
}

/* `count` lines of one image from `line` on, through all images. */
static bool lines_run(const block_plan *p, pte_pace *pace, uint32_t thread, int64_t line,
                      int64_t count) {
  const pte_conv_axis *down = &p->middle.w.axis[1];
  const int64_t image = line / p->out_high * p->high, top = line % p->out_high * down->stride;
  const int64_t pixel = line * p->out_wide, pixels = count * p->out_wide;
  block_share *share = (block_share *)(void *)(p->shares + p->share_bytes * thread);
  char *ring = (char *)(share + 1), *between = ring + p->ring_bytes;
  char *table = between + p->between_bytes, *scratch = table + p->table_bytes;
  pte_depthwise middle = p->middle;
  if (p->call->in[1] != NULL) {
    const int64_t first = pte_least_i64(pte_most_i64(top - down->begin, 0), p->high);
    const int64_t end =
        pte_least_i64(top - down->begin + (count - 1) * down->stride + down->kernel, p->high);
    middle.x = (float *)(void *)ring;
    if (!expand_run(p, pace, share, image + first, image + end, (float *)(void *)ring, scratch))
      return false;
  }
  pte_depthwise_band band = {.first = (size_t)pixel, .count = (size_t)pixels};
  band.out = (float *)(void *)between, band.out_stride = middle.channels;
  pte_depthwise_aim(&middle, table, &band);
  float *y = (float *)p->call->out[0]->data + pixel * (int64_t)p->project.columns;
  if (!pte_depthwise_run(&middle, pace, &band) ||
      !product_run(p, pace, &p->project, band.out, pixel, pixels, y, scratch))
    return false;
  const int64_t span = pixels * (int64_t)p->project.columns;
  if (p->epilogue == NULL) return true;
  if (!pte_pace_go(pace, span * p->epilogue->step_count)) return false;
  pte_epilogue_run(p->epilogue, thread, pixel, 0, span, y);
  return true;
}

static void block_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const block_plan *p = context;
  pte_pace pace = pte_call_pace(p->call);
  for (int64_t at = (int64_t)begin, count; at < (int64_t)end; at += count) {
    count =
        pte_least_i64(pte_least_i64(p->lines, (int64_t)end - at), p->out_high - at % p->out_high);
    if (!lines_run(p, &pace, thread, at, count)) return;
  }
}

static pte_status conv_block_needs(const pte_call *call, pte_needs *out) {
  block_plan p;
  bool fits = plan_of(call, &p) && pte_mul(p.share_bytes, call->threads, &out->scratch) &&
              pte_add(out->scratch, p.zeros_bytes, &out->scratch) &&
              pte_add(out->scratch, p.follows.scratch, &out->scratch) &&
              pte_add(p.follows.kept, PTE_KEPT_BYTES(block_plan), &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

/* `limits`: of the first or second convolution, whose words are the same. */
_Static_assert((int)PTE_CONV_BLOCK_FIRST_NONE == (int)PTE_CONV_BLOCK_SECOND_NONE &&
                   (int)PTE_CONV_BLOCK_FIRST_RELU6 == (int)PTE_CONV_BLOCK_SECOND_RELU6,
               "schema/ops_matrix.py");
static pte_finish_f32 finish_of(const pte_tensor *bias, uint32_t limits) {
  return (pte_finish_f32){.add = {bias == NULL ? NULL : bias->data},
                          .high = 6,
                          .at_least = limits != PTE_CONV_BLOCK_FIRST_NONE,
                          .at_most = limits == PTE_CONV_BLOCK_FIRST_RELU6};
}

static pte_status conv_block_keep(const pte_call *call) {
  const pte_conv_block_attrs *a = call->attrs;
  block_plan *p = call->kept;
  if (!plan_of(call, p)) return PTE_NO_MEMORY;
  if (call->in[1] != NULL) p->expand_panels = (pte_plain_panels){call->in[1]->data, p->expand.run};
  p->project_panels = (pte_plain_panels){call->in[2]->data, p->project.run};
  p->expand.panels.self = &p->expand_panels, p->project.panels.self = &p->project_panels;
  p->expand.finish = finish_of(call->in[4], a->first);
  p->middle.weight = call->in[3]->data;
  p->middle.finish = finish_of(call->in[5], a->second);
  pte_epilogue_keep(call, a->steps, 7, pte_call_behind(call, PTE_KEPT_BYTES(block_plan)));
  return PTE_OK;
}

static pte_status conv_block_run(const pte_call *call) {
  const pte_conv_block_attrs *a = call->attrs;
  block_plan *p = call->kept;
  static const float zero = 0;
  if (pte_tensor_count(call->out[0]) == 0) return PTE_OK;
  char *zeros = (char *)call->scratch + p->follows.scratch;
  pte_pace pace = pte_call_pace(call);
  if (!pte_row_move(&pace, zeros, 1, &zero, 0, (int64_t)p->middle.channels, 4))
    return PTE_CANCELLED;
  p->call = call;
  p->shares = zeros + p->zeros_bytes;
  for (uint32_t i = 0; i < call->threads; i++)
    *(block_share *)(void *)(p->shares + p->share_bytes * i) = (block_share){0, 0};
  p->middle.x = call->in[0]->data;
  p->middle.zeros = (const float *)(const void *)zeros;
  p->epilogue =
      pte_epilogue_open(call, a->steps, 7, pte_call_behind(call, PTE_KEPT_BYTES(block_plan)),
                        call->scratch, &p->project.finish);
  pte_parallel(call, (size_t)(call->out[0]->shape[0] * p->out_high), (size_t)p->lines, block_task,
               p);
  return pte_epilogue_close(p->epilogue, call);
}

const pte_kernel pte_conv_block_kernel = {.needs = conv_block_needs,
                                          .keep = conv_block_keep,
                                          .run = conv_block_run,
                                          .reads = 0x3e /* weights and the first two biases */};
