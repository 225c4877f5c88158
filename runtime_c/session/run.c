/* One run: the caller's buffers, then block after block. No allocation, no system call. */
#include "core/error.h"
#include "core/fp.h"
#include "core/sized.h"
#include "session/control.h"
#include "session/counted.h"
#include "session/fault.h"
#include "session/ports.h"
#include "session/values.h"
#include "session/written.h"

/* --- the caller's buffers ------------------------------------------------------------------- */

static uint32_t port_value(const pte_session *s, pte_range ports, uint32_t i) {
  return s->program->ports[ports.start + i].value - s->first_value;
}

static pte_status check_buffer(const pte_session *s, uint32_t v, const char *kind, const char *name,
                               const void *data, pte_error *err) {
  if (s->slots[v].room_bytes == 0) return PTE_OK;
  if (data == NULL) return pte_fail(err, PTE_BAD_ARGUMENT, "%s %s: the buffer is NULL", kind, name);
  unsigned size = pte_element_bits(s->tensors[v].dtype) / 8;
  if (size > 1 && (uintptr_t)data % size != 0)
    return pte_fail(err, PTE_BAD_ARGUMENT, "%s %s: expected a buffer aligned to %u bytes", kind,
                    name, size);
  return PTE_OK;
}

static bool share(const pte_session *s, uint32_t a, const void *a_data, uint32_t b,
                  const void *b_data) {
  uintptr_t a_at = (uintptr_t)a_data, b_at = (uintptr_t)b_data;
  uint64_t a_bytes = s->slots[a].room_bytes, b_bytes = s->slots[b].room_bytes;
  return a_bytes != 0 && b_bytes != 0 && a_at < b_at + b_bytes && b_at < a_at + a_bytes;
}

static pte_status check_buffers(const pte_session *s, const void *const *inputs,
                                void *const *outputs, pte_error *err) {
  pte_range in = s->method->inputs, out = s->method->outputs;
  if ((inputs == NULL && in.count != 0) || (outputs == NULL && out.count != 0))
    return pte_fail(err, PTE_BAD_ARGUMENT, "inputs or outputs: NULL");
  for (uint32_t i = 0; i < in.count; i++)
    PTE_TRY(check_buffer(s, port_value(s, in, i), "input", pte_session_input_name(s, i), inputs[i],
                         err));
  for (uint32_t o = 0; o < out.count; o++) {
    const char *name = pte_session_output_name(s, o);
    uint32_t v = port_value(s, out, o);
    PTE_TRY(check_buffer(s, v, "output", name, outputs[o], err));
    for (uint32_t i = 0; i < in.count; i++)
      if (share(s, v, outputs[o], port_value(s, in, i), inputs[i]))
        return pte_fail(err, PTE_BAD_ARGUMENT, "output %s: overlaps input %s", name,
                        pte_session_input_name(s, i));
    for (uint32_t i = 0; i < o; i++)
      if (share(s, v, outputs[o], port_value(s, out, i), outputs[i]))
        return pte_fail(err, PTE_BAD_ARGUMENT, "output %s: overlaps output %s", name,
                        pte_session_output_name(s, i));
  }
  return PTE_OK;
}

static void bind_buffers(pte_session *s, const void *const *inputs, void *const *outputs) {
  for (uint32_t i = 0; i < s->caller_bound_count; i++) {
    uint32_t v = s->caller_bound[i];
    const pte_file_value *file = pte_session_file_value(s, v);
    switch (file->storage) {
    case PTE_STORAGE_INPUT:
      s->tensors[v].data = (void *)(uintptr_t)inputs[file->base]; /* READ_ONLY guards it */
      break;
    case PTE_STORAGE_OUTPUT: s->tensors[v].data = outputs[file->base]; break;
    case PTE_STORAGE_PARAM: s->tensors[v].data = NULL; break; /* of an earlier run */
    default: pte_value_place(s, v);
    }
  }
}

