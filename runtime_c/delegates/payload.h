/* What every delegate's blob begins with: a header, a table of sections, the sections.
 *
 *   offset  size  header (little-endian)
 *        0     8  magic "PTEDLG\0\0"
 *        8     4  version of this layout: 1
 *       12     4  kind: whose payload it is
 *       16    32  target, zero padded, at most 31 bytes
 *       48     8  bytes of the whole payload
 *       56     4  number of sections, at most 64
 *       60     4  zero
 *       64    24  for each section: u32 kind, u32 zero, u64 offset, u64 size
 *
 * Kinds of sections belong to the delegate and ascend; offsets ascend, are multiples of 128 from
 * the start of the payload, and sections do not overlap. export/delegates/payload.py writes it. */
#ifndef PTE_DELEGATES_PAYLOAD_H
#define PTE_DELEGATES_PAYLOAD_H

#include "pteron/delegate.h"

#define PTE_PAYLOAD_HEXAGON      1u
#define PTE_PAYLOAD_VGF          2u
#define PTE_PAYLOAD_MAX_SECTIONS 64u

typedef struct pte_payload_section {
  const unsigned char *data; /* borrowed from the blob; multiple of 128 from its start */
  uint64_t size;
} pte_payload_section;

/* A blob whose header and table have been checked; borrowed. */
typedef struct pte_payload {
  const unsigned char *bytes;
  uint64_t size;
  uint32_t section_count;
} pte_payload;

/* Checks header and section table of `blob` (any bytes) and stores what `find` needs in `*out`.
 * PTE_DELEGATE: not a payload of this kind and target, or a section lies outside; `error` says
 * which. */
PTE_CHECKED pte_status pte_payload_read(const void *blob, size_t blob_bytes, uint32_t kind,
                                        const char *target, pte_payload *out, pte_error *error);

/* Stores the section of this kind in `*out`, borrowed until the blob goes. PTE_DELEGATE: there is
 * none. */
PTE_CHECKED pte_status pte_payload_find(const pte_payload *payload, uint32_t kind,
                                        pte_payload_section *out, pte_error *error);

/* Memory of the caller, used up from its front. With `data` NULL it only counts. */
typedef struct pte_payload_room {
  unsigned char *data; /* 64-byte aligned */
  uint64_t size, used;
} pte_payload_room;

/* Makes `section` a copy in `room`: the blob may lie in a file that somebody writes, so a section
 * that addresses are computed from is copied before it is checked. A room that counts leaves the
 * section in the blob; NULL does nothing. PTE_DELEGATE: the room is too small. */
PTE_CHECKED pte_status pte_payload_keep(pte_payload_section *section, pte_payload_room *room,
                                        pte_error *error);

/* Little-endian fields at any address. */
uint32_t pte_payload_u32(const unsigned char *at);
uint64_t pte_payload_u64(const unsigned char *at);

/* Writes the text of an error (printf's format, cut to fit; `error` may be NULL) and returns
 * PTE_DELEGATE. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
pte_status pte_delegate_fail(pte_error *error, const char *format, ...);

#endif
