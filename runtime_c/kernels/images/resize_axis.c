/* The coordinates and weights of ONNX Resize, in f64, each weight rounded to f32 once. Names and
 * order of the steps are those of onnx/reference/ops/op_resize.py. Cubic: Keys 1981. */
#include "kernels/images/resize_axis.h"

#include "core/math.h"

static double shrink(const pte_resize_axis *axis) { return axis->scale < 1.0 ? axis->scale : 1.0; }

/* The first tap's distance from the element left of the coordinate, for antialiased downsampling.
 * Asked before the scale is checked, too: any number, or none. */
static int64_t antialias_start(double reach, const pte_resize_axis *axis) {
  double first = pte_floor_f64(-reach / shrink(axis));
  return first > -0x1p52 && first < 0x1p52 ? (int64_t)first + 1 : -((int64_t)1 << 52);
}

int64_t pte_resize_tap_count(const pte_resize_attrs *attrs, const pte_resize_axis *axis) {
  if (attrs->mode == PTE_RESIZE_MODE_NEAREST) return 1;
  bool linear = attrs->mode == PTE_RESIZE_MODE_LINEAR;
  if (attrs->antialias) return 2 - 2 * antialias_start(linear ? 1.0 : 2.0, axis);
  return linear ? 2 : 4;
}

static double coordinate(const pte_resize_attrs *attrs, const pte_resize_axis *axis, int64_t at) {
  double in = (double)axis->in, y = (double)at, out = axis->scale * in;
  switch (attrs->coordinates) {
  case PTE_RESIZE_COORDINATES_ALIGN_CORNERS: return out == 1.0 ? 0.0 : y * (in - 1.0) / (out - 1.0);
  case PTE_RESIZE_COORDINATES_ASYMMETRIC: return y / axis->scale;
  case PTE_RESIZE_COORDINATES_TF_CROP_AND_RESIZE: {
    /* roi is f32 in ONNX, and a rounding later decides which element nearest takes */
    double span = (double)((float)axis->region_end - (float)axis->region_begin);
    double inside = out == 1.0 ? span * (in - 1.0) / 2.0 : y * span * (in - 1.0) / (out - 1.0);
    return inside + (double)((float)axis->region_begin * (float)(in - 1.0));
  }
  case PTE_RESIZE_COORDINATES_PYTORCH_HALF_PIXEL:
    return out == 1.0 ? -0.5 : (y + 0.5) / axis->scale - 0.5;
  case PTE_RESIZE_COORDINATES_HALF_PIXEL_SYMMETRIC: {
    double offset = in / 2.0 * (1.0 - (double)axis->out / out);
    return offset + (y + 0.5) / axis->scale - 0.5;
  }
  default: return (y + 0.5) / axis->scale - 0.5;
  }
}

/* Keys' kernel at distance x. */
static double cubic_weight(double a, double x) {
  x = pte_abs_f64(x);
  if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
  return 0.0;
}

static double linear_weight(double x) {
  x = pte_abs_f64(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

/* The element that nearest takes; `ratio` in (0, 1] from the element `left`. */
static int64_t nearest_index(const pte_resize_attrs *attrs, int64_t left, double ratio) {
  if (ratio == 1.0) return left + 1;
  switch (attrs->nearest) {
  case PTE_RESIZE_NEAREST_FLOOR: return left;
  case PTE_RESIZE_NEAREST_CEIL: return left + 1;
  case PTE_RESIZE_NEAREST_ROUND_PREFER_CEIL: return left + (ratio >= 0.5);
  default: return left + (ratio > 0.5);
  }
}

/* Weights of the taps first, first + 1, ... relative to `left`, and their sum 1 where the mode asks
 * for it. */
static bool find_weights(pte_pace *pace, const pte_resize_attrs *attrs, const pte_resize_axis *axis,
                         int64_t left, double ratio, int64_t count, double *line) {
  double stretch = attrs->antialias ? shrink(axis) : 1.0, sum = 0.0;
  bool linear = attrs->mode == PTE_RESIZE_MODE_LINEAR;
  for (int64_t t = 0, end = 0; t < count; t++) {
    if (t == end && (end += pte_pace_take(pace, count - t, 16, 1)) == t) return false;
    int64_t from_left = t - (count / 2 - 1), index = left + from_left;
    double distance = stretch * ((double)from_left - ratio);
    line[t] = linear ? linear_weight(distance) : cubic_weight(attrs->cubic, distance);
    if (attrs->exclude_outside && (index < 0 || index >= axis->in)) line[t] = 0.0;
    sum += line[t];
  }
  if ((!attrs->antialias && !attrs->exclude_outside) || sum == 0.0) return true;
  for (int64_t t = 0, end = 0; t < count; t++) {
    if (t == end && (end += pte_pace_take(pace, count - t, 1, 1)) == t) return false;
    line[t] /= sum;
  }
  return true;
}

static int64_t clip(int64_t index, int64_t count) {
  return index < 0 ? 0 : index >= count ? count - 1 : index;
}

bool pte_resize_find_taps(pte_pace *pace, const pte_resize_attrs *attrs,
                          const pte_resize_axis *axis, double *line, pte_resize_taps taps) {
  int64_t count = pte_resize_tap_count(attrs, axis);
  for (int64_t j = 0; j < axis->out; j++) {
    if (!pte_pace_go(pace, 16)) return false;
    double x = coordinate(attrs, axis, j), floor = pte_floor_f64(x);
    /* An element that is hit exactly counts as the right one of its pair. */
    double ratio = x == floor ? 1.0 : x - floor;
    int64_t left = (int64_t)floor - (x == floor);
    bool crop = attrs->coordinates == PTE_RESIZE_COORDINATES_TF_CROP_AND_RESIZE;
    taps.outside[j] = crop && (x < 0.0 || x > (double)(axis->in - 1));
    if (attrs->mode == PTE_RESIZE_MODE_NEAREST) {
      taps.index[j] = clip(nearest_index(attrs, left, ratio), axis->in);
      continue;
    }
    if (!find_weights(pace, attrs, axis, left, ratio, count, line)) return false;
    for (int64_t t = 0, end = 0; t < count; t++) {
      if (t == end && (end += pte_pace_take(pace, count - t, 2, 1)) == t) return false;
      taps.index[j * count + t] = clip(left + t - (count / 2 - 1), axis->in);
      taps.weight[j * count + t] = (float)line[t];
    }
  }
  return true;
}
