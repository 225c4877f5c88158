"""A tokenizer's tables as the bytes of a text segment: schema/text.fbs."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.errors import ModelError
from pteron.schema.layout import STRUCTS, TextAct, TextPart

from . import sets
from .dfa import Classes, dfa
from .normalizers import Rule
from .splits import Stage
from .tables import NONE, blocks

MAGIC: Final = b"PTXT"
VERSION: Final = 0
ALIGN: Final = 8
STAGES: Final = 8
RULES: Final = 32

Parts = dict[TextPart, bytes]


def pack(head: Mapping[str, Any], parts: Mapping[TextPart, bytes]) -> bytes:
    """The segment: head, places, parts. `head` lacks what follows from the parts.

    Raises:
        ModelError: it is too large.
    """
    row = STRUCTS["TextHead"]
    at = row.bytes + STRUCTS["TextPlace"].bytes * len(TextPart)
    places, bodies = b"", b""
    for part in TextPart:
        body = parts.get(part, b"")
        gap = -(at + len(bodies)) % ALIGN
        bodies += bytes(gap) + body if body else b""
        offset = at + len(bodies) - len(body) if body else 0
        places += struct.pack(STRUCTS["TextPlace"].letters, offset, len(body))
    size = at + len(bodies)
    if size > 0x7FFFFFFF:
        raise ModelError(f"the tokenizer: expected tables below 2 GiB, got {size} bytes")
    values = {"magic": MAGIC, "version": VERSION, "bytes": size, **head}
    return struct.pack(row.letters, *(values[name] for name in row.fields)) + places + bodies


def rows(name: str, found: Sequence[Sequence[Any]]) -> bytes:
    """Structs of one kind."""
    return b"".join(struct.pack(STRUCTS[name].letters, *row) for row in found)


def class_parts(classes: Classes, traits: Sequence[int]) -> Parts:
    index, members = blocks(classes.of)
    return {
        TextPart.CLASS_INDEX: index.tobytes(),
        TextPart.CLASSES: members.tobytes(),
        TextPart.TRAITS: bytes(traits),
    }


def stage_parts(stages: Sequence[Stage], classes: Classes) -> Parts:
    """The DFA of each stage.

    Raises:
        ModelError: too many, or a pattern that is not covered.
    """
    if len(stages) > STAGES:
        raise ModelError(f"pre-tokenizers: expected at most {STAGES} that split, got {len(stages)}")
    found, steps = [], list[NDArray[np.uint16]]()
    at = 0
    for stage in stages:
        table = dfa(stage.steps, classes, stage.name)
        found.append((at, len(table), int(stage.keep)))
        steps.append(table)
        at += table.size
    joined = b"".join(table.tobytes() for table in steps)
    return {TextPart.STEPS: joined, TextPart.STAGES: rows("TextStage", found)}


def rule_parts(rules: Sequence[Rule]) -> Parts:
    """Rules and their maps.

    Raises:
        ModelError: too many.
    """
    if len(rules) > RULES:
        raise ModelError(f"normalizers: expected at most {RULES} steps, got {len(rules)}")
    data = bytearray()
    found: list[tuple[int, ...]] = []
    tables: list[NDArray[np.uint32]] = []
    for rule in rules:
        fixed = (int(rule.act), int(rule.when), int(rule.late), rule.growth)
        if rule.table is not None:
            found.append((*fixed, len(tables), 0, 0))
            tables.append(_map(rule.table, data))
            continue
        text, replacement = rule.text.encode(), rule.replacement.encode()
        found.append((*fixed, len(data), len(text), len(replacement)))
        data += text + replacement
    parts = {TextPart.RULES: rows("TextRule", found), TextPart.MAP_BYTES: bytes(data)}
    if tables:
        index, members = blocks(np.concatenate(tables))
        parts[TextPart.MAP_INDEX] = index.tobytes()
        parts[TextPart.MAPS] = members.tobytes()
    if any(rule.act in (TextAct.DECOMPOSE, TextAct.COMPOSE) for rule in rules):
        parts |= _order_parts()
    return parts


def _map(table: Mapping[int, str], data: bytearray) -> NDArray[np.uint32]:
    """Where each code point's replacement lies; appends replacements to `data`."""
    out = np.full(sets.MAX, NONE, np.uint32)
    places: dict[str, int] = {}
    for code, text in table.items():
        if text not in places:
            places[text] = len(data)
            body = text.encode()
            if len(body) > 255:
                raise ModelError(f"a replacement of {len(body)} bytes is not covered")
            data += bytes([len(body)]) + body
        out[code] = places[text]
    return out


def _order_parts() -> Parts:
    orders = np.zeros(sets.MAX, np.uint8)
    for code, order in sets.orders().items():
        orders[code] = order
    index, members = blocks(orders)
    return {
        TextPart.ORDER_INDEX: index.tobytes(),
        TextPart.ORDERS: members.tobytes(),
        TextPart.PAIRS: np.array(sets.pairs(), np.uint32).tobytes(),
    }
