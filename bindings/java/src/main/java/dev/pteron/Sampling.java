package dev.pteron;

import java.nio.FloatBuffer;

/**
 * How a token is drawn from logits: the same one on every machine for the same logits, options and position, whatever was
 * drawn before. Left as they are, the options take the largest logit.
 */
public final class Sampling {
  private int topK;
  private float temperature, topP, minP;
  private long seed, stream;

  /** Logits are divided by it; 0 takes the largest, of equal ones that with the lowest id. */
  public Sampling temperature(float temperature) {
    this.temperature = temperature;
    return this;
  }

  /** So many of the largest logits; 0 is all of them. */
  public Sampling topK(int topK) {
    this.topK = (int) RunOptions.atLeastZero(topK, "topK");
    return this;
  }

  /** As many of the largest as make this part of all probability; 0 and 1 are all of them. */
  public Sampling topP(float topP) {
    this.topP = topP;
    return this;
  }

  /** None below this part of the largest probability. */
  public Sampling minP(float minP) {
    this.minP = minP;
    return this;
  }

  /** What is drawn depends on both; texts that are written side by side have streams of one seed. */
  public Sampling seed(long seed, long stream) {
    this.seed = seed;
    this.stream = stream;
    return this;
  }

  /**
   * The id of the token at {@code position}, drawn from the last row of the logits.
   *
   * @throws PteronException.BadArgument the logits are no f32 or empty, or an option is out of its range
   * @throws PteronException.BadData no logit is a number
   */
  public int next(Tensor logits, long position) {
    long[] shape = PteronException.need(logits, "logits").shape();
    if (logits.dtype() != DType.F32 || shape.length == 0 || logits.size() == 0)
      throw PteronException.badArgument("logits: expected rows of f32, got " + logits);
    RunOptions.atLeastZero(position, "position");
    int count = (int) shape[shape.length - 1];
    int first = (int) (logits.size() - count);
    float[] row = new float[count];
    FloatBuffer all = logits.floats();
    all.position(first);
    all.get(row);
    return Native.sample(row, topK, temperature, topP, minP, seed, stream, position);
  }
}
