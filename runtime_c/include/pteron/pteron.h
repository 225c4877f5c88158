/* The C interface of Pteron: open a program, make a session, prepare it for shapes, run it.
 *
 * The library allocates nothing: every object lives in memory that the caller brings, in two steps
 * (`..._size`, then the call that uses it). pteron/host.h has the conveniences (files, threads,
 * malloc) for systems that have them. A program is immutable and may be used by any number of
 * sessions on any number of threads; a session belongs to one thread at a time. Functions return a
 * status and, where they take a `pte_error`, say what happened in words.
 *
 * Structs start with their size, so that they can grow: set it to sizeof, in those that functions
 * fill in, too. A shorter one, from a caller compiled with an older header, is extended by zeros,
 * or filled in as far as it goes; in a longer one, what this library does not know must be zero.
 * Without a size are pte_error, pte_memory and pte_external, which stay as they are. */
#ifndef PTERON_PTERON_H
#define PTERON_PTERON_H

#include <stddef.h>
#include <stdint.h>

#include "pteron/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PTE_API_VERSION 1u
#define PTE_MAX_RANK    8

#if defined(__GNUC__)
#define PTE_CHECKED __attribute__((warn_unused_result))
#else
#define PTE_CHECKED
#endif
#if defined(__GNUC__) && !defined(_WIN32) /* a DLL has a list of what it exports */
#define PTE_API __attribute__((visibility("default")))
#else
#define PTE_API
#endif

/* What the caller can do about it. */
typedef enum pte_status {
  PTE_OK = 0,
  PTE_BAD_PROGRAM = 1, /* the bytes are not a program this library accepts: export again */
  PTE_UNSUPPORTED =
      2, /* a correct program needs what this build lacks: newer runtime, other build */
  PTE_BAD_ARGUMENT = 3, /* shape, dtype, name, null pointer: fix the call */
  PTE_NO_MEMORY = 4,    /* the memory brought is smaller than needed; the text says how much is */
  PTE_DELEGATE = 5,     /* a delegate failed or is absent */
  PTE_BAD_DATA = 6, /* the data decided it: an index out of range, an integer division by zero */
  PTE_LIMIT = 7,    /* a cap was reached: memory, instructions, iterations, a counted dimension */
  PTE_CANCELLED = 8,
  PTE_DEADLINE = 9,
  PTE_IO = 10
} pte_status;

#define PTE_NONE 0xFFFFFFFFu

/* 160 bytes, on the caller's stack. `text` is always terminated; where an instruction is to blame
 * it ends with the name of the node that it was made from (pte_program_node). */
typedef struct pte_error {
  int32_t status;
  uint32_t instr; /* instruction of the method's program, or PTE_NONE */
  uint32_t op;    /* operator id, or PTE_NONE */
  uint32_t node;  /* node of the debug segment, or PTE_NONE */
  char text[144];
} pte_error;

typedef struct pte_program pte_program;
typedef struct pte_session pte_session;

/* Memory that the caller owns and that must stay valid as long as the sentence beside it says. */
typedef struct pte_memory {
  void *data;
  size_t size_bytes;
} pte_memory;

typedef struct pte_external {
  const char *name;
  const void *data; /* constants of that name; must outlive the program */
  size_t size_bytes;
} pte_external;

/* Runs `task` over 0..count in chunks; returns when all are done. Index `thread` is below the count
 * promised. */
typedef void (*pte_task)(void *context, size_t begin, size_t end, uint32_t thread);
typedef struct pte_pool {
  uint32_t size;
  uint32_t threads;
  void *self;
  void (*run)(void *self, size_t count, size_t grain, pte_task task, void *context);
} pte_pool;

/* Called around every instruction; `now` gives nanoseconds of a monotonic clock. `instr` and `node`
 * are those of pte_program_instr and pte_program_node. */
typedef struct pte_tracer {
  uint32_t size;
  uint32_t reserved;
  void *self;
  uint64_t (*now)(void *self);
  void (*event)(void *self, uint32_t instr, uint32_t op, uint32_t node, uint64_t begin_ns,
                uint64_t end_ns);
} pte_tracer;

typedef struct pte_delegate_api pte_delegate_api; /* pteron/delegate.h */

