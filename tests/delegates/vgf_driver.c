/* Drives the VGF delegate without a session: vgf_driver COMMAND ...
 *
 *   run FOLDER...            payload and in0, in1 ... of each folder -> out0, out1 ...
 *   corrupt PAYLOAD N SEED   N payloads with a few changed bytes: opened, and run where they open
 *   accept                   whether the delegate runs here; says why not
 *   together PAYLOAD N       two instances in two threads, N runs each
 *   hang PAYLOAD             the device does not end in time: the run and close do, and leave it
 * its memory
 *
 * Exits with 0 when all held. Built with sanitizers by test_vgf.py. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "delegates/vgf/graph.h"
#include "driver.h"
#include "pteron/types.h"

const pte_delegate_api *pte_delegate_vgf(void);

typedef struct opened {
  const pte_delegate_api *api;
  void *memory, *instance;
  pte_delegate_io io;
  pte_delegate_tensor tensors[PTE_VGF_MAX_IO];
  pte_error error;
} opened;

/* Room for every tensor of the payload's table. */
static void make_tensors(bytes payload, opened *o) {
  pte_vgf_model model;
  MUST(pte_vgf_model_read(payload.data, payload.size, NULL, &model, &o->error) == PTE_OK);
  for (uint32_t i = 0; i < model.input_count + model.output_count; i++) {
    pte_vgf_tensor own = pte_vgf_model_tensor(&model, i);
    pte_delegate_tensor *t = &o->tensors[i];
    t->dtype = PTE_I8;
    t->rank = (uint8_t)own.shape.rank;
    for (uint32_t k = 0; k < own.shape.rank; k++) t->shape[k] = own.shape.dims[k];
    t->size_bytes = own.size_bytes;
  }
  o->io = (pte_delegate_io){
      o->tensors, o->tensors + model.input_count, model.input_count, model.output_count, 1, 0};
}

static void take_tensors(opened *o) {
  for (uint32_t i = 0; i < o->io.input_count + o->io.output_count; i++) {
    o->tensors[i].data = room((size_t)o->tensors[i].size_bytes);
    memset(o->tensors[i].data, 0x55, (size_t)o->tensors[i].size_bytes);
  }
}

static pte_status open_payload(bytes payload, opened *o) {
  size_t size = 0;
  uint64_t scratch = 0;
  memset(o, 0, sizeof *o);
  o->api = pte_delegate_vgf();
  void *self = o->api->self;
  pte_status status =
      o->api->instance_size(self, PTE_VGF_TARGET, payload.data, payload.size, &size, &o->error);
  if (status != PTE_OK) return status;
  o->memory = room(size);
  pte_memory memory = {o->memory, size};
  status = o->api->open(self, PTE_VGF_TARGET, payload.data, payload.size, memory, &o->instance,
                        &o->error);
  if (status == PTE_OK) {
    make_tensors(payload, o);
    MUST(o->api->prepare(o->instance, &o->io, &scratch, &o->error) == PTE_OK && scratch == 0);
  }
  return status;
}

static void close_payload(opened *o) {
  if (o->instance != NULL) o->api->close(o->instance);
  for (uint32_t i = 0; i < PTE_VGF_MAX_IO; i++) free(o->tensors[i].data);
  free(o->memory);
}

static void must_run(opened *o) {
  pte_status status = o->api->run(o->instance, &o->io, NULL, &(pte_delegate_until){0}, &o->error);
  if (status != PTE_OK) fprintf(stderr, "run: %s\n", o->error.text);
  MUST(status == PTE_OK);
}

static bytes read_of(const char *folder, const char *name, unsigned i) {
  char path[4096];
  snprintf(path, sizeof path, i == ~0u ? "%s/%s" : "%s/%s%u", folder, name, i);
  return read_file(path);
}

static void run_folder(const char *folder) {
  opened o;
  bytes payload = read_of(folder, "payload", ~0u);
  if (open_payload(payload, &o) != PTE_OK) fprintf(stderr, "%s: %s\n", folder, o.error.text);
  MUST(o.instance != NULL);
  memset(payload.data, 0xff, payload.size); /* runs do not look at it */
  take_tensors(&o);
  for (uint32_t i = 0; i < o.io.input_count; i++) {
    bytes in = read_of(folder, "in", i);
    MUST(in.size == o.tensors[i].size_bytes);
    memcpy(o.tensors[i].data, in.data, in.size);
    free(in.data);
  }
  must_run(&o);
  must_run(&o); /* again: nothing is left of the run before */
  for (uint32_t i = 0; i < o.io.output_count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/out%u", folder, i);
    write_file(path, &o.io.outputs[i]);
  }
  close_payload(&o);
  free(payload.data);
}

static uint32_t next(uint64_t *state, uint32_t below) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((*state >> 33) % below);
}

