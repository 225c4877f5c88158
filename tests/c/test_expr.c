/* Size expressions: rounding, overflow, unbound and counted dimensions. */
// sources: session/expr.c
#include <math.h>

#include "session/expr.h"

#include "check.h"

enum { ROOM = 16 };

typedef struct table {
  pte_file_expr exprs[ROOM];
  pte_file_dim dims[4];
  int64_t values[ROOM], dim_values[4], capacity[4];
  uint8_t known[ROOM], dim_known[4];
  bool dynamic[ROOM], used[ROOM];
  pte_exprs x;
} table;

static table fresh;

static pte_exprs *begin(void) {
  memset(&fresh, 0, sizeof fresh);
  fresh.x = (pte_exprs){.exprs = fresh.exprs,
                        .dims = fresh.dims,
                        .dim_count = 4,
                        .values = fresh.values,
                        .known = fresh.known,
                        .dynamic = fresh.dynamic,
                        .used = fresh.used,
                        .dim_values = fresh.dim_values,
                        .dim_known = fresh.dim_known,
                        .dim_capacity = fresh.capacity,
                        .max_extent = 4096};
  for (int i = 0; i < 4; i++) fresh.dims[i].capacity = PTE_NONE;
  return &fresh.x;
}

static uint32_t add(uint8_t op, int64_t value, uint32_t a, uint32_t b) {
  fresh.exprs[fresh.x.expr_count] = (pte_file_expr){.value = value, .a = a, .b = b, .op = op};
  return fresh.x.expr_count++;
}

static int64_t of_two(uint8_t op, int64_t a, int64_t b, uint8_t *known) {
  pte_exprs *x = begin();
  uint32_t left = add(PTE_EXPR_CONST, a, 0, 0), right = add(PTE_EXPR_CONST, b, 0, 0);
  uint32_t y = add(op, 0, left, right);
  pte_exprs_evaluate(x, &(bool){false});
  *known = x->known[y];
  return x->values[y];
}

static void division_rounds_to_minus_infinity(void) {
  const int64_t cases[][5] = {
      /* a, b, floor, ceil, mod */
      {7,  2,  3,  4,  1 },
      {-7, 2,  -4, -3, 1 },
      {7,  -2, -4, -3, -1},
      {-7, -2, 3,  4,  -1},
      {6,  3,  2,  2,  0 }
  };
  for (unsigned i = 0; i < 5; i++) {
    uint8_t known;
    CHECK_EQUAL(of_two(PTE_EXPR_FLOORDIV, cases[i][0], cases[i][1], &known), cases[i][2]);
    CHECK_EQUAL(of_two(PTE_EXPR_CEILDIV, cases[i][0], cases[i][1], &known), cases[i][3]);
    CHECK_EQUAL(of_two(PTE_EXPR_MOD, cases[i][0], cases[i][1], &known), cases[i][4]);
    CHECK_EQUAL(known, PTE_KNOWN);
  }
}

static void overflow_and_division_by_zero_are_marked(void) {
  uint8_t known;
  of_two(PTE_EXPR_ADD, INT64_MAX, 1, &known);
  CHECK_EQUAL(known, PTE_OVERFLOW);
  of_two(PTE_EXPR_SUB, INT64_MIN, 1, &known);
  CHECK_EQUAL(known, PTE_OVERFLOW);
  of_two(PTE_EXPR_MUL, INT64_MAX, 2, &known);
  CHECK_EQUAL(known, PTE_OVERFLOW);
  of_two(PTE_EXPR_FLOORDIV, INT64_MIN, -1, &known);
  CHECK_EQUAL(known, PTE_OVERFLOW);
  of_two(PTE_EXPR_MOD, 1, 0, &known);
  CHECK_EQUAL(known, PTE_DIVIDED);
  CHECK_EQUAL(of_two(PTE_EXPR_MIN, -3, 4, &known), -3);
  CHECK_EQUAL(of_two(PTE_EXPR_MAX, -3, 4, &known), 4);
}

static void an_unbound_dimension_is_blamed(void) {
  pte_exprs *x = begin();
  uint32_t two = add(PTE_EXPR_CONST, 2, 0, 0), n = add(PTE_EXPR_DIM, 0, 3, 0);
  uint32_t y = add(PTE_EXPR_MUL, 0, two, add(PTE_EXPR_ADD, 0, two, n));
  pte_exprs_reset(x);
  pte_exprs_evaluate(x, &(bool){false});
  CHECK_EQUAL(x->known[y], PTE_UNBOUND);
  CHECK_EQUAL(pte_expr_blame(x, y), 3);
  x->dim_known[3] = PTE_KNOWN;
  x->dim_values[3] = 5;
  pte_exprs_evaluate(x, &(bool){false});
  CHECK_EQUAL(x->values[y], 14);
}

