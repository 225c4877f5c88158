/* Instructions against their operator's row: arity, dtypes, layouts, ranks, attributes. */
#include <string.h>

#include "core/kept.h"
#include "core/relation.h"
#include "core/shape.h"
#include "gen/ops.h"
#include "program/check.h"
#include "pteron/types.h"

/* One instruction, as far as it has been looked at. */
typedef struct subject {
  pte_verifier *v;
  const pte_file_method *method;
  const pte_op_row *row;
  uint32_t i;
  uint32_t f, t; /* dtypes that F and T stand for; PTE_NONE = not met yet */
  pte_shape_match match;
} subject;

static pte_status fail(const subject *s, const char *side, uint32_t k, const char *why) {
  return pte_refuse(s->v, "instrs[%u].%s: %s: %u of them: %s", s->i, side,
                    pte_op_text(s->row->name), k, why);
}

static bool same(uint32_t *bound, uint32_t dtype) {
  if (*bound == PTE_NONE) *bound = dtype;
  return *bound == dtype;
}

static bool dtype_fits(subject *s, const pte_op_port *port, uint32_t dtype) {
  switch (port->rule) {
  case PTE_RULE_F: return (s->row->dtypes >> dtype & 1) != 0 && same(&s->f, dtype);
  case PTE_RULE_T: return same(&s->t, dtype);
  case PTE_RULE_I64: return dtype == PTE_I64;
  case PTE_RULE_BOOL: return dtype == PTE_BOOL;
  default: return true;
  }
}

static uint32_t layout_of(const pte_op_port *port) {
  if (port->rule == PTE_RULE_W) return PTE_PANELS;
  return port->rule == PTE_RULE_TAPS ? PTE_TAPS : PTE_STRIDED;
}

static bool writable(const pte_program *p, const pte_file_value *value) {
  if (value->storage == PTE_STORAGE_VIEW) value = &p->values[value->base];
  return value->storage != PTE_STORAGE_INPUT && value->storage != PTE_STORAGE_CONSTANT;
}

/* What a row says and the file does not keep. */
static pte_status fail_row(const subject *s, const pte_fault *f) {
  const pte_op_port *port =
      f->port >= 128 ? pte_op_output(s->row, f->port - 128u) : pte_op_input(s->row, f->port);
  uint16_t name = f->attr != 0                     ? f->attr
                  : f->port != 255 && port != NULL ? port->name
                                                   : s->row->name;
  return pte_refuse(s->v, "instrs[%u]: %s: %s: %s, got %lld, expected %lld", s->i,
                    pte_op_text(s->row->name), pte_op_text(name), f->text, f->got, f->expected);
}

/* Axes that the kernel sets are counted dimensions, and no others of its outputs are. */
static pte_status check_counted(const subject *s, uint32_t k, const pte_file_value *value) {
  const pte_program *p = s->v->program;
  const pte_op_port *port = pte_op_output(s->row, k);
  for (uint32_t axis = 0; s->row->counts && axis < value->rank; axis++) {
    const pte_file_expr *e = &p->exprs[p->tables.refs[value->shape + axis]];
    bool counted = e->op == PTE_EXPR_DIM && p->dims[e->a].kind == PTE_DIM_COUNTED;
    if (counted != (pte_op_terms[port->terms + axis].value != 0))
      return pte_refuse(s->v, "instrs[%u].outputs: %s: axis %u is%s a counted dimension", s->i,
                        pte_op_text(s->row->name), axis, counted ? "" : " not");
  }
  return PTE_OK;
}

/* Operand `k` of a side, which is value `ref` or absent. */
static pte_status check_operand(subject *s, bool output, uint32_t k, uint32_t ref) {
  const pte_program *p = s->v->program;
  const char *side = output ? "outputs" : "inputs";
  const pte_op_port *port = output ? pte_op_output(s->row, k) : pte_op_input(s->row, k);
  if (port == NULL) return fail(s, side, k, "more than the operator has");
  if (ref == PTE_NONE)
    return port->optional ? PTE_OK : fail(s, side, k, "absent, but not optional");
  if (ref - s->method->values.start >= s->method->values.count)
    return pte_refuse(s->v, "instrs[%u].%s: %s: value %u is not the method's", s->i, side,
                      pte_op_text(s->row->name), ref);
  const pte_file_value *value = &p->values[ref];
  if (!dtype_fits(s, port, value->dtype))
    return pte_refuse(s->v, "instrs[%u].%s: %s: %s may not be %s", s->i, side,
                      pte_op_text(s->row->name), pte_op_text(port->name),
                      pte_dtype_names[value->dtype]);
  if (!s->row->control && value->layout != layout_of(port))
    return fail(s, side, k, "other layout than the operator's row says");
  if (output && !writable(p, value)) return fail(s, side, k, "written, but an INPUT or CONSTANT");
  pte_fault fault;
  pte_operand o = {NULL, value->groups, value->format, value->block, value->rank, value->dtype};
  if (pte_shape_port(&s->match, output, k, &o, &fault) != PTE_OK)
    return pte_refuse(s->v, "instrs[%u].%s: %s: %s: expected rank %lld, got %u", s->i, side,
                      pte_op_text(s->row->name), pte_op_text(port->name), fault.expected,
                      (uint32_t)value->rank);
  return output ? check_counted(s, k, value) : PTE_OK;
}

