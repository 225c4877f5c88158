/* A service on a Unix socket: runs a program for whoever asks, one request after the other.
 *
 *   cc serve.c $(pkg-config --cflags --libs pteron) -o serve
 *   ./serve model.pte /run/pteron.sock [SYMBOL=SIZE ...]
 *
 * Request: u32 count, then the inputs' elements one behind the other, `count` bytes in all. Answer:
 * u32 status, u32 count, then the outputs likewise, or the failure's text. Numbers have the
 * machine's byte order. A connection may send any number of requests; a silent one is dropped after
 * SILENCE seconds, so that nobody keeps the others waiting. Sizes that the model leaves open are
 * those given, or the smallest. SIGTERM and SIGINT end it and remove the socket. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <pteron/host.h>

enum { PORTS = 64, SILENCE = 5, WAITING = 16 };

typedef struct service {
  pte_host_model *model;
  uint32_t inputs, outputs;
  const void *in[PORTS];
  void *out[PORTS];
  unsigned char *request, *answer; /* all inputs, all outputs; each begins on a multiple of 8 */
  uint32_t in_bytes[PORTS], out_bytes[PORTS], request_bytes, answer_bytes;
} service;

static volatile sig_atomic_t ending;
static void end(int signal) {
  (void)signal;
  ending = 1;
}

static void fail(const char *what, const char *text) {
  fprintf(stderr, "%s: %s\n", what, text);
  exit(1);
}

static void check(pte_status status, const pte_error *error) {
  if (status != PTE_OK) fail(pte_status_name(status), error->text);
}

/* --- the model ------------------------------------------------------------------------------ */

static int64_t extent(const pte_port_info *port, uint32_t axis, int count, char **words) {
  if (port->shape[axis] >= 0) return port->shape[axis];
  size_t length = strlen(port->symbol[axis]);
  for (int i = 3; i < count; i++)
    if (strncmp(words[i], port->symbol[axis], length) == 0 && words[i][length] == '=')
      return strtoll(words[i] + length + 1, NULL, 10);
  return port->minimum[axis] > 1 ? port->minimum[axis] : 1;
}

static void prepare(service *s, int count, char **words) {
  static int64_t shapes[PORTS][PTE_MAX_RANK];
  const int64_t *rows[PORTS];
  const pte_program *program = pte_host_model_program(s->model);
  pte_error error = {0};
  pte_method_info method = {.size = sizeof method};
  check(pte_program_method(program, 0, &method), &error);
  if (method.input_count > PORTS || method.output_count > PORTS) fail(words[1], "too many ports");
  s->inputs = method.input_count;
  s->outputs = method.output_count;
  for (uint32_t i = 0; i < s->inputs; i++) {
    pte_port_info port = {.size = sizeof port};
    check(pte_program_input(program, 0, i, &port), &error);
    if (port.shape_input) fail(port.name, "its values decide sizes: not for this service");
    for (uint32_t axis = 0; axis < port.rank; axis++)
      shapes[i][axis] = extent(&port, axis, count, words);
    rows[i] = shapes[i];
  }
  check(pte_host_model_prepare(s->model, rows, NULL, NULL, &error), &error);
}

/* Adds `bytes` behind what is there; the place of the new ones, in units of the buffer. */
static uint32_t add(uint32_t *room, uint64_t bytes) {
  uint32_t at = (*room + 7u) & ~7u;
  if (bytes > (1u << 28)) fail("ports", "more than 256 MB");
  *room = at + (uint32_t)bytes;
  return at;
}

