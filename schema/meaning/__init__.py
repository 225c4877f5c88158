"""What the rows of schema/ops_<family>.py mean, in NumPy."""