/* One to three changes: a bit, a byte, a small number, one more or less, two words exchanged. */
static void corrupt(bytes payload, uint64_t *seed) {
  for (uint32_t n = 1 + next(seed, 3); n > 0; n--) {
    unsigned char *at = payload.data + next(seed, (uint32_t)payload.size);
    unsigned char *word = payload.data + next(seed, (uint32_t)payload.size / 4) * 4;
    unsigned char *other = payload.data + next(seed, (uint32_t)payload.size / 4) * 4;
    uint32_t value = 0, second = 0;
    memcpy(&value, word, 4);
    memcpy(&second, other, 4);
    switch (next(seed, 5)) {
    case 0: *at ^= (unsigned char)(1u << next(seed, 8)); continue;
    case 1: *at = (unsigned char)next(seed, 256); continue;
    case 2: value = next(seed, 256); break;
    case 3: value += next(seed, 2) == 0 ? 1 : ~0u; break;
    default: memcpy(other, &value, 4), value = second;
    }
    memcpy(word, &value, 4);
  }
}

static void run_corrupt(const char *path, uint32_t count, uint64_t seed) {
  bytes whole = read_file(path), changed = {room(whole.size), whole.size};
  uint32_t refused = 0;
  for (uint32_t i = 0; i < count; i++) {
    opened o;
    memcpy(changed.data, whole.data, whole.size);
    corrupt(changed, &seed);
    if (open_payload(changed, &o) == PTE_OK) {
      take_tensors(&o);
      must_run(&o);
    } else {
      MUST(o.error.text[0] != 0);
      refused++;
    }
    close_payload(&o);
  }
  printf("%u of %u refused\n", (unsigned)refused, (unsigned)count);
  free(whole.data);
  free(changed.data);
}

typedef struct worker {
  bytes payload;
  int count;
  unsigned char *first; /* output 0 of the last run */
  size_t size;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  opened o;
  MUST(open_payload(w->payload, &o) == PTE_OK);
  take_tensors(&o);
  for (int i = 0; i < w->count; i++) must_run(&o);
  w->size = (size_t)o.io.outputs[0].size_bytes;
  w->first = room(w->size);
  memcpy(w->first, o.io.outputs[0].data, w->size);
  close_payload(&o);
  return NULL;
}

static void run_together(const char *path, int count) {
  bytes payload = read_file(path);
  worker workers[2] = {
      {.payload = payload, .count = count},
      {.payload = payload, .count = count}
  };
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) MUST(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  MUST(memcmp(workers[0].first, workers[1].first, workers[0].size) == 0);
  for (int i = 0; i < 2; i++) free(workers[i].first);
  free(payload.data);
}

/* --- a device that hangs --------------------------------------------------------------------- */

static VkResult never(VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all,
                      uint64_t timeout_ns) {
  (void)device, (void)count, (void)fences, (void)all;
  MUST(timeout_ns <= UINT64_C(2000000000)); /* waits without end otherwise */
  return VK_TIMEOUT;
}

static void no_fence(VkDevice device, VkFence fence, const VkAllocationCallbacks *with) {
  (void)device, (void)fence, (void)with;
  MUST(!"destroyed while the device has it");
}

static void no_memory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *with) {
  (void)device, (void)memory, (void)with;
  MUST(!"freed while the device writes to it");
}

static uint64_t later(void *self) { return (*(uint64_t *)self)++; }

static void run_hanging(const char *path) {
  opened o, after;
  bytes payload = read_file(path);
  uint64_t now = 1;
  const pte_delegate_until soon = {.deadline_ns = 9, .now = later, .now_self = &now};
  MUST(open_payload(payload, &o) == PTE_OK);
  take_tensors(&o);
  pte_vgf_device *v = ((pte_vgf_graph *)o.instance)->v, real = *v;
  v->vkWaitForFences = never;
  v->vkDestroyFence = no_fence;
  v->vkFreeMemory = no_memory;
  MUST(o.api->run(o.instance, &o.io, NULL, &soon, &o.error) == PTE_DELEGATE);
  MUST(strstr(o.error.text, "told to end") != NULL);
  close_payload(&o);
  v->vkWaitForFences = real.vkWaitForFences;
  v->vkDestroyFence = real.vkDestroyFence;
  v->vkFreeMemory = real.vkFreeMemory;
  MUST(open_payload(payload, &after) == PTE_OK);
  take_tensors(&after);
  must_run(&after);
  close_payload(&after);
  free(payload.data);
}

int main(int count, char **words) {
  const char *command = count > 1 ? words[1] : "";
  if (strcmp(command, "run") == 0) {
    for (int i = 2; i < count; i++) run_folder(words[i]);
  } else if (strcmp(command, "corrupt") == 0 && count == 5) {
    run_corrupt(words[2], (uint32_t)atoi(words[3]), (uint64_t)atoll(words[4]));
  } else if (strcmp(command, "together") == 0 && count == 4) {
    run_together(words[2], atoi(words[3]));
  } else if (strcmp(command, "hang") == 0 && count == 3) {
    run_hanging(words[2]);
  } else if (strcmp(command, "accept") == 0) {
    pte_error error = {0};
    const pte_delegate_api *api = pte_delegate_vgf();
    int accepted = api->accepts(api->self, PTE_VGF_TARGET, &error);
    printf("%s\n", accepted ? "yes" : error.text);
    return !accepted;
  } else {
    return 2;
  }
  return 0;
}