typedef struct pte_open_options {
  uint32_t size;
  uint32_t external_count;
  const pte_external *externals;
  uint32_t delegate_count;
  const pte_delegate_api *const *delegates; /* those the caller permits; must outlive the program */
} pte_open_options;

/* CPU features a session may use: 0, or a sum of those of pteron/types.h, or portable kernels
 * alone. More than the processor has does no harm on x86, but PTE_CPU_AMX is not part of
 * PTE_CPU_DETECT and is for a process that Linux gave it, which pte_host_cpu asks for; on 64-bit
 * Arm the caller's word is taken, and PTE_CPU_DETECT is NEON: pte_host_cpu knows more. */
#define PTE_CPU_DETECT   0u
#define PTE_CPU_PORTABLE 0x80000000u

/* A cache of data; 0: there is none, or nobody knows. */
typedef struct pte_cache {
  uint32_t bytes, ways, line;
} pte_cache;

/* What decides into which blocks kernels cut their work, and what they prefetch; never what they
 * compute. 0 means nobody knows, and a usual machine is taken. */
typedef struct pte_machine {
  uint32_t size;
  uint32_t misses;    /* of the first cache that a core follows at once */
  uint32_t memory_ns; /* that a line takes from memory */
  pte_cache l1, l2, l3;
} pte_machine;

/* --- program
 * -------------------------------------------------------------------------------------------------
 */

PTE_API uint32_t pte_api_version(void);
PTE_API const char *pte_status_name(pte_status status);

/* Bytes of memory that `pte_program_open` needs for these bytes, a copy of all but constants and
 * blobs; reads header and segment table only. PTE_BAD_PROGRAM: they are wrong. */
PTE_API PTE_CHECKED pte_status pte_program_size(const void *bytes, size_t size, size_t *out_bytes,
                                                pte_error *error);

/* Verifies `bytes` and stores the program's address, inside `memory`, in `*out`. `bytes` (64-byte
 * aligned), `memory` and what `options` (may be NULL) names must outlive the program. Constants and
 * blobs are used in place; the rest, some tens of KB, is copied into `memory` before it is
 * verified. So bytes that change later (a mapped file that somebody writes) may change the numbers
 * that runs give and nothing else; a delegate promises the same of its blob. There is nothing to
 * close. PTE_BAD_PROGRAM: a field is wrong; the
 * text names it. PTE_UNSUPPORTED: an operator or delegate is missing. PTE_NO_MEMORY: `memory` is
 * too small. */
PTE_API PTE_CHECKED pte_status pte_program_open(const void *bytes, size_t size,
                                                const pte_open_options *options, pte_memory memory,
                                                pte_program **out, pte_error *error);

/* Hashes every segment, constants and debug information too, against the table. */
PTE_API PTE_CHECKED pte_status pte_program_check_digests(const pte_program *program,
                                                         pte_error *error);

/* --- what can be asked of a program. Strings are borrowed until its memory goes; indices count
 * from 0. PTE_BAD_ARGUMENT: there is no such index, or `out` does not say its size.
 * -------------------------------------------------------------------------------------------------
 */

typedef struct pte_program_info {
  uint32_t size;
  uint32_t method_count;
  uint32_t instr_count;    /* of all methods */
  uint32_t node_count;     /* of the model it was made from; 0 where that was stripped */
  uint32_t delegate_count; /* parts compiled for delegates: pte_session_placement */
  uint32_t reserved;
  uint64_t file_bytes, constant_bytes;
  const char *producer, *model; /* who wrote it, from what */
} pte_program_info;
PTE_API PTE_CHECKED pte_status pte_program_get_info(const pte_program *program,
                                                    pte_program_info *out);

PTE_API uint32_t pte_program_method_count(const pte_program *program);

/* Index of the method called `name`; NULL means the first. PTE_BAD_ARGUMENT: there is none. */
PTE_API PTE_CHECKED pte_status pte_program_find_method(const pte_program *program, const char *name,
                                                       uint32_t *out, pte_error *error);

typedef struct pte_method_info {
  uint32_t size;
  uint32_t input_count, output_count, state_count, instr_count, value_count;
  const char *name;
} pte_method_info;
PTE_API PTE_CHECKED pte_status pte_program_method(const pte_program *program, uint32_t method,
                                                  pte_method_info *out);

