package android.graphics;

public class Paint {
  public static final int ANTI_ALIAS_FLAG = 1;
  public enum Style { FILL, STROKE }
  public enum Cap { BUTT, ROUND }
  public Paint(int flags) {}
  public void setColor(int c) {}
  public void setStyle(Style s) {}
  public void setStrokeCap(Cap c) {}
  public void setStrokeWidth(float w) {}
}
