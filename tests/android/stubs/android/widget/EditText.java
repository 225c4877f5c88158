package android.widget;

public class EditText extends TextView {
  public EditText(android.content.Context c, android.util.AttributeSet a) { super(c, a); }
  @Override public android.text.Editable getText() { return null; }
}