static pte_status check_side(subject *s, bool output, pte_range range) {
  const pte_program *p = s->v->program;
  const char *side = output ? "outputs" : "inputs";
  PTE_TRY(pte_check_range(s->v, "instrs", s->i, side, range, p->ref_count, PTE_MAX_LIST));
  PTE_TRY(pte_check_spend(s->v, "instrs", s->i, range.count));
  for (uint32_t k = 0; k < range.count; k++)
    PTE_TRY(check_operand(s, output, k, p->tables.refs[range.start + k]));
  uint32_t ports = output ? s->row->output_count : s->row->input_count;
  bool variadic = output ? s->row->output_variadic : s->row->input_variadic;
  const pte_op_port *rows = &pte_op_ports[output ? s->row->outputs : s->row->inputs];
  for (uint32_t k = range.count; k < ports - (variadic ? 1 : 0); k++)
    if (!rows[k].optional) return fail(s, side, k, "missing");
  return PTE_OK;
}

static pte_status check_steps(const subject *s, const pte_file_instr *instr, const void *attrs) {
  const pte_program *p = s->v->program;
  const pte_op_row *row = s->row;
  for (uint32_t a = 0; a < row->attr_count; a++) {
    const pte_op_attr *attr = &pte_op_attrs[row->attrs + a];
    if (attr->kind != PTE_ATTR_STEPS) continue;
    pte_steps steps;
    memcpy(&steps, (const uint8_t *)attrs + attr->offset, sizeof steps);
    uint32_t first = row->input_count - 1u; /* the variadic tail */
    uint32_t tail = instr->inputs.count > first ? instr->inputs.count - first : 0;
    bool epilogue = first != 0;
    if (instr->outputs.count == 0) return fail(s, "outputs", 0, "missing");
    if (epilogue && steps.steps.count == 0) {
      if (tail != 0) return fail(s, "inputs", first, "operands without steps");
      continue;
    }
    uint32_t result = p->tables.refs[instr->outputs.start]; /* of such rows no output is optional */
    pte_steps_port port = {tail + (epilogue ? 1 : 0), instr->outputs.count,
                           p->values[result].rank,    instr->inputs.start + first,
                           instr->outputs.start,      epilogue};
    PTE_TRY(pte_verify_steps(s->v, s->i, &steps, &port));
  }
  return PTE_OK;
}

static const pte_field INSTR[] = {
    PTE_ZERO(pte_file_instr),
};

/* Prepare compares every output with every input and with the outputs before it. */
static pte_status spend_pairs(pte_verifier *v, uint32_t i, uint32_t inputs, uint32_t outputs) {
  uint64_t pairs = outputs < 2 ? 0 : (uint64_t)outputs * (inputs + outputs / 2);
  if (pairs > v->pairs) return pte_refuse(v, "instrs[%u].outputs: operands outgrow the file", i);
  v->pairs -= pairs;
  return PTE_OK;
}

static pte_status fail_absent(pte_verifier *v, uint32_t i, const pte_op_row *row) {
  return pte_fail(v->error, PTE_UNSUPPORTED,
                  "instrs[%u].op: %s is not in this build of the runtime", i,
                  pte_op_text(row->name));
}

/* Whether the build has operator `id` with these words: one that the session runs has no kernel
 * that could be absent, and kinds of an operator may be left out. */
static bool is_kept(uint32_t id, const void *attrs) {
  (void)id, (void)attrs;
#define PTE_WORDS(OP, op, ATTR, attr)                                                              \
  if (id == PTE_OP_##OP && !PTE_##OP##_##ATTR##_KEPT(((const pte_##op##_attrs *)attrs)->attr))     \
    return false;
  PTE_ENUM_ATTRS(PTE_WORDS)
#undef PTE_WORDS
  return (PTE_OP_KEPT(IF) || id != PTE_OP_IF) && (PTE_OP_KEPT(LOOP) || id != PTE_OP_LOOP) &&
         (PTE_OP_KEPT(CALL) || id != PTE_OP_CALL) &&
         (PTE_OP_KEPT(DELEGATE) || id != PTE_OP_DELEGATE);
}

pte_status pte_verify_instr(pte_verifier *v, uint32_t block, uint32_t i) {
  const pte_program *p = v->program;
  const pte_file_instr *instr = &p->instrs[i];
  const pte_op_row *row = pte_op_find(instr->op);
  if (row == NULL)
    return pte_refuse(v, "instrs[%u].op: %u is not an operator", i, (uint32_t)instr->op);
  if (row->kernel == NULL && !row->control) return fail_absent(v, i, row);
  PTE_CHECK_FIELDS(v, "instrs", i, instr, INSTR);
  uint64_t scratch[PTE_MAX_ATTRS_BYTES / 8];
  const void *attrs = NULL;
  PTE_TRY(pte_verify_attrs(v, i, row, scratch, &attrs));
  subject s = {.v = v,
               .method = &p->methods[p->blocks[block].method],
               .row = row,
               .i = i,
               .f = PTE_NONE,
               .t = PTE_NONE};
  if (!is_kept(row->id, attrs)) return fail_absent(v, i, row);
  pte_shape_begin(&s.match, row, attrs);
  PTE_TRY(check_side(&s, false, instr->inputs));
  PTE_TRY(check_side(&s, true, instr->outputs));
  PTE_TRY(spend_pairs(v, i, instr->inputs.count, instr->outputs.count));
  if (row->control) return pte_verify_control(v, block, i, attrs);
  pte_fault fault;
  if (pte_relations_hold(&s.match, &p->tables, &fault) != PTE_OK) return fail_row(&s, &fault);
  return check_steps(&s, instr, attrs);
}
