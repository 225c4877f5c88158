/* What a caller leaves out or gets wrong in the structs that functions take. */
// sources: library
// samples: yes
#include "core/cpu.h"
#include "session/session.h"
#include "stage.h"

static void structs_without_a_size_are_refused(void) {
  stage s = open_stage("state", "step", false);
  pte_prepare_options options = shapes_of(NULL);
  pte_sizes sizes = {.size = 0};
  pte_pool pool = {.threads = 1};
  CHECK_EQUAL(pte_prepare_size(s.session, &options, &sizes, &s.error), PTE_BAD_ARGUMENT);
  CHECK(strstr(s.error.text, "sizes") != NULL);
  options.pool = &pool;
  CHECK_EQUAL(prepare(&s, &options), PTE_BAD_ARGUMENT);
  CHECK(strstr(s.error.text, "pool: `size`") != NULL);
  options.pool = NULL;
  options.size = 0;
  CHECK_EQUAL(prepare(&s, &options), PTE_BAD_ARGUMENT);
  CHECK(strstr(s.error.text, "prepare options: `size`") != NULL);
  options = shapes_of(NULL);
  options.cpu = 1u << 30;
  CHECK_EQUAL(prepare(&s, &options), PTE_BAD_ARGUMENT);
  CHECK(strstr(s.error.text, "cpu") != NULL);
  close_stage(&s);
}

static void a_method_of_fixed_sizes_needs_no_options(void) {
  stage s = open_stage("state", "step", false);
  CHECK_EQUAL(prepare(&s, NULL), PTE_OK);
  CHECK(s.session->call.cpu == pte_cpu_detect() && s.session->call.threads == 1);
  pte_prepare_options options = shapes_of(NULL);
  options.cpu = PTE_CPU_PORTABLE;
  CHECK_EQUAL(prepare(&s, &options), PTE_OK);
  CHECK_EQUAL(s.session->call.cpu, 0);
  close_stage(&s);
}

int main(void) {
  structs_without_a_size_are_refused();
  a_method_of_fixed_sizes_needs_no_options();
  return check_done();
}
