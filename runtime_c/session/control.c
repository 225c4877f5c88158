/* Results of If and Loop are copied; params and results of a called block are bound, each to memory
 * that has room for it (prepare.c). */
#include "session/control.h"

#include <string.h>

#include "core/kept.h"
#include "core/size.h"
#include "gen/ops.h"
#include "session/counted.h"
#include "session/delegates.h"
#include "session/fault.h"
#include "session/instruction.h"
#include "session/kept.h"
#include "session/tensor.h"
#include "session/values.h"

static pte_tensor *ref_tensor(const pte_session *s, pte_range refs, uint32_t i) {
  return &s->tensors[s->program->tables.refs[refs.start + i] - s->first_value];
}

static pte_status fail(pte_execution *run, uint32_t work, pte_status status, const char *text,
                       unsigned port) {
  return pte_fault_at(run->s, work, status, text, port, run->err);
}

/* --- binding and copying -------------------------------------------------------------------- */

/* Bytes behind a dense tensor's address. Of a base: by capacities, whatever its extents are now. */
static uint64_t room_of(const pte_session *s, const pte_tensor *t) {
  uint32_t v = pte_session_value_of(s, t);
  return s->slots[v].base == v ? s->slots[v].room_bytes : pte_tensor_bytes(t);
}

/* Lets a param (or a called block's result) lie where `actual` does. A param of fixed size must fit
 * now; one that depends on counted dimensions is measured whenever it is used. */
static pte_status bind(pte_execution *run, uint32_t work, pte_tensor *param,
                       const pte_tensor *actual, unsigned port) {
  pte_session *s = run->s;
  if (!pte_tensor_is_dense(actual)) return fail(run, work, PTE_BAD_PROGRAM, "must be dense", port);
  uint32_t base = s->slots[pte_session_value_of(s, actual)].base;
  pte_slot *slot = &s->slots[pte_session_value_of(s, param)];
  uint64_t room = room_of(s, actual);
  if ((slot->flags & PTE_SLOT_DYNAMIC) == 0 && pte_tensor_bytes(param) > room)
    return fail(run, work, PTE_BAD_PROGRAM, "is smaller than what the block declares", port);
  param->data = actual->data;
  slot->room_bytes = room;
  unsigned flags = slot->flags & ~(unsigned)PTE_SLOT_READ_ONLY;
  slot->flags = (uint8_t)(flags | (s->slots[base].flags & PTE_SLOT_READ_ONLY));
  return PTE_OK;
}

/* What was bound for a block is nothing behind its end. */
static void unbind(const pte_session *s, pte_range refs) {
  for (uint32_t i = 0; i < refs.count; i++) ref_tensor(s, refs, i)->data = NULL;
}

/* Both ends of a move that is about to be made: what had no bytes when the instruction was proven
 * may have some now. */
static pte_status check_move(pte_execution *run, uint32_t work, const pte_tensor *to,
                             const pte_tensor *from, unsigned port) {
  const pte_slot *slots = run->s->slots;
  const pte_slot *base = &slots[slots[pte_session_value_of(run->s, to)].base];
  const char *why = NULL;
  if (to->data == NULL || from->data == NULL) why = "is bound to nothing";
  else if ((base->flags & PTE_SLOT_READ_ONLY) != 0) why = "writes memory that is read-only";
  return why == NULL ? PTE_OK : fail(run, work, PTE_BAD_PROGRAM, why, port);
}

/* to = from, the counted axes of `to` taking the extents of `from`. */
static pte_status copy(pte_execution *run, uint32_t work, pte_tensor *to, const pte_tensor *from,
                       unsigned port) {
  PTE_TRY(pte_value_refresh(run->s, from, run->err));
  PTE_TRY(pte_counted_close(run->s, work, to, from->shape, port, run->err));
  if (pte_tensor_bytes(to) != 0) PTE_TRY(check_move(run, work, to, from, port));
  pte_tensor_move(to, from, run->s->call.watch);
  return pte_execution_look(run, work);
}

/* --- call ----------------------------------------------------------------------------------- */

static pte_status bind_called(pte_execution *run, uint32_t index, const pte_file_block *block) {
  pte_session *s = run->s;
  const pte_work *work = &s->works[index];
  for (uint32_t i = 0; i < block->params.count; i++) {
    pte_tensor *param = ref_tensor(s, block->params, i);
    PTE_TRY(bind(run, index, param, work->call.in[i], i));
    PTE_TRY(pte_counted_close(run->s, index, param, work->call.in[i]->shape, i, run->err));
  }
  for (uint32_t i = 0; i < block->results.count; i++)
    PTE_TRY(bind(run, index, ref_tensor(s, block->results, i), work->call.out[i], 128 + i));
  return PTE_OK;
}

