#include "delegates/payload.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HEADER_BYTES = 64, ROW_BYTES = 24, TARGET_AT = 16, TARGET_BYTES = 32, ALIGN = 128 };

pte_status pte_delegate_fail(pte_error *error, const char *format, ...) {
  if (error == NULL) return PTE_DELEGATE;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return PTE_DELEGATE;
}

uint32_t pte_payload_u32(const unsigned char *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t pte_payload_u64(const unsigned char *at) {
  return (uint64_t)pte_payload_u32(at) | (uint64_t)pte_payload_u32(at + 4) << 32;
}

static const unsigned char *row(const unsigned char *bytes, uint32_t i) {
  return bytes + HEADER_BYTES + (size_t)i * ROW_BYTES;
}

/* The target fills its field from the first byte, zeros behind it. */
static int is_target(const unsigned char *field, const char *target) {
  size_t length = strlen(target);
  if (length >= TARGET_BYTES || memcmp(field, target, length) != 0) return 0;
  for (size_t i = length; i < TARGET_BYTES; i++)
    if (field[i] != 0) return 0;
  return 1;
}

/* Each section behind the one before it, all behind the table and inside `size`. */
static pte_status check_sections(const unsigned char *bytes, uint64_t size, uint32_t count,
                                 pte_error *error) {
  uint64_t end = HEADER_BYTES + (uint64_t)count * ROW_BYTES;
  if (end > size)
    return pte_delegate_fail(error, "payload: %u sections do not fit in its bytes; export again",
                             (unsigned)count);
  for (uint32_t i = 0; i < count; i++) {
    const unsigned char *at = row(bytes, i);
    uint32_t kind = pte_payload_u32(at);
    uint64_t offset = pte_payload_u64(at + 8), length = pte_payload_u64(at + 16);
    int ascends = i == 0 || pte_payload_u32(row(bytes, i - 1)) < kind;
    if (!ascends || pte_payload_u32(at + 4) != 0 || offset % ALIGN != 0 || offset < end ||
        offset > size || length > size - offset)
      return pte_delegate_fail(error, "payload: section %u (kind %u) lies wrong; export again",
                               (unsigned)i, (unsigned)kind);
    end = offset + length;
  }
  return PTE_OK;
}

pte_status pte_payload_read(const void *blob, size_t blob_bytes, uint32_t kind, const char *target,
                            pte_payload *out, pte_error *error) {
  const unsigned char *bytes = blob;
  if (blob_bytes < HEADER_BYTES || memcmp(bytes, "PTEDLG\0", 8) != 0)
    return pte_delegate_fail(error, "payload: expected \"PTEDLG\" first; export again");
  if (pte_payload_u32(bytes + 8) != 1)
    return pte_delegate_fail(error, "payload: expected layout 1, got %u; export again",
                             (unsigned)pte_payload_u32(bytes + 8));
  if (pte_payload_u32(bytes + 12) != kind || !is_target(bytes + TARGET_AT, target))
    return pte_delegate_fail(error, "payload: not for this delegate and target %s; export again",
                             target);
  uint64_t size = pte_payload_u64(bytes + 48);
  uint32_t count = pte_payload_u32(bytes + 56);
  if (size != blob_bytes || count > PTE_PAYLOAD_MAX_SECTIONS || pte_payload_u32(bytes + 60) != 0)
    return pte_delegate_fail(error, "payload: header says %llu bytes and %u sections; export again",
                             (unsigned long long)size, (unsigned)count);
  pte_status status = check_sections(bytes, size, count, error);
  if (status == PTE_OK) *out = (pte_payload){bytes, size, count};
  return status;
}

pte_status pte_payload_find(const pte_payload *payload, uint32_t kind, pte_payload_section *out,
                            pte_error *error) {
  for (uint32_t i = 0; i < payload->section_count; i++) {
    const unsigned char *at = row(payload->bytes, i);
    if (pte_payload_u32(at) != kind) continue;
    uint64_t offset = pte_payload_u64(at + 8), length = pte_payload_u64(at + 16);
    if (offset % ALIGN != 0 || offset > payload->size || length > payload->size - offset) break;
    *out = (pte_payload_section){payload->bytes + offset, length};
    return PTE_OK;
  }
  return pte_delegate_fail(error, "payload: section of kind %u is missing; export again",
                           (unsigned)kind);
}

pte_status pte_payload_keep(pte_payload_section *section, pte_payload_room *room,
                            pte_error *error) {
  if (room == NULL) return PTE_OK;
  uint64_t step = (section->size + 63) & ~(uint64_t)63; /* sections end inside their blob */
  if (room->data == NULL) {
    room->used += step;
    return PTE_OK;
  }
  if (step > room->size - room->used)
    return pte_delegate_fail(error, "payload: it changed while it was opened");
  unsigned char *copy = room->data + room->used;
  if (section->size != 0) memcpy(copy, section->data, (size_t)section->size);
  section->data = copy;
  room->used += step;
  return PTE_OK;
}
