"""Writes the C source of pteron._pteron: python ffi_build.py OUT HEADER...

The declarations are the public headers themselves, without what CFFI's parser does not read, so nothing is declared
twice. The file only writes C; CMake compiles it.
"""

import re
import sys
from pathlib import Path

import cffi


def declarations(header: str) -> str:
    """What `ffi.cdef` reads of a public header: comments, guards, attributes and static functions removed."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    text = re.sub(r"static inline [^;{]*\{.*?\n\}", "", text, flags=re.S)
    number = r"(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*"
    constants = re.findall(rf"^#define (PTE_\w+) +({number})\s*$", text, flags=re.M)
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    text = "\n".join(line for line in lines if not line.endswith("\\"))
    for word in ("PTE_API", "PTE_CHECKED"):
        text = re.sub(rf"\b{word}\b", "", text)
    text = re.sub(r"_Static_assert\(.*?\);", "", text, flags=re.S)
    for name, value in constants:
        text = re.sub(rf"\[{name}\]", f"[{value.rstrip('uUlL')}]", text)
    return "".join(f"#define {name} ...\n" for name, _ in constants) + text


def main() -> None:
    out, headers = Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]
    ffi = cffi.FFI()
    for header in headers:
        ffi.cdef(declarations(header.read_text()))
    ffi.cdef("const int *pteron_interrupt_watch(void); void pteron_interrupt_leave(void);")
    ffi.cdef(
        'extern "Python" void pteron_trace(void *, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t);'
    )
    includes = "".join(f'#include "pteron/{header.name}"\n' for header in headers)
    ffi.cdef("double pteron_peak(int kind, const char *isa);")
    here = Path(__file__).parent
    includes += (here / "interrupt.h").read_text() + (here / "peaks.h").read_text()
    ffi.set_source("pteron._pteron", includes, py_limited_api=True)
    ffi.emit_c_code(str(out))


if __name__ == "__main__":
    main()