/* An input, output or state. A dimension of it: its size where that is fixed, else -1 and the name
 * of its symbol ("" for an expression). Of an expression that is factor * s + offset for a symbol
 * s, `of` names s ("" for others). */
typedef struct pte_port_info {
  uint32_t size;
  uint8_t dtype; /* PTE_F32 ... in pteron/types.h */
  uint8_t rank;
  uint8_t shape_input; /* 1: its values decide shapes and are given to prepare */
  uint8_t reserved;
  const char *name;
  int64_t shape[PTE_MAX_RANK];
  int64_t minimum[PTE_MAX_RANK], maximum[PTE_MAX_RANK]; /* bounds of the size */
  const char *symbol[PTE_MAX_RANK];
  const char *of[PTE_MAX_RANK];
  int64_t factor[PTE_MAX_RANK], offset[PTE_MAX_RANK];
} pte_port_info;
PTE_API PTE_CHECKED pte_status pte_program_input(const pte_program *program, uint32_t method,
                                                 uint32_t index, pte_port_info *out);
PTE_API PTE_CHECKED pte_status pte_program_output(const pte_program *program, uint32_t method,
                                                  uint32_t index, pte_port_info *out);
/* Named states of a method, those its values use. */
PTE_API PTE_CHECKED pte_status pte_program_state(const pte_program *program, uint32_t method,
                                                 uint32_t index, pte_port_info *out);

/* An instruction, by the index that errors and tracers give. */
typedef struct pte_instr_info {
  uint32_t size;
  uint32_t op;   /* operator id */
  uint32_t node; /* that it was made from, or PTE_NONE */
  uint32_t reserved;
  const char *op_name;
} pte_instr_info;
PTE_API PTE_CHECKED pte_status pte_program_instr(const pte_program *program, uint32_t instr,
                                                 pte_instr_info *out);

/* A node of the model that the program was made from; "" what the model does not say. */
typedef struct pte_node_info {
  uint32_t size;
  uint32_t reserved;
  const char *name, *type; /* "/encoder/layer.0/MatMul", "MatMul" */
  const char *source;      /* file and line */
} pte_node_info;
PTE_API PTE_CHECKED pte_status pte_program_node(const pte_program *program, uint32_t node,
                                                pte_node_info *out);

/* "f32" for PTE_F32; "" for what is no dtype. */
PTE_API const char *pte_dtype_name(uint32_t dtype);

/* --- session
 * -------------------------------------------------------------------------------------------------
 */

/* Bytes for a session of this method: tables only, independent of shapes. */
PTE_API PTE_CHECKED pte_status pte_session_size(const pte_program *program, uint32_t method,
                                                size_t *out_bytes, pte_error *error);
PTE_API PTE_CHECKED pte_status pte_session_open(const pte_program *program, uint32_t method,
                                                pte_memory memory, pte_session **out,
                                                pte_error *error);

/* Closes what delegates opened for this session; its memory is the caller's again. Without
 * delegates it does nothing. */
PTE_API void pte_session_close(pte_session *session);

/* Where a delegate's subgraph of this session runs: in the delegate, or by the kernels of its
 * fallback. A delegate that fails at open, prepare or run is closed and its fallback, where there
 * is one and the policy allows it, takes over until the session is closed: the run that met the
 * failure gives the same bytes. */
typedef struct pte_placement {
  uint32_t size;
  uint8_t policy; /* 0 allow, 1 warn, 2 forbid falling back */
  uint8_t placed; /* 1: in the delegate */
  uint8_t used;   /* 1: this method uses it */
  uint8_t reserved;
  const char *name, *target; /* borrowed until the program's memory goes */
  const char *reason;        /* why the fallback runs, else ""; borrowed until the session closes */
} pte_placement;

/* Placement of entry `index` of the program's delegates. PTE_BAD_ARGUMENT: there is none. */
PTE_API PTE_CHECKED pte_status pte_session_placement(const pte_session *session, uint32_t index,
                                                     pte_placement *out);

/* What a prepare is for. Zero means the default in brackets; NULL for the struct, a method without
 * symbolic sizes. */
