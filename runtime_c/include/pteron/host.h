/* Conveniences for systems that have files, threads and malloc; the runtime itself uses none of
 * them.
 *
 * Everything here can be replaced by the caller's own: memory, pte_pool and clocks are parameters
 * of pteron.h. */
#ifndef PTERON_HOST_H
#define PTERON_HOST_H

#include "pteron/pteron.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maps a file read-only; page-aligned. While it is mapped, who writes the file changes the bytes,
 * and reading behind the end of one that was truncated ends the process (SIGBUS). PTE_IO: it cannot
 * be opened or mapped; the text says why. */
PTE_API PTE_CHECKED pte_status pte_host_map(const char *path, pte_memory *out, pte_error *error);
PTE_API void pte_host_unmap(pte_memory mapped);

/* Reads a file into memory, which is freed by pte_host_free. PTE_IO, PTE_NO_MEMORY: it cannot be;
 * the text says why. */
PTE_API PTE_CHECKED pte_status pte_host_read(const char *path, pte_memory *out, pte_error *error);

/* 64-byte aligned memory, contents undefined. PTE_NO_MEMORY: the system has no more. */
PTE_API PTE_CHECKED pte_status pte_host_alloc(uint64_t size_bytes, pte_memory *out);
PTE_API void pte_host_free(pte_memory memory);

/* Nanoseconds of the monotonic clock; `self` is not used. Fits `now` of pte_run_options and
 * pte_tracer. */
PTE_API uint64_t pte_host_now(void *self);

/* Features of this processor as the system reports them (PTE_CPU_*), and how many processors this
 * process may use. */
PTE_API uint32_t pte_host_cpu(void);
PTE_API uint32_t pte_host_processors(void);

/* A pool of `threads` threads, the caller's included; at most 256. Work is handed out in chunks as
 * threads come free. Workers spin up to 50 us after a task, then park; they flush no denormals and
 * round to nearest. Any number of sessions may share a pool: one that finds it busy runs on its own
 * thread. After a fork the child has no workers and runs on its own thread too. Close it when no
 * session uses it any more. PTE_BAD_ARGUMENT: 0 or more than 256 threads. PTE_NO_MEMORY, PTE_IO:
 * the system refused memory or a thread. */
PTE_API PTE_CHECKED pte_status pte_host_pool_open(uint32_t threads, pte_pool **out);
PTE_API void pte_host_pool_close(pte_pool *pool);

/* --- a program and one session with memory of their own
 * -------------------------------------------------------- */

typedef struct pte_host_options {
  uint32_t size;
  uint32_t threads; /* 0: as many as there are processors */
  uint32_t cpu;     /* PTE_CPU_* [pte_host_cpu] */
  uint32_t delegate_count;
  const pte_delegate_api *const *delegates;
  const char *method; /* NULL: the first */
  uint64_t max_bytes; /* as in pte_prepare_options */
  int64_t max_extent;
  uint32_t copy; /* 1: the file is read into memory instead of mapped, so that nobody who writes or
                    truncates it later is noticed */
  uint32_t reserved;
} pte_host_options;

typedef struct pte_host_model pte_host_model;

/* Opens `path` (external constants lie beside it) and a session of one method. `options` may be
 * NULL: all processors, all their features. Close it with pte_host_model_close. A model belongs to
 * one thread at a time and to the process that opened it: after a fork its functions return
 * PTE_BAD_ARGUMENT. */
PTE_API PTE_CHECKED pte_status pte_host_model_open(const char *path,
                                                   const pte_host_options *options,
                                                   pte_host_model **out, pte_error *error);
PTE_API void pte_host_model_close(pte_host_model *model);

/* Borrowed until the model is closed. */
PTE_API const pte_program *pte_host_model_program(const pte_host_model *model);
PTE_API pte_session *pte_host_model_session(const pte_host_model *model);

/* As pte_session_prepare; arena and states are allocated as needed, states survive where their
 * sizes stay. */
PTE_API PTE_CHECKED pte_status pte_host_model_prepare(pte_host_model *model,
                                                      const int64_t *const *shapes,
                                                      const int64_t *const *values,
                                                      pte_sizes *out_sizes, pte_error *error);

/* As pte_session_run. */
PTE_API PTE_CHECKED pte_status pte_host_model_run(pte_host_model *model, const void *const *inputs,
                                                  void *const *outputs,
                                                  const pte_run_options *options, pte_error *error);

#ifdef __cplusplus
}
#endif
#endif
