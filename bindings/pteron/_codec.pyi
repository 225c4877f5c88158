"""The encoders in C through CFFI (bindings/ffi_codec.py)."""

from typing import Any

ffi: Any
lib: Any
