package dev.pteron;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Reads what jni_common.h's writer wrote. */
final class Description {
  private final ByteBuffer bytes;

  Description(byte[] bytes) {
    this.bytes = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
  }

  boolean more() {
    return bytes.hasRemaining();
  }

  int u32() {
    return bytes.getInt();
  }

  long i64() {
    return bytes.getLong();
  }

  String text() {
    byte[] text = new byte[u32()];
    bytes.get(text);
    return new String(text, StandardCharsets.UTF_8);
  }
}
