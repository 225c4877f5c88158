/* Running: one execution of a prepared method. Internal to session/. */
#ifndef PTE_RUN_H
#define PTE_RUN_H

#include "session/prepare.h"

typedef struct pte_execution {
  pte_session *s;
  pte_run_options options; /* complete */
  uint64_t instructions_left;
  pte_watch watch; /* the session's calls point here while it runs, unless nothing can end it */
  pte_error *err;
} pte_execution;

/* run.c: the instructions of a block of the program, one after the other. */
PTE_CHECKED pte_status pte_run_block(pte_execution *run, uint32_t block);

/* run.c: PTE_CANCELLED or PTE_DEADLINE, at instruction `work`, where the run is to end. */
PTE_CHECKED pte_status pte_run_look(pte_execution *run, uint32_t work);

/* run.c: sizes and addresses of an instruction's operands, as counted dimensions and bound params
 * now say. */
PTE_CHECKED pte_status pte_run_refresh(pte_execution *run, const pte_tensor *tensor);

/* control.c: the instructions that run blocks. */
PTE_CHECKED pte_status pte_run_if(pte_execution *run, uint32_t work);
PTE_CHECKED pte_status pte_run_loop(pte_execution *run, uint32_t work);
PTE_CHECKED pte_status pte_run_called(pte_execution *run, uint32_t work, uint32_t block);

/* counted.c: opens the counted axes of an output to their capacities, before the instruction that
 * decides them. */
PTE_CHECKED pte_status pte_counted_open(pte_execution *run, pte_tensor *out);

/* counted.c: sets the counted dimensions that are axes of `out` to `shape` (its rank), sizes `out`
 * again and compares. PTE_LIMIT: above a capacity; the text names the dimension. PTE_BAD_DATA:
 * another axis differs. */
PTE_CHECKED pte_status pte_counted_close(pte_execution *run, uint32_t work, pte_tensor *out,
                                         const int64_t *shape);

/* delegates.c: gives the instruction to its fallback where the delegate fails and that may be.
 * PTE_DELEGATE: it may not; PTE_CANCELLED, PTE_DEADLINE. */
PTE_CHECKED pte_status pte_delegate_run(pte_execution *run, uint32_t work);

/* move.c: bytes of a dense tensor; and dst = src for two tensors of one dtype and shape, any
 * strides, or as much of it as `watch` (may be NULL) lets. They may overlap: then the result is
 * unspecified, nothing else. */
uint64_t pte_tensor_bytes(const pte_tensor *t);
void pte_tensor_move(const pte_tensor *dst, const pte_tensor *src, pte_watch *watch);

#endif
