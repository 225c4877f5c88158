package dev.pteron;

/** Bytes of a preparation: all of the arena, of which planned values, scratch, and what kernels keep for all
 * runs; and the states. Immutable. */
public final class Sizes {
  /** Bytes. */
  public final long arena, planned, scratch, state, kept;

  Sizes(long[] numbers) {
    arena = numbers[0];
    planned = numbers[1];
    scratch = numbers[2];
    state = numbers[3];
    kept = numbers[4];
  }
}
