/* core/relation.h: what each code of a relation means, on tables of this test's own. */
// sources: core/relation.c
#include "core/relation.h"

#include <stdint.h>

#include "check.h"
#include "pteron/types.h"

#define A     PTE_CODE_INT, 0 /* of `attrs` */
#define B     PTE_CODE_INT, 8
#define C     PTE_CODE_INT, 16
#define FLOOR PTE_CODE_FLOAT, 24
#define WORD  PTE_CODE_WORD, 32
#define X     PTE_CODE_RUN, 0
#define Y     PTE_CODE_RUN, 1

/* A relation a row, `SPAN` codes apart. */
enum { SPAN = 12 };
#define RELATIONS(R)                                                                               \
  R(SUM, A, B, PTE_CODE_ADD, C, PTE_CODE_EQ)                                                       \
  R(DIFFERENCE, A, B, PTE_CODE_SUB, C, PTE_CODE_EQ)                                                \
  R(PRODUCT, A, B, PTE_CODE_MUL, C, PTE_CODE_EQ)                                                   \
  R(QUOTIENT, A, B, PTE_CODE_DIV, C, PTE_CODE_EQ)                                                  \
  R(REMAINDER, A, B, PTE_CODE_MOD, C, PTE_CODE_EQ)                                                 \
  R(LESSER, A, B, PTE_CODE_MIN, C, PTE_CODE_EQ)                                                    \
  R(GREATER, A, B, PTE_CODE_MAX, C, PTE_CODE_EQ)                                                   \
  R(OTHER, A, B, PTE_CODE_OR, C, PTE_CODE_EQ)                                                      \
  R(EQUAL, A, B, PTE_CODE_EQ)                                                                      \
  R(UNEQUAL, A, B, PTE_CODE_NE)                                                                    \
  R(LEAST, A, B, PTE_CODE_GE)                                                                      \
  R(MOST, A, B, PTE_CODE_LE)                                                                       \
  R(BETWEEN, A, B, C, PTE_CODE_WITHIN)                                                             \
  R(MEMBER, A, PTE_CODE_IN, 0)                                                                     \
  R(ROUNDED, FLOOR, A, PTE_CODE_EQ)                                                                \
  R(MASKED, WORD, PTE_CODE_NUMBER, 1, PTE_CODE_EQ)                                                 \
  R(LISTS, X, Y, PTE_CODE_EQ)                                                                      \
  R(LISTED, X, PTE_CODE_SMALL, 3, PTE_CODE_LE)                                                     \
  R(LENGTH, PTE_CODE_LEN, X, A, PTE_CODE_EQ)                                                       \
  R(ELEMENTS, PTE_CODE_PRODUCT, X, A, PTE_CODE_EQ)                                                 \
  R(REST, A, PTE_CODE_DROP, X, Y, PTE_CODE_EQ)                                                     \
  R(FIRST, A, PTE_CODE_TAKE, X, Y, PTE_CODE_EQ)                                                    \
  R(EITHER, X, Y, PTE_CODE_OR, A, PTE_CODE_EQ)                                                     \
  R(OPERAND, PTE_CODE_BITS, 0, A, PTE_CODE_EQ)                                                     \
  R(BLOCKED, PTE_CODE_BLOCK, 0, A, PTE_CODE_EQ)                                                    \
  R(GROUPED, PTE_CODE_GROUPS, 0, A, PTE_CODE_EQ)                                                   \
  R(RESULT, PTE_CODE_BITS, 2, A, PTE_CODE_EQ)                                                      \
  R(HOLLOW, PTE_CODE_EMPTY, 0)

#define NAME(name, ...) name,
enum relation { RELATIONS(NAME) RELATION_COUNT };
#define START(name, ...) name *SPAN,
const uint16_t pte_op_relations[] = {RELATIONS(START)};
#define CODE(name, ...) [name * SPAN] = __VA_ARGS__, PTE_CODE_END,
const uint8_t pte_op_codes[] = {RELATIONS(CODE)};
const int64_t pte_op_numbers[] = {1 << 2 | 1 << 5, 0xfffffff0};
const pte_op_attr pte_op_attrs[] = {
    {.name = 1, .offset = 0},
    {.name = 2, .offset = 8}
};

