#include "delegates/hexagon/hexagon.h"

#include <string.h>

#include "delegates/hexagon/plan.h"
#include "delegates/hexagon/transport.h"
#include "delegates/payload.h"
#include "pteron/types.h"

typedef struct instance {
  const pte_hexagon_config *config;
  const hexagon_transport *transport;
  hexagon_plan plan;
  hexagon_link link;
} instance;

/* Behind an instance: its copy of the payload. */
enum { KEPT_AT = (sizeof(instance) + 63) / 64 * 64 };

static int accepts(void *self, const char *target, pte_error *error) {
  if (strcmp(target, HEXAGON_TARGET) != 0) {
    pte_delegate_fail(error, "it runs " HEXAGON_TARGET ", not %.40s", target);
    return 0;
  }
  return hexagon_find_transport(self, error) != NULL;
}

static pte_status instance_size(void *self, const char *target, const void *blob, size_t blob_bytes,
                                size_t *out_bytes, pte_error *error) {
  (void)self;
  pte_payload_room room = {NULL, 0, 0};
  hexagon_plan plan;
  pte_status status = hexagon_plan_read(target, blob, blob_bytes, &room, &plan, error);
  if (status == PTE_OK) *out_bytes = KEPT_AT + (size_t)room.used;
  return status;
}

/* --- the DSP --------------------------------------------------------------------------------- */

/* One call; whatever goes wrong with the DSP closes the link. */
static pte_status call(instance *i, uint32_t command, const pte_delegate_until *until,
                       pte_error *error) {
  hexagon_message message = {.command = command, .layout = i->plan.layout};
  pte_status status = i->transport->invoke(&i->link, &message, until, error);
  if (status == PTE_OK && message.status == HEXAGON_DONE) return PTE_OK;
  if (status == PTE_OK)
    pte_delegate_fail(error, "the DSP refuses operation %u: %s", (unsigned)message.op,
                      hexagon_status_text(message.status));
  i->transport->close(&i->link);
  return PTE_DELEGATE;
}

/* Starts a DSP and gives it operations and weights, which stay there. */
static pte_status start(instance *i, const pte_delegate_until *until, pte_error *error) {
  const hexagon_plan *plan = &i->plan;
  const hexagon_layout *l = &plan->layout;
  pte_status status = i->transport->map(&i->link, l->region_bytes, error);
  if (status != PTE_OK) return status;
  memcpy(i->link.region + l->ops_at, plan->ops, l->op_count * sizeof(hexagon_op));
  memcpy(i->link.region + l->weights_at, plan->weights, l->weights_bytes);
  status = i->transport->open(&i->link, i->config, error);
  if (status != PTE_OK) {
    i->transport->close(&i->link);
    return status;
  }
  status = call(i, HEXAGON_HELLO, until, error);
  return status == PTE_OK ? call(i, HEXAGON_LOAD, until, error) : status;
}

static pte_status open_instance(void *self, const char *target, const void *blob, size_t blob_bytes,
                                pte_memory memory, void **out, pte_error *error) {
  if (memory.size_bytes < KEPT_AT)
    return pte_delegate_fail(error, "an instance takes %zu bytes, got %zu", (size_t)KEPT_AT,
                             (size_t)memory.size_bytes);
  instance *i = memory.data;
  pte_payload_room room = {(unsigned char *)memory.data + KEPT_AT, memory.size_bytes - KEPT_AT, 0};
  *i = (instance){.config = self, .transport = hexagon_find_transport(self, error)};
  if (i->transport == NULL) return PTE_DELEGATE;
  pte_status status = hexagon_plan_read(target, blob, blob_bytes, &room, &i->plan, error);
  if (status == PTE_OK) status = start(i, NULL, error);
  if (status == PTE_OK) *out = i;
  return status;
}

static void close_instance(void *self) {
  instance *i = self;
  i->transport->close(&i->link);
}

/* --- runs ------------------------------------------------------------------------------------ */

static int is_of(const pte_delegate_tensor *tensor, const hexagon_port *port) {
  int same = tensor->dtype == PTE_I8 && tensor->size_bytes == port->size_bytes &&
             tensor->rank == port->rank;
  for (uint32_t i = 0; same && i < port->rank; i++) same = tensor->shape[i] == port->shape[i];
  return same;
}

static pte_status prepare(void *self, const pte_delegate_io *io, uint64_t *out_scratch_bytes,
                          pte_error *error) {
  const hexagon_plan *plan = &((instance *)self)->plan;
  if (io->input_count != plan->input_count || io->output_count != plan->output_count)
    return pte_delegate_fail(error, "payload: compiled for %u inputs and %u outputs, got %u and %u",
                             (unsigned)plan->input_count, (unsigned)plan->output_count,
                             (unsigned)io->input_count, (unsigned)io->output_count);
  for (uint32_t i = 0; i < io->input_count + io->output_count; i++) {
    const hexagon_port port = hexagon_plan_port(plan, i);
    const pte_delegate_tensor *tensor =
        i < io->input_count ? &io->inputs[i] : &io->outputs[i - io->input_count];
    if (!is_of(tensor, &port))
      return pte_delegate_fail(error,
                               "tensor %u: compiled for %llu bytes of int8 in rank %u; export "
                               "for these shapes",
                               (unsigned)i, (unsigned long long)port.size_bytes,
                               (unsigned)port.rank);
  }
  *out_scratch_bytes = 0;
  return PTE_OK;
}

static pte_status run(void *self, const pte_delegate_io *io, void *scratch,
                      const pte_delegate_until *until, pte_error *error) {
  instance *i = self;
  (void)scratch;
  if (i->link.is_open && !i->transport->is_ours(&i->link)) i->transport->close(&i->link);
  if (!i->link.is_open) {
    pte_status status = start(i, until, error);
    if (status != PTE_OK) return status;
  }
  unsigned char *arena = i->link.region + i->plan.layout.arena_at;
  for (uint32_t k = 0; k < io->input_count; k++)
    memcpy(arena + hexagon_plan_port(&i->plan, k).offset, io->inputs[k].data,
           (size_t)io->inputs[k].size_bytes);
  pte_status status = call(i, HEXAGON_RUN, until, error);
  if (status != PTE_OK) return status;
  for (uint32_t k = 0; k < io->output_count; k++)
    memcpy(io->outputs[k].data, arena + hexagon_plan_port(&i->plan, io->input_count + k).offset,
           (size_t)io->outputs[k].size_bytes);
  return PTE_OK;
}

const pte_delegate_api *pte_delegate_hexagon(void) {
  static const pte_delegate_api api = {
      .size = sizeof(pte_delegate_api),
      .version = PTE_DELEGATE_VERSION,
      .name = "hexagon",
      .accepts = accepts,
      .instance_size = instance_size,
      .open = open_instance,
      .prepare = prepare,
      .run = run,
      .close = close_instance,
  };
  return &api;
}
