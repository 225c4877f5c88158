#include "session/expr.h"

#include <string.h>

#include "core/kept.h"

typedef struct outcome {
  int64_t value;
  pte_known known;
} outcome;

static bool is_leaf(const pte_file_expr *e) {
  return e->op == PTE_EXPR_CONST || e->op == PTE_EXPR_DIM;
}

/* Division rounded to minus infinity and its remainder, as in Python. */
static outcome floor_divide(int64_t a, int64_t b, int64_t *out_rest) {
  if (b == 0) return (outcome){0, PTE_DIVIDED};
  if (a == INT64_MIN && b == -1) return (outcome){0, PTE_OVERFLOW};
  int64_t quotient = a / b, rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) {
    quotient--;
    rest += b;
  }
  *out_rest = rest;
  return (outcome){quotient, PTE_KNOWN};
}

static outcome divide(uint8_t op, int64_t a, int64_t b) {
  int64_t rest = 0;
  outcome q = floor_divide(a, b, &rest);
  if (q.known != PTE_KNOWN) return q;
  if (op == PTE_EXPR_MOD) q.value = rest;
  else if (op == PTE_EXPR_CEILDIV && rest != 0) q.value++;
  return q;
}

static double float_of(int64_t bits) {
  double y = 0;
  memcpy(&y, &bits, sizeof y);
  return y;
}

static int64_t bits_of(double x) {
  int64_t y = 0;
  memcpy(&y, &x, sizeof y);
  return y;
}

/* Towards zero; beyond 2^52 and of NaN there is no fraction to lose. */
static double truncated(double x) { return x > -0x1p52 && x < 0x1p52 ? (double)(int64_t)x : x; }

static double floored(double x) {
  double y = truncated(x);
  return y > x ? y - 1 : y;
}

static double rounded(double x) {
  double low = floored(x), rest = x - low;
  bool odd = floored(low / 2) * 2 != low;
  return rest > 0.5 || (rest == 0.5 && odd) ? low + 1 : low;
}

static outcome whole(double x) {
  if (!(x >= -0x1p63 && x < 0x1p63)) return (outcome){0, PTE_OVERFLOW};
  return (outcome){(int64_t)x, PTE_KNOWN};
}

/* IEEE arithmetic as the model has it: of floats a double's sum, product or quotient, narrowed, is
 * the float's own, as it has more than twice the bits. */
static outcome apply_floats(uint8_t op, int64_t left, int64_t right) {
  double a = float_of(left), b = float_of(right), y = 0;
  switch (op) {
  case PTE_EXPR_F64: y = (double)left; break;
  case PTE_EXPR_F32: y = (double)(float)left; break;
  case PTE_EXPR_NARROW: y = (double)(float)a; break;
  case PTE_EXPR_FADD: y = a + b; break;
  case PTE_EXPR_FSUB: y = a - b; break;
  case PTE_EXPR_FMUL: y = a * b; break;
  case PTE_EXPR_FDIV: y = a / b; break;
  case PTE_EXPR_FFLOOR: y = floored(a); break;
  case PTE_EXPR_FCEIL: y = -floored(-a); break;
  case PTE_EXPR_FROUND: y = rounded(a); break;
  default: return whole(a);
  }
  return (outcome){bits_of(y), PTE_KNOWN};
}

static outcome apply(uint8_t op, int64_t a, int64_t b) {
  int64_t y = 0;
  bool fits = true;
  switch (op) {
  case PTE_EXPR_ADD: fits = !__builtin_add_overflow(a, b, &y); break;
  case PTE_EXPR_SUB: fits = !__builtin_sub_overflow(a, b, &y); break;
  case PTE_EXPR_MUL: fits = !__builtin_mul_overflow(a, b, &y); break;
  case PTE_EXPR_MIN: y = a < b ? a : b; break;
  case PTE_EXPR_MAX: y = a > b ? a : b; break;
  case PTE_EXPR_FLOORDIV:
  case PTE_EXPR_CEILDIV:
  case PTE_EXPR_MOD: return divide(op, a, b);
  default: return apply_floats(op, a, b);
  }
  return (outcome){y, fits ? PTE_KNOWN : PTE_OVERFLOW};
}