/* Element `i` of an i64 or i32: the types that an index may have. */
static int64_t integer_at(const pte_tensor *t, uint32_t i) {
  return t->dtype == PTE_I64 ? ((const int64_t *)t->data)[i] : ((const int32_t *)t->data)[i];
}

/* A shape input's data must be what the session was prepared for: the plan depends on it. */
static pte_status check_shape_inputs(const pte_session *s, pte_error *err) {
  for (uint32_t dim = 0; dim < s->exprs.dim_count; dim++) {
    const pte_file_dim *file = &s->program->dims[dim];
    if (file->kind != PTE_DIM_SHAPE || s->exprs.dim_known[dim] != PTE_KNOWN) continue;
    const pte_tensor *t = &s->tensors[port_value(s, s->method->inputs, file->port)];
    if (t->dtype != PTE_I64 && t->dtype != PTE_I32) continue;
    int64_t got = integer_at(t, file->element), prepared = s->exprs.dim_values[dim];
    if (got != prepared)
      return pte_fail(err, PTE_BAD_ARGUMENT,
                      "input %s element %u decides %s: prepared for %lld, got %lld",
                      pte_session_input_name(s, file->port), file->element,
                      pte_program_string(s->program, file->name), prepared, got);
  }
  return PTE_OK;
}

/* --- the run -------------------------------------------------------------------------------- */

static pte_status read_options(const pte_run_options *given, pte_run_options *out, pte_error *err) {
  pte_tracer tracer;
  PTE_TRY(pte_sized_read(given, out, sizeof *out, "run options", err));
  PTE_TRY(pte_sized_read(out->tracer, &tracer, sizeof tracer, "tracer", err));
  if (out->deadline_ns != 0 && out->now == NULL)
    return pte_fail(err, PTE_BAD_ARGUMENT, "run options: a deadline needs `now`");
  if (out->max_instructions == 0) out->max_instructions = PTE_DEFAULT_INSTRUCTIONS;
  if (out->max_iterations == 0) out->max_iterations = PTE_DEFAULT_ITERATIONS;
  return PTE_OK;
}

/* NULL: nothing can end the run. */
static pte_watch *watch_of(pte_execution *run) {
  const pte_run_options *o = &run->options;
  pte_watch *watch = &run->s->watch;
  watch->until = o;
  watch->chunk = PTE_CHUNK;
  watch->ended = PTE_OK;
  return o->cancel == NULL && o->deadline_ns == 0 ? NULL : watch;
}

/* What the calls point to stays as it was, mostly. */
static void begin(pte_execution *run) {
  pte_session *s = run->s;
  pte_watch *watch = watch_of(run);
  pte_fault_clear(s);
  if (s->call.watch == watch) return;
  s->call.watch = watch;
  pte_session_record(s);
}

static pte_status refresh_outputs(pte_execution *run) {
  for (uint32_t i = 0; i < run->s->method->outputs.count; i++) {
    uint32_t v = port_value(run->s, run->s->method->outputs, i);
    if ((run->s->slots[v].flags & PTE_SLOT_DYNAMIC) != 0)
      PTE_TRY(pte_value_refresh(run->s, &run->s->tensors[v], run->err));
  }
  return PTE_OK;
}

pte_status pte_session_run(pte_session *s, const void *const *inputs, void *const *outputs,
                           const pte_run_options *given, pte_error *err) {
  if (s == NULL || !s->prepared) return pte_fail(err, PTE_BAD_ARGUMENT, "session: not prepared");
  pte_execution run = {.s = s, .err = err};
  PTE_TRY(read_options(given, &run.options, err));
  PTE_TRY(check_buffers(s, inputs, outputs, err));
  pte_counted_set_all(s, true);
  bind_buffers(s, inputs, outputs);
  PTE_TRY(check_shape_inputs(s, err));
  pte_written_clear(s);
  run.instructions_left = run.options.max_instructions;
  begin(&run);
  pte_fp_word caller = pte_fp_enter();
  pte_status status = pte_run_block(&run, s->method->block);
  if (status == PTE_OK) status = refresh_outputs(&run);
  pte_fp_leave(caller);
  return status;
}
