/* Runs a program once or many times: shapes, digests of the outputs, times.
 *
 *   pte_run model.pte [--method NAME] [--threads N] [--portable] [--dim NAME=SIZE] [--input
 * NAME=FILE] [--seed N]
 *           [--repeat N] [--out FOLDER] [--trace] [--delegate NAME]...
 *
 * Inputs come from .npy or raw files; the others are random, the same for the same seed. Digests
 * are BLAKE2s-256 over the bytes with every NaN replaced by the quiet one, so they compare across
 * machines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/layout.h"
#include "program/blake2s.h"
#include "pteron/delegates.h"
#include "pteron/host.h"
#include "tools/npy.h"

enum { MAX_PORTS = 256, MAX_NAMED = 64, MAX_DELEGATES = 16 };

typedef struct named {
  const char *name, *value;
} named;

typedef struct settings {
  const char *path, *method, *out;
  uint32_t threads, repeat, dim_count, input_count;
  uint64_t seed;
  bool portable, trace;
  const pte_delegate_api *delegates[MAX_DELEGATES]; /* permitted */
  uint32_t delegate_count;
  named dims[MAX_NAMED], inputs[MAX_NAMED];
} settings;

typedef struct buffers {
  uint32_t input_count, output_count;
  pte_port_info in[MAX_PORTS], out[MAX_PORTS];
  npy data[MAX_PORTS];
  int64_t shapes[MAX_PORTS][PTE_MAX_RANK];
  int64_t *values[MAX_PORTS];
  void *results[MAX_PORTS];
} buffers;

/* --- command line --------------------------------------------------------------------------- */

static int usage(void) {
  fprintf(stderr,
          "usage: pte_run model.pte [--method NAME] [--threads N] [--portable] [--dim NAME=SIZE]\n"
          "  [--input NAME=FILE] [--seed N] [--repeat N] [--out FOLDER] [--trace] [--delegate "
          "NAME]...\n");
  return 2;
}

static bool add_named(named *list, uint32_t *count, char *text) {
  char *equals = strchr(text, '=');
  if (equals == NULL || *count == MAX_NAMED) return false;
  *equals = 0;
  list[(*count)++] = (named){text, equals + 1};
  return true;
}

/* Permits the delegate of that name; false: this build has none. */
static bool permit(settings *s, const char *name) {
  uint32_t count = pte_delegates_count();
  for (uint32_t i = 0; i < count && s->delegate_count < MAX_DELEGATES; i++) {
    const pte_delegate_api *api = pte_delegates_at(i);
    if (strcmp(pte_delegates_name(api), name) != 0) continue;
    s->delegates[s->delegate_count++] = api;
    return true;
  }
  fprintf(stderr, "--delegate %s: this build has", name);
  for (uint32_t i = 0; i < count; i++)
    fprintf(stderr, " %s", pte_delegates_name(pte_delegates_at(i)));
  fprintf(stderr, "\n");
  return false;
}

/* An option that takes a value; false: unknown, or a value that it cannot take. */
static bool take_option(settings *s, const char *option, char *value) {
  if (strcmp(option, "--method") == 0) s->method = value;
  else if (strcmp(option, "--out") == 0) s->out = value;
  else if (strcmp(option, "--threads") == 0) s->threads = (uint32_t)strtoul(value, NULL, 10);
  else if (strcmp(option, "--repeat") == 0) s->repeat = (uint32_t)strtoul(value, NULL, 10);
  else if (strcmp(option, "--seed") == 0) s->seed = strtoull(value, NULL, 10);
  else if (strcmp(option, "--dim") == 0) return add_named(s->dims, &s->dim_count, value);
  else if (strcmp(option, "--input") == 0) return add_named(s->inputs, &s->input_count, value);
  else if (strcmp(option, "--delegate") == 0) return permit(s, value);
  else return false;
  return true;
}

static bool parse(int count, char **words, settings *s) {
  *s = (settings){.threads = 1, .repeat = 1, .seed = 1};
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--portable") == 0) s->portable = true;
    else if (strcmp(words[i], "--trace") == 0) s->trace = true;
    else if (words[i][0] != '-' && s->path == NULL) s->path = words[i];
    else if (i + 1 >= count || !take_option(s, words[i], words[i + 1])) return false;
    else i++;
  }
  return s->path != NULL;
}

