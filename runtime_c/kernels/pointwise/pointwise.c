/* pointwise: one straight-line program over every element, tile by tile (schema/steps.py has the
 * meanings). Operands and outputs with any strides, operands expanded by stride 0; output 0 may be
 * exactly an operand. Nothing is rounded but by the steps themselves and by stores to f16 and bf16.
 */
#include "kernels/pointwise/pointwise.h"

#include "core/kept.h"
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/moving/place.h"
#include "kernels/pointwise/code_lines.h"
#include "kernels/pointwise/code_table.h"

enum { FAULT_BYTES = 64 };

/* --- making an engine
 * -----------------------------------------------------------------------------------------------
 */

static uint32_t operand_count(const pte_operands *o) { return o->x_count + (o->y != NULL); }
static uint32_t output_count(const pte_operands *o) { return o->y != NULL ? 1 : o->out_count; }

static const pte_tensor *operand(const pte_operands *o, uint32_t i) {
  if (o->y == NULL) return o->xs[i];
  return i == 0 ? o->y : o->xs[i - 1];
}

static const pte_tensor *output(const pte_operands *o, uint32_t i) {
  return o->y != NULL ? o->y : o->outs[i];
}

/* The shape of the work: that of any tensor. NULL: there is none, and no work. */
static const pte_tensor *model_of(const pte_operands *o) {
  for (uint32_t i = 0; i < output_count(o); i++)
    if (output(o, i) != NULL) return output(o, i);
  return NULL;
}

static unsigned type_bytes(unsigned type) {
  return type == PTE_STEP_F64 || type == PTE_STEP_I64 ? 8 : 4;
}

typedef struct program_facts {
  uint32_t slots, register_bytes;
  uint16_t kept;
  bool one_last_store;
} program_facts;

static program_facts study(const pte_step *steps, uint32_t count, int64_t elements) {
  program_facts f = {.slots = 1};
  unsigned widest = 4, stores = 0, writes[PTE_REGISTERS] = {0};
  for (uint32_t i = 0; i < count; i++) {
    const pte_step *s = &steps[i];
    unsigned bytes = type_bytes(s->type);
    if (bytes > widest) widest = bytes;
    if (s->op == PTE_STEP_CAST && type_bytes(s->b) > widest) widest = type_bytes(s->b);
    if (s->op == PTE_STEP_TO_U64 || s->op == PTE_STEP_FROM_U64) widest = 8;
    if (s->op == PTE_STEP_STORE) stores++;
    else writes[s->dst]++;
    if (s->op != PTE_STEP_STORE && s->dst >= f.slots) f.slots = s->dst + 1u;
  }
  for (uint32_t i = 0; i < count; i++)
    if (steps[i].op == PTE_STEP_LITERAL && writes[steps[i].dst] == 1)
      f.kept |= (uint16_t)(1u << steps[i].dst);
  uint32_t tile = elements < PTE_TILE ? (uint32_t)elements : PTE_TILE;
  f.register_bytes = (tile * widest + 63u) & ~63u;
  f.one_last_store = stores == 1 && steps[count - 1].op == PTE_STEP_STORE;
  return f;
}

/* Of an engine, its walks and forms. */
static uint64_t head_bytes(uint32_t walks, uint32_t steps) {
  return sizeof(pte_engine) + walks * sizeof(pte_walk) + steps * sizeof(pte_form);
}

static uint64_t round_up(uint64_t bytes) { return (bytes + 63) & ~(uint64_t)63; }

pte_status pte_engine_needs(const pte_call *call, pte_steps program, const pte_operands *o,
                            pte_needs *out) {
  const pte_tensor *model = model_of(o);
  *out = (pte_needs){0, 0};
  if (model == NULL || program.steps.count == 0) return PTE_OK;
  program_facts f = study(call->tables->steps + program.steps.start, program.steps.count,
                          pte_tensor_count(model));
  uint64_t thread_bytes = FAULT_BYTES + (uint64_t)(f.slots + 1) * f.register_bytes;
  out->kept = round_up(head_bytes(operand_count(o) + output_count(o), program.steps.count));
  return pte_mul(thread_bytes, call->threads, &out->scratch) ? PTE_OK : PTE_NO_MEMORY;
}

