package android.graphics;

public class Canvas {
  public void drawPath(Path path, Paint paint) {}
}
