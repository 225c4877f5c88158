/* What a delegate is: a C library that runs subgraphs compiled for it (an NPU, a DSP, another
 * runtime).
 *
 * A delegate is a table of functions that the caller registers in pte_open_options; nothing is
 * opened because a file says so. A program names a target ("null-1") and carries a blob; each
 * session that meets it opens an instance.
 *
 *   accepts -> instance_size -> open -> prepare (once for each set of shapes) -> run ... run ->
 * close
 *
 * Ownership: the table and `self` outlive the program. The blob and `target` are borrowed until
 * `close`; the blob is 64-byte aligned and its digest has been checked, but it may lie in a mapped
 * file: what addresses are computed from must be copied before it is checked. An instance lives in
 * the memory handed to `open` until `close`; what it takes from the system besides, `close` gives
 * back. Tensors are borrowed until the function returns. A session calls an instance from one
 * thread at a time; different instances may be called at once. `error->text` may be filled on
 * failure: it is shown behind the delegate's name. */
#ifndef PTERON_DELEGATE_H
#define PTERON_DELEGATE_H

#include "pteron/pteron.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PTE_DELEGATE_VERSION 2u

/* Dense and row-major. At prepare `data` is NULL. Inputs are not written. */
typedef struct pte_delegate_tensor {
  void *data;
  uint64_t size_bytes;
  int64_t shape[PTE_MAX_RANK];
  uint8_t dtype, rank, zero[6];
} pte_delegate_tensor;

typedef struct pte_delegate_io {
  const pte_delegate_tensor *inputs, *outputs;
  uint32_t input_count, output_count;
  uint32_t threads;
  uint32_t zero;
} pte_delegate_io;

/* When a run is to end early: the caller's `cancel`, deadline and clock (pte_run_options), until
 * `run` returns. */
typedef struct pte_delegate_until {
  const volatile int *cancel;  /* NULL: none; non-zero: now */
  uint64_t deadline_ns;        /* on `now`'s clock; 0: none */
  uint64_t (*now)(void *self); /* from any thread */
  void *now_self;
} pte_delegate_until;

/* Nanoseconds that are left: 0 the run is to end, UINT64_MAX there is no deadline. Only asking
 * again shows a cancel: wait at most 5 ms at a time. */
static inline uint64_t pte_delegate_left_ns(const pte_delegate_until *until) {
  uint64_t now;
  if (until->cancel != NULL && *until->cancel != 0) return 0;
  if (until->deadline_ns == 0) return UINT64_MAX;
  now = until->now(until->now_self);
  return now < until->deadline_ns ? until->deadline_ns - now : 0;
}

struct pte_delegate_api {
  uint32_t size;    /* sizeof(pte_delegate_api) */
  uint32_t version; /* PTE_DELEGATE_VERSION */
  const char *name;
  void *self; /* handed back as the first argument; may be NULL */

  /* 1: runs blobs for this target on this machine, now. 0: does not; `error->text` says why, and
   * what to install where that helps. */
  int (*accepts)(void *self, const char *target, pte_error *error);

  /* Bytes (64-byte aligned) that `open` needs for this blob. */
  pte_status (*instance_size)(void *self, const char *target, const void *blob, size_t blob_bytes,
                              size_t *out_bytes, pte_error *error);

  /* Makes an instance; the blob is untrusted bytes. After a failure there is nothing to close. */
  pte_status (*open)(void *self, const char *target, const void *blob, size_t blob_bytes,
                     pte_memory memory, void **out, pte_error *error);

  /* Fixes shapes; says how much scratch (64-byte aligned) `run` gets. May be called again with
   * other shapes. A failure leaves the instance open. */
  pte_status (*prepare)(void *instance, const pte_delegate_io *io, uint64_t *out_scratch_bytes,
                        pte_error *error);

  /* Computes the outputs: same shapes as at the last prepare, other addresses. Returns, with any
   * failure, within 10 ms of the time that `until` says; the instance can then run again, and
   * nothing writes the tensors any more. */
  pte_status (*run)(void *instance, const pte_delegate_io *io, void *scratch,
                    const pte_delegate_until *until, pte_error *error);

  void (*close)(void *instance);
};

/* Copies input i to output i: the delegate to copy from. Target "null-1". */
PTE_API const pte_delegate_api *pte_delegate_null(void);

#ifdef __cplusplus
}
#endif
#endif
