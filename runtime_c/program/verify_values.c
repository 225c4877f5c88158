/* Methods, ports and values: who owns which value, and where its bytes are. */
#include "program/check.h"
#include "pteron/types.h"

static pte_status fail(const pte_verifier *v, uint32_t i, const char *field, const char *why) {
  return pte_refuse(v, "values[%u].%s: %s", i, field, why);
}

static pte_status check_exprs(pte_verifier *v, uint32_t i, const char *field, uint32_t start,
                              uint32_t rank) {
  const pte_program *p = v->program;
  PTE_TRY(
      pte_check_range(v, "values", i, field, (pte_range){start, rank}, p->ref_count, PTE_MAX_RANK));
  for (uint32_t axis = 0; axis < rank; axis++)
    PTE_TRY(pte_check_index(v, "values", i, field, p->tables.refs[start + axis], p->expr_count));
  return PTE_OK;
}

static pte_status check_constant(pte_verifier *v, uint32_t i) {
  const pte_program *p = v->program;
  const pte_file_value *value = &p->values[i];
  PTE_TRY(pte_check_index(v, "values", i, "base", value->base, p->constant_count));
  const pte_file_constant *c = &p->constants[value->base];
  if (c->dtype != value->dtype || c->layout != value->layout || c->format != value->format ||
      c->block != value->block ||
      (c->groups > 1 ? c->groups : 1) != (value->groups > 1 ? value->groups : 1))
    return fail(v, i, "base", "the constant is of another kind");
  if (!pte_static_shape_is(p, value->shape, value->rank, c->shape))
    return fail(v, i, "shape", "expected the constant's, in numbers");
  return PTE_OK;
}

static pte_status check_view(pte_verifier *v, uint32_t i, const pte_file_method *method) {
  const pte_program *p = v->program;
  const pte_file_value *value = &p->values[i];
  PTE_TRY(pte_check_index(v, "values", i, "base", value->base, i));
  const pte_file_value *base = &p->values[value->base];
  if (value->base < method->values.start)
    return fail(v, i, "base", "the base belongs to another method");
  if (base->storage == PTE_STORAGE_VIEW) return fail(v, i, "base", "the base is a view itself");
  if (base->dtype != value->dtype) return fail(v, i, "dtype", "the base has another");
  if (base->layout != PTE_STRIDED || value->layout != PTE_STRIDED)
    return fail(v, i, "layout", "a view and its base are STRIDED");
  if (pte_element_bits(value->dtype) % 8 != 0)
    return fail(v, i, "dtype", "no views of elements narrower than a byte");
  if (value->strides != PTE_NONE)
    PTE_TRY(check_exprs(v, i, "strides", value->strides, value->rank));
  if (value->offset != PTE_NONE)
    PTE_TRY(pte_check_index(v, "values", i, "offset", value->offset, p->expr_count));
  return PTE_OK;
}

/* The value is the one that its port names. */
static pte_status check_port(pte_verifier *v, uint32_t i, pte_range ports) {
  const pte_program *p = v->program;
  PTE_TRY(pte_check_index(v, "values", i, "base", p->values[i].base, ports.count));
  if (p->ports[ports.start + p->values[i].base].value != i)
    return fail(v, i, "base", "the port has another value");
  return PTE_OK;
}

static pte_status check_state(pte_verifier *v, uint32_t i, uint32_t *next_state) {
  const pte_program *p = v->program;
  const pte_file_value *value = &p->values[i];
  PTE_TRY(pte_check_index(v, "values", i, "base", value->base, p->state_count));
  if (value->base < *next_state)
    return fail(v, i, "base", "states of a method come once each, ascending");
  const pte_file_state *s = &p->states[value->base];
  if (s->dtype != value->dtype || s->layout != value->layout || s->shape.count != value->rank)
    return fail(v, i, "base", "the state has another dtype, layout or rank");
  for (uint32_t axis = 0; axis < value->rank; axis++)
    if (p->tables.refs[s->shape.start + axis] != p->tables.refs[value->shape + axis])
      return fail(v, i, "shape", "expected the state's expressions");
  *next_state = value->base + 1;
  return PTE_OK;
}

