#include "delegates/hexagon/transport.h"

const hexagon_transport *hexagon_find_transport(const pte_hexagon_config *config,
                                                pte_error *error) {
#ifdef HEXAGON_WITHOUT_EMULATOR
  return hexagon_fastrpc.missing(config, error) == PTE_OK ? &hexagon_fastrpc : NULL;
#else
  pte_error unused;
  if (hexagon_fastrpc.missing(config, &unused) == PTE_OK) return &hexagon_fastrpc;
  return hexagon_qemu.missing(config, error) == PTE_OK ? &hexagon_qemu : NULL;
#endif
}
