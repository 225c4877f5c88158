/* Runs requests of tests/ops/harness.py in another process, as one for another processor: memory
 * comes over stdin, the request points into it, and what changed goes back over stdout. Both sides
 * are little-endian with 64-bit pointers.
 *
 *     in:   u64 address of the request, u64 count, count x (u64 address, u64 bytes); then all bytes
 *     out:  i32 status, u32 stage, i64 position, u64 scratch bytes, char text[64]; then all bytes
 *     in:   u64 0: u32 features go out
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

typedef struct region {
  uint64_t address, bytes;
} region;

typedef struct regions {
  uint64_t count;
  region *from;
  unsigned char **to;
} regions;

typedef struct answer {
  int32_t status;
  uint32_t stage;
  int64_t position;
  uint64_t scratch_bytes;
  char text[64];
} answer;

static void receive(void *to, size_t bytes) {
  if (bytes > 0 && fread(to, bytes, 1, stdin) != 1) exit(0);
}

/* Where an address of the other side is here; NULL stays. */
static void *moved(const regions *r, const void *address) {
  for (uint64_t i = 0; i < r->count; i++) {
    uint64_t offset = (uint64_t)(uintptr_t)address - r->from[i].address;
    if (address != NULL && offset < r->from[i].bytes) return r->to[i] + offset;
  }
  return NULL;
}

/* Memory at the same distance from a multiple of 64. */
static regions receive_regions(void) {
  regions r;
  receive(&r.count, sizeof r.count);
  r.from = malloc(r.count * sizeof *r.from);
  r.to = malloc(r.count * sizeof *r.to);
  receive(r.from, r.count * sizeof *r.from);
  for (uint64_t i = 0; i < r.count; i++) {
    unsigned char *room = aligned_alloc(64, (r.from[i].bytes + 191) / 64 * 64);
    r.to[i] = room + r.from[i].address % 64;
    receive(r.to[i], r.from[i].bytes);
  }
  return r;
}

static void release(const regions *r) {
  for (uint64_t i = 0; i < r->count; i++) free(r->to[i] - r->from[i].address % 64);
  free(r->from);
  free(r->to);
}

/* Brings the data pointers of tensors here, or back to `data`. */
static void move_tensors(const regions *r, pte_tensor **tensors, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    tensors[i] = moved(r, tensors[i]);
    if (tensors[i] != NULL) tensors[i]->data = moved(r, tensors[i]->data);
  }
}

static answer run(const regions *r, test_request *q) {
  q->attrs = moved(r, q->attrs);
  q->in = moved(r, q->in);
  q->out = moved(r, q->out);
  move_tensors(r, (pte_tensor **)q->in, q->in_count);
  move_tensors(r, (pte_tensor **)q->out, q->out_count);
  q->tables.ints = moved(r, q->tables.ints);
  q->tables.literals = moved(r, q->tables.literals);
  q->tables.steps = moved(r, q->tables.steps);
  q->tables.refs = moved(r, q->tables.refs);
  q->tables.extents = moved(r, q->tables.extents);
  answer a = {.status = pte_test_run(q), .stage = q->stage, .scratch_bytes = q->scratch_bytes};
  a.position = q->fault.position;
  if (a.status != 0 && q->fault.text != NULL) strncpy(a.text, q->fault.text, sizeof a.text - 1);
  return a;
}

static void serve(uint64_t address) {
  regions r = receive_regions();
  test_request q;
  memcpy(&q, moved(&r, (const void *)(uintptr_t)address), sizeof q);
  answer a = run(&r, &q);
  fwrite(&a, sizeof a, 1, stdout);
  for (uint64_t i = 0; i < r.count; i++) fwrite(r.to[i], 1, r.from[i].bytes, stdout);
  fflush(stdout);
  release(&r);
}

int main(void) {
  for (;;) {
    uint64_t address;
    uint32_t features = pte_test_features();
    receive(&address, sizeof address);
    if (address != 0) serve(address);
    else fwrite(&features, sizeof features, 1, stdout), fflush(stdout);
  }
}