static pte_status check_above(pte_verifier *v, uint32_t i, const pte_file_method *method) {
  const pte_program *p = v->program;
  const pte_file_value *value = &p->values[i];
  if (value->above.count == 0) return PTE_OK;
  if (value->storage != PTE_STORAGE_PLANNED)
    return fail(v, i, "above", "only a PLANNED value lies above others");
  PTE_TRY(pte_check_range(v, "values", i, "above", value->above, p->ref_count, UINT32_MAX));
  PTE_TRY(pte_check_spend(v, "values", i, (value->above.count + 7) / 8)); /* each is quick */
  for (uint32_t k = 0; k < value->above.count; k++) {
    uint32_t below = p->tables.refs[value->above.start + k];
    PTE_TRY(pte_check_index(v, "values", i, "above", below, i));
    if (below < method->values.start)
      return fail(v, i, "above", "a value there belongs to another method");
    if (p->values[below].storage != PTE_STORAGE_PLANNED)
      return fail(v, i, "above", "a value there is not PLANNED");
  }
  return PTE_OK;
}

static pte_status check_storage(pte_verifier *v, uint32_t i, const pte_file_method *method,
                                uint32_t *next_state) {
  const pte_file_value *value = &v->program->values[i];
  switch (value->storage) {
  case PTE_STORAGE_CONSTANT: return check_constant(v, i);
  case PTE_STORAGE_VIEW: return check_view(v, i, method);
  case PTE_STORAGE_STATE: return check_state(v, i, next_state);
  case PTE_STORAGE_INPUT: return check_port(v, i, method->inputs);
  case PTE_STORAGE_OUTPUT: return check_port(v, i, method->outputs);
  case PTE_STORAGE_PLANNED:
    return value->base == 0 ? PTE_OK : fail(v, i, "base", "expected 0 for PLANNED");
  default: return pte_check_index(v, "values", i, "base", value->base, v->program->block_count);
  }
}

static const pte_field VALUE[] = {
    PTE_CHOICE(pte_file_value, storage, PTE_STORAGE_COUNT),
    PTE_CHOICE(pte_file_value, rank, PTE_MAX_RANK + 1),
};

static pte_status verify_value(pte_verifier *v, uint32_t i, const pte_file_method *method,
                               uint32_t *next_state) {
  const pte_file_value *value = &v->program->values[i];
  PTE_TRY(pte_check_type(v, "values", i, value->dtype, value->layout, value->format, value->block));
  PTE_CHECK_FIELDS(v, "values", i, value, VALUE);
  PTE_TRY(check_exprs(v, i, "shape", value->shape, value->rank));
  bool packed = value->layout != PTE_STRIDED;
  if (packed && value->rank != 2) return fail(v, i, "rank", "PANELS and TAPS have rank 2");
  if (packed && (value->storage == PTE_STORAGE_INPUT || value->storage == PTE_STORAGE_OUTPUT))
    return fail(v, i, "layout", "the caller's buffers are STRIDED");
  if (value->groups > 1 && value->layout != PTE_PANELS)
    return fail(v, i, "groups", "needs layout PANELS");
  if (value->storage != PTE_STORAGE_VIEW &&
      (value->strides != PTE_NONE || value->offset != PTE_NONE))
    return fail(v, i, "strides", "only a view has strides or an offset");
  PTE_TRY(check_storage(v, i, method, next_state));
  return check_above(v, i, method);
}

static const pte_field PORT[] = {
    PTE_INDEX(pte_file_port, name, strings.count),
    PTE_INDEX(pte_file_port, value, value_count),
};

