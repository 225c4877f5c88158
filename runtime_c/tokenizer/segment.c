/* The text segment of an open program. */
#include "core/error.h"
#include "program/header.h"
#include "pteron/text.h"

pte_status pte_text_segment(const pte_program *program, const void **out, size_t *out_bytes,
                            pte_error *error) {
  if (program == NULL || out == NULL || out_bytes == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "text_segment: null pointer");
  uint32_t i = pte_segment_find(program->segments, program->segment_count, PTE_SEGMENT_TEXT);
  if (i == PTE_NONE)
    return pte_fail(error, PTE_UNSUPPORTED,
                    "the program has no tokenizer: export it with --tokenizer");
  PTE_TRY(pte_segment_check_digest(program->segments, i, error));
  *out = program->segments[i].data;
  *out_bytes = (size_t)program->segments[i].size;
  return PTE_OK;
}
