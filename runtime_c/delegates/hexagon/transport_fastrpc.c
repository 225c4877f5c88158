/* The DSP of a Qualcomm device, reached through its vendor's libcdsprpc.so. Building an image for
 * it takes the vendor's SDK, so it is refused: where the library is absent, and where it is there.
 */
#include <dlfcn.h>

#include "delegates/hexagon/transport.h"
#include "delegates/payload.h"

static pte_status missing(const pte_hexagon_config *config, pte_error *error) {
  (void)config;
  void *library = dlopen("libcdsprpc.so", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return pte_delegate_fail(error, "no libcdsprpc.so: this is no Qualcomm device with FastRPC");
  dlclose(library);
  return pte_delegate_fail(error, "FastRPC is here, but this build has no image for it: that takes "
                                  "the Hexagon SDK");
}

static pte_status map(hexagon_link *link, uint32_t region_bytes, pte_error *error) {
  (void)link, (void)region_bytes;
  return missing(NULL, error);
}

static pte_status open_link(hexagon_link *link, const pte_hexagon_config *config,
                            pte_error *error) {
  (void)link;
  return missing(config, error);
}

static pte_status invoke(hexagon_link *link, hexagon_message *message, pte_error *error) {
  (void)link, (void)message;
  return missing(NULL, error);
}

static void close_link(hexagon_link *link) { *link = (hexagon_link){0}; }

const hexagon_transport hexagon_fastrpc = {
    .name = "fastrpc",
    .missing = missing,
    .map = map,
    .open = open_link,
    .invoke = invoke,
    .close = close_link,
};
