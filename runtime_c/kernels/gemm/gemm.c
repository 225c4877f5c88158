#include "kernels/gemm/gemm.h"

#include <string.h>

#include "core/integer.h"
#include "core/size.h"
#include "kernels/moving/place.h"

/* --- one block: rows x panels in one thread --------------------------------------------------- */

typedef struct gemm_block {
  const pte_gemm *g;
  const pte_gemm_f32 *kernel;
  const float **table; /* rows by pointers, or */
  pte_pair_f32 *pairs; /* tiles of them, where they lie evenly */
  size_t pair_count;   /* 0: by pointers */
  size_t span;         /* rows that follow each other in a tile, at most */
  size_t taps, run;    /* of a row, either way */
  float *decoded;      /* [PTE_ABREAST][GEMM_DEPTH][16] */
  const float *few;    /* rows that are few, few_stride apart; NULL: they are not */
  size_t few_stride;
  float *out; /* the block's first element */
  size_t out_stride;
  size_t group, row, rows, panel_begin, panel_end;
  pte_pace *pace; /* the functions below that return bool look: false: the run is to end */
} gemm_block;

static size_t block_of(const pte_gemm *g, pte_block block) {
  return pte_gemm_block(&g->cut, block);
}
static bool has_pairs(const gemm_block *b) { return PTE_PARTS && b->pair_count > 0; }

/* The block's first column, through all groups, and how many it has. */
static size_t first_column(const gemm_block *b) {
  return b->group * b->g->columns + b->panel_begin * PTE_PANEL;
}
static size_t columns_of(const gemm_block *b) {
  return pte_least(b->panel_end * PTE_PANEL, b->g->columns) - b->panel_begin * PTE_PANEL;
}

/* Into the result itself, or into `buffer`. */
static void aim_block(gemm_block *b, float *buffer) {
  const pte_gemm *g = b->g;
  b->out = g->place == NULL ? g->out + b->row * g->out_stride + first_column(b) : buffer;
  b->out_stride = g->place == NULL ? g->out_stride : columns_of(b);
}

typedef struct gemm_step { /* `taps` whole taps, or `run` elements of one */
  size_t tap, taps, offset, run;
} gemm_step;

/* Columns past the last exist in the panel but not in memory: such a strip goes through copies. */
static void strip_ragged(const pte_gemm_f32 *kernel, size_t rows, pte_tile_f32 s) {
  float tile[PTE_STRIP][PTE_PANEL] = {{0}}, add[PTE_ADDENDS][PTE_STRIP][PTE_PANEL] = {{{0}}};
  float *out = s.out;
  size_t stride = s.out_stride, columns = PTE_PANEL - s.missing;
  pte_finish_f32 finish = {.low = 0};
  if (!s.first)
    for (size_t m = 0; m < rows; m++) memcpy(tile[m], out + m * stride, columns * sizeof *out);
  if (s.finish != NULL) finish = *s.finish;
  for (size_t i = 0; i < PTE_ADDENDS; i++) {
    if (finish.add[i] == NULL) continue;
    for (size_t m = 0; m < rows; m++)
      memcpy(add[i][m], finish.add[i] + m * finish.add_stride[i], columns * sizeof *out);
    finish.add[i] = add[i][0];
    finish.add_stride[i] = PTE_PANEL;
  }
  if (s.finish != NULL) s.finish = &finish;
  s.out = tile[0];
  s.out_stride = PTE_PANEL;
  kernel->tile(rows, 1, &s);
  for (size_t m = 0; m < rows; m++) memcpy(out + m * stride, tile[m], columns * sizeof *out);
}

/* A panel block stays in L1 while the strips of the row block pass by, read from L2. Each strip
 * asks for its share of the next panel block, which comes from L3 or memory. */
