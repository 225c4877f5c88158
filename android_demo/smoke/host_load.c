/* Runs the very libpteron_jni.so of the package, on 64-bit Arm Linux under an emulator, through a
 * table of JNI functions of our own: host_load LIBRARY PROGRAM INPUT OUTPUT_BYTES. Prints what
 * pte_host_cpu says and the digest-ready output as hexadecimal. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jni.h>

/* Everything Java has: bytes, numbers, references, buffers. */
typedef struct object {
  jlong count;
  void *data;
} object;

static int thrown;

static object *make(jlong count, size_t element) {
  object *o = malloc(sizeof *o);
  *o = (object){count, calloc((size_t)count + 1, element)};
  return o;
}

static object *at(const void *o) { return (object *)o; }
static jclass find_class(JNIEnv *e, const char *name) { return (void)e, (jclass)name; }
static jobject global(JNIEnv *e, jobject o) { return (void)e, o; }
static void forget(JNIEnv *e, jobject o) { (void)e, (void)o; }
static jmethodID method(JNIEnv *e, jclass c, const char *name, const char *type) {
  (void)e, (void)c, (void)type;
  return (jmethodID)name;
}
static jbyteArray new_bytes(JNIEnv *e, jsize n) { return (void)e, (jbyteArray)make(n, 1); }
static jlongArray new_longs(JNIEnv *e, jsize n) {
  return (void)e, (jlongArray)make(n, sizeof(jlong));
}
static jsize length(JNIEnv *e, jarray a) { return (void)e, (jsize)at(a)->count; }
static jobject element(JNIEnv *e, jobjectArray a, jsize i) {
  return (void)e, ((jobject *)at(a)->data)[i];
}
static void put_bytes(JNIEnv *e, jbyteArray a, jsize i, jsize n, const jbyte *from) {
  (void)e, memcpy((jbyte *)at(a)->data + i, from, (size_t)n);
}
static void put_longs(JNIEnv *e, jlongArray a, jsize i, jsize n, const jlong *from) {
  (void)e, memcpy((jlong *)at(a)->data + i, from, (size_t)n * sizeof *from);
}
static void get_bytes(JNIEnv *e, jbyteArray a, jsize i, jsize n, jbyte *to) {
  (void)e, memcpy(to, (jbyte *)at(a)->data + i, (size_t)n);
}
static void get_longs(JNIEnv *e, jlongArray a, jsize i, jsize n, jlong *to) {
  (void)e, memcpy(to, (jlong *)at(a)->data + i, (size_t)n * sizeof *to);
}
static void get_ints(JNIEnv *e, jintArray a, jsize i, jsize n, jint *to) {
  (void)e, memcpy(to, (jint *)at(a)->data + i, (size_t)n * sizeof *to);
}
static void *address(JNIEnv *e, jobject o) { return (void)e, at(o)->data; }
static jlong capacity(JNIEnv *e, jobject o) { return (void)e, at(o)->count; }
static jboolean pending(JNIEnv *e) { return (void)e, thrown != 0; }
static jobject call(JNIEnv *e, jclass c, jmethodID m, ...) {
  va_list list;
  (void)e, (void)c, (void)m;
  va_start(list, m);
  int status = va_arg(list, jint);
  for (int i = 0; i < 3; i++) (void)va_arg(list, jint);
  object *text = va_arg(list, object *);
  va_end(list);
  fprintf(stderr, "status %d: %.*s\n", status, (int)text->count, (char *)text->data);
  return (jobject)text;
}
static jint throw(JNIEnv *e, jthrowable t) { return (void)e, (void)t, thrown = 1, 0; }

static struct JNINativeInterface_ table;
static JNIEnv env = &table;
static jint get_env(JavaVM *vm, void **out, jint version) {
  (void)vm, (void)version;
  *out = &env;
  return JNI_OK;
}

static object *file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (f == NULL || fseek(f, 0, SEEK_END) != 0) exit(2);
  long size = ftell(f);
  object *o = malloc(sizeof *o);
  *o = (object){size, aligned_alloc(64, ((size_t)size + 64) / 64 * 64)};
  rewind(f);
  if (fread(o->data, 1, (size_t)size, f) != (size_t)size) exit(2);
  fclose(f);
  return o;
}

