/* Generates tokens as a host without Python would: a prompt in one run, then token by token.
 *
 *   generate PROGRAM LOGITS SAVED VOCABULARY TEMPERATURE COUNT THREADS PORTABLE TOKEN...
 *
 * Prints the tokens; writes the logits behind each to LOGITS and what the session knows after half
 * of them to SAVED. */
#include <pteron/host.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 512 };

static pte_error error;

static void must(pte_status status) {
  if (status == PTE_OK) return;
  fprintf(stderr, "%s\n", error.text);
  exit(1);
}

static void write_file(const char *path, const void *data, size_t size, const char *mode) {
  FILE *file = fopen(path, mode);
  if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) exit(1);
}

static void save(pte_session *session, const char *path) {
  uint64_t size = 0;
  must(pte_session_save_size(session, &size, &error));
  void *bytes = malloc((size_t)size);
  must(pte_session_save(session, bytes, (size_t)size, &error));
  write_file(path, bytes, (size_t)size, "wb");
  free(bytes);
}

int main(int argc, char **argv) {
  if (argc < 10 || argc > 9 + ROOM) return 2;
  uint32_t vocabulary = (uint32_t)atoi(argv[4]), id = 0;
  int count = atoi(argv[6]), prompt = argc - 9;
  pte_host_options options = {.size = sizeof options, .threads = (uint32_t)atoi(argv[7])};
  options.cpu = atoi(argv[8]) ? PTE_CPU_PORTABLE : 0;
  pte_sampling sampling = {.size = sizeof sampling, .seed = 7, .top_k = 40, .top_p = 0.95f};
  sampling.temperature = (float)atof(argv[5]);
  pte_host_model *model = NULL;
  must(pte_host_model_open(argv[1], &options, &model, &error));
  pte_session *session = pte_host_model_session(model);
  pte_memory room = {malloc(pte_sample_room(vocabulary)), pte_sample_room(vocabulary)};
  float *logits = malloc(vocabulary * sizeof(float));
  int64_t tokens[ROOM];
  for (int i = 0; i < prompt; i++) tokens[i] = atoll(argv[9 + i]);
  write_file(argv[2], "", 0, "wb");
  for (int i = 0; i < count; i++) {
    const int64_t shape[] = {1, i == 0 ? prompt : 1}, *const shapes[] = {shape};
    const void *inputs[] = {tokens};
    void *outputs[] = {logits};
    int64_t position = 0;
    must(pte_host_model_prepare(model, shapes, NULL, NULL, &error));
    must(pte_host_model_run(model, inputs, outputs, NULL, &error));
    must(pte_session_position(session, &position, NULL, &error));
    must(pte_sample(&sampling, logits, vocabulary, (uint64_t)position, room, &id, &error));
    write_file(argv[2], logits, vocabulary * sizeof(float), "ab");
    printf("%u ", id);
    tokens[0] = id;
    if (i == count / 2) save(session, argv[3]);
  }
  pte_host_model_close(model);
  free(logits);
  free(room.data);
  return 0;
}
