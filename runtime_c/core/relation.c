#include "core/relation.h"

#include <string.h>

#include "pteron/types.h"

/* A relation runs once for each element of the lists in it, on a stack of numbers: each is an
 * element of a list of `count`, or goes with every element. */
typedef struct term {
  int64_t value;
  uint32_t count;
  bool list, unknown;
} term;

typedef struct machine {
  const pte_shape_match *match;
  const pte_tables *tables;
  const uint8_t *code;
  uint32_t element;
  pte_fault fault;
  bool broken; /* an operation has no result: the relation does not hold */
} machine;

/* A list by its name: elements, or references to them. Neither: they are not known. */
typedef struct list {
  const int64_t *at;
  const uint32_t *refs;
  uint32_t count;
  bool bound;
} list;

static term number(int64_t value) { return (term){.value = value}; }

static term unknown(void) { return (term){.unknown = true}; }

static list list_at(const machine *m, unsigned code, uint8_t arg) {
  const pte_shape_match *match = m->match;
  if (code == PTE_CODE_RUN)
    return (list){match->runs[arg], NULL, match->run_ranks[arg], match->runs_bound >> arg & 1};
  pte_range range;
  memcpy(&range, (const uint8_t *)match->attrs + arg, sizeof range);
  list l = {NULL, NULL, range.count, true};
  if (code == PTE_CODE_LIST) l.at = m->tables->ints + range.start;
  else if (m->tables->extents != NULL)
    l.at = m->tables->extents, l.refs = m->tables->refs + range.start;
  return l;
}

static int64_t element_at(const list *l, uint64_t i) {
  return l->refs == NULL ? l->at[i] : l->at[l->refs[i]];
}

/* Element `first` + the one that is looked at, of `count`. */
static term part(const machine *m, const list *l, int64_t first, uint32_t count) {
  term t = {0, count, true, l->at == NULL};
  if (!l->bound) return unknown();
  if (!t.unknown && m->element < count) t.value = element_at(l, (uint64_t)first + m->element);
  return t;
}

static term port_fact(const machine *m, unsigned code, uint8_t port) {
  const pte_operand *o = &m->match->operands[port];
  bool known = m->match->operands_bound >> port & 1;
  if (code == PTE_CODE_GIVEN) return number(known);
  if (!known || (code == PTE_CODE_EMPTY && o->shape == NULL)) return unknown();
  if (code == PTE_CODE_DTYPE) return number(o->dtype);
  if (code == PTE_CODE_BITS) return number(pte_dtype_bits(o->dtype));
  if (code == PTE_CODE_FORMAT) return number(o->format);
  if (code == PTE_CODE_BLOCK) return number(1 << o->block & ~1);
  if (code == PTE_CODE_GROUPS) return number(o->groups > 1 ? o->groups : 1);
  bool empty = false;
  for (uint32_t axis = 0; axis < o->rank; axis++) empty |= o->shape[axis] == 0;
  return number(empty);
}

static term attribute(machine *m, unsigned code, uint8_t offset) {
  const double far = 4611686018427387904.0; /* 2^62 */
  uint32_t word;
  int64_t whole;
  double real;
  memcpy(&word, (const uint8_t *)m->match->attrs + offset, sizeof word);
  if (code == PTE_CODE_WORD) return number(word);
  memcpy(&whole, (const uint8_t *)m->match->attrs + offset, sizeof whole);
  if (code == PTE_CODE_INT) return number(whole);
  memcpy(&real, &whole, sizeof real);
  if (real != real) m->broken = true;
  real = real > far ? far : real >= -far ? real : -far;
  whole = (int64_t)real;
  return number(whole - ((double)whole > real));
}

/* What a name stands for. */
static term load(machine *m, unsigned code) {
  uint8_t arg = *m->code++;
  switch (code) {
  case PTE_CODE_SMALL: return number(arg);
  case PTE_CODE_NUMBER: return number(pte_op_numbers[arg]);
  case PTE_CODE_DIM:
    return m->match->dims_bound >> arg & 1 ? number(m->match->dims[arg]) : unknown();
  case PTE_CODE_INT:
  case PTE_CODE_WORD:
  case PTE_CODE_FLOAT: return attribute(m, code, arg);
  case PTE_CODE_RUN:
  case PTE_CODE_LIST:
  case PTE_CODE_DIMS: {
    list l = list_at(m, code, arg);
    return part(m, &l, 0, l.count);
  }
  default: return port_fact(m, code, arg);
  }
}

static const char *const TEXTS[] = {"differs from what the row says", "is what the row excludes",
                                    "is less than the row says", "is more than the row says"};

static bool differ(machine *m, unsigned code, int64_t got, int64_t expected, bool element) {
  int64_t at = element ? (int64_t)m->element : -1;
  m->fault = (pte_fault){TEXTS[code - PTE_CODE_EQ], at, got, expected, 255, 0};
  return false;
}

static int64_t calculate(machine *m, unsigned code, int64_t a, int64_t b, bool element) {
  int64_t value = 0;
  bool holds;
  switch (code) {
  case PTE_CODE_ADD: m->broken |= __builtin_add_overflow(a, b, &value); return value;
  case PTE_CODE_SUB: m->broken |= __builtin_sub_overflow(a, b, &value); return value;
  case PTE_CODE_MUL: m->broken |= __builtin_mul_overflow(a, b, &value); return value;
  case PTE_CODE_DIV: return b <= 0 ? 0 : a / b - (a % b < 0);
  case PTE_CODE_MOD: return b <= 0 ? a : a % b + (a % b < 0 ? b : 0);
  case PTE_CODE_MIN: return a < b ? a : b;
  case PTE_CODE_MAX: return a > b ? a : b;
  case PTE_CODE_OR: return a != 0 ? a : b;
  case PTE_CODE_EQ: holds = a == b; break;
  case PTE_CODE_NE: holds = a != b; break;
  case PTE_CODE_GE: holds = a >= b; break;
  default: holds = a <= b; break;
  }
  return holds || differ(m, code, a, b, element);
}

