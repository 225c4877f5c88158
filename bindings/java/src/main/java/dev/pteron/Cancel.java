package dev.pteron;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Ends the runs that were started with it, from any thread. */
public final class Cancel {
  /** The word that the runtime looks at. */
  final ByteBuffer word = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder());

  /** Ends them with {@link PteronException.Limit} (CANCELLED), and those to come. */
  public void cancel() {
    word.putInt(0, 1);
  }

  /** Lets later runs go on. */
  public void reset() {
    word.putInt(0, 0);
  }
}
