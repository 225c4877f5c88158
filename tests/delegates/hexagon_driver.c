/* Drives the Hexagon delegate without a session: hexagon_driver IMAGE COMMAND ...
 *
 *   run FOLDER...         payload and in0, in1 ... of each folder -> out0, out1 ...
 *   corrupt PAYLOAD N     N payloads with a few changed words: opened, and run where they open
 *   hostile PAYLOAD N     N lists of changed operations written behind the back of the host's
 * checks: the DSP refuses or runs them, lives on and writes nothing but the arena kill | hang
 * PAYLOAD   the DSP is killed, or stops, in the middle of a call; then runs again cycle PAYLOAD N
 * opened, run and closed N times: files, processes and maps stay as many together PAYLOAD N    two
 * instances in two threads, N runs each refuse PAYLOAD        its first words say why it does not
 * open
 *
 * Exits with 0 when all held. Built with sanitizers by test_hexagon.py. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "delegates/hexagon/hexagon.h"
#include "delegates/hexagon/plan.h"
#include "delegates/hexagon/transport.h"
#include "driver.h"
#include "pteron/types.h"

enum { MAX_TENSORS = 16 };

typedef struct opened {
  pte_delegate_api api;
  void *memory, *instance;
  hexagon_plan plan;
  pte_delegate_io io;
  pte_delegate_tensor tensors[MAX_TENSORS];
  pte_error error;
} opened;

static pte_hexagon_config config;

/* Opens a payload and makes tensors for it; what `open` and `prepare` say. */
static pte_status open_payload(bytes payload, opened *o) {
  memset(o, 0, sizeof *o);
  o->api = *pte_delegate_hexagon();
  o->api.self = &config;
  size_t size = 0;
  pte_status status =
      o->api.instance_size(&config, HEXAGON_TARGET, payload.data, payload.size, &size, &o->error);
  if (status != PTE_OK) return status;
  o->memory = room(size);
  status = o->api.open(&config, HEXAGON_TARGET, payload.data, payload.size,
                       (pte_memory){o->memory, size}, &o->instance, &o->error);
  if (status != PTE_OK) {
    free(o->memory);
    return status;
  }
  MUST(hexagon_plan_read(HEXAGON_TARGET, payload.data, payload.size, NULL, &o->plan, &o->error) ==
       PTE_OK);
  uint32_t count = o->plan.input_count + o->plan.output_count;
  MUST(count <= MAX_TENSORS);
  for (uint32_t i = 0; i < count; i++) {
    hexagon_port port = hexagon_plan_port(&o->plan, i);
    pte_delegate_tensor *t = &o->tensors[i];
    *t = (pte_delegate_tensor){
        .size_bytes = port.size_bytes, .dtype = PTE_I8, .rank = (uint8_t)port.rank};
    for (uint32_t k = 0; k < port.rank; k++) t->shape[k] = port.shape[k];
    t->data = room((size_t)port.size_bytes);
    memset(t->data, 1, (size_t)port.size_bytes);
  }
  o->io = (pte_delegate_io){
      o->tensors, o->tensors + o->plan.input_count, o->plan.input_count, o->plan.output_count, 1,
      0};
  uint64_t scratch = 1;
  MUST(o->api.prepare(o->instance, &o->io, &scratch, &o->error) == PTE_OK && scratch == 0);
  return PTE_OK;
}

static pte_status run_until(opened *o, const pte_delegate_until *until) {
  return o->api.run(o->instance, &o->io, NULL, until, &o->error);
}
static pte_status run_payload(opened *o) { return run_until(o, &(pte_delegate_until){0}); }

static void close_payload(opened *o) {
  o->api.close(o->instance);
  for (uint32_t i = 0; i < o->plan.input_count + o->plan.output_count; i++)
    free(o->tensors[i].data);
  free(o->memory);
}

/* --- run ------------------------------------------------------------------------------------ */

