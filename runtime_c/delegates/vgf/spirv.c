#include "delegates/vgf/spirv.h"

#include "delegates/vgf/operands.h"
#include "delegates/vgf/tosa.h"

#include <string.h>

enum { MAGIC = 0x07230203, VERSION = 0x00010500, HEADER_WORDS = 5, MAX_DIM = 1 << 30 };

enum { DECORATION_BINDING = 33, DECORATION_SET = 34 };

static bool define(pte_vgf_code *c, uint32_t id) {
  if (id == 0 || id >= c->bound || c->at[id] != 0) return false;
  c->at[id] = (uint32_t)c->cursor;
  return true;
}

/* --- strings -------------------------------------------------------------------------------- */

/* Words of the zero-terminated string at `words`, at most `most`; 0: it does not end there. */
static uint32_t string_words(const uint32_t *words, uint32_t most) {
  const char *end = memchr(words, 0, (size_t)most * 4);
  return end == NULL ? 0 : (uint32_t)((size_t)(end - (const char *)words) / 4 + 1);
}

static bool is_string(const uint32_t *words, uint32_t count, const char *text) {
  return count != 0 && string_words(words, count) == count &&
         strcmp((const char *)words, text) == 0;
}

/* --- one function an instruction: i[0] is its head, n its words ------------------------------ */

/* Marks bit `k` of a set; false where it was there. */
static bool mark(uint32_t *set, uint32_t k) {
  bool is_new = (*set >> k & 1) == 0;
  *set |= UINT32_C(1) << k;
  return is_new;
}

static bool capability(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  static const uint32_t known[] = {0, 1, 39, 4174, 4191, 5345};
  for (uint32_t k = 0; n == 2 && k < 6; k++)
    if (known[k] == i[1]) return mark(&c->capabilities, k);
  return false;
}

static bool extension(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  static const char *const known[] = {"SPV_ARM_tensors", "SPV_ARM_graph",
                                      "SPV_KHR_vulkan_memory_model"};
  for (uint32_t k = 0; k < 3; k++)
    if (is_string(i + 1, n - 1, known[k])) return mark(&c->extensions, k);
  return false;
}

static bool import(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  if (c->tosa != 0 || n < 3 || !is_string(i + 2, n - 2, "TOSA.001000.1")) return false;
  c->tosa = i[1];
  return define(c, i[1]);
}

static bool memory_model(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  bool first = !c->has_model;
  c->has_model = true;
  return first && n == 3 && i[1] == 0 && i[2] == 3; /* Logical, Vulkan */
}

static bool name(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  return n >= 3 && i[1] != 0 && i[1] < c->bound && string_words(i + 2, n - 2) == n - 2;
}

static bool decorate(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  c->decorations++;
  return n == 4 && (i[2] == DECORATION_BINDING || i[2] == DECORATION_SET);
}

static bool type_int(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  if (n != 4 || (i[2] != 8 && i[2] != 32) || i[3] != 0) return false;
  uint32_t *own = i[2] == 8 ? &c->int8 : &c->int32;
  if (*own != 0) return false;
  *own = i[1];
  return define(c, i[1]);
}

static bool type_bool(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  if (n != 2 || c->boolean != 0) return false;
  c->boolean = i[1];
  return define(c, i[1]);
}

static bool type_array(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  int32_t length = 0;
  return n == 4 && i[2] == c->int32 && c->int32 != 0 && pte_vgf_int(c, i[3], 32, &length) &&
         length >= 1 && length <= (int32_t)PTE_VGF_MAX_RANK && define(c, i[1]);
}