static void counted_dimensions_start_at_their_capacity(void) {
  pte_exprs *x = begin();
  fresh.dims[0].kind = PTE_DIM_SYMBOLIC;
  fresh.dims[1].kind = fresh.dims[2].kind = PTE_DIM_COUNTED;
  uint32_t n = add(PTE_EXPR_DIM, 0, 0, 0), two = add(PTE_EXPR_CONST, 2, 0, 0),
           twice = add(PTE_EXPR_MUL, 0, n, two);
  fresh.dims[1].capacity = twice;
  uint32_t count = add(PTE_EXPR_DIM, 0, 1, 0), more = add(PTE_EXPR_ADD, 0, count, n),
           open = add(PTE_EXPR_DIM, 0, 2, 0);
  x->used[more] = true;
  pte_exprs_trace(x);
  CHECK(x->used[count] && x->used[twice] && x->used[two] && !x->used[open]);
  CHECK(x->dynamic[more] && x->dynamic[count] && !x->dynamic[twice]);
  pte_exprs_reset(x);
  x->dim_values[0] = 10;
  x->dim_known[0] = PTE_KNOWN;
  pte_exprs_evaluate(x, &(bool){false});
  CHECK_EQUAL(x->values[count], 20);
  CHECK_EQUAL(x->values[more], 30);
  CHECK_EQUAL(x->values[open], 4096);
  x->dim_values[1] = 3;
  pte_exprs_refresh(x);
  CHECK_EQUAL(x->values[more], 13);
  CHECK_EQUAL(x->values[twice], 20);
}

static void only_a_bare_dimension_is_one(void) {
  pte_exprs *x = begin();
  fresh.dims[1].kind = PTE_DIM_COUNTED;
  uint32_t n = add(PTE_EXPR_DIM, 0, 1, 0), sum = add(PTE_EXPR_ADD, 0, n, n), dim = 9;
  CHECK(pte_expr_is_dim(x, n, PTE_DIM_COUNTED, &dim));
  CHECK_EQUAL(dim, 1);
  CHECK(!pte_expr_is_dim(x, n, PTE_DIM_SYMBOLIC, &dim));
  CHECK(!pte_expr_is_dim(x, sum, PTE_DIM_COUNTED, &dim));
}

static int64_t bits(double x) {
  int64_t y = 0;
  memcpy(&y, &x, sizeof y);
  return y;
}

static void floats_round_as_their_type_does(void) {
  uint8_t known = 0;
  pte_exprs *x = begin();
  uint32_t ten = add(PTE_EXPR_CONST, 10, 0, 0), part = add(PTE_EXPR_CONST, bits(0.7), 0, 0),
           narrow = add(PTE_EXPR_CONST, bits((double)0.7f), 0, 0);
  uint32_t a = add(PTE_EXPR_F64, 0, ten, ten), b = add(PTE_EXPR_F32, 0, ten, ten);
  uint32_t exact = add(PTE_EXPR_FMUL, 0, a, part), inner = add(PTE_EXPR_FMUL, 0, b, narrow);
  uint32_t wide = add(PTE_EXPR_WHOLE, 0, exact, exact),
           small = add(PTE_EXPR_WHOLE, 0, inner, inner);
  uint32_t rounded = add(PTE_EXPR_NARROW, 0, inner, inner);
  uint32_t seven = add(PTE_EXPR_WHOLE, 0, rounded, rounded);
  pte_exprs_evaluate(x, &(bool){false});
  CHECK_EQUAL(x->values[wide], 7);
  CHECK_EQUAL(x->values[small], 6);
  CHECK_EQUAL(x->values[seven], 7);
  const double cases[][4] = {
      /* x, floor, ceil, nearest */
      {2.5,      2,        3,        2       },
      {3.5,      3,        4,        4       },
      {-2.5,     -3,       -2,       -2      },
      {-0.25,    -1,       0,        0       },
      {0x1p60,   0x1p60,   0x1p60,   0x1p60  },
      {INFINITY, INFINITY, INFINITY, INFINITY}
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t at = bits(cases[i][0]);
    double y[3];
    const uint8_t ops[] = {PTE_EXPR_FFLOOR, PTE_EXPR_FCEIL, PTE_EXPR_FROUND};
    for (unsigned k = 0; k < 3; k++) {
      int64_t got = of_two(ops[k], at, at, &known);
      memcpy(&y[k], &got, sizeof got);
      CHECK(y[k] == cases[i][k + 1]);
    }
  }
  of_two(PTE_EXPR_WHOLE, bits(0x1p63), 0, &known);
  CHECK_EQUAL(known, PTE_OVERFLOW);
  of_two(PTE_EXPR_WHOLE, bits((double)NAN), 0, &known);
  CHECK_EQUAL(known, PTE_OVERFLOW);
  CHECK_EQUAL(of_two(PTE_EXPR_WHOLE, bits(-2.75), 0, &known), -2);
}

int main(void) {
  division_rounds_to_minus_infinity();
  overflow_and_division_by_zero_are_marked();
  an_unbound_dimension_is_blamed();
  counted_dimensions_start_at_their_capacity();
  only_a_bare_dimension_is_one();
  floats_round_as_their_type_does();
  return check_done();
}
