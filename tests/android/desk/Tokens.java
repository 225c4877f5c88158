package dev.pteron.demo;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;

/** Tokens.java VOCABULARY TEXTS: the ids of each text, with null characters between. */
final class Tokens {
  public static void main(String[] args) throws Exception {
    WordPiece table = new WordPiece(Files.readAllLines(Paths.get(args[0])));
    String all = new String(Files.readAllBytes(Paths.get(args[1])), StandardCharsets.UTF_8);
    for (String text : all.split("\0", -1)) System.out.println(Arrays.toString(table.encode(text, 32)));
  }
}