static bool type_tensor(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  int32_t rank = 0, length = 0, dim = 0;
  if (n != 5 || i[2] == 0 || (i[2] != c->int8 && i[2] != c->int32)) return false;
  const uint32_t *dims = pte_vgf_defined(c, i[4], OP_CONSTANT_COMPOSITE);
  const uint32_t *array = dims == NULL ? NULL : pte_vgf_defined(c, dims[1], OP_TYPE_ARRAY);
  if (array == NULL || !pte_vgf_int(c, array[3], 32, &length) || !pte_vgf_int(c, i[3], 32, &rank))
    return false;
  if (rank != length) return false;
  for (int32_t k = 0; k < rank; k++)
    if (!pte_vgf_int(c, dims[3 + k], 32, &dim) || dim < 1 || dim > MAX_DIM) return false;
  pte_vgf_shape shape;
  return define(c, i[1]) && pte_vgf_type_shape(c, i[1], &shape) && pte_vgf_elements(&shape) != 0;
}

static bool type_pointer(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  return n == 4 && i[2] == 0 && pte_vgf_defined(c, i[3], OP_TYPE_TENSOR) != NULL && define(c, i[1]);
}

static bool variable(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  return n == 4 && i[3] == 0 && pte_vgf_defined(c, i[1], OP_TYPE_POINTER) != NULL &&
         define(c, i[2]);
}

/* Whether a type is that of the table's tensor `k`. */
static bool is_tensor(const pte_vgf_code *c, uint32_t type, uint32_t k) {
  pte_vgf_shape shape;
  pte_vgf_tensor tensor = pte_vgf_model_tensor(c->model, k);
  return pte_vgf_type_shape(c, type, &shape) && pte_vgf_same_shape(&shape, &tensor.shape);
}

static bool type_graph(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  uint32_t io = c->model->input_count + c->model->output_count;
  if (n != 3 + io || i[2] != c->model->input_count) return false;
  for (uint32_t k = 0; k < io; k++)
    if (!is_tensor(c, i[3 + k], k)) return false;
  return define(c, i[1]);
}

static bool constant(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  return n == 4 && i[1] != 0 && (i[1] == c->int8 || i[1] == c->int32) && define(c, i[2]);
}

static bool constant_bool(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  return n == 3 && i[1] != 0 && i[1] == c->boolean && define(c, i[2]);
}

/* Counts a tensor that the device holds, however few words say it: a file must not take all of its
 * memory. */
static bool has_room(pte_vgf_code *c, const pte_vgf_shape *tensor) {
  c->value_bytes += pte_vgf_elements(tensor) * (tensor->bits / 8);
  return c->value_bytes <= PTE_VGF_MAX_BYTES;
}

static bool constant_null(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  pte_vgf_shape shape;
  return n == 3 && pte_vgf_type_shape(c, i[1], &shape) && has_room(c, &shape) && define(c, i[2]);
}

/* Whether `id` is a constant with the shape of one row of `whole`. */
static bool is_row(const pte_vgf_code *c, uint32_t id, const pte_vgf_shape *whole) {
  pte_vgf_shape row, wanted = {.bits = whole->bits, .rank = whole->rank - 1};
  memcpy(wanted.dims, whole->dims + 1, wanted.rank * sizeof wanted.dims[0]);
  return pte_vgf_value(c, id, &row) && pte_vgf_defined(c, id, OP_GRAPH_CONSTANT) == NULL &&
         pte_vgf_same_shape(&row, &wanted);
}

/* The elements of a list of extents, or of a tensor of rank 1; the rows of any other tensor. */
static bool constant_composite(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  if (n < 4) return false;
  const uint32_t *array = pte_vgf_defined(c, i[1], OP_TYPE_ARRAY);
  pte_vgf_shape shape = {.bits = 32, .rank = 1};
  int32_t value = 0;
  if (array != NULL && pte_vgf_int(c, array[3], 32, &value)) shape.dims[0] = (uint32_t)value;
  else if (!pte_vgf_type_shape(c, i[1], &shape)) return false;
  if (shape.dims[0] != n - 3) return false;
  for (uint32_t k = 0; k < n - 3; k++)
    if (shape.rank == 1 ? !pte_vgf_int(c, i[3 + k], shape.bits, &value)
                        : !is_row(c, i[3 + k], &shape))
      return false;
  return has_room(c, &shape) && define(c, i[2]);
}

