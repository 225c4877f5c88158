/* What pteron.js calls: one program and one session an instance of the module. Memory grows and is
 * given back with the instance. Functions return a pte_status; web_error says more. */
#include <stdbool.h>
#include <string.h>

#include "pteron/pteron.h"

#define EXPORT(name) __attribute__((export_name(#name)))
enum { PORTS = 64, PAGE = 65536, ALIGN = 64 };

extern unsigned char __heap_base;

static struct web {
  pte_program *program;
  pte_session *session;
  uint32_t inputs, outputs;
  pte_port_info in[PORTS], out[PORTS];
  int64_t shapes[PORTS][PTE_MAX_RANK];
  const void *input_data[PORTS];
  void *output_data[PORTS];
  pte_memory arena, state;
  pte_error error;
} web;

static uintptr_t taken; /* end of what has been handed out */

/* Memory that is never given back; 0: the browser has no more. */
EXPORT(web_take) void *web_take(size_t bytes) {
  if (taken == 0) taken = (uintptr_t)&__heap_base;
  uintptr_t start = (taken + ALIGN - 1) / ALIGN * ALIGN;
  if (bytes > UINTPTR_MAX - start) return NULL;
  uintptr_t end = start + bytes, have = __builtin_wasm_memory_size(0) * PAGE;
  if (end > have && __builtin_wasm_memory_grow(0, (end - have + PAGE - 1) / PAGE) == (size_t)-1)
    return NULL;
  taken = end;
  return (void *)start;
}

static pte_status room(pte_memory *out, uint64_t bytes) {
  if (bytes <= out->size_bytes) return PTE_OK;
  out->data = bytes > SIZE_MAX ? NULL : web_take((size_t)bytes);
  out->size_bytes = out->data == NULL ? 0 : (size_t)bytes;
  return out->data == NULL ? PTE_NO_MEMORY : PTE_OK;
}

#define TRY(expr)                                                                                  \
  do {                                                                                             \
    pte_status try_status = (expr);                                                                \
    if (try_status != PTE_OK) return try_status;                                                   \
  } while (0)

static pte_status ports(void) {
  pte_method_info info = {.size = sizeof info};
  TRY(pte_program_method(web.program, 0, &info));
  if (info.input_count > PORTS || info.output_count > PORTS) return PTE_UNSUPPORTED;
  web.inputs = info.input_count;
  web.outputs = info.output_count;
  for (uint32_t i = 0; i < web.inputs; i++) {
    web.in[i].size = sizeof web.in[i];
    TRY(pte_program_input(web.program, 0, i, &web.in[i]));
  }
  for (uint32_t i = 0; i < web.outputs; i++) {
    web.out[i].size = sizeof web.out[i];
    TRY(pte_program_output(web.program, 0, i, &web.out[i]));
  }
  return PTE_OK;
}

/* The program's first method. `bytes`, from web_take, stay as they are. */
EXPORT(web_open) pte_status web_open(const void *bytes, size_t size) {
  pte_memory memory = {NULL, 0};
  size_t needed = 0;
  TRY(pte_program_size(bytes, size, &needed, &web.error));
  TRY(room(&memory, needed));
  TRY(pte_program_open(bytes, size, NULL, memory, &web.program, &web.error));
  memory = (pte_memory){NULL, 0};
  TRY(pte_session_size(web.program, 0, &needed, &web.error));
  TRY(room(&memory, needed));
  TRY(pte_session_open(web.program, 0, memory, &web.session, &web.error));
  return ports();
}

EXPORT(web_count) uint32_t web_count(uint32_t outputs) {
  return outputs ? web.outputs : web.inputs;
}
EXPORT(web_name) const char *web_name(uint32_t outputs, uint32_t i) {
  return outputs ? web.out[i].name : web.in[i].name;
}
EXPORT(web_dtype) const char *web_dtype(uint32_t outputs, uint32_t i) {
  return pte_dtype_name(outputs ? web.out[i].dtype : web.in[i].dtype);
}
EXPORT(web_rank) uint32_t web_rank(uint32_t outputs, uint32_t i) {
  return outputs ? web.out[i].rank : web.in[i].rank;
}
EXPORT(web_set) void web_set(uint32_t i, uint32_t axis, uint32_t extent) {
  web.shapes[i][axis] = extent;
}

/* For the shapes that were set; buffers are taken for inputs and outputs. */
EXPORT(web_prepare) pte_status web_prepare(void) {
  const int64_t *shapes[PORTS];
  for (uint32_t i = 0; i < web.inputs; i++) shapes[i] = web.shapes[i];
  const pte_prepare_options options = {.size = sizeof options, .threads = 1, .shapes = shapes};
  pte_sizes sizes = {.size = sizeof sizes};
  TRY(pte_prepare_size(web.session, &options, &sizes, &web.error));
  TRY(room(&web.arena, sizes.arena_bytes));
  TRY(room(&web.state, sizes.state_bytes));
  TRY(pte_session_prepare(web.session, &options, web.arena, web.state, 0, &web.error));
  for (uint32_t i = 0; i < web.inputs + web.outputs; i++) {
    pte_extents e = {.size = sizeof e};
    bool in = i < web.inputs;
    TRY(in ? pte_session_input(web.session, i, &e)
           : pte_session_output(web.session, i - web.inputs, &e));
    void *data = web_take((size_t)e.size_bytes);
    if (data == NULL) return PTE_NO_MEMORY;
    if (in) web.input_data[i] = data;
    else web.output_data[i - web.inputs] = data;
  }
  return PTE_OK;
}

EXPORT(web_data) const void *web_data(uint32_t outputs, uint32_t i) {
  return outputs ? web.output_data[i] : web.input_data[i];
}
EXPORT(web_extent) uint32_t web_extent(uint32_t i, uint32_t axis) {
  pte_extents e = {.size = sizeof e};
  return pte_session_output(web.session, i, &e) == PTE_OK ? (uint32_t)e.shape[axis] : 0;
}
EXPORT(web_run) pte_status web_run(void) {
  return pte_session_run(web.session, web.input_data, web.output_data, NULL, &web.error);
}
EXPORT(web_error) const char *web_error(void) { return web.error.text; }
