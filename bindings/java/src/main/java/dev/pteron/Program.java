package dev.pteron;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An opened `.pte`: verified tables, shared by any number of sessions on any number of threads. No byte of a weight is
 * copied.
 *
 * <p>{@link #close} lets the file go once the sessions that are open are closed too; a program that is forgotten goes
 * with the garbage collector. Who writes or truncates a mapped file while it is in use changes results, or ends the
 * process: {@link Options#copy}.
 */
public final class Program implements AutoCloseable {
  /** How a program is opened. */
  public static final class Options {
    private boolean copy;
    private String[] delegates;
    private final Map<String, Object> externals = new LinkedHashMap<>();

    /** Reads files into memory, and copies buffers, so that nothing that happens to them later matters. */
    public Options copy(boolean copy) {
      this.copy = copy;
      return this;
    }

    /** The delegates that may run parts compiled for them, by name; without this call all of the build. */
    public Options delegates(String... names) {
      delegates = PteronException.need(names, "delegates").clone();
      return this;
    }

    /** Constants in another file, by the name that the program gives them. */
    public Options external(String name, String path) {
      externals.put(
          PteronException.need(name, "name"), utf8(PteronException.need(path, "path"), "path"));
      return this;
    }

    /** Constants in a direct buffer, by the name that the program gives them. */
    public Options external(String name, ByteBuffer bytes) {
      externals.put(PteronException.need(name, "name"), direct(bytes, "external " + name));
      return this;
    }
  }

  private final String name;
  private final Handle.Guard guard;
  private final List<Method> methods;

  /** Instructions of all methods; nodes of the model, 0 where they were stripped; parts compiled for delegates. */
  public final int instructionCount, nodeCount, delegateCount;

  /** Of the file, and of its constants. */
  public final long fileBytes, constantBytes;

  /** Who wrote the program, from what. */
  public final String producer, model;

  private Program(String name, byte[] path, ByteBuffer bytes, Options options) {
    this.name = name;
    int count = options.externals.size(), at = 0;
    byte[][] names = new byte[count][], paths = new byte[count][];
    ByteBuffer[] buffers = new ByteBuffer[count];
    for (Map.Entry<String, Object> each : options.externals.entrySet()) {
      names[at] = utf8(each.getKey(), "external");
      if (each.getValue() instanceof byte[]) paths[at] = (byte[]) each.getValue();
      else buffers[at] = (ByteBuffer) each.getValue();
      at++;
    }
    int[] delegates = chosen(options.delegates);
    long address =
        Native.programOpen(path, bytes, options.copy, names, paths, buffers, delegates);
    guard = new Handle(address, Native::programClose, new Object[] {bytes, buffers}).guard(this);
    Description d = new Description(Native.programDescribe(address));
    instructionCount = d.u32();
    nodeCount = d.u32();
    delegateCount = d.u32();
    fileBytes = d.i64();
    constantBytes = d.i64();
    producer = d.text();
    model = d.text();
    int methodCount = d.u32();
    List<Method> read = new ArrayList<>(methodCount);
    for (int i = 0; i < methodCount; i++) read.add(new Method(i, d));
    methods = Collections.unmodifiableList(read);
  }

  /**
   * Maps the file at `path`.
   *
   * @throws PteronException.SystemFailed it cannot be read
   * @throws PteronException.BadProgram it is no program, or one that this runtime does not take
   */
  public static Program open(String path) {
    return open(path, new Options());
  }

  /** As {@link #open(String)}, with options. */
  public static Program open(String path, Options options) {
    byte[] text = utf8(PteronException.need(path, "path"), "path");
    return new Program(path, text, null, PteronException.need(options, "options"));
  }

  /**
   * Maps `length` bytes of an open file from `offset`, as Android gives assets that are stored without compression: the
   * fields of an AssetFileDescriptor. The descriptor stays the caller's and may be closed at once. A part that does not
   * begin on a multiple of 64 bytes is read into memory.
   *
   * @throws PteronException.SystemFailed it cannot be mapped
   * @throws PteronException.BadProgram it is no program, or one that this runtime does not take
   */
  public static Program open(FileDescriptor file, long offset, long length) {
    return open(file, offset, length, new Options());
  }

  /** As {@link #open(FileDescriptor, long, long)}, with options. */
  @SuppressWarnings("resource") // closing the stream would close the caller's descriptor
  public static Program open(FileDescriptor file, long offset, long length, Options options) {
    PteronException.need(options, "options");
    String where = "file";
    try {
      FileChannel channel =
          new FileInputStream(PteronException.need(file, where)).getChannel();
      if (offset < 0 || length <= 0 || offset > channel.size() - length)
        throw PteronException.badArgument(
            String.format(
                "%s: %d bytes from %d, the file has %d", where, length, offset, channel.size()));
      if (length > Integer.MAX_VALUE)
        throw PteronException.badArgument(
            "file: a part of more than 2147483647 bytes; open it by its path");
      ByteBuffer part = channel.map(FileChannel.MapMode.READ_ONLY, offset, length);
      return new Program(where, null, part, options);
    } catch (IOException e) {
      throw PteronException.failed(
          PteronException.Status.IO, where + ": cannot be mapped: " + e.getMessage());
    }
  }

  /**
   * Uses the bytes between position and limit of a direct buffer in place, or a copy where they are not aligned to 64;
   * the program keeps the buffer.
   *
   * @throws PteronException.BadProgram they are no program, or one that this runtime does not take
   */
  public static Program open(ByteBuffer bytes) {
    return open(bytes, new Options());
  }

  /** As {@link #open(ByteBuffer)}, with options. */
  public static Program open(ByteBuffer bytes, Options options) {
    PteronException.need(options, "options");
    return new Program("bytes", null, direct(bytes, "bytes"), options);
  }

  /** The program's methods. */
  public List<Method> methods() {
    return methods;
  }

  /**
   * The method called `name`; null means the first.
   *
   * @throws PteronException.BadArgument there is none; the text lists those there are
   */
  public Method method(String name) {
    StringBuilder there = new StringBuilder();
    for (Method method : methods) {
      if (name == null || method.name.equals(name)) return method;
      there.append(there.length() == 0 ? "" : ", ").append(method.name);
    }
    throw PteronException.badArgument("method " + name + ": the program has " + there);
  }

  /** A session of the first method, on as many threads as there are processors. */
  public Session session() {
    return session(null, new Session.Options());
  }

  /** A session of a method (null: the first), on as many threads as there are processors. */
  public Session session(String method) {
    return session(method, new Session.Options());
  }

  /** A session of a method (null: the first). */
  public Session session(String method, Session.Options options) {
    PteronException.need(options, "options");
    Method found = method(method);
    Handle program = used();
    try {
      return new Session(this, program, found, options);
    } catch (Throwable failure) {
      program.leave();
      throw failure;
    }
  }

  /**
   * Hashes every byte, weights too, against the digests in the file.
   *
   * @throws PteronException.BadProgram a byte has changed
   */
  public void checkDigests() {
    Handle program = used();
    try {
      Native.programCheck(program.address());
    } finally {
      program.leave();
    }
  }

  /** What an instruction's number in errors and traces means. */
  public String instruction(int index) {
    Handle program = used();
    try {
      Description d = new Description(Native.programInstr(program.address(), index));
      d.u32();
      d.u32();
      return d.text();
    } finally {
      program.leave();
    }
  }

  /** The node of the model that a number in errors and traces means: name, operator, source. */
  public String[] node(int index) {
    Handle program = used();
    try {
      Description d = new Description(Native.programNode(program.address(), index));
      return new String[] {d.text(), d.text(), d.text()};
    } finally {
      program.leave();
    }
  }

  /** The delegates of this build, by name. */
  public static List<String> delegates() {
    Description d = new Description(Native.delegates());
    int count = d.u32();
    List<String> out = new ArrayList<>(count);
    for (int i = 0; i < count; i++) out.add(d.text());
    return out;
  }

  /** Lets the file go, once the sessions that are open are closed too. Closing twice does nothing. */
  @Override
  public void close() {
    guard.close();
  }

  @Override
  public String toString() {
    return name + " " + methods;
  }

  /** The handle, with one user more: who calls leaves it. */
  private Handle used() {
    if (!guard.isOpen() || !guard.handle().use())
      throw PteronException.badArgument(name + ": the program was closed; open it again");
    return guard.handle();
  }

  private static int[] chosen(String[] names) {
    List<String> there = delegates();
    int[] out = new int[names == null ? there.size() : names.length];
    int count = 0;
    if (names == null) while (count < out.length) out[count] = count++;
    else
      for (String name : names) {
        int found = there.indexOf(name);
        if (found >= 0) out[count++] = found;
        else if (!"cpu".equals(name))
          throw PteronException.badArgument(
              "delegates: this build has " + there + "; got " + name);
      }
    return java.util.Arrays.copyOf(out, count);
  }

  private static byte[] utf8(String text, String what) {
    if (text.indexOf('\0') >= 0)
      throw PteronException.badArgument(what + ": expected text without a null character");
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static ByteBuffer direct(ByteBuffer bytes, String what) {
    if (!PteronException.need(bytes, what).isDirect())
      throw PteronException.badArgument(
          what + ": expected a direct buffer (ByteBuffer.allocateDirect), got one of the heap");
    return bytes.slice();
  }
}
