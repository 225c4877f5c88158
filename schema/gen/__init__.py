"""The generator: what is derived from schema/. `python schema/gen`."""