static bool run_strips(const gemm_block *b, pte_tile_f32 s, size_t panels, const float *ask) {
  const size_t strips = pte_strips(b->rows), lines = s.taps * s.run, longer = b->rows % strips;
  const int64_t row_cost = (int64_t)(panels * PTE_PANEL * lines);
  pte_finish_f32 finish = s.finish == NULL ? (pte_finish_f32){.low = 0} : *s.finish;
  if (s.finish != NULL) s.finish = &finish;
  s.strip_step = PTE_STRIP * b->g->taps;
  s.ask = ask, s.share = pte_ceil_div(lines, strips);
  for (size_t i = 0; i < strips; i += s.strips) {
    const bool ragged = s.missing % b->kernel->unit > 0;
    const size_t rows = b->rows / strips + (i < longer);
    const size_t left = ragged ? 1 : (i < longer ? longer : strips) - i;
    s.strips = (size_t)pte_pace_take(b->pace, (int64_t)left, (int64_t)rows * row_cost, 1);
    if (s.strips == 0) return false;
    if (ragged) strip_ragged(b->kernel, rows, s);
    else b->kernel->tile(rows, panels, &s);
    s.row += s.strips * s.strip_step;
    s.out += s.strips * rows * s.out_stride;
    finish = pte_finish_at(&finish, s.strips * rows, 0);
    if (ask != NULL) s.ask += s.strips * s.share * PTE_PANEL;
  }
  return true;
}

/* How many of pairs begin .. end ask for weights to come. */
static size_t pairs_asking(const gemm_block *b, size_t begin, size_t end) {
  size_t count = 0;
  for (; begin < end; begin++) count += pte_pair_asks(&b->pairs[begin]);
  return count;
}

/* The same of pairs, where rows lie evenly; `at`: the step's place in a row. */
static bool run_pairs(const gemm_block *b, const pte_tile_f32 *from, size_t at, size_t panels,
                      const float *ask) {
  const pte_gemm_lines *l = &b->g->lines;
  const size_t lines = from->taps * from->run;
  const size_t asking = ask == NULL ? 0 : pairs_asking(b, 0, b->pair_count);
  const size_t share = asking == 0 ? 0 : pte_ceil_div(lines, asking);
  const int64_t cost = (int64_t)(2 * PTE_SPAN * panels * PTE_PANEL * lines);
  pte_parts_f32 s = {
      .offset = at,
      .row_stride = l->row_stride,
      .taps = from->taps,
      .tap_stride = l->tap_stride,
      .run = from->run,
      .panel = {from->panel[0], from->panel[1]},
      .ask = share > 0 ? ask : from->panel[0], /* some address */
      .further = pte_ceil_div(share * PTE_PANEL * sizeof(float), lines),
      .beyond = share * PTE_PANEL,
      .out = from->out,
      .out_stride = from->out_stride,
      .finish = from->finish,
      .missing = from->missing,
      .first = from->first
  };
  for (size_t i = 0, count; i < b->pair_count; i += count) {
    count = (size_t)pte_pace_take(b->pace, (int64_t)(b->pair_count - i), cost, 1);
    if (count == 0) return false;
    b->kernel->parts(panels, &s, b->pairs + i, count);
    if (share > 0) s.ask += pairs_asking(b, i, i + count) * s.beyond;
  }
  return true;
}

/* The weights that come after `panels` panels from `panel` on: those beside them; after the last
 * ones of the block those of the next step, or of the block beside. NULL: they are not known. */
static const float *weights_to_come(const gemm_block *b, const gemm_step *k, size_t panel,
                                    size_t panels) {
  const pte_panels *from = &b->g->panels;
  const size_t all = pte_panel_count(b->g->columns);
  size_t at = k->tap * b->run + k->offset, next = panel + panels, count = k->taps * k->run;
  if (next + panels > b->panel_end) {
    const bool last = at + count == b->taps * b->run;
    next = last ? b->panel_end : b->panel_begin, at = last ? 0 : at + count;
  }
  if (pte_gemm_decodes(b->g) || next + panels > all) return NULL;
  return from->read(from->self, b->group * all + next, at, count, NULL);
}

