/* BLAKE2s (RFC 7693), unkeyed: the digests of the program file. */
#ifndef PTE_BLAKE2S_H
#define PTE_BLAKE2S_H

#include <stddef.h>
#include <stdint.h>

typedef struct pte_blake2s {
  uint32_t state[8];
  uint64_t count; /* bytes taken by the state */
  uint8_t block[64];
  uint32_t filled; /* bytes waiting in `block` */
  uint32_t digest_bytes;
} pte_blake2s;

/* Begins a digest of 1 to 32 bytes. */
void pte_blake2s_begin(pte_blake2s *hash, uint32_t digest_bytes);
void pte_blake2s_add(pte_blake2s *hash, const void *bytes, size_t size);
void pte_blake2s_end(pte_blake2s *hash, uint8_t *digest);

/* 32 bytes of digest over one piece. */
void pte_blake2s_256(const void *bytes, size_t size, uint8_t digest[32]);

#endif
