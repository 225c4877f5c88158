"""What samples tell of a network in f32: samples -> ranges of activations, second moments of what layers read."""
