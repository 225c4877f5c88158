package dev.pteron.demo;

import android.app.Activity;
import android.os.Bundle;
import android.view.inputmethod.EditorInfo;
import android.widget.EditText;
import android.widget.TextView;
import dev.pteron.Placement;
import dev.pteron.Program;
import dev.pteron.Tensor;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** One screen: a digit that is drawn, a page that is searched, and where what runs. */
public final class MainActivity extends Activity {
  /** What is done on the thread that owns the sessions. */
  private interface Work {
    String run() throws Exception;
  }

  private static final int SHOWN = 3;

  private ExecutorService worker;
  private Assets assets;
  private Digits digits; // these two are the worker's
  private Search search;

  @Override
  protected void onCreate(Bundle saved) {
    super.onCreate(saved);
    setContentView(R.layout.main);
    worker = Executors.newSingleThreadExecutor();
    assets = new Assets(getAssets());
    DigitView canvas = findViewById(R.id.canvas);
    TextView digit = findViewById(R.id.digit), found = findViewById(R.id.found);
    TextView where = findViewById(R.id.where);
    EditText question = findViewById(R.id.question);
    canvas.listen(cells -> show(digit, () -> classify(cells)));
    findViewById(R.id.clear)
        .setOnClickListener(
            view -> {
              canvas.clear();
              digit.setText(R.string.digits_hint);
            });
    findViewById(R.id.search)
        .setOnClickListener(view -> show(found, () -> find(question.getText().toString())));
    question.setOnEditorActionListener(
        (view, action, event) -> {
          if (action == EditorInfo.IME_ACTION_SEARCH)
            show(found, () -> find(question.getText().toString()));
          return false;
        });
    findViewById(R.id.measure).setOnClickListener(view -> show(where, this::measure));
  }

  @Override
  protected void onDestroy() {
    worker.execute(
        () -> {
          if (digits != null) digits.close();
          if (search != null) search.close();
        });
    worker.shutdown();
    super.onDestroy();
  }

  /** Runs `work` on the worker and shows what it says, or why it failed. */
  private void show(TextView view, Work work) {
    worker.execute(
        () -> {
          String text;
          try {
            text = work.run();
          } catch (Exception failure) {
            text = getString(R.string.failed, failure.getMessage());
          }
          String shown = text;
          runOnUiThread(() -> view.setText(shown));
        });
  }

  private String classify(float[] cells) throws IOException {
    if (digits == null)
      try (Program program = assets.program("digits")) {
        digits = new Digits(program);
      }
    int[] said = digits.classify(cells);
    return getString(R.string.digits_result, said[0], said[1]);
  }

  private Search search() throws IOException {
    if (search == null)
      try (Program program = assets.program("minilm")) {
        WordPiece tokens = new WordPiece(assets.lines("vocab.txt"));
        search =
            new Search(
                program,
                tokens,
                assets.lines("page.txt"),
                assets.floats("page.f32").asFloatBuffer());
      }
    return search;
  }

  private String find(String question) throws IOException {
    Search page = search();
    float[] scores = new float[page.lines().size()];
    List<Integer> order = page.find(question, scores);
    StringBuilder text = new StringBuilder();
    for (int line : order.subList(0, Math.min(SHOWN, order.size())))
      text.append(getString(R.string.search_row, scores[line], page.lines().get(line)))
          .append('\n');
    return text.toString();
  }

  /** A line a program: time, memory, where its parts run, its digest beside the desk's. */
  private String measure() throws IOException {
    StringBuilder text = new StringBuilder();
    Map<String, Tensor> image = Collections.singletonMap("image", assets.image());
    for (String line : assets.lines("desk.txt")) {
      String[] words = line.split("\t"); // program, digest, the question or nothing
      String digest;
      if (words.length > 2) {
        Tensor vector = search().embed(words[2]);
        digest = Measured.digest(Collections.singletonMap("vector", vector));
        text.append(words[0]).append('\n');
      } else {
        try (Program program = assets.program(words[0])) {
          Measured m = new Measured(program, image);
          digest = m.digest;
          text.append(
              getString(
                  R.string.where_row, words[0], m.microseconds, m.kibibytes, places(m.placements)));
          text.append('\n');
        }
      }
      text.append(
              digest.equals(words[1])
                  ? getString(R.string.where_digest_same, digest)
                  : getString(R.string.where_digest_other, digest, words[1]))
          .append("\n\n");
    }
    return text.toString();
  }

  private String places(List<Placement> placements) {
    if (placements.isEmpty()) return getString(R.string.where_cpu);
    StringBuilder text = new StringBuilder();
    for (Placement place : placements)
      text.append(text.length() == 0 ? "" : ", ").append(place.toString());
    return text.toString();
  }
}
