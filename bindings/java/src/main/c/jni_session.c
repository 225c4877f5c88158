/* dev.pteron.Native: sessions. Java holds each session's lock around these. */
#include <string.h>

#include "jni_common.h"

enum { INPUT, OUTPUT, STATE };

/* --- opening and closing -------------------------------------------------------------------- */

static void states_leave(pte_java_states *states) {
  if (states == NULL || __atomic_sub_fetch(&states->users, 1, __ATOMIC_ACQ_REL) != 0) return;
  pte_host_free(states->memory);
  pte_host_free(states->self);
}

static void session_close(pte_java_session *s) {
  pte_session_close(s->session);
  states_leave(s->states);
  if (s->arena.data != NULL) pte_host_free(s->arena);
  if (s->memory.data != NULL) pte_host_free(s->memory);
  pte_host_free(s->self);
}

static bool session_open(JNIEnv *env, pte_java_session *s) {
  pte_error error = {0};
  pte_method_info method = {.size = sizeof method};
  size_t bytes = 0;
  if (!pte_java_ok(env, pte_session_size(s->program, s->method, &bytes, &error), &error))
    return false;
  if (pte_java_take(env, bytes, &s->memory) == NULL) return false;
  pte_status status = pte_session_open(s->program, s->method, s->memory, &s->session, &error);
  if (!pte_java_ok(env, status, &error)) return false;
  if (!pte_java_ok(env, pte_program_method(s->program, s->method, &method), &error)) return false;
  s->input_count = method.input_count;
  s->output_count = method.output_count;
  return true;
}

PTE_NATIVE(jlong, sessionOpen), jlong program, jint method, jint threads, jlong pool, jint cpu,
    jlong max_bytes, jlong max_extent) {
  pte_memory self;
  (void)cls;
  pte_java_session *s = pte_java_take(env, sizeof *s, &self);
  if (s == NULL) return 0;
  s->self = self;
  s->program = PTE_HANDLE(pte_java_program, program)->program;
  s->method = (uint32_t)method;
  s->options = (pte_prepare_options){.size = sizeof s->options,
                                     .threads = (uint32_t)threads,
                                     .pool = PTE_HANDLE(const pte_pool, pool),
                                     .cpu = (uint32_t)cpu,
                                     .max_bytes = (uint64_t)max_bytes,
                                     .max_extent = max_extent,
                                     .machine = &s->machine};
  s->machine.size = sizeof s->machine;
  if (pte_host_machine(&s->machine) == PTE_OK && session_open(env, s)) return (jlong)(intptr_t)s;
  session_close(s);
  return 0;
}

PTE_NATIVE(void, sessionClose), jlong handle) {
  (void)env, (void)cls;
  session_close(PTE_HANDLE(pte_java_session, handle));
}

/* --- preparing ------------------------------------------------------------------------------ */

/* Rows of pointers into one copy of Java's numbers: `rows[i]` numbers of input i, NULL where
 * `given[i]` is. */
static bool rows_of(JNIEnv *env, jobjectArray given, const int64_t **rows, pte_memory *out) {
  jsize count = (*env)->GetArrayLength(env, given);
  size_t total = 0;
  for (jsize i = 0; i < count; i++) {
    jobject row = (*env)->GetObjectArrayElement(env, given, i);
    if (row != NULL) total += (size_t)(*env)->GetArrayLength(env, row) + 1;
    (*env)->DeleteLocalRef(env, row);
  }
  int64_t *at = pte_java_take(env, total * sizeof *at, out);
  if (at == NULL) return false;
  for (jsize i = 0; i < count; i++) {
    jlongArray row = (*env)->GetObjectArrayElement(env, given, i);
    rows[i] = row == NULL ? NULL : at;
    if (row == NULL) continue;
    jsize length = (*env)->GetArrayLength(env, row);
    (*env)->GetLongArrayRegion(env, row, 0, length, (jlong *)at);
    at += length + 1;
    (*env)->DeleteLocalRef(env, row);
  }
  return true;
}