static const char *find(const named *list, uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(list[i].name, name) == 0) return list[i].value;
  return NULL;
}

static int fail(const settings *s, pte_status status, const pte_error *error) {
  fprintf(stderr, "%s: %s: %s\n", s->path, pte_status_name(status), error->text);
  return 1;
}

/* --- inputs --------------------------------------------------------------------------------- */

static uint64_t random_bits(uint64_t *state) { /* splitmix64, Steele, Lea and Flood 2014 */
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

/* Floats in -1 to 1 with few bits (exact in bf16), integers and bools 0 or 1, which are indices
 * almost everywhere. */
static void fill_random(unsigned dtype, unsigned char *data, size_t bytes, uint64_t *state) {
  size_t size = pte_dtype_bits(dtype) / 8;
  memset(data, 0, bytes);
  if (size == 0) return;
  for (size_t i = 0; i + size <= bytes; i += size) {
    uint64_t bits = random_bits(state);
    float f = (float)((int)(bits >> 56) - 128) / 128.0f;
    double d = f;
    uint32_t word;
    memcpy(&word, &f, 4);
    if (dtype == PTE_F32) memcpy(data + i, &f, 4);
    else if (dtype == PTE_F64) memcpy(data + i, &d, 8);
    else if (dtype == PTE_BF16) memcpy(data + i, (unsigned char *)&word + 2, 2);
    else if (dtype == PTE_F16)
      data[i + 1] = (unsigned char)(0x38 | (bits & 0x83)); /* 0.5 to 1, either sign */
    else data[i] = (unsigned char)(bits & 1);
  }
}

static int64_t extent_of(const settings *s, const pte_port_info *port, uint32_t axis) {
  if (port->shape[axis] >= 0) return port->shape[axis];
  const char *given = find(s->dims, s->dim_count, port->symbol[axis]);
  if (given != NULL) return strtoll(given, NULL, 10);
  return port->minimum[axis] > 1 ? port->minimum[axis] : 1;
}

static bool read_input(const settings *s, buffers *b, uint32_t i, const char *file) {
  if (!npy_read(file, &b->data[i])) return false;
  if (b->data[i].kind == 0) { /* raw bytes: the shape comes from the port and --dim */
    for (uint32_t axis = 0; axis < b->in[i].rank; axis++)
      b->shapes[i][axis] = extent_of(s, &b->in[i], axis);
    return true;
  }
  if (b->data[i].rank != b->in[i].rank || b->data[i].size * 8 != pte_dtype_bits(b->in[i].dtype)) {
    fprintf(stderr, "%s: expected %s of rank %u\n", file, pte_dtype_names[b->in[i].dtype],
            b->in[i].rank);
    return false;
  }
  memcpy(b->shapes[i], b->data[i].shape, sizeof b->shapes[i]);
  return true;
}

static bool invent_input(const settings *s, buffers *b, uint32_t i, uint64_t *state) {
  size_t elements = 1;
  for (uint32_t axis = 0; axis < b->in[i].rank; axis++) {
    b->shapes[i][axis] = extent_of(s, &b->in[i], axis);
    elements *= (size_t)b->shapes[i][axis];
  }
  b->data[i].bytes = (elements * pte_dtype_bits(b->in[i].dtype) + 7) / 8;
  b->data[i].data = malloc(b->data[i].bytes + 1);
  if (b->data[i].data == NULL) return false;
  fill_random(b->in[i].dtype, b->data[i].data, b->data[i].bytes, state);
  return true;
}

/* Shape inputs are given to prepare by value, as i64. */
static bool widen(buffers *b, uint32_t i) {
  const npy *data = &b->data[i];
  size_t size = pte_dtype_bits(b->in[i].dtype) / 8, count = size == 0 ? 0 : data->bytes / size;
  b->values[i] = calloc(count + 1, sizeof(int64_t));
  if (b->values[i] == NULL) return false;
  for (size_t e = 0; e < count; e++) {
    int32_t word = 0;
    if (size == 8) memcpy(&b->values[i][e], (const char *)data->data + 8 * e, 8);
    else if (size == 4) memcpy(&word, (const char *)data->data + 4 * e, 4);
    if (size == 4) b->values[i][e] = word;
  }
  return true;
}

static bool make_inputs(const settings *s, buffers *b) {
  uint64_t state = s->seed;
  for (uint32_t i = 0; i < b->input_count; i++) {
    const char *file = find(s->inputs, s->input_count, b->in[i].name);
    if (!(file != NULL ? read_input(s, b, i, file) : invent_input(s, b, i, &state))) return false;
    if (b->in[i].shape_input && !widen(b, i)) return false;
  }
  return true;
}

/* --- outputs -------------------------------------------------------------------------------- */

/* Every NaN of a float type becomes the quiet one with nothing else set. */
static void canonicalise(unsigned dtype, unsigned char *data, size_t bytes) {
  static const struct {
    unsigned dtype, size;
    uint64_t infinity, quiet;
  } kinds[] = {
      {PTE_F16,  2, 0x7C00,             0x7E00            },
      {PTE_BF16, 2, 0x7F80,             0x7FC0            },
      {PTE_F32,  4, 0x7F800000,         0x7FC00000        },
      {PTE_F64,  8, 0x7FF0000000000000, 0x7FF8000000000000}
  };
  for (unsigned k = 0; k < 4; k++)
    for (size_t i = 0; kinds[k].dtype == dtype && i + kinds[k].size <= bytes; i += kinds[k].size) {
      uint64_t word = 0;
      memcpy(&word, data + i, kinds[k].size);
      if ((word & (UINT64_MAX >> (65 - 8 * kinds[k].size))) > kinds[k].infinity)
        memcpy(data + i, &kinds[k].quiet, kinds[k].size);
    }
}

static void print_output(const settings *s, const pte_session *session, uint32_t i,
                         const char *name, unsigned char *data) {
  pte_extents e = {.size = sizeof e};
  size_t elements = 1;
  uint8_t digest[32];
  if (pte_session_output(session, i, &e) != PTE_OK) return;
  printf("%s: %s[", name, pte_dtype_names[e.dtype]);
  for (uint32_t axis = 0; axis < e.rank; axis++) {
    printf("%s%lld", axis == 0 ? "" : ", ", (long long)e.shape[axis]);
    elements *= (size_t)e.shape[axis];
  }
  size_t bytes = (elements * pte_dtype_bits(e.dtype) + 7) / 8;
  canonicalise(e.dtype, data, bytes);
  pte_blake2s_256(data, bytes, digest);
  printf("] ");
  for (unsigned d = 0; d < 32; d++) printf("%02x", digest[d]);
  printf("\n");
  if (s->out == NULL) return;
  char path[1024];
  snprintf(path, sizeof path, "%s/output_%u.npy", s->out, i);
  npy_write(path, e.dtype, e.rank, e.shape, data, bytes);
}

/* --- the run -------------------------------------------------------------------------------- */

static void print_event(void *self, uint32_t instr, uint32_t op, uint32_t node, uint64_t begin_ns,
                        uint64_t end_ns) {
  (void)self;
  printf("%8.1f us  op %u  operator %u  node %d\n", (double)(end_ns - begin_ns) / 1e3, instr, op,
         (int)node);
}

static bool inputs_are_long_enough(const pte_session *session, const buffers *b) {
  for (uint32_t i = 0; i < b->input_count; i++) {
    pte_extents e = {.size = sizeof e};
    if (pte_session_input(session, i, &e) != PTE_OK) return false;
    if (b->data[i].bytes == e.size_bytes) continue;
    fprintf(stderr, "input %s: expected %llu bytes, got %zu\n", b->in[i].name,
            (unsigned long long)e.size_bytes, b->data[i].bytes);
    return false;
  }
  return true;
}

static bool make_outputs(const pte_session *session, buffers *b) {
  for (uint32_t i = 0; i < b->output_count; i++) {
    pte_extents e = {.size = sizeof e};
    if (pte_session_output(session, i, &e) != PTE_OK) return false;
    b->results[i] = malloc((size_t)e.size_bytes + 1);
    if (b->results[i] == NULL) return false;
  }
  return true;
}

static int run(const settings *s, pte_host_model *model, buffers *b) {
  pte_error error = {0};
  pte_tracer tracer = {.size = sizeof tracer, .now = pte_host_now, .event = print_event};
  pte_run_options options = {.size = sizeof options, .tracer = s->trace ? &tracer : NULL};
  const void *inputs[MAX_PORTS];
  for (uint32_t i = 0; i < b->input_count; i++) inputs[i] = b->data[i].data;
  uint64_t best = UINT64_MAX, sum = 0;
  for (uint32_t r = 0; r < s->repeat; r++) {
    uint64_t begin = pte_host_now(NULL);
    pte_status status = pte_host_model_run(model, inputs, b->results, &options, &error);
    uint64_t took = pte_host_now(NULL) - begin;
    if (status != PTE_OK) return fail(s, status, &error);
    sum += took;
    if (took < best) best = took;
  }
  for (uint32_t i = 0; i < b->output_count; i++)
    print_output(s, pte_host_model_session(model), i, b->out[i].name, b->results[i]);
  if (s->repeat != 0)
    printf("%u runs, best %.3f ms, mean %.3f ms\n", s->repeat, (double)best / 1e6,
           (double)sum / 1e6 / s->repeat);
  return 0;
}

static int describe(const settings *s, const pte_host_model *model, buffers *b) {
  const pte_program *program = pte_host_model_program(model);
  pte_error error = {0};
  uint32_t method = 0;
  pte_method_info info = {.size = sizeof info};
  pte_status status = pte_program_find_method(program, s->method, &method, &error);
  if (status == PTE_OK) status = pte_program_method(program, method, &info);
  if (status != PTE_OK) return fail(s, status, &error);
  if (info.input_count > MAX_PORTS || info.output_count > MAX_PORTS)
    return fail(s, PTE_UNSUPPORTED, &error);
  b->input_count = info.input_count;
  b->output_count = info.output_count;
  for (uint32_t i = 0; i < info.input_count && status == PTE_OK; i++) {
    b->in[i].size = sizeof b->in[i];
    status = pte_program_input(program, method, i, &b->in[i]);
  }
  for (uint32_t i = 0; i < info.output_count && status == PTE_OK; i++) {
    b->out[i].size = sizeof b->out[i];
    status = pte_program_output(program, method, i, &b->out[i]);
  }
  return status == PTE_OK ? 0 : fail(s, status, &error);
}

static int prepare_and_run(const settings *s, pte_host_model *model, buffers *b) {
  pte_error error = {0};
  pte_sizes sizes = {.size = sizeof sizes};
  const int64_t *shapes[MAX_PORTS], *values[MAX_PORTS];
  if (describe(s, model, b) != 0 || !make_inputs(s, b)) return 1;
  for (uint32_t i = 0; i < b->input_count; i++) {
    shapes[i] = b->shapes[i];
    values[i] = b->values[i];
  }
  pte_status status = pte_host_model_prepare(model, shapes, values, &sizes, &error);
  if (status != PTE_OK) return fail(s, status, &error);
  printf("arena %llu bytes (planned %llu, scratch %llu), states %llu bytes\n",
         (unsigned long long)sizes.arena_bytes, (unsigned long long)sizes.planned_bytes,
         (unsigned long long)sizes.scratch_bytes, (unsigned long long)sizes.state_bytes);
  const pte_session *session = pte_host_model_session(model);
  if (!inputs_are_long_enough(session, b) || !make_outputs(session, b)) return 1;
  return run(s, model, b);
}

int main(int count, char **words) {
  static buffers b; /* too large for the stack; freed with the process */
  settings s;
  if (!parse(count, words, &s)) return usage();
  pte_host_options options = {.size = sizeof options,
                              .threads = s.threads,
                              .cpu = s.portable ? PTE_CPU_PORTABLE : PTE_CPU_DETECT,
                              .delegate_count = s.delegate_count,
                              .delegates = s.delegates,
                              .method = s.method};
  pte_host_model *model = NULL;
  pte_error error = {0};
  pte_status status = pte_host_model_open(s.path, &options, &model, &error);
  if (status != PTE_OK) return fail(&s, status, &error);
  int result = prepare_and_run(&s, model, &b);
  pte_host_model_close(model);
  return result;
}
