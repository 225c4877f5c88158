#include "session/fault.h"

void pte_fault_clear(pte_session *s) { s->fault = (pte_fault){"", -1, 0, 0, 255, 0}; }

static const char *port_kind(uint8_t port) {
  if (port == 255) return "";
  return port >= 128 ? ": output " : ": input ";
}

static const char *name_of(const pte_op_row *row, const pte_fault *f) {
  uint8_t port = f->port;
  if (f->attr != 0) return pte_op_text(f->attr);
  if (port == 255) return "";
  const pte_op_port *p = port >= 128 ? pte_op_output(row, port - 128u) : pte_op_input(row, port);
  return p == NULL ? "?" : pte_op_text(p->name);
}

void pte_fault_where(const pte_session *s, uint32_t work, pte_error *err) {
  pte_program_where(s->program, pte_session_instr(s, work), err);
}

void pte_fault_value(const pte_session *s, uint32_t v, pte_error *err) {
  const pte_program *p = s->program;
  const uint32_t base = s->slots[v].base;
  for (uint32_t w = 0; w < s->work_count; w++) {
    pte_range outputs = p->instrs[pte_session_instr(s, w)].outputs;
    while (outputs.count-- != 0) {
      uint32_t made = p->tables.refs[outputs.start++] - s->first_value;
      if (made < s->value_count && s->slots[made].base == base) {
        pte_fault_where(s, w, err);
        return;
      }
    }
  }
}

pte_status pte_fault_text(const pte_session *s, uint32_t work, pte_status status, pte_error *err) {
  if (err == NULL) return status;
  const pte_op_row *row = s->works[work].row;
  const pte_fault *f = &s->fault;
  uint32_t instr = pte_session_instr(s, work);
  const char *text = f->text == NULL || f->text[0] == 0 ? pte_status_name(status) : f->text;
  const char *op = pte_op_text(row->name);
  const char *name = name_of(row, f);
  const char *kind = f->attr != 0 ? ": attribute " : port_kind(f->port);
  pte_fail(err, status, "op %u (%s)%s%s", instr, op, kind, name);
  if (f->position >= 0) pte_fail(err, status, "+ at %lld", f->position);
  pte_fail(err, status, "+: %s", text);
  if (f->got != f->expected)
    pte_fail(err, status, "+, got %lld, expected %lld", f->got, f->expected);
  pte_fault_where(s, work, err);
  return status;
}

pte_status pte_fault_at(pte_session *s, uint32_t work, pte_status status, const char *text,
                        uint32_t port, pte_error *err) {
  s->fault = (pte_fault){text, -1, 0, 0, (uint8_t)(port > 255 ? 254 : port), 0};
  return pte_fault_text(s, work, status, err);
}

pte_status pte_fault_extent(const pte_session *s, uint32_t work, pte_status status, uint32_t port,
                            uint32_t axis, int64_t expected, int64_t got, pte_error *err) {
  pte_fail(err, status, "op %u (%s)%s%u, axis %u: expected %lld elements, got %lld",
           pte_session_instr(s, work), pte_op_text(s->works[work].row->name),
           port_kind((uint8_t)port), port & 127u, axis, expected, got);
  pte_fault_where(s, work, err);
  return status;
}
