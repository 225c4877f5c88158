/* Convolutions of quantized values in groups of one channel and one column each: channels are
 * multiplied as they lie in a pixel, a set at a time, by weights that are laid out for that. */
#include "kernels/matrix/conv_quantized_depthwise.h"

#include "core/integer.h"
#include "core/size.h"

enum {
  TASK_WORK = 131072, /* products of bytes that are worth a task, in sixteens */
  MOST_PIXELS = 64    /* of a step */
};

/* All channels are one group. */
bool pte_conv_taps_plan(pte_conv_plan *p) {
  const pte_conv_taps *t = p->element->taps;
  const size_t sets = pte_ceil_div(p->groups, t->set);
  p->channels = p->groups, p->groups = 1;
  p->share_bytes = pte_ceil_div((p->depth + t->more) * sizeof(void *), 64) * 64;
  return pte_mul(p->set_bytes, sets, &p->weight_bytes) &&
         pte_mul(t->set / PTE_PANEL * sizeof(pte_rescale_columns), sets, &p->column_bytes) &&
         pte_align(p->column_bytes, 64, &p->column_bytes) &&
         pte_align(p->channels * p->element->bytes, 64, &p->line_bytes);
}

bool pte_conv_taps_keep(const pte_conv_plan *p, pte_pace *pace) {
  const pte_conv_taps *t = p->element->taps;
  pte_rescale_columns *columns = pte_conv_kept_columns(p);
  for (size_t c = 0; c < p->channels; c += t->set) {
    const size_t count = pte_least(t->set, p->channels - c);
    if (!pte_pace_go(pace, (int64_t)((p->depth + 4) * t->set))) return false;
    for (size_t i = 0; i < t->set; i += PTE_PANEL)
      pte_conv_columns_read(p, c + i, i < count ? pte_least(PTE_PANEL, count - i) : 0, columns++);
    t->lay(p, c, count);
  }
  return true;
}

typedef struct depthwise_run {
  const pte_conv_plan *plan;
  const char *zeros; /* a pixel of x_zero */
  char *shares;
} depthwise_run;

/* Where the taps of `pixel` read, and a few times more the last. */
static void taps_fill(const depthwise_run *r, const char *image, const pte_conv_pixel *pixel,
                      const void **tap) {
  const pte_conv_plan *p = r->plan;
  const pte_conv_axis *deep = &p->w.axis[0], *high = &p->w.axis[1], *wide = &p->w.axis[2];
  const int64_t pixel_bytes = p->w.channels * (int64_t)p->element->bytes;
  for (int64_t d = 0; d < deep->kernel; d++) {
    const int64_t z = pte_conv_place(deep, pixel->at[0], d);
    for (int64_t i = 0; i < high->kernel; i++) {
      const int64_t y = z < 0 ? -1 : pte_conv_place(high, pixel->at[1], i);
      for (int64_t j = 0; j < wide->kernel; j++) {
        const int64_t x = y < 0 ? -1 : pte_conv_place(wide, pixel->at[2], j);
        const int64_t place = ((z * high->in + y) * wide->in + x) * pixel_bytes;
        *tap++ = x < 0 ? r->zeros : image + place;
      }
    }
  }
  for (size_t i = 0; i < p->element->taps->more; i++) tap[i] = tap[-1];
}

/* Pixels side by side whose taps lie `step` elements further each, some channels at a time. */
static bool taps_run(const pte_conv_plan *p, pte_pace *pace, const void *const *tap, size_t pixels,
                     size_t step, char *y) {
  const pte_conv_taps *t = p->element->taps;
  for (size_t c = 0, some; c < p->channels; c += some) {
    const int64_t cost = (int64_t)(p->depth * pixels);
    some = (size_t)pte_pace_take(pace, (int64_t)(p->channels - c), cost, (int64_t)t->set);
    if (some == 0) return false;
    t->run(p, c, c + some, tap, pixels, step, y);
  }
  return true;
}

static void taps_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const depthwise_run *r = context;
  const pte_conv_plan *p = r->plan;
  const size_t bytes = p->element->bytes;
  const int64_t image = pte_conv_image(&p->w) * (int64_t)bytes;
  const void **tap = (const void **)(void *)(r->shares + p->share_bytes * thread);
  char *y = (char *)p->call->out[0]->data + begin * p->channels * bytes;
  pte_pace pace = pte_call_pace(p->call);
  pte_conv_pixel pixel = pte_conv_pixel_at(&p->w, begin);
  for (size_t i = begin, some; i < end; i += some, y += some * p->channels * bytes) {
    const char *x = (const char *)p->call->in[0]->data + pixel.batch * image;
    some = pte_most(
        1, pte_least(pte_least(pte_conv_windows_inside(&p->w, &pixel), MOST_PIXELS), end - i));
    if (!pte_pace_go(&pace, (int64_t)p->depth)) return;
    taps_fill(r, x, &pixel, tap);
    const size_t step = (size_t)p->w.axis[2].stride * p->channels;
    if (!taps_run(p, &pace, (const void *const *)tap, some, step, y)) return;
    pixel.at[2] += (int64_t)some - 1; /* they lie in one line */
    pte_conv_pixel_next(&p->w, &pixel);
  }
}

pte_status pte_conv_taps_run(const pte_conv_plan *p) {
  char *zeros = p->call->scratch;
  depthwise_run r = {.plan = p, .zeros = zeros, .shares = zeros + p->line_bytes};
  const pte_conv_gather gather = pte_conv_gather_of(p);
  pte_pace pace = pte_call_pace(p->call);
  for (size_t c = 0, some; c < p->channels; c += some) {
    some = (size_t)pte_pace_take(&pace, (int64_t)(p->channels - c), 1, 1);
    if (some == 0) return PTE_CANCELLED;
    (void)pte_conv_gather_padding(&gather, some, zeros + c * p->element->bytes);
  }
  if (p->element->taps->lines != NULL && p->element->taps->lines(p, zeros)) return PTE_OK;
  const size_t worth = TASK_WORK / p->element->bytes;
  pte_parallel(p->call, p->rows, 1 + 4 * worth / (p->depth * p->channels + 1), taps_task, &r);
  return PTE_OK;
}
