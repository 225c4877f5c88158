"""The image that verifies its program itself, and takes others: all of the runtime but kernels that the program lacks."""

from __future__ import annotations

from typing import Final

from pteron.export.program import Program

from .prepared import Prepared
from .texts import Model, array

FOLDERS: Final[tuple[str, ...]] = ("core", "gen", "program", "session")
"""Of runtime_c, whole."""
HEADERS: Final[tuple[str, ...]] = ()
"""Of runtime_c, that no source of this form includes."""


def model(data: bytes, program: Program, ready: Prepared) -> Model:
    del program  # its bytes are all that the image has
    memory = ready.tables_bytes + ready.planned_bytes + ready.scratch_bytes
    memory = (memory + 3 * 64 + 63) // 64 * 64
    shapes = "".join(
        array(f"static const int64_t shape_{i}[]", port.shape)
        for i, port in enumerate(ready.inputs)
    )
    rows = ", ".join(f"shape_{i}" for i in range(len(ready.inputs))) or "NULL"
    constant = array("static _Alignas(64) const unsigned char program_bytes[]", data)
    text = constant + shapes + CALLS.replace("SHAPES", rows)
    return Model(text, DECLARED.replace("MEMORY_BYTES", str(memory)), len(data), memory)


DECLARED: Final = """/* Static memory for tables, values and scratch: enough for any machine. pteron_model_used says what
 * this one needs. */
#ifndef PTERON_MODEL_MEMORY
#define PTERON_MODEL_MEMORY MEMORY_BYTES
#endif

/* Verifies the program and prepares it. `bytes` NULL: the one that is built in; else `size` bytes of another
 * with the same inputs, aligned to 64, that nobody writes and that outlive the model. */
int pteron_model_open(const void *bytes, size_t size);
int pteron_model_run(const void *const *inputs, void *const *outputs);
const char *pteron_model_error(void);
size_t pteron_model_used(void);
"""

CALLS: Final = """static const int64_t *const shapes[] = {SHAPES};
static _Alignas(64) unsigned char memory[PTERON_MODEL_MEMORY];
static size_t used;
static pte_session *session;
static pte_error failure;

static pte_memory rest(void) {
  used = (used + 63) / 64 * 64;
  return (pte_memory){memory + used, sizeof memory - used};
}

int pteron_model_open(const void *bytes, size_t size) {
  const void *from = bytes != NULL ? bytes : program_bytes;
  const size_t count = bytes != NULL ? size : sizeof program_bytes;
  pte_program *program = NULL;
  pte_session *opened = NULL;
  size_t taken = 0;
  session = NULL;
  used = 0;
  PTE_TRY(pte_program_size(from, count, &taken, &failure));
  PTE_TRY(pte_program_open(from, count, NULL, rest(), &program, &failure));
  used += taken;
  PTE_TRY(pte_session_size(program, 0, &taken, &failure));
  PTE_TRY(pte_session_open(program, 0, rest(), &opened, &failure));
  used += taken;
  const pte_prepare_options options = {.size = sizeof options, .threads = 1, .shapes = shapes};
  pte_sizes sizes = {.size = sizeof sizes};
  PTE_TRY(pte_prepare_size(opened, &options, &sizes, &failure));
  PTE_TRY(pte_session_prepare(opened, &options, rest(), (pte_memory){NULL, 0}, 0, &failure));
  used += (size_t)sizes.arena_bytes;
  session = opened;
  return PTE_OK;
}

int pteron_model_run(const void *const *inputs, void *const *outputs) {
  if (session == NULL) return pte_fail(&failure, PTE_BAD_ARGUMENT, "the model is not open");
  return pte_session_run(session, inputs, outputs, NULL, &failure);
}

const char *pteron_model_error(void) { return failure.text; }
size_t pteron_model_used(void) { return used; }
"""
