/* What the system says about caches: Linux in files of processor 0, Apple's by name. x86 asks the
 * processor instead (host/machine.c). */
#include "host/posix/machine.h"

#include <string.h>

#if defined(__APPLE__)
#include <sys/sysctl.h>
#include <sys/types.h>

/* Of the fast processors, where there are two kinds; 0: nobody says. */
static uint32_t number_of(const char *fast, const char *any) {
  const char *const names[] = {fast, any};
  for (unsigned i = 0; i < 2; i++) {
    uint64_t found = 0; /* of four bytes or eight, the low ones first */
    size_t size = sizeof found;
    if (sysctlbyname(names[i], &found, &size, NULL, 0) == 0 && found <= UINT32_MAX)
      return (uint32_t)found;
  }
  return 0;
}

/* Apple does not say the ways: its own processors have eight. */
void pte_system_machine(pte_machine *m) {
  const uint32_t line = number_of("hw.cachelinesize", "hw.cachelinesize");
  m->l1 = (pte_cache){number_of("hw.perflevel0.l1dcachesize", "hw.l1dcachesize"), 8, line};
  m->l2 = (pte_cache){number_of("hw.perflevel0.l2cachesize", "hw.l2cachesize"), 0, line};
  m->l3 = (pte_cache){number_of("hw.perflevel0.l3cachesize", "hw.l3cachesize"), 0, line};
}

#else

/* The text of the file <folder><index>/<name>, at most `size` - 1 bytes of it, then a 0. */
static void read_text(const char *folder, unsigned index, const char *name, char *text,
                      size_t size) {
  char path[256];
  const size_t length = strlen(folder), rest = strlen(name) + 1;
  pte_system_file file;
  int64_t got = 0;
  text[0] = 0;
  if (length + 2 + rest > sizeof path) return;
  memcpy(path, folder, length);
  path[length] = (char)('0' + index), path[length + 1] = '/';
  memcpy(path + length + 2, name, rest);
  if (!pte_system_open(path, &file)) return;
  got = pte_system_read(file, text, size - 1, 0);
  pte_system_close(file);
  text[got < 0 ? 0 : got] = 0;
}

/* Such as 48K; 0: there is none, or it is no number. */
static uint32_t number_of(const char *folder, unsigned index, const char *name) {
  char text[16], *at = text;
  uint64_t number = 0;
  read_text(folder, index, name, text, sizeof text);
  for (; *at >= '0' && *at <= '9' && number < UINT32_MAX; at++)
    number = number * 10 + (uint64_t)(*at - '0');
  if (*at == 'K') number <<= 10;
  if (*at == 'M') number <<= 20;
  return number > UINT32_MAX ? 0 : (uint32_t)number;
}

void pte_system_caches(const char *folder, pte_machine *m) {
  for (unsigned i = 0; i < 10; i++) {
    char kind[16];
    read_text(folder, i, "type", kind, sizeof kind);
    if (kind[0] != 'D' && kind[0] != 'U') continue; /* Data, Unified */
    pte_machine_put(m, number_of(folder, i, "level"),
                    (pte_cache){number_of(folder, i, "size"),
                                number_of(folder, i, "ways_of_associativity"),
                                number_of(folder, i, "coherency_line_size")});
  }
}

void pte_system_machine(pte_machine *m) {
  pte_system_caches("/sys/devices/system/cpu/cpu0/cache/index", m);
}
#endif