static pte_walk walk_of(const pte_tensor *t) {
  if (t == NULL) return (pte_walk){.data = NULL};
  pte_walk w = {.rows = pte_rows_of(t, 0, t->rank), .dtype = t->dtype};
  w.element_bytes = (uint8_t)(pte_dtype_bits(t->dtype) / 8);
  bool same =
      t->dtype == PTE_F32 || t->dtype == PTE_F64 || t->dtype == PTE_I64 || t->dtype == PTE_U64;
  w.even = same && w.rows.rank == 0 && w.rows.step == 1;
  return w;
}

/* Reading an operand in place is safe where no output lies on it, or where storing is the last
 * thing done. */
static bool lies_apart(const pte_walk *x, const pte_walk *outs, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (x->data == outs[i].data) return false;
  return true;
}

static int64_t *fault_of(const pte_engine *e, uint32_t thread) {
  return (int64_t *)(void *)(e->threads + thread * e->thread_bytes);
}

/* Steps that are run: a load, a form and a store, with another load and what joins it. */
enum { WHOLE_ALONE = 3, WHOLE_JOINED = 5 };

typedef struct whole_run {
  const pte_step *step[WHOLE_JOINED];
  const pte_form *form[WHOLE_JOINED];
  unsigned count;
} whole_run;

static bool whole_steps(const pte_engine *e, whole_run *r) {
  r->count = 0;
  for (uint32_t i = 0; i < e->step_count; i++) {
    if (e->forms[i].kind == PTE_FORM_PART) continue;
    if (r->count == WHOLE_JOINED) return false;
    r->step[r->count] = &e->steps[i], r->form[r->count++] = &e->forms[i];
  }
  return r->count == WHOLE_ALONE || r->count == WHOLE_JOINED;
}

/* Whether `s` joins what steps a and b gave. */
static bool joins(const pte_step *s, unsigned op, const pte_step *a, const pte_step *b) {
  return s->op == op && s->type == PTE_STEP_F32 && a->dst != b->dst &&
         ((s->a == a->dst && s->b == b->dst) || (s->a == b->dst && s->b == a->dst));
}

/* Where the steps are. A form before the other load may have taken the register of the first. */
typedef struct whole_way {
  uint8_t load, other, join, form;
} whole_way;

static bool goes(const whole_run *r, const whole_way *w, const pte_step **other) {
  const pte_step *load = r->step[w->load], *join = r->step[w->join], *made = r->step[w->form];
  const pte_step *last = r->step[r->count - 2], *store = r->step[r->count - 1];
  const pte_form *form = r->form[w->form];
  *other = r->step[w->other];
  if (load->arg != 0) load = *other, *other = r->step[w->load];
  const bool floats =
      form->kind == PTE_FORM_GELU || form->kind == PTE_FORM_SILU || form->kind == PTE_FORM_GATE;
  if (!floats || load->op != PTE_STEP_LOAD || load->arg != 0 || (*other)->op != PTE_STEP_LOAD ||
      store->op != PTE_STEP_STORE || store->a != last->dst)
    return false;
  if (join == load) return form->x == load->dst;
  if ((*other)->arg == 0) return false;
  if (w->join < w->form) return form->x == join->dst && joins(join, PTE_STEP_ADD, load, *other);
  return form->x == load->dst && joins(join, PTE_STEP_MUL, made, *other) &&
         (w->other > w->form || load->dst != (*other)->dst);
}

/* Whether the program is one form of a matrix's element, or of that and an addend in rows, or that
 * times a factor in rows. A sum that something else reads as well would be kept by a step that
 * runs. */
static void find_whole(pte_engine *e, const pte_operands *o) {
  static const whole_way ways[] = {
      {0, 0, 0, 1},
      {0, 1, 2, 3},
      {0, 1, 3, 2},
      {0, 2, 3, 1}
  };
  whole_run r;
  const pte_step *other = NULL;
  if (!PTE_WHOLE_KEPT || o->y == NULL || e->rank == 0 || !whole_steps(e, &r)) return;
  const whole_way *w = r.count == WHOLE_ALONE ? ways : ways + 1, *end = ways + 4;
  if (r.count == WHOLE_ALONE) end = w + 1;
  while (w < end && !goes(&r, w, &other)) w++;
  if (w == end) return;
  if (other->arg != 0) {
    const pte_tensor *t = operand(o, other->arg);
    if (t == NULL || t->dtype != PTE_F32 || !pte_place_even(t, &e->other_stride)) return;
    e->other_operand = other->arg, e->times = w->join > w->form;
  }
  e->whole = r.form[w->form];
}