static void run_folder(const char *folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/payload", folder);
  bytes payload = read_file(path);
  opened o;
  if (open_payload(payload, &o) != PTE_OK) {
    fprintf(stderr, "%s: %s\n", folder, o.error.text);
    exit(1);
  }
  memset(payload.data, 0xff, payload.size); /* runs do not look at it */
  for (uint32_t i = 0; i < o.io.input_count; i++) {
    snprintf(path, sizeof path, "%s/in%u", folder, (unsigned)i);
    bytes data = read_file(path);
    MUST(data.size == o.tensors[i].size_bytes);
    memcpy(o.tensors[i].data, data.data, data.size);
    free(data.data);
  }
  if (run_payload(&o) != PTE_OK) {
    fprintf(stderr, "%s: %s\n", folder, o.error.text);
    exit(1);
  }
  for (uint32_t i = 0; i < o.io.output_count; i++) {
    snprintf(path, sizeof path, "%s/out%u", folder, (unsigned)i);
    write_file(path, &o.io.outputs[i]);
  }
  close_payload(&o);
  free(payload.data);
}

/* --- hostile bytes -------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state) { /* splitmix64, Steele, Lea and Flood 2014 */
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

static void corrupt(bytes payload, long count) {
  static const uint32_t words[] = {0, 1, 127, 128, 4096, 0x7fffffff, 0x80000000, 0xffffffff};
  long refused = 0, failed = 0;
  config.timeout_ms = 3000;
  for (long i = 0; i < count; i++) {
    uint64_t state = (uint64_t)i;
    /* mostly where structure is: header, tables and operations lie in front of the weights */
    size_t front = payload.size < 2048 || i % 4 == 0 ? payload.size : 2048;
    bytes copy = {room(payload.size), payload.size};
    memcpy(copy.data, payload.data, payload.size);
    for (int change = 0; change < 1 + i % 3; change++) {
      size_t at = next_random(&state) % (front / 4) * 4;
      uint64_t r = next_random(&state);
      uint32_t value = r % 2 ? words[r / 2 % 8] : (uint32_t)(r >> 32);
      if (r % 3 == 0) copy.data[at + r % 4] = (unsigned char)(r >> 8);
      else memcpy(copy.data + at, &value, 4);
    }
    if (i % 10 == 9) copy.size = next_random(&state) % payload.size;
    opened o;
    if (open_payload(copy, &o) != PTE_OK) {
      MUST(o.error.text[0] != 0);
      refused++;
    } else {
      if (run_payload(&o) != PTE_OK) failed++;
      close_payload(&o);
    }
    free(copy.data);
  }
  printf("%ld refused, %ld failed, %ld ran\n", refused, failed, count - refused - failed);
}

static void start_plain(const hexagon_plan *plan, hexagon_link *link, pte_error *error) {
  const hexagon_layout *l = &plan->layout;
  hexagon_message message = {.command = HEXAGON_LOAD, .layout = *l};
  MUST(hexagon_qemu.map(link, l->region_bytes, error) == PTE_OK);
  memcpy(link->region + l->ops_at, plan->ops, l->op_count * sizeof(hexagon_op));
  memcpy(link->region + l->weights_at, plan->weights, l->weights_bytes);
  MUST(hexagon_qemu.open(link, &config, error) == PTE_OK);
  MUST(hexagon_qemu.invoke(link, &message, NULL, error) == PTE_OK &&
       message.status == HEXAGON_DONE);
}

static void change_op(unsigned char *ops, size_t bytes, uint64_t *state) {
  static const uint32_t words[] = {0, 1, 127, 128, 4096, 0x7fffffff, 0x80000000, 0xffffffff};
  size_t at = next_random(state) % (bytes / 4) * 4;
  uint64_t r = next_random(state);
  uint32_t value;
  memcpy(&value, ops + at, 4);
  switch (r % 4) {
  case 0: value = words[r / 4 % 8]; break;
  case 1: value = (uint32_t)(r >> 32); break;
  case 2: value += 128 * (uint32_t)(r / 4 % 16); break;
  default: value ^= 1u << (r / 4 % 32); break;
  }
  memcpy(ops + at, &value, 4);
}

