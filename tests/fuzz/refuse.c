/* Says what changed copies of programs are refused for: one line a copy that is refused, in order.
 *
 * Usage: refuse COUNT FILE...: copies 0 .. COUNT - 1 of each, by the changes of mutate.h. The same
 * numbers give the same copies. */
#include <stdio.h>

#include "exercise.h"
#include "mutate.h"

int main(int argc, char **argv) {
  long count = argc > 2 ? atol(argv[1]) : 0;
  for (int i = 2; i < argc; i++) {
    sample file = sample_read(argv[i]);
    uint8_t *copy = sample_memory(file.size);
    for (long seed = 0; seed < count; seed++) {
      exercise_result result;
      memcpy(copy, file.bytes, file.size);
      if (!mutate_program(copy, file.size, (unsigned)seed)) return 1;
      sample_reseal(copy, file.size);
      exercise(copy, file.size, 1, &result);
      if (result.broken[0] != 0) printf("broken: %s\n", result.broken);
      if (result.text[0] != 0) printf("%s\n", result.text);
    }
    free(copy);
    free(file.bytes);
  }
  return 0;
}