/* Ports of one direction: each names a value of its own of that storage. */
static pte_status verify_ports(pte_verifier *v, const pte_file_method *method, pte_range ports,
                               uint32_t storage) {
  const pte_program *p = v->program;
  for (uint32_t k = 0; k < ports.count; k++) {
    uint32_t i = ports.start + k, value = p->ports[i].value;
    PTE_CHECK_FIELDS(v, "ports", i, &p->ports[i], PORT);
    if (value - method->values.start >= method->values.count)
      return pte_refuse(v, "ports[%u].value: value %u belongs to another method", i, value);
    if (p->values[value].storage != storage || p->values[value].base != k)
      return pte_refuse(v, "ports[%u].value: value %u is not the %s of port %u", i, value,
                        storage == PTE_STORAGE_INPUT ? "INPUT" : "OUTPUT", k);
  }
  return PTE_OK;
}

/* Rows of tokens are saved as far as the position says: a method that has them has it, too. */
static pte_status check_context(pte_verifier *v, const pte_file_method *m) {
  const pte_program *p = v->program;
  uint32_t rows = PTE_NONE;
  for (uint32_t i = m->values.start; i < m->values.start + m->values.count; i++) {
    if (p->values[i].storage != PTE_STORAGE_STATE) continue;
    uint8_t role = p->states[p->values[i].base].role;
    if (role == PTE_ROLE_POSITION) return PTE_OK;
    if (role >= PTE_ROLE_TOKENS) rows = i;
  }
  return rows == PTE_NONE ? PTE_OK
                          : fail(v, rows, "base", "rows of tokens, the method has no position");
}

static const pte_field METHOD[] = {
    PTE_INDEX(pte_file_method, name, strings.count),
    PTE_LIST(pte_file_method, inputs, port_count, PTE_MAX_LIST),
    PTE_LIST(pte_file_method, outputs, port_count, PTE_MAX_LIST),
    PTE_LIST(pte_file_method, values, value_count, 0),
    PTE_INDEX(pte_file_method, block, block_count),
};

static pte_status verify_method(pte_verifier *v, uint32_t i, uint32_t *next_port,
                                uint32_t *next_value) {
  const pte_program *p = v->program;
  const pte_file_method *m = &p->methods[i];
  PTE_CHECK_FIELDS(v, "methods", i, m, METHOD);
  if (m->inputs.start != *next_port || m->outputs.start != m->inputs.start + m->inputs.count)
    return pte_refuse(v, "methods[%u].inputs: expected ports from %u, inputs then outputs", i,
                      *next_port);
  if (m->values.start != *next_value)
    return pte_refuse(v, "methods[%u].values: expected start %u, got %u", i, *next_value,
                      m->values.start);
  *next_port = m->outputs.start + m->outputs.count;
  *next_value = m->values.start + m->values.count;
  PTE_TRY(verify_ports(v, m, m->inputs, PTE_STORAGE_INPUT));
  PTE_TRY(verify_ports(v, m, m->outputs, PTE_STORAGE_OUTPUT));
  uint32_t next_state = 0;
  for (uint32_t k = m->values.start; k < *next_value; k++)
    PTE_TRY(verify_value(v, k, m, &next_state));
  return check_context(v, m);
}

pte_status pte_verify_values(pte_verifier *v) {
  const pte_program *p = v->program;
  uint32_t next_port = 0, next_value = 0;
  if (p->method_count == 0) return pte_refuse(v, "methods: expected at least one");
  for (uint32_t i = 0; i < p->method_count; i++)
    PTE_TRY(verify_method(v, i, &next_port, &next_value));
  if (next_value != p->value_count)
    return pte_refuse(v, "values: %u of %u belong to no method", p->value_count - next_value,
                      p->value_count);
  if (next_port != p->port_count)
    return pte_refuse(v, "ports: %u of %u belong to no method", p->port_count - next_port,
                      p->port_count);
  return PTE_OK;
}
