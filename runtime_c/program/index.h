/* What callers ask of an open program by number, found once: its states, the instructions of each
 * method, the inputs whose values decide sizes. Without it each question would walk over all
 * values, blocks or dimensions. */
#ifndef PTE_PROGRAM_INDEX_H
#define PTE_PROGRAM_INDEX_H

#include "core/arena.h"
#include "program/program.h"

/* Takes room for the index of a program segment of `size` bytes and stores its address in `*out`.
 * PTE_NO_MEMORY: the arena has too little; it is unchanged. */
PTE_CHECKED pte_status pte_index_take(pte_arena *arena, uint64_t size, uint32_t **out);

/* Fills in `index` of a verified program, in the room that was taken for it. */
void pte_index_fill(pte_program *program, uint32_t *room);

/* Where the states of a method begin and end in `program->index.states`. */
pte_range pte_index_states(const pte_program *program, const pte_file_method *method);

#endif
