package dev.pteron;

import java.nio.ByteBuffer;

/**
 * The functions of libpteron_jni. Handles are addresses: {@link Handle} sees to it that none is used after it was
 * closed, {@link Session} that no session is used by two threads.
 */
final class Native {
  static final int INPUT = 0, OUTPUT = 1, STATE = 2;
  static final int KEEP = 0, RESET = 1, ADOPT = 2;

  static {
    String path = System.getProperty("pteron.library");
    if (path != null) System.load(path);
    else System.loadLibrary("pteron_jni");
  }

  private Native() {}

  static native long programOpen(
      byte[] path,
      ByteBuffer bytes,
      boolean copy,
      byte[][] names,
      byte[][] paths,
      ByteBuffer[] buffers,
      int[] delegates);

  static native void programClose(long program);

  static native void programCheck(long program);

  static native byte[] programDescribe(long program);

  static native byte[] programInstr(long program, int index);

  static native byte[] programNode(long program, int index);

  static native byte[] delegates();

  static native int cpu();

  static native int processors();

  static native long poolOpen(int threads);

  static native long sessionOpen(
      long program, int method, int threads, long pool, int cpu, long maxBytes, long maxExtent);

  static native void sessionClose(long session);

  static native long[] sessionPrepare(
      long session, long[][] shapes, long[][] values, int reset, long adopted);

  static native long[] sessionExtents(long session, int kind, int index);

  static native long[] sessionRun(
      long session,
      ByteBuffer[] inputs,
      ByteBuffer[] outputs,
      ByteBuffer cancel,
      long timeoutNs,
      long maxInstructions,
      long maxIterations,
      boolean trace);

  static native void sessionGetState(long session, int index, ByteBuffer data);

  static native void sessionSetState(long session, int index, ByteBuffer data);

  static native void sessionReset(long session);

  static native long[] sessionPosition(long session);

  static native void sessionRewind(long session, long position);

  static native byte[] sessionSave(long session);

  static native void sessionRestore(long session, byte[] saved);

  static native byte[] sessionPlacements(long session);

  static native int sample(
      float[] logits,
      int topK,
      float temperature,
      float topP,
      float minP,
      long seed,
      long stream,
      long position);
}
