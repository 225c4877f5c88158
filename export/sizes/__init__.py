"""Sizes: integers, or expressions over dimensions, which Graph and Program share."""
