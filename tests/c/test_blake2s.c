/* BLAKE2s against RFC 7693 and values of Python's hashlib. */
// sources: program/blake2s.c
#include "check.h"
#include "program/blake2s.h"

static void text_of(const uint8_t *digest, unsigned size, char *out) {
  for (unsigned i = 0; i < size; i++) sprintf(out + 2 * i, "%02x", digest[i]);
}

static void digest_of_abc_is_the_one_of_the_standard(void) {
  uint8_t digest[32];
  char text[65];
  pte_blake2s_256("abc", 3, digest);
  text_of(digest, 32, text);
  CHECK_TEXT(text, "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
}

/* hashlib.blake2s(b"".join(blake2s(bytes(range(n % 256)...))) folds every length from 0 to 300 into
 * one digest. */
static void every_length_up_to_300_agrees_with_hashlib(void) {
  uint8_t bytes[300], digest[32], all[32];
  char text[65];
  pte_blake2s fold;
  for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7 + 1);
  pte_blake2s_begin(&fold, 32);
  for (unsigned n = 0; n <= sizeof bytes; n++) {
    pte_blake2s_256(bytes, n, digest);
    pte_blake2s_add(&fold, digest, 32);
  }
  pte_blake2s_end(&fold, all);
  text_of(all, 32, text);
  CHECK_TEXT(text, "2dba3bdbfd4c4d39ed4a9a5e21307d000a6a00e58cac9e8e26c7a81b2e57f25b");
}

static void pieces_give_the_digest_of_the_whole(void) {
  uint8_t bytes[300], whole[32], pieces[32];
  for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7 + 1);
  pte_blake2s_256(bytes, sizeof bytes, whole);
  for (unsigned step = 1; step < 130; step++) {
    pte_blake2s hash;
    pte_blake2s_begin(&hash, 32);
    for (unsigned at = 0; at < sizeof bytes; at += step)
      pte_blake2s_add(&hash, bytes + at, at + step <= sizeof bytes ? step : sizeof bytes - at);
    pte_blake2s_end(&hash, pieces);
    CHECK(memcmp(whole, pieces, 32) == 0);
  }
}

static void short_digests_are_their_own(void) {
  uint8_t digest[8];
  char text[17];
  pte_blake2s hash;
  pte_blake2s_begin(&hash, 8);
  pte_blake2s_add(&hash, "abc", 3);
  pte_blake2s_end(&hash, digest);
  text_of(digest, 8, text);
  CHECK_TEXT(text, "972e9d2cd6de6402");
}

int main(void) {
  digest_of_abc_is_the_one_of_the_standard();
  every_length_up_to_300_agrees_with_hashlib();
  pieces_give_the_digest_of_the_whole();
  short_digests_are_their_own();
  return check_done();
}