/* Lists are equally long; a comparison over no elements holds. */
static term join(machine *m, unsigned code, term a, term b) {
  if (code == PTE_CODE_OR && a.list && a.count == 0) return b;
  if (a.list && b.list && a.count != b.count)
    m->broken = !differ(m, PTE_CODE_EQ, a.count, b.count, false);
  term out = a.list ? a : b;
  out.unknown = a.unknown || b.unknown;
  if (code >= PTE_CODE_EQ && out.list && out.count == 0) return number(1);
  if (!out.unknown) out.value = calculate(m, code, a.value, b.value, out.list);
  return out;
}

/* What takes a list's name: its length, its product, what is behind or before element n. */
static term of_list(machine *m, unsigned code, const term *n) {
  list l = list_at(m, m->code[0], m->code[1]);
  m->code += 2;
  if (!l.bound) return unknown();
  if (code == PTE_CODE_LEN) return number(l.count);
  if (code == PTE_CODE_PRODUCT) {
    term all = l.at == NULL ? unknown() : number(1);
    for (uint32_t i = 0; !all.unknown && i < l.count; i++)
      all.value = calculate(m, PTE_CODE_MUL, all.value, element_at(&l, i), false);
    return all;
  }
  if (n->unknown) return unknown();
  if (n->value < 0 || n->value > l.count) {
    m->broken = !differ(m, PTE_CODE_LE, n->value, l.count, false);
    return unknown();
  }
  if (code == PTE_CODE_TAKE) return part(m, &l, 0, (uint32_t)n->value);
  return part(m, &l, n->value, l.count - (uint32_t)n->value);
}

/* One of a set: bit x of the mask says whether x is. */
static term member(machine *m, const term *of) {
  uint64_t mask = (uint64_t)pte_op_numbers[*m->code++];
  if (of->unknown) return unknown();
  bool is = of->value >= 0 && of->value < 64 && (mask >> of->value & 1);
  return number(is || differ(m, PTE_CODE_EQ, of->value, __builtin_ctzll(mask), false));
}

/* Runs a relation on one element; the number of elements in `*out_count`. */
static bool holds(machine *m, uint32_t *out_count) {
  term stack[PTE_RELATION_DEPTH + 1] = {{0}}, *top = stack; /* stack[0] is below what is used */
  unsigned code;
  while ((code = *m->code++) != PTE_CODE_END) {
    if (code <= PTE_CODE_GIVEN) *++top = load(m, code);
    else if (code <= PTE_CODE_PRODUCT) *++top = of_list(m, code, NULL);
    else if (code <= PTE_CODE_TAKE) *top = of_list(m, code, top);
    else if (code == PTE_CODE_IN) *top = member(m, top);
    else if (code == PTE_CODE_WITHIN) {
      term low = join(m, PTE_CODE_GE, top[-2], top[-1]);
      term high = join(m, PTE_CODE_LE, top[-2], top[0]);
      *(top -= 2) = join(m, PTE_CODE_MIN, low, high);
    } else {
      top--;
      *top = join(m, code, top[0], top[1]);
    }
  }
  *out_count = top->unknown || !top->list ? 0 : top->count;
  return !m->broken && (top->unknown || top->value != 0);
}

/* Whom a relation accuses: its first name. An attribute by its name, a dimension by the first port
 * that has it and its axis there. */
static void name_subject(const machine *m, const uint8_t *code, pte_fault *fault) {
  const pte_shape_match *match = m->match;
  const pte_op_row *row = match->row;
  unsigned kind = code[0], name = code[1];
  if (kind > PTE_CODE_GIVEN) kind = code[1], name = code[2]; /* of a list */
  if (kind == PTE_CODE_DIM || kind == PTE_CODE_RUN) {
    uint8_t place = kind == PTE_CODE_DIM ? match->dim_places[name] : match->run_places[name];
    fault->port = (place & 0x80) | (place >> 3 & 15);
    if (kind == PTE_CODE_DIM || fault->position >= 0)
      fault->position = (place & 7) + (fault->position > 0 ? fault->position : 0);
  } else if (kind >= PTE_CODE_DTYPE) {
    fault->port = (uint8_t)(name < row->input_count ? name : 128 + name - row->input_count);
  } else {
    for (uint32_t a = 0; a < row->attr_count; a++)
      if (pte_op_attrs[row->attrs + a].offset == name)
        fault->attr = pte_op_attrs[row->attrs + a].name;
  }
}

pte_status pte_relations_hold(const pte_shape_match *match, const pte_tables *tables,
                              pte_fault *fault) {
  for (uint32_t i = 0; i < match->row->relation_count; i++) {
    const uint8_t *begin = pte_op_codes + pte_op_relations[match->row->relations + i];
    machine m = {.match = match, .tables = tables};
    uint32_t count = 0;
    m.fault = (pte_fault){"does not fit in 64 bits", -1, 0, 0, 255, 0};
    do {
      m.code = begin;
      if (holds(&m, &count)) continue;
      *fault = m.fault;
      name_subject(&m, begin, fault);
      return PTE_BAD_PROGRAM;
    } while (++m.element < count);
  }
  return PTE_OK;
}
