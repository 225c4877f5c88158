/* A DSP that is a process: qemu-hexagon runs the image; memory is a file without a name that both
 * map; messages go through a pair of sockets, which end when the other side does, and which, unlike
 * pipes, raise no signal here. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create, SOCK_CLOEXEC */
#endif
#include "delegates/hexagon/transport.h"
#include "delegates/payload.h"

#if defined(__linux__) && !defined(__ANDROID__)
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
  REGION_FILE = 3,
  FIRST_FREE_FILE = 8,
  DEFAULT_TIMEOUT_MS = 30000,
  GLANCE_MS = 200,
  UNTIL_MS = 4
};

/* The same file under a number that no file of the child has; the old number is closed. */
static int out_of_the_way(int file) {
  if (file < 0 || file >= FIRST_FREE_FILE) return file;
  int moved = fcntl(file, F_DUPFD_CLOEXEC, FIRST_FREE_FILE);
  close(file);
  return moved;
}

static pte_status missing(const pte_hexagon_config *config, pte_error *error) {
  hexagon_paths paths;
  return hexagon_find_paths(config, &paths, error);
}

/* --- memory --------------------------------------------------------------------------------- */

static pte_status map(hexagon_link *link, uint32_t region_bytes, pte_error *error) {
  *link = (hexagon_link){.socket = -1, .file = -1};
  int file = out_of_the_way(memfd_create("pteron-hexagon", MFD_CLOEXEC));
  if (file < 0) return pte_delegate_fail(error, "no shared memory: %s", strerror(errno));
  void *region = MAP_FAILED;
  if (ftruncate(file, (off_t)region_bytes) == 0)
    region = mmap(NULL, region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (region == MAP_FAILED) {
    pte_delegate_fail(error, "%u bytes of shared memory: %s", (unsigned)region_bytes,
                      strerror(errno));
    close(file);
    return PTE_DELEGATE;
  }
  link->region = region;
  link->region_bytes = region_bytes;
  link->file = file;
  link->is_open = 1;
  return PTE_OK;
}

/* --- process -------------------------------------------------------------------------------- */

/* The child: messages on 0 and 1, memory on 3, its words nowhere, no signal blocked, and a group of
 * its own, so that the interrupt key of a terminal is ours alone. */
static int spawn(const hexagon_paths *paths, int socket, int file, pid_t *out) {
  char *words[] = {(char *)(uintptr_t)paths->emulator, (char *)(uintptr_t)"-cpu",
                   (char *)(uintptr_t)"v67", (char *)(uintptr_t)paths->image, NULL};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  int failed = posix_spawn_file_actions_init(&files);
  if (failed != 0) return failed;
  failed = posix_spawnattr_init(&attributes);
  if (failed == 0) {
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attributes, &none);
    failed |= posix_spawn_file_actions_adddup2(&files, socket, 0);
    failed |= posix_spawn_file_actions_adddup2(&files, socket, 1);
    failed |= posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    failed |= posix_spawn_file_actions_adddup2(&files, file, REGION_FILE);
    if (failed == 0)
      failed = posix_spawn(out, paths->emulator, &files, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

static pte_status open_link(hexagon_link *link, const pte_hexagon_config *config,
                            pte_error *error) {
  hexagon_paths paths;
  int ends[2];
  pid_t process = 0;
  if (hexagon_find_paths(config, &paths, error) != PTE_OK) return PTE_DELEGATE;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return pte_delegate_fail(error, "no sockets: %s", strerror(errno));
  int theirs = out_of_the_way(ends[1]);
  link->socket = ends[0];
  int failed = theirs < 0 ? errno : spawn(&paths, theirs, link->file, &process);
  if (theirs >= 0) close(theirs);
  if (failed != 0)
    return pte_delegate_fail(error, "%.80s does not start: %s", paths.emulator, strerror(failed));
  link->process = process;
  link->owner = getpid();
  link->timeout_ms =
      config == NULL || config->timeout_ms == 0 ? DEFAULT_TIMEOUT_MS : config->timeout_ms;
  return PTE_OK;
}

/* Waits for the process; 1: it has ended (or is no child any more) and how is in `*out_how`. */
static int reap(hexagon_link *link, int options, int *out_how) {
  pid_t got;
  *out_how = 0;
  if (link->process == 0) return 1;
  do got = waitpid((pid_t)link->process, out_how, options);
  while (got < 0 && errno == EINTR);
  if (got == 0) return 0;
  link->process = 0;
  return 1;
}

static void kill_and_reap(hexagon_link *link, int *out_how) {
  if (reap(link, WNOHANG, out_how)) return;
  kill((pid_t)link->process, SIGKILL);
  reap(link, 0, out_how);
}

static int is_ours(const hexagon_link *link) { return link->owner == getpid(); }

static void close_link(hexagon_link *link) {
  int how;
  if (!link->is_open) return;
  if (link->socket >= 0) close(link->socket);
  if (is_ours(link)) kill_and_reap(link, &how);
  munmap(link->region, link->region_bytes);
  close(link->file);
  *link = (hexagon_link){0};
}

/* --- messages ------------------------------------------------------------------------------- */

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static pte_status died(hexagon_link *link, pte_error *error) {
  int how;
  kill_and_reap(link, &how);
  if (link->sequence <= 1 && WIFEXITED(how))
    return pte_delegate_fail(error,
                             "the DSP does not start (exit code %d); correct its emulator "
                             "or image, hexagon_v67.elf",
                             WEXITSTATUS(how));
  if (WIFSIGNALED(how) && WTERMSIG(how) != 0)
    return pte_delegate_fail(error, "the DSP died in the middle of a call (signal %d)",
                             WTERMSIG(how));
  return pte_delegate_fail(error, "the DSP ended in the middle of a call (exit code %d)",
                           WEXITSTATUS(how));
}

/* Until the socket is ready. Looks at the process in between: its end of the socket may live on in
 * a copy of this process. */
static pte_status wait_for(hexagon_link *link, short events, int64_t deadline,
                           const pte_delegate_until *until, pte_error *error) {
  const int64_t glance = until == NULL ? GLANCE_MS : UNTIL_MS;
  for (;;) {
    int how;
    int64_t left = deadline - now_ms();
    if (until != NULL && pte_delegate_left_ns(until) == 0) {
      kill_and_reap(link, &how);
      return pte_delegate_fail(error, "the run was told to end, and with it the DSP");
    }
    if (left <= 0) {
      kill_and_reap(link, &how);
      return pte_delegate_fail(error, "the DSP did not answer in %u ms and was ended",
                               (unsigned)link->timeout_ms);
    }
    struct pollfd file = {link->socket, events, 0};
    int ready = poll(&file, 1, (int)(left < glance ? left : glance));
    if (ready > 0) return PTE_OK;
    if (ready < 0 && errno != EINTR) return pte_delegate_fail(error, "poll: %s", strerror(errno));
    if (ready == 0 && link->process == 0) return died(link, error);
    if (ready == 0 && reap(link, WNOHANG, &how))
      return pte_delegate_fail(error, "the DSP died in the middle of a call");
  }
}

/* Sends or receives all of a message. */
static pte_status transfer(hexagon_link *link, hexagon_message *message, int sends,
                           int64_t deadline, const pte_delegate_until *until, pte_error *error) {
  char *data = (char *)message;
  size_t done = 0;
  while (done < sizeof *message) {
    pte_status status = wait_for(link, sends ? POLLOUT : POLLIN, deadline, until, error);
    if (status != PTE_OK) return status;
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    ssize_t n = sends ? send(link->socket, data + done, sizeof *message - done, flags)
                      : recv(link->socket, data + done, sizeof *message - done, flags);
    if (n > 0) done += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
      return died(link, error);
  }
  return PTE_OK;
}

static pte_status invoke(hexagon_link *link, hexagon_message *message,
                         const pte_delegate_until *until, pte_error *error) {
  int64_t deadline = now_ms() + link->timeout_ms;
  message->magic = HEXAGON_MAGIC;
  message->protocol = HEXAGON_PROTOCOL;
  message->sequence = ++link->sequence;
  message->status = HEXAGON_STATUS_COUNT;
  const hexagon_message sent = *message;
  pte_status status = transfer(link, message, 1, deadline, until, error);
  if (status == PTE_OK) status = transfer(link, message, 0, deadline, until, error);
  if (status != PTE_OK) return status;
  if (message->magic != HEXAGON_MAGIC || message->protocol != HEXAGON_PROTOCOL)
    return pte_delegate_fail(error,
                             "the DSP's image speaks protocol %u, this library %u; build both "
                             "together",
                             (unsigned)message->protocol, HEXAGON_PROTOCOL);
  if (message->sequence != sent.sequence || message->command != sent.command ||
      message->status >= HEXAGON_STATUS_COUNT)
    return pte_delegate_fail(error, "the DSP answered something else than it was asked");
  return PTE_OK;
}

const hexagon_transport hexagon_qemu = {
    .name = "qemu",
    .missing = missing,
    .map = map,
    .open = open_link,
    .invoke = invoke,
    .is_ours = is_ours,
    .close = close_link,
};

#else /* no memfd, and no user-mode qemu */

static pte_status missing(const pte_hexagon_config *config, pte_error *error) {
  (void)config;
  return pte_delegate_fail(error, "qemu-hexagon needs Linux");
}

const hexagon_transport hexagon_qemu = {.name = "qemu", .missing = missing};

#endif