/* States of exactly `bytes`: those there are, those of the session to adopt from, or new ones. */
static bool take_states(JNIEnv *env, pte_java_session *s, uint64_t bytes,
                        const pte_java_session *adopted) {
  if (adopted != NULL) {
    pte_java_states *theirs = adopted->states;
    if (theirs == NULL) {
      pte_java_throw(env, PTE_BAD_ARGUMENT, "adopt: expected a session that was prepared");
      return false;
    }
    __atomic_add_fetch(&theirs->users, 1, __ATOMIC_ACQ_REL);
    states_leave(s->states);
    s->states = theirs;
    return true;
  }
  if (s->states != NULL && s->states->memory.size_bytes == bytes) return true;
  pte_memory self, memory;
  pte_java_states *states = pte_java_take(env, sizeof *states, &self);
  if (states == NULL) return false;
  if (pte_java_take(env, (size_t)bytes, &memory) == NULL) {
    pte_host_free(self);
    return false;
  }
  *states = (pte_java_states){
      self, {memory.data, (size_t)bytes},
       1
  };
  states_leave(s->states);
  s->states = states;
  return true;
}

static bool prepare(JNIEnv *env, pte_java_session *s, const pte_prepare_options *options,
                    const pte_java_session *adopted, int reset, pte_sizes *sizes) {
  pte_error error = {0};
  pte_status status = pte_prepare_size(s->session, options, sizes, &error);
  if (!pte_java_ok(env, status, &error)) return false;
  if (s->arena.data == NULL || s->arena.size_bytes < sizes->arena_bytes) {
    if (s->arena.data != NULL) pte_host_free(s->arena);
    s->arena = (pte_memory){NULL, 0};
    if (pte_host_alloc(sizes->arena_bytes == 0 ? 64 : sizes->arena_bytes, &s->arena) != PTE_OK) {
      s->arena = (pte_memory){NULL, 0};
      pte_java_throw(env, PTE_NO_MEMORY, "arena: the system has no more memory");
      return false;
    }
  }
  if (!take_states(env, s, sizes->state_bytes, adopted)) return false;
  status = pte_session_prepare(s->session, options, s->arena, s->states->memory, reset, &error);
  return pte_java_ok(env, status, &error);
}

PTE_NATIVE(jlongArray, sessionPrepare), jlong handle, jobjectArray shapes, jobjectArray values,
    jint reset, jlong adopted) {
  pte_java_session *s = PTE_HANDLE(pte_java_session, handle);
  pte_memory rows, numbers[2] = {
                       {NULL, 0},
                       {NULL, 0}
  };
  pte_sizes sizes = {.size = sizeof sizes};
  (void)cls;
  const int64_t **row = pte_java_take(env, 2 * s->input_count * sizeof *row, &rows);
  if (row == NULL) return NULL;
  bool made = rows_of(env, shapes, row, &numbers[0]) &&
              rows_of(env, values, row + s->input_count, &numbers[1]);
  pte_prepare_options options = s->options;
  options.shapes = row;
  options.values = row + s->input_count;
  made =
      made && prepare(env, s, &options, PTE_HANDLE(const pte_java_session, adopted), reset, &sizes);
  for (int i = 0; i < 2; i++)
    if (numbers[i].data != NULL) pte_host_free(numbers[i]);
  pte_host_free(rows);
  if (!made) return NULL;
  const jlong told[] = {(jlong)sizes.arena_bytes, (jlong)sizes.planned_bytes,
                        (jlong)sizes.scratch_bytes, (jlong)sizes.state_bytes,
                        (jlong)sizes.kept_bytes};
  jlongArray out = (*env)->NewLongArray(env, 5);
  if (out != NULL) (*env)->SetLongArrayRegion(env, out, 0, 5, told);
  return out;
}

