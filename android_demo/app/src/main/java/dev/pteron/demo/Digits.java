package dev.pteron.demo;

import dev.pteron.Program;
import dev.pteron.Session;
import dev.pteron.Tensor;
import java.util.Collections;

/** The digit classifier: 8 x 8 numbers from 0 to 1 in, a digit and how sure it is out. */
final class Digits implements AutoCloseable {
  private final Session session;

  Digits(Program program) {
    session = program.session(null, new Session.Options().threads(1));
  }

  /** The digit, then percent. */
  int[] classify(float[] cells) {
    Tensor image = Tensor.of(cells, 1, 1, Raster.CELLS, Raster.CELLS);
    float[] logits =
        session.run(Collections.singletonMap("image", image)).get("logits").toFloats();
    int best = 0;
    for (int i = 1; i < logits.length; i++) if (logits[i] > logits[best]) best = i;
    double sum = 0;
    for (float logit : logits) sum += Math.exp(logit - logits[best]);
    return new int[] {best, (int) Math.round(100 / sum)};
  }

  @Override
  public void close() {
    session.close();
  }
}
