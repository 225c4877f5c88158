/* Android's libc.so for host_load.c: glibc, but for what the two name or number differently. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

int *__errno(void) { return &errno; }

long sysconf(int name) {
  static long (*real)(int);
  if (real == NULL) real = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
  return name == 0x27 ? real(_SC_PAGESIZE) : name == 0x61 ? real(_SC_NPROCESSORS_ONLN) : real(name);
}