typedef struct pte_prepare_options {
  uint32_t size;
  uint32_t threads;             /* scratch is planned for so many [1] */
  const int64_t *const *shapes; /* one pointer an input, `rank` extents each; NULL: fixed ones */
  const int64_t *const
      *values; /* one pointer an input: its elements, for shape inputs; else NULL. May be NULL */
  const pte_pool *pool; /* NULL: the calling thread alone; must outlive the preparation */
  uint32_t cpu;         /* PTE_CPU_* [PTE_CPU_DETECT] */
  uint32_t reserved;
  uint64_t max_bytes; /* cap on arena + state [none] */
  int64_t max_extent; /* capacity of counted dimensions without a bound of their own [4096] */
  const pte_machine *machine; /* copied; pte_host_machine knows this one [a usual machine] */
} pte_prepare_options;

typedef struct pte_sizes {
  uint32_t size;
  uint32_t reserved;
  uint64_t arena_bytes;   /* all that prepare needs in `arena`: planned values, scratch, kept */
  uint64_t planned_bytes; /* of which planned values */
  uint64_t scratch_bytes; /* of which scratch */
  uint64_t state_bytes;   /* in `state` */
  uint64_t cleared_bytes; /* which each run sets to 0 first: planned values and outputs of which
                             nothing proves that they are written before they are read */
  uint64_t kept_bytes;    /* of the arena: what kernels compute at prepare, for all runs */
} pte_sizes;

/* Evaluates shapes, checks every instruction and says how much memory is needed; touches neither
 * arena nor states. The session is unprepared afterwards: prepare it before the next run. */
PTE_API PTE_CHECKED pte_status pte_prepare_size(pte_session *session,
                                                const pte_prepare_options *options, pte_sizes *out,
                                                pte_error *error);

/* What prepare does with the states: keeps them if memory and sizes are those of the last prepare,
 * else gives initial values; gives initial values; takes them as another session of the program
 * left them in this memory, with the same sizes. */
#define PTE_STATE_KEEP  0
#define PTE_STATE_RESET 1
#define PTE_STATE_ADOPT 2

/* Fixes shapes and addresses. `arena` and `state` (64-byte aligned) stay the session's until the
 * next prepare or close, and nobody else writes there until then: the arena holds what kernels
 * computed from constants and sizes. `reset` is one of PTE_STATE_*. PTE_NO_MEMORY: too small, the
 * text says how much is needed; the session is unprepared then. */
PTE_API PTE_CHECKED pte_status pte_session_prepare(pte_session *session,
                                                   const pte_prepare_options *options,
                                                   pte_memory arena, pte_memory state, int reset,
                                                   pte_error *error);

/* Extents of an input, output or state: after prepare; counted axes of outputs are capacities until
 * a run gives extents. */
typedef struct pte_extents {
  uint32_t size;
  uint8_t dtype, rank, reserved[2];
  uint64_t size_bytes; /* the buffer the caller brings: by capacities */
  int64_t shape[PTE_MAX_RANK];
} pte_extents;
PTE_API PTE_CHECKED pte_status pte_session_input(const pte_session *session, uint32_t index,
                                                 pte_extents *out);
PTE_API PTE_CHECKED pte_status pte_session_output(const pte_session *session, uint32_t index,
                                                  pte_extents *out);

typedef struct pte_run_options {
  uint32_t size;
  uint32_t reserved;
  const volatile int *cancel;  /* non-zero: the run is to end with PTE_CANCELLED; may be NULL */
  uint64_t deadline_ns;        /* on `now`'s clock; 0: none; then it ends with PTE_DEADLINE */
  uint64_t (*now)(void *self); /* needed for a deadline; called by the pool's threads, too */
  void *now_self;
  const pte_tracer *tracer;  /* NULL: off */
  uint64_t max_instructions; /* executed in one run [2^40] */
  uint64_t max_iterations;   /* of one loop [2^31] */
} pte_run_options;

/* A run ends within 10 ms and one chunk of its deadline or cancel, on any program that verifies:
 * each of its threads looks once in 2^20 elementary operations (an element moved or put through one
 * step, one multiply-add: a millisecond where one takes a nanosecond), and delegates within 10 ms.
 *
 * Runs the method once. inputs[i] and outputs[i] are dense row-major buffers in the order of the
 * ports, aligned to their element; they are read and written in place and must not overlap. Nothing
 * is allocated. After a failure the outputs and states are unspecified, the session can run again.
 * PTE_BAD_DATA, PTE_LIMIT, PTE_CANCELLED, PTE_DEADLINE, PTE_DELEGATE: as their names say. */
