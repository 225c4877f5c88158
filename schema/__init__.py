"""pteron.schema"""
