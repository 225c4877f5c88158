/* dev.pteron.Native: the next token. */
#include "jni_common.h"

/* The logits and the room beside them are one block: `room` bytes behind `count` floats. */
static uint32_t draw(JNIEnv *env, const pte_sampling *options, jfloatArray given, uint64_t position,
                     float *logits, uint32_t count, size_t room) {
  pte_error error = {0};
  uint32_t id = 0;
  const pte_memory behind = {logits + count, room};
  (*env)->GetFloatArrayRegion(env, given, 0, (jsize)count, logits);
  pte_status status = pte_sample(options, logits, count, position, behind, &id, &error);
  (void)pte_java_ok(env, status, &error);
  return id;
}

PTE_NATIVE(jint, sample), jfloatArray logits, jint top_k, jfloat temperature, jfloat top_p,
    jfloat min_p, jlong seed, jlong stream, jlong position) {
  const pte_sampling options = {.size = sizeof options,
                                .top_k = (uint32_t)top_k,
                                .temperature = temperature,
                                .top_p = top_p,
                                .min_p = min_p,
                                .seed = (uint64_t)seed,
                                .stream = (uint64_t)stream};
  uint32_t count = (uint32_t)(*env)->GetArrayLength(env, logits);
  size_t room = pte_sample_room(count);
  pte_memory memory;
  (void)cls;
  float *row = pte_java_take(env, count * sizeof *row + room, &memory);
  if (row == NULL) return 0;
  uint32_t id = draw(env, &options, logits, (uint64_t)position, row, count, room);
  pte_host_free(memory);
  return (jint)id;
}
