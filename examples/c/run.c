/* Runs any program once and prints what comes out.
 *
 *   cc run.c $(pkg-config --cflags --libs pteron) -o run
 *   ./run model.pte [SYMBOL=SIZE ...] [INPUT=FILE.npy ...]
 *
 * Sizes that the model leaves open are those given, or that of a file, or the smallest. Inputs
 * without a file are random: floats in -1 to 1, integers 0 or 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pteron/host.h>
#include <pteron/types.h>

/* A port and its buffer; `values` are the elements of an input that decides sizes. */
typedef struct tensor {
  pte_port_info port;
  int64_t shape[PTE_MAX_RANK];
  int64_t *values;
  const char *path; /* its .npy file, or NULL */
  void *data;
} tensor;

static void fail(const char *what, const char *text) {
  fprintf(stderr, "%s: %s\n", what, text);
  exit(1);
}

static void check(pte_status status, const pte_error *error) {
  if (status != PTE_OK) fail(pte_status_name(status), error->text);
}

static void *take(size_t size_bytes) {
  void *data = calloc(1, size_bytes + 1);
  if (data == NULL) fail("run", "out of memory");
  return data;
}

/* What stands behind `name=` on the command line, or NULL. */
static const char *given(int count, char **words, const char *name) {
  size_t length = strlen(name);
  for (int i = 2; i < count; i++)
    if (length != 0 && strncmp(words[i], name, length) == 0 && words[i][length] == '=')
      return words[i] + length + 1;
  return NULL;
}

/* Reads the header of a .npy file into the tensor's shape; the file then stands at its data. */
static FILE *open_npy(tensor *t) {
  unsigned char start[12] = {0};
  char header[4096] = {0};
  FILE *file = fopen(t->path, "rb");
  if (file == NULL || fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0)
    fail(t->path, "is no .npy file");
  size_t length = start[8] | (size_t)start[9] << 8;
  if (start[6] > 1 && fread(start + 10, 1, 2, file) == 2) length |= (size_t)start[10] << 16;
  if (length >= sizeof header || fread(header, 1, length, file) != length)
    fail(t->path, "its header is cut or too long");
  const char *type = strstr(header, "'descr': '"), *shape = strstr(header, "'shape': (");
  if (type == NULL || shape == NULL || strstr(header, "'fortran_order': False") == NULL)
    fail(t->path, "expected an array in C order");
  if (8 * strtoul(type + 12, NULL, 10) != pte_dtype_bits(t->port.dtype))
    fail(t->path, "its elements are not as wide as the input's");
  char *at = (char *)strchr(shape, '(') + 1;
  uint32_t rank = 0;
  for (char *end; *at != ')' && *at != 0; at = end + strspn(end, ", ")) {
    int64_t extent = strtoll(at, &end, 10);
    if (end == at || rank == PTE_MAX_RANK) fail(t->path, "its shape cannot be read");
    t->shape[rank++] = extent;
  }
  if (rank != t->port.rank) fail(t->path, "has another rank than the input");
  return file;
}

/* splitmix64, Steele, Lea and Flood 2014 */
static uint64_t random_bits(void) {
  static uint64_t state = 1;
  uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  return z ^ z >> 27;
}

static void fill(const tensor *t, size_t size_bytes) {
  unsigned size = pte_dtype_bits(t->port.dtype) / 8;
  unsigned char *data = t->data;
  for (size_t i = 0; size != 0 && i + size <= size_bytes; i += size) {
    uint64_t bits = random_bits();
    float f = (float)(bits >> 40) / (float)(1 << 23) - 1.0f;
    double d = f;
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    switch (t->port.dtype) {
    case PTE_F32: memcpy(data + i, &f, sizeof f); break;
    case PTE_F64: memcpy(data + i, &d, sizeof d); break;
    case PTE_BF16: memcpy(data + i, (char *)&word + 2, 2); break;
    case PTE_F16: data[i + 1] = (unsigned char)(0x38 | (bits & 0x83)); break;
    default: data[i] = bits & 1;
    }
  }
}

/* The shape of an input, and its elements where they decide sizes: those of its file, or 1. */
static void shape_input(tensor *t, int count, char **words) {
  int64_t elements = 1;
  FILE *file = NULL;
  t->path = given(count, words, t->port.name);
  for (uint32_t axis = 0; axis < t->port.rank; axis++) {
    const char *size = given(count, words, t->port.symbol[axis]);
    int64_t least = t->port.minimum[axis];
    t->shape[axis] = t->port.shape[axis] >= 0 ? t->port.shape[axis]
                     : size != NULL           ? strtoll(size, NULL, 10)
                                              : (least > 1 ? least : 1);
  }
  if (t->path != NULL) file = open_npy(t);
  for (uint32_t axis = 0; axis < t->port.rank; axis++) elements *= t->shape[axis];
  if (t->port.shape_input) {
    size_t size = pte_dtype_bits(t->port.dtype) / 8;
    t->values = take((size_t)elements * sizeof *t->values);
    for (int64_t i = 0; i < elements; i++) {
      t->values[i] = file == NULL;
      if (file != NULL && fread(&t->values[i], size, 1, file) != 1) fail(t->path, "is cut");
      if (size == 4) t->values[i] = (int32_t)t->values[i];
    }
  }
  if (file != NULL) fclose(file);
}

