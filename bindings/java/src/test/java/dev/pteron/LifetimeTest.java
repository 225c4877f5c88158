package dev.pteron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.junit.jupiter.api.Test;

/** What is closed is given back, and what is forgotten. */
class LifetimeTest {
  private static final int TIMES = Integer.getInteger("pteron.times", 10000);

  private static void use(Fixtures.Case digits) {
    try (Program program = Program.open(digits.program);
        Session session = program.session(null, new Session.Options().threads(1))) {
      session.run(digits.inputs);
    }
  }

  private interface Counted {
    long count() throws Exception;
  }

  /**
   * What is left once the collector's threads are done: they free buffers and owners after it has found them, and on a
   * busy machine that takes its time. What leaked stays, however long one waits.
   */
  private static long settled(long most, Counted what) throws Exception {
    long count = what.count();
    for (int i = 0; i < 200 && count > most; i++) {
      System.gc();
      Thread.sleep(10);
      count = what.count();
    }
    return count;
  }

  private static long mappings(String of) throws IOException {
    long count = 0;
    for (String line : Files.readAllLines(Paths.get("/proc/self/maps")))
      if (line.endsWith(of)) count++;
    return count;
  }

  /** Private memory in KB: what leaks shows here, whoever took it. */
  private static long privateKb() throws IOException {
    long sum = 0;
    for (String line : Files.readAllLines(Paths.get("/proc/self/smaps_rollup")))
      if (line.startsWith("Private_")) sum += Long.parseLong(line.replaceAll("\\D", ""));
    return sum;
  }

  private static long files() {
    return new File("/proc/self/fd").list().length;
  }

  @Test
  void openRunAndCloseTakeNothing() throws Exception {
    Fixtures.Case digits = Fixtures.one("digits@1");
    String name = Paths.get(digits.program).toRealPath().toString();
    for (int i = 0; i < TIMES / 2; i++) use(digits);
    System.gc();
    long files = files(), grown = 8192;
    for (int turn = 0; turn < 3 && grown >= 8192; turn++) { // the virtual machine grows once, a leak in each turn
      long before = privateKb();
      for (int i = 0; i < TIMES; i++) use(digits);
      grown = settled(8191, () -> privateKb() - before); // what a round could leak is a KB at least
    }
    System.out.println("private memory grew by " + grown + " KB in " + TIMES + " rounds");
    assertTrue(grown < 8192, grown + " KB");
    assertEquals(0, mappings(name));
    assertEquals(files, settled(files, LifetimeTest::files));
  }

  private static void forget(Fixtures.Case digits) {
    for (int i = 0; i < 20; i++) Program.open(digits.program).session().run(digits.inputs);
  }

  @Test
  void whatIsForgottenGoesWithTheGarbage() throws Exception {
    Fixtures.Case nf4 = Fixtures.one("digits-nf4@16");
    String name = Paths.get(nf4.program).toRealPath().toString();
    forget(nf4);
    assertEquals(0, settled(0, () -> mappings(name)));
  }
}
