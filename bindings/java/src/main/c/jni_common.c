#include "jni_common.h"

#include <string.h>

static jclass exception_class;
static jmethodID exception_of;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved) {
  JNIEnv *env = NULL;
  (void)reserved;
  if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  jclass found = (*env)->FindClass(env, "dev/pteron/PteronException");
  if (found == NULL) return JNI_ERR;
  exception_class = (*env)->NewGlobalRef(env, found);
  if (exception_class == NULL) return JNI_ERR;
  exception_of =
      (*env)->GetStaticMethodID(env, exception_class, "of", "(IIII[B)Ldev/pteron/PteronException;");
  return exception_of == NULL ? JNI_ERR : JNI_VERSION_1_6;
}

/* --- errors --------------------------------------------------------------------------------- */

static jbyteArray array_of(JNIEnv *env, const char *text) {
  jsize length = (jsize)strlen(text);
  jbyteArray out = (*env)->NewByteArray(env, length);
  if (out != NULL) (*env)->SetByteArrayRegion(env, out, 0, length, (const jbyte *)text);
  return out;
}

bool pte_java_ok(JNIEnv *env, pte_status status, const pte_error *error) {
  if (status == PTE_OK) return true;
  const char *text = error->text[0] != '\0' ? error->text : pte_status_name(status);
  jbyteArray words = array_of(env, text);
  if (words == NULL) return false; /* OutOfMemoryError is pending */
  jobject thrown =
      (*env)->CallStaticObjectMethod(env, exception_class, exception_of, (jint)status,
                                     (jint)error->instr, (jint)error->op, (jint)error->node, words);
  if (!(*env)->ExceptionCheck(env) && thrown != NULL) (void)(*env)->Throw(env, thrown);
  return false;
}

void pte_java_throw(JNIEnv *env, pte_status status, const char *text) {
  pte_error error = {
      .status = (int32_t)status, .instr = PTE_NONE, .op = PTE_NONE, .node = PTE_NONE};
  size_t length = strlen(text);
  if (length >= sizeof error.text) length = sizeof error.text - 1;
  memcpy(error.text, text, length);
  (void)pte_java_ok(env, status, &error);
}

void *pte_java_take(JNIEnv *env, size_t size_bytes, pte_memory *out) {
  if (pte_host_alloc(size_bytes == 0 ? 1 : size_bytes, out) != PTE_OK) {
    *out = (pte_memory){NULL, 0};
    pte_java_throw(env, PTE_NO_MEMORY, "the system has no more memory");
    return NULL;
  }
  return memset(out->data, 0, size_bytes);
}

/* --- bytes ---------------------------------------------------------------------------------- */

/* Ports and axes may share one long name: without this a small file could ask for any amount. */
enum { MOST_BYTES = 1 << 24 };

static void put(pte_java_writer *w, const void *bytes, size_t count) {
  if (w->at != NULL) memcpy(w->at + w->used, bytes, count);
  w->used += count;
}

void pte_java_put_u32(pte_java_writer *w, uint32_t value) { put(w, &value, sizeof value); }
void pte_java_put_i64(pte_java_writer *w, int64_t value) { put(w, &value, sizeof value); }

void pte_java_put_text(pte_java_writer *w, const char *text) {
  size_t length = text == NULL || w->used > MOST_BYTES ? 0 : strlen(text);
  pte_java_put_u32(w, (uint32_t)length);
  put(w, text, length);
}

jbyteArray pte_java_bytes(JNIEnv *env, void (*write)(pte_java_writer *w, const void *of),
                          const void *of) {
  pte_java_writer count = {NULL, 0};
  pte_memory room = {NULL, 0};
  write(&count, of);
  if (count.used > MOST_BYTES) {
    pte_java_throw(env, PTE_LIMIT, "names: expected 16 MiB at most, counted where they are used");
    return NULL;
  }
  pte_java_writer w = {pte_java_take(env, count.used, &room), 0};
  if (w.at == NULL) return NULL;
  write(&w, of);
  jbyteArray out = (*env)->NewByteArray(env, (jsize)w.used);
  if (out != NULL) (*env)->SetByteArrayRegion(env, out, 0, (jsize)w.used, (const jbyte *)w.at);
  pte_host_free(room);
  return out;
}

pte_memory pte_java_text(JNIEnv *env, jbyteArray text) {
  pte_memory out = {NULL, 0};
  jsize length = (*env)->GetArrayLength(env, text);
  if (pte_java_take(env, (size_t)length + 1, &out) != NULL)
    (*env)->GetByteArrayRegion(env, text, 0, length, out.data);
  return out;
}