static void fill_input(tensor *t, const pte_extents *extents) {
  t->data = take((size_t)extents->size_bytes);
  if (t->path != NULL) {
    FILE *file = open_npy(t);
    if (fread(t->data, 1, extents->size_bytes, file) != extents->size_bytes)
      fail(t->path, "is cut");
    fclose(file);
  } else if (t->values != NULL) {
    size_t size = pte_dtype_bits(t->port.dtype) / 8;
    for (size_t i = 0; i * size < extents->size_bytes; i++)
      memcpy((char *)t->data + i * size, &t->values[i], size);
  } else fill(t, (size_t)extents->size_bytes);
}

static void print_number(uint32_t dtype, const void *data, size_t i) {
  switch (dtype) {
  case PTE_F32: printf(" %g", (double)((const float *)data)[i]); break;
  case PTE_F64: printf(" %g", ((const double *)data)[i]); break;
  case PTE_I64: printf(" %lld", (long long)((const int64_t *)data)[i]); break;
  case PTE_I32: printf(" %d", (int)((const int32_t *)data)[i]); break;
  case PTE_I8: printf(" %d", ((const int8_t *)data)[i]); break;
  case PTE_U8:
  case PTE_BOOL: printf(" %u", ((const uint8_t *)data)[i]); break;
  default: break; /* halves and narrow types: no number of C */
  }
}

static void print_tensor(const tensor *t, const pte_extents *e) {
  size_t elements = 1;
  printf("%s: %s[", t->port.name, pte_dtype_name(e->dtype));
  for (uint32_t axis = 0; axis < e->rank; axis++) {
    printf("%s%lld", axis == 0 ? "" : ", ", (long long)e->shape[axis]);
    elements *= (size_t)e->shape[axis];
  }
  printf("]");
  for (size_t i = 0; i < elements && i < 8; i++) print_number(e->dtype, t->data, i);
  printf(elements > 8 ? " ...\n" : "\n");
}

static void say(void *self, uint32_t level, const char *text) {
  (void)self;
  fprintf(stderr, "%s: %s\n", level == PTE_HOST_WARNING ? "warning" : "note", text);
}

int main(int count, char **words) {
  pte_host_log log = {.size = sizeof log, .say = say};
  pte_host_options options = {.size = sizeof options, .log = &log};
  pte_method_info method = {.size = sizeof method};
  pte_extents extents = {.size = sizeof extents};
  pte_host_model *model;
  pte_error error = {0};
  if (count < 2) fail("usage", "run model.pte [SYMBOL=SIZE ...] [INPUT=FILE.npy ...]");
  check(pte_host_model_open(words[1], &options, &model, &error), &error);
  const pte_program *program = pte_host_model_program(model);
  const pte_session *session = pte_host_model_session(model);
  check(pte_program_method(program, 0, &method), &error);

  tensor *in = take(method.input_count * sizeof *in),
         *out = take(method.output_count * sizeof *out);
  const int64_t **shapes = take(method.input_count * sizeof *shapes);
  const int64_t **values = take(method.input_count * sizeof *values);
  const void **inputs = take(method.input_count * sizeof *inputs);
  void **outputs = take(method.output_count * sizeof *outputs);

  for (uint32_t i = 0; i < method.input_count; i++) {
    in[i].port.size = sizeof in[i].port;
    check(pte_program_input(program, 0, i, &in[i].port), &error);
    shape_input(&in[i], count, words);
    shapes[i] = in[i].shape;
    values[i] = in[i].values;
  }
  check(pte_host_model_prepare(model, shapes, values, NULL, &error), &error);
  for (uint32_t i = 0; i < method.input_count; i++) {
    check(pte_session_input(session, i, &extents), &error);
    fill_input(&in[i], &extents);
    inputs[i] = in[i].data;
  }
  for (uint32_t i = 0; i < method.output_count; i++) {
    out[i].port.size = sizeof out[i].port;
    check(pte_program_output(program, 0, i, &out[i].port), &error);
    check(pte_session_output(session, i, &extents), &error);
    outputs[i] = out[i].data = take((size_t)extents.size_bytes);
  }
  check(pte_host_model_run(model, inputs, outputs, NULL, &error), &error);
  for (uint32_t i = 0; i < method.output_count;
       i++) { /* sizes that the data decided are known now */
    check(pte_session_output(session, i, &extents), &error);
    print_tensor(&out[i], &extents);
  }
  pte_host_model_close(model); /* the rest goes with the process */
  return 0;
}
