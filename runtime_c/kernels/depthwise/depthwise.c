/* Pixels of a line whose windows lie between the ends of x's lines go together: each tap of theirs
 * is one address and a step. The others, at the left and right edges, go one by one. */
#include "kernels/depthwise/depthwise.h"

#include "core/integer.h"
#include "core/size.h"
#include "kernels/panels.h"

enum {
  GROUP = 32,     /* channels of a group, at least and a multiple of that */
  FEW_TAPS = 4096 /* windows of more go one by one, by channels: eight pixels, a group and these are
                     PTE_CHUNK steps */
};

void pte_depthwise_shape(pte_depthwise *p) {
  const pte_conv_axis *wide = &p->w.axis[2];
  int64_t from = wide->begin <= 0 ? 0 : (wide->begin + wide->stride - 1) / wide->stride;
  int64_t last = wide->in - 1 - (wide->kernel - 1) * wide->dilation + wide->begin;
  int64_t to = last < 0 || p->taps > FEW_TAPS ? 0 : last / wide->stride + 1;
  if (to > wide->out) to = wide->out;
  p->inside[0] = (size_t)(from < to ? from : to), p->inside[1] = (size_t)to;
  p->channels = (size_t)p->w.channels;
  p->lines = (size_t)(p->w.axis[0].kernel * p->w.axis[1].kernel);
}

bool pte_depthwise_room(const pte_depthwise *p, uint64_t *out_bytes) {
  return pte_mul(p->taps, sizeof(float *) + sizeof(size_t), out_bytes) &&
         pte_align(*out_bytes, 64, out_bytes);
}

/* A band's part of one line of y: pixels from .. end of the line, the first of them number `at` of
 * the band. Begin with `pixel` alone. */
typedef struct piece {
  pte_conv_pixel pixel;
  size_t at, from, end;
} piece;

static piece piece_first(const pte_depthwise *p, const pte_depthwise_band *k) {
  piece r = {.pixel = pte_conv_pixel_at(&p->w, k->first)};
  r.from = (size_t)r.pixel.at[2];
  r.end = pte_least((size_t)p->w.axis[2].out, r.from + k->count);
  return r;
}

/* false: that was the last one. */
static bool piece_next(const pte_depthwise *p, const pte_depthwise_band *k, piece *r) {
  r->at += r->end - r->from;
  if (r->at == k->count) return false;
  r->pixel.at[2] = p->w.axis[2].out - 1;
  pte_conv_pixel_next(&p->w, &r->pixel);
  r->from = 0, r->end = pte_least((size_t)p->w.axis[2].out, k->count - r->at);
  return true;
}

/* Whether the variant takes this part of a line with its edges. */
static bool is_whole(const pte_depthwise *p, const piece *r) {
  const pte_conv_axis *wide = &p->w.axis[2];
  const int64_t end = (wide->out - 1) * wide->stride + wide->kernel - wide->begin;
  return p->kernel->whole != NULL && p->taps <= FEW_TAPS && r->end - r->from >= PTE_WHOLE &&
         p->channels % p->kernel->unit == 0 && wide->kernel == 3 && wide->dilation == 1 &&
         wide->stride <= 2 && wide->begin <= 1 && end <= wide->in + 1;
}

/* Where the lines of a window start that reads its first column at `place`; or, where `place` is
 * none, each tap of the window of pixel `at`. */
static size_t addresses_fill(const pte_depthwise *p, const pte_depthwise_band *k, const piece *r,
                             int64_t place, bool taps, int64_t at) {
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  const int64_t channels = p->w.channels, columns = taps ? wide->kernel : 1;
  size_t count = 0;
  for (int64_t d = 0; d < deep->kernel; d++) {
    int64_t z = pte_conv_place(deep, r->pixel.at[0], d);
    for (int64_t i = 0; i < high->kernel; i++) {
      int64_t y = z < 0 ? -1 : pte_conv_place(high, r->pixel.at[1], i);
      int64_t line = ((r->pixel.batch * deep->in + z) * high->in + y) % p->held * wide->in;
      for (int64_t j = 0; j < columns; j++, count++) {
        if (taps) place = pte_conv_place(wide, at, j);
        bool read = y >= 0 && place >= 0;
        k->line[count] = read ? p->x + (line + place) * channels : p->zeros;
        k->step[count] = read ? (size_t)channels : 0;
      }
    }
  }
  return count;
}