static object *one(void *of) {
  object *o = make(1, sizeof(void *));
  *(void **)o->data = of;
  return o;
}

static void *library;
static void *find(const char *name) {
  char whole[100];
  snprintf(whole, sizeof whole, "Java_dev_pteron_Native_%s", name);
  void *found = dlsym(library, whole);
  if (found == NULL) fprintf(stderr, "no %s\n", whole), exit(3);
  return found;
}

int main(int argc, char **argv) {
  if (argc != 5 || (library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) == NULL)
    return fprintf(stderr, "%s\n", argc == 5 ? dlerror() : "arguments"), 2;
  table = (struct JNINativeInterface_){.FindClass = find_class,
                                       .NewGlobalRef = global,
                                       .DeleteLocalRef = forget,
                                       .GetStaticMethodID = method,
                                       .NewByteArray = new_bytes,
                                       .NewLongArray = new_longs,
                                       .GetArrayLength = length,
                                       .GetObjectArrayElement = element,
                                       .SetByteArrayRegion = put_bytes,
                                       .SetLongArrayRegion = put_longs,
                                       .GetByteArrayRegion = get_bytes,
                                       .GetLongArrayRegion = get_longs,
                                       .GetIntArrayRegion = get_ints,
                                       .GetDirectBufferAddress = address,
                                       .GetDirectBufferCapacity = capacity,
                                       .ExceptionCheck = pending,
                                       .CallStaticObjectMethod = call,
                                       .Throw = throw};
  struct JNIInvokeInterface_ vm_table = {.GetEnv = get_env};
  JavaVM vm = &vm_table;
  jint (*on_load)(JavaVM *, void *) = (jint (*)(JavaVM *, void *))dlsym(library, "JNI_OnLoad");
  if (on_load == NULL || on_load(&vm, NULL) != JNI_VERSION_1_6) return 4;

  jlong (*open)(JNIEnv *, jclass, void *, void *, jboolean, void *, void *, void *, void *) =
      find("programOpen");
  jint (*cpu)(JNIEnv *, jclass) = find("cpu");
  jlong (*pool_open)(JNIEnv *, jclass, jint) = find("poolOpen");
  jlong (*session_open)(JNIEnv *, jclass, jlong, jint, jint, jlong, jint, jlong, jlong) =
      find("sessionOpen");
  jlongArray (*prepare)(JNIEnv *, jclass, jlong, void *, void *, jint, jlong) =
      find("sessionPrepare");
  jlongArray (*run)(JNIEnv *, jclass, jlong, void *, void *, void *, jlong, jlong, jlong,
                    jboolean) = find("sessionRun");
  void (*session_close)(JNIEnv *, jclass, jlong) = find("sessionClose");
  void (*program_close)(JNIEnv *, jclass, jlong) = find("programClose");

  object *none = make(0, 1), *program_bytes = file(argv[2]), *image = file(argv[3]);
  object *short_program = make(100, 1);
  if (open(&env, NULL, NULL, short_program, 0, none, none, none, none) != 0 || !thrown) return 5;
  thrown = 0;
  object path = {(jlong)strlen(argv[2]), argv[2]};
  jlong program = open(&env, NULL, &path, NULL, 0, none, none, none, none);
  if (program == 0) return 6;
  jlong session =
      session_open(&env, NULL, program, 0, 2, pool_open(&env, NULL, 2), cpu(&env, NULL), 0, 0);
  object *shape = make(4, sizeof(jlong)), *out = make(atol(argv[4]), 1);
  memcpy(shape->data, (jlong[]){1, 1, 8, 8}, 4 * sizeof(jlong));
  if (session == 0 || prepare(&env, NULL, session, one(shape), one(NULL), 0, 0) == NULL) return 7;
  (void)run(&env, NULL, session, one(image), one(out), NULL, -1, 0, 0, 0);
  if (thrown) return 8;
  session_close(&env, NULL, session);
  program_close(&env, NULL, program);
  (void)program_bytes;
  printf("%x ", (unsigned)cpu(&env, NULL));
  for (jlong i = 0; i < out->count; i++) printf("%02x", ((unsigned char *)out->data)[i]);
  printf("\n");
  return 0;
}
