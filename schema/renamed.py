"""Options whose names have changed, and what was meant by one that is none: the text of an error says the name that counts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Final

from . import activations

RENAMED: Final = {
    "dim": "hints",
    "dims": "hints",
    "exec": "activations",
    "exec_mode": "activations",
    "eval": "evaluate",
    "debug": "strip (debug=False is strip=True)",
    "state": "states",
    "delegate": "delegates",
    "rule": "rules",
    "output": "out",
    "model": "source",
    "emit_kernel_list": "kernel_list",
}
"""In Python, what an option was called, or what its flag is."""
FLAGS: Final[Mapping[str, Mapping[str, str]]] = {
    "export": {
        "--dim": "--hint",
        "--exec": "--activations",
        "--exec-mode": "--activations",
        "--eval": "--evaluate",
        "--check": "--dry-run",
        "--emit-kernel-list": "--kernel-list",
        "--format": "--quantize",
    },
    "quantize": {
        "--exec": "--activations",
        "--exec-mode": "--activations",
        "--eval": "--evaluate",
        "--quantize": "--format",
    },
}
"""By command, what a flag was called, or what it is called by another command."""

VALUES: Final[Mapping[str, Mapping[str, str]]] = {"activations": activations.RENAMED}
"""By option, what a value was called."""


def renamed_value(option: str, given: object) -> str:
    """What to say of a value that is none of an option's: "; it is called int8-token"; "" where it never was one."""
    new = VALUES.get(option, {}).get(str(given))
    return "" if new is None else f"; it is called {new}"


def renamed_keyword(given: Iterable[str], known: Iterable[str]) -> str:
    """What to say of keywords that are not known: "; it is called hints"; "" where nothing is near."""
    known = list(known)
    for name in given:
        if name not in known:
            new = RENAMED.get(name, "")
            if new.partition(" ")[0] in known:
                return f"; it is called {new}"
            near = difflib.get_close_matches(name, known, 1)
            return f"; did you mean {near[0]}?" if near else ""
    return ""


def renamed_flag(command: str, given: str, known: Iterable[str]) -> str:
    """As `renamed_keyword`, for an argument of a command."""
    name = given.partition("=")[0]
    if not name.startswith("-"):
        return ""
    new = FLAGS.get(command, {}).get(name)
    if new is not None:
        return f"; it is called {new}"
    near = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""
