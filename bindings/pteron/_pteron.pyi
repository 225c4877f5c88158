"""The C runtime through CFFI (bindings/ffi_build.py): its functions, structs and constants are those of pteron/*.h."""

from typing import Any

ffi: Any
lib: Any
