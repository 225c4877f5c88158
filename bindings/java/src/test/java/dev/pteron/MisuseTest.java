package dev.pteron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Wrong calls end in typed exceptions whose text says what is wrong; the session runs afterwards. */
class MisuseTest {
  private Fixtures.Case digits;
  private Program program;
  private Session session;

  @BeforeEach
  void open() throws IOException {
    digits = Fixtures.one("digits@16");
    program = Program.open(digits.program);
    session = program.session();
  }

  @AfterEach
  void stillRuns() {
    ResultsTest.same(digits.outputs, session.run(digits.inputs), "afterwards");
    session.close();
    program.close();
  }

  private static void refused(String text, Executable call) {
    PteronException.BadArgument got = assertThrows(PteronException.BadArgument.class, call);
    assertTrue(got.getMessage().contains(text), got.getMessage() + "\nwithout: " + text);
    assertEquals(PteronException.Status.BAD_ARGUMENT, got.status());
  }

  private void refusedImage(String text, Tensor image) {
    refused(text, () -> session.run(Collections.singletonMap("image", image)));
  }

  @Test
  void wrongInputs() {
    refusedImage("expected f32, got f64", Tensor.zeros(DType.F64, 16, 1, 8, 8));
    refusedImage("expected f32, got i32", Tensor.zeros(DType.I32, 16, 1, 8, 8));
    refusedImage("expected shape [batch, 1, 8, 8], got [16, 1, 8, 9]",
        Tensor.zeros(DType.F32, 16, 1, 8, 9));
    refusedImage("expected shape [batch, 1, 8, 8], got [16, 64]", Tensor.zeros(DType.F32, 16, 64));
    refusedImage("input image: expected a value, got null", null);
    refused("inputs: expected a value, got null", () -> session.run(null));
    refused("missing image", () -> session.run(Collections.emptyMap()));
    Map<String, Tensor> more = new HashMap<>(digits.inputs);
    more.put("imago", more.get("image"));
    refused("there is no imago; there are image", () -> session.run(more));
    refused("got null", () -> session.run(digits.inputs, null));
    refused("expected shape",
        () -> session.prepare(Collections.singletonMap("image", new long[] {-1, 1, 8, 8})));
    refused("expected a value, got null",
        () -> session.prepare(Collections.singletonMap("image", null)));
  }

  private void refusedOutput(String text, Tensor out) {
    RunOptions options = new RunOptions().outputs(Collections.singletonMap("logits", out));
    refused(text, () -> session.run(digits.inputs, options));
  }

  @Test
  void wrongOutputs() {
    refusedOutput("expected f32, got i32", Tensor.zeros(DType.I32, 16, 10));
    refusedOutput("expected shape [16, 10], got f32[15, 10]", Tensor.zeros(DType.F32, 15, 10));
    ByteBuffer room = ByteBuffer.allocateDirect(16 * 10 * 4);
    refusedOutput("may be written", Tensor.wrap(DType.F32, room.asReadOnlyBuffer(), 16, 10));
    ByteBuffer shifted = ByteBuffer.allocateDirect(16 * 10 * 4 + 2);
    shifted.position(2);
    refusedOutput("aligned", Tensor.wrap(DType.F32, shifted, 16, 10));
    ByteBuffer image = ByteBuffer.allocateDirect(16 * 64 * 4).order(ByteOrder.nativeOrder());
    Tensor in = Tensor.wrap(DType.F32, image.duplicate(), 16, 1, 8, 8);
    image.limit(640);
    RunOptions over =
        new RunOptions()
            .outputs(Collections.singletonMap("logits", Tensor.wrap(DType.F32, image, 16, 10)));
    refused("shares memory", () -> session.run(Collections.singletonMap("image", in), over));
    refused("there is no digits; there are logits",
        () -> session.run(digits.inputs,
            new RunOptions().outputs(Collections.singletonMap("digits", in))));
  }

  @Test
  void wrongTensors() {
    refused("expected 24 bytes for f32[2, 3], got 23",
        () -> Tensor.wrap(DType.F32, ByteBuffer.allocateDirect(23), 2, 3));
    refused("expected a direct buffer",
        () -> Tensor.wrap(DType.F32, ByteBuffer.allocate(24), 2, 3));
    refused("expected 6 for shape [2, 3], got 5", () -> Tensor.of(new float[5], 2, 3));
    refused("expected extents", () -> Tensor.zeros(DType.F32, 2, -3));
    refused("expected extents", () -> Tensor.zeros(DType.F32, 1L << 40, 1L << 40));
    refused("expected f32, got i64", () -> Tensor.of(new long[] {1}, 1).floats());
    refused("got null", () -> Tensor.wrap(null, ByteBuffer.allocateDirect(4), 1));
    refused("got null", () -> Tensor.of((float[]) null, 1));
    refused("got null", () -> Tensor.wrap(DType.F32, null, 1));
    assertEquals(0, Tensor.zeros(DType.F32, 0, 1L << 40).data().capacity());
    assertEquals(2, Tensor.zeros(DType.I4, 3).data().capacity());
  }

