package dev.pteron;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;

/**
 * A dense, row-major array in a direct buffer, which the runtime reads and writes in place: no element is copied on the
 * way.
 */
public final class Tensor {
  private final DType dtype;
  private final long[] shape;
  private final ByteBuffer data;

  private Tensor(DType dtype, long[] shape, ByteBuffer data) {
    this.dtype = dtype;
    this.shape = shape;
    this.data = data;
  }

  /** A tensor of zeros. */
  public static Tensor zeros(DType dtype, long... shape) {
    return new Tensor(
        PteronException.need(dtype, "dtype"), shape.clone(), room(bytesOf(dtype, shape)));
  }

  /**
   * A tensor of the bytes between position and limit of a direct buffer, which stay the caller's and are used in place.
   *
   * @throws PteronException.BadArgument the buffer is none of direct memory, or has another number of bytes
   */
  public static Tensor wrap(DType dtype, ByteBuffer data, long... shape) {
    PteronException.need(dtype, "dtype");
    if (!PteronException.need(data, "data").isDirect())
      throw PteronException.badArgument(
          "data: expected a direct buffer (ByteBuffer.allocateDirect), got one of the heap");
    long bytes = bytesOf(dtype, shape);
    if (data.remaining() != bytes)
      throw PteronException.badArgument(
          String.format(
              "data: expected %d bytes for %s%s, got %d",
              bytes, dtype, Arrays.toString(shape), data.remaining()));
    return new Tensor(dtype, shape.clone(), data.slice().order(ByteOrder.nativeOrder()));
  }

  /** A tensor of f32, with these elements. */
  public static Tensor of(float[] values, long... shape) {
    Tensor out = counted(DType.F32, PteronException.need(values, "values").length, shape);
    out.floats().put(values);
    return out;
  }

  /** A tensor of i32, with these elements. */
  public static Tensor of(int[] values, long... shape) {
    Tensor out = counted(DType.I32, PteronException.need(values, "values").length, shape);
    out.ints().put(values);
    return out;
  }

  /** A tensor of i64, with these elements. */
  public static Tensor of(long[] values, long... shape) {
    Tensor out = counted(DType.I64, PteronException.need(values, "values").length, shape);
    out.longs().put(values);
    return out;
  }

  /** A tensor of i8, with these elements; for other types of a byte, {@link #wrap}. */
  public static Tensor of(byte[] values, long... shape) {
    Tensor out = counted(DType.I8, PteronException.need(values, "values").length, shape);
    out.data().put(values);
    return out;
  }

  private static Tensor counted(DType dtype, int count, long[] shape) {
    Tensor out = zeros(dtype, shape);
    if (out.size() != count)
      throw PteronException.badArgument(
          String.format(
              "values: expected %d for shape %s, got %d",
              out.size(), Arrays.toString(shape), count));
    return out;
  }

  /** The elements' type. */
  public DType dtype() {
    return dtype;
  }

  /** The extents. */
  public long[] shape() {
    return shape.clone();
  }

  /** The number of elements. */
  public long size() {
    return elements(shape);
  }

  /** The bytes, in this machine's order; a view of its own, from position 0. */
  public ByteBuffer data() {
    return data.duplicate().order(ByteOrder.nativeOrder());
  }

  /** The elements, which are f32. */
  public FloatBuffer floats() {
    return as(DType.F32).asFloatBuffer();
  }

  /** The elements, which are i32. */
  public IntBuffer ints() {
    return as(DType.I32).asIntBuffer();
  }

  /** The elements, which are i64. */
  public LongBuffer longs() {
    return as(DType.I64).asLongBuffer();
  }

  /** A copy of the elements, which are f32. */
  public float[] toFloats() {
    float[] out = new float[(int) size()];
    floats().get(out);
    return out;
  }

  /** A copy of the elements, which are i64. */
  public long[] toLongs() {
    long[] out = new long[(int) size()];
    longs().get(out);
    return out;
  }

  private ByteBuffer as(DType wanted) {
    if (dtype != wanted)
      throw PteronException.badArgument("tensor: expected " + wanted + ", got " + dtype);
    return data();
  }

  /** The first elements of a larger room, as a tensor of `shape`. */
  static Tensor inside(ByteBuffer room, DType dtype, long[] shape) {
    ByteBuffer view = room.duplicate();
    view.position(0);
    view.limit((int) bytesOf(dtype, shape));
    return new Tensor(dtype, shape, view.slice().order(ByteOrder.nativeOrder()));
  }

  /** A shape without elements: nothing reads them. */
  static Tensor shaped(DType dtype, long[] shape) {
    return new Tensor(dtype, shape.clone(), room(0));
  }

  /** Whole numbers as the runtime wants those of a shape input. */
  long[] numbers() {
    long[] out = new long[(int) size()];
    ByteBuffer from = data();
    for (int i = 0; i < out.length; i++) {
      switch (dtype) {
        case I64:
        case U64:
          out[i] = from.getLong(8 * i);
          break;
        case I32:
          out[i] = from.getInt(4 * i);
          break;
        case U32:
          out[i] = from.getInt(4 * i) & 0xFFFFFFFFL;
          break;
        case I16:
          out[i] = from.getShort(2 * i);
          break;
        case U16:
          out[i] = from.getShort(2 * i) & 0xFFFF;
          break;
        case F32:
          out[i] = (long) from.getFloat(4 * i);
          break;
        case F64:
          out[i] = (long) from.getDouble(8 * i);
          break;
        default:
          out[i] = dtype == DType.I8 ? from.get(i) : from.get(i) & 0xFF;
      }
    }
    return out;
  }

  static ByteBuffer room(long bytes) {
    if (bytes > Integer.MAX_VALUE)
      throw PteronException.failed(
          PteronException.Status.LIMIT,
          "tensor: " + bytes + " bytes; a buffer of Java has at most 2147483647");
    return ByteBuffer.allocateDirect((int) bytes).order(ByteOrder.nativeOrder());
  }

  private static long elements(long[] shape) {
    long count = 1;
    for (long extent : shape) count *= extent;
    return count;
  }

  private static long bytesOf(DType dtype, long[] shape) {
    PteronException.need(shape, "shape");
    long count = 1;
    boolean empty = false;
    for (long extent : shape) empty |= extent == 0;
    for (long extent : shape) {
      boolean fits = extent >= 0 && (empty || extent <= Integer.MAX_VALUE * 4L / count);
      if (!fits)
        throw PteronException.badArgument(
            "shape: expected extents that a buffer can have, got " + Arrays.toString(shape));
      if (!empty) count *= extent;
    }
    return empty ? 0 : dtype.bytes(count);
  }

  @Override
  public String toString() {
    return dtype + Arrays.toString(shape);
  }
}
