package dev.pteron;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The bytes that Python's binding gives, whatever the way in. */
class ResultsTest {
  static void same(Map<String, Tensor> want, Map<String, Tensor> got, String where) {
    assertEquals(new ArrayList<>(want.keySet()), new ArrayList<>(got.keySet()), where);
    for (String name : want.keySet()) {
      Tensor a = want.get(name), b = got.get(name);
      assertEquals(a.dtype(), b.dtype(), where);
      assertArrayEquals(a.shape(), b.shape(), where);
      assertEquals(a.data(), b.data(), where + ": other bytes");
    }
  }

  @Test
  void everyProgramGivesTheBytesOfPython() throws IOException {
    List<Fixtures.Case> cases = Fixtures.cases();
    assertTrue(cases.size() >= 9, cases.size() + " cases");
    for (Fixtures.Case each : cases)
      for (int threads = 1; threads <= 2; threads++)
        try (Program program = Program.open(each.program);
            Session session = program.session(null, new Session.Options().threads(threads))) {
          same(each.outputs, session.run(each.inputs), each.program);
          same(each.outputs, session.run(each.inputs), each.program + ", again");
        }
  }

  @Test
  void everyWayInGivesTheSame() throws IOException {
    Fixtures.Case digits = Fixtures.one("digits@16");
    ByteBuffer file = Fixtures.bytes(Paths.get(digits.program));
    for (int before : new int[] {0, 64, 4, 4100}) {
      Path apk = Files.createTempFile("assets", ".bin");
      byte[] whole = new byte[before + file.capacity() + 33];
      file.duplicate().get(whole, before, file.capacity());
      Files.write(apk, whole);
      Program part;
      try (FileInputStream stream = new FileInputStream(apk.toFile())) {
        part = Program.open(stream.getFD(), before, file.capacity());
      }
      ByteBuffer shifted = ByteBuffer.allocateDirect(whole.length);
      shifted.put(whole).position(before).limit(before + file.capacity());
      Program[] ways = {
        part, Program.open(shifted), Program.open(shifted, new Program.Options().copy(true)),
        Program.open(digits.program, new Program.Options().copy(true))
      };
      Files.delete(apk);
      for (Program program : ways) {
        program.checkDigests();
        try (Session session = program.session()) {
          program.close(); // the session keeps what it needs
          same(digits.outputs, session.run(digits.inputs), "from " + before);
        }
      }
    }
  }

  @Test
  void sessionsOfOneProgramRunAtOnce() throws Exception {
    Fixtures.Case digits = Fixtures.one("digits@16");
    try (Program program = Program.open(digits.program)) {
      List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
      Thread[] threads = new Thread[4];
      for (int i = 0; i < threads.length; i++) {
        threads[i] =
            new Thread(
                () -> {
                  try (Session session = program.session()) {
                    for (int k = 0; k < 50; k++)
                      same(digits.outputs, session.run(digits.inputs), "thread");
                  } catch (Throwable failure) {
                    failures.add(failure);
                  }
                });
        threads[i].start();
      }
      for (Thread thread : threads) thread.join();
      assertEquals(Collections.emptyList(), failures);
    }
  }

  @Test
  void outputsGoWhereTheCallerSays() throws IOException {
    Fixtures.Case digits = Fixtures.one("digits@16");
    try (Program program = Program.open(digits.program);
        Session session = program.session()) {
      Tensor out = Tensor.zeros(DType.F32, 16, 10);
      RunOptions options = new RunOptions().outputs(Collections.singletonMap("logits", out));
      assertSame(out, session.run(digits.inputs, options).get("logits"));
      same(digits.outputs, Collections.singletonMap("logits", out), "given");
    }
  }

  @Test
  void shapesMayChangeAndPrepareSaysWhatTheyTake() throws IOException {
    Fixtures.Case many = Fixtures.one("digits@16"), single = Fixtures.one("digits@1");
    try (Program program = Program.open(many.program);
        Session session = program.session()) {
      Port image = session.method().inputs.get(0);
      assertEquals("image: f32[batch, 1, 8, 8]", image.toString());
      Sizes one = session.prepare(Collections.singletonMap("image", new long[] {1, 1, 8, 8}));
      Sizes all = session.prepare(Collections.singletonMap("image", new long[] {16, 1, 8, 8}));
      assertTrue(all.arena > one.arena && one.arena > 0);
      for (int i = 0; i < 3; i++) {
        same(single.outputs, session.run(single.inputs), "1");
        same(many.outputs, session.run(many.inputs), "16");
      }
    }
  }

