/* What a system gives: files, memory, and under host/<system>/thread.h threads. host/posix and
 * host/win32 have one of each; what is the same for both stands in host/ itself. */
#ifndef PTE_HOST_SYSTEM_H
#define PTE_HOST_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pteron/pteron.h"

/* An open file: a descriptor, or a handle. */
typedef intptr_t pte_system_file;

/* Why the system refused the thread's last call, and what that is called; `room` may be used for
 * it. */
int pte_system_error(void);
#define PTE_SYSTEM_ROOM 32
const char *pte_system_text(int error, char room[PTE_SYSTEM_ROOM]);

/* `path` is UTF-8. False: refused. */
bool pte_system_open(const char *path, pte_system_file *out);
void pte_system_close(pte_system_file file);
/* The file behind a descriptor of the C library, which stays the caller's. */
pte_system_file pte_system_of_descriptor(int descriptor);
/* The bytes of a file; `*out_plain` is false where it is no file on a disk. False: refused. */
bool pte_system_measure(pte_system_file file, uint64_t *out_size, bool *out_plain);
/* Maps `length` bytes read-only; `offset` is a multiple of pte_system_page(). NULL: refused. */
void *pte_system_map(pte_system_file file, uint64_t offset, size_t length);
void pte_system_unmap(void *data, size_t length);
uint64_t pte_system_page(void);
/* Up to `size` bytes from `at`: how many came, 0: the file ends there, -1: refused. */
int64_t pte_system_read(pte_system_file file, void *to, size_t size, uint64_t at);

/* What the system says about caches; what it does not say stays as it is. */
void pte_system_machine(pte_machine *m);
static inline void pte_machine_put(pte_machine *m, uint32_t level, pte_cache cache) {
  pte_cache *const levels[] = {&m->l1, &m->l2, &m->l3};
  if (level - 1 < 3) *levels[level - 1] = cache;
}

/* Memory, as pte_host_allocator has it. */
void *pte_system_allocate(void *self, size_t size_bytes, size_t align);
void pte_system_release(void *self, void *data, size_t size_bytes);

/* What parts a path's folders from its file. */
static inline bool pte_system_parts(char c) {
#if defined(_WIN32)
  return c == '/' || c == '\\' || c == ':';
#else
  return c == '/';
#endif
}

#endif
