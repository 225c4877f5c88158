/* conv and conv_depthwise against plain loops, for every variant and 1 to 3 threads. */
// sources: library
#include "core/math.h"
#include "gen/ops.h"
#include "kernel_case.h"

enum { KERNEL, STRIDE, DILATION, BEGIN, END, SPREAD, LISTS };

typedef struct geometry {
  uint8_t axes;
  int64_t batch, channels, columns, groups;
  int64_t in[3], list[LISTS][3], ints[LISTS * 3];
  int64_t out[3];
} geometry;

static geometry plain_geometry(uint8_t axes, int64_t channels, int64_t columns) {
  geometry g = {.axes = axes, .batch = 1, .channels = channels, .columns = columns, .groups = 1};
  for (unsigned i = 0; i < 3; i++)
    g.in[i] = 7, g.list[KERNEL][i] = 3,
    g.list[STRIDE][i] = g.list[DILATION][i] = g.list[SPREAD][i] = 1;
  return g;
}

static void measure(geometry *g) {
  for (unsigned l = 0; l < LISTS; l++)
    for (unsigned i = 0; i < g->axes; i++) g->ints[l * g->axes + i] = g->list[l][i];
  for (unsigned i = 0; i < g->axes; i++) {
    int64_t whole = g->in[i] == 0 ? 0 : (g->in[i] - 1) * g->list[SPREAD][i] + 1;
    int64_t span = (g->list[KERNEL][i] - 1) * g->list[DILATION][i] + 1;
    int64_t room = whole + g->list[BEGIN][i] + g->list[END][i] - span;
    g->out[i] = room < 0 ? 0 : room / g->list[STRIDE][i] + 1;
  }
}

/* One element of x spread and padded; outside it is zero. */
static float padded(const geometry *g, const float *x, int64_t batch, const int64_t *at,
                    int64_t channel) {
  int64_t flat = batch;
  for (unsigned i = 0; i < g->axes; i++) {
    if (at[i] < 0 || at[i] % g->list[SPREAD][i] != 0 || at[i] / g->list[SPREAD][i] >= g->in[i])
      return 0.0f;
    flat = flat * g->in[i] + at[i] / g->list[SPREAD][i];
  }
  return x[flat * g->channels + channel];
}

static int64_t product(const int64_t *list, unsigned count) {
  int64_t p = 1;
  for (unsigned i = 0; i < count; i++) p *= list[i];
  return p;
}

static void split(int64_t flat, const int64_t *shape, unsigned count, int64_t *at) {
  for (unsigned i = count; i-- > 0; flat /= shape[i]) at[i] = flat % shape[i];
}

static float conv_at(const geometry *g, const float *x, const float *w, int64_t batch,
                     int64_t pixel, int64_t n) {
  int64_t taps = product(g->list[KERNEL], g->axes), width = g->channels / g->groups;
  int64_t first = n / (g->columns / g->groups) * width, o[3], t[3], at[3];
  float sum = 0;
  split(pixel, g->out, g->axes, o);
  for (int64_t tap = 0; tap < taps; tap++) {
    split(tap, g->list[KERNEL], g->axes, t);
    for (unsigned i = 0; i < g->axes; i++)
      at[i] = o[i] * g->list[STRIDE][i] + t[i] * g->list[DILATION][i] - g->list[BEGIN][i];
    for (int64_t c = 0; c < width; c++)
      sum = pte_fma(padded(g, x, batch, at, first + c), w[(n * taps + tap) * width + c], sum);
  }
  return sum;
}

static pte_tensor image(const geometry *g, const int64_t *extents, int64_t channels) {
  int64_t shape[5] = {g->batch};
  for (unsigned i = 0; i < g->axes; i++) shape[1 + i] = extents[i];
  shape[1 + g->axes] = channels;
  return case_tensor((uint8_t)(g->axes + 2), shape);
}

static pte_range list_range(const geometry *g, uint32_t l) {
  return (pte_range){l * g->axes, g->axes};
}

static pte_conv_attrs conv_attrs(const geometry *g) {
  return (pte_conv_attrs){.size = sizeof(pte_conv_attrs),
                          .kernel = list_range(g, KERNEL),
                          .stride = list_range(g, STRIDE),
                          .dilation = list_range(g, DILATION),
                          .begin = list_range(g, BEGIN),
                          .end = list_range(g, END),
                          .spread = list_range(g, SPREAD),
                          .groups = g->groups};
}

