package dev.pteron.demo;

import dev.pteron.Program;
import dev.pteron.Session;
import dev.pteron.Tensor;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lines of a page by meaning: unit vectors that were computed on the desk, and a question's, computed here. */
final class Search implements AutoCloseable {
  static final int MOST_TOKENS = 128;

  private final Session session;
  private final WordPiece tokens;
  private final List<String> lines;
  private final FloatBuffer vectors;

  Search(Program program, WordPiece tokens, List<String> lines, FloatBuffer vectors) {
    session = program.session();
    this.tokens = tokens;
    this.lines = lines;
    this.vectors = vectors;
  }

  /** The question's unit vector. */
  Tensor embed(String question) {
    long[] ids = tokens.encode(question, MOST_TOKENS), mask = new long[ids.length];
    Arrays.fill(mask, 1);
    Map<String, Tensor> feeds = new HashMap<>();
    feeds.put("input_ids", Tensor.of(ids, 1, ids.length));
    feeds.put("attention_mask", Tensor.of(mask, 1, mask.length));
    return session.run(feeds).values().iterator().next();
  }

  /** Numbers of lines, the nearest first. */
  List<Integer> find(String question, float[] scores) {
    float[] q = embed(question).toFloats();
    List<Integer> order = new ArrayList<>();
    for (int line = 0; line < lines.size(); line++) {
      order.add(line);
      scores[line] = 0;
      for (int i = 0; i < q.length; i++) scores[line] += q[i] * vectors.get(line * q.length + i);
    }
    order.sort((a, b) -> Float.compare(scores[b], scores[a]));
    return order;
  }

  List<String> lines() {
    return lines;
  }

  @Override
  public void close() {
    session.close();
  }
}