/* One step over K for `panels` panels from `panel` on (of the group). */
static bool run_panels(const gemm_block *b, const gemm_step *k, size_t panel, size_t panels) {
  const pte_gemm *g = b->g;
  size_t place = b->group * pte_panel_count(g->columns) + panel, at = k->tap * b->run + k->offset;
  size_t count = k->taps * k->run, column = b->group * g->columns + panel * PTE_PANEL;
  pte_finish_f32 finish = pte_finish_at(&g->finish, b->row, column);
  size_t end = (panel + panels) * PTE_PANEL;
  bool last = k->tap + k->taps == b->taps && k->offset + k->run == b->run;
  pte_tile_f32 s = {.row = b->table + k->tap * PTE_STRIP,
                    .taps = k->taps,
                    .tap_stride = k->run,
                    .offset = k->offset,
                    .run = k->run,
                    .out = b->out + (panel - b->panel_begin) * PTE_PANEL,
                    .out_stride = b->out_stride,
                    .finish = last ? &finish : NULL,
                    .missing = end > g->columns ? (unsigned)(end - g->columns) : 0,
                    .first = at == 0};
  for (size_t p = 0; p < panels; p++)
    s.panel[p] = g->panels.read(g->panels.self, place + p, at, count,
                                b->decoded + p * block_of(g, PTE_BLOCK_GEMM_DEPTH) * PTE_PANEL);
  const float *ask = weights_to_come(b, k, panel, panels);
  if (!has_pairs(b)) return run_strips(b, s, panels, ask);
  return run_pairs(b, &s, k->tap * g->lines.tap_stride + k->offset, panels, ask);
}

/* As many panels side by side as the tile takes; without masks a ragged panel goes alone. */
static bool run_step(const gemm_block *b, const gemm_step *k) {
  size_t abreast = 2;
  if (!has_pairs(b)) abreast = b->kernel->abreast[pte_ceil_div(b->rows, pte_strips(b->rows))];
  size_t whole =
      b->kernel->unit == 1 ? b->panel_end : pte_least(b->panel_end, b->g->columns / PTE_PANEL);
  size_t p = b->panel_begin;
  for (; p + abreast <= whole; p += abreast)
    if (!run_panels(b, k, p, abreast)) return false;
  for (; p < b->panel_end; p++)
    if (!run_panels(b, k, p, 1)) return false;
  return true;
}

/* One strip reads each weight once: there is no reuse to block for, so a panel in place streams, as
 * far as a tile may go. Steps are about as long each. */
static bool run_steps(const gemm_block *b) {
  bool stream = b->rows <= PTE_STRIP && !has_pairs(b);
  const pte_block fits = pte_gemm_decodes(b->g) ? PTE_BLOCK_GEMM_DEPTH
                         : has_pairs(b)         ? PTE_BLOCK_GEMM_EVEN
                                                : PTE_BLOCK_GEMM_WIDE;
  const bool goes_on = stream && !pte_gemm_decodes(b->g);
  const size_t depth = goes_on ? PTE_GEMM_LONG : block_of(b->g, fits);
  size_t taps = pte_most(depth / b->run, 1), run = pte_least(depth, b->run);
  taps = pte_ceil_div(b->taps, pte_ceil_div(b->taps, taps)),
  run = pte_ceil_div(b->run, pte_ceil_div(b->run, run));
  for (size_t tap = 0; tap < b->taps; tap += taps)
    for (size_t offset = 0; offset < b->run; offset += run) {
      gemm_step k = {tap, pte_least(taps, b->taps - tap), offset, pte_least(run, b->run - offset)};
      if (!run_step(b, &k)) return false;
    }
  return true;
}

/* Panels that are decoded for one strip are so to their end, a few at a time: codes stream too. */
static bool run_depth(const gemm_block *b) {
  const bool few = pte_gemm_decodes(b->g) && b->rows <= PTE_STRIP && !has_pairs(b);
  const size_t panels = few ? PTE_ABREAST : b->panel_end;
  gemm_block part = *b;
  for (; part.panel_begin < b->panel_end; part.panel_begin = part.panel_end) {
    part.panel_end = pte_least(part.panel_begin + panels, b->panel_end);
    part.out = b->out + (part.panel_begin - b->panel_begin) * PTE_PANEL;
    if (!run_steps(&part)) return false;
  }
  return true;
}

