package dev.pteron;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An address that is released once: when the last of its users lets go, or when its owner was forgotten unclosed.
 * java.lang.ref.Cleaner does the latter, but Android has it only from API level 33 on.
 */
final class Handle {
  /** Frees what an address names. */
  interface Release {
    void release(long address);
  }

  private static final ReferenceQueue<Object> FORGOTTEN = new ReferenceQueue<>();
  private static final Set<Guard> GUARDS =
      Collections.newSetFromMap(new ConcurrentHashMap<Guard, Boolean>());

  static {
    Thread reaper = new Thread(Handle::reap, "pteron-reaper");
    reaper.setDaemon(true);
    reaper.start();
  }

  private final long address;
  private final Release release;
  private final AtomicInteger users = new AtomicInteger(1);

  /** What must stay reachable as long as the address is used: buffers, or the program of a session. */
  private final Object kept;

  Handle(long address, Release release, Object kept) {
    this.address = address;
    this.release = release;
    this.kept = kept;
  }

  /** The address; whoever asks is one of the users. */
  long address() {
    return address;
  }

  /** One user more, unless the last has gone. */
  boolean use() {
    for (; ; ) {
      int now = users.get();
      if (now == 0) return false;
      if (users.compareAndSet(now, now + 1)) return true;
    }
  }

  /** One user less; the last releases the address, then what it kept. */
  void leave() {
    if (users.decrementAndGet() != 0) return;
    release.release(address);
    if (kept instanceof Handle) ((Handle) kept).leave();
  }

  /** The share of `owner` in this handle: it goes when it is closed, or with the owner. */
  Guard guard(Object owner) {
    Guard guard = new Guard(owner, this);
    GUARDS.add(guard);
    return guard;
  }

  private static void reap() {
    for (; ; ) {
      try {
        ((Guard) FORGOTTEN.remove()).close();
      } catch (InterruptedException again) {
        // This thread ends with the process.
      }
    }
  }

  /** An owner's share of a handle. */
  static final class Guard extends PhantomReference<Object> {
    private final Handle handle;
    private final AtomicInteger open = new AtomicInteger(1);

    private Guard(Object owner, Handle handle) {
      super(owner, FORGOTTEN);
      this.handle = handle;
    }

    boolean isOpen() {
      return open.get() != 0;
    }

    Handle handle() {
      return handle;
    }

    /** Twice does nothing. */
    void close() {
      if (!open.compareAndSet(1, 0)) return;
      GUARDS.remove(this);
      handle.leave();
    }
  }
}
