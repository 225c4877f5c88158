/* What the tools share: a program opened, prepared and fed as a command line says. */
#ifndef PTE_TOOLS_MODEL_H
#define PTE_TOOLS_MODEL_H

#include "pteron/host.h"
#include "tools/npy.h"

enum { MAX_PORTS = 256, MAX_NAMED = 64, MAX_DELEGATES = 16 };

typedef struct named {
  const char *name, *value;
} named;

typedef struct settings {
  const char *path, *method;
  uint32_t threads, dim_count, input_count, delegate_count;
  uint64_t seed;
  bool portable;
  const pte_delegate_api *delegates[MAX_DELEGATES]; /* permitted */
  named dims[MAX_NAMED], inputs[MAX_NAMED];
} settings;

#define SETTINGS_HELP                                                                              \
  "[--method NAME] [--threads N] [--portable] [--dim NAME=SIZE]\n"                                 \
  "  [--input NAME=FILE] [--seed N] [--delegate NAME]..."

/* Reads words[*at], and the word behind it where it takes one, if it is the path or one of
 * SETTINGS_HELP; `*at` moves to the last word that was read. false: it is neither; `*at` stays. */
bool settings_take(settings *s, int count, char **words, int *at);

/* Large: static, not on the stack. Freed with the process. */
typedef struct model {
  pte_host_model *handle; /* pte_host_model_close */
  pte_sizes sizes;
  uint32_t input_count, output_count;
  pte_port_info in[MAX_PORTS], out[MAX_PORTS];
  npy data[MAX_PORTS];
  int64_t shapes[MAX_PORTS][PTE_MAX_RANK];
  int64_t *values[MAX_PORTS];
  const void *inputs[MAX_PORTS];
  void *outputs[MAX_PORTS];
} model;

/* Opens and prepares s->path; inputs come from files, or are random, the same for the same seed.
 * false: a message has been printed. */
bool model_open(const settings *s, model *out);

/* Prints what failed; false. */
bool model_fails(const settings *s, pte_status status, const pte_error *error);

#endif
