/* libFuzzer: opens whatever it gets. The mutator makes sizes and digests right again, so that
 * changes reach the verifier. */
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_one(data, size, 0); }
