package dev.pteron;

/** Where a part of a program that was compiled for a delegate runs. Immutable. */
public final class Placement {
  /** What the program says of falling back. */
  public enum Policy {
    ALLOW,
    WARN,
    FORBID
  }

  /** The delegate's name, and what it was compiled for. */
  public final String name, target;

  /** What the program says of falling back. */
  public final Policy policy;

  /** True: in the delegate; false: on the CPU, because of {@link #reason}. */
  public final boolean placed;

  /** Why the fallback runs; "" where none does. */
  public final String reason;

  Placement(Description d) {
    policy = Policy.values()[d.u32()];
    placed = d.u32() != 0;
    name = d.text();
    target = d.text();
    reason = d.text();
  }

  @Override
  public String toString() {
    return name + " (" + target + "): " + (placed ? "placed" : "cpu: " + reason);
  }
}
