package dev.pteron;

import java.nio.charset.StandardCharsets;

/**
 * Any failure that Pteron reports: what happened in words, and the fields of the runtime's own error. The subclasses
 * say what the caller can do about it.
 */
public class PteronException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** What {@link #instr()}, {@link #op()} and {@link #node()} give where there is none. */
  public static final int NONE = -1;

  /** What the caller can do about it; the numbers of C's pte_status. */
  public enum Status {
    OK,
    BAD_PROGRAM,
    UNSUPPORTED,
    BAD_ARGUMENT,
    NO_MEMORY,
    DELEGATE,
    BAD_DATA,
    LIMIT,
    CANCELLED,
    DEADLINE,
    IO
  }

  private final Status status;
  private final int instr, op, node;

  private PteronException(Status status, int instr, int op, int node, String text) {
    super(text);
    this.status = status;
    this.instr = instr;
    this.op = op;
    this.node = node;
  }

  /** What the runtime returned. */
  public final Status status() {
    return status;
  }

  /** The instruction to blame ({@link Program#instruction}), or {@link #NONE}. */
  public final int instr() {
    return instr;
  }

  /** Its operator's number, or {@link #NONE}. */
  public final int op() {
    return op;
  }

  /** The node of the model that it was made from ({@link Program#node}), or {@link #NONE}. */
  public final int node() {
    return node;
  }

  /** The bytes are not a program that this runtime accepts: export again, or use a newer runtime. */
  public static final class BadProgram extends PteronException {
    private static final long serialVersionUID = 1;

    BadProgram(Status status, int instr, int op, int node, String text) {
      super(status, instr, op, node, text);
    }
  }

  /** A call's names, shapes, dtypes, buffers or threads are wrong: fix the call. */
  public static final class BadArgument extends PteronException {
    private static final long serialVersionUID = 1;

    BadArgument(Status status, int instr, int op, int node, String text) {
      super(status, instr, op, node, text);
    }
  }

  /** The data decided it: an index out of range, an integer division by zero. */
  public static final class BadData extends PteronException {
    private static final long serialVersionUID = 1;

    BadData(Status status, int instr, int op, int node, String text) {
      super(status, instr, op, node, text);
    }
  }

  /** A cap was reached, or a deadline, or the run was cancelled. */
  public static final class Limit extends PteronException {
    private static final long serialVersionUID = 1;

    Limit(Status status, int instr, int op, int node, String text) {
      super(status, instr, op, node, text);
    }
  }

  /** A delegate failed or is absent, and the program forbids its fallback. */
  public static final class DelegateFailed extends PteronException {
    private static final long serialVersionUID = 1;

    DelegateFailed(Status status, int instr, int op, int node, String text) {
      super(status, instr, op, node, text);
    }
  }

  /** The system has no memory, or a file cannot be read. */
  public static final class SystemFailed extends PteronException {
    private static final long serialVersionUID = 1;

    SystemFailed(Status status, int instr, int op, int node, String text) {
      super(status, instr, op, node, text);
    }
  }

  /** Called by C. */
  static PteronException of(int status, int instr, int op, int node, byte[] text) {
    return of(
        Status.values()[status], instr, op, node, new String(text, StandardCharsets.UTF_8));
  }

  private static PteronException of(Status status, int instr, int op, int node, String text) {
    switch (status) {
      case BAD_PROGRAM:
      case UNSUPPORTED:
        return new BadProgram(status, instr, op, node, text);
      case BAD_DATA:
        return new BadData(status, instr, op, node, text);
      case LIMIT:
      case CANCELLED:
      case DEADLINE:
        return new Limit(status, instr, op, node, text);
      case DELEGATE:
        return new DelegateFailed(status, instr, op, node, text);
      case NO_MEMORY:
      case IO:
        return new SystemFailed(status, instr, op, node, text);
      default:
        return new BadArgument(status, instr, op, node, text);
    }
  }

  static PteronException badArgument(String text) {
    return of(Status.BAD_ARGUMENT, NONE, NONE, NONE, text);
  }

  static PteronException failed(Status status, String text) {
    return of(status, NONE, NONE, NONE, text);
  }

  /** `value`, which is not null. */
  static <T> T need(T value, String what) {
    if (value == null) throw badArgument(what + ": expected a value, got null");
    return value;
  }
}
