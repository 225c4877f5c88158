"""pteron.quantize"""
