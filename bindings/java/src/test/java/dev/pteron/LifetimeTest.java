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

  private static long mappings(String of) throws IOException {
    long count = 0;
    for (String line : Files.readAllLines(Paths.get("/proc/self/maps")))
      if (line.endsWith(of)) count++;
    return count;
  }

  /** Private memory in KB: what leaks shows here, whoever took it. */
  private static long privateKb() throws IOException {
    System.gc();
    long sum = 0;
    for (String line : Files.readAllLines(Paths.get("/proc/self/smaps_rollup")))
      if (line.startsWith("Private_")) sum += Long.parseLong(line.replaceAll("\\D", ""));
    return sum;
  }

  @Test
  void openRunAndCloseTakeNothing() throws IOException {
    Fixtures.Case digits = Fixtures.one("digits@1");
    String name = Paths.get(digits.program).toRealPath().toString();
    for (int i = 0; i < TIMES / 2; i++) use(digits);
    long before = privateKb();
    long files = new File("/proc/self/fd").list().length;
    for (int i = 0; i < TIMES; i++) use(digits);
    long grown = privateKb() - before;
    System.out.println("private memory grew by " + grown + " KB in " + TIMES + " rounds");
    assertTrue(grown < 8192, grown + " KB"); // what a round could leak is a KB at least
    assertEquals(0, mappings(name));
    assertEquals(files, new File("/proc/self/fd").list().length);
  }

  private static void forget(Fixtures.Case digits) {
    for (int i = 0; i < 20; i++) Program.open(digits.program).session().run(digits.inputs);
  }

  @Test
  void whatIsForgottenGoesWithTheGarbage() throws Exception {
    Fixtures.Case nf4 = Fixtures.one("digits-nf4@16");
    String name = Paths.get(nf4.program).toRealPath().toString();
    forget(nf4);
    for (int i = 0; i < 200 && mappings(name) != 0; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertEquals(0, mappings(name));
  }
}
