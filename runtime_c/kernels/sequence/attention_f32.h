/* The family of attention_f32: blocks of query rows of `attention`. */
#ifndef PTE_ATTENTION_F32_H
#define PTE_ATTENTION_F32_H

#include <stdint.h>

#include "kernels/variant.h"

struct pte_attention; /* kernels/sequence/attention.h */

typedef struct pte_attention_f32 {
  /* one block of query rows that share a key head; `scratch` is the thread's */
  void (*item)(const struct pte_attention *a, int64_t item, float *scratch);
  /* the same where threads share its keys: a part of a wave's tiles, and what they gave, merged */
  void (*part)(const struct pte_attention *a, int64_t item, int64_t part, float *scratch);
  void (*merge)(const struct pte_attention *a, int64_t item, float *scratch);
} pte_attention_f32;

PTE_FAMILY(attention_f32)

#endif
