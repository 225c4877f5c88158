/* dev.pteron.Native: programs, and what can be asked of them and of this build. */
#include <string.h>

#include "jni_common.h"

/* --- where bytes come from ------------------------------------------------------------------ */

static void source_close(pte_java_source *s) {
  if (s->mapped.data != NULL) pte_host_unmap(s->mapped);
  if (s->owned.data != NULL) pte_host_free(s->owned);
}

static bool source_of_path(JNIEnv *env, jbyteArray path, bool copy, pte_java_source *out) {
  pte_error error = {0};
  pte_memory name = pte_java_text(env, path);
  if (name.data == NULL) return false;
  pte_memory *into = copy ? &out->owned : &out->mapped;
  pte_status status =
      copy ? pte_host_read(name.data, into, &error) : pte_host_map(name.data, into, &error);
  pte_host_free(name);
  out->data = into->data;
  out->size_bytes = into->size_bytes;
  return pte_java_ok(env, status, &error);
}

/* Used in place where it lies on a multiple of 64, else copied. */
static bool source_of_buffer(JNIEnv *env, jobject buffer, bool copy, pte_java_source *out) {
  const void *data = (*env)->GetDirectBufferAddress(env, buffer);
  jlong size = (*env)->GetDirectBufferCapacity(env, buffer);
  if (data == NULL || size < 0) {
    pte_java_throw(env, PTE_BAD_ARGUMENT, "bytes: expected a direct buffer");
    return false;
  }
  out->data = data;
  out->size_bytes = (size_t)size;
  if (!copy && (uintptr_t)data % 64 == 0) return true;
  if (pte_java_take(env, (size_t)size, &out->owned) == NULL) return false;
  out->data = memcpy(out->owned.data, data, (size_t)size);
  return true;
}

static bool source_open(JNIEnv *env, jbyteArray path, jobject buffer, bool copy,
                        pte_java_source *out) {
  return path != NULL ? source_of_path(env, path, copy, out)
                      : source_of_buffer(env, buffer, copy, out);
}

/* --- opening -------------------------------------------------------------------------------- */

/* What the caller handed over, in Java. */
typedef struct given {
  jobjectArray names, paths, buffers; /* of the externals: byte[], byte[] or ByteBuffer */
  jintArray delegates;
  bool copy;
} given;

static bool open_externals(JNIEnv *env, const given *from, pte_java_program *p) {
  for (uint32_t i = 0; i < p->external_count; i++) {
    jbyteArray name = (*env)->GetObjectArrayElement(env, from->names, (jsize)i);
    jbyteArray path = (*env)->GetObjectArrayElement(env, from->paths, (jsize)i);
    jobject buffer = (*env)->GetObjectArrayElement(env, from->buffers, (jsize)i);
    pte_java_source *file = &p->external_files[i];
    p->names[i] = pte_java_text(env, name);
    if (p->names[i].data == NULL || !source_open(env, path, buffer, from->copy, file)) return false;
    p->externals[i] = (pte_external){p->names[i].data, file->data, file->size_bytes};
    (*env)->DeleteLocalRef(env, name);
    (*env)->DeleteLocalRef(env, path);
    (*env)->DeleteLocalRef(env, buffer);
  }
  return true;
}

static bool open_program(JNIEnv *env, const given *from, pte_java_program *p) {
  jint chosen[PTE_JAVA_DELEGATES];
  pte_error error = {0};
  size_t bytes = 0;
  jsize count = (*env)->GetArrayLength(env, from->delegates);
  if (count > PTE_JAVA_DELEGATES) count = PTE_JAVA_DELEGATES;
  (*env)->GetIntArrayRegion(env, from->delegates, 0, count, chosen);
  for (jsize i = 0; i < count; i++) p->delegates[i] = pte_delegates_at((uint32_t)chosen[i]);
  if (!open_externals(env, from, p)) return false;
  pte_open_options options = {.size = sizeof options,
                              .external_count = p->external_count,
                              .externals = p->externals,
                              .delegate_count = (uint32_t)count,
                              .delegates = p->delegates};
  const pte_java_source *file = &p->file;
  pte_status status = pte_program_size(file->data, file->size_bytes, &bytes, &error);
  if (!pte_java_ok(env, status, &error)) return false;
  if (pte_java_take(env, bytes, &p->memory) == NULL) return false;
  status = pte_program_open(file->data, file->size_bytes, &options, p->memory, &p->program, &error);
  return pte_java_ok(env, status, &error);
}

static void program_close(pte_java_program *p) {
  source_close(&p->file);
  for (uint32_t i = 0; i < p->external_count; i++) {
    source_close(&p->external_files[i]);
    if (p->names[i].data != NULL) pte_host_free(p->names[i]);
  }
  if (p->memory.data != NULL) pte_host_free(p->memory);
  pte_host_free(p->self);
}

PTE_NATIVE(jlong, programOpen), jbyteArray path, jobject buffer, jboolean copy,
    jobjectArray names, jobjectArray paths, jobjectArray buffers, jintArray delegates) {
  (void)cls;
  const given from = {names, paths, buffers, delegates, copy == JNI_TRUE};
  uint32_t count = (uint32_t)(*env)->GetArrayLength(env, names);
  size_t row = sizeof(pte_java_source) + sizeof(pte_external) + sizeof(pte_memory);
  pte_memory self;
  pte_java_program *p = pte_java_take(env, sizeof *p + count * row, &self);
  if (p == NULL) return 0;
  p->self = self;
  p->external_count = count;
  p->external_files = (pte_java_source *)(p + 1);
  p->externals = (pte_external *)(p->external_files + count);
  p->names = (pte_memory *)(p->externals + count);
  if (source_open(env, path, buffer, from.copy, &p->file) && open_program(env, &from, p))
    return (jlong)(intptr_t)p;
  program_close(p);
  return 0;
}

