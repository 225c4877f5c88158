/* Drawing tokens: what it takes of the room that it asks for, and the largest logit of all. */
// sources: library
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "pteron/pteron.h"
#include "sample.h"

enum { COUNT = 37 };

/* In room of exactly the bytes asked for, so that the sanitizer sees the byte behind it. */
static pte_status draw(pte_sampling options, const float *logits, uint32_t count, uint32_t *out) {
  options.size = sizeof options;
  pte_memory room = {sample_memory(pte_sample_room(count)), pte_sample_room(count)};
  pte_error error = {0};
  pte_status status = pte_sample(&options, logits, count, 7, room, out, &error);
  free(room.data);
  return status;
}

static void all_options_keep_to_their_room(void) {
  float logits[COUNT];
  for (int i = 0; i < COUNT; i++) logits[i] = (float)(i * 29 % 11);
  for (uint32_t count = 1; count <= COUNT; count++)
    for (uint32_t top_k = 0; top_k <= count + 1; top_k++)
      for (int part = 1; part <= 4; part++) {
        uint32_t id = COUNT;
        pte_sampling options = {
            .temperature = 0.8f, .top_k = top_k, .top_p = (float)part / 4, .min_p = 0.01f};
        CHECK_EQUAL(draw(options, logits, count, &id), PTE_OK);
        CHECK(id < count);
      }
}

static void the_first_of_the_largest_needs_no_draw(void) {
  const float logits[] = {1, 5, 5, 5, -1};
  pte_sampling coldest = {.temperature = 0}, one = {.temperature = 3, .top_k = 1};
  for (uint64_t seed = 0; seed < 50; seed++) {
    uint32_t id = 0;
    coldest.seed = one.seed = seed;
    CHECK(draw(coldest, logits, 5, &id) == PTE_OK && id == 1);
    CHECK(draw(one, logits, 5, &id) == PTE_OK && id == 1);
    coldest.size = sizeof coldest;
    CHECK_EQUAL(pte_sample(&coldest, logits, 5, 7, (pte_memory){0}, &id, NULL), PTE_OK);
  }
}

/* Random123's known answers of philox4x32-10: counter (position, stream) and key (seed) all 0, all
 * ones, digits of pi. Of 2^16 equal logits the draw's upper 16 bits are taken. */
static void draws_are_those_of_philox(void) {
  static const struct {
    uint64_t position, stream, seed;
    uint32_t id;
  } cases[] = {
      {0,                   0,                   0,                   0xe169},
      {UINT64_MAX,          UINT64_MAX,          UINT64_MAX,          0x41c8},
      {0x85a308d3243f6a88u, 0x0370734413198a2eu, 0x299f31d0a4093822u, 0x94fd}
  };
  enum { MANY = 1 << 16 };
  float *logits = sample_memory(MANY * sizeof *logits);
  pte_memory room = {sample_memory(pte_sample_room(MANY)), pte_sample_room(MANY)};
  for (int i = 0; i < MANY; i++) logits[i] = 3;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t id = 0;
    const pte_sampling options = {
        .size = sizeof options, .temperature = 1, .seed = cases[i].seed, .stream = cases[i].stream};
    CHECK_EQUAL(pte_sample(&options, logits, MANY, cases[i].position, room, &id, NULL), PTE_OK);
    CHECK_EQUAL(id, cases[i].id);
  }
  free(room.data), free(logits);
}

/* How many of the ids are drawn with some seed. */
static uint32_t drawn(pte_sampling options, const float *logits, uint32_t count) {
  bool seen[COUNT] = {false};
  uint32_t all = 0;
  for (uint64_t seed = 0; seed < 400; seed++) {
    uint32_t id = 0;
    options.seed = seed;
    CHECK_EQUAL(draw(options, logits, count, &id), PTE_OK);
    if (!seen[id]) all++;
    seen[id] = true;
  }
  return all;
}

static void limits_keep_what_lies_on_them(void) {
  const float even[] = {2, 2, 2, 2}, fall[] = {3, 2, 1, 3};
  CHECK_EQUAL(drawn((pte_sampling){.temperature = 1, .min_p = 1}, even, 4), 4);
  CHECK_EQUAL(drawn((pte_sampling){.temperature = 1, .min_p = 1}, fall, 4), 2);
  CHECK_EQUAL(drawn((pte_sampling){.temperature = 1, .top_p = 0.25f}, even, 4), 1);
  CHECK_EQUAL(drawn((pte_sampling){.temperature = 1, .top_p = 0.5f}, even, 4), 2);
  CHECK_EQUAL(drawn((pte_sampling){.temperature = 1, .top_p = 1}, even, 4), 4);
  CHECK_EQUAL(drawn((pte_sampling){.temperature = 1, .top_k = 3}, fall, 4), 3);
  CHECK_EQUAL(drawn((pte_sampling){.temperature = 1, .top_k = 4}, fall, 4), 4);
}

static void room_that_is_short_is_refused(void) {
  const float logits[] = {1, 2};
  pte_sampling options = {.size = sizeof options, .temperature = 1};
  char room[64];
  uint32_t id = 9;
  pte_memory one_less = {room, pte_sample_room(2) - 1};
  CHECK_EQUAL(pte_sample(&options, logits, 2, 0, one_less, &id, NULL), PTE_NO_MEMORY);
}

static void the_room_of_many_does_not_wrap(void) {
  CHECK(pte_sample_room(UINT32_MAX) >= UINT32_MAX);
  CHECK(pte_sample_room(UINT32_C(1) << 30) >= UINT32_C(1) << 30);
}

int main(void) {
  the_room_of_many_does_not_wrap();
  all_options_keep_to_their_room();
  the_first_of_the_largest_needs_no_draw();
  draws_are_those_of_philox();
  limits_keep_what_lies_on_them();
  room_that_is_short_is_refused();
  return check_done();
}
