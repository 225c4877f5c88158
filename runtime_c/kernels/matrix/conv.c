/* conv: y[b, o, n] = sum over taps t, then channels c of the group, of x[b, o * stride + t *
 * dilation - begin, c] * w[n, t, c]
 * (+ bias[n]), then the epilogue. x [b, *i, c] dense, y [b, *o, n] of any strides, channels
 * last; no aliasing.
 * Each sum is one fused chain from +0 in which padding takes part as zeros, never skipped.
 *
 * It is the matrix product of gemm.h over rows that are given by pointers into x (an indirect
 * convolution: no im2col), built for one block of rows at a time. Source: Dukhan 2019. With few
 * channels the taps along the last axis lie one behind the other in memory and are one run; only
 * windows that leave x are copied then. Variants that take rows which lie evenly get the lines that
 * a line of y reads as a copy with its padding, in which the taps of the last axis always are one
 * run. */
#include <string.h>

#include "core/size.h"
#include "gen/ops.h"
#include "kernels/gemm/panel_decode.h"
#include "kernels/window/conv_window.h"

enum { FEW_CHANNELS = 16 };

typedef struct conv_source {
  pte_conv_window w;
  const float *x, *zeros; /* zeros: one run */
  size_t group_channels;
  bool joined;   /* the taps of the last axis are one run */
  bool whole;    /* lines are copied as a whole, so that */
  int64_t pitch; /* copies are so many floats apart */
} conv_source;

/* --- rows by pointers
 * -----------------------------------------------------------------------------------------------
 */

/* The taps along the last axis as one run of the line; a window that leaves the line is copied. */
static const float *run_of(const conv_source *s, const float *line, int64_t at, float *copy) {
  const pte_conv_axis *axis = &s->w.axis[2];
  int64_t place = at * axis->stride - axis->begin, channels = s->w.channels;
  if (place >= 0 && place + axis->kernel <= axis->in) return line + place * channels;
  for (int64_t j = 0; j < axis->kernel; j++) {
    bool inside = place + j >= 0 && place + j < axis->in;
    memcpy(copy + j * channels, inside ? line + (place + j) * channels : s->zeros,
           (size_t)channels * sizeof *copy);
  }
  return copy;
}

/* The rows of a window, each one run. */
static void fill_runs(const conv_source *s, const float *image, const pte_conv_pixel *pixel,
                      const float **slot, float *copy) {
  const pte_conv_axis *deep = &s->w.axis[0], *high = &s->w.axis[1], *wide = &s->w.axis[2];
  for (int64_t d = 0; d < deep->kernel; d++) {
    int64_t z = pte_conv_place(deep, pixel->at[0], d);
    for (int64_t i = 0; i < high->kernel;
         i++, slot += PTE_STRIP, copy += wide->kernel * s->w.channels) {
      int64_t y = z < 0 ? -1 : pte_conv_place(high, pixel->at[1], i);
      int64_t line = (z * high->in + y) * wide->in * s->w.channels;
      *slot = y < 0 ? s->zeros : run_of(s, image + line, pixel->at[2], copy);
    }
  }
}

/* A window that lies between the ends of x's lines. */
static bool is_inside(const pte_conv_axis *axis, int64_t at) {
  int64_t place = at * axis->stride - axis->begin;
  return axis->spread == 1 && place >= 0 && place + (axis->kernel - 1) * axis->dilation < axis->in;
}

/* The window beside the one whose addresses are at `before`; those of zeros stay. */
static void fill_beside(const conv_source *s, size_t taps, const float *const *before,
                        const float **slot) {
  const int64_t step = s->w.axis[2].stride * s->w.channels;
  for (size_t t = 0; t < taps * PTE_STRIP; t += PTE_STRIP)
    slot[t] = before[t] == s->zeros ? s->zeros : before[t] + step;
}

