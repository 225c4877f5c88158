"""A valid file of some kind, bent: bits flipped, cut off, numbers made telling, parts copied, words of other types, zips resealed."""

from __future__ import annotations

import io
import random
import re
import zipfile
from typing import Final

TELLING: Final = (
    b"\0" * 8, b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x80", b"\1" + b"\0" * 7, b"\0\0\0\x40\0\0\0\0", b"\0\0\0\0\1\0\0\0",
)  # fmt: skip
TEXTS: Final = (
    b"-1", b"0", b"1e999", b"NaN", b"null", b"true", b'""', b"[]", b"{}", b"9" * 5000, b"18446744073709551616", b"0.5", b'"\\u001b[2J"',
    b"[" * 100000, b'{"a":' * 3000, b"\x1b[31m", b"\xff\xfe", b"[[[]]]", b"-9223372036854775808",
)  # fmt: skip


def bent(data: bytes, draw: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        at = (
            draw.randrange(len(out) or 1)
            if draw.random() < 0.4
            else draw.randrange(min(len(out), 600) or 1)
        )
        kind = draw.randrange(11)
        if kind < 3 and out:
            out[at] ^= 1 << draw.randrange(8)
        elif kind == 3:
            del out[at:]
        elif kind == 4:
            del out[at : at + draw.choice((1, 2, 4, 8, 64))]
        elif kind == 5:
            width = draw.choice((1, 2, 4, 8))
            out[at : at + width] = (
                draw.choice(TELLING)[-width:]
                if draw.random() < 0.5
                else draw.choice(TELLING)[:width]
            )
        elif kind == 6:
            out[at:at] = out[at : at + draw.choice((1, 8, 32, 128))]
        elif kind == 7:
            out[at:at] = draw.randbytes(draw.choice((1, 4, 16)))
        elif kind == 8:
            other = draw.randrange(len(out) or 1)
            out[at : at + 16] = out[other : other + 16]
        else:
            out = bytearray(worded(bytes(out), draw))
    return bytes(out)


def worded(data: bytes, draw: random.Random) -> bytes:
    """A number, a word or a part of text becomes another."""
    found = list(
        re.finditer(
            rb'-?\d+(?:\.\d+)?|"[^"\n]{0,40}"|\btrue\b|\[[^\[\]]{0,60}\]|[a-z_]{3,}', data[:20000]
        )
    )
    if not found:
        return data
    one = draw.choice(found)
    by = draw.choice(TEXTS) if draw.random() < 0.7 else draw.choice(found)[0]
    return data[: one.start()] + by + data[one.end() :]


def resealed(data: bytes, draw: random.Random) -> bytes:
    """A zip whose entries are bent and whose checksums are right."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            entries = {name: file.read(name) for name in file.namelist()}
    except Exception:
        return data
    name = draw.choice(list(entries))
    kind = draw.randrange(8)
    if kind == 0:
        del entries[name]
    elif kind == 1:
        entries[name + "\x1b[1m"] = entries[name]
    else:
        entries[name] = bent(entries[name], draw)
    return zip_of(entries, zipfile.ZIP_STORED)


def zip_of(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return out.getvalue()
