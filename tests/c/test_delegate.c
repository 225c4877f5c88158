/* What every delegate must do (pteron/delegate.h). A new one adds its row to `candidates`. */
// sources: delegates/null/null.c
#include "pteron/delegate.h"

#include <stdlib.h>

#include "check.h"

/* A blob that it takes, and one input and output that fit it. */
typedef struct candidate {
  const pte_delegate_api *(*api)(void);
  const char *target, *blob;
  uint8_t dtype;
  int64_t extent, wrong_extent; /* of the output: prepare refuses the wrong one */
} candidate;

static const candidate candidates[] = {
    {pte_delegate_null, "null-1", "anything", 11 /* f32 */, 8, 9},
};

typedef struct instance {
  void *memory, *self;
  pte_delegate_tensor in, out;
  float x[64], y[64];
} instance;

static void *aligned(size_t size) {
  void *memory = NULL;
  CHECK_EQUAL(posix_memalign(&memory, 64, size == 0 ? 1 : size), 0);
  return memory;
}

static void open_instance(const candidate *c, instance *out) {
  const pte_delegate_api *api = c->api();
  pte_error error = {0};
  size_t bytes = 0, length = strlen(c->blob);
  memset(out, 0, sizeof *out);
  char *blob = aligned(length);
  memcpy(blob, c->blob, length);
  CHECK_EQUAL(api->instance_size(api->self, c->target, blob, length, &bytes, &error), PTE_OK);
  out->memory = aligned(bytes);
  CHECK_EQUAL(api->open(api->self, c->target, blob, length, (pte_memory){out->memory, bytes},
                        &out->self, &error),
              PTE_OK);
  free(blob); /* the null delegate keeps nothing of it; one that does must be tested with a static
                 blob */
}

static pte_delegate_io shape(instance *i, const candidate *c, int64_t rows, int64_t extent) {
  uint64_t in_bytes = (uint64_t)(rows * c->extent) * 4, out_bytes = (uint64_t)(rows * extent) * 4;
  i->in = (pte_delegate_tensor){
      .size_bytes = in_bytes, .shape = {rows, c->extent},
           .dtype = c->dtype, .rank = 2
  };
  i->out = (pte_delegate_tensor){
      .size_bytes = out_bytes, .shape = {rows, extent},
           .dtype = c->dtype, .rank = 2
  };
  return (pte_delegate_io){&i->in, &i->out, 1, 1, 1, 0};
}

static void run_prepared(const candidate *c, instance *i, int64_t rows) {
  const pte_delegate_api *api = c->api();
  pte_error error = {0};
  uint64_t scratch = 0;
  pte_delegate_io io = shape(i, c, rows, c->extent);
  CHECK_EQUAL(api->prepare(i->self, &io, &scratch, &error), PTE_OK);
  void *room = aligned((size_t)scratch);
  for (int run = 0; run < 2; run++) {
    for (int k = 0; k < 64; k++) i->x[k] = (float)(k + run);
    i->in.data = i->x;
    i->out.data = i->y;
    CHECK_EQUAL(api->run(i->self, &io, room, &(pte_delegate_until){0}, &error), PTE_OK);
    for (int k = 0; k < 64; k++) CHECK(i->x[k] == (float)(k + run));
  }
  free(room);
}

static void the_table_is_complete(const candidate *c) {
  const pte_delegate_api *api = c->api();
  CHECK_EQUAL(api->size, sizeof *api);
  CHECK_EQUAL(api->version, PTE_DELEGATE_VERSION);
  CHECK(api->name != NULL && api->name[0] != 0);
  CHECK(api->accepts && api->instance_size && api->open && api->prepare && api->run && api->close);
}

static void targets_are_accepted_by_name(const candidate *c) {
  const pte_delegate_api *api = c->api();
  pte_error error = {0};
  CHECK_EQUAL(api->accepts(api->self, c->target, &error), 1);
  CHECK_EQUAL(api->accepts(api->self, "no such target", &error), 0);
  CHECK(error.text[0] != 0);
  CHECK_EQUAL(api->accepts(api->self, "", &error), 0);
}

static void instances_prepare_again_and_run_side_by_side(const candidate *c) {
  instance *a = malloc(sizeof *a), *b = malloc(sizeof *b);
  open_instance(c, a);
  open_instance(c, b);
  run_prepared(c, a, 2);
  run_prepared(c, b, 8);
  run_prepared(c, a, 5);
  c->api()->close(a->self);
  run_prepared(c, b, 1);
  c->api()->close(b->self);
  free(a->memory);
  free(b->memory);
  free(a);
  free(b);
}

static void a_shape_that_does_not_fit_is_refused_in_words(const candidate *c) {
  instance *i = malloc(sizeof *i);
  pte_error error = {0};
  uint64_t scratch = 0;
  open_instance(c, i);
  pte_delegate_io io = shape(i, c, 2, c->wrong_extent);
  CHECK(c->api()->prepare(i->self, &io, &scratch, &error) != PTE_OK);
  CHECK(error.text[0] != 0);
  run_prepared(c, i, 2);
  c->api()->close(i->self);
  free(i->memory);
  free(i);
}

int main(void) {
  for (size_t k = 0; k < sizeof candidates / sizeof candidates[0]; k++) {
    the_table_is_complete(&candidates[k]);
    targets_are_accepted_by_name(&candidates[k]);
    instances_prepare_again_and_run_side_by_side(&candidates[k]);
    a_shape_that_does_not_fit_is_refused_in_words(&candidates[k]);
  }
  return check_done();
}
