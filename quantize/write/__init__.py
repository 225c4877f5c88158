"""Codes and scales into a Graph, whole or not at all."""
