package android.view;

public class View {
  public interface OnClickListener { void onClick(View v); }
  public View(android.content.Context c, android.util.AttributeSet a) {}
  public void setOnClickListener(OnClickListener l) {}
  public final int getWidth() { return 0; }
  public final int getHeight() { return 0; }
  public final ViewParent getParent() { return null; }
  public void invalidate() {}
  public boolean onTouchEvent(MotionEvent e) { return false; }
  public boolean performClick() { return false; }
  protected void onDraw(android.graphics.Canvas c) {}
  protected android.os.Parcelable onSaveInstanceState() { return null; }
  protected void onRestoreInstanceState(android.os.Parcelable p) {}
}