static pte_conv_depthwise_attrs depthwise_attrs(const geometry *g) {
  return (pte_conv_depthwise_attrs){.size = sizeof(pte_conv_depthwise_attrs),
                                    .kernel = list_range(g, KERNEL),
                                    .stride = list_range(g, STRIDE),
                                    .dilation = list_range(g, DILATION),
                                    .begin = list_range(g, BEGIN),
                                    .end = list_range(g, END)};
}

/* [c, t] as [c/16][t][16]. */
static pte_tensor taps_of(const pte_tensor *plain) {
  size_t channels = (size_t)plain->shape[0], taps = (size_t)plain->shape[1];
  pte_tensor t = *plain;
  t.layout = PTE_TAPS;
  size_t bytes = (channels + 15) / 16 * 16 * taps * sizeof(float);
  t.data = memset(case_memory(bytes), 0, bytes);
  for (size_t c = 0; c < channels; c++)
    for (size_t i = 0; i < taps; i++)
      ((float *)t.data)[(c / 16 * taps + i) * 16 + c % 16] =
          ((const float *)plain->data)[c * taps + i];
  return t;
}

static void check_conv(geometry g, bool depthwise) {
  measure(&g);
  int64_t taps = product(g.list[KERNEL], g.axes), pixels = product(g.out, g.axes);
  pte_tensor plain = case_tensor(2, (int64_t[]){g.columns, taps * (g.channels / g.groups)});
  pte_conv_attrs conv = conv_attrs(&g);
  pte_conv_depthwise_attrs deep = depthwise_attrs(&g);
  kernel_case c = {
      .kernel = depthwise ? &pte_conv_depthwise_kernel : &pte_conv_kernel,
      .attrs = depthwise ? (const void *)&deep : &conv,
      .tables = {.ints = g.ints},
      .in_count = 3,
      .present = {true, true, case_below(2) == 0}
  };
  c.in[0] = image(&g, g.in, g.channels);
  c.in[1] = depthwise ? taps_of(&plain) : case_panels(&plain, (size_t)g.groups);
  c.in[2] = case_tensor(1, (int64_t[]){g.columns});
  c.out = image(&g, g.out, g.columns);
  size_t count = (size_t)(g.batch * pixels * g.columns);
  float *expected = case_memory(count * sizeof *expected), *y = expected;
  const float *bias = c.in[2].data;
  for (int64_t b = 0; b < g.batch; b++)
    for (int64_t p = 0; p < pixels; p++)
      for (int64_t n = 0; n < g.columns; n++) {
        *y = conv_at(&g, c.in[0].data, plain.data, b, p, n);
        if (c.present[2]) *y += bias[n];
        y++;
      }
  case_run(&c, expected, count);
  free(expected), free(plain.data), free(c.out.data);
  for (int i = 0; i < 3; i++) free(c.in[i].data);
}

static geometry random_geometry(bool depthwise) {
  uint8_t axes = (uint8_t)(1 + case_below(3));
  int64_t groups = case_below(3) == 0 ? 2 + case_below(3) : 1;
  geometry g = plain_geometry(axes, 0, 0);
  g.batch = 1 + case_below(2);
  for (unsigned i = 0; i < axes; i++) {
    g.in[i] = 3 + case_below(8);
    g.list[KERNEL][i] = 1 + case_below(4);
    g.list[STRIDE][i] = 1 + case_below(3);
    g.list[DILATION][i] = 1 + case_below(2);
    g.list[BEGIN][i] = (int64_t)case_below(4) - 1;
    g.list[END][i] = (int64_t)case_below(4) - 1;
    if (!depthwise && case_below(4) == 0) g.list[SPREAD][i] = 1 + case_below(3);
  }
  g.groups = groups;
  g.channels = groups * (1 + case_below(24));
  g.columns = groups * (1 + case_below(40));
  if (depthwise) g.groups = g.columns = g.channels = 1 + case_below(70);
  return g;
}

static void any_geometry_is_the_plain_sum(void) {
  for (unsigned i = 0; i < 150; i++) check_conv(random_geometry(false), false);
}

static void any_depthwise_geometry_is_the_plain_sum(void) {
  for (unsigned i = 0; i < 80; i++) check_conv(random_geometry(true), true);
}

