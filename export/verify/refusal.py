"""What a rule of the verifier says where a program breaks it."""

from __future__ import annotations

from typing import Any, NoReturn

from ..sizes import NONE


class Refusal(Exception):
    """A program that the runtime would refuse; `node` is the debug node of the instruction at fault, or NONE."""

    def __init__(self, text: str, node: int = NONE) -> None:
        super().__init__(text)
        self.node = node


def refuse(where: str, what: str, expected: Any, got: Any, node: int = NONE) -> NoReturn:
    raise Refusal(f"{where}: {what}: expected {expected}, got {got}", node)