void pte_engine_keep(const pte_call *call, pte_steps program, const pte_operands *o, void *kept) {
  const pte_tensor *model = model_of(o);
  const pte_step *steps = call->tables->steps + program.steps.start;
  pte_engine *e = kept;
  if (model == NULL || program.steps.count == 0) return;
  pte_walk *xs = (pte_walk *)(e + 1), *outs = xs + operand_count(o);
  pte_form *forms = (pte_form *)(outs + output_count(o));
  int64_t count = pte_tensor_count(model);
  program_facts f = study(steps, program.steps.count, count);
  *e = (pte_engine){.steps = steps,
                    .literals = call->tables->literals + program.literals.start,
                    .forms = forms,
                    .xs = xs,
                    .outs = outs};
  e->step_count = program.steps.count;
  e->count = count;
  e->rank = model->rank;
  e->slots = (uint8_t)f.slots;
  e->kept = f.kept;
  e->one_last_store = f.one_last_store;
  e->register_bytes = f.register_bytes;
  e->thread_bytes = FAULT_BYTES + (uint64_t)(f.slots + 1) * f.register_bytes;
  e->thread_count = call->threads;
  for (unsigned i = 0; i < model->rank; i++) e->shape[i] = model->shape[i];
  for (uint32_t i = 0; i < output_count(o); i++) outs[i] = walk_of(output(o, i));
  for (uint32_t i = 0; i < operand_count(o); i++) xs[i] = walk_of(operand(o, i));
  pte_forms_find(&(pte_forms_source){steps, e->literals, xs, outs, e->step_count}, forms);
  find_whole(e, o);
  e->variant = pte_pointwise_pick(call->cpu);
}

static unsigned char *data_of(const pte_tensor *t) { return t == NULL ? NULL : t->data; }

pte_engine *pte_engine_open(const pte_call *call, const pte_operands *o, void *kept,
                            void *scratch) {
  pte_engine *e = kept;
  const uint32_t operands = operand_count(o), outputs = output_count(o);
  e->threads = scratch;
  e->watch = call->watch;
  for (uint32_t i = 0; i < outputs; i++) {
    e->outs[i].data = data_of(output(o, i));
    e->outs[i].direct = e->outs[i].even;
  }
  for (uint32_t i = 0; i < operands; i++) {
    pte_walk *x = &e->xs[i];
    x->data = data_of(operand(o, i));
    x->direct = (x->even || (o->y != NULL && i == 0)) &&
                (e->one_last_store || lies_apart(x, e->outs, outputs));
  }
  e->other = e->other_operand == 0 ? NULL : operand(o, e->other_operand)->data;
  for (uint32_t i = 0; i < e->thread_count; i++) *fault_of(e, i) = -1;
  return e;
}

/* --- running it
 * -----------------------------------------------------------------------------------------------------
 */

void pte_engine_run(const pte_engine *e, uint32_t thread, float *y, int64_t begin, int64_t end) {
  int64_t *fault = fault_of(e, thread), zero = -1;
  pte_pace pace = pte_pace_of(e->watch);
  for (int64_t count; begin < end && zero < 0; begin += count) {
    if ((count = pte_pace_take(&pace, end - begin, e->step_count, PTE_TILE)) == 0) return;
    zero = e->variant->run(e, (unsigned char *)fault + FAULT_BYTES, y, begin, begin + count);
    if (y != NULL) y += count;
  }
  if (zero >= 0 && (*fault < 0 || zero < *fault)) *fault = zero;
}