PTE_API PTE_CHECKED pte_status pte_session_run(pte_session *session, const void *const *inputs,
                                               void *const *outputs, const pte_run_options *options,
                                               pte_error *error);

/* States by index (pte_program_state), dense and row-major as in ONNX, whatever the layout inside.
 */
PTE_API PTE_CHECKED pte_status pte_session_state(const pte_session *session, uint32_t index,
                                                 pte_extents *out);
PTE_API PTE_CHECKED pte_status pte_session_get_state(const pte_session *session, uint32_t index,
                                                     void *data, size_t size_bytes,
                                                     pte_error *error);
PTE_API PTE_CHECKED pte_status pte_session_set_state(pte_session *session, uint32_t index,
                                                     const void *data, size_t size_bytes,
                                                     pte_error *error);
/* How many tokens the session's context holds and has room for; either may be NULL.
 * PTE_BAD_ARGUMENT: not prepared, or a program that keeps none. */
PTE_API PTE_CHECKED pte_status pte_session_position(const pte_session *session,
                                                    int64_t *out_position, int64_t *out_room,
                                                    pte_error *error);

/* Forgets the tokens from `position` on. PTE_BAD_ARGUMENT: there are fewer, a state does not say
 * which part of it is of which token, or one that keeps a window alone has written over tokens that
 * are seen from there (position 0 is always there). */
PTE_API PTE_CHECKED pte_status pte_session_rewind(pte_session *session, int64_t position,
                                                  pte_error *error);

/* What the session knows as bytes: its states, of a context the part in use. They can be kept in a
 * file and given to any session of the same method of the same program that has room, which goes on
 * with the same bits; two sessions may go on from one. `restore` trusts nothing in them.
 * PTE_BAD_ARGUMENT: not prepared, or `size_bytes` is not what `save_size` says. PTE_BAD_DATA: no
 * saved session, one that was changed, of another program or method, or with more tokens than there
 * is room for; the session is as it was. */
PTE_API PTE_CHECKED pte_status pte_session_save_size(const pte_session *session,
                                                     uint64_t *out_bytes, pte_error *error);
PTE_API PTE_CHECKED pte_status pte_session_save(const pte_session *session, void *data,
                                                size_t size_bytes, pte_error *error);
PTE_API PTE_CHECKED pte_status pte_session_restore(pte_session *session, const void *data,
                                                   size_t size_bytes, pte_error *error);

/* Gives every state its initial value; before a prepare, that one does. */
PTE_API PTE_CHECKED pte_status pte_session_reset(pte_session *session, pte_error *error);

/* --- the next token
 * -------------------------------------------------------------------------------------------------
 */

/* How a token is drawn from logits. 0 leaves a step out: temperature 0 takes the largest logit (of
 * equal ones that with the lowest id), top_k 0, top_p 0 or 1 and min_p 0 cut nothing off. */
typedef struct pte_sampling {
  uint32_t size;
  uint32_t top_k;    /* so many of the largest logits */
  float temperature; /* logits are divided by it */
  float top_p;       /* then as many of the largest as make this part of all probability */
  float min_p;       /* and none below this part of the largest probability */
  uint32_t reserved;
  uint64_t seed, stream;
} pte_sampling;

/* Bytes of room, aligned to 4, that `pte_sample` needs for so many logits at a temperature above 0.
 */
PTE_API size_t pte_sample_room(uint32_t count);

/* The id of the token at `position`: the same for the same logits, options and position on every
 * machine, whatever was drawn before. NaN is never drawn. PTE_BAD_ARGUMENT: an option is out of its
 * range. PTE_BAD_DATA: no logit is a number. PTE_NO_MEMORY: `room` is too small. */
PTE_API PTE_CHECKED pte_status pte_sample(const pte_sampling *options, const float *logits,
                                          uint32_t count, uint64_t position, pte_memory room,
                                          uint32_t *out_id, pte_error *error);

#ifdef __cplusplus
}
#endif
#endif
