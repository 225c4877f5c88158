#include "program/blake2s.h"

#include <stdbool.h>
#include <string.h>

static const uint32_t IV[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                               0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};

static const uint8_t SIGMA[10][16] = {
    {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15},
    {14, 10, 4,  8,  9,  15, 13, 6,  1,  12, 0,  2,  11, 7,  5,  3 },
    {11, 8,  12, 0,  5,  2,  15, 13, 10, 14, 3,  6,  7,  1,  9,  4 },
    {7,  9,  3,  1,  13, 12, 11, 14, 2,  6,  5,  10, 4,  0,  15, 8 },
    {9,  0,  5,  7,  2,  4,  10, 15, 14, 1,  11, 12, 6,  8,  3,  13},
    {2,  12, 6,  10, 0,  11, 8,  3,  4,  13, 7,  5,  15, 14, 1,  9 },
    {12, 5,  1,  15, 14, 13, 4,  10, 0,  7,  6,  3,  9,  2,  8,  11},
    {13, 11, 7,  14, 12, 1,  3,  9,  5,  0,  15, 4,  8,  6,  2,  10},
    {6,  15, 14, 9,  11, 3,  0,  8,  12, 2,  13, 7,  1,  4,  10, 5 },
    {10, 2,  8,  4,  7,  6,  1,  5,  15, 11, 9,  14, 3,  12, 13, 0 },
};

static uint32_t load32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t rotate(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static void mix(uint32_t *v, unsigned a, unsigned b, unsigned c, unsigned d, uint32_t x,
                uint32_t y) {
  v[a] += v[b] + x;
  v[d] = rotate(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = rotate(v[b] ^ v[c], 12);
  v[a] += v[b] + y;
  v[d] = rotate(v[d] ^ v[a], 8);
  v[c] += v[d];
  v[b] = rotate(v[b] ^ v[c], 7);
}

static void compress(pte_blake2s *hash, const uint8_t *block, bool last) {
  uint32_t v[16], m[16];
  for (unsigned i = 0; i < 8; i++) {
    v[i] = hash->state[i];
    v[i + 8] = IV[i];
  }
  v[12] ^= (uint32_t)hash->count;
  v[13] ^= (uint32_t)(hash->count >> 32);
  if (last) v[14] = ~v[14];
  for (unsigned i = 0; i < 16; i++) m[i] = load32(block + 4 * i);
  for (unsigned round = 0; round < 10; round++) {
    const uint8_t *s = SIGMA[round];
    for (unsigned i = 0; i < 4; i++) /* columns */
      mix(v, i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
    for (unsigned i = 0; i < 4; i++) /* diagonals */
      mix(v, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, m[s[8 + 2 * i]],
          m[s[9 + 2 * i]]);
  }
  for (unsigned i = 0; i < 8; i++) hash->state[i] ^= v[i] ^ v[i + 8];
}

void pte_blake2s_begin(pte_blake2s *hash, uint32_t digest_bytes) {
  memset(hash, 0, sizeof *hash);
  memcpy(hash->state, IV, sizeof IV);
  hash->state[0] ^= 0x01010000u ^ digest_bytes;
  hash->digest_bytes = digest_bytes;
}

void pte_blake2s_add(pte_blake2s *hash, const void *bytes, size_t size) {
  const uint8_t *at = bytes;
  while (size > 0) {
    if (hash->filled == 64) { /* more follows, so this block is not the last */
      hash->count += 64;
      compress(hash, hash->block, false);
      hash->filled = 0;
    }
    size_t take = 64 - hash->filled < size ? 64 - hash->filled : size;
    memcpy(hash->block + hash->filled, at, take);
    hash->filled += (uint32_t)take;
    at += take;
    size -= take;
  }
}

void pte_blake2s_end(pte_blake2s *hash, uint8_t *digest) {
  hash->count += hash->filled;
  memset(hash->block + hash->filled, 0, 64 - hash->filled);
  compress(hash, hash->block, true);
  for (uint32_t i = 0; i < hash->digest_bytes; i++)
    digest[i] = (uint8_t)(hash->state[i / 4] >> 8 * (i % 4));
}

void pte_blake2s_256(const void *bytes, size_t size, uint8_t digest[32]) {
  pte_blake2s hash;
  pte_blake2s_begin(&hash, 32);
  pte_blake2s_add(&hash, bytes, size);
  pte_blake2s_end(&hash, digest);
}