static pte_status run_called(pte_execution *run, uint32_t index, uint32_t block) {
  pte_session *s = run->s;
  const pte_file_block *file = &s->program->blocks[block];
  const pte_work *work = &s->works[index];
  PTE_TRY(bind_called(run, index, file));
  PTE_TRY(pte_run_block(run, block));
  for (uint32_t i = 0; i < file->results.count; i++) {
    const pte_tensor *result = ref_tensor(s, file->results, i);
    PTE_TRY(pte_value_refresh(run->s, result, run->err));
    PTE_TRY(pte_counted_close(run->s, index, work->call.out[i], result->shape, 128 + i, run->err));
  }
  unbind(s, file->params);
  unbind(s, file->results);
  return PTE_OK;
}

/* --- if ------------------------------------------------------------------------------------- */

static pte_status run_if(pte_execution *run, uint32_t index) {
  pte_session *s = run->s;
  const pte_work *work = &s->works[index];
  const pte_if_attrs *attrs = work->call.attrs;
  uint32_t block =
      *(const uint8_t *)work->call.in[0]->data != 0 ? attrs->then_block : attrs->else_block;
  PTE_TRY(pte_run_block(run, block));
  for (uint32_t i = 0; i < work->call.out_count; i++)
    PTE_TRY(copy(run, index, work->call.out[i], ref_tensor(s, s->program->blocks[block].results, i),
                 128 + i));
  return PTE_OK;
}

/* --- loop ----------------------------------------------------------------------------------- */

typedef struct loop {
  pte_execution *run;
  uint32_t index;
  const pte_work *work;
  const pte_file_block *body;
  uint32_t carried; /* results: go on, carried ..., rows ... */
  int64_t iteration;
} loop;

/* The iteration counter is the session's; carried params are the memory of the outputs, which
 * starts as the inputs. */
static pte_status begin(loop *l) {
  pte_session *s = l->run->s;
  pte_tensor *counter = ref_tensor(s, l->body->params, 0);
  counter->data = l->work->call.kept;
  s->slots[pte_session_value_of(s, counter)].room_bytes = sizeof l->iteration;
  for (uint32_t i = 0; i < l->carried; i++) {
    pte_tensor *out = l->work->call.out[i], *param = ref_tensor(s, l->body->params, 1 + i);
    PTE_TRY(bind(l->run, l->index, param, out, 128 + i));
    PTE_TRY(copy(l->run, l->index, param, l->work->call.in[2 + i], 2 + i));
  }
  return PTE_OK;
}

/* Row `iteration` of an output, as a tensor of its own; the output's other axes take the row's
 * extents. */
static pte_status store_row(loop *l, uint32_t i) {
  pte_session *s = l->run->s;
  pte_tensor *out = l->work->call.out[i];
  const pte_tensor *from = ref_tensor(s, l->body->results, 1 + i);
  PTE_TRY(pte_value_refresh(l->run->s, from, l->run->err));
  PTE_TRY(pte_value_refresh(l->run->s, out, l->run->err));
  if (!pte_tensor_is_dense(out))
    return fail(l->run, l->index, PTE_BAD_PROGRAM, "must be dense", 128 + i);
  int64_t shape[PTE_MAX_RANK] = {out->shape[0]};
  for (uint32_t axis = 1; axis < out->rank; axis++) shape[axis] = from->shape[axis - 1];
  PTE_TRY(pte_counted_close(l->run->s, l->index, out, shape, 128 + i, l->run->err));
  pte_tensor row = *out;
  row.rank = from->rank;
  memmove(row.shape, out->shape + 1, sizeof row.shape - sizeof row.shape[0]);
  memmove(row.stride, out->stride + 1, sizeof row.stride - sizeof row.stride[0]);
  uint64_t bytes = pte_tensor_bytes(&row), end = 0;
  if (bytes == 0) return PTE_OK;
  if (pte_element_bits(row.dtype) < 8)
    return fail(l->run, l->index, PTE_UNSUPPORTED, "rows of elements narrower than a byte",
                128 + i);
  PTE_TRY(check_move(l->run, l->index, out, from, 128 + i));
  if (!pte_mul((uint64_t)l->iteration + 1, bytes, &end) || end > room_of(s, out))
    return fail(l->run, l->index, PTE_LIMIT,
                "more rows than the output has room for; raise max_extent", 128 + i);
  row.data = (unsigned char *)out->data + (end - bytes);
  pte_tensor_move(&row, from, s->call.watch);
  return pte_execution_look(l->run, l->index);
}

static pte_status store_results(loop *l) {
  pte_session *s = l->run->s;
  for (uint32_t i = 0; i < l->carried; i++)
    PTE_TRY(copy(l->run, l->index, ref_tensor(s, l->body->params, 1 + i),
                 ref_tensor(s, l->body->results, 1 + i), 128 + i));
  for (uint32_t i = l->carried; i < l->work->call.out_count; i++) PTE_TRY(store_row(l, i));
  return PTE_OK;
}

/* Extents of the outputs: carried ones have those of the params, the others as many rows as there
 * were iterations. */
