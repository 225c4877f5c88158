package dev.pteron.demo;

import android.content.res.AssetFileDescriptor;
import android.content.res.AssetManager;
import dev.pteron.Program;
import dev.pteron.Tensor;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What `make android-models` wrote. */
final class Assets {
  private final AssetManager manager;

  Assets(AssetManager manager) {
    this.manager = manager;
  }

  /** A program, mapped in the package's file. */
  Program program(String name) throws IOException {
    try (AssetFileDescriptor file = manager.openFd(name + ".pte")) {
      return Program.open(file.getFileDescriptor(), file.getStartOffset(), file.getLength());
    }
  }

  List<String> lines(String name) throws IOException {
    List<String> out = new ArrayList<>();
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(manager.open(name), StandardCharsets.UTF_8))) {
      for (String line; (line = reader.readLine()) != null; ) out.add(line);
    }
    return out;
  }

  /** Floats, little-endian, mapped. */
  ByteBuffer floats(String name) throws IOException {
    try (AssetFileDescriptor file = manager.openFd(name);
        FileInputStream stream = file.createInputStream()) {
      return stream
          .getChannel()
          .map(FileChannel.MapMode.READ_ONLY, file.getStartOffset(), file.getLength())
          .order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  /** One of the test images. */
  Tensor image() throws IOException {
    float[] cells = new float[Raster.CELLS * Raster.CELLS];
    floats("image.f32").asFloatBuffer().get(cells);
    return Tensor.of(cells, 1, 1, Raster.CELLS, Raster.CELLS);
  }
}
