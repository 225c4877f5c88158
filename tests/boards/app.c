/* Runs the model of pteron_model.c on one input; prints its output, memory and stack; then, where
 * the image takes other programs, opens damaged copies of its own, and runs those that are taken.
 */
#include "input.h"
#include "pteron_model.c"

#ifdef PTERON_MODEL_FIXED
static int pteron_model_open(const void *bytes, size_t size) { return bytes != NULL || size != 0; }
#endif

void host_print(const char *text);
extern unsigned char __stack_top[], __stack_end[];

enum { PAINT = 0x5A };

static void print_hex(const void *bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < count; i++) {
    unsigned char b = ((const unsigned char *)bytes)[i];
    const char text[3] = {digits[b >> 4], digits[b & 15], 0};
    host_print(text);
  }
}

static void print_number(const char *what, uint32_t n) {
  char text[12] = {0};
  int at = 11;
  do text[--at] = (char)('0' + n % 10);
  while ((n /= 10) != 0);
  host_print(what);
  host_print(text + at);
}

static void paint_stack(void) {
  volatile unsigned char *here = (unsigned char *)__builtin_frame_address(0) - 256;
  for (volatile unsigned char *p = __stack_end; p < here; p++) *p = PAINT;
}
static uint32_t stack_used(void) {
  volatile unsigned char *p = __stack_end;
  while (p < __stack_top && *p == PAINT) p++;
  return (uint32_t)(__stack_top - p);
}

static _Alignas(64) unsigned char output[OUTPUT_BYTES], other[OUTPUT_BYTES];
static const void *const inputs[] = {input};

#if CORRUPTED
static _Alignas(64) unsigned char copy[sizeof program_bytes];
static uint32_t seed = 1;
static uint32_t next(void) { return seed = seed * 1664525u + 1013904223u; }

/* Digests are made to fit, so that verification, not they, must find what is wrong. */
static void damage(void) {
  memcpy(copy, program_bytes, sizeof copy);
  for (uint32_t n = 1 + (next() >> 16) % 3; n > 0; n--) {
    uint32_t at = PROGRAM_BEGIN + (next() >> 8) % (PROGRAM_END - PROGRAM_BEGIN);
    copy[at] = (next() >> 31) != 0 ? (unsigned char)(next() >> 24)
                                   : (unsigned char)(copy[at] ^ 1u << (next() >> 29));
  }
  pte_blake2s hash;
  pte_blake2s_256(copy + PROGRAM_BEGIN, PROGRAM_END - PROGRAM_BEGIN, copy + PROGRAM_DIGEST);
  pte_blake2s_begin(&hash, 32);
  pte_blake2s_add(&hash, copy, 32);
  pte_blake2s_add(&hash, copy + 64, HEAD_END - 64);
  pte_blake2s_end(&hash, copy + 32);
}
#endif

int main(void) {
  void *const outputs[] = {output}, *const others[] = {other};
  paint_stack();
  if (pteron_model_open(NULL, 0) != 0 || pteron_model_run(inputs, outputs) != 0) {
    host_print(pteron_model_error());
    return 1;
  }
  print_hex(output, sizeof output);
  print_number("\nmemory ", (uint32_t)pteron_model_used());
  print_number("\nstack ", stack_used());
#if CORRUPTED
  uint32_t taken = 0;
  for (int i = 0; i < CORRUPTED; i++) {
    damage();
    if (pteron_model_open(copy, sizeof copy) != 0) continue;
    taken++;
    (void)pteron_model_run(inputs, others);
  }
  print_number("\ntaken ", taken);
  if (pteron_model_open(NULL, 0) != 0 || pteron_model_run(inputs, others) != 0) return 2;
#else
  memcpy(other, output, sizeof other);
  (void)others;
#endif
  host_print("\n");
  return memcmp(output, other, sizeof output) == 0 ? 0 : 3;
}
