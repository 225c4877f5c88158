#include "delegates/vgf/model.h"

#include <string.h>

enum {
  TABLE = 1,
  CODE = 2,
  DATA = 3,
  HEAD_BYTES = 64,
  ROW_BYTES = 96,
  ENTRY_AT = 16,
  ENTRY_BYTES = 48,
  DIMS_AT = 16,
  OFFSET_AT = 80,
  SIZE_AT = 88,
  DIMS = 8,
  MAX_CONSTANTS = 4096,
  ALIGN = 64
};
#define MAX_ELEMENTS (1u << 30)
#define MAX_WORDS    (1u << 24)

uint64_t pte_vgf_elements(const pte_vgf_shape *shape) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < shape->rank; i++) {
    n *= shape->dims[i]; /* both at most 2^30 */
    if (n > MAX_ELEMENTS || shape->dims[i] > MAX_ELEMENTS) return 0;
  }
  return n;
}

bool pte_vgf_same_shape(const pte_vgf_shape *a, const pte_vgf_shape *b) {
  return a->bits == b->bits && a->rank == b->rank &&
         memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0;
}

static bool read_shape(const unsigned char *row, pte_vgf_shape *out) {
  out->bits = pte_payload_u32(row);
  out->rank = pte_payload_u32(row + 4);
  if ((out->bits != 8 && out->bits != 32) || out->rank == 0 || out->rank > PTE_VGF_MAX_RANK)
    return false;
  for (uint32_t i = 0; i < DIMS; i++) {
    uint64_t dim = pte_payload_u64(row + DIMS_AT + 8 * i);
    if (i >= out->rank ? dim != 0 : dim == 0 || dim > MAX_ELEMENTS) return false;
    if (i < out->rank) out->dims[i] = (uint32_t)dim;
  }
  return pte_vgf_elements(out) != 0;
}

static bool read_row(const unsigned char *row, bool is_constant, uint32_t number,
                     uint64_t data_bytes) {
  pte_vgf_shape shape;
  if (!read_shape(row, &shape) || pte_payload_u32(row + 12) != 0) return false;
  uint64_t offset = pte_payload_u64(row + OFFSET_AT), size = pte_payload_u64(row + SIZE_AT);
  if (pte_payload_u32(row + 8) != number || size != pte_vgf_elements(&shape) * (shape.bits / 8))
    return false;
  if (!is_constant) return offset == 0 && shape.bits == 8;
  return offset % ALIGN == 0 && offset <= data_bytes && size <= data_bytes - offset;
}

pte_vgf_tensor pte_vgf_model_tensor(const pte_vgf_model *model, uint32_t i) {
  const unsigned char *row = model->rows + (size_t)i * ROW_BYTES;
  pte_vgf_tensor out = {{0}, pte_payload_u64(row + SIZE_AT), NULL};
  (void)read_shape(row, &out.shape); /* model_read has seen it */
  if (i >= model->input_count + model->output_count)
    out.data = model->data + pte_payload_u64(row + OFFSET_AT);
  return out;
}

/* The numbers of tensors, and the name: at least one character, zeros to the end of its field. */
static pte_status read_head(const pte_payload_section *table, pte_vgf_model *m, pte_error *error) {
  if (table->size < HEAD_BYTES || pte_payload_u32(table->data) != 1)
    return pte_delegate_fail(error, "payload: expected a tensor table of version 1; export again");
  m->input_count = pte_payload_u32(table->data + 4);
  m->output_count = pte_payload_u32(table->data + 8);
  m->constant_count = pte_payload_u32(table->data + 12);
  uint32_t most = PTE_VGF_MAX_IO;
  if (m->input_count == 0 || m->output_count == 0 || m->input_count > most ||
      m->output_count > most - m->input_count || m->constant_count > MAX_CONSTANTS)
    return pte_delegate_fail(error, "payload: expected 1 to %u inputs and outputs; export again",
                             (unsigned)most);
  uint64_t rows = (uint64_t)m->input_count + m->output_count + m->constant_count;
  const unsigned char *entry = table->data + ENTRY_AT;
  const unsigned char *end = memchr(entry, 0, ENTRY_BYTES);
  if (table->size != HEAD_BYTES + rows * ROW_BYTES || end == NULL || end == entry)
    return pte_delegate_fail(error, "payload: tensor table of %llu bytes; export again",
                             (unsigned long long)table->size);
  m->entry = (const char *)entry;
  m->rows = table->data + HEAD_BYTES;
  return PTE_OK;
}

pte_status pte_vgf_model_read(const void *blob, size_t blob_bytes, pte_payload_room *room,
                              pte_vgf_model *out, pte_error *error) {
  pte_payload payload;
  pte_payload_section table, code, data;
  pte_vgf_model m = {0};
  pte_status status =
      pte_payload_read(blob, blob_bytes, PTE_PAYLOAD_VGF, PTE_VGF_TARGET, &payload, error);
  if (status == PTE_OK) status = pte_payload_find(&payload, TABLE, &table, error);
  if (status == PTE_OK) status = pte_payload_find(&payload, CODE, &code, error);
  if (status == PTE_OK) status = pte_payload_find(&payload, DATA, &data, error);
  if (status == PTE_OK) status = pte_payload_keep(&table, room, error);
  if (status == PTE_OK) status = pte_payload_keep(&code, room, error);
  if (status == PTE_OK) status = read_head(&table, &m, error);
  if (status != PTE_OK) return status;
  if (code.size % 4 != 0 || code.size / 4 > MAX_WORDS || (uintptr_t)code.data % 4 != 0)
    return pte_delegate_fail(error, "payload: SPIR-V of %llu bytes; export again",
                             (unsigned long long)code.size);
  uint32_t io = m.input_count + m.output_count;
  uint64_t total = 0; /* of at most 4128 tensors of 4 GiB */
  for (uint32_t i = 0; i < io + m.constant_count; i++) {
    const unsigned char *row = m.rows + (size_t)i * ROW_BYTES;
    bool is_sound = read_row(row, i >= io, i < io ? i : i - io, data.size);
    total += is_sound ? pte_payload_u64(row + SIZE_AT) : 0;
    if (!is_sound || total > PTE_VGF_MAX_BYTES)
      return pte_delegate_fail(error, "payload: tensor %u has no valid shape, number or place",
                               (unsigned)i);
  }
  m.data = data.data;
  m.words = (const uint32_t *)(const void *)code.data;
  m.word_count = (size_t)code.size / 4;
  *out = m;
  return PTE_OK;
}
