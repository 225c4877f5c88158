#include "program/line.h"

static bool is_const(const pte_file_expr *e) { return e->op == PTE_EXPR_CONST; }

/* One step down from `*index`: y = a + b, a - b or a * b, of which one is a constant. */
static bool descend(const pte_file_expr *exprs, uint32_t *index, pte_line *line) {
  const pte_file_expr *e = &exprs[*index];
  bool swap = is_const(&exprs[e->a]);
  const pte_file_expr *number = &exprs[swap ? e->a : e->b];
  int64_t scaled = 0;
  if (!is_const(number) || __builtin_mul_overflow(line->factor, number->value, &scaled))
    return false;
  *index = swap ? e->b : e->a;
  switch (e->op) {
  case PTE_EXPR_ADD: return !__builtin_add_overflow(line->offset, scaled, &line->offset);
  case PTE_EXPR_SUB: return !swap && !__builtin_sub_overflow(line->offset, scaled, &line->offset);
  case PTE_EXPR_MUL: line->factor = scaled; return scaled > 0;
  default: return false;
  }
}

bool pte_line_of(const pte_file_expr *exprs, uint32_t index, pte_line *out) {
  pte_line line = {.factor = 1};
  while (exprs[index].op != PTE_EXPR_DIM) {
    if (is_const(&exprs[index]) || !descend(exprs, &index, &line)) return false;
  }
  line.dim = exprs[index].a;
  *out = line;
  return true;
}

int64_t pte_line_at(const pte_line *line, int64_t size, int64_t otherwise) {
  int64_t y = 0;
  bool fits = !__builtin_mul_overflow(line->factor, size, &y) &&
              !__builtin_add_overflow(y, line->offset, &y);
  return fits ? y : otherwise;
}

bool pte_line_solve(const pte_line *line, int64_t value, int64_t *out) {
  int64_t rest = 0;
  if (__builtin_sub_overflow(value, line->offset, &rest) || rest % line->factor != 0) return false;
  *out = rest / line->factor;
  return true;
}
