package dev.pteron;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A method of a program: its name, inputs, outputs and states, in their order. Immutable. */
public final class Method {
  /** What {@link Program#session(String)} calls it. */
  public final String name;

  /** In the order of a call's arguments. */
  public final List<Port> inputs;

  /** In the order of a call's results. */
  public final List<Port> outputs;

  /** What a session keeps from run to run. */
  public final List<Port> states;

  final int index;

  Method(int index, Description d) {
    this.index = index;
    name = d.text();
    inputs = ports(d);
    outputs = ports(d);
    states = ports(d);
  }

  private static List<Port> ports(Description d) {
    int count = d.u32();
    List<Port> out = new ArrayList<>(count);
    for (int i = 0; i < count; i++) out.add(new Port(d));
    return Collections.unmodifiableList(out);
  }

  static String names(List<Port> ports) {
    StringBuilder text = new StringBuilder();
    for (Port port : ports) text.append(text.length() == 0 ? "" : ", ").append(port.name);
    return text.length() == 0 ? "none" : text.toString();
  }

  @Override
  public String toString() {
    return name + ": " + inputs + " -> " + outputs;
  }
}
