package android.widget;

public class TextView extends android.view.View {
  public interface OnEditorActionListener { boolean onEditorAction(TextView v, int action, android.view.KeyEvent e); }
  public TextView(android.content.Context c, android.util.AttributeSet a) { super(c, a); }
  public final void setText(CharSequence t) {}
  public final void setText(int id) {}
  public CharSequence getText() { return null; }
  public void setOnEditorActionListener(OnEditorActionListener l) {}
}
