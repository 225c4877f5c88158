/* pad: x extended by itself. Along each axis x is first cropped (where begin or the end is
 * negative) to `low .. low + kept`, then coordinate i of y reads the cropped coordinate i - begin
 * brought back inside: by reflection without repeating the edge (again and again, if the padding is
 * longer), to the edge, or around. x and y are dense and apart. */
#include "gen/ops.h"
#include "kernels/rows/rows.h"

typedef struct pad_axis {
  int64_t low, kept, before; /* before: padding in front, at least 0 */
} pad_axis;

typedef struct pad_job {
  const pte_tensor *x, *y;
  pad_axis axes[PTE_MAX_RANK];
  uint32_t mode;
  unsigned bytes;
  pte_watch *watch;
} pad_job;

static pad_axis axis_of(const pte_call *call, unsigned axis) {
  const pte_pad_attrs *attrs = call->attrs;
  int64_t n = call->in[0]->shape[axis], begin = pte_call_dim(call, attrs->begin, axis);
  int64_t end = call->out[0]->shape[axis] - n - begin;
  int64_t low = begin < 0 ? -begin : 0, high = end < 0 ? n + end : n;
  return (pad_axis){low, high - low, begin > 0 ? begin : 0};
}

/* The coordinate in x that coordinate i of y reads. */
static int64_t source(const pad_axis *a, uint32_t mode, int64_t i) {
  int64_t at = i - a->before, last = a->kept - 1;
  if (at >= 0 && at <= last) return a->low + at;
  if (mode == PTE_PAD_MODE_EDGE || last == 0) return a->low + (at < 0 ? 0 : last);
  int64_t period = mode == PTE_PAD_MODE_WRAP ? a->kept : 2 * last;
  at %= period;
  if (at < 0) at += period;
  return a->low + (at > last ? period - at : at);
}

/* Elements begin .. end of a row of padding. false: the run is to end. */
static bool pad_span(const pad_job *job, pte_pace *pace, const char *x, char *y, int64_t begin,
                     int64_t end) {
  const pad_axis *a = &job->axes[job->y->rank - 1u];
  int64_t bytes = job->bytes;
  for (int64_t i = begin, stop = begin; i < end; i++) {
    if (i == stop && (stop += pte_pace_take(pace, end - i, 4, 1)) == i) return false;
    memcpy(y + i * bytes, x + source(a, job->mode, i) * bytes, job->bytes);
  }
  return true;
}

static bool pad_row(const pad_job *job, pte_pace *pace, const char *x, char *y) {
  unsigned last = job->y->rank - 1u;
  const pad_axis *a = &job->axes[last];
  int64_t bytes = job->bytes, end = a->before + a->kept, count = job->y->shape[last];
  if (end > count) end = count;
  if (!pad_span(job, pace, x, y, 0, a->before < count ? a->before : count)) return false;
  if (end > a->before && !pte_row_move(pace, y + a->before * bytes, 1, x + a->low * bytes, 1,
                                       end - a->before, job->bytes))
    return false;
  return pad_span(job, pace, x, y, end, count);
}

static void pad_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pad_job *job = context;
  unsigned last = job->y->rank - 1u;
  pte_pace pace = pte_pace_of(job->watch);
  (void)thread;
  pte_coords at = pte_coords_at((int64_t)begin, job->y->shape, last);
  for (int64_t row = (int64_t)begin; row < (int64_t)end; row++) {
    int64_t from = 0;
    for (unsigned i = 0; i < last; i++)
      from += source(&job->axes[i], job->mode, at.at[i]) * job->x->stride[i];
    if (!pad_row(job, &pace, (const char *)job->x->data + from * job->bytes,
                 (char *)job->y->data + row * job->y->shape[last] * job->bytes))
      return;
    pte_coords_next(&at, job->y->shape, last);
  }
}

static pte_status pad_run(const pte_call *call) {
  pad_job job = {
      .x = call->in[0], .y = call->out[0], .mode = ((const pte_pad_attrs *)call->attrs)->mode};
  job.bytes = pte_dtype_bits(job.x->dtype) / 8;
  job.watch = call->watch;
  if (pte_tensor_count(job.y) == 0) return PTE_OK;
  if (job.y->rank == 0) {
    memcpy(job.y->data, job.x->data, job.bytes);
    return PTE_OK;
  }
  for (unsigned i = 0; i < job.y->rank; i++) job.axes[i] = axis_of(call, i);
  int64_t last = job.y->shape[job.y->rank - 1u];
  pte_parallel(call, (size_t)(pte_tensor_count(job.y) / last), pte_grain(last * job.bytes),
               pad_task, &job);
  return PTE_OK;
}

const pte_kernel pte_pad_kernel = {.run = pad_run};