  @Test
  void statesAreKeptReadWrittenResetAndAdopted() {
    try (Program program = Program.open(Fixtures.path("states"));
        Session session = program.session();
        Session other = program.session()) {
      Tensor x = Tensor.of(new float[] {0, 1, 2, 3, 4}, 5);
      Map<String, Tensor> feeds = Collections.singletonMap("x", x);
      for (int k = 1; k <= 3; k++)
        assertArrayEquals(
            new float[] {0, k, 2 * k, 3 * k, 4 * k}, session.run(feeds).get("y").toFloats());
      assertArrayEquals(new float[] {0, 3, 6, 9, 12}, session.state("sum").toFloats());
      other.adoptStates(session, Collections.singletonMap("x", new long[] {5}));
      assertArrayEquals(new float[] {0, 4, 8, 12, 16}, other.run(feeds).get("y").toFloats());
      session.setState("sum", Tensor.of(new float[] {1, 1, 1, 1, 1}, 5));
      assertArrayEquals(new float[] {1, 2, 3, 4, 5}, other.run(feeds).get("y").toFloats());
      other.resetStates();
      assertArrayEquals(x.toFloats(), session.run(feeds).get("y").toFloats());
    }
  }

  @Test
  void aTraceHasOneEventForEachInstruction() throws IOException {
    Fixtures.Case digits = Fixtures.one("digits@1");
    try (Program program = Program.open(digits.program);
        Session session = program.session()) {
      List<TraceEvent> events = new ArrayList<>();
      same(digits.outputs, session.run(digits.inputs, new RunOptions().trace(events)), "traced");
      assertEquals(program.instructionCount, events.size());
      long before = 0;
      for (TraceEvent event : events) {
        assertTrue(before <= event.beginNs && event.beginNs <= event.endNs);
        before = event.beginNs;
        assertFalse(program.instruction(event.instr).isEmpty());
        assertFalse(program.node(event.node)[1].isEmpty());
      }
    }
  }

  @Test
  void cancelAndDeadlineEndARun() throws Exception {
    try (Program program = Program.open(Fixtures.path("endless"));
        Session session = program.session()) {
      ByteBuffer yes = ByteBuffer.allocateDirect(1).order(ByteOrder.nativeOrder());
      yes.put(0, (byte) 1);
      Map<String, Tensor> feeds = new HashMap<>();
      feeds.put("x", Tensor.of(new float[4], 4));
      feeds.put("go", Tensor.wrap(DType.BOOL, yes));
      PteronException.Limit late =
          assertThrows(
              PteronException.Limit.class,
              () ->
                  session.run(feeds, new RunOptions().timeout(20, TimeUnit.MILLISECONDS)));
      assertEquals(PteronException.Status.DEADLINE, late.status());
      assertEquals(0, late.instr());
      Cancel cancel = new Cancel();
      Thread other =
          new Thread(
              () -> {
                try {
                  Thread.sleep(50);
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
                cancel.cancel();
              });
      other.start();
      PteronException.Limit ended =
          assertThrows(
              PteronException.Limit.class,
              () -> session.run(feeds, new RunOptions().cancel(cancel)));
      assertEquals(PteronException.Status.CANCELLED, ended.status());
      other.join();
      PteronException.Limit most =
          assertThrows(
              PteronException.Limit.class,
              () -> session.run(feeds, new RunOptions().limits(0, 100)));
      assertEquals(PteronException.Status.LIMIT, most.status());
      yes.put(0, (byte) 0);
      cancel.reset();
      session.run(feeds, new RunOptions().cancel(cancel));
    }
  }

  @Test
  void placementsSayWhereAPartRunsAndWhy() throws IOException {
    Fixtures.Case dsp = Fixtures.one("delegated@1");
    assertTrue(Program.delegates().contains("hexagon"));
    Program.Options none = new Program.Options().delegates();
    try (Program program = Program.open(dsp.program, none);
        Session session = program.session()) {
      assertTrue(program.delegateCount > 0);
      assertEquals(program.delegateCount, session.placements().size());
      Placement part = session.placements().get(0);
      assertEquals(Placement.Policy.WARN, part.policy);
      assertFalse(part.placed);
      assertFalse(part.reason.isEmpty());
      same(dsp.outputs, session.run(dsp.inputs), "fallback");
    }
    assertThrows(
        PteronException.BadArgument.class,
        () -> Program.open(dsp.program, new Program.Options().delegates("abacus")));
    assertThrows(
        PteronException.DelegateFailed.class,
        () -> Program.open(Fixtures.path("forbids"), none).session());
  }

  @Test
  void aProgramSaysWhatItIs() {
    try (Program program = Program.open(Fixtures.path("digits"))) {
      assertEquals(1, program.methods().size());
      assertTrue(program.producer.startsWith("pteron"), program.producer);
      assertTrue(program.constantBytes > 0 && program.constantBytes < program.fileBytes);
      Port image = program.method(null).inputs.get(0);
      assertArrayEquals(new long[] {-1, 1, 8, 8}, image.shape());
      assertEquals("batch", image.symbol(0));
      assertEquals("", image.symbol(1));
    }
  }
}