/* The block's sums are complete in memory, or `empty`: +0. */
static bool finish_rows(const gemm_block *b, bool empty) {
  const size_t columns = columns_of(b);
  for (size_t m = 0; m < b->rows; m++)
    for (size_t at = 0, count; at < columns; at += count) {
      count = (size_t)pte_pace_take(b->pace, (int64_t)(columns - at), 2, 1);
      float *out = b->out + m * b->out_stride + at;
      if (count == 0) return false;
      if (empty) memset(out, 0, count * sizeof *out);
      pte_finish_row(&b->g->finish, b->row + m, first_column(b) + at, count, out);
    }
  return true;
}

enum {
  FEW = PTE_PARTS || PTE_FLOATS, /* variants take few rows */
  VECTOR_DEPTH = 16384,          /* K of a whole sum, at most; a longer one is cut */
  FOUR = PTE_PANEL / 4 /* reading the weights is what takes time: four steps count as one */
};

/* `count` panels from the block's `panel` on into `out`, before they are finished; false: there are
 * weights that are not taken so. */
static bool run_whole(const gemm_block *b, size_t panel, size_t count, float *out, size_t stride) {
  const pte_gemm *g = b->g;
  const size_t place = b->group * pte_panel_count(g->columns) + b->panel_begin + panel;
  const pte_few_f32 few = {b->few, NULL, b->rows, b->few_stride, g->run, 0, out, stride, NULL, 0};
  if (PTE_FLOATS && pte_gemm_decodes(g)) return g->panels.few(g->panels.self, place, count, &few);
  b->kernel->vector(g->run, count, b->table[0],
                    g->panels.read(g->panels.self, place, 0, g->run, NULL), out);
  return true;
}

/* One row of weights in place, or few of such as are decoded on the way. */
static bool run_vector(const gemm_block *b) {
  const size_t whole = columns_of(b) / PTE_PANEL, rest = columns_of(b) % PTE_PANEL;
  const size_t rows = PTE_FLOATS ? b->rows : 1;
  const int64_t cost = (int64_t)(FOUR * rows * b->g->run);
  for (size_t p = 0, count; p < whole; p += count) {
    count = (size_t)pte_pace_take(b->pace, (int64_t)(whole - p), cost, 8);
    if (count == 0) return false;
    if (!run_whole(b, p, count, b->out + p * PTE_PANEL, b->out_stride)) return run_depth(b);
  }
  if (rest > 0) {
    float tile[PTE_FEW_STORED][PTE_PANEL];
    if (!run_whole(b, whole, 1, tile[0], PTE_PANEL)) return run_depth(b);
    for (size_t m = 0; m < rows; m++)
      memcpy(b->out + m * b->out_stride + whole * PTE_PANEL, tile[m], rest * sizeof *tile[m]);
  }
  return finish_rows(b, false);
}

static bool run_few(const gemm_block *b) {
  const pte_gemm *g = b->g;
  const size_t panels = b->panel_end - b->panel_begin, end = b->panel_end * PTE_PANEL;
  const size_t place = b->group * pte_panel_count(g->columns) + b->panel_begin;
  const pte_finish_f32 finish = pte_finish_at(&g->finish, b->row, first_column(b));
  const size_t pairs = pte_ceil_div(panels, 2), missing = end > g->columns ? end - g->columns : 0;
  const float *panel = g->panels.read(g->panels.self, place, 0, g->run, NULL);
  const pte_few_f32 s = {b->few, panel,  b->rows,       b->few_stride, g->run,
                         panels, b->out, b->out_stride, &finish,       (unsigned)missing};
  const int64_t cost = (int64_t)(2 * FOUR * b->rows * g->run);
  for (size_t done = 0, count; done < pairs; done += count) {
    count = (size_t)pte_pace_take(b->pace, (int64_t)(pairs - done), cost, 1);
    if (count == 0) return false;
    b->kernel->few(&s, done, done + count);
  }
  return true;
}

static bool run_block(const gemm_block *b) {
  const pte_gemm *g = b->g;
  const bool vector = pte_gemm_decodes(g) ? PTE_FLOATS && b->few != NULL
                                          : b->rows == 1 && g->taps == 1 && g->run <= VECTOR_DEPTH;
  if (g->taps == 0 || g->run == 0) return finish_rows(b, true);
  if (vector) return run_vector(b);
  return PTE_PARTS && b->few != NULL ? run_few(b) : run_depth(b);
}

/* --- scratch: one share a thread -------------------------------------------------------------- */