static void take_buffers(service *s) {
  const pte_session *session = pte_host_model_session(s->model);
  uint32_t in_at[PORTS], out_at[PORTS], in_room = 0, out_room = 0;
  pte_error none = {.text = "has no extents"};
  for (uint32_t i = 0; i < s->inputs + s->outputs; i++) {
    pte_extents e = {.size = sizeof e};
    const bool in = i < s->inputs;
    const uint32_t port = in ? i : i - s->inputs;
    check(in ? pte_session_input(session, port, &e) : pte_session_output(session, port, &e), &none);
    (in ? in_at : out_at)[port] = add(in ? &in_room : &out_room, e.size_bytes);
    (in ? s->in_bytes : s->out_bytes)[port] = (uint32_t)e.size_bytes;
    *(in ? &s->request_bytes : &s->answer_bytes) += (uint32_t)e.size_bytes;
  }
  s->request = calloc(1, in_room + 1u);
  s->answer = calloc(1, out_room + 1u);
  if (s->request == NULL || s->answer == NULL) fail("serve", "out of memory");
  for (uint32_t i = 0; i < s->inputs; i++) s->in[i] = s->request + in_at[i];
  for (uint32_t i = 0; i < s->outputs; i++) s->out[i] = s->answer + out_at[i];
}

/* --- the socket ----------------------------------------------------------------------------- */

/* All of it, or false: the other side is gone, silent, or we are to end. */
static bool receive(int file, void *to, size_t count) {
  for (unsigned char *at = to; count > 0 && !ending;) {
    ssize_t got = recv(file, at, count, 0);
    if (got <= 0 && !(got < 0 && errno == EINTR)) return false;
    if (got > 0) at += got, count -= (size_t)got;
  }
  return count == 0;
}

static bool put(int file, const void *from, size_t count) {
  for (const unsigned char *at = from; count > 0 && !ending;) {
    ssize_t sent = send(file, at, count, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) at += sent, count -= (size_t)sent;
  }
  return count == 0;
}

static bool refuse(int file, pte_status status, const char *text) {
  const uint32_t head[2] = {status, (uint32_t)strlen(text)};
  return put(file, head, sizeof head) && put(file, text, head[1]);
}

/* One request; false: the connection is done. */
static bool answer(service *s, int file) {
  uint32_t count = 0;
  pte_error error = {0};
  if (!receive(file, &count, sizeof count)) return false;
  if (count != s->request_bytes) {
    char text[96];
    snprintf(text, sizeof text, "request: expected %u bytes, got %u", s->request_bytes, count);
    refuse(file, PTE_BAD_ARGUMENT, text);
    return false; /* what follows cannot be told apart */
  }
  for (uint32_t i = 0; i < s->inputs; i++)
    if (!receive(file, (void *)(uintptr_t)s->in[i], s->in_bytes[i])) return false;
  pte_status status = pte_host_model_run(s->model, s->in, s->out, NULL, &error);
  if (status != PTE_OK) return refuse(file, status, error.text);
  const uint32_t head[2] = {PTE_OK, s->answer_bytes};
  if (!put(file, head, sizeof head)) return false;
  for (uint32_t i = 0; i < s->outputs; i++)
    if (!put(file, s->out[i], s->out_bytes[i])) return false;
  return true;
}

static int listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int file = socket(AF_UNIX, SOCK_STREAM, 0);
  if (strlen(path) >= sizeof address.sun_path) fail(path, "is too long for a socket");
  strcpy(address.sun_path, path);
  if (file < 0 || bind(file, (const struct sockaddr *)&address, sizeof address) != 0 ||
      listen(file, WAITING) != 0)
    fail(path, strerror(errno));
  return file;
}

int main(int count, char **words) {
  service s = {0};
  pte_error error = {0};
  const struct timeval silence = {SILENCE, 0};
  struct sigaction act = {.sa_handler = end}; /* without SA_RESTART: accept returns */
  if (count < 3) fail("usage", "serve model.pte SOCKET [SYMBOL=SIZE ...]");
  check(pte_host_model_open(words[1], NULL, &s.model, &error), &error);
  prepare(&s, count, words);
  take_buffers(&s);
  sigaction(SIGTERM, &act, NULL);
  sigaction(SIGINT, &act, NULL);
  const int door = listen_at(words[2]);
  printf("%s: %u bytes in, %u bytes out\n", words[2], s.request_bytes, s.answer_bytes);
  fflush(stdout);
  while (!ending) {
    int file = accept(door, NULL, NULL);
    if (file < 0) continue;
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
    setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof silence);
    while (!ending && answer(&s, file)) continue;
    close(file);
  }
  close(door);
  unlink(words[2]);
  pte_host_model_close(s.model);
  free(s.request);
  free(s.answer);
  return 0;
}
