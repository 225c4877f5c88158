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

const hexagon_transport hexagon_fastrpc = {.name = "fastrpc", .missing = missing};
