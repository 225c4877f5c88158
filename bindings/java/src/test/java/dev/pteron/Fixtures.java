package dev.pteron;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Programs with inputs, and the outputs that Python computed: files that tests/java/fixtures.py wrote. */
final class Fixtures {
  static final Path FOLDER = Paths.get(System.getProperty("pteron.fixtures"));

  /** One run of a program: what goes in, what must come out. */
  static final class Case {
    final String program;
    final Map<String, Tensor> inputs = new LinkedHashMap<>(), outputs = new LinkedHashMap<>();

    Case(Path file) throws IOException {
      String stem = file.getFileName().toString().replace(".case", "");
      program = path(stem.split("@")[0]);
      for (String line : Files.readAllLines(file)) {
        String[] words = line.split(" ");
        DType dtype = DType.valueOf(words[2].toUpperCase(Locale.ROOT));
        long[] shape = new long[words.length - 4];
        for (int i = 0; i < shape.length; i++) shape[i] = Long.parseLong(words[4 + i]);
        ByteBuffer bytes = bytes(FOLDER.resolve(words[3]));
        (words[0].equals("input") ? inputs : outputs)
            .put(words[1], Tensor.wrap(dtype, bytes, shape));
      }
    }
  }

  private Fixtures() {}

  static String path(String name) {
    return FOLDER.resolve(name + ".pte").toString();
  }

  static List<Case> cases() throws IOException {
    List<Case> out = new ArrayList<>();
    try (java.util.stream.Stream<Path> files = Files.list(FOLDER)) {
      for (Object file : files.sorted().toArray())
        if (file.toString().endsWith(".case")) out.add(new Case((Path) file));
    }
    return out;
  }

  static Case one(String name) throws IOException {
    return new Case(FOLDER.resolve(name + ".case"));
  }

  static ByteBuffer bytes(Path file) throws IOException {
    byte[] read = Files.readAllBytes(file);
    ByteBuffer out = ByteBuffer.allocateDirect(read.length).order(ByteOrder.nativeOrder());
    out.put(read).flip();
    return out;
  }
}
