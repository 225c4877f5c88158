/* What the files of the Java binding share: statuses as exceptions, bytes to and from Java.
 *
 * Text goes as UTF-8 in byte arrays, never as JNI strings: those are "modified" UTF-8, and what is
 * none ends the process on Android. Handles are addresses of the structs below; the Java classes
 * see to it that none is used after it was closed, nor by two threads. */
#ifndef PTERON_JNI_COMMON_H
#define PTERON_JNI_COMMON_H

#include <jni.h>
#include <stdbool.h>

#include "pteron/delegates.h"
#include "pteron/host.h"

#define PTE_NATIVE(result, name)                                                                   \
  JNIEXPORT result JNICALL Java_dev_pteron_Native_##name(JNIEnv *env, jclass cls

/* Bytes that a program reads: a mapped file, or memory of ours, or of a direct buffer that Java
 * keeps. */
typedef struct pte_java_source {
  const void *data;
  size_t size_bytes;
  pte_memory mapped, owned;
} pte_java_source;

#define PTE_JAVA_DELEGATES 16

typedef struct pte_java_program {
  pte_memory self;
  pte_java_source file;
  uint32_t external_count;
  pte_java_source *external_files; /* and what the runtime keeps of them: */
  pte_external *externals;
  pte_memory *names;
  const pte_delegate_api *delegates[PTE_JAVA_DELEGATES];
  pte_memory memory;
  pte_program *program;
} pte_java_program;

/* Memory of states; sessions that adopted them from each other share it. */
typedef struct pte_java_states {
  pte_memory self, memory;
  uint32_t users;
} pte_java_states;

typedef struct pte_java_session {
  pte_memory self, memory, arena;
  pte_java_states *states;
  const pte_program *program;
  pte_session *session;
  uint32_t method, input_count, output_count;
  pte_machine machine;
  pte_prepare_options options;
} pte_java_session;

/* What Java reads back: numbers in this machine's order, texts as a length and UTF-8. With `at`
 * NULL it only counts. */
typedef struct pte_java_writer {
  unsigned char *at;
  size_t used;
} pte_java_writer;

void pte_java_put_u32(pte_java_writer *w, uint32_t value);
void pte_java_put_i64(pte_java_writer *w, int64_t value);
void pte_java_put_text(pte_java_writer *w, const char *text);

/* A byte array of what `write` writes; NULL with an exception pending where there is no memory, or
 * the words of a program take more than 16 MiB. */
jbyteArray pte_java_bytes(JNIEnv *env, void (*write)(pte_java_writer *w, const void *of),
                          const void *of);

/* Throws PteronException for `status`. True: it was PTE_OK, and nothing is thrown. */
bool pte_java_ok(JNIEnv *env, pte_status status, const pte_error *error);
void pte_java_throw(JNIEnv *env, pte_status status, const char *text);

/* `count` zeroed bytes aligned to 64 that a struct begins with its own pte_memory; NULL: thrown. */
void *pte_java_take(JNIEnv *env, size_t size_bytes, pte_memory *out);

/* A NUL-terminated copy of the array's bytes, for pte_host_free; NULL data: thrown. */
pte_memory pte_java_text(JNIEnv *env, jbyteArray text);

#define PTE_HANDLE(type, handle) ((type *)(intptr_t)(handle))

#endif
