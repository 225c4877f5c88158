/* libFuzzer: opens, prepares and runs whatever it gets, within small caps. */
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_one(data, size, 2); }