static bool conv_fill(const void *source, const pte_gemm_rows *rows) {
  const conv_source *s = source;
  const float **before = NULL;
  int64_t image = s->w.axis[0].in * s->w.axis[1].in * s->w.axis[2].in * s->w.channels;
  size_t copy_floats = s->joined ? rows->taps * (size_t)(s->w.axis[2].kernel * s->w.channels) : 0;
  pte_conv_pixel pixel = pte_conv_pixel_at(&s->w, rows->first);
  pte_gemm_walk walk = pte_gemm_walk_begin(rows);
  int64_t cost = (int64_t)(rows->taps + copy_floats), count = (int64_t)rows->count;
  for (int64_t r = 0, end = 0; r < count; r++) {
    const float *x = s->x + pixel.batch * image + rows->group * s->group_channels;
    const float **slot = pte_gemm_walk_next(&walk);
    if (r == end && (end += pte_pace_take(rows->pace, count - r, cost, 1)) == r) return false;
    const bool inside = is_inside(&s->w.axis[2], pixel.at[2]);
    if (inside && before != NULL && pixel.at[2] > 0) fill_beside(s, rows->taps, before, slot);
    else if (s->joined) fill_runs(s, x, &pixel, slot, rows->copy + (size_t)r * copy_floats);
    else pte_conv_fill(&s->w, x, s->zeros, &pixel, slot);
    before = inside ? slot : NULL;
    pte_conv_pixel_next(&s->w, &pixel);
  }
  return true;
}

/* --- rows that lie evenly
 * ------------------------------------------------------------------------------------------- */

/* A row of x itself: windows of one pixel, none of which is padding. */
static const float *piece_in_place(const void *source, pte_gemm_piece *piece) {
  const conv_source *s = source;
  const pte_conv_axis *axis = s->w.axis;
  const pte_conv_pixel pixel = pte_conv_pixel_at(&s->w, piece->first);
  int64_t at = pixel.batch;
  for (unsigned i = 0; i < PTE_CONV_AXES; i++)
    at = at * axis[i].in + pixel.at[i] * axis[i].stride - axis[i].begin;
  return s->x + at * s->w.channels + piece->group * s->group_channels;
}

/* Pixels `place` .. + `count` of a line of x, NULL: of padding, with zeros where it has none. */
static void line_copy(const conv_source *s, const float *line, int64_t place, int64_t count,
                      float *to) {
  const int64_t in = s->w.axis[2].in, channels = s->w.channels;
  int64_t before = place < 0 ? -place : 0, end = place + count < in ? count : in - place;
  if (line == NULL || end <= before) before = end = count;
  memset(to, 0, (size_t)(before * channels) * sizeof *to);
  if (before < end)
    memcpy(to + before * channels, line + (place + before) * channels,
           (size_t)((end - before) * channels) * sizeof *to);
  memset(to + end * channels, 0, (size_t)((count - end) * channels) * sizeof *to);
}

/* Lines that the windows of the line above read, too: they are there. */
static int64_t lines_shared(const conv_source *s, const pte_gemm_piece *piece, int64_t at) {
  const pte_conv_axis *high = &s->w.axis[1];
  bool shares = piece->follows && s->whole && at > 0 && s->w.axis[0].kernel == 1;
  return shares && high->dilation == 1 && high->kernel > high->stride ? high->kernel - high->stride
                                                                      : 0;
}

/* What the windows of the piece's rows read, line by line, with the padding; all of a line, if it
 * is not long, so that the next piece finds there what it reads. */