/* Sums of `pixels` from number `at` of the band on. */
static bool sums_run(const pte_depthwise *p, pte_pace *pace, const pte_depthwise_band *k, size_t at,
                     pte_depthwise_row_f32 *s) {
  const pte_finish_f32 finish = pte_finish_at(&p->finish, k->first + at, 0);
  s->finish = &finish, s->weight = p->weight;
  s->stride = (size_t)p->w.axis[2].stride, s->dilation = (size_t)p->w.axis[2].dilation;
  s->out = k->out + at * k->out_stride, s->out_stride = k->out_stride;
  if (!pte_pace_go(pace, (int64_t)(s->pixels * (s->end - s->first) * p->taps))) return false;
  if (s->width > 0) p->kernel->whole(s);
  else p->kernel->row(s);
  return true;
}

/* Channels first .. end of pieces of lines: the pixels that go together. */
static bool inside_run(const pte_depthwise *p, pte_pace *pace, const pte_depthwise_band *k,
                       size_t first, size_t end) {
  const pte_conv_axis *wide = &p->w.axis[2];
  const size_t reach = pte_most(PTE_CHUNK / (GROUP * p->taps), 8);
  piece r = piece_first(p, k);
  do {
    const bool whole = is_whole(p, &r);
    const size_t to = whole ? r.end : pte_least(r.end, p->inside[1]);
    for (size_t from = whole ? r.from : pte_most(r.from, p->inside[0]), next; from < to;
         from = next) {
      next = to - from >= reach + PTE_WHOLE ? from + reach : to;
      pte_depthwise_row_f32 s = {.line = k->line, .step = k->step, .first = first, .end = end};
      s.pixels = next - from, s.taps = (size_t)wide->kernel;
      s.column = (ptrdiff_t)((int64_t)from * wide->stride - wide->begin);
      if (whole) s.width = (size_t)wide->in;
      s.lines = addresses_fill(p, k, &r, whole ? 0 : (int64_t)s.column, false, 0);
      if (!sums_run(p, pace, k, r.at + from - r.from, &s)) return false;
    }
  } while (piece_next(p, k, &r));
  return true;
}

/* All channels of the other pixels. */
static bool edges_run(const pte_depthwise *p, pte_pace *pace, const pte_depthwise_band *k) {
  const size_t some = pte_most(PTE_CHUNK / p->taps / PTE_PANEL, 1) * PTE_PANEL;
  piece r = piece_first(p, k);
  do {
    for (size_t i = is_whole(p, &r) ? r.end : r.from; i < r.end; i++) {
      if (i == pte_most(p->inside[0], r.from) && i < p->inside[1])
        i = pte_least(p->inside[1], r.end);
      if (i == r.end) break;
      pte_depthwise_row_f32 s = {.line = k->line, .step = k->step, .taps = 1, .pixels = 1};
      s.lines = addresses_fill(p, k, &r, 0, true, (int64_t)i);
      for (s.first = 0; s.first < p->channels; s.first = s.end) {
        s.end = pte_least(p->channels, s.first + some);
        if (!sums_run(p, pace, k, r.at + i - r.from, &s)) return false;
      }
    }
  } while (piece_next(p, k, &r));
  return true;
}

/* Channels that go together: as many as a look at the watch allows. What fewer of them save in L1
 * is less than what each piece of a line costs anew. */
static size_t group_of(const pte_depthwise *p, const pte_depthwise_band *k) {
  const size_t pixels = pte_least((size_t)p->w.axis[2].out, k->count);
  return pte_most(PTE_CHUNK / p->taps / pixels / GROUP, 1) * GROUP;
}

bool pte_depthwise_run(const pte_depthwise *p, pte_pace *pace, const pte_depthwise_band *k) {
  const size_t group = group_of(p, k);
  for (size_t c = 0; c < p->channels; c += group)
    if (!inside_run(p, pace, k, c, pte_least(p->channels, c + group))) return false;
  return edges_run(p, pace, k);
}
