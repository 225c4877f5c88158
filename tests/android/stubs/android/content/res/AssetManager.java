package android.content.res;

public final class AssetManager {
  public AssetFileDescriptor openFd(String name) throws java.io.IOException { return null; }
  public java.io.InputStream open(String name) throws java.io.IOException { return null; }
}
