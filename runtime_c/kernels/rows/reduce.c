/* reduce: sum, mean, maximum, minimum or product over the last `count` axes of x, which may have
 * any strides.
 *
 * Element i of a reduction, row-major over the reduced axes, belongs to lane i mod 16; the lanes
 * are joined by one tree (docs/numerics.md). Where the elements of a reduction lie in a line, the
 * lanes are a vector; where neighbouring reductions lie side by side (a mean over space, channels
 * last), so are they; else elements are gathered tile by tile. All three give the same bits. bool:
 * max is or, min is and. i64 wraps. */
#include "core/kept.h"
#include "core/math.h"
#include "gen/ops.h"
#include "kernels/rows/rows.h"
#include "kernels/rows/rows_f32.h"

enum { LANES = 16, TILE = 256 };

typedef struct reduce_job {
  const pte_call *call;
  const pte_tensor *x;
  pte_rows kept, reduced; /* of x's axes */
  const pte_rows_f32 *rows;
  uint32_t kind;
  int64_t blocks; /* of PTE_ROW_BLOCK columns in a row of `kept`, side by side only */
} reduce_job;

/* --- types without vectors
 * ------------------------------------------------------------------------------------------ */

static double join_f64(uint32_t kind, double a, double b) {
  switch (kind) {
  case PTE_REDUCE_KIND_MAX: return a > b || a != a ? a : b;
  case PTE_REDUCE_KIND_MIN: return a < b || a != a ? a : b;
  case PTE_REDUCE_KIND_PROD: return a * b;
  default: return a + b;
  }
}

static int64_t join_i64(uint32_t kind, int64_t a, int64_t b) {
  switch (kind) {
  case PTE_REDUCE_KIND_MAX: return a > b ? a : b;
  case PTE_REDUCE_KIND_MIN: return a < b ? a : b;
  case PTE_REDUCE_KIND_PROD: return (int64_t)((uint64_t)a * (uint64_t)b);
  default: return (int64_t)((uint64_t)a + (uint64_t)b);
  }
}

static double identity_f64(uint32_t kind) {
  switch (kind) {
  case PTE_REDUCE_KIND_MAX: return -(double)PTE_INFINITY;
  case PTE_REDUCE_KIND_MIN: return (double)PTE_INFINITY;
  case PTE_REDUCE_KIND_PROD: return 1.0;
  default: return 0.0;
  }
}

static int64_t identity_i64(uint32_t kind) {
  switch (kind) {
  case PTE_REDUCE_KIND_MAX: return INT64_MIN;
  case PTE_REDUCE_KIND_MIN: return INT64_MAX;
  default: return kind == PTE_REDUCE_KIND_PROD;
  }
}

/* The sum of one reduction whose rows begin at the offsets of `reduced` from x. */
#define REDUCE_SCALAR(name, type, lane_type, join, identity)                                       \
  static lane_type name(const reduce_job *job, pte_pace *pace, const type *x) {                    \
    const pte_rows *r = &job->reduced;                                                             \
    lane_type lanes[LANES];                                                                        \
    for (int l = 0; l < LANES; l++) lanes[l] = identity(job->kind);                                \
    pte_coords at = {{0}};                                                                         \
    int64_t phase = 0;                                                                             \
    for (int64_t row = 0; row < r->count; row++, pte_coords_next(&at, r->shape, r->rank)) {        \
      const type *from = x + pte_coords_offset(&at, r->stride, r->rank);                           \
      if (!pte_pace_go(pace, 8)) return 0;                                                         \
      for (int64_t i = 0, end = 0; i < r->length; i++, phase = (phase + 1) % LANES) {              \
        if (i == end && (end += pte_pace_take(pace, r->length - i, 1, 1)) == i) return 0;          \
        lanes[phase] = join(job->kind, lanes[phase], from[i * r->step]);                           \
      }                                                                                            \
    }                                                                                              \
    for (int half = LANES / 2; half > 0; half /= 2)                                                \
      for (int l = 0; l < half; l++) lanes[l] = join(job->kind, lanes[l], lanes[l + half]);        \
    return lanes[0];                                                                               \
  }