static void hostile(bytes payload, long count) {
  hexagon_plan plan;
  hexagon_link link = {0};
  pte_error error = {0};
  long refused = 0, slow = 0;
  config.timeout_ms = 2000;
  MUST(hexagon_plan_read(HEXAGON_TARGET, payload.data, payload.size, NULL, &plan, &error) ==
       PTE_OK);
  const hexagon_layout *l = &plan.layout;
  size_t size = l->op_count * sizeof(hexagon_op);
  unsigned char *ops = room(size);
  for (long i = 0; i < count; i++) {
    uint64_t state = (uint64_t)i + 1000000;
    if (!link.is_open) start_plain(&plan, &link, &error);
    memcpy(ops, plan.ops, size);
    for (long change = 0; change < 1 + i % 4; change++) change_op(ops, size, &state);
    memcpy(link.region + l->ops_at, ops, size);
    hexagon_message message = {.command = HEXAGON_RUN};
    if (hexagon_qemu.invoke(&link, &message, NULL, &error) == PTE_OK) {
      refused += message.status != HEXAGON_DONE;
    } else {
      MUST(strstr(error.text, "did not answer") != NULL); /* slow, not dead */
      slow++;
    }
    MUST(memcmp(link.region + l->ops_at, ops, size) == 0);
    MUST(memcmp(link.region + l->weights_at, plan.weights, l->weights_bytes) == 0);
    if (link.process == 0) hexagon_qemu.close(&link);
  }
  hexagon_qemu.close(&link);
  free(ops);
  printf("%ld refused, %ld slow, %ld ran\n", refused, slow, count - refused - slow);
}

/* --- DSPs that die or hang ------------------------------------------------------------------ */

/* The one child of this process. */
static pid_t child(void) {
  char path[64];
  int pid = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *file = fopen(path, "r");
  MUST(file != NULL && fscanf(file, "%d", &pid) == 1);
  fclose(file);
  return pid;
}

