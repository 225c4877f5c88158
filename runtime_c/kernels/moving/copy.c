/* copy: y = x, from any strides to any strides; x and y are apart. Elements narrower than a byte
 * are dense on both sides. Axes are taken in the order of y's memory. A row that runs in both is
 * one memcpy; where x runs along another axis than y, tiles of a cache line by some columns keep
 * both sides in L1. */
#include "gen/ops.h"
#include "kernels/blocks.h"
#include "kernels/rows/rows.h"

enum { LINE = 64, THIN = 8, THIN_BLOCK = 512 };

typedef struct axis {
  int64_t count, from, to; /* strides of x and y, in elements */
} axis;

typedef struct copy_job {
  const char *x;
  char *y;
  axis axes[PTE_MAX_RANK + 1]; /* outer ones, then (transposed only) the one x runs along, then the
                                  one y runs along */
  int64_t outer_shape[PTE_MAX_RANK];
  int64_t block; /* elements a unit takes of `across` */
  int64_t blocks;
  int64_t columns; /* of a tile, at most */
  unsigned outer, bytes;
  bool transposed;
  pte_watch *watch;
} copy_job;

static int64_t size_of(int64_t stride) { return stride < 0 ? -stride : stride; }

static bool lies_outside(axis a, axis b) {
  if (size_of(a.to) != size_of(b.to)) return size_of(a.to) > size_of(b.to);
  return size_of(a.from) > size_of(b.from);
}

/* Axes longer than 1, outermost in y first, neighbours that run on in both joined. At least one
 * axis. */
static unsigned order_axes(const pte_tensor *x, const pte_tensor *y, axis *axes) {
  unsigned rank = 0, kept = 0;
  for (unsigned i = 0; i < x->rank; i++) {
    axis next = {x->shape[i], x->stride[i], y->stride[i]};
    if (next.count == 1) continue;
    unsigned at = rank++;
    for (; at > 0 && lies_outside(next, axes[at - 1]); at--) axes[at] = axes[at - 1];
    axes[at] = next;
  }
  for (unsigned i = 0; i < rank; i++) {
    axis *last = &axes[kept - 1];
    bool joins = kept > 0 && last->from == axes[i].from * axes[i].count &&
                 last->to == axes[i].to * axes[i].count;
    if (joins) *last = (axis){last->count * axes[i].count, axes[i].from, axes[i].to};
    else axes[kept++] = axes[i];
  }
  if (kept == 0) axes[kept++] = (axis){1, 1, 1};
  return kept;
}

static copy_job plan(const pte_tensor *x, const pte_tensor *y) {
  copy_job job = {.x = x->data, .y = y->data, .bytes = pte_dtype_bits(x->dtype) / 8};
  unsigned rank = order_axes(x, y, job.axes), across = rank - 1;
  axis *inner = &job.axes[rank - 1];
  for (unsigned i = 0; i + 1 < rank; i++)
    if (job.axes[i].from == 1 && inner->to == 1 && inner->from != 0 && inner->from != 1) across = i;
  job.transposed = across != rank - 1;
  if (job.transposed) { /* bring it next to the inner one */
    axis moved = job.axes[across];
    for (unsigned i = across; i + 2 < rank; i++) job.axes[i] = job.axes[i + 1];
    job.axes[rank - 2] = moved;
  }
  job.outer = rank - (job.transposed ? 2 : 1);
  int64_t length = job.axes[job.outer].count;
  job.block = job.transposed ? LINE / job.bytes : 16384 / job.bytes;
  if (job.transposed && job.axes[rank - 1].count < THIN) job.block = THIN_BLOCK;
  job.blocks = (length + job.block - 1) / job.block;
  for (unsigned i = 0; i < job.outer; i++) job.outer_shape[i] = job.axes[i].count;
  return job;
}

/* The inner loop jumps by the smaller of the two strides: lines a power of two apart, such as the
 * planes of an image, would push each other out of the cache. */
#define TRANSPOSE(type)                                                                            \
  if (from_column > to_row)                                                                        \
    for (int64_t i = 0; i < columns; i++)                                                          \
      for (int64_t j = 0; j < rows; j++)                                                           \
        ((type *)to)[j * to_row + i] = ((const type *)from)[i * from_column + j];                  \
  else                                                                                             \
    for (int64_t j = 0; j < rows; j++)                                                             \
      for (int64_t i = 0; i < columns; i++)                                                        \
        ((type *)to)[j * to_row + i] = ((const type *)from)[i * from_column + j];                  \
  break

/* One tile: y's rows are j, x runs along j. */
static void transpose(void *restrict to, int64_t to_row, const void *restrict from,
                      int64_t from_column, int64_t rows, int64_t columns, unsigned bytes) {
  switch (bytes) {
  case 1: TRANSPOSE(uint8_t);
  case 2: TRANSPOSE(uint16_t);
  case 4: TRANSPOSE(uint32_t);
  default: TRANSPOSE(uint64_t);
  }
}

static void copy_block(const copy_job *job, pte_pace *pace, const char *x, char *y, int64_t begin,
                       int64_t count) {
  const axis *across = &job->axes[job->outer];
  int64_t bytes = job->bytes;
  x += begin * across->from * bytes;
  y += begin * across->to * bytes;
  if (!job->transposed) {
    pte_row_copy(y, across->to, x, across->from, count, job->bytes);
    return;
  }
  const axis *inner = across + 1;
  for (int64_t i = 0; i < inner->count; i += job->columns) {
    int64_t columns = inner->count - i < job->columns ? inner->count - i : job->columns;
    if (!pte_pace_go(pace, columns * count)) return;
    transpose(y + i * bytes, across->to, x + i * inner->from * bytes, inner->from, count, columns,
              job->bytes);
  }
}

static void copy_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const copy_job *job = context;
  pte_pace pace = pte_pace_of(job->watch);
  (void)thread;
  for (int64_t unit = (int64_t)begin; unit < (int64_t)end; unit++) {
    pte_coords at = pte_coords_at(unit / job->blocks, job->outer_shape, job->outer);
    int64_t from = 0, to = 0, first = unit % job->blocks * job->block;
    for (unsigned i = 0; i < job->outer; i++) {
      from += at.at[i] * job->axes[i].from;
      to += at.at[i] * job->axes[i].to;
    }
    int64_t left = job->axes[job->outer].count - first;
    copy_block(job, &pace, job->x + from * job->bytes, job->y + to * job->bytes, first,
               left < job->block ? left : job->block);
  }
}

static pte_status copy_run(const pte_call *call) {
  const pte_tensor *x = call->in[0], *y = call->out[0];
  int64_t count = pte_tensor_count(x);
  if (count == 0) return PTE_OK;
  if (pte_dtype_bits(x->dtype) % 8 != 0) {
    pte_pace pace = pte_call_pace(call);
    count = (int64_t)(((uint64_t)count * pte_dtype_bits(x->dtype) + 7) / 8);
    (void)pte_row_move(&pace, y->data, 1, x->data, 1, count, 1);
    return PTE_OK;
  }
  copy_job job = plan(x, y);
  job.watch = call->watch;
  if (job.transposed)
    job.columns = (int64_t)pte_block_of(pte_call_machine(call), PTE_BLOCK_COPY_COLUMNS);
  int64_t units = job.blocks;
  for (unsigned i = 0; i < job.outer; i++) units *= job.outer_shape[i];
  pte_parallel(call, (size_t)units, pte_grain(count / units * job.bytes), copy_task, &job);
  return PTE_OK;
}

const pte_kernel pte_copy_kernel = {.run = copy_run};
