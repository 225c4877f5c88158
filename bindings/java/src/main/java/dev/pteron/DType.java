package dev.pteron;

/** Element types; the numbers of C's PTE_BOOL, PTE_I8, ... are the ordinals. */
public enum DType {
  BOOL(8),
  I8(8),
  I16(16),
  I32(32),
  I64(64),
  U8(8),
  U16(16),
  U32(32),
  U64(64),
  F16(16),
  BF16(16),
  F32(32),
  F64(64),
  F8E4M3(8),
  F8E5M2(8),
  F8E8M0(8),
  F6E2M3(6),
  F6E3M2(6),
  F4E2M1(4),
  I4(4),
  U4(4),
  I2(2),
  U2(2),
  F8E4M3FNUZ(8),
  F8E5M2FNUZ(8);

  /** Bits of an element; those below 8 lie packed, element 0 in the low bits. */
  public final int bits;

  private static final DType[] ALL = values();

  DType(int bits) {
    this.bits = bits;
  }

  static DType of(int number) {
    if (number < 0 || number >= ALL.length)
      throw PteronException.failed(
          PteronException.Status.UNSUPPORTED,
          "dtype " + number + ": this library is older than the runtime; build both from one tree");
    return ALL[number];
  }

  /** Bytes of so many elements. */
  public long bytes(long elements) {
    return (elements * bits + 7) / 8;
  }

  @Override
  public String toString() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