typedef struct gemm_share {
  uint64_t table, copy, decoded, block, total; /* bytes; the last ones are a gemm_held */
  bool few;     /* rows are so few that reading the weights is what takes time: each is read once */
  size_t apart; /* floats from row to row of those that are copied, else fall on each other in L1 */
} gemm_share;

/* The rows that a share has laid out: those of a band; SIZE_MAX: of none. */
typedef struct gemm_held {
  size_t band, pair_count;
} gemm_held;

enum { HELD_BYTES = 64 };

/* Columns of a block, at most: all of them for one row or few, whose panels should stream. */
static size_t block_columns(const pte_gemm *g, bool streams) {
  return streams ? g->columns
                 : pte_least(g->columns, block_of(g, PTE_BLOCK_GEMM_PANELS) * PTE_PANEL);
}

static bool share_of(const pte_gemm *g, gemm_share *out) {
  uint64_t rows = pte_least(g->rows, block_of(g, PTE_BLOCK_GEMM_ROWS)),
           slots = pte_strips((size_t)rows) * PTE_STRIP;
  uint64_t pairs, pieces = 0, apart;
  gemm_share s = {.decoded = pte_gemm_decodes(g) ? block_of(g, PTE_BLOCK_GEMM_DEPTH) *
                                                       sizeof(float[PTE_ABREAST * PTE_PANEL])
                                                 : 0};
  const pte_gemm_lines *l = &g->lines;
  s.few = FEW && l->width == g->rows && l->taps == 1 && l->piece_floats == 0 &&
          (pte_gemm_decodes(g)
               ? PTE_FLOATS && g->panels.floats && g->rows <= PTE_FEW_STORED &&
                     g->copy_floats == 0 && g->run <= VECTOR_DEPTH
               : PTE_PARTS && g->rows > 1 && g->rows <= PTE_FEW && g->run <= VECTOR_DEPTH / 2);
  if (s.few && pte_gemm_same_set(&g->cut, l->row_stride)) s.apart = g->run + PTE_PANEL;
  uint64_t held = g->place == NULL ? 0 : block_columns(g, g->rows == 1 || s.few);
  apart = sizeof(float) * rows * s.apart;
  if (g->lines.width > 0) pieces = (rows + g->lines.width - 2) / g->lines.width + 1;
  pairs = (rows / PTE_SPAN + pieces) * sizeof(pte_pair_f32);
  bool fits = pte_mul(slots * sizeof(float *), g->taps, &s.table) &&
              pte_align(pte_most_u64(s.table, pairs), 64, &s.table) &&
              pte_mul(pieces * sizeof(float), g->lines.piece_floats, &pieces) &&
              pte_mul(rows * sizeof(float), g->copy_floats, &s.copy) &&
              pte_align(pte_most_u64(pte_most_u64(s.copy, pieces), apart), 64, &s.copy) &&
              pte_mul(rows * sizeof(float), held, &s.block) && pte_align(s.block, 64, &s.block) &&
              pte_add(s.table, s.copy, &s.total) && pte_add(s.total, s.decoded, &s.total) &&
              pte_add(s.total, s.block, &s.total) && pte_add(s.total, HELD_BYTES, &s.total);
  *out = s;
  return fits;
}

bool pte_gemm_scratch(const pte_gemm *g, uint32_t threads, uint64_t *out_bytes) {
  gemm_share share;
  return share_of(g, &share) && pte_mul(share.total, threads, out_bytes);
}

/* Whether rows lie evenly, and the variant takes them so. Lines of a few would be tiles of a few.
 */
static bool even(const pte_gemm *g, const pte_gemm_f32 *kernel) {
  return PTE_PARTS && kernel->parts != NULL && g->lines.width > PTE_SPAN / 2 && g->rows > PTE_STRIP;
}

/* Whether rows are few, and the variant takes them so. */
static bool takes_few(const pte_gemm *g, const pte_gemm_f32 *kernel, const gemm_share *share) {
  return FEW && share->few && (pte_gemm_decodes(g) ? g->panels.few != NULL : kernel->few != NULL);
}

/* Up to PTE_SPAN rows of a line, `row` being the first one's number in the block. */
typedef struct gemm_span {
  const float *x;
  size_t row, rows;
} gemm_span;