static bool graph_constant(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  uint32_t io = c->model->input_count + c->model->output_count;
  if (n != 4 || i[3] >= c->model->constant_count || !is_tensor(c, i[1], io + i[3])) return false;
  pte_vgf_tensor tensor = pte_vgf_model_tensor(c->model, io + i[3]);
  return has_room(c, &tensor.shape) && define(c, i[2]);
}

/* Whether `id` is decorated as binding `k` of set 0, and as nothing else. */
static bool is_bound(const pte_vgf_code *c, uint32_t id, uint32_t k) {
  uint32_t bindings = 0, sets = 0;
  for (size_t w = HEADER_WORDS; w < c->cursor; w += pte_vgf_length(c->words + w)) {
    const uint32_t *i = c->words + w;
    if (pte_vgf_opcode(i) != OP_DECORATE || i[1] != id) continue;
    bool is_right = i[3] == (i[2] == DECORATION_BINDING ? k : 0);
    if (!is_right) return false;
    if (i[2] == DECORATION_BINDING) bindings++;
    else sets++;
  }
  return bindings == 1 && sets == 1;
}

static bool entry_point(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  uint32_t io = c->model->input_count + c->model->output_count;
  if (c->graph != 0 || n <= 2 + io || i[1] == 0 || c->decorations != 2 * io) return false;
  if (!is_string(i + 2, n - 2 - io, c->model->entry)) return false;
  for (uint32_t k = 0; k < io; k++) {
    uint32_t id = i[n - io + k];
    const uint32_t *own = pte_vgf_defined(c, id, OP_VARIABLE);
    if (own == NULL || !is_tensor(c, pte_vgf_definition(c, own[1])[3], k) || !is_bound(c, id, k))
      return false;
  }
  c->graph = i[1];
  return true;
}

static bool graph(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  bool first = !c->has_graph;
  c->has_graph = true;
  return first && n == 3 && i[2] == c->graph && pte_vgf_defined(c, i[1], OP_TYPE_GRAPH) != NULL &&
         define(c, i[2]);
}

static bool graph_input(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  int32_t k = 0;
  return n == 4 && pte_vgf_int(c, i[3], 32, &k) && k >= 0 && (uint32_t)k < c->model->input_count &&
         is_tensor(c, i[1], (uint32_t)k) && mark(&c->inputs, (uint32_t)k) && define(c, i[2]);
}

/* Its steps are bounded, too: a file must not take the machine for days. */
static bool ext_inst(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  pte_vgf_shape result;
  uint64_t steps = 0;
  if (n < 5 || i[3] != c->tosa || !c->has_graph || !pte_vgf_type_shape(c, i[1], &result))
    return false;
  if (!pte_vgf_tosa_check(c, i[4], i + 5, n - 5, &result, &steps)) return false;
  if (steps > PTE_VGF_MAX_STEPS - c->steps || !has_room(c, &result)) return false;
  c->steps += steps;
  return define(c, i[2]);
}

static bool set_output(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  pte_vgf_shape shape;
  int32_t k = 0;
  if (n != 3 || !pte_vgf_int(c, i[2], 32, &k) || k < 0) return false;
  if ((uint32_t)k >= c->model->output_count || !pte_vgf_value(c, i[1], &shape)) return false;
  pte_vgf_tensor own = pte_vgf_model_tensor(c->model, c->model->input_count + (uint32_t)k);
  return pte_vgf_same_shape(&shape, &own.shape) && mark(&c->outputs, (uint32_t)k);
}

static bool graph_end(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  (void)i;
  bool first = !c->has_end;
  c->has_end = true;
  return first && n == 1;
}

/* --- the module ----------------------------------------------------------------------------- */

