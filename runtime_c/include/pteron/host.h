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

/* Features of this processor as the system reports them (PTE_CPU_*), of which it is asked for those
 * that it gives on request (AMX: for the process, from then on), and how many processors this
 * process may use. */
PTE_API uint32_t pte_host_cpu(void);
PTE_API uint32_t pte_host_processors(void);

/* The caches of this machine, and what is known of processors of its family: on x86 the processor
 * says them, else Linux (of processor 0) or Apple's systems do. What nobody says stays 0.
 * PTE_BAD_ARGUMENT: `out` does not say its size. */
PTE_API PTE_CHECKED pte_status pte_host_machine(pte_machine *out);

/* What a pool is like; NULL or 0: the default in brackets. */
typedef struct pte_host_pool_options {
  uint32_t size;
  uint32_t threads; /* the caller's included; at most 256 [as many as there are processors] */
  int32_t niceness; /* of the workers, -20 (first) to 19 (last) [the caller's]; Linux */
  uint32_t processor_count;
  const uint32_t *processors; /* numbers of those that workers may run on [the caller's]; Linux.
                                 Calling threads stay where they are. */
} pte_host_pool_options;

/* A pool of threads. Work is dealt out in chunks; who is done with its own helps others. Workers
 * spin up to 50 us after a task, then park, as do at once those that find no processor when the
 * pool is opened; they flush no denormals and round to nearest. Any number of sessions may share a
 * pool: one that finds it busy runs on its own thread. After a fork the child has no workers and
 * runs on its own thread too. Close it when no session uses it any more. PTE_BAD_ARGUMENT: more
 * than 256 threads, a niceness or processor that no system has. PTE_NO_MEMORY, PTE_IO: the system
 * refused memory, a thread, the niceness or all of the processors. PTE_UNSUPPORTED: it has no such
 * settings. */
PTE_API PTE_CHECKED pte_status pte_host_pool_open(const pte_host_pool_options *options,
                                                  pte_pool **out, pte_error *error);
PTE_API void pte_host_pool_close(pte_pool *pool);

/* --- a program and one session with memory of their own
 * -------------------------------------------------------- */

/* Where a model's memory comes from, but for mapped files and the pool. */
typedef struct pte_host_allocator {
  uint32_t size;
  uint32_t reserved;
  void *self;
  void *(*allocate)(void *self, size_t size_bytes, size_t align); /* NULL: there is no more */
  void (*release)(void *self, void *data, size_t size_bytes);
} pte_host_allocator;

/* Who is told what is no failure: a part that runs on the CPU instead of its delegate, a file that
 * was read instead of mapped. `text` is borrowed until `say` returns. */
#define PTE_HOST_INFO    0u
#define PTE_HOST_WARNING 1u
typedef struct pte_host_log {
  uint32_t size;
  uint32_t reserved;
  void *self;
  void (*say)(void *self, uint32_t level, const char *text);
} pte_host_log;

/* What a model is opened with; NULL or 0: the default in brackets. What it points to must outlive
 * the model, but for `method`. */
typedef struct pte_host_options {
  uint32_t size;
  uint32_t threads;   /* [as many as there are processors, or as `pool` has] */
  uint32_t cpu;       /* PTE_CPU_* [pte_host_cpu] */
  uint32_t copy;      /* 1: bytes are read into memory instead of used in place, so that nobody who
                         writes or truncates a file later is noticed */
  const char *method; /* [the first] */
  uint64_t max_bytes; /* as in pte_prepare_options */
  int64_t max_extent;
  uint32_t delegate_count, external_count;
  const pte_delegate_api *const *delegates; /* those that are permitted */
  const pte_external *externals;            /* constants in other files, by name [beside `path`] */
  pte_pool *pool;                           /* shared with others [one of its own] */
  const pte_host_allocator *allocator;      /* [pte_host_alloc] */
  const pte_host_log *log;                  /* [nobody] */
  const pte_machine *machine;               /* copied [pte_host_machine] */
} pte_host_options;

typedef struct pte_host_model pte_host_model;

/* Opens a program and a session of one method: a file by its path; `length` bytes (0: all that
 * follow) of an open file from `offset`, as Android gives assets; bytes in memory. Files are
 * mapped, from whatever page the offset lies in; where it is no multiple of 64, they are read. The
 * descriptor stays the caller's and may be closed at once; bytes must outlive the model, unless
 * they are copied: because of `options`, or because they are not aligned to 64. Constants in other
 * files lie beside `path`, or are among `options->externals`.
 *
 * `options` may be NULL: all processors, all their features. Close it with pte_host_model_close. A
 * model belongs to one thread at a time. In a forked child it runs on, on the thread that calls and
 * with the child's own states, unless it was running when the process forked. */
PTE_API PTE_CHECKED pte_status pte_host_model_open(const char *path,
                                                   const pte_host_options *options,
                                                   pte_host_model **out, pte_error *error);
PTE_API PTE_CHECKED pte_status pte_host_model_open_fd(int file, uint64_t offset, uint64_t length,
                                                      const pte_host_options *options,
                                                      pte_host_model **out, pte_error *error);
PTE_API PTE_CHECKED pte_status pte_host_model_open_bytes(const void *bytes, size_t size_bytes,
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