static void add_pair(gemm_block *b, gemm_span s, gemm_span t) {
  const gemm_span *more = s.rows < t.rows ? &t : &s, *less = s.rows < t.rows ? &s : &t;
  b->pairs[b->pair_count++] = (pte_pair_f32){
      {more->x,   less->x  },
      {more->row, less->row},
      s.rows + t.rows
  };
}

/* A tile of its own: no other span of about as many rows is beside it. */
static void add_halves(gemm_block *b, gemm_span s) {
  const size_t half = s.rows - s.rows / 2;
  const gemm_span rest = {s.x + half * b->g->lines.row_stride, s.row + half, s.rows / 2};
  add_pair(b, (gemm_span){s.x, s.row, half}, rest);
}

/* Rows that meet in one set of L1 go together as far as it has ways for them. */
static size_t span_of(const pte_gemm *g) {
  return pte_gemm_same_set(&g->cut, g->lines.row_stride) ? g->cut.span : PTE_SPAN;
}

/* Cuts the block's part of each line into spans, and joins these to tiles. */
static bool fill_pairs(gemm_block *b, float *room) {
  const pte_gemm_lines *l = &b->g->lines;
  gemm_span held = {.rows = 0};
  pte_gemm_piece piece = {.group = b->group, .room = room, .pace = b->pace};
  for (size_t done = 0, count; done < b->rows; done += count) {
    count = pte_least(l->width - (b->row + done) % l->width, b->rows - done);
    piece.first = b->row + done, piece.count = count, piece.follows = done > 0;
    const float *x = l->piece(b->g->source, &piece);
    if (x == NULL) return false;
    size_t n = pte_ceil_div(count, b->span);
    if (count == b->rows && n > 1) n += n % 2; /* all joined */
    for (size_t i = 0, at = 0, end; i < n; i++, at = end) {
      end = count * (i + 1) / n;
      const gemm_span s = {x + at * l->row_stride, done + at, end - at};
      const bool joins = held.rows <= s.rows + 1 && s.rows <= held.rows + 1;
      if (held.rows > 0 && joins) add_pair(b, held, s);
      else if (held.rows > 0) add_halves(b, held);
      held = held.rows > 0 && joins ? (gemm_span){.rows = 0} : s;
    }
  }
  if (held.rows > 0) add_halves(b, held);
  return true;
}

/* Where rows will lie in a thread's share. */
static void place_block(gemm_block *b, const gemm_share *share, char *scratch) {
  const bool lies = b->g->run != 0 && even(b->g, b->kernel);
  b->decoded = (float *)(void *)(scratch + share->table + share->copy);
  b->table = (const float **)(void *)scratch, b->pairs = (pte_pair_f32 *)(void *)scratch;
  b->taps = lies ? b->g->lines.taps : b->g->taps, b->run = lies ? b->g->lines.run : b->g->run;
}

/* `apart`: 0, or where rows are copied to `room`. */
static bool few_fill(gemm_block *b, size_t apart, float *room) {
  const pte_gemm_lines *l = &b->g->lines;
  pte_gemm_piece piece = {b->group, b->row, b->rows, false, NULL, b->pace};
  b->few = l->piece(b->g->source, &piece);
  b->few_stride = l->row_stride;
  if (b->few == NULL || apart == 0) return b->few != NULL;
  if (!pte_pace_go(b->pace, (int64_t)(b->rows * l->run))) return false;
  for (size_t m = 0; m < b->rows; m++)
    memcpy(room + m * apart, b->few + m * l->row_stride, l->run * sizeof *room);
  b->few = room, b->few_stride = apart;
  return true;
}

static bool fill_block(gemm_block *b, const gemm_share *share, char *scratch) {
  float *copy = (float *)(void *)(scratch + share->table);
  b->pair_count = 0, b->few = NULL;
  if (takes_few(b->g, b->kernel, share) && b->run != 0 && b->rows == b->g->rows) {
    if (!few_fill(b, share->apart, copy)) return false;
    if (!pte_gemm_decodes(b->g)) return true;
  } /* those of weights that are decoded may yet go the other way */
  if (b->run != 0 && even(b->g, b->kernel)) return fill_pairs(b, copy);
  pte_gemm_rows rows = {b->group, b->row, b->rows, b->g->taps, b->table, copy, b->pace};
  return b->run == 0 || b->g->fill(b->g->source, &rows);
}

