#include "program/header.h"

#include <string.h>

#include "core/error.h"
#include "core/size.h"
#include "program/blake2s.h"
#include "program/verify.h"

static const uint8_t MAGIC[8] = {0x89, 'P', 'T', 'E', 'R', 'O', 'N', '\n'};
static const char KINDS[][10] = {"?", "MANIFEST", "PROGRAM", "CONSTANTS", "BLOB", "DEBUG", "TEXT"};

static pte_status check_magic(const uint8_t *bytes, size_t size, pte_error *error) {
  if (size >= 6 && bytes[4] == 'E' && bytes[5] == 'T')
    return pte_fail(error, PTE_BAD_PROGRAM,
                    "header.magic: this is an ExecuTorch program; export the model with pteron");
  if (size < 8 || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
    return pte_fail(error, PTE_BAD_PROGRAM, "header.magic: not a Pteron program");
  return PTE_OK;
}

pte_status pte_header_read(const uint8_t *bytes, size_t size, pte_file_header *out,
                           pte_error *error) {
  PTE_TRY(check_magic(bytes, size, error));
  if (size < PTE_HEADER_BYTES)
    return pte_fail(error, PTE_BAD_PROGRAM, "header: expected 64 bytes, got %llu", (uint64_t)size);
  pte_file_header header;
  memcpy(&header, bytes, sizeof header);
  if (header.version != PTE_FORMAT_VERSION)
    return pte_fail(error, PTE_BAD_PROGRAM, "header.version: expected %u, got %u; export again",
                    (uint32_t)PTE_FORMAT_VERSION, header.version);
  const uint64_t schema = PTE_SCHEMA_HASH;
  if (memcmp(header.schema, &schema, sizeof schema) != 0)
    return pte_fail(error, PTE_BAD_PROGRAM,
                    "header.schema: made for another version of the operators; export again");
  if (header.file_bytes != size)
    return pte_fail(error, PTE_BAD_PROGRAM, "header.bytes: expected %llu as the file has, got %llu",
                    (uint64_t)size, header.file_bytes);
  if (header.segment_count < 2 || header.segment_count > PTE_MAX_SEGMENTS)
    return pte_fail(error, PTE_BAD_PROGRAM, "header.segments: expected 2 to %u, got %u",
                    (uint32_t)PTE_MAX_SEGMENTS, header.segment_count);
  if (header.segment_count > (size - PTE_HEADER_BYTES) / PTE_ENTRY_BYTES)
    return pte_fail(error, PTE_BAD_PROGRAM, "header.segments: %u entries do not fit into the file",
                    header.segment_count);
  *out = header;
  return PTE_OK;
}

pte_file_entry pte_segment_entry_at(const uint8_t *head, uint32_t i) {
  pte_file_entry entry;
  memcpy(&entry, head + pte_head_bytes(i), sizeof entry);
  return entry;
}

static pte_status bad(pte_error *error, uint32_t i, const char *why, uint64_t got,
                      uint64_t expected) {
  return pte_fail(error, PTE_BAD_PROGRAM, "segments[%u].%s: expected %llu, got %llu", i, why,
                  expected, got);
}

static pte_status check_kind(const pte_file_entry *entry, uint32_t i, pte_error *error) {
  if (entry->kind == 0 || entry->kind >= PTE_SEGMENT_COUNT)
    return pte_fail(error, PTE_BAD_PROGRAM, "segments[%u].kind: %u is not a kind of segment", i,
                    entry->kind);
  if (entry->flags > PTE_SEGMENT_EXTERNAL)
    return pte_fail(error, PTE_BAD_PROGRAM, "segments[%u].flags: %u has undefined bits", i,
                    entry->flags);
  bool external = entry->flags == PTE_SEGMENT_EXTERNAL;
  bool may = entry->kind == PTE_SEGMENT_CONSTANTS || entry->kind == PTE_SEGMENT_BLOB;
  if (external && !may)
    return pte_fail(error, PTE_BAD_PROGRAM, "segments[%u].flags: %s cannot be external", i,
                    KINDS[entry->kind]);
  if (!external && entry->external != PTE_NONE)
    return bad(error, i, "external", entry->external, PTE_NONE);
  if (entry->zero != 0) return bad(error, i, "zero", entry->zero, 0);
  return PTE_OK;
}

/* Checks where an internal segment lies; `*end` is the end of the one before, and moves on. */
static pte_status check_place(const uint8_t *bytes, const pte_file_header *header,
                              const pte_file_entry *entry, uint32_t i, uint64_t *end,
                              pte_error *error) {
  bool pages = entry->kind == PTE_SEGMENT_CONSTANTS && entry->size > 16384;
  uint64_t begin = 0;
  if (!pte_align(*end, pages ? 16384 : 64, &begin) || entry->offset != begin)
    return bad(error, i, "offset", entry->offset, begin);
  if (begin > header->file_bytes || entry->size > header->file_bytes - begin)
    return pte_fail(error, PTE_BAD_PROGRAM,
                    "segments[%u].size: %llu bytes from %llu end behind the file", i, entry->size,
                    begin);
  for (uint64_t at = *end; at < begin; at++)
    if (bytes[at] != 0)
      return pte_fail(error, PTE_BAD_PROGRAM,
                      "segments[%u]: byte %llu in the gap before it is not 0", i, at);
  *end = begin + entry->size;
  return PTE_OK;
}

pte_status pte_segments_read(const uint8_t *head, const uint8_t *bytes,
                             const pte_file_header *header, pte_segment *segments,
                             pte_error *error) {
  uint8_t digest[32];
  const size_t digest_at = offsetof(pte_file_header, digest);
  pte_blake2s hash;
  uint64_t end = pte_head_bytes(header->segment_count);
  pte_blake2s_begin(&hash, 32);
  pte_blake2s_add(&hash, head, digest_at);
  pte_blake2s_add(&hash, head + PTE_HEADER_BYTES, (size_t)end - PTE_HEADER_BYTES);
  pte_blake2s_end(&hash, digest);
  if (memcmp(digest, head + digest_at, 32) != 0)
    return pte_fail(error, PTE_BAD_PROGRAM,
                    "header.digest: header or segment table were changed; get the file again");
  uint32_t seen[PTE_SEGMENT_COUNT] = {0};
  for (uint32_t i = 0; i < header->segment_count; i++) {
    pte_file_entry entry = pte_segment_entry_at(head, i);
    const uint8_t *data = NULL;
    PTE_TRY(check_kind(&entry, i, error));
    seen[entry.kind]++;
    if (entry.flags != PTE_SEGMENT_EXTERNAL) {
      PTE_TRY(check_place(bytes, header, &entry, i, &end, error));
      data = bytes + entry.offset;
    } else if (entry.offset != 0) return bad(error, i, "offset", entry.offset, 0);
    if (segments != NULL)
      segments[i] =
          (pte_segment){data, entry.size,
                        head + pte_head_bytes(i) + offsetof(pte_file_entry, digest), entry.kind};
  }
  if (end != header->file_bytes)
    return pte_fail(error, PTE_BAD_PROGRAM, "header.bytes: %llu bytes after the last segment",
                    header->file_bytes - end);
  if (seen[PTE_SEGMENT_MANIFEST] != 1 || seen[PTE_SEGMENT_PROGRAM] != 1 ||
      seen[PTE_SEGMENT_DEBUG] > 1 || seen[PTE_SEGMENT_TEXT] > 1)
    return pte_fail(error, PTE_BAD_PROGRAM,
                    "segments: expected one MANIFEST, one PROGRAM and at most one DEBUG and TEXT, "
                    "got %u, %u, %u, %u",
                    seen[PTE_SEGMENT_MANIFEST], seen[PTE_SEGMENT_PROGRAM], seen[PTE_SEGMENT_DEBUG],
                    seen[PTE_SEGMENT_TEXT]);
  return PTE_OK;
}

uint32_t pte_segment_find(const pte_segment *segments, uint32_t count, uint32_t kind) {
  for (uint32_t i = 0; i < count; i++)
    if (segments[i].kind == kind) return i;
  return PTE_NONE;
}

pte_status pte_segment_check_digest(const pte_segment *segments, uint32_t i, pte_error *error) {
  uint8_t digest[32];
  pte_blake2s_256(segments[i].data, (size_t)segments[i].size, digest);
  if (memcmp(digest, segments[i].digest, 32) == 0) return PTE_OK;
  return pte_fail(error, PTE_BAD_PROGRAM,
                  "segments[%u].digest: the bytes of %s were changed; get the file again", i,
                  KINDS[segments[i].kind]);
}
