"""What users call the policies of a delegate's part, by their number in a file: `Policy` of program.fbs says what each means."""

from __future__ import annotations

from typing import Final

from .layout import Policy

POLICIES: Final = tuple(policy.name.lower() for policy in Policy)