void pte_gemm_part(const pte_gemm *g, uint32_t cpu, void *scratch, size_t group,
                   const size_t rows[2], const size_t panels[2]) {
  gemm_share share;
  pte_pace pace = pte_pace_of(g->watch);
  if (!share_of(g, &share)) return; /* pte_gemm_scratch refused it */
  const size_t most = block_of(g, PTE_BLOCK_GEMM_ROWS), wide = block_of(g, PTE_BLOCK_GEMM_PANELS);
  for (size_t m = rows[0]; m < rows[1]; m += most) {
    gemm_block b = {.g = g, .span = span_of(g), .group = group, .row = m, .pace = &pace};
    b.kernel = pte_gemm_f32_pick(cpu);
    b.rows = pte_least(most, rows[1] - m);
    place_block(&b, &share, scratch);
    if (!fill_block(&b, &share, scratch)) return;
    for (b.panel_begin = panels[0]; b.panel_begin < panels[1]; b.panel_begin += wide) {
      b.panel_end = pte_least(b.panel_begin + wide, panels[1]);
      aim_block(&b, NULL);
      if (!run_block(&b)) return;
    }
  }
}

/* --- all of it, on the pool ------------------------------------------------------------------- */

typedef struct gemm_grid {
  const pte_gemm *g;
  const pte_gemm_f32 *kernel;
  char *scratch;
  gemm_share share;
  size_t panels, row_blocks, column_blocks; /* of one group */
  size_t unit;                              /* rows that a tile has at best */
  size_t span;                              /* and rows that follow each other */
} gemm_grid;

/* Blocks of columns, at most: two panels each where tiles have two, and as many for each thread. */
static size_t column_limit(const gemm_grid *grid, size_t threads) {
  const size_t bands = grid->g->groups * grid->row_blocks, pairs = pte_ceil_div(grid->panels, 2);
  if (!even(grid->g, grid->kernel) || bands * pairs < threads) return grid->panels;
  size_t limit = pairs;
  while (limit > 1 && bands * limit % threads != 0) limit--;
  return limit > 1 ? limit : pairs;
}

/* Blocks of at most GEMM_ROWS x GEMM_PANELS; more of them where threads would idle, as long as a
 * block keeps 2^17 steps (two microseconds) and, split by rows, 8 strips, or 7 tiles of rows that
 * lie evenly: threads that each take all rows of half the panels read these from memory once. Four
 * blocks a thread even out cores of different speed; where panels should stream, each gets one.
 */
static void grid_split(gemm_grid *grid, uint32_t threads) {
  const pte_gemm *g = grid->g;
  size_t depth = pte_most(g->taps * g->run, 1), strip_work = depth * PTE_PANEL;
  size_t work =
      pte_most(pte_tasks_worth(strip_work * g->rows, grid->panels * g->groups, 131072), 1);
  bool streams = g->rows == 1 || takes_few(g, grid->kernel, &grid->share);
  size_t wanted = threads <= 1 ? 1 : pte_least(streams ? threads : 4 * (size_t)threads, work);
  grid->unit = even(g, grid->kernel) ? 2 * PTE_SPAN : 2 * PTE_STRIP;
  grid->row_blocks =
      pte_ceil_div(g->rows, block_of(g, PTE_BLOCK_GEMM_ROWS) / grid->unit * grid->unit);
  grid->column_blocks = pte_ceil_div(g->columns, block_columns(g, streams));
  size_t rows_wanted = pte_ceil_div(wanted, g->groups * grid->column_blocks);
  const size_t least_rows = even(g, grid->kernel) ? 7 * grid->unit : 8 * PTE_STRIP;
  grid->row_blocks = pte_most(grid->row_blocks, pte_least(rows_wanted, g->rows / least_rows));
  size_t columns_wanted = pte_ceil_div(wanted, g->groups * grid->row_blocks);
  columns_wanted = pte_least(columns_wanted, column_limit(grid, pte_most(threads, 1)));
  grid->column_blocks = pte_most(grid->column_blocks, columns_wanted);
}