static void sleep_ms(long ms) {
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void *kill_soon(void *pid) {
  sleep_ms(100);
  kill(*(pid_t *)pid, SIGKILL);
  return NULL;
}

static void die(bytes payload, int hangs) {
  opened o;
  if (hangs) config.timeout_ms = 300;
  MUST(open_payload(payload, &o) == PTE_OK);
  MUST(run_payload(&o) == PTE_OK);
  size_t size = (size_t)o.io.outputs[0].size_bytes;
  unsigned char *first = room(size);
  memcpy(first, o.io.outputs[0].data, size);
  for (int i = 0; i < 3; i++) {
    pid_t pid = child();
    pthread_t killer;
    kill(pid, SIGSTOP); /* so that the call is under way when it is killed */
    if (!hangs) MUST(pthread_create(&killer, NULL, kill_soon, &pid) == 0);
    MUST(run_payload(&o) == PTE_DELEGATE);
    MUST(strstr(o.error.text, hangs ? "did not answer in 300 ms" : "died") != NULL);
    if (!hangs) pthread_join(killer, NULL);
    MUST(kill(pid, 0) != 0); /* reaped: not even a zombie is left */
    memset(o.io.outputs[0].data, 0, size);
    MUST(run_payload(&o) == PTE_OK); /* by another DSP */
    MUST(memcmp(first, o.io.outputs[0].data, size) == 0);
  }
  pid_t pid = child();
  kill(pid, SIGKILL); /* between calls */
  sleep_ms(50);
  MUST(run_payload(&o) == PTE_DELEGATE);
  close_payload(&o);
  free(first);
  puts(o.error.text);
}

static uint64_t now_ns(void *self) {
  struct timespec now;
  (void)self;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The run's deadline ends a DSP that would take for ever (its own limit is 30 s); the next run
 * starts another. */
static void told_to_end(bytes payload) {
  opened o;
  MUST(open_payload(payload, &o) == PTE_OK);
  for (int i = 0; i < 3; i++) {
    pid_t pid = child();
    volatile int cancel = 0;
    uint64_t begin = now_ns(NULL);
    pte_delegate_until until = {&cancel, begin + 50000000u, now_ns, NULL};
    kill(pid, SIGSTOP);
    MUST(run_until(&o, &until) == PTE_DELEGATE);
    MUST(now_ns(NULL) - begin < 1000000000u);
    MUST(strstr(o.error.text, "told to end") != NULL);
    MUST(kill(pid, 0) != 0);
    MUST(run_payload(&o) == PTE_OK);
    cancel = 1;
    until.deadline_ns = 0;
    MUST(run_until(&o, &until) == PTE_DELEGATE);
    MUST(run_payload(&o) == PTE_OK);
  }
  close_payload(&o);
}

/* --- what is left behind --------------------------------------------------------------------- */

static int count_entries(const char *folder) {
  DIR *d = opendir(folder);
  int count = 0;
  MUST(d != NULL);
  while (readdir(d) != NULL) count++;
  closedir(d);
  return count;
}

static int count_maps(void) {
  FILE *file = fopen("/proc/self/maps", "r");
  char line[4096];
  int count = 0;
  MUST(file != NULL);
  while (fgets(line, sizeof line, file) != NULL) count += strstr(line, "pteron-hexagon") != NULL;
  fclose(file);
  return count;
}

static void cycle(bytes payload, long count) {
  opened o;
  int files = count_entries("/proc/self/fd");
  for (long i = 0; i < count; i++) {
    MUST(open_payload(payload, &o) == PTE_OK);
    if (i % 10 == 0) MUST(run_payload(&o) == PTE_OK);
    MUST(count_maps() == 1);
    pid_t pid = child();
    close_payload(&o);
    MUST(kill(pid, 0) != 0);
  }
  MUST(count_entries("/proc/self/fd") == files);
  MUST(count_maps() == 0);
}

/* --- several -------------------------------------------------------------------------------- */

typedef struct share {
  bytes payload, result;
  long count;
} share;

static void *run_many(void *argument) {
  share *s = argument;
  opened o;
  MUST(open_payload(s->payload, &o) == PTE_OK);
  s->result = (bytes){room((size_t)o.io.outputs[0].size_bytes), (size_t)o.io.outputs[0].size_bytes};
  for (long i = 0; i < s->count; i++) {
    MUST(run_payload(&o) == PTE_OK);
    if (i > 0) MUST(memcmp(s->result.data, o.io.outputs[0].data, s->result.size) == 0);
    memcpy(s->result.data, o.io.outputs[0].data, s->result.size);
  }
  close_payload(&o);
  return NULL;
}

static void together(bytes payload, long count) {
  share shares[2] = {
      {.payload = payload, .count = count},
      {.payload = payload, .count = count}
  };
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) MUST(pthread_create(&threads[i], NULL, run_many, &shares[i]) == 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  MUST(memcmp(shares[0].result.data, shares[1].result.data, shares[0].result.size) == 0);
  for (int i = 0; i < 2; i++) free(shares[i].result.data);
}

int main(int count, char **words) {
  MUST(count >= 4);
  const char *command = words[2];
  config.image = words[1];
  if (strcmp(command, "run") == 0) {
    for (int i = 3; i < count; i++) run_folder(words[i]);
    return 0;
  }
  bytes payload = read_file(words[3]);
  long many = count > 4 ? strtol(words[4], NULL, 10) : 1;
  if (strcmp(command, "corrupt") == 0) corrupt(payload, many);
  else if (strcmp(command, "hostile") == 0) hostile(payload, many);
  else if (strcmp(command, "kill") == 0) die(payload, 0);
  else if (strcmp(command, "hang") == 0) die(payload, 1);
  else if (strcmp(command, "until") == 0) told_to_end(payload);
  else if (strcmp(command, "cycle") == 0) cycle(payload, many);
  else if (strcmp(command, "together") == 0) together(payload, many);
  else if (strcmp(command, "refuse") == 0) {
    opened o;
    MUST(open_payload(payload, &o) == PTE_DELEGATE);
    puts(o.error.text);
  } else MUST(!"a command");
  free(payload.data);
  return 0;
}
