package dev.pteron.demo;

import java.text.Normalizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Text to token ids as BERT's uncased tokenizer has them; the table is the one that was written at export. */
final class WordPiece {
  private static final int LONGEST = 100;

  private final Map<String, Integer> ids = new HashMap<>();

  /** A line a token; its number is its id. */
  WordPiece(List<String> vocabulary) {
    for (String token : vocabulary) ids.put(token, ids.size());
  }

  /** [CLS], the text's tokens, [SEP]; at most `most` of them. */
  long[] encode(String text, int most) {
    List<Long> out = new ArrayList<>();
    out.add(id("[CLS]"));
    for (String word : words(text)) pieces(word, out);
    while (out.size() > most - 1) out.remove(out.size() - 1);
    out.add(id("[SEP]"));
    long[] array = new long[out.size()];
    for (int i = 0; i < array.length; i++) array[i] = out.get(i);
    return array;
  }

  private long id(String token) {
    return ids.get(token);
  }

  /** The longest pieces from the left; a word without is unknown. */
  private void pieces(String word, List<Long> out) {
    List<Long> found = new ArrayList<>();
    int begin = 0, end;
    for (; begin < word.length(); begin = end) {
      Integer piece = null;
      for (end = word.length(); end > begin; end--) {
        piece = ids.get((begin == 0 ? "" : "##") + word.substring(begin, end));
        if (piece != null) break;
      }
      if (piece == null) break;
      found.add((long) piece);
    }
    boolean known = begin == word.length() && word.codePointCount(0, word.length()) <= LONGEST;
    if (known) out.addAll(found);
    else out.add(id("[UNK]"));
  }

  /** Lower case without accents; punctuation and ideographs are words by themselves. */
  private static List<String> words(String text) {
    List<String> out = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    String plain =
        Normalizer.normalize(clean(text), Normalizer.Form.NFD);
    plain.codePoints().filter(c -> Character.getType(c) != Character.NON_SPACING_MARK)
        .forEach(
            c -> {
              boolean apart = isPunctuation(c) || isIdeograph(c);
              if (apart || isSpace(c)) {
                if (word.length() > 0) out.add(word.toString());
                word.setLength(0);
              }
              String low = new String(Character.toChars(c)).toLowerCase(Locale.ROOT);
              if (apart) out.add(low);
              else if (!isSpace(c)) word.append(low);
            });
    if (word.length() > 0) out.add(word.toString());
    return out;
  }

  /** Without what is no text. */
  private static String clean(String text) {
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .filter(c -> c != 0 && c != 0xFFFD && (isSpace(c) || !isControl(c)))
        .forEach(c -> out.appendCodePoint(isSpace(c) ? ' ' : c));
    return out.toString();
  }

  private static boolean isSpace(int c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r'
        || Character.getType(c) == Character.SPACE_SEPARATOR;
  }

  private static boolean isControl(int c) {
    int type = Character.getType(c);
    return type == Character.CONTROL || type == Character.FORMAT || type == Character.SURROGATE
        || type == Character.PRIVATE_USE || type == Character.UNASSIGNED;
  }

  private static boolean isPunctuation(int c) {
    if (c >= 33 && c <= 47 || c >= 58 && c <= 64 || c >= 91 && c <= 96 || c >= 123 && c <= 126)
      return true;
    switch (Character.getType(c)) {
      case Character.CONNECTOR_PUNCTUATION:
      case Character.DASH_PUNCTUATION:
      case Character.START_PUNCTUATION:
      case Character.END_PUNCTUATION:
      case Character.INITIAL_QUOTE_PUNCTUATION:
      case Character.FINAL_QUOTE_PUNCTUATION:
      case Character.OTHER_PUNCTUATION:
        return true;
      default:
        return false;
    }
  }

  private static boolean isIdeograph(int c) {
    return c >= 0x4E00 && c <= 0x9FFF || c >= 0x3400 && c <= 0x4DBF || c >= 0x20000 && c <= 0x2A6DF
        || c >= 0x2A700 && c <= 0x2CEAF || c >= 0xF900 && c <= 0xFAFF
        || c >= 0x2F800 && c <= 0x2FA1F;
  }
}
