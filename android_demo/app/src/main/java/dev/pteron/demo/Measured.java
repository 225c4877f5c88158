package dev.pteron.demo;

import dev.pteron.Placement;
import dev.pteron.Program;
import dev.pteron.Session;
import dev.pteron.Tensor;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** One program on this phone: how long a run takes, what memory, where its parts run, and the digest of what it gives. */
final class Measured {
  private static final int RUNS = 21;

  final long microseconds, kibibytes;
  final List<Placement> placements;
  final String digest;

  Measured(Program program, Map<String, Tensor> inputs) {
    try (Session session = program.session()) {
      long[] times = new long[RUNS];
      Map<String, Tensor> outputs = session.run(inputs);
      for (int i = 0; i < RUNS; i++) {
        long begin = System.nanoTime();
        outputs = session.run(inputs);
        times[i] = System.nanoTime() - begin;
      }
      Arrays.sort(times);
      microseconds = times[RUNS / 2] / 1000;
      kibibytes = (session.sizes().arena + session.sizes().state) / 1024;
      placements = session.placements();
      digest = digest(outputs);
    }
  }

  /** The first 16 hexadecimal digits of SHA-256 over the outputs' bytes, in their order. */
  static String digest(Map<String, Tensor> outputs) {
    try {
      MessageDigest all = MessageDigest.getInstance("SHA-256");
      for (Tensor output : outputs.values()) {
        ByteBuffer data = output.data();
        all.update(data);
      }
      StringBuilder text = new StringBuilder();
      for (byte b : Arrays.copyOf(all.digest(), 8)) text.append(String.format("%02x", b));
      return text.toString();
    } catch (NoSuchAlgorithmException never) {
      throw new AssertionError(never);
    }
  }
}