REDUCE_SCALAR(reduce_f64, double, double, join_f64, identity_f64)
REDUCE_SCALAR(reduce_i64, int64_t, int64_t, join_i64, identity_i64)
REDUCE_SCALAR(reduce_bool, uint8_t, int64_t, join_i64, identity_i64)

/* --- f32
 * ------------------------------------------------------------------------------------------------------------
 */

static float identity_f32(uint32_t kind) { return (float)identity_f64(kind); }

/* Joins a row that is not in a line, gathered. */
static bool fold_gathered(const reduce_job *job, pte_pace *pace, const float *x, int64_t phase,
                          float *lanes) {
  float tile[TILE];
  const pte_rows *r = &job->reduced;
  for (int64_t i = 0; i < r->length; i += TILE) {
    int64_t count = r->length - i < TILE ? r->length - i : TILE;
    if (!pte_pace_go(pace, count)) return false;
    for (int64_t j = 0; j < count; j++) tile[j] = x[(i + j) * r->step];
    job->rows->fold(job->kind, count, tile, (phase + i) % LANES, lanes);
  }
  return true;
}

/* Joins a row in a line. */
static bool fold_line(const reduce_job *job, pte_pace *pace, const float *x, int64_t phase,
                      float *lanes) {
  const int64_t n = job->reduced.length;
  for (int64_t i = 0, count; i < n; i += count) {
    if ((count = pte_pace_take(pace, n - i, 1, LANES)) == 0) return false;
    job->rows->fold(job->kind, count, x + i, (phase + i) % LANES, lanes);
  }
  return true;
}

static float reduce_f32(const reduce_job *job, pte_pace *pace, const float *x) {
  const pte_rows *r = &job->reduced;
  float lanes[LANES];
  for (int l = 0; l < LANES; l++) lanes[l] = identity_f32(job->kind);
  pte_coords at = {{0}};
  for (int64_t row = 0; row < r->count; row++, pte_coords_next(&at, r->shape, r->rank)) {
    const float *from = x + pte_coords_offset(&at, r->stride, r->rank);
    int64_t phase = row * r->length % LANES;
    if (!pte_pace_go(pace, 8)) return 0;
    if (!(r->step == 1 ? fold_line : fold_gathered)(job, pace, from, phase, lanes)) return 0;
  }
  return job->rows->tree(job->kind, lanes);
}

/* `columns` neighbouring reductions from x on. */
static void reduce_columns(const reduce_job *job, pte_pace *pace, const float *x, int64_t columns,
                           float *y) {
  const pte_rows *r = &job->reduced;
  float lanes[LANES * PTE_ROW_BLOCK];
  const float identity = identity_f32(job->kind);
  for (int i = 0; i < LANES * PTE_ROW_BLOCK; i++) lanes[i] = identity;
  pte_coords at = {{0}};
  for (int64_t row = 0; row < r->count; row++, pte_coords_next(&at, r->shape, r->rank)) {
    const float *from = x + pte_coords_offset(&at, r->stride, r->rank);
    if (!pte_pace_go(pace, 8)) return;
    for (int64_t i = 0, count; i < r->length; i += count) {
      if ((count = pte_pace_take(pace, r->length - i, columns, LANES)) == 0) return;
      job->rows->fold_columns(job->kind, count, from + i * r->step, r->step, columns,
                              (row * r->length + i) % LANES, lanes);
    }
  }
  job->rows->tree_columns(job->kind, lanes);
  memcpy(y, lanes, (size_t)columns * sizeof *y);
  float count = (float)(r->count * r->length);
  for (int64_t c = 0; c < columns && job->kind == PTE_REDUCE_KIND_MEAN; c++) y[c] /= count;
}

