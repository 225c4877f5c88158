"""Encoders: real weights to stored codes, the slow clear reference in NumPy. The C codec equals them to the bit."""
