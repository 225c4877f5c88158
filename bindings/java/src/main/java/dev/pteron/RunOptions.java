package dev.pteron;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** How one run goes. */
public final class RunOptions {
  Map<String, Tensor> outputs = Collections.emptyMap();
  ByteBuffer cancel;
  long timeoutNs = -1, maxInstructions, maxIterations;
  List<TraceEvent> trace;

  /** Tensors that outputs are written into, by name; the others are made. After a failure their bytes are undefined. */
  public RunOptions outputs(Map<String, Tensor> outputs) {
    this.outputs = PteronException.need(outputs, "outputs");
    return this;
  }

  /** Ends the run with {@link PteronException.Limit} (DEADLINE) after so long, and about 10 ms. */
  public RunOptions timeout(long time, TimeUnit unit) {
    long ns = PteronException.need(unit, "unit").toNanos(time);
    timeoutNs = Math.min(Math.max(ns, 0), Long.MAX_VALUE / 4);
    return this;
  }

  /** What ends the run, or any number of runs, from another thread. */
  public RunOptions cancel(Cancel cancel) {
    this.cancel = PteronException.need(cancel, "cancel").word;
    return this;
  }

  /** Caps: instructions executed in one run, iterations of one loop; 0 is the runtime's own. */
  public RunOptions limits(long maxInstructions, long maxIterations) {
    this.maxInstructions = atLeastZero(maxInstructions, "maxInstructions");
    this.maxIterations = atLeastZero(maxIterations, "maxIterations");
    return this;
  }

  /** Gets one event for each instruction executed. */
  public RunOptions trace(List<TraceEvent> events) {
    trace = PteronException.need(events, "trace");
    return this;
  }

  static long atLeastZero(long value, String what) {
    if (value < 0) throw PteronException.badArgument(what + ": expected 0 or more, got " + value);
    return value;
  }
}
