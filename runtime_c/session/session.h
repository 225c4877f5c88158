/* A session: one method of a program, its tables, and its last preparation. Internal to session/.
 *
 * All tables are taken from the caller's memory when the session is opened; their sizes depend on
 * the program alone. Values, operands and instructions keep the program's indices minus the
 * method's first. */
#ifndef PTE_SESSION_H
#define PTE_SESSION_H

#include "core/arena.h"
#include "core/op.h"
#include "program/program.h"
#include "pteron/delegate.h"
#include "session/expr.h"

#define PTE_ARENA_ALIGN          64
#define PTE_LOOKS                512
#define PTE_DEFAULT_MAX_EXTENT   4096
#define PTE_DEFAULT_INSTRUCTIONS (1ull << 40)
#define PTE_DEFAULT_ITERATIONS   (1ull << 31)

/* What a value is, beside its storage. */
enum {
  PTE_SLOT_DYNAMIC = 1,   /* shape, strides or offset depend on counted dimensions */
  PTE_SLOT_PARAM = 2,     /* bound by an instruction: a PARAM, or a view in one */
  PTE_SLOT_CALLER = 4,    /* bound by each run: an INPUT or OUTPUT, or a view in one */
  PTE_SLOT_READ_ONLY = 8, /* an INPUT or CONSTANT, or a view in one; a PARAM bound to such */
  /* what written.c finds, at each prepare: */
  PTE_SLOT_CLEAR = 16,   /* a PLANNED or OUTPUT that each run clears first */
  PTE_SLOT_LOOSE = 32,   /* a base of which data decides the size, or that of a view in it */
  PTE_SLOT_UNPROVEN = 64 /* a PARAM that is read before the block writes it */
};

/* Where a value's bytes are; beside its tensor. Bases only, but for `flags` and `view_bytes`. */
typedef struct pte_slot {
  uint64_t room_bytes;   /* bytes that its memory has: by capacities */
  uint64_t offset_bytes; /* PLANNED: in the arena; STATE: in the state block */
  int64_t view_elements; /* VIEW: first element, from the base's start */
  uint32_t base;         /* VIEW: the base (of this method); else the value itself */
  uint8_t flags;
  uint8_t written; /* while written.c looks: depth of the block that wrote it; 0: none did */
} pte_slot;

/* What a run needs of one instruction: the list of them is what prepare records and runs replay. */
typedef struct pte_work {
  pte_status (*run)(const pte_call *call); /* NULL: more is to be done than to call a kernel */
  const pte_op_row *row;
  uint32_t instr; /* the program's index */
  bool bound;     /* an operand is a PARAM: addresses are checked at each execution */
  bool dynamic; /* a size depends on a counted dimension: everything is checked at each execution */
  bool late;    /* what the kernel keeps is filled before each execution, in the room of all such */
  uint64_t kept_bytes;
  pte_call
      call; /* complete: what all calls share, too. A loop keeps the counter that its body sees */
} pte_work;

/* One entry of the program's delegates, as far as this method uses it. */
typedef struct pte_placed {
  const pte_delegate_api *api; /* NULL: runs its fallback */
  void *instance;
  pte_error why; /* it runs its fallback */
  bool used;
} pte_placed;

struct pte_session {
  const pte_program *program;
  const pte_file_method *method;
  uint32_t method_index, first_value, value_count;

  pte_tensor *tensors;    /* by value */
  pte_slot *slots;        /* by value */
  uint32_t *caller_bound; /* values bound by each run or by instructions, ascending */
  uint32_t caller_bound_count;
  pte_work *works;      /* instructions of the method's blocks, in order of blocks */
  uint32_t *first_work; /* by block of the program; PTE_NONE: of another method */
  uint32_t work_count;
  bool has_dynamic;                      /* a value depends on a counted dimension */
  pte_placed *placed;                    /* by delegate of the program */
  pte_delegate_tensor *delegate_tensors; /* room for the operands of one delegate instruction */

  /* the last preparation */
  pte_tables tables;
  pte_fault fault;
  pte_call call;        /* what all calls share; each of `works` has a copy */
  pte_watch watch;      /* of the run; the calls point here where something may end it */
  const pte_pool *lent; /* the caller's pool, or NULL */
  pte_pool pool;        /* it, for kernels: each task has the control word of pte_fp_enter */
  uint32_t looks; /* at views that may lie between each other's elements, left to this prepare */
  bool measured;  /* for the options in `call`, the extents in `exprs` */
  bool prepared;
  unsigned char *arena;
  pte_sizes sizes;
  uint64_t own_bytes, late_bytes; /* of kept_bytes: rooms of instructions, and one that the late
                                     ones share, at its end */

  /* states: the program's, by index; those of this method have room */
  uint32_t *state_values; /* method's STATE values, ascending */
  uint32_t state_count;
  uint64_t *state_kept; /* bytes of each state when the block was last prepared, in order of
                           state_values */
  unsigned char *state; /* the block; NULL before the first prepare */
  bool state_valid;
  int64_t written; /* tokens that a context went back from: their rows of a ring are no others' */

  pte_exprs exprs;
#ifndef PTE_SMALL_BUFFERS
  pte_machine machine; /* where they run */
#endif
};

/* Writes what all calls share into every instruction's. */
void pte_session_record(pte_session *s);

/* The value (of the method) that tensor `t` of this session is. */
static inline uint32_t pte_session_value_of(const pte_session *s, const pte_tensor *t) {
  return (uint32_t)(t - s->tensors);
}

/* The file's entry of a value of the method. */
static inline const pte_file_value *pte_session_file_value(const pte_session *s, uint32_t value) {
  return &s->program->values[s->first_value + value];
}

/* The program's index of instruction `work`. */
static inline uint32_t pte_session_instr(const pte_session *s, uint32_t work) {
  return s->works[work].instr;
}

static inline const pte_tensor *pte_session_tensor(const pte_session *s, uint32_t program_value) {
  return &s->tensors[program_value - s->first_value];
}

#endif
