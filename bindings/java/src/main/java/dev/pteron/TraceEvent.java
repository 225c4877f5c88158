package dev.pteron;

/** One executed instruction; times in nanoseconds of the monotonic clock. Immutable. */
public final class TraceEvent {
  /** Numbers that {@link Program#instruction} and {@link Program#node} explain; -1: no node. */
  public final int instr, op, node;

  /** When it began and ended. */
  public final long beginNs, endNs;

  TraceEvent(long[] numbers, int at) {
    instr = (int) numbers[at];
    op = (int) numbers[at + 1];
    node = (int) numbers[at + 2];
    beginNs = numbers[at + 3];
    endNs = numbers[at + 4];
  }
}
