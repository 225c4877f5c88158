/* What a kernel sees: tensors, its attributes, scratch, a pool. Nothing else of the runtime.
 *
 * Each operator of schema/ops.py has one `pte_kernel`, named pte_<op>_kernel, in kernels/<op>.c.
 * `check`, `needs` and `keep` run at prepare, `run` at every run, all on the same call. Before
 * `check` the session has proved: ranks, dtypes, shapes, attributes and the relations between them
 * as the row says (pte_shape_check), the attribute struct complete, pointwise programs correct, and
 * that every element of every tensor lies inside its memory. Tensors whose name is not in the row's
 * `strided` are dense and row-major. A kernel does not allocate, log, or read anything but the
 * call. Outputs never overlap inputs, except where the row's `inplace` allows it, and then exactly
 * (same address, same strides).
 *
 * `check` and `needs` take time linear in the program, whatever the extents, `keep` beside that in
 * the bytes that it keeps and those of the inputs that it reads. `run` may take as long as the
 * extents say (views of stride 0 make them large without memory), but it looks at the
 * call's watch at least once in PTE_CHUNK operations (core/watch.h): pte_parallel looks once in 16
 * grains, and loops over what one item may hold without limit go by a pte_pace. Where it cuts must
 * not change a bit. After a look that ends the run, nothing that was to be computed may be relied
 * on: no index, no count. */
#ifndef PTE_KERNEL_H
#define PTE_KERNEL_H

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0)
#error "-ffast-math changes the bits of results: build without it and without its parts"
#endif

#include <stdbool.h>
#include <string.h>

#include "core/watch.h"
#include "pteron/pteron.h"
#include "pteron/types.h"

/* Strides are in elements. Elements narrower than a byte are dense: `data` is the first byte.
 * PANELS and TAPS: shape is the logical [n, k] or [c, t], strides are meaningless, `data` is
 * 64-byte aligned and holds what pte_storage_bytes says for dtype, layout, format, block,
 * groups and shape: `check` compares `groups` with the attribute of that name. */
typedef struct pte_tensor {
  void *data;
  int64_t shape[PTE_MAX_RANK];
  int64_t stride[PTE_MAX_RANK];
  uint8_t dtype, rank, layout;
  uint8_t format, block; /* block: exponent of the elements of K that share a scale; 0: the row */
  uint16_t groups; /* PANELS of a conv weight: groups padded to 16 rows apart; 0 and 1 = one */
} pte_tensor;

/* Side tables of the program, as attributes refer to them. */
typedef struct pte_range {
  uint32_t start, count;
} pte_range;

typedef struct pte_steps { /* a pointwise program: count 0 = none */
  pte_range steps;
  pte_range literals;
} pte_steps;

typedef struct pte_step {
  uint8_t op, type, dst, a, b, c;
  uint16_t arg;
} pte_step;

typedef struct pte_tables {
  const int64_t *ints;
  const uint64_t *literals;
  const pte_step *steps;
  const uint32_t *refs;
  const int64_t *extents; /* evaluated expressions */
} pte_tables;

/* Where and why a kernel failed; the session makes the text. `text` is a literal without format
 * marks, such as "index out of range"; got and expected are shown beside it. */
typedef struct pte_fault {
  const char *text;
  int64_t position; /* flat position in the tensor at fault, or -1 */
  int64_t got, expected;
  uint8_t port;  /* input index; outputs from 128; 255 = none */
  uint16_t attr; /* pte_op_text of the attribute at fault; 0 = none */
} pte_fault;

typedef struct pte_call {
  const void *attrs; /* the operator's struct pte_<op>_attrs (gen/ops.h), defaults filled in */
  const pte_tensor *const
      *in; /* in_count entries, at least the row's fixed inputs; NULL = absent optional */
  pte_tensor *const *out; /* out_count entries; NULL = not wanted */
  uint32_t in_count, out_count;
  const pte_tables *tables;
  void *scratch;        /* 64-byte aligned, as many bytes as `needs` said; contents undefined */
  void *kept;           /* the same, as `keep` left it */
  const pte_pool *pool; /* NULL: single thread */
  uint32_t threads;     /* at least 1; scratch is planned for so many */
  uint32_t cpu;         /* PTE_CPU_* features a variant may use */
  pte_watch *watch;     /* NULL: the run ends when it is done */
  pte_fault *fault;
#ifndef PTE_SMALL_BUFFERS     /* a build for one machine knows it */
  const pte_machine *machine; /* by which work is cut (core/machine.h) */
#endif
} pte_call;

