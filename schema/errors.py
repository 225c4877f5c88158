"""The errors a user can meet, and what each asks of them.

    PteronError
    ├── ModelError         the source model cannot be used: fix the model
    │   └── LoweringError  nodes have no lowering: every such node is listed, with what to do
    ├── QuantError         a weight or a graph cannot be quantized
    │   └── RecipeError    formats, rules or samples that do not fit: fix them (an ArgumentError, too)
    ├── ProgramError       the runtime refused the bytes: export again, or use a newer runtime
    ├── ArgumentError      a call's names, shapes or dtypes are wrong: fix the call
    ├── DataError          the data decided it: an index out of range, a division by zero
    ├── LimitError         a cap was reached: memory, instructions, iterations, time, a counted dimension
    ├── DelegateError      a delegate failed or is absent
    ├── OutputError        a file could not be written: disk full, read-only; nothing was changed
    └── InternalError      a pass made a program that the runtime would refuse: report it as a defect of Pteron

Every text reads `where: expected, got; what to do`. ArgumentError is a ValueError, LimitError a RuntimeError and OutputError an
OSError too, so that code which knows nothing of Pteron catches what it expects. PlacementWarning, a warning, tells of a fallback.
"""

from typing import Any


def shown(value: Any) -> str:
    """What a caller gave, for an error: its text where that is one short line, else what it is."""
    try:
        text = repr(value)
    except Exception:  # whatever a stranger's class does
        text = ""
    kind = "a class" if isinstance(value, type) else type(value).__name__
    return text if text and len(text) <= 80 and text.isprintable() else kind


class PteronError(Exception):
    """Any failure that Pteron reports."""


class ModelError(PteronError):
    """The source model cannot be used as it is."""


class LoweringError(ModelError):
    """Nodes that no lowering covers; `nodes` names them all."""

    def __init__(self, text: str, nodes: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.nodes = nodes


class QuantError(PteronError):
    """A weight or graph that cannot be quantized."""


class ProgramError(PteronError):
    """The bytes are not a program that this runtime accepts."""


class ArgumentError(PteronError, ValueError):
    """A call with wrong names, shapes or dtypes."""


class AbsentError(ArgumentError, AttributeError):
    """A property of what is closed, or has no such thing: `hasattr` says no, and who lists attributes goes on."""


class RecipeError(QuantError, ArgumentError):
    """A format, a rule or samples that do not fit the model."""


class DataError(PteronError, ValueError):
    """Values met while running that an operator cannot work with."""


class LimitError(PteronError, RuntimeError):
    """A cap, a deadline or a cancellation ended the work."""


class DelegateError(PteronError):
    """A delegate failed, or is not there."""


class OutputError(PteronError, OSError):
    """A file could not be written; what was there before is there still."""


class InternalError(PteronError):
    """Export made what no runtime would accept: a defect of Pteron, whatever the model."""


class PlacementWarning(UserWarning):
    """A part that was compiled for a delegate runs on the CPU; the text says why."""
