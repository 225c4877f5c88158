package android.app;

public class Activity extends android.content.Context {
  protected void onCreate(android.os.Bundle b) {}
  protected void onDestroy() {}
  public void setContentView(int id) {}
  public <T extends android.view.View> T findViewById(int id) { return null; }
  public final void runOnUiThread(Runnable r) {}
}