/* Rows that lie in the block whole and dense are one span. */
static bool run_epilogue(const gemm_block *b, uint32_t thread) {
  const pte_gemm *g = b->g;
  size_t count = columns_of(b), rows = b->rows, span = count;
  if (count == g->groups * g->columns && count == b->out_stride) rows = 1, span = b->rows * count;
  for (size_t m = 0; m < rows; m++) {
    if (!pte_pace_go(b->pace, (int64_t)span * g->epilogue->step_count)) return false;
    pte_epilogue_run(g->epilogue, thread, (int64_t)(b->row + m), (int64_t)first_column(b),
                     (int64_t)span, b->out + m * b->out_stride);
  }
  return true;
}

/* To a place that is not even. */
static bool put_block(const gemm_block *b) {
  size_t columns = columns_of(b);
  for (size_t at = 0, count; at < columns; at += count) {
    count = (size_t)pte_pace_take(b->pace, (int64_t)(columns - at), (int64_t)b->rows, 16);
    if (count == 0) return false;
    pte_place_put(b->g->place, b->row, b->rows, first_column(b) + at, count, b->out + at,
                  b->out_stride);
  }
  return true;
}

/* The first row of block `block`: where a tile begins, if blocks are much longer. Rounded up, so
 * that no block, the last one neither, gets more than GEMM_ROWS. */
static size_t row_begin(const gemm_grid *grid, size_t block) {
  const size_t rows = grid->g->rows, at = rows * block / grid->row_blocks;
  if (block == grid->row_blocks || rows / grid->row_blocks < 4 * grid->unit) return at;
  return pte_ceil_div(at, grid->unit) * grid->unit;
}

static gemm_held *held_of(const gemm_grid *grid, size_t thread) {
  return (gemm_held *)(void *)(grid->scratch + grid->share.total * (thread + 1) - HELD_BYTES);
}

static void grid_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const gemm_grid *grid = context;
  const pte_gemm *g = grid->g;
  pte_pace pace = pte_pace_of(g->watch);
  gemm_block b = {.g = g, .kernel = grid->kernel, .span = grid->span, .pace = &pace};
  for (size_t i = begin; i < end; i++) {
    size_t band = i / grid->column_blocks, column = i % grid->column_blocks,
           block = band % grid->row_blocks;
    b.group = band / grid->row_blocks;
    b.row = row_begin(grid, block);
    b.rows = row_begin(grid, block + 1) - b.row;
    b.panel_begin = grid->panels * column / grid->column_blocks;
    b.panel_end = grid->panels * (column + 1) / grid->column_blocks;
    char *scratch = grid->scratch + grid->share.total * thread;
    gemm_held *held = held_of(grid, thread);
    place_block(&b, &grid->share, scratch);
    if (grid->column_blocks > 1 && held->band == band && !(FEW && grid->share.few)) {
      b.pair_count = held->pair_count;
    } else {
      held->band = SIZE_MAX;
      if (!fill_block(&b, &grid->share, scratch)) return;
      *held = (gemm_held){band, b.pair_count};
    }
    aim_block(&b, (float *)(void *)((char *)held - grid->share.block));
    if (!run_block(&b)) return;
    if (g->epilogue != NULL && !run_epilogue(&b, thread)) return;
    if (g->place != NULL && !put_block(&b)) return;
  }
}

void pte_gemm_run(const pte_call *call, const pte_gemm *g, void *scratch) {
  gemm_grid grid = {.g = g, .scratch = scratch, .span = span_of(g)};
  grid.kernel = pte_gemm_f32_pick(call->cpu);
  if (g->groups == 0 || g->rows == 0 || g->columns == 0 || !share_of(g, &grid.share)) return;
  grid.panels = pte_panel_count(g->columns);
  grid_split(&grid, call->threads);
  for (size_t i = 0; grid.column_blocks > 1 && i < call->threads; i++)
    held_of(&grid, i)->band = SIZE_MAX;
  pte_parallel(call, g->groups * grid.row_blocks * grid.column_blocks, 1, grid_task, &grid);
}
