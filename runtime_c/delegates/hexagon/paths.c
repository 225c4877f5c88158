/* Where the DSP's image and its emulator are. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "delegates/hexagon/transport.h"
#include "delegates/payload.h"

#define IMAGE_NAME "hexagon_v67.elf"
#ifndef PTE_HEXAGON_INSTALLED
#define PTE_HEXAGON_INSTALLED "../lib/pteron" /* from the folder of a program */
#endif

static const char *first_of(const char *given, const char *variable) {
  const char *named = given != NULL ? given : getenv(variable);
  return named != NULL && *named != 0 ? named : NULL;
}

/* 1: `folder`/`name` is a file with these rights; its path is in `out`. */
static int is_there(const char *folder, size_t folder_length, const char *name, int rights,
                    char *out, size_t out_size) {
  int length = snprintf(out, out_size, "%.*s/%s", (int)folder_length, folder, name);
  return length > 0 && (size_t)length < out_size && access(out, rights) == 0;
}

/* In the folder of a library or program, or where `make install` puts it. */
static int find_near(const char *binary, size_t length, char *out, size_t out_size) {
  while (length > 0 && binary[length - 1] != '/') length--;
  if (length == 0) return 0;
  return is_there(binary, length - 1, IMAGE_NAME, R_OK | X_OK, out, out_size) ||
         is_there(binary, length - 1, PTE_HEXAGON_INSTALLED "/" IMAGE_NAME, R_OK | X_OK, out,
                  out_size);
}

/* Near the shared library or program that holds this function. */
static int find_beside(char *out, size_t out_size) {
  Dl_info info;
  char self[4096];
  if (dladdr(IMAGE_NAME, &info) != 0 && info.dli_fname != NULL &&
      find_near(info.dli_fname, strlen(info.dli_fname), out, out_size))
    return 1;
  ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  return length > 0 && find_near(self, (size_t)length, out, out_size);
}

static int find_on_path(const char *name, char *out, size_t out_size) {
  const char *folder = getenv("PATH");
  if (strchr(name, '/') != NULL) {
    int length = snprintf(out, out_size, "%s", name);
    return length > 0 && (size_t)length < out_size && access(out, X_OK) == 0;
  }
  while (folder != NULL && *folder != 0) {
    size_t length = strcspn(folder, ":");
    if (length > 0 && is_there(folder, length, name, X_OK, out, out_size)) return 1;
    folder += length + (folder[length] == ':');
  }
  return 0;
}

pte_status hexagon_find_paths(const pte_hexagon_config *config, hexagon_paths *out,
                              pte_error *error) {
  const char *emulator =
      first_of(config == NULL ? NULL : config->emulator, "PTERON_HEXAGON_EMULATOR");
  const char *image = first_of(config == NULL ? NULL : config->image, "PTERON_HEXAGON_IMAGE");
  int found = emulator != NULL
                  ? find_on_path(emulator, out->emulator, sizeof out->emulator)
                  : find_on_path("qemu-hexagon", out->emulator, sizeof out->emulator) ||
                        find_on_path("qemu-hexagon-static", out->emulator, sizeof out->emulator);
  if (!found)
    return emulator == NULL
               ? pte_delegate_fail(error, "qemu-hexagon is not on PATH; apt-get install qemu-user")
               : pte_delegate_fail(error, "PTERON_HEXAGON_EMULATOR: expected a program, got %s",
                                   emulator);
  if (image == NULL && find_beside(out->image, sizeof out->image)) return PTE_OK;
  if (image == NULL)
    return pte_delegate_fail(error, "no " IMAGE_NAME " here: apt-get install clang-19 lld-19, then "
                                    "build Pteron again");
  int length = snprintf(out->image, sizeof out->image, "%s", image);
  if (length < 0 || (size_t)length >= sizeof out->image || access(out->image, R_OK | X_OK) != 0)
    return pte_delegate_fail(error, "PTERON_HEXAGON_IMAGE: expected an executable, got %s", image);
  return PTE_OK;
}
