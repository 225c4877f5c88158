#include "tools/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pteron/types.h"

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

static unsigned char *read_file(const char *path, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    return NULL;
  }
  unsigned char *bytes = NULL;
  size_t size = 0, room = 0, got;
  do {
    if (size == room) {
      room = room == 0 ? 1 << 16 : 2 * room;
      unsigned char *grown = realloc(bytes, room);
      if (grown == NULL) break;
      bytes = grown;
    }
    got = fread(bytes + size, 1, room - size, file);
    size += got;
  } while (got != 0);
  fclose(file);
  *out_size = size;
  return bytes;
}

/* The text behind 'key': in a header, or NULL. */
static const char *field(const char *header, const char *key) {
  const char *at = strstr(header, key);
  return at == NULL ? NULL : at + strlen(key);
}

static bool parse_header(const char *header, npy *out) {
  const char *type = field(header, "'descr': '"), *order = field(header, "'fortran_order': ");
  const char *shape = field(header, "'shape': (");
  if (type == NULL || order == NULL || shape == NULL || strncmp(order, "False", 5) != 0)
    return false;
  if (type[0] == '>') return false;
  out->kind = type[1];
  out->size = (uint32_t)strtoul(type + 2, NULL, 10);
  while (*shape != ')' && *shape != 0) {
    char *end;
    long long extent = strtoll(shape, &end, 10);
    if (end == shape || out->rank == PTE_MAX_RANK) return false;
    out->shape[out->rank++] = extent;
    shape = end;
    while (*shape == ',' || *shape == ' ') shape++;
  }
  return out->size != 0;
}

static bool parse(unsigned char *bytes, size_t size, npy *out) {
  uint32_t start, length;
  if (size < 12) return false;
  if (bytes[6] == 1) {
    length = bytes[8] | (uint32_t)bytes[9] << 8;
    start = 10;
  } else {
    memcpy(&length, bytes + 8, 4);
    start = 12;
  }
  if (length > size - start || length == 0) return false;
  bytes[start + length - 1] = 0; /* its newline */
  if (!parse_header((const char *)bytes + start, out)) return false;
  out->bytes = size - start - length;
  memmove(bytes, bytes + start + length, out->bytes); /* aligned as malloc aligns */
  return true;
}

bool npy_read(const char *path, npy *out) {
  size_t size = 0;
  unsigned char *bytes = read_file(path, &size);
  if (bytes == NULL) return false;
  *out = (npy){.data = bytes, .bytes = size};
  if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0) return true;
  if (parse(bytes, size, out)) return true;
  fprintf(stderr, "%s: expected a little-endian .npy file in C order\n", path);
  free(bytes);
  return false;
}

static const char *descr(unsigned dtype) {
  static const char *const names[PTE_DTYPE_COUNT] = {
      [PTE_BOOL] = "|b1", [PTE_I8] = "|i1",  [PTE_I16] = "<i2", [PTE_I32] = "<i4",
      [PTE_I64] = "<i8",  [PTE_U8] = "|u1",  [PTE_U16] = "<u2", [PTE_U32] = "<u4",
      [PTE_U64] = "<u8",  [PTE_F16] = "<f2", [PTE_F32] = "<f4", [PTE_F64] = "<f8"};
  return dtype < PTE_DTYPE_COUNT ? names[dtype] : NULL;
}

bool npy_write(const char *path, unsigned dtype, uint32_t rank, const int64_t *shape,
               const void *data, size_t bytes) {
  const char *type = descr(dtype);
  char dims[PTE_MAX_RANK * 22] = "", header[256];
  size_t used = 0;
  if (type == NULL) used += (size_t)snprintf(dims, sizeof dims, "%zu,", bytes);
  else
    for (uint32_t i = 0; i < rank; i++)
      used += (size_t)snprintf(dims + used, sizeof dims - used, "%lld,", (long long)shape[i]);
  int length =
      snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
               type == NULL ? "|u1" : type, dims);
  while ((10 + length + 1) % 64 != 0) header[length++] = ' ';
  header[length++] = '\n';
  const unsigned char head[4] = {1, 0, (unsigned char)(length & 0xFF),
                                 (unsigned char)(length >> 8)};
  FILE *file = fopen(path, "wb");
  if (file == NULL) {
    perror(path);
    return false;
  }
  bool good = fwrite(magic, 1, 6, file) == 6 && fwrite(head, 1, 4, file) == 4 &&
              fwrite(header, 1, (size_t)length, file) == (size_t)length &&
              fwrite(data, 1, bytes, file) == bytes;
  return fclose(file) == 0 && good;
}