  @Test
  void oneLongNameOfManyAxesIsNotCopiedForEach() {
    PteronException many =
        assertThrows(
            PteronException.Limit.class, () -> Program.open(Fixtures.path("names")).close());
    assertTrue(many.getMessage().contains("16 MiB"), many.getMessage());
  }

  @Test
  void wrongOptions() {
    refused("0 to 256, got 257", () -> new Session.Options().threads(257));
    refused("0 or more, got -1", () -> new Session.Options().limits(-1, 0));
    refused("the program has main", () -> program.session("decode"));
    refused("got null", () -> program.session(null, null));
    refused("got null", () -> Program.open((String) null));
    refused("null character", () -> Program.open("a\0b"));
    refused("got null", () -> Program.open((ByteBuffer) null));
    refused("state: there is no h", () -> session.state("h"));
    refused("none of this index", () -> program.instruction(1 << 20));
    refused("none of this index", () -> program.node(-1));
    refused("another session of the same program", () -> session.adoptStates(session, null));
    PteronException few =
        assertThrows(
            PteronException.Limit.class,
            () -> {
              try (Session s = program.session(null, new Session.Options().limits(64, 0))) {
                s.run(digits.inputs);
              }
            });
    assertEquals(PteronException.Status.LIMIT, few.status());
  }

  @Test
  void wrongFiles() throws IOException {
    assertThrows(PteronException.SystemFailed.class, () -> Program.open("/nowhere/digits.pte"));
    byte[] bytes = Files.readAllBytes(Paths.get(digits.program));
    for (int at : new int[] {0, 9, 70, 200, bytes.length - 1}) {
      byte[] other = bytes.clone();
      other[at] ^= 1;
      ByteBuffer direct = ByteBuffer.allocateDirect(other.length);
      direct.put(other).flip();
      assertThrows(
          PteronException.BadProgram.class,
          () -> {
            try (Program damaged = Program.open(direct)) {
              damaged.checkDigests();
            }
          },
          "byte " + at);
      direct.limit(at);
      assertThrows(PteronException.BadProgram.class, () -> Program.open(direct), "cut at " + at);
    }
  }

  @Test
  void whatWasClosedStaysClosed() {
    Session other = program.session();
    other.run(digits.inputs);
    other.close();
    other.close();
    refused("the session was closed", () -> other.run(digits.inputs));
    refused("the session was closed", () -> other.state("h"));
    refused("the session was closed", other::placements);
    refused("the session was closed", other::resetStates);
    Program twice = Program.open(digits.program);
    Session kept = twice.session();
    twice.close();
    twice.close();
    refused("the program was closed", twice::session);
    refused("the program was closed", twice::checkDigests);
    kept.run(digits.inputs);
    kept.close();
    refused("the session was closed", () -> kept.run(digits.inputs));
  }

  @Test
  void aSecondThreadIsRefusedAndCloseWaits() throws Exception {
    Program endless = Program.open(Fixtures.path("endless"));
    Session busy = endless.session();
    ByteBuffer yes = ByteBuffer.allocateDirect(1);
    yes.put(0, (byte) 1);
    Map<String, Tensor> feeds = new HashMap<>();
    feeds.put("x", Tensor.of(new float[4], 4));
    feeds.put("go", Tensor.wrap(DType.BOOL, yes));
    Cancel cancel = new Cancel();
    PteronException[] ended = new PteronException[1];
    Thread runner =
        new Thread(
            () ->
                ended[0] =
                    assertThrows(
                        PteronException.Limit.class,
                        () -> busy.run(feeds, new RunOptions().cancel(cancel))));
    runner.start();
    for (int wait = 0; wait < 5000 && !isInside(runner); wait++) TimeUnit.MILLISECONDS.sleep(1);
    refused("used by another thread", () -> busy.run(feeds));
    refused("used by another thread", busy::resetStates);
    Thread closer = new Thread(busy::close);
    closer.start();
    closer.join(50);
    assertTrue(closer.isAlive());
    cancel.cancel();
    runner.join();
    closer.join();
    assertEquals(PteronException.Status.CANCELLED, ended[0].status());
    refused("the session was closed", () -> busy.run(feeds));
    endless.close();
  }

  /** Asked of the thread: a call of the session would hold it for a moment, and refuse the runner. */
  private static boolean isInside(Thread runner) {
    StackTraceElement[] frames = runner.getStackTrace();
    return frames.length != 0 && frames[0].getMethodName().equals("sessionRun");
  }

  @Test
  void aFaultSaysWhere() throws IOException {
    try (Program gather = Program.open(Fixtures.path("gather"));
        Session faulty = gather.session()) {
      Map<String, Tensor> feeds = new HashMap<>();
      feeds.put("x", Tensor.of(new float[5], 5));
      feeds.put("i", Tensor.of(new long[] {0, 5, 0}, 3));
      PteronException.BadData got =
          assertThrows(PteronException.BadData.class, () -> faulty.run(feeds));
      assertTrue(got.getMessage().contains("got 5, expected 4"), got.getMessage());
      assertEquals(0, got.instr());
      assertEquals("gather", gather.instruction(got.instr()));
      assertEquals(PteronException.NONE, got.node());
    }
  }
}