static struct {
  int64_t a, b, c;
  double real;
  uint32_t word;
} attrs;
static pte_shape_match match;
static pte_fault fault;

static bool holds(enum relation which) {
  const pte_op_row row = {
      .attr_count = 2, .input_count = 1, .relations = (uint8_t)which, .relation_count = 1};
  match.row = &row;
  match.attrs = &attrs;
  const pte_tables none = {0};
  pte_status status = pte_relations_hold(&match, &none, &fault);
  CHECK(status == PTE_OK || status == PTE_BAD_PROGRAM);
  return status == PTE_OK;
}

static bool is(enum relation which, int64_t a, int64_t b, int64_t c) {
  attrs.a = a, attrs.b = b, attrs.c = c;
  return holds(which);
}

static void a_result_is_compared(void) {
  CHECK(is(SUM, 2, 3, 5) && !is(SUM, 2, 3, 6) && is(SUM, -2, 3, 1));
  CHECK(is(DIFFERENCE, 2, 3, -1) && !is(DIFFERENCE, 2, 3, 1));
  CHECK(is(PRODUCT, -2, 3, -6) && !is(PRODUCT, 2, 3, 5));
  CHECK(is(LESSER, 2, 3, 2) && is(LESSER, 3, 2, 2) && is(GREATER, 2, 3, 3) && is(GREATER, 3, 2, 3));
  CHECK(is(OTHER, 0, 5, 5) && is(OTHER, 4, 5, 4));
}

static void division_goes_down_and_needs_a_positive_divisor(void) {
  CHECK(is(QUOTIENT, 7, 2, 3) && is(QUOTIENT, -7, 2, -4) && is(QUOTIENT, -8, 2, -4));
  CHECK(is(QUOTIENT, 7, 0, 0) && is(QUOTIENT, 7, -1, 0) && is(QUOTIENT, INT64_MIN, -1, 0));
  CHECK(is(REMAINDER, 7, 2, 1) && is(REMAINDER, -7, 2, 1) && is(REMAINDER, -8, 2, 0));
  CHECK(is(REMAINDER, 7, 0, 7) && is(REMAINDER, INT64_MIN, -1, INT64_MIN));
}

static void what_leaves_64_bits_holds_of_nothing(void) {
  CHECK(!is(SUM, INT64_MAX, 1, INT64_MIN) && !is(SUM, INT64_MIN, -1, INT64_MAX));
  CHECK(!is(DIFFERENCE, INT64_MIN, 1, INT64_MAX) && !is(DIFFERENCE, 0, INT64_MIN, INT64_MIN));
  CHECK(!is(PRODUCT, 1ll << 32, 1ll << 32, 0) && !is(PRODUCT, INT64_MIN, -1, INT64_MIN));
  CHECK_TEXT(fault.text, "does not fit in 64 bits");
  CHECK(is(SUM, INT64_MAX, 0, INT64_MAX) && is(PRODUCT, 1ll << 62, -2, INT64_MIN));
}

static void a_comparison_accuses_its_first_name(void) {
  CHECK(is(EQUAL, 3, 3, 0) && !is(EQUAL, 3, 4, 0));
  CHECK(fault.got == 3 && fault.expected == 4 && fault.attr == 1 && fault.port == 255);
  CHECK_EQUAL(fault.position, -1);
  CHECK_TEXT(fault.text, "differs");
  CHECK(is(UNEQUAL, 3, 4, 0) && !is(UNEQUAL, 3, 3, 0));
  CHECK_TEXT(fault.text, "excludes");
  CHECK(is(LEAST, 4, 3, 0) && is(LEAST, 3, 3, 0) && !is(LEAST, 2, 3, 0));
  CHECK_TEXT(fault.text, "less");
  CHECK(is(MOST, 2, 3, 0) && is(MOST, 3, 3, 0) && !is(MOST, 4, 3, 0));
  CHECK_TEXT(fault.text, "more");
}

