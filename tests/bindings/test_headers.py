"""The public headers: what the interface promises of itself."""

from __future__ import annotations

import re
from pathlib import Path

FOREVER = {
    "pte_error": "160 bytes, brought uninitialised",
    "pte_memory": "an address and a size",
    "pte_external": "an element of an array",
    "pte_cache": "three numbers, inside of pte_machine, which says its size",
    "pte_delegate_tensor": "PTE_DELEGATE_VERSION fixes what delegates are handed",
    "pte_delegate_io": "the same",
    "pte_delegate_until": "the same",
}
"""Structs without a size, and why they need none."""


def structs(root: Path) -> dict[str, str]:
    """Name -> members, of every struct that the public headers define."""
    found: dict[str, str] = {}
    for header in (root / "runtime_c/include/pteron").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        found |= dict(re.findall(r"\bstruct (pte_\w+) \{(.*?)\n\}", text, flags=re.S))
    return found


def test_structs_start_with_their_size(root: Path) -> None:
    found = structs(root)
    assert len(found) >= 20 and set(FOREVER) <= set(found)
    sized = {
        name for name, members in found.items() if members.split()[:2] == ["uint32_t", "size;"]
    }
    assert sized == set(found) - set(FOREVER)
