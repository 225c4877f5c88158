package android.os;

public final class Bundle implements Parcelable {
  public void putFloatArray(String k, float[] v) {}
  public float[] getFloatArray(String k) { return null; }
  public void putParcelable(String k, Parcelable v) {}
  @Deprecated public <T extends Parcelable> T getParcelable(String k) { return null; }
}
