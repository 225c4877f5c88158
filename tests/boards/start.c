/* Cortex-M under an emulator: vectors, memory, FPU, and what the host prints. A fault ends with 99.
 */
#include <stddef.h>
#include <stdint.h>

extern uint32_t __stack_top, __bss_start, __bss_end, __data_start, __data_end, __data_load;
int main(void);

static int host(int op, const void *arg) {
  register int r0 __asm__("r0") = op;
  register const void *r1 __asm__("r1") = arg;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
void host_print(const char *text) { host(0x04, text); }
static void host_exit(int code) {
  const uint32_t reason[2] = {0x20026u, (uint32_t)code};
  host(0x20, reason);
  for (;;) {
  }
}
void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  unsigned char *t = to;
  for (const unsigned char *f = from; count--;) *t++ = *f++;
  return to;
}
void Reset_Handler(void) {
  *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* the FPU, before anything uses it */
  __asm__ volatile("dsb\nisb" ::: "memory");
  for (uint32_t *p = &__bss_start; p < &__bss_end;) *p++ = 0;
  for (uint32_t *p = &__data_start, *q = &__data_load; p < &__data_end;) *p++ = *q++;
  host_exit(main());
}
static void Fault_Handler(void) {
  host_print("FAULT\n");
  host_exit(99);
}
__attribute__((section(".vectors"), used))
const void *const vectors[16] = {&__stack_top,
                                 (const void *)Reset_Handler,
                                 (const void *)Fault_Handler,
                                 (const void *)Fault_Handler,
                                 (const void *)Fault_Handler,
                                 (const void *)Fault_Handler,
                                 (const void *)Fault_Handler};
