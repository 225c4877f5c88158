package dev.pteron.demo;

import dev.pteron.Program;
import dev.pteron.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Collections;

/** Desk.java ASSETS: what the demo does but for its screen; fails where a digest is not the desk's. */
final class Desk {
  public static void main(String[] args) throws Exception {
    Path assets = Paths.get(args[0]);
    float[] cells = new float[64];
    floats(assets.resolve("image.f32")).asFloatBuffer().get(cells);
    Tensor image = Tensor.of(cells, 1, 1, 8, 8);
    for (String line : Files.readAllLines(assets.resolve("desk.txt"))) {
      String[] words = line.split("\t");
      try (Program program = Program.open(assets.resolve(words[0] + ".pte").toString())) {
        String digest = words.length > 2 ? search(assets, program, words[2]) : digit(program, image);
        System.out.println(words[0] + " " + digest + (digest.equals(words[1]) ? " equal" : " other"));
      }
    }
  }

  private static String digit(Program program, Tensor image) {
    return new Measured(program, Collections.singletonMap("image", image)).digest;
  }

  private static String search(Path assets, Program program, String question) throws Exception {
    WordPiece tokens = new WordPiece(Files.readAllLines(assets.resolve("vocab.txt")));
    ByteBuffer vectors = floats(assets.resolve("page.f32"));
    java.util.List<String> page = Files.readAllLines(assets.resolve("page.txt"));
    try (Search search = new Search(program, tokens, page, vectors.asFloatBuffer())) {
      int best = search.find(question, new float[page.size()]).get(0);
      System.out.println(page.get(best));
      return Measured.digest(Collections.singletonMap("vector", search.embed(question)));
    }
  }

  private static ByteBuffer floats(Path file) throws Exception {
    return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
  }
}