static outcome evaluate(const pte_exprs *x, const pte_file_expr *e) {
  if (e->op == PTE_EXPR_CONST) return (outcome){e->value, PTE_KNOWN};
  if (e->op == PTE_EXPR_DIM) return (outcome){x->dim_values[e->a], x->dim_known[e->a]};
  if (x->known[e->a] != PTE_KNOWN) return (outcome){0, x->known[e->a]};
  if (x->known[e->b] != PTE_KNOWN) return (outcome){0, x->known[e->b]};
  return apply(e->op, x->values[e->a], x->values[e->b]);
}

void pte_exprs_reset(pte_exprs *x) {
  memset(x->dim_values, 0, x->dim_count * sizeof *x->dim_values);
  memset(x->dim_known, PTE_UNBOUND, x->dim_count);
}

static bool is_counted(const pte_exprs *x, const pte_file_expr *dim) {
  return PTE_COUNTED_KEPT && x->dims[dim->a].kind == PTE_DIM_COUNTED;
}

void pte_exprs_trace(pte_exprs *x) {
  for (uint32_t i = 0; i < x->expr_count; i++) {
    const pte_file_expr *e = &x->exprs[i];
    if (e->op == PTE_EXPR_DIM) x->dynamic[i] = is_counted(x, e);
    else x->dynamic[i] = !is_leaf(e) && (x->dynamic[e->a] || x->dynamic[e->b]);
  }
  /* Downwards: operands and capacities have lower indices than their users. */
  for (uint32_t i = x->expr_count; i-- > 0;) {
    const pte_file_expr *e = &x->exprs[i];
    if (!x->used[i]) continue;
    if (!is_leaf(e)) x->used[e->a] = x->used[e->b] = true;
    if (e->op != PTE_EXPR_DIM || !is_counted(x, e)) continue;
    if (x->dims[e->a].capacity != PTE_NONE) x->used[x->dims[e->a].capacity] = true;
  }
}

/* Binds a counted dimension to its capacity, which has been evaluated before anything that uses the
 * dimension. */
static void bind_capacity(pte_exprs *x, uint32_t dim) {
  uint32_t capacity = x->dims[dim].capacity;
  int64_t extent = x->max_extent;
  uint8_t known = PTE_KNOWN;
  if (capacity != PTE_NONE) {
    known = x->known[capacity];
    extent = x->values[capacity];
  }
  x->dim_known[dim] = known;
  x->dim_values[dim] = x->dim_capacity[dim] = extent < 0 ? 0 : extent;
}

/* Says whether the expression is another than it was. */
static bool evaluate_at(pte_exprs *x, uint32_t i) {
  outcome before = {x->values[i], x->known[i]}, y = evaluate(x, &x->exprs[i]);
  x->values[i] = y.value;
  x->known[i] = (uint8_t)y.known;
  return before.value != y.value || before.known != y.known;
}

void pte_exprs_evaluate(pte_exprs *x, bool *changed) {
  for (uint32_t i = 0; i < x->expr_count; i++) {
    const pte_file_expr *e = &x->exprs[i];
    if (e->op == PTE_EXPR_DIM && is_counted(x, e)) bind_capacity(x, e->a);
    if (evaluate_at(x, i)) *changed = true;
  }
}

void pte_exprs_refresh(pte_exprs *x) {
  for (uint32_t i = 0; i < x->expr_count; i++) {
    if (x->dynamic[i] && x->used[i]) (void)evaluate_at(x, i);
  }
}

bool pte_expr_is_dim(const pte_exprs *x, uint32_t index, uint8_t kind, uint32_t *out_dim) {
  const pte_file_expr *e = &x->exprs[index];
  if (e->op != PTE_EXPR_DIM || x->dims[e->a].kind != kind) return false;
  *out_dim = e->a;
  return true;
}

uint32_t pte_expr_blame(const pte_exprs *x, uint32_t index) {
  while (!is_leaf(&x->exprs[index])) {
    const pte_file_expr *e = &x->exprs[index];
    index = x->known[e->a] != PTE_KNOWN ? e->a : e->b;
  }
  return x->exprs[index].op == PTE_EXPR_DIM ? x->exprs[index].a : PTE_NONE;
}