static pte_status extents_of(const pte_java_session *s, jint kind, uint32_t index,
                             pte_extents *out) {
  if (kind == INPUT) return pte_session_input(s->session, index, out);
  if (kind == OUTPUT) return pte_session_output(s->session, index, out);
  return pte_session_state(s->session, index, out);
}

/* Bytes, then the shape. */
PTE_NATIVE(jlongArray, sessionExtents), jlong handle, jint kind, jint index) {
  pte_extents extents = {.size = sizeof extents};
  pte_error error = {.text = "the session is not prepared"};
  jlong told[1 + PTE_MAX_RANK];
  (void)cls;
  const pte_java_session *s = PTE_HANDLE(pte_java_session, handle);
  if (!pte_java_ok(env, extents_of(s, kind, (uint32_t)index, &extents), &error)) return NULL;
  told[0] = (jlong)extents.size_bytes;
  for (uint32_t axis = 0; axis < extents.rank; axis++) told[1 + axis] = extents.shape[axis];
  jlongArray out = (*env)->NewLongArray(env, 1 + extents.rank);
  if (out != NULL) (*env)->SetLongArrayRegion(env, out, 0, 1 + extents.rank, told);
  return out;
}

/* --- running -------------------------------------------------------------------------------- */

typedef struct events {
  pte_memory memory;
  size_t count;
  bool lost;
} events;

enum { EVENT_NUMBERS = 5 };

static void record(void *self, uint32_t instr, uint32_t op, uint32_t node, uint64_t begin,
                   uint64_t end) {
  events *all = self;
  const jlong event[EVENT_NUMBERS] = {instr, op, node, (jlong)begin, (jlong)end};
  size_t at = all->count * sizeof event;
  all->lost |= all->count == INT32_MAX / EVENT_NUMBERS; /* more than a Java array holds */
  if (all->lost) return;
  if (at + sizeof event > all->memory.size_bytes) {
    pte_memory larger;
    if (pte_host_alloc(2 * at + 64 * sizeof event, &larger) != PTE_OK) {
      all->lost = true;
      return;
    }
    if (at != 0) memcpy(larger.data, all->memory.data, at);
    if (all->memory.data != NULL) pte_host_free(all->memory);
    all->memory = larger;
  }
  memcpy((char *)all->memory.data + at, event, sizeof event);
  all->count++;
}

static jlongArray events_given(JNIEnv *env, const events *all) {
  jsize count = (jsize)(all->count * EVENT_NUMBERS);
  if (all->lost) {
    pte_java_throw(env, PTE_NO_MEMORY, "trace: no room for so many events");
    return NULL;
  }
  jlongArray out = (*env)->NewLongArray(env, count);
  if (out != NULL && count != 0) (*env)->SetLongArrayRegion(env, out, 0, count, all->memory.data);
  return out;
}

/* The buffers' addresses; each has the bytes that the session will read or write: a Java class that
 * says otherwise would be a write behind a buffer's end. */
static bool addresses(JNIEnv *env, const pte_java_session *s, jint kind, jobjectArray buffers,
                      const void **out, size_t *sizes) {
  jsize count = (*env)->GetArrayLength(env, buffers);
  for (jsize i = 0; i < count; i++) {
    pte_extents extents = {.size = sizeof extents};
    pte_error error = {.text = "the session is not prepared"};
    jobject buffer = (*env)->GetObjectArrayElement(env, buffers, i);
    out[i] = (*env)->GetDirectBufferAddress(env, buffer);
    jlong capacity = (*env)->GetDirectBufferCapacity(env, buffer);
    (*env)->DeleteLocalRef(env, buffer);
    if (!pte_java_ok(env, extents_of(s, kind, (uint32_t)i, &extents), &error)) return false;
    size_t element = (pte_dtype_bits(extents.dtype) + 7) / 8;
    sizes[i] = (size_t)extents.size_bytes;
    bool fits = capacity >= 0 && (uint64_t)capacity >= extents.size_bytes &&
                (out[i] != NULL || extents.size_bytes == 0) &&
                (element == 0 || (uintptr_t)out[i] % element == 0);
    if (fits) continue;
    pte_java_throw(env, PTE_BAD_ARGUMENT,
                   kind == INPUT
                       ? "input: expected a direct buffer of its bytes, aligned to its element"
                       : "output: expected a direct buffer of its bytes, aligned to its element");
    return false;
  }
  return true;
}

