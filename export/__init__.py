"""pteron.export"""