PTE_NATIVE(void, programClose), jlong handle) {
  (void)env, (void)cls;
  program_close(PTE_HANDLE(pte_java_program, handle));
}

PTE_NATIVE(void, programCheck), jlong handle) {
  pte_error error = {0};
  (void)cls;
  const pte_program *program = PTE_HANDLE(pte_java_program, handle)->program;
  (void)pte_java_ok(env, pte_program_check_digests(program, &error), &error);
}

/* --- what can be asked: read back by Description.java ----------------------------------------- */

typedef pte_status port_query(const pte_program *, uint32_t, uint32_t, pte_port_info *);

static void write_port(pte_java_writer *w, const pte_port_info *port) {
  pte_java_put_text(w, port->name);
  pte_java_put_u32(w, port->dtype);
  pte_java_put_u32(w, port->shape_input);
  pte_java_put_u32(w, port->rank);
  for (uint32_t axis = 0; axis < port->rank; axis++) {
    pte_java_put_i64(w, port->shape[axis]);
    pte_java_put_i64(w, port->minimum[axis]);
    pte_java_put_i64(w, port->maximum[axis]);
    pte_java_put_text(w, port->symbol[axis]);
  }
}

static void write_ports(pte_java_writer *w, const pte_program *program, uint32_t method,
                        uint32_t count, port_query *ask) {
  pte_java_put_u32(w, count);
  for (uint32_t i = 0; i < count; i++) {
    pte_port_info port = {.size = sizeof port};
    if (ask(program, method, i, &port) != PTE_OK) port.rank = 0;
    write_port(w, &port);
  }
}

static void write_program(pte_java_writer *w, const void *of) {
  const pte_program *program = of;
  pte_program_info info = {.size = sizeof info};
  if (pte_program_get_info(program, &info) != PTE_OK) info.method_count = 0;
  pte_java_put_u32(w, info.instr_count);
  pte_java_put_u32(w, info.node_count);
  pte_java_put_u32(w, info.delegate_count);
  pte_java_put_i64(w, (int64_t)info.file_bytes);
  pte_java_put_i64(w, (int64_t)info.constant_bytes);
  pte_java_put_text(w, info.producer);
  pte_java_put_text(w, info.model);
  pte_java_put_u32(w, info.method_count);
  for (uint32_t m = 0; m < info.method_count; m++) {
    pte_method_info method = {.size = sizeof method};
    if (pte_program_method(program, m, &method) != PTE_OK) method.name = "";
    pte_java_put_text(w, method.name);
    write_ports(w, program, m, method.input_count, pte_program_input);
    write_ports(w, program, m, method.output_count, pte_program_output);
    write_ports(w, program, m, method.state_count, pte_program_state);
  }
}

PTE_NATIVE(jbyteArray, programDescribe), jlong handle) {
  (void)cls;
  return pte_java_bytes(env, write_program, PTE_HANDLE(pte_java_program, handle)->program);
}

static void write_instr(pte_java_writer *w, const void *of) {
  const pte_instr_info *instr = of;
  pte_java_put_u32(w, instr->op);
  pte_java_put_u32(w, instr->node);
  pte_java_put_text(w, instr->op_name);
}

PTE_NATIVE(jbyteArray, programInstr), jlong handle, jint index) {
  pte_instr_info info = {.size = sizeof info};
  (void)cls;
  const pte_program *program = PTE_HANDLE(pte_java_program, handle)->program;
  if (pte_program_instr(program, (uint32_t)index, &info) == PTE_OK)
    return pte_java_bytes(env, write_instr, &info);
  pte_java_throw(env, PTE_BAD_ARGUMENT, "instr: the program has none of this index");
  return NULL;
}

static void write_node(pte_java_writer *w, const void *of) {
  const pte_node_info *node = of;
  pte_java_put_text(w, node->name);
  pte_java_put_text(w, node->type);
  pte_java_put_text(w, node->source);
}

PTE_NATIVE(jbyteArray, programNode), jlong handle, jint index) {
  pte_node_info info = {.size = sizeof info};
  (void)cls;
  const pte_program *program = PTE_HANDLE(pte_java_program, handle)->program;
  if (pte_program_node(program, (uint32_t)index, &info) == PTE_OK)
    return pte_java_bytes(env, write_node, &info);
  pte_java_throw(env, PTE_BAD_ARGUMENT, "node: the program has none of this index");
  return NULL;
}

/* --- this build and this machine -------------------------------------------------------------- */

static void write_delegates(pte_java_writer *w, const void *of) {
  (void)of;
  pte_java_put_u32(w, pte_delegates_count());
  for (uint32_t i = 0; i < pte_delegates_count(); i++)
    pte_java_put_text(w, pte_delegates_name(pte_delegates_at(i)));
}

PTE_NATIVE(jbyteArray, delegates)) {
  (void)cls;
  return pte_java_bytes(env, write_delegates, NULL);
}

PTE_NATIVE(jint, cpu)) {
  (void)env, (void)cls;
  return (jint)pte_host_cpu();
}

PTE_NATIVE(jint, processors)) {
  (void)env, (void)cls;
  return (jint)pte_host_processors();
}

/* Lives until the process ends; NULL, thrown, where the system has no more threads. */
PTE_NATIVE(jlong, poolOpen), jint threads) {
  pte_host_pool_options options = {.size = sizeof options, .threads = (uint32_t)threads};
  pte_error error = {0};
  pte_pool *pool = NULL;
  (void)cls;
  (void)pte_java_ok(env, pte_host_pool_open(&options, &pool, &error), &error);
  return (jlong)(intptr_t)pool;
}