/* No output may share memory with an input or another output. */
static bool apart(JNIEnv *env, const void *const *data, const size_t *sizes, uint32_t inputs,
                  uint32_t all) {
  for (uint32_t o = inputs; o < all; o++) {
    for (uint32_t other = 0; other < o; other++) {
      uintptr_t a = (uintptr_t)data[o], b = (uintptr_t)data[other];
      if (a >= b + sizes[other] || b >= a + sizes[o]) continue;
      pte_java_throw(env, PTE_BAD_ARGUMENT,
                     "output: shares memory with an input or another output");
      return false;
    }
  }
  return true;
}

/* Events (instr, op, node, begin, end, ...), or NULL where none were wanted. */
PTE_NATIVE(jlongArray, sessionRun), jlong handle, jobjectArray inputs, jobjectArray outputs,
    jobject cancel, jlong timeout_ns, jlong max_instructions, jlong max_iterations,
    jboolean trace) {
  pte_java_session *s = PTE_HANDLE(pte_java_session, handle);
  uint32_t count = s->input_count + s->output_count;
  events all = {
      {NULL, 0},
      0, false
  };
  pte_error error = {0};
  pte_memory memory;
  jlongArray told = NULL;
  (void)cls;
  const void **data = pte_java_take(env, count * (sizeof *data + sizeof(size_t)), &memory);
  if (data == NULL) return NULL;
  size_t *sizes = (size_t *)(data + count);
  pte_tracer tracer = {.size = sizeof tracer, .self = &all, .now = pte_host_now, .event = record};
  pte_run_options options = {.size = sizeof options,
                             .now = pte_host_now,
                             .tracer = trace == JNI_TRUE ? &tracer : NULL,
                             .max_instructions = (uint64_t)max_instructions,
                             .max_iterations = (uint64_t)max_iterations};
  if (timeout_ns >= 0) options.deadline_ns = pte_host_now(NULL) + (uint64_t)timeout_ns;
  if (cancel != NULL) options.cancel = (*env)->GetDirectBufferAddress(env, cancel);
  if (addresses(env, s, INPUT, inputs, data, sizes) &&
      addresses(env, s, OUTPUT, outputs, data + s->input_count, sizes + s->input_count) &&
      apart(env, data, sizes, s->input_count, count)) {
    pte_status status =
        pte_session_run(s->session, data, (void *const *)(data + s->input_count), &options, &error);
    if (pte_java_ok(env, status, &error) && trace == JNI_TRUE) told = events_given(env, &all);
  }
  if (all.memory.data != NULL) pte_host_free(all.memory);
  pte_host_free(memory);
  return told;
}

/* --- states and placements -------------------------------------------------------------------- */

PTE_NATIVE(void, sessionGetState), jlong handle, jint index, jobject buffer) {
  pte_error error = {0};
  (void)cls;
  void *data = (*env)->GetDirectBufferAddress(env, buffer);
  size_t size = (size_t)(*env)->GetDirectBufferCapacity(env, buffer);
  const pte_session *session = PTE_HANDLE(pte_java_session, handle)->session;
  (void)pte_java_ok(env, pte_session_get_state(session, (uint32_t)index, data, size, &error),
                    &error);
}

