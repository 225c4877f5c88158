"""Writes the C source of pteron._codec: python ffi_codec.py OUT CODEC_H FILE.c...

A format is a file, search.c aside; its row is `pte_codec_<stem>`.
"""

import sys
from pathlib import Path

import cffi
from ffi_build import declarations


def main() -> None:
    out, header, *sources = (Path(name) for name in sys.argv[1:])
    ffi = cffi.FFI()
    ffi.cdef(declarations(header.read_text()))
    rows = "".join(
        f"extern const pte_codec pte_codec_{path.stem};\n"
        for path in sources
        if path.stem != "search"
    )
    ffi.cdef(rows)
    ffi.set_source("pteron._codec", f'#include "codec/{header.name}"\n{rows}', py_limited_api=True)
    ffi.emit_c_code(str(out))


if __name__ == "__main__":
    main()