pte_status pte_engine_close(const pte_engine *e, const pte_call *call) {
  int64_t first = -1;
  for (uint32_t i = 0; i < e->thread_count; i++) {
    int64_t fault = *fault_of(e, i);
    if (fault >= 0 && (first < 0 || fault < first)) first = fault;
  }
  if (first < 0) return PTE_OK;
  return pte_kernel_fail(call, PTE_BAD_DATA, "integer division by zero", 128, first, 0, 1);
}

/* --- the operator
 * ---------------------------------------------------------------------------------------------------
 */

static pte_operands operands_of(const pte_call *call) {
  return (pte_operands){
      .xs = call->in, .outs = call->out, .x_count = call->in_count, .out_count = call->out_count};
}

static pte_steps program_of(const pte_call *call) {
  return ((const pte_pointwise_attrs *)call->attrs)->steps;
}

static void pointwise_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_engine *e = context;
  int64_t last = (int64_t)end * PTE_TILE;
  pte_engine_run(e, thread, NULL, (int64_t)begin * PTE_TILE, last < e->count ? last : e->count);
}

/* --- from codes: tables
 */

enum { CODES = 256, WORTH = 4 * CODES };
#define BYTES_KEPT (PTE_DTYPE_KEPT(PTE_I8) || PTE_DTYPE_KEPT(PTE_U8) || PTE_DTYPE_KEPT(PTE_BOOL))
#ifdef PTE_SMALL_BUFFERS /* a machine with some tens of KB of memory */
enum { TABLES = 1, TABLE_BYTES = 256 };
#else
enum { TABLES = 4, TABLE_BYTES = 4096 };
#endif

/* What the operator keeps; tables lie behind it, then the engine. */
typedef struct pointwise_kept {
  _Alignas(64) uint32_t table_bytes; /* 0: there is no table */
} pointwise_kept;

/* One row of step 1. */
static bool is_dense(const pte_tensor *t) {
  const pte_walk w = walk_of(t);
  return w.rows.rank == 0 && w.rows.step == 1;
}

static bool is_bytes(const pte_tensor *t) {
  return t != NULL && (t->dtype == PTE_I8 || t->dtype == PTE_U8 || t->dtype == PTE_BOOL);
}

static uint32_t tables_count(const pte_call *call) { return TABLES == 1 ? 1 : call->out_count; }

/* Bytes of tables, one an output, from which all results can be taken: there is one operand of
 * bytes, no step asks where an element is, and there are so many elements that a table pays. 0:
 * there are none. */
static uint32_t table_bytes(const pte_call *call) {
  const pte_steps program = program_of(call);
  uint32_t bytes = 0;
  if (!BYTES_KEPT || call->in_count != 1 || !is_bytes(call->in[0]) || !is_dense(call->in[0]) ||
      call->out_count != tables_count(call) || call->out_count > TABLES ||
      pte_tensor_count(call->in[0]) < WORTH)
    return 0;
  for (uint32_t o = 0; o < tables_count(call); o++) {
    const pte_tensor *y = call->out[o];
    if (y == NULL || !is_dense(y) || pte_dtype_bits(y->dtype) < 8) return 0;
    bytes += CODES * pte_dtype_bits(y->dtype) / 8;
  }
  for (uint32_t i = 0; i < program.steps.count; i++)
    if (call->tables->steps[program.steps.start + i].op == PTE_STEP_INDEX) return 0;
  return bytes <= TABLE_BYTES ? bytes : 0;
}

static unsigned char *tables_of(pointwise_kept *kept) { return (unsigned char *)(kept + 1); }

/* The program runs over the 256 codes. false: one of them has no result. */
static bool fill_tables(const pte_call *call, pointwise_kept *kept) {
  uint8_t code[CODES];
  for (unsigned i = 0; i < CODES; i++) code[i] = (uint8_t)i;
  pte_tensor x = {.data = code, .shape = {CODES}, .stride = {1}, .rank = 1}, y[TABLES];
  const pte_tensor *in = &x;
  pte_tensor *out[TABLES];
  unsigned char *table = tables_of(kept);
  pte_operands o = {.xs = &in, .outs = out, .x_count = 1, .out_count = tables_count(call)};
  x.dtype = call->in[0]->dtype;
  for (uint32_t i = 0; i < tables_count(call); i++) {
    y[i] = x, out[i] = &y[i];
    y[i].dtype = call->out[i]->dtype;
    y[i].data = table;
    table += CODES * pte_dtype_bits(y[i].dtype) / 8;
  }
  pte_engine_keep(call, program_of(call), &o, table);
  pte_engine *e = pte_engine_open(call, &o, table, call->scratch);
  pte_engine_run(e, 0, NULL, 0, CODES);
  return *fault_of(e, 0) < 0;
}

