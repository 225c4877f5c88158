#include "delegates/hexagon/plan.h"

#include <string.h>

#include "delegates/payload.h"

enum { INFO = 1, PORTS = 2, OPS = 3, WEIGHTS = 4, PORT_BYTES = 64, MAX_PORTS = 4096 };

const char *hexagon_status_text(uint32_t status) {
  static const char *const texts[HEXAGON_STATUS_COUNT] = {
      [HEXAGON_DONE] = "done",
      [HEXAGON_BAD_MESSAGE] = "a message that it does not know",
      [HEXAGON_BAD_LAYOUT] = "the parts of its memory overlap or are too large",
      [HEXAGON_NO_REGION] = "it cannot map the shared memory",
      [HEXAGON_BAD_KIND] = "unknown kind",
      [HEXAGON_BAD_EXTENT] = "an extent is 0 or too large",
      [HEXAGON_BAD_ALIGNMENT] = "an offset is not a multiple of 128",
      [HEXAGON_OUT_OF_ARENA] = "a tensor lies outside the arena",
      [HEXAGON_OUT_OF_WEIGHTS] = "weights lie outside their section",
      [HEXAGON_BAD_CODE] = "a zero point or bound is no int8",
  };
  return status < HEXAGON_STATUS_COUNT ? texts[status] : "unknown status";
}

hexagon_port hexagon_plan_port(const hexagon_plan *plan, uint32_t index) {
  const unsigned char *at = plan->ports + (size_t)index * PORT_BYTES;
  hexagon_port port = {pte_payload_u32(at), pte_payload_u32(at + 4), {0}, 1};
  for (uint32_t i = 0; i < PTE_MAX_RANK; i++) {
    port.shape[i] = pte_payload_u32(at + 16 + 4 * i);
    if (i < port.rank && port.size_bytes <= HEXAGON_MAX_REGION) port.size_bytes *= port.shape[i];
  }
  return port;
}

static pte_status check_ports(const hexagon_plan *plan, pte_error *error) {
  for (uint32_t i = 0; i < plan->input_count + plan->output_count; i++) {
    const hexagon_port port = hexagon_plan_port(plan, i);
    uint64_t end = port.offset + port.size_bytes;
    if (port.rank > PTE_MAX_RANK || port.size_bytes == 0 || port.size_bytes > HEXAGON_MAX_REGION ||
        end > plan->layout.arena_bytes)
      return pte_delegate_fail(error, "payload: tensor %u lies outside the arena; export again",
                               (unsigned)i);
  }
  return PTE_OK;
}

static pte_status check_ops(const hexagon_plan *plan, pte_error *error) {
  for (uint32_t i = 0; i < plan->layout.op_count; i++) {
    hexagon_op op;
    memcpy(&op, plan->ops + (size_t)i * sizeof op, sizeof op);
    hexagon_status status =
        hexagon_check_op(&op, plan->layout.weights_bytes, plan->layout.arena_bytes);
    if (status != HEXAGON_DONE)
      return pte_delegate_fail(error, "payload: operation %u: %s; export again", (unsigned)i,
                               hexagon_status_text(status));
  }
  return PTE_OK;
}

static uint64_t aligned(uint64_t size) {
  return (size + HEXAGON_ALIGN - 1) & ~(uint64_t)(HEXAGON_ALIGN - 1);
}

/* Operations, weights and arena one behind the other. */
static pte_status lay_out(uint64_t ops, uint64_t weights, uint64_t arena, hexagon_layout *out,
                          pte_error *error) {
  uint64_t weights_at = aligned(ops), arena_at = weights_at + aligned(weights);
  uint64_t region = arena_at + aligned(arena) + HEXAGON_SLACK;
  if (ops > HEXAGON_MAX_REGION || weights > HEXAGON_MAX_REGION || region > HEXAGON_MAX_REGION ||
      ops % sizeof(hexagon_op) != 0 || ops / sizeof(hexagon_op) > HEXAGON_MAX_OPS)
    return pte_delegate_fail(error, "payload: %llu bytes of memory are wanted, at most %d",
                             (unsigned long long)region, HEXAGON_MAX_REGION);
  *out = (hexagon_layout){.region_bytes = (uint32_t)region,
                          .op_count = (uint32_t)(ops / sizeof(hexagon_op)),
                          .weights_at = (uint32_t)weights_at,
                          .weights_bytes = (uint32_t)weights,
                          .arena_at = (uint32_t)arena_at,
                          .arena_bytes = (uint32_t)arena};
  return PTE_OK;
}

pte_status hexagon_plan_read(const char *target, const void *blob, size_t blob_bytes,
                             pte_payload_room *room, hexagon_plan *out, pte_error *error) {
  pte_payload payload;
  pte_payload_section parts[WEIGHTS + 1];
  pte_status status =
      pte_payload_read(blob, blob_bytes, PTE_PAYLOAD_HEXAGON, target, &payload, error);
  for (uint32_t kind = INFO; status == PTE_OK && kind <= WEIGHTS; kind++)
    status = pte_payload_find(&payload, kind, &parts[kind], error);
  for (uint32_t kind = INFO; status == PTE_OK && kind < WEIGHTS; kind++)
    status = pte_payload_keep(&parts[kind], room, error);
  if (status != PTE_OK) return status;
  const unsigned char *info = parts[INFO].data;
  if (parts[INFO].size != 16 || pte_payload_u32(info) != HEXAGON_PROTOCOL)
    return pte_delegate_fail(error, "payload: expected protocol %u; export again with this version",
                             HEXAGON_PROTOCOL);
  *out = (hexagon_plan){.ports = parts[PORTS].data,
                        .ops = parts[OPS].data,
                        .weights = parts[WEIGHTS].data,
                        .input_count = pte_payload_u32(info + 8),
                        .output_count = pte_payload_u32(info + 12)};
  if (out->input_count > MAX_PORTS || out->output_count > MAX_PORTS ||
      parts[PORTS].size != (uint64_t)(out->input_count + out->output_count) * PORT_BYTES)
    return pte_delegate_fail(error, "payload: %u inputs and %u outputs do not fit; export again",
                             (unsigned)out->input_count, (unsigned)out->output_count);
  status =
      lay_out(parts[OPS].size, parts[WEIGHTS].size, pte_payload_u32(info + 4), &out->layout, error);
  if (status == PTE_OK) status = check_ports(out, error);
  return status == PTE_OK ? check_ops(out, error) : status;
}
