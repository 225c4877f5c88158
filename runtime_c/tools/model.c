#include "tools/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/layout.h"
#include "pteron/delegates.h"

bool model_fails(const settings *s, pte_status status, const pte_error *error) {
  fprintf(stderr, "%s: %s: %s\n", s->path, pte_status_name(status), error->text);
  return false;
}

/* --- command line --------------------------------------------------------------------------- */

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
  else if (strcmp(option, "--threads") == 0) s->threads = (uint32_t)strtoul(value, NULL, 10);
  else if (strcmp(option, "--seed") == 0) s->seed = strtoull(value, NULL, 10);
  else if (strcmp(option, "--dim") == 0) return add_named(s->dims, &s->dim_count, value);
  else if (strcmp(option, "--input") == 0) return add_named(s->inputs, &s->input_count, value);
  else if (strcmp(option, "--delegate") == 0) return permit(s, value);
  else return false;
  return true;
}

bool settings_take(settings *s, int count, char **words, int *at) {
  char *word = words[*at];
  if (strcmp(word, "--portable") == 0) s->portable = true;
  else if (word[0] != '-' && s->path == NULL) s->path = word;
  else if (*at + 1 >= count || !take_option(s, word, words[*at + 1])) return false;
  else ++*at;
  return true;
}

static const char *find(const named *list, uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(list[i].name, name) == 0) return list[i].value;
  return NULL;
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

static bool read_input(const settings *s, model *m, uint32_t i, const char *file) {
  if (!npy_read(file, &m->data[i])) return false;
  if (m->data[i].kind == 0) { /* raw bytes: the shape comes from the port and --dim */
    for (uint32_t axis = 0; axis < m->in[i].rank; axis++)
      m->shapes[i][axis] = extent_of(s, &m->in[i], axis);
    return true;
  }
  if (m->data[i].rank != m->in[i].rank || m->data[i].size * 8 != pte_dtype_bits(m->in[i].dtype)) {
    fprintf(stderr, "%s: expected %s of rank %u\n", file, pte_dtype_names[m->in[i].dtype],
            m->in[i].rank);
    return false;
  }
  memcpy(m->shapes[i], m->data[i].shape, sizeof m->shapes[i]);
  return true;
}

static bool invent_input(const settings *s, model *m, uint32_t i, uint64_t *state) {
  size_t elements = 1;
  for (uint32_t axis = 0; axis < m->in[i].rank; axis++) {
    m->shapes[i][axis] = extent_of(s, &m->in[i], axis);
    elements *= (size_t)m->shapes[i][axis];
  }
  m->data[i].bytes = (elements * pte_dtype_bits(m->in[i].dtype) + 7) / 8;
  m->data[i].data = malloc(m->data[i].bytes + 1);
  if (m->data[i].data == NULL) return false;
  fill_random(m->in[i].dtype, m->data[i].data, m->data[i].bytes, state);
  return true;
}

/* Shape inputs are given to prepare by value, as i64. */
static bool widen(model *m, uint32_t i) {
  const npy *data = &m->data[i];
  size_t size = pte_dtype_bits(m->in[i].dtype) / 8, count = size == 0 ? 0 : data->bytes / size;
  m->values[i] = calloc(count + 1, sizeof(int64_t));
  if (m->values[i] == NULL) return false;
  for (size_t e = 0; e < count; e++) {
    int32_t word = 0;
    if (size == 8) memcpy(&m->values[i][e], (const char *)data->data + 8 * e, 8);
    else if (size == 4) memcpy(&word, (const char *)data->data + 4 * e, 4);
    if (size == 4) m->values[i][e] = word;
  }
  return true;
}

static bool make_inputs(const settings *s, model *m) {
  uint64_t state = s->seed;
  for (uint32_t i = 0; i < m->input_count; i++) {
    const char *file = find(s->inputs, s->input_count, m->in[i].name);
    if (!(file != NULL ? read_input(s, m, i, file) : invent_input(s, m, i, &state))) return false;
    if (m->in[i].shape_input && !widen(m, i)) return false;
  }
  return true;
}

/* --- open ----------------------------------------------------------------------------------- */

static pte_status describe(const settings *s, model *m, pte_error *error) {
  const pte_program *program = pte_host_model_program(m->handle);
  uint32_t method = 0;
  pte_method_info info = {.size = sizeof info};
  pte_status status = pte_program_find_method(program, s->method, &method, error);
  if (status == PTE_OK) status = pte_program_method(program, method, &info);
  if (status != PTE_OK) return status;
  if (info.input_count > MAX_PORTS || info.output_count > MAX_PORTS) return PTE_UNSUPPORTED;
  m->input_count = info.input_count;
  m->output_count = info.output_count;
  for (uint32_t i = 0; i < info.input_count && status == PTE_OK; i++) {
    m->in[i].size = sizeof m->in[i];
    status = pte_program_input(program, method, i, &m->in[i]);
  }
  for (uint32_t i = 0; i < info.output_count && status == PTE_OK; i++) {
    m->out[i].size = sizeof m->out[i];
    status = pte_program_output(program, method, i, &m->out[i]);
  }
  return status;
}

static bool inputs_are_long_enough(const pte_session *session, const model *m) {
  for (uint32_t i = 0; i < m->input_count; i++) {
    pte_extents e = {.size = sizeof e};
    if (pte_session_input(session, i, &e) != PTE_OK) return false;
    if (m->data[i].bytes == e.size_bytes) continue;
    fprintf(stderr, "input %s: expected %llu bytes, got %zu\n", m->in[i].name,
            (unsigned long long)e.size_bytes, m->data[i].bytes);
    return false;
  }
  return true;
}

static bool make_outputs(const pte_session *session, model *m) {
  for (uint32_t i = 0; i < m->output_count; i++) {
    pte_extents e = {.size = sizeof e};
    if (pte_session_output(session, i, &e) != PTE_OK) return false;
    m->outputs[i] = malloc((size_t)e.size_bytes + 1);
    if (m->outputs[i] == NULL) return false;
  }
  return true;
}

bool model_open(const settings *s, model *out) {
  const pte_host_options options = {.size = sizeof options,
                                    .threads = s->threads,
                                    .cpu = s->portable ? PTE_CPU_PORTABLE : PTE_CPU_DETECT,
                                    .delegate_count = s->delegate_count,
                                    .delegates = s->delegates,
                                    .method = s->method};
  pte_error error = {0};
  const int64_t *shapes[MAX_PORTS], *values[MAX_PORTS];
  pte_status status = pte_host_model_open(s->path, &options, &out->handle, &error);
  if (status == PTE_OK) status = describe(s, out, &error);
  if (status != PTE_OK) return model_fails(s, status, &error);
  if (!make_inputs(s, out)) return false;
  for (uint32_t i = 0; i < out->input_count; i++) {
    shapes[i] = out->shapes[i];
    values[i] = out->values[i];
    out->inputs[i] = out->data[i].data;
  }
  out->sizes.size = sizeof out->sizes;
  status = pte_host_model_prepare(out->handle, shapes, values, &out->sizes, &error);
  if (status != PTE_OK) return model_fails(s, status, &error);
  const pte_session *session = pte_host_model_session(out->handle);
  return inputs_are_long_enough(session, out) && make_outputs(session, out);
}