static pte_status end(loop *l) {
  for (uint32_t i = 0; i < l->work->call.out_count; i++) {
    pte_tensor *out = l->work->call.out[i];
    int64_t shape[PTE_MAX_RANK];
    const pte_tensor *param = i < l->carried ? ref_tensor(l->run->s, l->body->params, 1 + i) : NULL;
    if (param != NULL) PTE_TRY(pte_value_refresh(l->run->s, param, l->run->err));
    else PTE_TRY(pte_value_refresh(l->run->s, out, l->run->err));
    memcpy(shape, param != NULL ? param->shape : out->shape, sizeof shape);
    if (param == NULL) shape[0] = l->iteration;
    PTE_TRY(pte_counted_close(l->run->s, l->index, out, shape, 128 + i, l->run->err));
  }
  unbind(l->run->s, l->body->params);
  return PTE_OK;
}

static const pte_tensor *input(const pte_work *work, uint32_t i) {
  return i < work->call.in_count ? work->call.in[i] : NULL;
}

/* Runs the body once; says whether to go on. */
static pte_status iterate(loop *l, bool *out_go_on) {
  pte_execution *run = l->run;
  *(int64_t *)l->work->call.kept = l->iteration;
  PTE_TRY(pte_run_block(run, ((const pte_loop_attrs *)l->work->call.attrs)->body));
  const pte_tensor *result = ref_tensor(run->s, l->body->results, 0);
  PTE_TRY(pte_value_refresh(run->s, result, run->err));
  if (result->data == NULL) return fail(run, l->index, PTE_BAD_PROGRAM, "is bound to nothing", 255);
  *out_go_on = *(const uint8_t *)result->data != 0;
  return store_results(l);
}

static pte_status run_loop(pte_execution *run, uint32_t index) {
  const pte_work *work = &run->s->works[index];
  uint32_t body = ((const pte_loop_attrs *)work->call.attrs)->body;
  loop l = {run,
            index,
            work,
            &run->s->program->blocks[body],
            work->call.in_count > 2 ? work->call.in_count - 2 : 0,
            0};
  const pte_tensor *trips = input(work, 0), *condition = input(work, 1);
  int64_t count = trips == NULL ? INT64_MAX : *(const int64_t *)trips->data;
  bool go_on = condition == NULL || *(const uint8_t *)condition->data != 0;
  PTE_TRY(begin(&l));
  for (; go_on && l.iteration < count; l.iteration++) {
    if ((uint64_t)l.iteration >= run->options.max_iterations)
      return fail(run, index, PTE_LIMIT, "max_iterations have been executed", 255);
    PTE_TRY(pte_execution_look(run, index)); /* the body may be empty */
    PTE_TRY(iterate(&l, &go_on));
  }
  return end(&l);
}

/* --- blocks --------------------------------------------------------------------------------- */

static pte_status run_delegate(pte_execution *run, uint32_t index) {
  const pte_delegate_attrs *attrs = run->s->works[index].call.attrs;
  uint32_t entry = (uint32_t)attrs->index;
  const pte_placed *placed = &run->s->placed[entry];
  if (placed->api != NULL) PTE_TRY(pte_delegate_run(run, index));
  if (placed->api != NULL) return PTE_OK;
  return run_called(run, index, run->s->program->delegates[entry].fallback);
}

static pte_status dispatch(pte_execution *run, uint32_t index) {
  const pte_work *work = &run->s->works[index];
  if (work->run != NULL) return pte_instruction_end(run, index, work->run(&work->call));
  if (work->bound || work->dynamic) PTE_TRY(pte_instruction_prove(run, index));
  switch (work->row->id) {
  case PTE_OP_IF: return PTE_OP_KEPT(IF) ? run_if(run, index) : PTE_UNSUPPORTED;
  case PTE_OP_LOOP: return PTE_OP_KEPT(LOOP) ? run_loop(run, index) : PTE_UNSUPPORTED;
  case PTE_OP_CALL:
    if (!PTE_OP_KEPT(CALL)) return PTE_UNSUPPORTED;
    return run_called(run, index, ((const pte_call_attrs *)work->call.attrs)->body);
  case PTE_OP_DELEGATE: return PTE_OP_KEPT(DELEGATE) ? run_delegate(run, index) : PTE_UNSUPPORTED;
  default: return pte_instruction_end(run, index, pte_kept_run(work));
  }
}

static pte_status trace(pte_execution *run, uint32_t index) {
  const pte_tracer *tracer = run->options.tracer;
  uint32_t instr = run->s->works[index].instr;
  const pte_file_instr *file = &run->s->program->instrs[instr];
  uint64_t begin = tracer->now(tracer->self);
  pte_status status = dispatch(run, index);
  tracer->event(tracer->self, instr, file->op, file->node, begin, tracer->now(tracer->self));
  return status;
}

pte_status pte_run_block(pte_execution *run, uint32_t block) {
  const pte_session *s = run->s;
  uint32_t index = s->first_work[block], end = index + s->program->blocks[block].instrs.count;
  for (; index < end; index++) {
    if (run->instructions_left-- == 0)
      return pte_fault_at(run->s, index, PTE_LIMIT, "max_instructions have been executed", 255,
                          run->err);
    PTE_TRY(pte_execution_look(run, index));
    PTE_TRY(run->options.tracer == NULL ? dispatch(run, index) : trace(run, index));
  }
  return PTE_OK;
}