static const float *piece_copied(const void *source, pte_gemm_piece *piece) {
  const conv_source *s = source;
  const pte_conv_axis *deep = &s->w.axis[0], *high = &s->w.axis[1], *wide = &s->w.axis[2];
  const pte_conv_pixel pixel = pte_conv_pixel_at(&s->w, piece->first);
  const int64_t first = s->whole ? 0 : pixel.at[2];
  const int64_t last = s->whole ? wide->out - 1 : first + (int64_t)piece->count - 1;
  const int64_t place = first * wide->stride - wide->begin;
  const int64_t columns = (last - first) * wide->stride + wide->kernel;
  const int64_t shared = lines_shared(s, piece, pixel.at[1]);
  const float *x = piece->room - shared * s->pitch;
  for (int64_t d = 0; d < deep->kernel; d++) {
    int64_t z = pte_conv_place(deep, pixel.at[0], d);
    for (int64_t i = shared; i < high->kernel; i++, piece->room += s->pitch) {
      int64_t y = z < 0 ? -1 : pte_conv_place(high, pixel.at[1], i);
      int64_t line = ((pixel.batch * deep->in + z) * high->in + y) * wide->in;
      if (!pte_pace_go(piece->pace, columns * s->w.channels)) return NULL;
      line_copy(s, y < 0 ? NULL : s->x + line * s->w.channels, place, columns, piece->room);
    }
  }
  return x + (pixel.at[2] - first) * wide->stride * s->w.channels;
}

static bool inside(const pte_conv_axis *axis) {
  return axis->spread == 1 && axis->begin <= 0 &&
         (axis->out - 1) * axis->stride + (axis->kernel - 1) * axis->dilation - axis->begin <
             axis->in;
}

/* Windows of one pixel where they lie, others in copies of their lines; where these would hold more
 * than what the windows read, pixel by pixel after all. */
static pte_gemm_lines lines_of_rows(conv_source *s, size_t groups, const pte_gemm_cut *cut) {
  const int64_t most = (int64_t)pte_gemm_block(cut, PTE_BLOCK_GEMM_ROWS);
  const pte_conv_axis *axis = s->w.axis;
  const int64_t taps = axis[0].kernel * axis[1].kernel, width = axis[2].out;
  pte_gemm_lines lines = {.width = (size_t)width, .taps = (size_t)taps};
  lines.run = (size_t)axis[2].kernel * s->group_channels;
  lines.row_stride = (size_t)(axis[2].stride * s->w.channels);
  if (taps * axis[2].kernel == 1 && inside(&axis[0]) && inside(&axis[1]) && inside(&axis[2])) {
    lines.piece = piece_in_place;
    return lines;
  }
  if (groups > 1 || axis[2].spread > 1 || axis[2].stride > axis[2].kernel ||
      (axis[2].dilation > 1 && axis[2].kernel > 1))
    return (pte_gemm_lines){.width = 0};
  s->whole = width <= most;
  int64_t longest = s->whole ? width : most;
  s->pitch = ((longest - 1) * axis[2].stride + axis[2].kernel) * s->w.channels;
  if (pte_gemm_same_set(cut, (size_t)(s->pitch * axis[1].stride)))
    s->pitch += pte_gemm_other_set(cut) / axis[1].stride;
  if (s->pitch > PTE_CHUNK) return (pte_gemm_lines){.width = 0}; /* a line is copied as a whole */
  lines.tap_stride = (size_t)s->pitch, lines.piece_floats = (size_t)(taps * s->pitch);
  lines.piece = piece_copied;
  return lines;
}

typedef struct conv_plan {
  conv_source source;
  pte_matrix matrix;
  pte_weight weight;
  pte_gemm gemm;
  pte_needs epilogue;   /* kept behind the plan; scratch: in front of the rest */
  uint64_t zeros_bytes; /* the run of zeros, in front of the gemm's scratch */
} conv_plan;