PTE_NATIVE(void, sessionSetState), jlong handle, jint index, jobject buffer) {
  pte_error error = {0};
  (void)cls;
  const void *data = (*env)->GetDirectBufferAddress(env, buffer);
  size_t size = (size_t)(*env)->GetDirectBufferCapacity(env, buffer);
  pte_session *session = PTE_HANDLE(pte_java_session, handle)->session;
  (void)pte_java_ok(env, pte_session_set_state(session, (uint32_t)index, data, size, &error),
                    &error);
}

PTE_NATIVE(void, sessionReset), jlong handle) {
  pte_error error = {0};
  (void)cls;
  (void)pte_java_ok(env, pte_session_reset(PTE_HANDLE(pte_java_session, handle)->session, &error),
                    &error);
}

/* --- a context ------------------------------------------------------------------------------ */

/* How many tokens it holds, and has room for. */
PTE_NATIVE(jlongArray, sessionPosition), jlong handle) {
  int64_t told[2];
  pte_error error = {0};
  (void)cls;
  const pte_session *session = PTE_HANDLE(pte_java_session, handle)->session;
  if (!pte_java_ok(env, pte_session_position(session, &told[0], &told[1], &error), &error))
    return NULL;
  const jlong given[] = {told[0], told[1]};
  jlongArray out = (*env)->NewLongArray(env, 2);
  if (out != NULL) (*env)->SetLongArrayRegion(env, out, 0, 2, given);
  return out;
}

PTE_NATIVE(void, sessionRewind), jlong handle, jlong position) {
  pte_error error = {0};
  (void)cls;
  pte_session *session = PTE_HANDLE(pte_java_session, handle)->session;
  (void)pte_java_ok(env, pte_session_rewind(session, position, &error), &error);
}

PTE_NATIVE(jbyteArray, sessionSave), jlong handle) {
  const pte_session *session = PTE_HANDLE(pte_java_session, handle)->session;
  pte_error error = {0};
  pte_memory memory;
  uint64_t size;
  (void)cls;
  if (!pte_java_ok(env, pte_session_save_size(session, &size, &error), &error)) return NULL;
  if (size > INT32_MAX) {
    pte_java_throw(env, PTE_LIMIT, "save: a byte array holds less than 2 GiB; save states apart");
    return NULL;
  }
  void *data = pte_java_take(env, (size_t)size, &memory);
  if (data == NULL) return NULL;
  jbyteArray out = NULL;
  if (pte_java_ok(env, pte_session_save(session, data, (size_t)size, &error), &error) &&
      (out = (*env)->NewByteArray(env, (jsize)size)) != NULL)
    (*env)->SetByteArrayRegion(env, out, 0, (jsize)size, data);
  pte_host_free(memory);
  return out;
}

PTE_NATIVE(void, sessionRestore), jlong handle, jbyteArray saved) {
  pte_session *session = PTE_HANDLE(pte_java_session, handle)->session;
  jsize size = (*env)->GetArrayLength(env, saved);
  pte_error error = {0};
  pte_memory memory;
  (void)cls;
  void *data = pte_java_take(env, (size_t)size, &memory);
  if (data == NULL) return;
  (*env)->GetByteArrayRegion(env, saved, 0, size, data);
  (void)pte_java_ok(env, pte_session_restore(session, data, (size_t)size, &error), &error);
  pte_host_free(memory);
}

static void write_placements(pte_java_writer *w, const void *of) {
  const pte_session *session = of;
  pte_placement row = {.size = sizeof row};
  for (uint32_t i = 0; pte_session_placement(session, i, &row) == PTE_OK; i++) {
    if (!row.used) continue;
    pte_java_put_u32(w, row.policy);
    pte_java_put_u32(w, row.placed);
    pte_java_put_text(w, row.name);
    pte_java_put_text(w, row.target);
    pte_java_put_text(w, row.reason);
  }
}

PTE_NATIVE(jbyteArray, sessionPlacements), jlong handle) {
  (void)cls;
  return pte_java_bytes(env, write_placements, PTE_HANDLE(pte_java_session, handle)->session);
}
