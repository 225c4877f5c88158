/* Opens a program with one input and one output, runs it on ones, prints the first number of the
 * output.
 *
 *   cc run.c $(pkg-config --cflags --libs pteron) && ./a.out model.pte 1 3 224 224 */
#include <stdio.h>
#include <stdlib.h>

#include <pteron/host.h>

static int fail(const pte_error *error) {
  fprintf(stderr, "%s: %s\n", pte_status_name((pte_status)error->status), error->text);
  return 1;
}

int main(int count, char **words) {
  pte_host_model *model;
  pte_extents in = {.size = sizeof in}, out = {.size = sizeof out};
  pte_error error;
  int64_t shape[PTE_MAX_RANK] = {0};
  const int64_t *shapes[] = {shape};
  if (count < 2 || count > 2 + PTE_MAX_RANK) return 2;
  for (int i = 2; i < count; i++) shape[i - 2] = atoll(words[i]);

  if (pte_host_model_open(words[1], NULL, &model, &error) != PTE_OK) return fail(&error);
  if (pte_host_model_prepare(model, shapes, NULL, NULL, &error) != PTE_OK) return fail(&error);
  if (pte_session_input(pte_host_model_session(model), 0, &in) != PTE_OK) return 2;
  if (pte_session_output(pte_host_model_session(model), 0, &out) != PTE_OK) return 2;

  float *x = malloc(in.size_bytes), *y = malloc(out.size_bytes);
  if (x == NULL || y == NULL) return 2;
  for (size_t i = 0; i < in.size_bytes / sizeof *x; i++) x[i] = 1.0f;
  const void *inputs[] = {x};
  void *outputs[] = {y};
  if (pte_host_model_run(model, inputs, outputs, NULL, &error) != PTE_OK) return fail(&error);
  printf("%g\n", (double)y[0]);

  free(x);
  free(y);
  pte_host_model_close(model);
  return 0;
}