typedef struct recoding {
  const pte_call *call;
  const pte_code_table *variant;
  const unsigned char *tables;
} recoding;

#define LOOK_UP(type)                                                                              \
  for (size_t i = 0; i < n; i++) ((type *)y)[i] = ((const type *)table)[x[i]]

static void look_up(unsigned bytes, const void *table, size_t n, const uint8_t *x, void *y) {
  if (bytes == 2) LOOK_UP(uint16_t);
  else if (bytes == 4) LOOK_UP(uint32_t);
  else LOOK_UP(uint64_t);
}

/* Output 0 last: it may be the operand. */
static void recode_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const recoding *r = context;
  const uint8_t *x = (const uint8_t *)r->call->in[0]->data + begin;
  (void)thread;
  for (uint32_t o = tables_count(r->call); o-- > 0;) {
    const unsigned char *table = r->tables;
    for (uint32_t i = 0; i < o; i++) table += CODES * pte_dtype_bits(r->call->out[i]->dtype) / 8;
    const unsigned bytes = pte_dtype_bits(r->call->out[o]->dtype) / 8;
    unsigned char *y = (unsigned char *)r->call->out[o]->data + begin * bytes;
    if (bytes == 1) r->variant->recode(table, end - begin, x, y);
    else if (TABLES > 1) look_up(bytes, table, end - begin, x, y);
  }
}

static pte_status run_recoding(const pte_call *call, pointwise_kept *kept) {
  recoding r = {call, pte_code_table_pick(call->cpu), tables_of(kept)};
  const size_t grain = kept->table_bytes == CODES ? 65536 : 16384;
  pte_parallel(call, (size_t)pte_tensor_count(call->in[0]), grain, recode_task, &r);
  return PTE_OK;
}

/* --- the operator
 * ---------------------------------------------------------------------------------------------------
 */

static pte_status pointwise_needs(const pte_call *call, pte_needs *out) {
  pte_operands o = operands_of(call);
  PTE_TRY(pte_engine_needs(call, program_of(call), &o, out));
  const uint64_t head = sizeof(pointwise_kept) + table_bytes(call);
  return pte_add(out->kept, head, &out->kept) ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status pointwise_keep(const pte_call *call) {
  pointwise_kept *kept = call->kept;
  const pte_operands o = operands_of(call);
  kept->table_bytes = table_bytes(call);
  pte_engine_keep(call, program_of(call), &o, tables_of(kept));
  if (!BYTES_KEPT || kept->table_bytes == 0) return PTE_OK;
  if (!PTE_LINES_KEPT || !pte_code_lines_are((const pte_engine *)(void *)tables_of(kept))) {
    if (fill_tables(call, kept)) return PTE_OK;
    pte_engine_keep(call, program_of(call), &o, tables_of(kept));
  }
  kept->table_bytes = 0;
  return PTE_OK;
}

static pte_status pointwise_run(const pte_call *call) {
  const pte_operands o = operands_of(call);
  const pte_tensor *model = model_of(&o);
  pointwise_kept *kept = call->kept;
  if (model == NULL || pte_tensor_count(model) == 0) return PTE_OK;
  if (BYTES_KEPT && kept->table_bytes != 0) return run_recoding(call, kept);
  pte_engine *e = pte_engine_open(call, &o, tables_of(kept), call->scratch);
  if (PTE_LINES_KEPT && pte_code_lines_run(call, e)) return PTE_OK;
  size_t tiles = (size_t)((e->count + PTE_TILE - 1) / PTE_TILE), grain = 1 + 48 / e->step_count;
  pte_parallel(call, tiles, grain, pointwise_task, e);
  return pte_engine_close(e, call);
}

const pte_kernel pte_pointwise_kernel = {
    .needs = pointwise_needs, .keep = pointwise_keep, .run = pointwise_run};