/* In the order of a module: a phase never comes before an earlier one. */
static const struct {
  uint32_t opcode, phase;
  bool (*check)(pte_vgf_code *c, const uint32_t *i, uint32_t n);
} rows[] = {
    {OP_CAPABILITY,         0,  capability        },
    {OP_EXTENSION,          1,  extension         },
    {OP_EXT_INST_IMPORT,    2,  import            },
    {OP_MEMORY_MODEL,       3,  memory_model      },
    {OP_NAME,               4,  name              },
    {OP_DECORATE,           5,  decorate          },
    {OP_TYPE_INT,           6,  type_int          },
    {OP_TYPE_BOOL,          6,  type_bool         },
    {OP_TYPE_ARRAY,         6,  type_array        },
    {OP_TYPE_TENSOR,        6,  type_tensor       },
    {OP_TYPE_POINTER,       6,  type_pointer      },
    {OP_VARIABLE,           6,  variable          },
    {OP_TYPE_GRAPH,         6,  type_graph        },
    {OP_CONSTANT,           6,  constant          },
    {OP_CONSTANT_TRUE,      6,  constant_bool     },
    {OP_CONSTANT_FALSE,     6,  constant_bool     },
    {OP_CONSTANT_NULL,      6,  constant_null     },
    {OP_CONSTANT_COMPOSITE, 6,  constant_composite},
    {OP_GRAPH_CONSTANT,     6,  graph_constant    },
    {OP_GRAPH_ENTRY_POINT,  7,  entry_point       },
    {OP_GRAPH,              8,  graph             },
    {OP_GRAPH_INPUT,        9,  graph_input       },
    {OP_EXT_INST,           10, ext_inst          },
    {OP_GRAPH_SET_OUTPUT,   11, set_output        },
    {OP_GRAPH_END,          12, graph_end         },
};

static bool instruction(pte_vgf_code *c, const uint32_t *i, uint32_t n) {
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    if (rows[r].opcode != pte_vgf_opcode(i)) continue;
    bool in_order = rows[r].phase >= c->phase;
    c->phase = rows[r].phase;
    return in_order && rows[r].check(c, i, n);
  }
  return false;
}

static uint32_t ones(uint32_t count) {
  return count >= 32 ? UINT32_MAX : (UINT32_C(1) << count) - 1;
}

/* What has to be there at the end: all that the converter writes. */
static bool is_whole(const pte_vgf_code *c) {
  return c->has_end && c->has_model && c->capabilities == ones(6) && c->extensions == ones(3) &&
         c->inputs == ones(c->model->input_count) && c->outputs == ones(c->model->output_count);
}

uint32_t pte_vgf_spirv_ids(const pte_vgf_model *m) {
  if (m->word_count < HEADER_WORDS || m->words[0] != MAGIC || m->words[1] != VERSION) return 0;
  if (m->words[4] != 0 || m->words[3] > m->word_count) return 0; /* an id takes a word or more */
  return m->words[3];
}

pte_status pte_vgf_spirv_check(const pte_vgf_model *model, uint32_t *ids, pte_error *error) {
  pte_vgf_code c = {.model = model, .words = model->words, .cursor = HEADER_WORDS, .at = ids};
  c.bound = pte_vgf_spirv_ids(model);
  if (c.bound == 0) return pte_delegate_fail(error, "SPIR-V: expected version 1.5; export again");
  memset(ids, 0, c.bound * sizeof *ids);
  while (c.cursor < model->word_count) {
    const uint32_t *i = model->words + c.cursor;
    uint32_t n = pte_vgf_length(i);
    if (n == 0 || n > model->word_count - c.cursor || !instruction(&c, i, n))
      return pte_delegate_fail(
          error, "SPIR-V word %zu (opcode %u): not what the exporter writes; export again",
          c.cursor, (unsigned)pte_vgf_opcode(i));
    c.cursor += n;
  }
  if (!is_whole(&c))
    return pte_delegate_fail(error, "SPIR-V: no complete graph of %u inputs and %u outputs",
                             (unsigned)model->input_count, (unsigned)model->output_count);
  return PTE_OK;
}
