/* How the host reaches a DSP: share memory, start it, exchange messages, end it. */
#ifndef PTE_HEXAGON_TRANSPORT_H
#define PTE_HEXAGON_TRANSPORT_H

#include "delegates/hexagon/config.h"
#include "delegates/hexagon/protocol.h"
#include "pteron/delegate.h"

/* A DSP in use; all zero with `is_open` 0: none. */
typedef struct hexagon_link {
  unsigned char *region; /* shared memory; owned, until close */
  uint32_t region_bytes;
  uint32_t timeout_ms, sequence;
  int is_open;
  int socket, file;       /* of messages, of the region */
  int64_t process, owner; /* the DSP's, and the one that started it */
} hexagon_link;

typedef struct hexagon_transport {
  const char *name;

  /* PTE_OK: it can be opened here; otherwise `error` says what is missing. Where it never can,
   * the functions below are NULL. */
  pte_status (*missing)(const pte_hexagon_config *config, pte_error *error);

  /* Makes the shared memory, all zero. After a failure there is nothing to close. */
  pte_status (*map)(hexagon_link *link, uint32_t region_bytes, pte_error *error);

  /* Starts the DSP with the memory of `map`. A failure leaves only what `close` gives back. */
  pte_status (*open)(hexagon_link *link, const pte_hexagon_config *config, pte_error *error);

  /* Sends `message` and stores the answer in it. PTE_DELEGATE: the DSP died, did not answer in time
   * or before `until` (NULL: whenever) and was ended, or answered something else; the link is of no
   * more use. */
  pte_status (*invoke)(hexagon_link *link, hexagon_message *message,
                       const pte_delegate_until *until, pte_error *error);

  /* Whether this process started the DSP; a forked child of it did not. */
  int (*is_ours)(const hexagon_link *link);

  /* Gives everything back and zeroes `link`; ends the DSP at once, if it is ours. */
  void (*close)(hexagon_link *link);
} hexagon_transport;

extern const hexagon_transport hexagon_qemu;    /* a process of qemu-hexagon */
extern const hexagon_transport hexagon_fastrpc; /* the DSP of a Qualcomm device */

/* The first of them that can be opened, or NULL and the reason of the emulator. */
const hexagon_transport *hexagon_find_transport(const pte_hexagon_config *config, pte_error *error);

/* Fills in the defaults: environment, then built-in. `image_room` holds a path. */
typedef struct hexagon_paths {
  char image[4096], emulator[4096];
} hexagon_paths;

/* Where image and emulator are. PTE_DELEGATE: one is not there; `error` says which package has it.
 */
pte_status hexagon_find_paths(const pte_hexagon_config *config, hexagon_paths *out,
                              pte_error *error);

#endif
