/* Finds the forms in a program: each value is traced to the steps that made it. A form ends in one
 * step and replaces all others that it consists of; these must serve nothing else, and what the
 * form reads must still be in its register when the last step runs. */
#include "kernels/pointwise/forms.h"

#include "core/math.h"

enum {
  PARTS = 20,
  NOWHERE = PTE_MAX_STEPS,
  NARROW_LEAST = 33, /* shifts for which lanes of 32 bits are enough (requantize/rescale.h) */
  NARROW_MOST = 54
};

/* What is known of a program: the steps that made what a step reads, and how often it is read. */
typedef struct reading {
  const pte_forms_source *source;
  const pte_step *steps;
  pte_form *forms;
  uint16_t made[PTE_MAX_STEPS][3], reads[PTE_MAX_STEPS];
} reading;

/* A form under trial: the steps that it would replace. */
typedef struct trial {
  const reading *r;
  uint16_t part[PARTS];
  unsigned count;
} trial;

static bool is(const reading *r, unsigned i, unsigned op, unsigned type) {
  return i != NOWHERE && r->steps[i].op == op && r->steps[i].type == type;
}

static double literal_of(const reading *r, unsigned i) {
  return pte_double(r->source->literals[r->steps[i].arg]);
}

/* Takes step `i` into the form if it is `op` and serves nothing else; a literal may. */
static bool take(trial *t, unsigned i, unsigned op, unsigned type) {
  if (!is(t->r, i, op, type) || t->count == PARTS || t->r->forms[i].kind != PTE_FORM_STEP ||
      (op != PTE_STEP_LITERAL && t->r->reads[i] != 1))
    return false;
  t->part[t->count++] = (uint16_t)i;
  return true;
}

/* Whether step `i` is not run any more once the form is: nothing else reads it. */
static bool drops(const trial *t, unsigned i) {
  unsigned reads = 0;
  for (unsigned p = 0; p < t->count; p++) reads += t->part[p] == i;
  return reads > 0 && reads == t->r->reads[i];
}

static bool take_float(trial *t, unsigned i, float *out) {
  if (!take(t, i, PTE_STEP_LITERAL, PTE_STEP_F32)) return false;
  *out = (float)literal_of(t->r, i);
  return true;
}

static bool take_wide(trial *t, unsigned i, int64_t *out) {
  if (!take(t, i, PTE_STEP_LITERAL, PTE_STEP_I64)) return false;
  *out = (int64_t)t->r->source->literals[t->r->steps[i].arg];
  return true;
}

static bool take_integer(trial *t, unsigned i, int32_t *out) {
  int64_t value;
  if (!take_wide(t, i, &value)) return false;
  *out = (int32_t)value;
  return value >= -(1 << 20) && value <= 1 << 20;
}

/* The operand of step `i` that is `op`, whichever side it is on; `*out_other` is the other. */
static bool sides(const reading *r, unsigned i, unsigned op, unsigned type, unsigned *out_side,
                  unsigned *out_other) {
  for (unsigned side = 0; side < 2; side++)
    if (is(r, r->made[i][side], op, type)) {
      *out_side = r->made[i][side];
      *out_other = r->made[i][1 - side];
      return true;
    }
  return false;
}

/* value op literal, as step `i` has it; `*out_value` is the step that made the value. */
static bool take_with_float(trial *t, unsigned i, unsigned op, float *out, unsigned *out_value) {
  unsigned literal;
  return take(t, i, op, PTE_STEP_F32) &&
         sides(t->r, i, PTE_STEP_LITERAL, PTE_STEP_F32, &literal, out_value) &&
         take_float(t, literal, out);
}
static bool take_with_wide(trial *t, unsigned i, unsigned op, int64_t *out, unsigned *out_value) {
  unsigned literal;
  return take(t, i, op, PTE_STEP_I64) &&
         sides(t->r, i, PTE_STEP_LITERAL, PTE_STEP_I64, &literal, out_value) &&
         take_wide(t, literal, out);
}
static bool take_with_integer(trial *t, unsigned i, unsigned op, int32_t *out,
                              unsigned *out_value) {
  unsigned literal;
  return take(t, i, op, PTE_STEP_I64) &&
         sides(t->r, i, PTE_STEP_LITERAL, PTE_STEP_I64, &literal, out_value) &&
         take_integer(t, literal, out);
}

/* Whether the register that step `x` fills still holds its value at step `end`, the form's parts
 * left out. */
