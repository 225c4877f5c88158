package dev.pteron.demo;

/** A drawing as the classifier was trained on: 32 x 32 dots, counted in blocks of 4 x 4, from 0 to 1. */
final class Raster {
  static final int DOTS = 32, CELLS = 8;
  private static final float PEN = 1.6f; // the radius of a stroke, in dots

  private final boolean[] dots = new boolean[DOTS * DOTS];

  void clear() {
    java.util.Arrays.fill(dots, false);
  }

  /** A stroke between two places, from 0 to 1 each. */
  void line(float x0, float y0, float x1, float y1) {
    float ax = x0 * DOTS, ay = y0 * DOTS, dx = x1 * DOTS - ax, dy = y1 * DOTS - ay;
    float length = dx * dx + dy * dy;
    for (int y = 0; y < DOTS; y++)
      for (int x = 0; x < DOTS; x++) {
        float px = x + 0.5f - ax, py = y + 0.5f - ay;
        float t = length == 0 ? 0 : Math.max(0, Math.min(1, (px * dx + py * dy) / length));
        float ox = px - t * dx, oy = py - t * dy;
        if (ox * ox + oy * oy <= PEN * PEN) dots[y * DOTS + x] = true;
      }
  }

  /** 8 x 8 numbers, row by row. */
  float[] cells() {
    float[] out = new float[CELLS * CELLS];
    int side = DOTS / CELLS;
    for (int i = 0; i < dots.length; i++)
      if (dots[i]) out[i / DOTS / side * CELLS + i % DOTS / side] += 1.0f / (side * side);
    return out;
  }
}
