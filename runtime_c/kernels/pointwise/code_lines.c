/* QuantizeLinear and DequantizeLinear alone: whole lines of floats and codes, no tile by tile and
 * no registers. Where channels are innermost on one side only, codes, which are the smaller, are
 * transposed in blocks that stay in L1; few planes of bytes are dealt out. */
#include "kernels/pointwise/code_lines.h"

#if PTE_LINES_KEPT

enum { CHANNELS = 32, PIXELS = 256, GRAIN = 8192 };

/* Of [images, channels, size], whichever is innermost. */
typedef struct code_lines {
  const pte_engine *engine;
  const pte_form *form;
  const char *x;
  char *y;
  size_t channels, size, parts; /* parts: of a plane, an item each */
  bool words, makes_codes;
} code_lines;

/* Element i of a tensor of codes, or of floats. */
static size_t place(const code_lines *l, bool codes, size_t i) {
  return codes ? i << l->words : i * sizeof(float);
}

static void convert(const code_lines *l, size_t n, const void *x, void *y) {
  if (PTE_QUANTIZE_KEPT && l->makes_codes) l->engine->variant->to_codes(l->form, n, x, y);
  else if (PTE_DEQUANTIZE_KEPT) l->engine->variant->from_codes(l->form, n, x, y);
}

static void line_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const code_lines *l = context;
  (void)thread;
  convert(l, end - begin, l->x + place(l, !l->makes_codes, begin),
          l->y + place(l, l->makes_codes, begin));
}

/* Few planes of floats become pixels of bytes. */
static void deal_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const code_lines *l = context;
  pte_pace pace = pte_pace_of(l->engine->watch);
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    const size_t image = i / l->parts * l->channels * l->size, at = i % l->parts * PTE_TILE;
    const size_t n = l->size - at < PTE_TILE ? l->size - at : PTE_TILE;
    if (!pte_pace_go(&pace, (int64_t)(l->channels * n))) return;
    l->engine->variant->side_by_side(l->form, l->channels, n, (const float *)l->x + image + at,
                                     l->size, (uint8_t *)l->y + image + at * l->channels);
  }
}

/* Pixels at .. at + n of `count` channels from c on; `image`: the elements before this one. */
static void turn_block(const code_lines *l, size_t image, size_t c, size_t count, size_t at,
                       size_t n) {
  uint16_t turned[CHANNELS * PIXELS];
  char *tile = (char *)turned;
  const size_t pixels = place(l, true, image + at * l->channels + c);
  if (!l->makes_codes)
    l->engine->variant->turn(l->words, n, count, l->x + pixels, l->channels, tile, PIXELS);
  for (size_t i = 0; i < count; i++) {
    const size_t plane = place(l, false, image + (c + i) * l->size + at);
    char *line = tile + place(l, true, i * PIXELS);
    if (l->makes_codes) convert(l, n, l->x + plane, line);
    else convert(l, n, line, l->y + plane);
  }
  if (l->makes_codes)
    l->engine->variant->turn(l->words, count, n, tile, PIXELS, l->y + pixels, l->channels);
}

static void turn_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const code_lines *l = context;
  pte_pace pace = pte_pace_of(l->engine->watch);
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    const size_t image = i / l->parts * l->channels * l->size, at = i % l->parts * PIXELS;
    const size_t n = l->size - at < PIXELS ? l->size - at : PIXELS;
    for (size_t c = 0; c < l->channels; c += CHANNELS) {
      const size_t count = l->channels - c < CHANNELS ? l->channels - c : CHANNELS;
      if (!pte_pace_go(&pace, (int64_t)(count * n))) return;
      turn_block(l, image, c, count, at, n);
    }
  }
}

/* The program's form, if all else that runs loads operand 0 for it, or stores what it makes. */
static const pte_form *only_form(const pte_engine *e) {
  const pte_step *load = NULL, *store = NULL, *made = NULL;
  const pte_form *form = NULL;
  for (uint32_t i = 0; i < e->step_count; i++) {
    const pte_step *s = &e->steps[i];
    if (e->forms[i].kind == PTE_FORM_PART) continue;
    if (e->forms[i].kind != PTE_FORM_STEP && form == NULL) form = &e->forms[i], made = s;
    else if (s->op == PTE_STEP_LOAD && load == NULL && form == NULL) load = s;
    else if (s->op == PTE_STEP_STORE && store == NULL && form != NULL) store = s;
    else return NULL;
  }
  if (form == NULL) return NULL;
  if (form->kind == PTE_FORM_QUANTIZE)
    return load != NULL && store == NULL && form->x == load->dst ? form : NULL;
  return form->kind == PTE_FORM_DEQUANTIZE && load == NULL && store != NULL && store->a == made->dst
             ? form
             : NULL;
}

static bool is_plain(const pte_tensor *t) {
  const pte_rows rows = pte_rows_of(t, 0, t->rank);
  return rows.rank == 0 && rows.step == 1;
}

/* Whether axis 1 is innermost and all others lie densely around it. */
static bool is_last(const pte_tensor *t) {
  if (t->rank < 3 || t->stride[1] != 1) return false;
  int64_t step = t->shape[1];
  for (unsigned i = t->rank - 1u; i > 1; i--) {
    if (t->shape[i] != 1 && t->stride[i] != step) return false;
    step *= t->shape[i];
  }
  return t->shape[0] == 1 || t->stride[0] == step;
}

bool pte_code_lines_are(const pte_engine *e) { return only_form(e) != NULL; }

bool pte_code_lines_run(const pte_call *call, const pte_engine *e) {
  const pte_tensor *x = call->in[0], *y = call->out[0];
  if (call->in_count != 1 || call->out_count != 1) return false;
  code_lines l = {.engine = e, .form = only_form(e), .x = x->data, .y = y->data};
  if (l.form == NULL) return false;
  l.makes_codes = l.form->kind == PTE_FORM_QUANTIZE;
  l.words = pte_form_has_words(l.form);
  const pte_tensor *floats = l.makes_codes ? x : y, *codes = l.makes_codes ? y : x;
  if (floats->dtype != PTE_F32) return false;
  if ((is_plain(x) && is_plain(y)) || (is_last(x) && is_last(y))) {
    pte_parallel(call, (size_t)pte_tensor_count(y), GRAIN, line_task, &l);
    return true;
  }
  if (!is_plain(floats) || !is_last(codes)) return false;
  l.channels = (size_t)y->shape[1];
  l.size = (size_t)(pte_tensor_count(y) / y->shape[0]) / l.channels;
  const bool few = PTE_QUANTIZE_KEPT && l.makes_codes && !l.words && l.channels <= PTE_PLANES;
  const size_t part = few ? PTE_TILE : PIXELS;
  l.parts = (l.size + part - 1) / part;
  pte_parallel(call, (size_t)y->shape[0] * l.parts, few ? 8 : 1, few ? deal_task : turn_task, &l);
  return true;
}
#endif