/* Everything but the addresses of a run. */
static pte_status plan_of(const pte_call *call, conv_plan *p) {
  const pte_conv_attrs *a = call->attrs;
  const pte_conv_lists lists = PTE_CONV_LISTS(a, a->spread);
  const pte_tensor *y = call->out[0], *w = call->in[1];
  *p = (conv_plan){.zeros_bytes = 0};
  p->source.w = pte_conv_window_of(call, &lists);
  const pte_conv_axis *axis = p->source.w.axis;
  size_t taps = (size_t)(axis[0].kernel * axis[1].kernel * axis[2].kernel),
         groups = (size_t)a->groups;
  p->source.group_channels = (size_t)p->source.w.channels / groups;
  p->source.joined = groups == 1 && axis[2].kernel > 1 && axis[2].dilation == 1 &&
                     axis[2].spread == 1 && p->source.w.channels <= FEW_CHANNELS;
  const bool matrix = pte_conv_is_matrix(&p->source.w);
  p->gemm = (pte_gemm){.groups = groups,
                       .rows = (size_t)pte_tensor_span(y, 0, y->rank - 1u),
                       .columns = (size_t)w->shape[0] / groups,
                       .taps = taps,
                       .run = p->source.group_channels,
                       .fill = matrix ? pte_matrix_fill : conv_fill,
                       .panels = pte_weight_panels(w, call, &p->weight),
                       .cut = pte_gemm_cut_of(pte_call_machine(call))};
  p->gemm.lines = matrix ? pte_matrix_lines(p->gemm.rows, p->gemm.run, (size_t)p->source.w.channels)
                         : lines_of_rows(&p->source, groups, &p->gemm.cut);
  pte_gemm_put(&p->gemm, y);
  if (p->source.joined) {
    p->gemm.taps = taps / (size_t)axis[2].kernel;
    p->gemm.run *= (size_t)axis[2].kernel;
    p->gemm.copy_floats = taps * p->source.group_channels;
  }
  uint64_t zeros = matrix ? 0 : p->gemm.run;
  if (!pte_mul(zeros, sizeof(float), &zeros) || !pte_align(zeros, 64, &p->zeros_bytes))
    return PTE_NO_MEMORY;
  return pte_epilogue_needs(call, a->steps, 3, &p->epilogue);
}

static pte_status conv_needs(const pte_call *call, pte_needs *out) {
  conv_plan p;
  PTE_TRY(plan_of(call, &p));
  bool fits = pte_gemm_scratch(&p.gemm, call->threads, &out->scratch) &&
              pte_add(out->scratch, p.zeros_bytes, &out->scratch) &&
              pte_add(out->scratch, p.epilogue.scratch, &out->scratch) &&
              pte_add(p.epilogue.kept, PTE_KEPT_BYTES(conv_plan), &out->kept);
  return fits ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status conv_keep(const pte_call *call) {
  const pte_conv_attrs *a = call->attrs;
  PTE_TRY(plan_of(call, call->kept));
  pte_epilogue_keep(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(conv_plan)));
  return PTE_OK;
}

static pte_status conv_run(const pte_call *call) {
  const pte_conv_attrs *a = call->attrs;
  conv_plan *p = call->kept;
  pte_gemm *g = &p->gemm;
  char *zeros = (char *)call->scratch + p->epilogue.scratch;
  pte_pace pace = pte_call_pace(call);
  static const float zero = 0;
  if (!pte_row_move(&pace, zeros, 1, &zero, 0, (int64_t)p->zeros_bytes / 4, 4))
    return PTE_CANCELLED;
  p->source.x = call->in[0]->data;
  p->source.zeros = (const float *)(const void *)zeros;
  p->matrix = (pte_matrix){p->source.x, (size_t)p->source.w.channels, p->source.group_channels};
  g->source = g->fill == conv_fill ? (const void *)&p->source : &p->matrix;
  g->watch = call->watch;
  pte_gemm_put(g, call->out[0]);
  g->epilogue =
      pte_epilogue_open(call, a->steps, 3, pte_call_behind(call, PTE_KEPT_BYTES(conv_plan)),
                        call->scratch, &g->finish);
  pte_gemm_run(call, g, zeros + p->zeros_bytes);
  return pte_epilogue_close(g->epilogue, call);
}

const pte_kernel pte_conv_kernel = {
    .needs = conv_needs, .keep = conv_keep, .run = conv_run, .reads = 1u << 1};
