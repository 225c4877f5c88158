#include "kernels/gemm/finish.h"

#include <string.h>

#include "core/math.h"
#include "gen/steps.h"
#include "kernels/moving/place.h"

/* What a register holds, as far as a finish can say it. The sum goes one way: each step takes it
 * on, and what it was before is not used again (`age` says which is the newest). */
typedef enum content_kind { OTHER, SUM, OPERAND, LITERAL } content_kind;
typedef enum stage { ADDED, RAISED, LOWERED } stage;

typedef struct content {
  content_kind kind;
  stage stage;
  unsigned age;
  const pte_tensor *operand;
  float value;
} content;

typedef struct reading {
  const pte_call *call;
  pte_finish_f32 *finish;
  content at[PTE_REGISTERS];
  unsigned addends, age;
} reading;

/* Adds a tensor whose rows (all axes but the last) lie at equal distances, as the finish reads
 * them. */
static bool take_addend(reading *r, const pte_tensor *t) {
  size_t stride;
  if (!pte_place_even(t, &stride) || t->dtype != PTE_F32 || r->addends == PTE_ADDENDS) return false;
  r->finish->add[r->addends] = t->data;
  r->finish->add_stride[r->addends++] = stride;
  return true;
}

static bool newest(const reading *r, const content *c) {
  return c->kind == SUM && c->age == r->age;
}

static content read_add(reading *r, const content *a, const content *b) {
  const content *sum = a->kind == SUM ? a : b, *other = a->kind == SUM ? b : a;
  bool fits = newest(r, sum) && sum->stage == ADDED && other->kind == OPERAND;
  if (!fits || !take_addend(r, other->operand)) return (content){.kind = OTHER};
  return (content){.kind = SUM, .age = ++r->age};
}

/* Zeros of either sign are equal, and of equals the limit is taken: instructions know no such rule,
 * so +0 as the lower one, which is relu's, is the only zero that variants need to take. */
static bool is_odd_zero(float limit, stage after) {
  return limit == 0 && (after == LOWERED || __builtin_signbit(limit));
}

static content read_limit(reading *r, const content *sum, const content *limit, stage after) {
  if (!newest(r, sum) || sum->stage >= after || limit->kind != LITERAL ||
      limit->value != limit->value || is_odd_zero(limit->value, after))
    return (content){.kind = OTHER};
  if (after == RAISED) r->finish->at_least = true, r->finish->low = limit->value;
  else r->finish->at_most = true, r->finish->high = limit->value;
  return (content){.kind = SUM, .stage = after, .age = ++r->age};
}

static content read_load(const reading *r, const pte_step *s, uint32_t first_x) {
  if (s->arg == 0) return (content){.kind = SUM, .age = r->age};
  return (content){.kind = OPERAND, .operand = r->call->in[first_x + s->arg - 1u]};
}

static content read_step(reading *r, const pte_step *s, const uint64_t *literals,
                         uint32_t first_x) {
  const content *a = &r->at[s->a], *b = &r->at[s->b];
  if (s->type != PTE_STEP_F32) return (content){.kind = OTHER};
  switch (s->op) {
  case PTE_STEP_LOAD: return read_load(r, s, first_x);
  case PTE_STEP_LITERAL:
    return (content){.kind = LITERAL, .value = (float)pte_double(literals[s->arg])};
  case PTE_STEP_ADD: return read_add(r, a, b);
  case PTE_STEP_MAX: return read_limit(r, a, b, RAISED);
  case PTE_STEP_MIN: return read_limit(r, a, b, LOWERED);
  default: return (content){.kind = OTHER};
  }
}

/* The sum is loaded once, and the last step stores what became of it. */
static bool read_program(reading *r, pte_steps program, uint32_t first_x) {
  const pte_step *steps = r->call->tables->steps + program.steps.start;
  const uint64_t *literals = r->call->tables->literals + program.literals.start;
  unsigned loads = 0, count = program.steps.count;
  for (unsigned i = 0; i + 1 < count; i++) {
    content made = read_step(r, &steps[i], literals, first_x);
    if (made.kind == OTHER) return false;
    if (steps[i].op == PTE_STEP_LOAD && steps[i].arg == 0 && loads++ > 0) return false;
    r->at[steps[i].dst] = made;
  }
  return count > 0 && steps[count - 1].op == PTE_STEP_STORE &&
         newest(r, &r->at[steps[count - 1].a]);
}

bool pte_finish_of(const pte_call *call, pte_steps steps, uint32_t first_x, pte_finish_f32 *out) {
  const pte_tensor *bias = call->in[first_x - 1];
  pte_finish_f32 plain = {.low = 0};
  if (bias != NULL) plain.add[0] = bias->data;
  pte_finish_f32 whole = plain;
  reading r = {.call = call, .finish = &whole, .addends = bias != NULL};
  bool covered =
      steps.steps.count == 0 || (call->out[0]->rank > 0 && read_program(&r, steps, first_x));
  *out = covered ? whole : plain;
  return covered;
}

#ifdef __OPTIMIZE_SIZE__
static size_t finish_fours(const pte_finish_f32 *finish, size_t count, float *y) {
  (void)finish, (void)count, (void)y;
  return 0;
}
#else
/* Vectors that every compiler of ours knows, and most processors have. */
typedef float four __attribute__((vector_size(16)));
typedef int32_t four_ints __attribute__((vector_size(16)));
enum { FOUR = 4 };

static inline four four_load(const float *from) {
  four v;
  memcpy(&v, from, sizeof v);
  return v;
}

/* v, and `limit` where `take` is set. */
static inline four four_limited(four v, four_ints take, float limit) {
  const four all = limit - (four){0};
  return (four)((take & (four_ints)all) | (~take & (four_ints)v));
}

/* Whole vectors of pte_finish_row, a kind of step after another; returns how many elements. */
static size_t finish_fours(const pte_finish_f32 *finish, size_t count, float *y) {
  const size_t whole = count - count % FOUR;
#define EACH(result)                                                                               \
  for (size_t n = 0; n < whole; n += FOUR) {                                                       \
    four v = four_load(y + n);                                                                     \
    v = result;                                                                                    \
    memcpy(y + n, &v, sizeof v);                                                                   \
  }
  for (unsigned i = 0; i < PTE_ADDENDS; i++)
    if (finish->add[i] != NULL) EACH(v + four_load(finish->add[i] + n))
  if (finish->at_least) EACH(four_limited(v, v <= finish->low, finish->low))
  if (finish->at_most) EACH(four_limited(v, v >= finish->high, finish->high))
#undef EACH
  return whole;
}
#endif

void pte_finish_row(const pte_finish_f32 *finish, size_t row, size_t column, size_t count,
                    float *y) {
  const pte_finish_f32 at = pte_finish_at(finish, row, column);
  for (size_t n = finish_fours(&at, count, y); n < count; n++)
    y[n] = pte_finish_one(&at, y[n], 0, n);
}