static void limits_are_within(void) {
  CHECK(is(BETWEEN, 3, 3, 5) && is(BETWEEN, 5, 3, 5) && !is(BETWEEN, 2, 3, 5));
  CHECK_EQUAL(fault.expected, 3);
  CHECK(!is(BETWEEN, 6, 3, 5));
  CHECK_EQUAL(fault.expected, 5);
}

static void a_member_is_one_of_a_set(void) {
  CHECK(is(MEMBER, 2, 0, 0) && is(MEMBER, 5, 0, 0));
  const int64_t others[] = {0, 3, 6, 64, 64 + 2, 128 + 5, -1, -62, INT64_MIN, INT64_MAX};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) CHECK(!is(MEMBER, others[i], 0, 0));
  CHECK_EQUAL(fault.expected, 2);
}

static void a_float_is_its_floor(void) {
  static const struct {
    double real;
    int64_t floor;
  } cases[] = {
      {2.5,        2           },
      {-2.5,       -3          },
      {2,          2           },
      {-2,         -2          },
      {0x1p70,     1ll << 62   },
      {-0.0,       0           },
      {0x1p-60,    0           },
      {-0x1p-1074, -1          },
      {-0x1p70,    -(1ll << 62)}
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attrs.real = cases[i].real;
    CHECK(is(ROUNDED, cases[i].floor, 0, 0) && !is(ROUNDED, cases[i].floor + 1, 0, 0));
  }
  const int64_t any[] = {0, 1, -1, 1ll << 62, -(1ll << 62), INT64_MIN, INT64_MAX};
  attrs.real = 0.0 / 0.0;
  for (size_t i = 0; i < sizeof any / sizeof *any; i++) CHECK(!is(ROUNDED, any[i], 0, 0));
}

static void a_word_has_no_sign(void) {
  attrs.word = 0xfffffff0u;
  CHECK(holds(MASKED));
  attrs.word = 0x7ffffff0u;
  CHECK(!holds(MASKED));
}

static void lists(const int64_t *x, uint8_t xs, const int64_t *y, uint8_t ys) {
  match.runs[0] = x, match.run_ranks[0] = xs, match.run_places[0] = 2 << 3 | 1;
  match.runs[1] = y, match.run_ranks[1] = ys, match.run_places[1] = 128;
  match.runs_bound = 3;
}

static void lists_go_element_by_element(void) {
  static const int64_t x[] = {1, 2, 3}, y[] = {1, 2, 4};
  lists(x, 3, x, 3);
  CHECK(holds(LISTS) && holds(LISTED));
  lists(x, 3, y, 3);
  CHECK(!holds(LISTS));
  CHECK(fault.got == 3 && fault.expected == 4 && fault.port == 2);
  CHECK_EQUAL(fault.position, 1 + 2); /* where the run begins + the element */
  lists(y, 3, x, 3);
  CHECK(!holds(LISTED));
  lists(x, 2, x, 3);
  CHECK(!holds(LISTS));
  CHECK(fault.got == 2 && fault.expected == 3);
  lists(x, 0, x, 0);
  CHECK(holds(LISTS) && holds(LISTED));
}

