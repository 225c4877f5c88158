/* The VGF delegate: TOSA graphs through Vulkan's data graphs, on an NPU, a GPU or Arm's emulation.
 *
 * `open` proves the payload (model.h, spirv.h) before Vulkan sees a byte of it. Shapes are fixed in
 * the payload, so `prepare` only compares. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include <string.h>
#include <time.h>

#include "delegates/vgf/device.h"
#include "delegates/vgf/graph.h"
#include "delegates/vgf/model.h"
#include "delegates/vgf/spirv.h"
#include "pteron/types.h"

enum { ALIGN = 64 };

/* Targets "vgf-tosa-1.0". The build's table of delegates declares it too. */
const pte_delegate_api *pte_delegate_vgf(void);

static size_t aligned(size_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

static pte_status lost(const pte_vgf_device *v, pte_error *error) {
  return pte_delegate_fail(error, "process %d has the device, and this is a forked child of it",
                           (int)v->owner);
}

static int accepts(void *self, const char *target, pte_error *error) {
  pte_vgf_device *v = self;
  if (strcmp(target, PTE_VGF_TARGET) != 0) {
    (void)pte_delegate_fail(error, "it runs " PTE_VGF_TARGET " alone");
    return 0;
  }
  if (pte_vgf_device_is_lost(v)) return lost(v, error) == PTE_OK;
  pthread_mutex_lock(&v->lock);
  pte_status status = pte_vgf_device_open(v, error);
  pthread_mutex_unlock(&v->lock);
  return status == PTE_OK;
}

/* An instance: the graph, its copy of the payload, then what opening it needs: ids, or plans and
 * constants. */
static size_t work_bytes(const pte_vgf_model *model) {
  size_t tensors = model->input_count + model->output_count + (size_t)model->constant_count;
  size_t ids = pte_vgf_spirv_ids(model) * sizeof(uint32_t);
  size_t plans = tensors * (sizeof(pte_vgf_plan) + sizeof(VkDataGraphPipelineConstantARM));
  return ids > plans ? ids : plans;
}

static pte_status instance_size(void *self, const char *target, const void *blob, size_t blob_bytes,
                                size_t *out_bytes, pte_error *error) {
  (void)self, (void)target;
  pte_vgf_model model;
  pte_payload_room room = {NULL, 0, 0};
  pte_status status = pte_vgf_model_read(blob, blob_bytes, &room, &model, error);
  if (status == PTE_OK)
    *out_bytes = aligned(sizeof(pte_vgf_graph)) + (size_t)room.used + work_bytes(&model);
  return status;
}

static pte_status open_instance(void *self, const char *target, const void *blob, size_t blob_bytes,
                                pte_memory memory, void **out, pte_error *error) {
  (void)target;
  pte_vgf_device *v = self;
  pte_vgf_graph *g = memory.data;
  const size_t kept_at = aligned(sizeof *g);
  if (memory.size_bytes < kept_at)
    return pte_delegate_fail(error, "an instance takes %zu bytes", kept_at);
  pte_payload_room room = {(unsigned char *)memory.data + kept_at, memory.size_bytes - kept_at, 0};
  memset(g, 0, sizeof *g);
  g->v = v;
  pte_status status = pte_vgf_model_read(blob, blob_bytes, &room, &g->model, error);
  if (status != PTE_OK) return status;
  if (work_bytes(&g->model) > room.size - room.used)
    return pte_delegate_fail(error, "payload: it changed while it was opened");
  if (pte_vgf_device_is_lost(v)) return lost(v, error);
  void *work = room.data + room.used;
  status = pte_vgf_spirv_check(&g->model, work, error);
  if (status != PTE_OK) return status;
  pthread_mutex_lock(&v->lock);
  status = pte_vgf_device_open(v, error);
  if (status == PTE_OK) status = pte_vgf_graph_open(g, work, error);
  pthread_mutex_unlock(&v->lock);
  if (status == PTE_OK) *out = g;
  return status;
}

static bool matches(const pte_delegate_tensor *given, const pte_vgf_model *model, uint32_t i) {
  pte_vgf_tensor own = pte_vgf_model_tensor(model, i);
  if (given->dtype != PTE_I8 || given->rank != own.shape.rank) return false;
  for (uint32_t k = 0; k < own.shape.rank; k++)
    if (given->shape[k] != own.shape.dims[k]) return false;
  return given->size_bytes == own.size_bytes;
}

static pte_status prepare(void *instance, const pte_delegate_io *io, uint64_t *out_scratch_bytes,
                          pte_error *error) {
  const pte_vgf_model *model = &((const pte_vgf_graph *)instance)->model;
  uint32_t inputs = model->input_count, outputs = model->output_count;
  if (io->input_count != inputs || io->output_count != outputs)
    return pte_delegate_fail(
        error, "expected %u inputs and %u outputs, got %u and %u; export again", (unsigned)inputs,
        (unsigned)outputs, (unsigned)io->input_count, (unsigned)io->output_count);
  for (uint32_t i = 0; i < inputs + outputs; i++)
    if (!matches(i < inputs ? &io->inputs[i] : &io->outputs[i - inputs], model, i))
      return pte_delegate_fail(
          error, "%s %u is not int8 of the compiled shape; export for its shape",
          i < inputs ? "input" : "output", (unsigned)(i < inputs ? i : i - inputs));
  *out_scratch_bytes = 0;
  return PTE_OK;
}

/* The lock, which another session may hold for as long as its graph takes. */
static pte_status lock_until(pte_vgf_device *v, const pte_delegate_until *until, pte_error *error) {
  const struct timespec glance = {0, 1000000};
  while (pthread_mutex_trylock(&v->lock) != 0) {
    if (pte_delegate_left_ns(until) == 0)
      return pte_delegate_fail(error, "the run was told to end");
    (void)nanosleep(&glance, NULL);
  }
  return PTE_OK;
}

static pte_status run(void *instance, const pte_delegate_io *io, void *scratch,
                      const pte_delegate_until *until, pte_error *error) {
  (void)scratch;
  pte_vgf_graph *g = instance;
  if (pte_vgf_device_is_lost(g->v)) return lost(g->v, error);
  pte_status status = lock_until(g->v, until, error);
  if (status != PTE_OK) return status;
  status = pte_vgf_graph_run(g, io, until, error);
  pthread_mutex_unlock(&g->v->lock);
  return status;
}

static void close_instance(void *instance) {
  pte_vgf_graph *g = instance;
  if (pte_vgf_device_is_lost(g->v)) return;
  pthread_mutex_lock(&g->v->lock);
  pte_vgf_graph_close(g);
  pthread_mutex_unlock(&g->v->lock);
}

const pte_delegate_api *pte_delegate_vgf(void) {
  /* The one object of the delegate that lives as long as the process; reached through `self`. */
  static pte_vgf_device device = {.lock = PTHREAD_MUTEX_INITIALIZER};
  static const pte_delegate_api api = {
      .size = sizeof(pte_delegate_api),
      .version = PTE_DELEGATE_VERSION,
      .name = "vgf",
      .self = &device,
      .accepts = accepts,
      .instance_size = instance_size,
      .open = open_instance,
      .prepare = prepare,
      .run = run,
      .close = close_instance,
  };
  return &api;
}