static bool holds(const trial *t, unsigned x, unsigned end) {
  const reading *r = t->r;
  for (unsigned i = x + 1; i < end; i++) {
    bool runs = r->forms[i].kind != PTE_FORM_PART && !drops(t, i);
    if (runs && r->steps[i].op != PTE_STEP_STORE && r->steps[i].dst == r->steps[x].dst)
      return false;
  }
  return true;
}

static void settle(reading *r, const trial *t, unsigned end, pte_form form) {
  for (unsigned p = 0; p < t->count; p++)
    if (--r->reads[t->part[p]] == 0) r->forms[t->part[p]].kind = PTE_FORM_PART;
  r->forms[end] = form;
}

static bool is_code(const pte_walk *w) {
  const unsigned d = w->dtype;
  return d == PTE_I8 || d == PTE_U8 || d == PTE_I16 || d == PTE_U16;
}

/* Finds `by` and `rest` (forms.h). */
static void find_reciprocal(pte_form *f) {
  const uint32_t whole = (pte_bits(f->scale) & 0x7fffff) | 0x800000, close = 16;
  const int64_t least = (int64_t)f->least - f->zero, most = (int64_t)f->most - f->zero;
  int64_t n = 2 * (-least > most ? -least : most) + 1;
  unsigned t = 24;
  if (!(f->scale >= 0x1p-60f && f->scale <= 0x1p60f) || least > most || n < 1 ||
      f->far < (float)-least || f->far < (float)most)
    return;
  for (; n > 1; n /= 2) t--;
  if (whole != 0x800000 && (t < 6 || ((whole + close) & ((1u << t) - 1)) <= 2 * close)) return;
  const double exact = 1.0 / (double)f->scale;
  f->by = pte_float(pte_bits((float)exact) - 1);
  f->rest = (float)(exact - (double)f->by);
}

/* Takes operand - zero, or an operand, which step `at` makes; `*out_load`: the step that reads it.
 */
static bool take_difference(trial *t, unsigned at, int32_t *out_zero, unsigned *out_load) {
  if (is(t->r, at, PTE_STEP_SUB, PTE_STEP_I64)) {
    if (!take(t, at, PTE_STEP_SUB, PTE_STEP_I64) || !take_integer(t, t->r->made[at][1], out_zero))
      return false;
    at = t->r->made[at][0];
  }
  *out_load = at;
  return take(t, at, PTE_STEP_LOAD, PTE_STEP_I64) &&
         is_code(&t->r->source->xs[t->r->steps[at].arg]) && t->r->steps[at].arg <= UINT8_MAX;
}

/* Whether nothing is stored between the first step that reads an operand and step `end`: an output
 * may lie on an operand. */
static bool reads_late(const reading *r, unsigned load, unsigned end) {
  for (unsigned i = load; i < end; i++)
    if (r->steps[i].op == PTE_STEP_STORE) return false;
  return true;
}

/* (operand - zero) * scale; or, where step `end` is the cast, without a scale. */
static bool find_dequantize(reading *r, unsigned end) {
  trial t = {.r = r};
  pte_form f = {.kind = PTE_FORM_DEQUANTIZE, .scale = 1.0f};
  unsigned literal, code, cast = end;
  bool scaled = !is(r, end, PTE_STEP_CAST, PTE_STEP_F32);
  if (scaled &&
      (!sides(r, end, PTE_STEP_LITERAL, PTE_STEP_F32, &literal, &cast) ||
       !take_float(&t, literal, &f.scale) || !take(&t, cast, PTE_STEP_CAST, PTE_STEP_F32)))
    return false;
  if (r->steps[cast].b != PTE_STEP_I64 || r->forms[end].kind != PTE_FORM_STEP) return false;
  if (!take_difference(&t, r->made[cast][0], &f.zero, &code) || !reads_late(r, code, end))
    return false;
  f.x = (uint8_t)r->steps[code].arg;
  f.dtype = r->source->xs[f.x].dtype;
  settle(r, &t, end, f);
  return true;
}