static void a_list_has_a_length_a_product_and_parts(void) {
  static const int64_t x[] = {2, 3, 7}, huge[] = {1ll << 32, 1ll << 32};
  lists(x, 3, x + 1, 2);
  CHECK(is(LENGTH, 3, 0, 0) && !is(LENGTH, 2, 0, 0));
  CHECK(is(ELEMENTS, 42, 0, 0) && !is(ELEMENTS, 6, 0, 0));
  CHECK(is(REST, 1, 0, 0) && !is(REST, 0, 0, 0) && !is(REST, 2, 0, 0));
  CHECK(!is(REST, -1, 0, 0) && !is(REST, 4, 0, 0) && !is(REST, 1ll << 32 | 1, 0, 0));
  lists(x, 3, x, 2);
  CHECK(is(FIRST, 2, 0, 0) && !is(FIRST, 3, 0, 0) && !is(FIRST, 1ll << 32 | 2, 0, 0));
  lists(x, 3, x, 0);
  CHECK(is(REST, 3, 0, 0) && is(FIRST, 0, 0, 0));
  lists(x, 0, huge, 0);
  CHECK(is(ELEMENTS, 1, 0, 0));
  lists(huge, 2, x, 0);
  CHECK(!is(ELEMENTS, 0, 0, 0));
  CHECK_TEXT(fault.text, "does not fit in 64 bits");
}

static void an_empty_list_gives_way_to_another(void) {
  static const int64_t x[] = {5, 5};
  lists(x, 0, x, 2);
  CHECK(is(EITHER, 5, 0, 0) && !is(EITHER, 4, 0, 0));
}

static void what_is_not_known_holds(void) {
  static const int64_t x[] = {5, 5};
  lists(x, 2, x, 1);
  match.runs_bound = 1; /* the first alone */
  CHECK(holds(LISTS) && is(REST, 1, 0, 0));
  lists(NULL, 2, x, 2);
  CHECK(holds(LISTS) && is(ELEMENTS, 1, 0, 0) && !is(LENGTH, 1, 0, 0));
  match.operands_bound = 0;
  CHECK(is(OPERAND, 8, 0, 0) && holds(HOLLOW));
}

static void an_operand_is_asked_for_its_type_and_emptiness(void) {
  static const int64_t some[] = {3, 1}, none[] = {3, 0};
  match.operands[0] = (pte_operand){.shape = some, .rank = 2, .dtype = PTE_F16};
  match.operands_bound = 1;
  CHECK(is(OPERAND, 16, 0, 0) && !is(OPERAND, 32, 0, 0));
  CHECK_EQUAL(fault.port, 0);
  CHECK(!holds(HOLLOW));
  match.operands[0].shape = none;
  CHECK(holds(HOLLOW));
  match.operands[0].shape = NULL;
  CHECK(holds(HOLLOW));
}

static void a_block_of_no_exponent_is_the_row_and_no_groups_are_one(void) {
  match.operands[0] = (pte_operand){.rank = 0, .dtype = PTE_F16};
  match.operands_bound = 1;
  CHECK(is(BLOCKED, 0, 0, 0) && is(GROUPED, 1, 0, 0) && !is(GROUPED, 0, 0, 0));
  match.operands[0].block = 5, match.operands[0].groups = 3;
  CHECK(is(BLOCKED, 32, 0, 0) && is(GROUPED, 3, 0, 0));
}

static void a_result_is_accused_by_its_own_number(void) {
  match.operands[2] = (pte_operand){.rank = 0, .dtype = PTE_F16}; /* behind the one input */
  match.operands_bound = 1 << 2;
  CHECK(is(RESULT, 16, 0, 0) && !is(RESULT, 32, 0, 0));
  CHECK_EQUAL(fault.port, 128 + 1);
}

int main(void) {
  a_result_is_compared();
  division_goes_down_and_needs_a_positive_divisor();
  what_leaves_64_bits_holds_of_nothing();
  a_comparison_accuses_its_first_name();
  limits_are_within();
  a_member_is_one_of_a_set();
  a_float_is_its_floor();
  a_word_has_no_sign();
  lists_go_element_by_element();
  a_list_has_a_length_a_product_and_parts();
  an_empty_list_gives_way_to_another();
  what_is_not_known_holds();
  an_operand_is_asked_for_its_type_and_emptiness();
  a_block_of_no_exponent_is_the_row_and_no_groups_are_one();
  a_result_is_accused_by_its_own_number();
  return check_done();
}
