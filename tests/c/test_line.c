/* Sizes that are a multiple of a dimension, plus a number, solved for it. */
// sources: program/line.c
#include "program/line.h"

#include "check.h"

static pte_file_expr exprs[8];
static uint32_t count;

static uint32_t add(uint8_t op, int64_t value, uint32_t a, uint32_t b) {
  exprs[count] = (pte_file_expr){.value = value, .a = a, .b = b, .op = op};
  return count++;
}

static void a_multiple_and_a_number_are_a_line(void) {
  count = 0;
  uint32_t n = add(PTE_EXPR_DIM, 0, 5, 0), three = add(PTE_EXPR_CONST, 3, 0, 0);
  uint32_t y = add(PTE_EXPR_SUB, 0, add(PTE_EXPR_MUL, 0, three, n), three);
  pte_line line = {0};
  int64_t size = 0;
  CHECK(pte_line_of(exprs, y, &line));
  CHECK_EQUAL(line.factor, 3);
  CHECK_EQUAL(line.offset, -3);
  CHECK_EQUAL(line.dim, 5);
  CHECK(pte_line_solve(&line, 9, &size));
  CHECK_EQUAL(size, 4);
  CHECK(!pte_line_solve(&line, 10, &size));
  CHECK(!pte_line_solve(&line, INT64_MAX, &size));
  CHECK_EQUAL(pte_line_at(&line, 4, 0), 9);
  CHECK_EQUAL(pte_line_at(&line, INT64_MAX, 7), 7);
}

static void other_expressions_are_none(void) {
  count = 0;
  uint32_t n = add(PTE_EXPR_DIM, 0, 1, 0), two = add(PTE_EXPR_CONST, 2, 0, 0),
           zero = add(PTE_EXPR_CONST, 0, 0, 0), most = add(PTE_EXPR_CONST, INT64_MAX, 0, 0);
  pte_line line = {0};
  CHECK(!pte_line_of(exprs, two, &line));
  CHECK(!pte_line_of(exprs, add(PTE_EXPR_ADD, 0, n, n), &line));
  CHECK(!pte_line_of(exprs, add(PTE_EXPR_SUB, 0, two, n), &line));
  CHECK(!pte_line_of(exprs, add(PTE_EXPR_MUL, 0, zero, n), &line));
  count = 4;
  CHECK(!pte_line_of(exprs, add(PTE_EXPR_FLOORDIV, 0, n, two), &line));
  uint32_t far = add(PTE_EXPR_MUL, 0, n, most);
  CHECK(!pte_line_of(exprs, add(PTE_EXPR_MUL, 0, far, most), &line));
}

int main(void) {
  a_multiple_and_a_number_are_a_line();
  other_expressions_are_none();
  return check_done();
}