/* Bytes of memory that a call needs beside its tensors, the same for every variant of a machine. */
typedef struct pte_needs {
  uint64_t scratch; /* of one run */
  uint64_t kept;    /* filled by `keep`, read by all runs that follow */
} pte_needs;

/* Bytes of a struct at the start of kept memory; what follows is aligned. */
#define PTE_KEPT_BYTES(type) ((sizeof(type) + 63) / 64 * 64)

/* What follows from shapes, attributes, processor and constants is computed once, by `keep`, and
 * lies in call->kept: plans, tables, weights in the order of vectors. A run may bring other
 * buffers, so `run` finds no address there but those of kept memory itself, of the inputs in
 * `reads`, and those that it has set before. Where an input of `reads` is no constant, or a size
 * depends on data, the session calls `keep` before each run. */
typedef struct pte_kernel {
  /* What the row's relations cannot say. NULL: nothing to check.
   * PTE_UNSUPPORTED or PTE_BAD_PROGRAM with `fault` filled. */
  pte_status (*check)(const pte_call *call);
  /* For these shapes and `threads`; `out` is all 0 before. NULL: nothing is needed. PTE_NO_MEMORY:
   * a size does not fit in 64 bits. */
  pte_status (*needs)(const pte_call *call, pte_needs *out);
  /* Fills call->kept; has the scratch of a run, and no pool. NULL: nothing is kept. PTE_BAD_DATA
   * with `fault` filled; PTE_CANCELLED where the watch ends the run that it is called for. */
  pte_status (*keep)(const pte_call *call);
  pte_status (*run)(const pte_call *call);
  uint32_t reads; /* bit i: `keep` reads the elements of input i */
} pte_kernel;

/* Where the row says `counts`, the kernel sets out->shape[axis] of counted axes (at most what it
 * found there, their capacity, else PTE_LIMIT) and writes dense by the new extents; the session
 * carries them on. */

#define PTE_TRY(expr)                                                                              \
  do {                                                                                             \
    pte_status try_status = (expr);                                                                \
    if (try_status != PTE_OK) return try_status;                                                   \
  } while (0)

static inline pte_status pte_kernel_fail(const pte_call *call, pte_status status, const char *text,
                                         unsigned port, int64_t position, int64_t got,
                                         int64_t expected) {
  *call->fault = (pte_fault){text, position, got, expected, (uint8_t)port, 0};
  return status;
}

/* Kept memory behind a struct of PTE_KEPT_BYTES `bytes`. */
static inline void *pte_call_behind(const pte_call *call, size_t bytes) {
  return (char *)call->kept + bytes;
}

/* The elements of an `Ints` attribute, and element `i` of a `Floats` or `Dims` one. */
static inline const int64_t *pte_call_ints(const pte_call *call, pte_range range) {
  return call->tables->ints + range.start;
}
static inline double pte_call_float(const pte_call *call, pte_range range, uint32_t i) {
  double value;
  memcpy(&value, pte_call_ints(call, range) + i, sizeof value);
  return value;
}
static inline int64_t pte_call_dim(const pte_call *call, pte_range range, uint32_t i) {
  return call->tables->extents[call->tables->refs[range.start + i]];
}

/* Runs `task` over 0..count, on the pool or here; nothing once the run is to end. `grain`: items
 * that are worth a task, some 16 KiB of memory traffic. */
void pte_parallel(const pte_call *call, size_t count, size_t grain, pte_task task, void *context);

/* The pace of one task; and whether the run goes on, as the last look saw it. */
static inline pte_pace pte_call_pace(const pte_call *call) { return pte_pace_of(call->watch); }
static inline bool pte_call_ended(const pte_call *call) {
  return call->watch != NULL &&
         atomic_load_explicit(&call->watch->ended, memory_order_relaxed) != PTE_OK;
}

static inline int64_t pte_tensor_count(const pte_tensor *t) {
  int64_t count = 1;
  for (unsigned i = 0; i < t->rank; i++) count *= t->shape[i];
  return count;
}

/* Product of the extents of axes begin..end. */
static inline int64_t pte_tensor_span(const pte_tensor *t, unsigned begin, unsigned end) {
  int64_t count = 1;
  for (unsigned i = begin; i < end; i++) count *= t->shape[i];
  return count;
}

#endif