static void columns_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const reduce_job *job = context;
  float *y = job->call->out[0]->data;
  pte_pace pace = pte_call_pace(job->call);
  (void)thread;
  for (int64_t unit = (int64_t)begin; unit < (int64_t)end; unit++) {
    int64_t row = unit / job->blocks, column = unit % job->blocks * PTE_ROW_BLOCK;
    pte_coords at = pte_coords_at(row, job->kept.shape, job->kept.rank);
    const float *x = (const float *)job->x->data +
                     pte_coords_offset(&at, job->kept.stride, job->kept.rank) + column;
    int64_t left = job->kept.length - column;
    reduce_columns(job, &pace, x, left < PTE_ROW_BLOCK ? left : PTE_ROW_BLOCK,
                   y + row * job->kept.length + column);
  }
}

/* --- one reduction at a time
 * ---------------------------------------------------------------------------------------- */

static void reduce_one(const reduce_job *job, pte_pace *pace, const void *x, void *y,
                       int64_t index) {
  int64_t count = job->reduced.count * job->reduced.length;
  bool mean = job->kind == PTE_REDUCE_KIND_MEAN;
  const unsigned dtype = job->x->dtype;
  if (dtype == PTE_F32 && PTE_DTYPE_KEPT(PTE_F32)) {
    float sum = reduce_f32(job, pace, x);
    ((float *)y)[index] = mean ? sum / (float)count : sum;
  } else if (dtype == PTE_F64 && PTE_DTYPE_KEPT(PTE_F64)) {
    double sum = reduce_f64(job, pace, x);
    ((double *)y)[index] = mean ? sum / (double)count : sum;
  } else if (dtype == PTE_I64 && PTE_DTYPE_KEPT(PTE_I64)) {
    ((int64_t *)y)[index] = reduce_i64(job, pace, x);
  } else if (PTE_DTYPE_KEPT(PTE_BOOL)) {
    ((uint8_t *)y)[index] =
        (uint8_t)(reduce_bool(job, pace, x) > 0); /* empty: the lowest number, or the highest */
  }
}

static void single_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const reduce_job *job = context;
  const pte_tensor *y = job->call->out[0];
  pte_pace pace = pte_call_pace(job->call);
  (void)thread;
  pte_coords at = pte_coords_at((int64_t)begin, job->x->shape, y->rank);
  for (size_t i = begin; i < end; i++, pte_coords_next(&at, job->x->shape, y->rank)) {
    int64_t offset = pte_coords_offset(&at, job->x->stride, y->rank);
    if (!pte_pace_go(&pace, LANES)) return;
    reduce_one(job, &pace, pte_element(job->x, offset), y->data, (int64_t)i);
  }
}

static pte_status reduce_run(const pte_call *call) {
  const pte_reduce_attrs *attrs = call->attrs;
  const pte_tensor *x = call->in[0], *y = call->out[0];
  reduce_job job = {
      .call = call, .x = x, .kind = attrs->kind, .rows = pte_rows_f32_pick(call->cpu)};
  job.kept = pte_rows_of(x, 0, y->rank);
  job.reduced = pte_rows_of(x, y->rank, x->rank);
  int64_t outputs = pte_tensor_count(y), count = job.reduced.count * job.reduced.length;
  if (outputs == 0) return PTE_OK;
  bool in_line = job.reduced.step == 1 && job.reduced.length > 1;
  if (x->dtype == PTE_F32 && job.kept.step == 1 && job.kept.length >= 4 && !in_line) {
    job.blocks = (job.kept.length + PTE_ROW_BLOCK - 1) / PTE_ROW_BLOCK;
    pte_parallel(call, (size_t)(job.kept.count * job.blocks), pte_grain(count * 4 * PTE_ROW_BLOCK),
                 columns_task, &job);
  } else {
    pte_parallel(call, (size_t)outputs, pte_grain(count * 4), single_task, &job);
  }
  return PTE_OK;
}

const pte_kernel pte_reduce_kernel = {.run = reduce_run};
