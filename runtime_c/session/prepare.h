/* Preparing: what is proved with sizes known, in this order, and by whom.
 *
 *   bind     every dimension that the method uses has a value within its bounds; shapes given agree
 * with the ports' ; the program's relations hold. Messages name input, axis, symbol, expected, got.
 *   values   every extent is known and not negative, every size fits in 63 bits; every view lies,
 * lowest and highest element, inside its base; views of elements narrower than a byte are dense.
 *   plan     offset of a planned value = maximum of the ends of the values in `above`, rounded up
 * to 64: all of it inside the arena by construction. A file that leaves one out gives wrong
 * numbers, not wrong addresses. check    for each instruction: strides, shape line and
 * relations of its row, then the kernel's own check, then its scratch. Outputs are writable, name
 * each of their elements once and share no byte with an input or another output, except output 0
 * with an input that the row names in `inplace`, at the same address with the same strides and
 * element size. So kernels may use restrict and memcpy, and an index tensor does not change under
 * the kernel that reads it.
 *
 * Addresses that only an instruction binds (PARAM) and sizes that only data decides (counted
 * dimensions) are checked here by capacities and stand-in addresses, and again with the real ones
 * by each instruction that meets them (run.c): the same functions, no allocation. What a PARAM is
 * bound to is dense and has the room that the param needs.
 *
 * Not proved, because nothing depends on it: that planned memory has been written before it is read
 * (it may hold the bytes of earlier runs), and that two values live at once lie apart. */
#ifndef PTE_PREPARE_H
#define PTE_PREPARE_H

#include "session/session.h"

/* bind.c: dimensions from shapes and shape inputs; evaluates all expressions; checks ports and
 * relations. PTE_BAD_ARGUMENT: a shape does not fit. */
PTE_CHECKED pte_status pte_bind(pte_session *s, const pte_prepare_options *options, pte_error *err);

/* bind.c: whether shape dimension `dim` takes element `*out_element` of input `port`. */
bool pte_bind_reads(const pte_session *s, uint32_t dim, uint32_t port);

/* values.c: shape, strides, first element of value `v` from the expressions. `fix`: its room grows
 * to what these sizes need; else they must fit in the room it has. PTE_BAD_ARGUMENT,
 * PTE_BAD_PROGRAM: an extent or a view is wrong; PTE_LIMIT: it does not fit in its room. */
PTE_CHECKED pte_status pte_value_size(pte_session *s, uint32_t v, bool fix, pte_error *err);

/* values.c: the address of value `v` from arena, state, constants or base. INPUT, OUTPUT and PARAM
 * are bound by others. */
void pte_value_place(pte_session *s, uint32_t v);

/* values.c: whether a tensor is dense and row-major (axes of extent 1 aside). */
bool pte_tensor_is_dense(const pte_tensor *t);

/* Whether an extent is 0. */
bool pte_tensor_is_empty(const pte_tensor *t);

/* The lowest and highest element of a tensor that has any, counted from its memory's start, where
 * its first element is number `first`. false: 64 bits are not enough. */
bool pte_tensor_range(const pte_tensor *t, int64_t first, int64_t *out_low, int64_t *out_high);

/* plan.c: offsets of planned values and of states, and `sizes` but for scratch. PTE_LIMIT: more
 * than 63 bits. */
PTE_CHECKED pte_status pte_plan(pte_session *s, pte_error *err);

/* check.c: one instruction, without its kernel's opinion, then with it. `placed`: addresses are
 * real. `out_scratch` gets the bytes that the kernel asks for. */
PTE_CHECKED pte_status pte_check_overlap(pte_session *s, uint32_t work, bool placed,
                                         pte_error *err);
PTE_CHECKED pte_status pte_check_work(pte_session *s, uint32_t work, bool placed,
                                      uint64_t *out_scratch, pte_error *err);

/* check.c: the call of instruction `work`. */
pte_call pte_session_call(pte_session *s, uint32_t work);

/* fault.c: `fault` of instruction `work` as text. Returns `status`. */
pte_status pte_fault_text(const pte_session *s, uint32_t work, pte_status status, pte_error *err);

/* A failure of instruction `work` that is no number's: what is wrong with `port` (outputs from 128;
 * 255 = none). Returns `status`. */
pte_status pte_fault_at(pte_session *s, uint32_t work, pte_status status, const char *text,
                        uint32_t port, pte_error *err);

/* counted.c: every counted dimension of the program to its capacity, or to 0. */
void pte_counted_set_all(pte_session *s, bool full);

/* control_check.c: sizes of what an instruction over blocks copies and binds, counted ones left
 * out. PTE_BAD_PROGRAM: they differ. */
PTE_CHECKED pte_status pte_control_check(pte_session *s, uint32_t work, pte_error *err);

/* delegates.c: gives the instruction to its fallback where the delegate fails and that may be.
 * PTE_DELEGATE: it may not. */
PTE_CHECKED pte_status pte_delegate_check(pte_session *s, uint32_t work, uint64_t *out_scratch,
                                          pte_error *err);

/* state.c: gives every state its initial value. */
void pte_states_reset(pte_session *s);

#endif
