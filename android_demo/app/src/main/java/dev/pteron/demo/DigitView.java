package dev.pteron.demo;

import android.content.Context;
import android.graphics.Canvas;
import android.graphics.Paint;
import android.graphics.Path;
import android.os.Bundle;
import android.os.Parcelable;
import android.util.AttributeSet;
import android.view.MotionEvent;
import android.view.View;
import java.util.ArrayList;
import java.util.List;

/** A box to draw in. What was drawn survives rotation. */
public final class DigitView extends View {
  /** Who is told of each stroke. */
  interface Listener {
    void drawn(float[] cells);
  }

  private final Paint paint = new Paint(Paint.ANTI_ALIAS_FLAG);
  private final Raster raster = new Raster();
  private final List<float[]> strokes = new ArrayList<>(); // x0, y0, x1, y1 from 0 to 1
  private Listener listener;
  private float lastX, lastY;

  public DigitView(Context context, AttributeSet attributes) {
    super(context, attributes);
    paint.setColor(context.getColor(R.color.ink));
    paint.setStyle(Paint.Style.STROKE);
    paint.setStrokeCap(Paint.Cap.ROUND);
  }

  void listen(Listener listener) {
    this.listener = listener;
  }

  void clear() {
    strokes.clear();
    raster.clear();
    invalidate();
  }

  private void stroke(float x0, float y0, float x1, float y1) {
    strokes.add(new float[] {x0, y0, x1, y1});
    raster.line(x0, y0, x1, y1);
    invalidate();
    if (listener != null) listener.drawn(raster.cells());
  }

  @Override
  public boolean onTouchEvent(MotionEvent event) {
    float x = event.getX() / getWidth(), y = event.getY() / getHeight();
    switch (event.getActionMasked()) {
      case MotionEvent.ACTION_DOWN:
        getParent().requestDisallowInterceptTouchEvent(true);
        stroke(x, y, x, y);
        break;
      case MotionEvent.ACTION_MOVE:
        stroke(lastX, lastY, x, y);
        break;
      case MotionEvent.ACTION_UP:
        performClick();
        break;
      default:
        return super.onTouchEvent(event);
    }
    lastX = x;
    lastY = y;
    return true;
  }

  @Override
  public boolean performClick() {
    return super.performClick();
  }

  @Override
  protected void onDraw(Canvas canvas) {
    super.onDraw(canvas);
    paint.setStrokeWidth(getWidth() / 10f);
    Path path = new Path();
    for (float[] s : strokes) {
      path.moveTo(s[0] * getWidth(), s[1] * getHeight());
      path.lineTo(s[2] * getWidth() + 0.1f, s[3] * getHeight());
    }
    canvas.drawPath(path, paint);
  }

  @Override
  protected Parcelable onSaveInstanceState() {
    Bundle state = new Bundle();
    float[] all = new float[4 * strokes.size()];
    for (int i = 0; i < all.length; i++) all[i] = strokes.get(i / 4)[i % 4];
    state.putFloatArray("strokes", all);
    state.putParcelable("view", super.onSaveInstanceState());
    return state;
  }

  @Override
  @SuppressWarnings("deprecation") // the typed form is of API level 33
  protected void onRestoreInstanceState(Parcelable saved) {
    Bundle state = (Bundle) saved;
    super.onRestoreInstanceState(state.getParcelable("view"));
    float[] all = state.getFloatArray("strokes");
    for (int i = 0; i + 3 < all.length; i += 4) stroke(all[i], all[i + 1], all[i + 2], all[i + 3]);
  }
}
