package dev.pteron;

import java.util.Arrays;

/** An input, output or state of a method. Immutable. */
public final class Port {
  /** What the model calls it. */
  public final String name;

  /** Its elements' type. */
  public final DType dtype;

  /** True: its values decide shapes, so that another value may mean another preparation. */
  public final boolean shapeInput;

  private final long[] shape, minimum, maximum;
  private final String[] symbols;

  Port(Description d) {
    name = d.text();
    dtype = DType.of(d.u32());
    shapeInput = d.u32() != 0;
    int rank = d.u32();
    shape = new long[rank];
    minimum = new long[rank];
    maximum = new long[rank];
    symbols = new String[rank];
    for (int axis = 0; axis < rank; axis++) {
      shape[axis] = d.i64();
      minimum[axis] = d.i64();
      maximum[axis] = d.i64();
      symbols[axis] = d.text();
    }
  }

  /** The number of axes. */
  public int rank() {
    return shape.length;
  }

  /** Extents; -1 where only a call decides. */
  public long[] shape() {
    return shape.clone();
  }

  /** The symbol of an axis that is not fixed; "" where the extent is fixed, or an expression. */
  public String symbol(int axis) {
    return symbols[axis];
  }

  /** The least extent of an axis. */
  public long minimum(int axis) {
    return minimum[axis];
  }

  /** The largest extent of an axis. */
  public long maximum(int axis) {
    return maximum[axis];
  }

  /** Throws where `given` is not of this rank and these fixed extents. */
  void check(long[] given, String where) {
    boolean fits = given.length == shape.length;
    for (int axis = 0; fits && axis < shape.length; axis++)
      fits = given[axis] >= 0 && (shape[axis] < 0 || shape[axis] == given[axis]);
    if (!fits)
      throw PteronException.badArgument(
          where + ": expected shape " + shapeText() + ", got " + Arrays.toString(given));
  }

  private String shapeText() {
    StringBuilder text = new StringBuilder("[");
    for (int axis = 0; axis < shape.length; axis++) {
      String symbol = symbols[axis].isEmpty() ? "?" : symbols[axis];
      text.append(axis == 0 ? "" : ", ").append(shape[axis] < 0 ? symbol : "" + shape[axis]);
    }
    return text.append("]").toString();
  }

  @Override
  public String toString() {
    return name + ": " + dtype + shapeText();
  }
}
