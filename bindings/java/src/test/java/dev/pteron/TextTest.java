package dev.pteron;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A decoder's context: the bits do not depend on how the tokens came. */
class TextTest {
  final long[] tokens = new long[12];
  final byte[][] want = new byte[12][];

  TextTest() throws IOException {
    Fixtures.bytes(Fixtures.FOLDER.resolve("decoder.tokens")).asLongBuffer().get(tokens);
    ByteBuffer logits = Fixtures.bytes(Fixtures.FOLDER.resolve("decoder.logits"));
    for (int i = 0; i < want.length; i++) {
      want[i] = new byte[logits.capacity() / want.length];
      logits.get(want[i]);
    }
  }

  /** Logits of the last of the tokens begin .. end. */
  byte[] run(Session session, int begin, int end) {
    long[] part = Arrays.copyOfRange(tokens, begin, end);
    Map<String, Tensor> feeds =
        Collections.singletonMap("input_ids", Tensor.of(part, 1, part.length));
    ByteBuffer logits = session.run(feeds).get("logits").data();
    byte[] last = new byte[want[0].length];
    logits.position(logits.capacity() - last.length);
    logits.get(last);
    return last;
  }

  @Test
  void aSessionGoesBackAndOn() throws IOException {
    try (Program program = Program.open(Fixtures.path("decoder"));
        Session session = program.session()) {
      assertArrayEquals(want[11], run(session, 0, 12));
      assertEquals(12, session.position());
      assertEquals(32, session.room());
      for (int back : new int[] {11, 5, 0}) {
        session.rewind(back);
        assertEquals(back, session.position());
        for (int i = back; i < 12; i++) assertArrayEquals(want[i], run(session, i, i + 1), "at " + i);
      }
      for (long never : new long[] {-1, 13, Long.MAX_VALUE})
        assertThrows(PteronException.BadArgument.class, () -> session.rewind(never));
      assertEquals(12, session.position());
    }
  }

  @Test
  void whatOneSavedAnotherGoesOnFrom() throws IOException {
    try (Program program = Program.open(Fixtures.path("decoder"));
        Session session = program.session();
        Session other = program.session()) {
      run(session, 0, 7);
      byte[] saved = session.save();
      assertThrows(PteronException.BadArgument.class, () -> other.restore(saved));
      other.prepare(Collections.singletonMap("input_ids", new long[] {1, 1}));
      other.restore(saved);
      assertEquals(7, other.position());
      assertArrayEquals(want[11], run(other, 7, 12));
      for (int at = 0; at < saved.length; at += 37) {
        byte[] bent = saved.clone();
        bent[at] ^= 1;
        assertThrows(PteronException.BadData.class, () -> other.restore(bent));
      }
      assertThrows(PteronException.BadData.class, () -> other.restore(new byte[0]));
      assertThrows(PteronException.BadArgument.class, () -> other.restore(null));
      assertEquals(12, other.position());
      session.resetStates();
      assertArrayEquals(want[6], run(session, 0, 7));
    }
  }

  @Test
  void aTokenIsDrawnAsPythonDrawsIt() throws IOException {
    ByteBuffer last = ByteBuffer.allocateDirect(2 * want[11].length);
    last.put(want[10]).put(want[11]).flip();
    int count = want[11].length / 4;
    Tensor logits = Tensor.wrap(DType.F32, last, 1, 2, count);
    int drawn = 0;
    for (String line : Files.readAllLines(Fixtures.FOLDER.resolve("decoder.draws"))) {
      String[] w = line.split(" ");
      Sampling how =
          new Sampling()
              .temperature(Float.parseFloat(w[0]))
              .topK(Integer.parseInt(w[1]))
              .topP(Float.parseFloat(w[2]))
              .minP(Float.parseFloat(w[3]))
              .seed(Long.parseUnsignedLong(w[4]), Long.parseUnsignedLong(w[5]));
      assertEquals(Integer.parseInt(w[7]), how.next(logits, Long.parseLong(w[6])), line);
      drawn++;
    }
    assertEquals(12, drawn);
    for (float never : new float[] {-1, Float.NaN, Float.POSITIVE_INFINITY})
      assertThrows(
          PteronException.BadArgument.class, () -> new Sampling().temperature(never).next(logits, 0));
    assertThrows(PteronException.BadArgument.class, () -> new Sampling().topK(-1));
    assertThrows(PteronException.BadArgument.class, () -> new Sampling().next(logits, -1));
    for (Tensor wrong : new Tensor[] {null, Tensor.of(new long[1], 1), Tensor.zeros(DType.F32, 0), Tensor.zeros(DType.F32)})
      assertThrows(PteronException.BadArgument.class, () -> new Sampling().next(wrong, 0));
    Tensor none = Tensor.of(new float[] {Float.NaN, Float.NaN}, 2);
    assertThrows(PteronException.BadData.class, () -> new Sampling().next(none, 0));
  }

  @Test
  void aProgramWithoutAContextSaysSo() throws IOException {
    Fixtures.Case digits = Fixtures.one("digits@1");
    try (Program program = Program.open(digits.program);
        Session session = program.session()) {
      assertThrows(PteronException.BadArgument.class, session::save);
      session.run(digits.inputs);
      assertThrows(PteronException.BadArgument.class, session::position);
      assertThrows(PteronException.BadArgument.class, () -> session.rewind(0));
    }
  }
}
