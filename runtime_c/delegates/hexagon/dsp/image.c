/* The program of the DSP: answers messages on its standard input and output until they end. Memory
 * is file 3, shared with the host. The host is not trusted: every operation is copied, then
 * checked, then run, so that what was checked is what runs. */
#include "delegates/hexagon/dsp/kernels.h"
#include "delegates/hexagon/dsp/system.h"

enum { REGION_FILE = 3 };

typedef struct session {
  hexagon_layout layout;
  uint8_t *region;
} session;

_Noreturn void serve(void);

/* 0: the other side has gone. */
static int transfer(long call, int file, void *data, uint32_t bytes) {
  uint32_t done = 0;
  while (done < bytes) {
    long n = system_call(call, file, (long)((uint8_t *)data + done), (long)(bytes - done), 0, 0, 0);
    if (n <= 0) return 0;
    done += (uint32_t)n;
  }
  return 1;
}

static void run_op(const dsp_memory *memory, const hexagon_op *op) {
  switch (op->kind) {
  case HEXAGON_CONV: dsp_conv(memory, op); break;
  case HEXAGON_DEPTHWISE: dsp_depthwise(memory, op); break;
  case HEXAGON_MAX_POOL: dsp_max_pool(memory, op); break;
  case HEXAGON_MOVE: dsp_move(memory, op); break;
  default: dsp_pointwise(memory, op); break;
  }
}

/* Checks every operation; runs each behind its check if `go`. */
static void each_op(const session *s, int go, hexagon_message *m) {
  const hexagon_layout *l = &s->layout;
  const dsp_memory memory = {s->region + l->weights_at, s->region + l->arena_at};
  for (uint32_t i = 0; i < l->op_count; i++) {
    hexagon_op op;
    memcpy(&op, s->region + l->ops_at + i * sizeof op, sizeof op);
    m->op = i;
    m->status = hexagon_check_op(&op, l->weights_bytes, l->arena_bytes);
    if (m->status != HEXAGON_DONE) return;
    if (go) run_op(&memory, &op);
  }
  m->status = HEXAGON_DONE;
}

static void answer(session *s, hexagon_message *m) {
  if (m->magic != HEXAGON_MAGIC || m->protocol != HEXAGON_PROTOCOL) {
    m->status = HEXAGON_BAD_MESSAGE;
  } else if (m->command == HEXAGON_HELLO) {
    m->status = HEXAGON_DONE;
  } else if (m->command == HEXAGON_LOAD && s->region == 0) {
    m->status = hexagon_check_layout(&m->layout);
    if (m->status != HEXAGON_DONE) return;
    s->layout = m->layout;
    s->region = system_map(REGION_FILE, m->layout.region_bytes);
    if (s->region == 0) m->status = HEXAGON_NO_REGION;
    else each_op(s, 0, m);
  } else if (m->command == HEXAGON_RUN && s->region != 0) {
    each_op(s, 1, m);
  } else {
    m->status = HEXAGON_BAD_MESSAGE;
  }
}

_Noreturn void serve(void) {
  session s = {.region = 0};
  hexagon_message m;
  while (transfer(SYSTEM_READ, 0, &m, sizeof m)) {
    answer(&s, &m);
    m.magic = HEXAGON_MAGIC, m.protocol = HEXAGON_PROTOCOL;
    if (!transfer(SYSTEM_WRITE, 1, &m, sizeof m)) break;
  }
  system_exit(0);
}
