/* Files and memory of Windows. */
#define WIN32_LEAN_AND_MEAN
#include "host/system.h"

#include <io.h>
#include <malloc.h>
#include <string.h>
#include <windows.h>

void pte_system_machine(pte_machine *m) { (void)m; } /* on x86 the processor says it */

int pte_system_error(void) { return (int)GetLastError(); }

/* In the words of other systems; the rest by number, which Windows documents. */
const char *pte_system_text(int error, char room[PTE_SYSTEM_ROOM]) {
  static const char unnamed[] = "Windows error 0000000000";
  switch (error) {
  case ERROR_FILE_NOT_FOUND:
  case ERROR_PATH_NOT_FOUND:
  case ERROR_INVALID_NAME: return "No such file or directory";
  case ERROR_ACCESS_DENIED: return "Permission denied";
  case ERROR_SHARING_VIOLATION: return "another program has opened it for itself";
  case ERROR_INVALID_HANDLE: return "Bad file descriptor";
  case ERROR_NOT_ENOUGH_MEMORY:
  case ERROR_OUTOFMEMORY: return "Cannot allocate memory";
  default: break;
  }
  memcpy(room, unnamed, sizeof unnamed);
  for (unsigned i = 0, rest = (unsigned)error; i < 10; i++, rest /= 10)
    room[sizeof unnamed - 2 - i] = (char)('0' + rest % 10);
  return room;
}

/* The path in UTF-16, allocated; NULL: it is no UTF-8, or there is no memory. */
static wchar_t *wide(const char *path) {
  const int count = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
  wchar_t *text = count > 0 ? malloc((size_t)count * sizeof *text) : NULL;
  if (text != NULL) (void)MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, text, count);
  return text;
}

bool pte_system_open(const char *path, pte_system_file *out) {
  const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  wchar_t *text = wide(path);
  if (text == NULL) return false;
  const HANDLE file =
      CreateFileW(text, GENERIC_READ, share, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
  const DWORD code = GetLastError();
  free(text);
  SetLastError(code);
  *out = (pte_system_file)file;
  return file != INVALID_HANDLE_VALUE;
}

void pte_system_close(pte_system_file file) { CloseHandle((HANDLE)file); }

pte_system_file pte_system_of_descriptor(int descriptor) {
  return (pte_system_file)_get_osfhandle(descriptor);
}

bool pte_system_measure(pte_system_file file, uint64_t *out_size, bool *out_plain) {
  LARGE_INTEGER size = {.QuadPart = 0};
  SetLastError(ERROR_INVALID_HANDLE);
  if ((HANDLE)file == INVALID_HANDLE_VALUE) return false;
  *out_plain = GetFileType((HANDLE)file) == FILE_TYPE_DISK;
  if (*out_plain && !GetFileSizeEx((HANDLE)file, &size)) return false;
  *out_size = (uint64_t)size.QuadPart;
  return true;
}

void *pte_system_map(pte_system_file file, uint64_t offset, size_t length) {
  const HANDLE whole = CreateFileMappingW((HANDLE)file, NULL, PAGE_READONLY, 0, 0, NULL);
  if (whole == NULL) return NULL;
  void *data =
      MapViewOfFile(whole, FILE_MAP_READ, (DWORD)(offset >> 32), (DWORD)(offset & ~0u), length);
  CloseHandle(whole); /* the view stays */
  return data;
}

void pte_system_unmap(void *data, size_t length) {
  (void)length;
  UnmapViewOfFile(data);
}

uint64_t pte_system_page(void) {
  SYSTEM_INFO about;
  GetSystemInfo(&about);
  return about.dwAllocationGranularity;
}

int64_t pte_system_read(pte_system_file file, void *to, size_t size, uint64_t at) {
  OVERLAPPED place = {.Offset = (DWORD)(at & ~0u), .OffsetHigh = (DWORD)(at >> 32)};
  DWORD got = 0;
  const DWORD most = 1u << 30;
  if (ReadFile((HANDLE)file, to, size < most ? (DWORD)size : most, &got, &place)) return got;
  return GetLastError() == ERROR_HANDLE_EOF ? 0 : -1;
}

void *pte_system_allocate(void *self, size_t size_bytes, size_t align) {
  (void)self;
  return _aligned_malloc(size_bytes, align);
}

void pte_system_release(void *self, void *data, size_t size_bytes) {
  (void)self, (void)size_bytes;
  _aligned_free(data);
}