static void a_stem_joins_taps_and_a_deep_layer_blocks_them(void) {
  geometry stem = plain_geometry(2, 3, 40), deep = plain_geometry(2, 300, 20),
           sound = plain_geometry(1, 1, 20);
  for (unsigned i = 0; i < 2; i++) {
    stem.in[i] = 20, stem.list[KERNEL][i] = 7, stem.list[STRIDE][i] = 2;
    stem.list[BEGIN][i] = 3, stem.list[END][i] = 2;
    deep.in[i] = 6, deep.list[BEGIN][i] = deep.list[END][i] = 1;
  }
  sound.in[0] = 900, sound.list[KERNEL][0] = 300, sound.list[STRIDE][0] = 10,
  sound.list[BEGIN][0] = 30;
  check_conv(stem, false);
  check_conv(deep, false);
  check_conv(sound, false);
}

static void a_kernel_of_one_is_a_matrix_with_groups_or_without(void) {
  for (int64_t groups = 1; groups <= 3; groups++) {
    geometry g = plain_geometry(2, 12, 36);
    g.groups = groups;
    g.list[KERNEL][0] = g.list[KERNEL][1] = 1;
    check_conv(g, false);
  }
}

static void nothing_in_gives_nothing_out_or_the_bias(void) {
  geometry g = plain_geometry(2, 0, 5);
  check_conv(g, false);
  g = plain_geometry(2, 4, 5);
  g.in[0] = 0;
  g.list[BEGIN][0] = 4;
  check_conv(g, false);
  g.list[BEGIN][0] = 0;
  check_conv(g, false);
  g.batch = 0;
  check_conv(g, false);
}

/* Every single change must be refused, or the geometry would mean another output. */
static void hostile_attributes_are_refused(void) {
  static const int64_t values[] = {INT64_MIN, -INT64_C(5000000000), 0,
                                   9,         INT64_C(5000000000),  INT64_MAX};
  for (unsigned l = 0; l < LISTS; l++)
    for (unsigned v = 0; v < sizeof values / sizeof *values; v++) {
      geometry g = plain_geometry(2, 4, 6);
      measure(&g);
      if (values[v] == g.list[l][0]) continue;
      pte_tensor plain = case_tensor(2, (int64_t[]){6, 36});
      pte_conv_attrs attrs = conv_attrs(&g);
      kernel_case c = {
          .kernel = &pte_conv_kernel, .attrs = &attrs, .tables = {.ints = g.ints}, .in_count = 3};
      c.present[0] = c.present[1] = true;
      c.in[0] = image(&g, g.in, g.channels);
      c.in[1] = case_panels(&plain, 1);
      c.out = image(&g, g.out, g.columns);
      CHECK_EQUAL(case_check(&c), PTE_OK);
      g.ints[l * 2] = values[v];
      CHECK(case_check(&c) != PTE_OK);
      free(plain.data), free(c.in[0].data), free(c.in[1].data), free(c.out.data);
    }
}

static void groups_that_do_not_divide_are_refused(void) {
  static const int64_t values[] = {INT64_MIN, -1, 0, 2, 4, INT64_MAX};
  for (unsigned v = 0; v < sizeof values / sizeof *values; v++) {
    geometry g = plain_geometry(2, 6, 6);
    measure(&g);
    pte_tensor plain = case_tensor(2, (int64_t[]){6, 54});
    pte_conv_attrs attrs = conv_attrs(&g);
    kernel_case c = {
        .kernel = &pte_conv_kernel, .attrs = &attrs, .tables = {.ints = g.ints}, .in_count = 3};
    c.present[0] = c.present[1] = true;
    c.in[0] = image(&g, g.in, g.channels);
    c.in[1] = case_panels(&plain, 1);
    c.out = image(&g, g.out, g.columns);
    attrs.groups = values[v];
    CHECK(case_check(&c) != PTE_OK);
    c.in[1].groups = (uint16_t)values[v];
    CHECK(case_check(&c) != PTE_OK);
    free(plain.data), free(c.in[0].data), free(c.in[1].data), free(c.out.data);
  }
}

int main(void) {
  any_geometry_is_the_plain_sum();
  any_depthwise_geometry_is_the_plain_sum();
  a_stem_joins_taps_and_a_deep_layer_blocks_them();
  a_kernel_of_one_is_a_matrix_with_groups_or_without();
  nothing_in_gives_nothing_out_or_the_bias();
  hostile_attributes_are_refused();
  groups_that_do_not_divide_are_refused();
  return check_done();
}
