/* Where the Hexagon delegate finds its parts. */
#ifndef PTE_HEXAGON_CONFIG_H
#define PTE_HEXAGON_CONFIG_H

#include <stdint.h>

/* The `self` of the table, for a caller that makes its own copy of it. 0 and NULL: the default. */
typedef struct pte_hexagon_config {
  const char *image;    /* $PTERON_HEXAGON_IMAGE, or hexagon_v67.elf beside the library */
  const char *emulator; /* $PTERON_HEXAGON_EMULATOR, or qemu-hexagon on $PATH */
  uint32_t timeout_ms;  /* of one call: 30000 */
  uint32_t zero;
} pte_hexagon_config;

#endif
