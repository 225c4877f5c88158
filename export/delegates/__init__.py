"""Delegates as the exporter sees them: what each takes, and its compiler."""
