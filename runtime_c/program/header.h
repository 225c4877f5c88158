/* Header and segment table of a program file: what a reader must know before it can find anything.
 */
#ifndef PTE_HEADER_H
#define PTE_HEADER_H

#include "program/program.h"

#define PTE_HEADER_BYTES     sizeof(pte_file_header)
#define PTE_ENTRY_BYTES      sizeof(pte_file_entry)
#define PTE_FORMAT_VERSION   0
#define PTE_SEGMENT_EXTERNAL 1u

/* Bytes of header and segment table. */
static inline size_t pte_head_bytes(uint32_t segment_count) {
  return PTE_HEADER_BYTES + (size_t)segment_count * PTE_ENTRY_BYTES;
}

/* Reads and checks everything of the header but its digest.
 * PTE_BAD_PROGRAM: not a program of this version and schema; the text says whose file it is where
 * that is known. */
PTE_CHECKED pte_status pte_header_read(const uint8_t *bytes, size_t size, pte_file_header *out,
                                       pte_error *error);

/* Checks the digest over header and table, both at `head`, then every entry: kinds, order,
 * alignment, gaps, ends. Fills `segments` (header->segment_count of them, or NULL): their data lies
 * in `bytes`, the file, or is NULL for an external one; their digests lie in `head`. */
PTE_CHECKED pte_status pte_segments_read(const uint8_t *head, const uint8_t *bytes,
                                         const pte_file_header *header, pte_segment *segments,
                                         pte_error *error);

/* Entry `i` of the table behind the header at `head`. */
pte_file_entry pte_segment_entry_at(const uint8_t *head, uint32_t i);

/* The only segment of `kind`, or PTE_NONE. */
uint32_t pte_segment_find(const pte_segment *segments, uint32_t count, uint32_t kind);

/* Compares the bytes of a segment with its digest. PTE_BAD_PROGRAM: they differ. */
PTE_CHECKED pte_status pte_segment_check_digest(const pte_segment *segments, uint32_t i,
                                                pte_error *error);

#endif