/* store max(min(i64(max(min(nearest(x / scale), far), -far)) + zero, most), least) */
static bool find_quantize(reading *r, unsigned end) {
  trial t = {.r = r};
  pte_form f = {.kind = PTE_FORM_QUANTIZE};
  unsigned at = r->made[end][0];
  float low;
  if (!is_code(&r->source->outs[r->steps[end].arg]) ||
      !take_with_integer(&t, at, PTE_STEP_MAX, &f.least, &at) ||
      !take_with_integer(&t, at, PTE_STEP_MIN, &f.most, &at))
    return false;
  if (is(r, at, PTE_STEP_ADD, PTE_STEP_I64) &&
      !take_with_integer(&t, at, PTE_STEP_ADD, &f.zero, &at))
    return false;
  if (!take(&t, at, PTE_STEP_CAST, PTE_STEP_I64) || r->steps[at].b != PTE_STEP_F32 ||
      !take_with_float(&t, r->made[at][0], PTE_STEP_MAX, &low, &at) ||
      !take_with_float(&t, at, PTE_STEP_MIN, &f.far, &at) || low != -f.far ||
      !(f.far >= 0.0f && f.far <= 0x1p20f) || pte_nearest(f.far) != f.far)
    return false;
  if (!take(&t, at, PTE_STEP_NEAREST, PTE_STEP_F32)) return false;
  at = r->made[at][0];
  if (!take(&t, at, PTE_STEP_DIV, PTE_STEP_F32) || !take_float(&t, r->made[at][1], &f.scale) ||
      !holds(&t, r->made[at][0], end))
    return false;
  f.x = r->steps[at].a;
  f.dtype = r->source->outs[r->steps[end].arg].dtype;
  if (PTE_RECIPROCAL_KEPT) find_reciprocal(&f);
  settle(r, &t, end, f);
  return true;
}

/* (x * half) * (erf(x * inner) + one) */
static bool find_gelu(reading *r, unsigned end) {
  trial t = {.r = r};
  pte_form f = {.kind = PTE_FORM_GELU};
  unsigned sum, product, value, inside, x, again;
  if (!sides(r, end, PTE_STEP_ADD, PTE_STEP_F32, &sum, &product) ||
      !take_with_float(&t, sum, PTE_STEP_ADD, &f.one, &value) ||
      !take(&t, value, PTE_STEP_ERF, PTE_STEP_F32))
    return false;
  inside = r->made[value][0];
  if (!take_with_float(&t, inside, PTE_STEP_MUL, &f.inner, &x) ||
      !take_with_float(&t, product, PTE_STEP_MUL, &f.half, &again) || x != again ||
      !holds(&t, x, end))
    return false;
  f.x = r->steps[x].dst;
  settle(r, &t, end, f);
  return true;
}

/* x * (one / (exp(-x) + one)) */
static bool find_silu(reading *r, unsigned end) {
  trial t = {.r = r};
  pte_form f = {.kind = PTE_FORM_SILU};
  unsigned quotient, x, value;
  float one;
  if (!sides(r, end, PTE_STEP_DIV, PTE_STEP_F32, &quotient, &x) ||
      !take(&t, quotient, PTE_STEP_DIV, PTE_STEP_F32) ||
      !take_float(&t, r->made[quotient][0], &f.one) ||
      !take_with_float(&t, r->made[quotient][1], PTE_STEP_ADD, &one, &value) || one != f.one)
    return false;
  if (!take(&t, value, PTE_STEP_EXP, PTE_STEP_F32) ||
      !take(&t, r->made[value][0], PTE_STEP_NEG, PTE_STEP_F32) ||
      r->made[r->made[value][0]][0] != x || x == NOWHERE || !holds(&t, x, end))
    return false;
  f.x = r->steps[x].dst;
  settle(r, &t, end, f);
  return true;
}

/* x * max(min(x * inner + one, far), scale), or min(max), which is the same where scale < far. */
static bool find_gate(reading *r, unsigned end) {
  trial t = {.r = r};
  pte_form f = {.kind = PTE_FORM_GATE, .inner = 1.0f};
  for (unsigned raised = 0; raised < 2; raised++) {
    const unsigned last = raised ? PTE_STEP_MIN : PTE_STEP_MAX;
    const unsigned first = raised ? PTE_STEP_MAX : PTE_STEP_MIN;
    unsigned outer, inner, value, x;
    t.count = 0;
    if (!sides(r, end, last, PTE_STEP_F32, &outer, &x) || !take(&t, outer, last, PTE_STEP_F32) ||
        !take_float(&t, r->made[outer][1], raised ? &f.far : &f.scale))
      continue;
    inner = r->made[outer][0];
    if (!take(&t, inner, first, PTE_STEP_F32) ||
        !take_float(&t, r->made[inner][1], raised ? &f.scale : &f.far) ||
        !take_with_float(&t, r->made[inner][0], PTE_STEP_ADD, &f.one, &value))
      continue;
    if (value != x && !take_with_float(&t, value, PTE_STEP_MUL, &f.inner, &value)) continue;
    if (value != x || x == NOWHERE || !(f.scale < f.far) || !holds(&t, x, end)) continue;
    f.x = r->steps[x].dst;
    settle(r, &t, end, f);
    return true;
  }
  return false;
}

