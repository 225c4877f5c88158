/* Text for decoders: the tokenizer that a program carries. libpteron_text, a static library beside
 * libpteron.
 *
 *   pte_text_segment -> pte_text_open -> pte_text_encode ... pte_text_decode
 *
 * It allocates nothing. A pte_text is immutable and may be used by any number of threads; it reads
 * the segment where it lies, and whoever writes there meanwhile changes tokens and nothing else.
 * Text is UTF-8. What is none of it becomes U+FFFD before it is read, one for each piece that could
 * not be continued, as WHATWG's decoders have it. */
#ifndef PTERON_TEXT_H
#define PTERON_TEXT_H

#include "pteron/pteron.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pte_text pte_text;

/* The text segment of a program, its digest compared; borrowed until the file's bytes go.
 * PTE_UNSUPPORTED: the program has none. PTE_BAD_PROGRAM: the segment was changed. */
PTE_CHECKED pte_status pte_text_segment(const pte_program *program, const void **out,
                                        size_t *out_bytes, pte_error *error);

/* Bytes of memory, aligned to 16, that `pte_text_open` needs. */
size_t pte_text_size(void);

/* Opens a tokenizer over `segment`, which is aligned to 8 and must outlive it. PTE_BAD_PROGRAM:
 * the bytes are no text segment of this version; the text says where. */
PTE_CHECKED pte_status pte_text_open(const void *segment, size_t size_bytes, pte_memory memory,
                                     const pte_text **out, pte_error *error);

/* Ids; PTE_NONE where the tokenizer has no such token. */
typedef struct pte_text_info {
  uint32_t size;
  uint32_t pieces; /* ids are below */
  uint32_t begin, end, unknown, pad;
  uint32_t stop_count;
  uint32_t longest;      /* bytes that one call of `pte_text_decode` puts out at most */
  const uint32_t *stops; /* ids that end what a model writes; borrowed until the segment goes */
} pte_text_info;
PTE_CHECKED pte_status pte_text_get_info(const pte_text *text, pte_text_info *out);

/* The id of the token that is written so. PTE_BAD_DATA: there is none. */
PTE_CHECKED pte_status pte_text_find(const pte_text *text, const char *piece, size_t size_bytes,
                                     uint32_t *out);

/* --- text to ids
 * ------------------------------------------------------------------------------------------------
 */

#define PTE_TEXT_ENDS  1u /* with the tokens that begin and end a text */
#define PTE_TEXT_PLAIN 2u /* special tokens that are written in the text are text */

/* For a text of so many bytes: bytes of room, aligned to 16, with which encoding never ends for
 * want of it, and ids that it never becomes more than. A text of short words needs less of both. */
uint64_t pte_text_room(const pte_text *text, size_t size_bytes);
uint64_t pte_text_most(const pte_text *text, size_t size_bytes);

/* Stores the ids of `utf8` in `ids` and how many they are in `*out_count`. `flags`: PTE_TEXT_* or
 * 0. PTE_NO_MEMORY: `room` is too small, or there are more than `capacity` ids, whose number is
 * then in `*out_count` as well. PTE_LIMIT: a text of 2^30 bytes or more. */
PTE_CHECKED pte_status pte_text_encode(const pte_text *text, const char *utf8, size_t size_bytes,
                                       uint32_t flags, pte_memory room, uint32_t *ids,
                                       size_t capacity, size_t *out_count, pte_error *error);

/* --- ids to text
 * ------------------------------------------------------------------------------------------------
 */

#define PTE_TEXT_SKIP   1u /* special tokens are left out */
#define PTE_TEXT_INSIDE 2u /* the text goes on: its first token is one among others */

/* Where a text is. All zero but for `size` and `flags` at the start. */
typedef struct pte_text_stream {
  uint32_t size;
  uint32_t flags; /* PTE_TEXT_SKIP, PTE_TEXT_INSIDE */
  uint32_t begun; /* the library's own */
  uint32_t held;
  uint8_t bytes[8];
} pte_text_stream;

/* Stores what token `id` adds to the text in `out`: whole characters, so that each call's bytes can
 * be shown. Bytes of a character that is not complete yet wait in the stream. What is no UTF-8
 * becomes U+FFFD. PTE_BAD_DATA: there is no such token. PTE_NO_MEMORY: `capacity` is less than
 * `longest` of pte_text_info and too small. */
PTE_CHECKED pte_status pte_text_decode(const pte_text *text, pte_text_stream *stream, uint32_t id,
                                       char *out, size_t capacity, size_t *out_bytes,
                                       pte_error *error);

/* What still waits, as U+FFFD: at most 12 bytes. The stream is as at the start, but INSIDE. */
size_t pte_text_decode_end(const pte_text *text, pte_text_stream *stream, char *out);

#ifdef __cplusplus
}
#endif
#endif
