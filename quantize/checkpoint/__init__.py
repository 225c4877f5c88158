"""Weights of a checkpoint (export/checkpoint) in a Graph, as the tools that quantized them left them.

match.py  which tensor each parameter of a Graph is, and what is left over on either side
place.py  into a Graph: floats before the passes, Q/DQ in place of the weights after them
"""
