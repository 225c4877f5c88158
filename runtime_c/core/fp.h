/* The floating-point control word: round to nearest, no flushing of denormals, no traps. Every
 * thread that runs kernels sets it before and restores it after, so that the caller's settings
 * change no bits of a result. */
#ifndef PTE_FP_H
#define PTE_FP_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
typedef uint32_t pte_fp_word;
static inline pte_fp_word pte_fp_get(void) { return __builtin_ia32_stmxcsr(); }
static inline void pte_fp_set(pte_fp_word word) { __builtin_ia32_ldmxcsr(word); }
#define PTE_FP_DEFAULT 0x1F80u /* all exceptions masked, nearest, no FTZ, no DAZ */

#elif defined(__aarch64__)
typedef uint64_t pte_fp_word;
static inline pte_fp_word pte_fp_get(void) {
  uint64_t word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
static inline void pte_fp_set(pte_fp_word word) { __asm__ volatile("msr fpcr, %0" : : "r"(word)); }
#define PTE_FP_DEFAULT 0u

#elif defined(__arm__) && defined(__ARM_FP)
typedef uint32_t pte_fp_word;
static inline pte_fp_word pte_fp_get(void) {
  uint32_t word;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(word));
  return word;
}
static inline void pte_fp_set(pte_fp_word word) {
  __asm__ volatile("vmsr fpscr, %0" : : "r"(word));
}
#define PTE_FP_DEFAULT 0u
#if __ARM_ARCH_PROFILE == 'M'
#define PTE_FP_KEPT 0x70000u /* LTPSIZE of Armv8.1-M: loops fault without their own */
#endif

#else /* no control word that we know: the platform's default must be IEEE */
typedef uint32_t pte_fp_word;
static inline pte_fp_word pte_fp_get(void) { return 0; }
static inline void pte_fp_set(pte_fp_word word) { (void)word; }
#define PTE_FP_DEFAULT 0u
#endif

#ifndef PTE_FP_KEPT
#define PTE_FP_KEPT 0u /* what is no part of arithmetic */
#endif

/* Sets the word and returns the caller's, for pte_fp_leave. */
static inline pte_fp_word pte_fp_enter(void) {
  pte_fp_word before = pte_fp_get();
  pte_fp_set(PTE_FP_DEFAULT | (before & PTE_FP_KEPT));
  return before;
}
static inline void pte_fp_leave(pte_fp_word before) { pte_fp_set(before); }

#endif
