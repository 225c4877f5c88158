/* A kernel's call as harness.py writes it (_Request there), here and for another processor. */
#ifndef TEST_REQUEST_H
#define TEST_REQUEST_H

#include "core/kernel.h"

typedef struct test_request {
  uint32_t op, in_count, out_count, threads, cpu;
  pte_machine machine; /* all 0: a usual one */
  const void *attrs;
  const pte_tensor *const *in;
  pte_tensor *const *out;
  pte_tables tables;
  pte_fault fault; /* filled where the result is not PTE_OK */
  uint32_t stage;  /* how far it came: 0 no kernel, 1 shapes, 2 check, 3 needs, 4 run, 5 done */
  uint64_t scratch_bytes, kept_bytes;
} test_request;

int32_t pte_test_run(test_request *r);
uint32_t pte_test_features(void); /* of the processor */

#endif
