/* The null delegate: copies input i to output i. A delegate to copy from, and what the conformance
 * tests run first. */
#include <string.h>

#include "pteron/delegate.h"

static void say(pte_error *error, const char *text) {
  size_t i = 0;
  for (; text[i] != 0 && i + 1 < sizeof error->text; i++) error->text[i] = text[i];
  error->text[i] = 0;
}

static int accepts(void *self, const char *target, pte_error *error) {
  (void)self;
  if (strcmp(target, "null-1") == 0) return 1;
  say(error, "it runs null-1 alone");
  return 0;
}

static pte_status instance_size(void *self, const char *target, const void *blob, size_t blob_bytes,
                                size_t *out_bytes, pte_error *error) {
  (void)self, (void)target, (void)blob, (void)blob_bytes, (void)error;
  *out_bytes = 1;
  return PTE_OK;
}

static pte_status open_instance(void *self, const char *target, const void *blob, size_t blob_bytes,
                                pte_memory memory, void **out, pte_error *error) {
  (void)self, (void)target, (void)blob, (void)blob_bytes, (void)error;
  *out = memory.data;
  return PTE_OK;
}

static pte_status prepare(void *instance, const pte_delegate_io *io, uint64_t *out_scratch_bytes,
                          pte_error *error) {
  (void)instance;
  *out_scratch_bytes = 0;
  for (uint32_t i = 0; i < io->output_count; i++) {
    if (i < io->input_count && io->inputs[i].size_bytes == io->outputs[i].size_bytes) continue;
    say(error, "each output must be as large as the input of its number");
    return PTE_DELEGATE;
  }
  return PTE_OK;
}

/* A delegate that takes longer asks pte_delegate_left_ns in between. */
static pte_status run(void *instance, const pte_delegate_io *io, void *scratch,
                      const pte_delegate_until *until, pte_error *error) {
  (void)instance, (void)scratch, (void)until, (void)error;
  for (uint32_t i = 0; i < io->output_count; i++)
    if (io->outputs[i].size_bytes != 0)
      memcpy(io->outputs[i].data, io->inputs[i].data, (size_t)io->outputs[i].size_bytes);
  return PTE_OK;
}

static void close_instance(void *instance) { (void)instance; }

static const pte_delegate_api api = {
    .size = sizeof(pte_delegate_api),
    .version = PTE_DELEGATE_VERSION,
    .name = "null",
    .accepts = accepts,
    .instance_size = instance_size,
    .open = open_instance,
    .prepare = prepare,
    .run = run,
    .close = close_instance,
};

const pte_delegate_api *pte_delegate_null(void) { return &api; }
