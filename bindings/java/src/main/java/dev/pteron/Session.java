package dev.pteron;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One method of a program, its states, its memory and its last preparation. It belongs to one thread at a time: a call
 * that finds another thread inside throws {@link PteronException.BadArgument}; make a session for each thread. Only
 * {@link #close} waits.
 */
public final class Session implements AutoCloseable {
  /** How a session runs. */
  public static final class Options {
    private int threads, cpu;
    private long maxBytes, maxExtent;

    /** Threads of a run, the caller's included, at most 256; 0: as many as there are processors. */
    public Options threads(int threads) {
      if (threads < 0 || threads > 256)
        throw PteronException.badArgument("threads: expected 0 to 256, got " + threads);
      this.threads = threads;
      return this;
    }

    /** CPU features to allow, for tests: PTE_CPU_* of C; 0 asks the processor. */
    public Options cpu(int features) {
      cpu = features;
      return this;
    }

    /** Caps: memory of arena and states, extents that only the data decides; 0 is the runtime's own. */
    public Options limits(long maxBytes, long maxExtent) {
      this.maxBytes = RunOptions.atLeastZero(maxBytes, "maxBytes");
      this.maxExtent = RunOptions.atLeastZero(maxExtent, "maxExtent");
      return this;
    }
  }

  /** One pool for each number of threads, shared by the sessions of this process; its workers are parked between runs. */
  private static final Map<Integer, Long> POOLS = new ConcurrentHashMap<>();

  private final Program program;
  private final Method method;
  private final Handle.Guard guard;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Object> prepared = new ArrayList<>();
  private Sizes sizes = new Sizes(new long[5]);

  Session(Program program, Handle used, Method method, Options options) {
    this.program = program;
    this.method = method;
    int threads = options.threads != 0 ? options.threads : Math.min(Native.processors(), 256);
    int have = Native.cpu(); // which also asks the system for what it gives on request
    int cpu = options.cpu != 0 ? options.cpu : have;
    long pool = threads == 1 ? 0 : POOLS.computeIfAbsent(threads, Native::poolOpen);
    long address =
        Native.sessionOpen(
            used.address(), method.index, threads, pool, cpu, options.maxBytes, options.maxExtent);
    guard = new Handle(address, Native::sessionClose, used).guard(this);
  }

  /** The program that it runs. */
  public Program program() {
    return program;
  }

  /** The method that it runs. */
  public Method method() {
    return method;
  }

  /** Bytes of the last preparation. */
  public Sizes sizes() {
    return sizes;
  }

  /** Runs once: outputs by name. See {@link #run(Map, RunOptions)}. */
  public Map<String, Tensor> run(Map<String, Tensor> inputs) {
    return run(inputs, new RunOptions());
  }

  /**
   * Runs once, prepared for the inputs' shapes.
   *
   * @param inputs a tensor for every input of the method
   * @return outputs by name: those of `options`, else new ones
   * @throws PteronException.BadArgument names, dtypes, shapes or buffers do not fit, the session was closed, or another
   *     thread is inside; its subclasses' other kinds: while running
   */
  public Map<String, Tensor> run(Map<String, Tensor> inputs, RunOptions options) {
    PteronException.need(options, "options");
    Handle session = enter();
    try {
      Tensor[] given = given(inputs);
      prepare(session, given, Native.KEEP, 0);
      ByteBuffer[] from = new ByteBuffer[given.length];
      for (int i = 0; i < given.length; i++) from[i] = given[i].data();
      Tensor[] named = outputs(options.outputs);
      ByteBuffer[] into = rooms(session, named);
      long[] events =
          Native.sessionRun(
              session.address(),
              from,
              into,
              options.cancel,
              options.timeoutNs,
              options.maxInstructions,
              options.maxIterations,
              options.trace != null);
      for (int at = 0; events != null && at < events.length; at += 5)
        options.trace.add(new TraceEvent(events, at));
      return results(session, into, named);
    } finally {
      exit(session);
    }
  }

  /**
   * Prepares for these input shapes without running; shape inputs count as zeros.
   *
   * @return the bytes it took
   */
  public Sizes prepare(Map<String, long[]> shapes) {
    Handle session = enter();
    try {
      prepare(session, empty(shapes), Native.KEEP, 0);
      return sizes;
    } finally {
      exit(session);
    }
  }

  /**
   * Takes over the states of another session of the program, as it left them, with the same sizes: the memory is shared
   * from now on, so run one of them at a time.
   */
  public void adoptStates(Session other, Map<String, long[]> shapes) {
    if (PteronException.need(other, "other").program != program || other == this)
      throw PteronException.badArgument("other: expected another session of the same program");
    Handle session = enter();
    try {
      Handle theirs = other.enter();
      try {
        prepared.clear();
        prepare(session, empty(shapes), Native.ADOPT, theirs.address());
      } finally {
        other.exit(theirs);
      }
    } finally {
      exit(session);
    }
  }

  /** Gives every state its initial value. */
  public void resetStates() {
    Handle session = enter();
    try {
      Native.sessionReset(session.address());
    } finally {
      exit(session);
    }
  }

  /** A copy of a state, dense and row-major. */
  public Tensor state(String name) {
    Handle session = enter();
    try {
      int index = indexOf(method.states, name, "state");
      long[] extents = Native.sessionExtents(session.address(), Native.STATE, index);
      Tensor out = Tensor.zeros(method.states.get(index).dtype, shapeOf(extents));
      Native.sessionGetState(session.address(), index, out.data());
      return out;
    } finally {
      exit(session);
    }
  }

  /** Gives a state this value. */
  public void setState(String name, Tensor value) {
    Handle session = enter();
    try {
      int index = indexOf(method.states, name, "state");
      Port port = method.states.get(index);
      fits(PteronException.need(value, "state " + name), port, "state " + name);
      long[] want = shapeOf(Native.sessionExtents(session.address(), Native.STATE, index));
      if (!Arrays.equals(want, value.shape()))
        throw PteronException.badArgument(
            "state " + name + ": expected shape " + Arrays.toString(want) + ", got " + value);
      Native.sessionSetState(session.address(), index, value.data());
    } finally {
      exit(session);
    }
  }

  /** How many tokens the context of a decoder holds; the session was prepared, by a run or otherwise. */
  public long position() {
    return context(0);
  }

  /** How many tokens the context has room for. */
  public long room() {
    return context(1);
  }

  /** Forgets the tokens of the context from {@code position} on. */
  public void rewind(long position) {
    Handle session = enter();
    try {
      Native.sessionRewind(session.address(), position);
    } finally {
      exit(session);
    }
  }

  /** What the session knows: its states, of a context the part in use. The session was prepared. */
  public byte[] save() {
    Handle session = enter();
    try {
      return Native.sessionSave(session.address());
    } finally {
      exit(session);
    }
  }

  /**
   * Goes on from what a session of the same program saved, with the same bits. Trusts nothing in it: where it does not
   * fit, the session is as it was. The session was prepared.
   */
  public void restore(byte[] saved) {
    PteronException.need(saved, "saved");
    Handle session = enter();
    try {
      Native.sessionRestore(session.address(), saved);
    } finally {
      exit(session);
    }
  }

  /** Where the parts of the method that were compiled for delegates run, now. */
  public List<Placement> placements() {
    Handle session = enter();
    try {
      List<Placement> out = new ArrayList<>();
      Description d = new Description(Native.sessionPlacements(session.address()));
      while (d.more()) out.add(new Placement(d));
      return out;
    } finally {
      exit(session);
    }
  }

  /** Waits for the run under way, and gives memory, states and delegates back. Twice does nothing. */
  @Override
  public void close() {
    lock.lock();
    try {
      guard.close();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String toString() {
    return "session of " + method;
  }

  // --- private ---------------------------------------------------------------------------------

  private long context(int which) {
    Handle session = enter();
    try {
      return Native.sessionPosition(session.address())[which];
    } finally {
      exit(session);
    }
  }

  /**
   * The session, with the lock held and one user more, so that nothing releases it meanwhile, not even the garbage
   * collector where this object is not used after the call. Who calls exits.
   */
  private Handle enter() {
    if (!lock.tryLock())
      throw PteronException.badArgument(
          method.name + ": the session is used by another thread; make one for each thread");
    if (guard.isOpen() && guard.handle().use()) return guard.handle();
    lock.unlock();
    throw PteronException.badArgument(method.name + ": the session was closed; make another");
  }

  private void exit(Handle session) {
    session.leave();
    lock.unlock();
  }

  private Tensor[] given(Map<String, Tensor> inputs) {
    names(PteronException.need(inputs, "inputs"), method.inputs, "inputs");
    Tensor[] out = new Tensor[method.inputs.size()];
    for (int i = 0; i < out.length; i++) {
      Port port = method.inputs.get(i);
      out[i] = PteronException.need(inputs.get(port.name), "input " + port.name);
      fits(out[i], port, "input " + port.name);
    }
    return out;
  }

  private static void fits(Tensor tensor, Port port, String where) {
    if (tensor.dtype() != port.dtype)
      throw PteronException.badArgument(
          where + ": expected " + port.dtype + ", got " + tensor.dtype());
    port.check(tensor.shape(), where);
  }

  private void names(Map<String, ?> given, List<Port> ports, String what) {
    for (Port port : ports)
      if (!given.containsKey(port.name))
        throw PteronException.badArgument(
            method.name + ": missing " + port.name + "; expected " + what + " "
                + Method.names(ports));
    for (String name : given.keySet()) indexOf(ports, name, what);
  }

  private int indexOf(List<Port> ports, String name, String what) {
    for (int i = 0; i < ports.size(); i++) if (ports.get(i).name.equals(name)) return i;
    throw PteronException.badArgument(
        method.name + ": " + what + ": there is no " + name + "; there are " + Method.names(ports));
  }

  /** Zeros of these shapes: one element where a preparation needs no more. */
  private Tensor[] empty(Map<String, long[]> shapes) {
    names(PteronException.need(shapes, "shapes"), method.inputs, "inputs");
    Tensor[] out = new Tensor[method.inputs.size()];
    for (int i = 0; i < out.length; i++) {
      Port port = method.inputs.get(i);
      long[] shape = PteronException.need(shapes.get(port.name), "input " + port.name);
      port.check(shape, "input " + port.name);
      out[i] = port.shapeInput ? Tensor.zeros(port.dtype, shape) : Tensor.shaped(port.dtype, shape);
    }
    return out;
  }

  /** Prepares, unless the last preparation was for these shapes and values of shape inputs. */
  private void prepare(Handle session, Tensor[] given, int reset, long adopted) {
    long[][] shapes = new long[given.length][], values = new long[given.length][];
    List<Object> key = new ArrayList<>();
    for (int i = 0; i < given.length; i++) {
      shapes[i] = given[i].shape();
      values[i] = method.inputs.get(i).shapeInput ? given[i].numbers() : null;
      key.add(Arrays.asList(box(shapes[i]), box(values[i])));
    }
    if (!prepared.isEmpty() && prepared.get(0).equals(key)) return;
    prepared.clear();
    sizes = new Sizes(Native.sessionPrepare(session.address(), shapes, values, reset, adopted));
    prepared.add(key);
  }

  private static List<Long> box(long[] numbers) {
    if (numbers == null) return null;
    Long[] out = new Long[numbers.length];
    for (int i = 0; i < out.length; i++) out[i] = numbers[i];
    return Arrays.asList(out);
  }

  private Tensor[] outputs(Map<String, Tensor> wanted) {
    Tensor[] out = new Tensor[method.outputs.size()];
    for (Map.Entry<String, Tensor> each : wanted.entrySet()) {
      int index = indexOf(method.outputs, each.getKey(), "outputs");
      out[index] = PteronException.need(each.getValue(), "output " + each.getKey());
      Port port = method.outputs.get(index);
      fits(out[index], port, "output " + port.name);
      if (out[index].data().isReadOnly())
        throw PteronException.badArgument(
            "output " + port.name + ": expected a buffer that may be written");
    }
    return out;
  }

  /** Where outputs go: as much room as they can take. */
  private ByteBuffer[] rooms(Handle session, Tensor[] named) {
    ByteBuffer[] out = new ByteBuffer[named.length];
    for (int i = 0; i < out.length; i++) {
      long[] extents = Native.sessionExtents(session.address(), Native.OUTPUT, i);
      out[i] = named[i] == null ? Tensor.room(extents[0]) : named[i].data();
      if (named[i] != null && !Arrays.equals(named[i].shape(), shapeOf(extents)))
        throw PteronException.badArgument(
            String.format(
                "output %s: expected shape %s, got %s",
                method.outputs.get(i).name, Arrays.toString(shapeOf(extents)), named[i]));
    }
    return out;
  }

  /** Outputs with the extents that the run gave them. */
  private Map<String, Tensor> results(Handle session, ByteBuffer[] rooms, Tensor[] named) {
    Map<String, Tensor> out = new LinkedHashMap<>();
    for (int i = 0; i < rooms.length; i++) {
      Port port = method.outputs.get(i);
      long[] shape = shapeOf(Native.sessionExtents(session.address(), Native.OUTPUT, i));
      boolean whole = named[i] != null && Arrays.equals(named[i].shape(), shape);
      out.put(port.name, whole ? named[i] : Tensor.inside(rooms[i], port.dtype, shape));
    }
    return out;
  }

  private static long[] shapeOf(long[] extents) {
    return Arrays.copyOfRange(extents, 1, extents.length);
  }
}
