"""The same network in f32, with constants that are easier to round: rotations, factors of channels. Graph -> Graph."""