/* store min(max(((a * b * multiplier + start) shr shift) + after, least), most), where a and b are
 * differences of codes: `start` is what rounds and -2^63, `after` the zero point and what became of
 * that. */
static bool find_product(reading *r, unsigned end) {
  trial t = {.r = r};
  pte_form f = {.kind = PTE_FORM_PRODUCT};
  int64_t after, start, multiplier;
  int32_t shift;
  unsigned at = r->made[end][0], product, a, b;
  const pte_walk *y = &r->source->outs[r->steps[end].arg];
  if (!is_code(y) || !take_with_integer(&t, at, PTE_STEP_MIN, &f.most, &at) ||
      !take_with_integer(&t, at, PTE_STEP_MAX, &f.least, &at) ||
      !take_with_wide(&t, at, PTE_STEP_ADD, &after, &at) ||
      !take(&t, at, PTE_STEP_SHR, PTE_STEP_I64) || !take_integer(&t, r->made[at][1], &shift) ||
      !take_with_wide(&t, r->made[at][0], PTE_STEP_ADD, &start, &at) ||
      !take_with_wide(&t, at, PTE_STEP_MUL, &multiplier, &product) ||
      !take(&t, product, PTE_STEP_MUL, PTE_STEP_I64) ||
      !take_difference(&t, r->made[product][0], &f.zero, &a) ||
      !take_difference(&t, r->made[product][1], &f.other_zero, &b) ||
      !reads_late(r, a < b ? a : b, end))
    return false;
  f.x = (uint8_t)r->steps[a].arg, f.other = (uint8_t)r->steps[b].arg;
  f.dtype = r->source->xs[f.x].dtype;
  const bool bytes = pte_dtype_bits(f.dtype) == 8 && r->source->xs[f.other].dtype == f.dtype &&
                     pte_dtype_bits(y->dtype) == 8;
  if (!bytes || shift < NARROW_LEAST || shift > NARROW_MOST || multiplier <= INT32_MIN ||
      multiplier > INT32_MAX || f.zero < INT8_MIN || f.zero > UINT8_MAX ||
      f.other_zero < INT8_MIN || f.other_zero > UINT8_MAX)
    return false;
  const int64_t zero = after + ((int64_t)1 << (63 - shift));
  if (start != ((int64_t)1 << (shift - 1)) + INT64_MIN || zero < -256 || zero > 255) return false;
  f.multiplier = (int32_t)multiplier, f.down = shift - 32;
  f.add = (int32_t)((1 << (shift - 33)) * (2 * zero + 1));
  settle(r, &t, end, f);
  return true;
}

static void trace(reading *r) {
  uint16_t maker[PTE_REGISTERS];
  for (unsigned i = 0; i < PTE_REGISTERS; i++) maker[i] = NOWHERE;
  for (unsigned i = 0; i < r->source->step_count; i++) {
    const pte_step *s = &r->steps[i];
    const uint8_t from[3] = {s->a, s->b, s->c};
    r->reads[i] = 0;
    r->forms[i] = (pte_form){.kind = PTE_FORM_STEP};
    for (unsigned k = 0; k < 3; k++) {
      bool read = k < pte_step_rows[s->op].arity;
      r->made[i][k] = read ? maker[from[k]] : NOWHERE;
      if (read && r->made[i][k] != NOWHERE) r->reads[r->made[i][k]]++;
    }
    if (s->op != PTE_STEP_STORE) maker[s->dst] = (uint16_t)i;
  }
}

void pte_forms_find(const pte_forms_source *source, pte_form *forms) {
  reading r = {.source = source, .steps = source->steps, .forms = forms};
  if (!PTE_FORMS_KEPT) return; /* nor does anybody look */
  trace(&r);
  for (unsigned i = 0; i < source->step_count; i++) {
    if (is(&r, i, PTE_STEP_STORE, PTE_STEP_I64))
      (void)((PTE_QUANTIZE_KEPT && find_quantize(&r, i)) ||
             (PTE_PRODUCT_KEPT && find_product(&r, i)));
    else if (is(&r, i, PTE_STEP_MUL, PTE_STEP_F32))
      (void)((PTE_DEQUANTIZE_KEPT && find_dequantize(&r, i)) ||
             (PTE_GELU_KEPT && find_gelu(&r, i)) || (PTE_SILU_KEPT && find_silu(&r, i)) ||
             (PTE_GATE_KEPT && find_gate(&r, i)));
  }
  for (unsigned i = 0; PTE_DEQUANTIZE_KEPT && i < source->step_count; i++)
    if (is(&r, i, PTE_STEP_CAST, PTE_STEP_F32)) find_dequantize(&r, i);
}
