"""Runs programs: `load` a file, call the model. Needs numpy and cffi, nothing of export."""

from .delegates import Delegate, Placement
from .model import Model, load
from .program import MethodInfo, PortInfo, Program
from .session import Session, Sizes, States, TraceEvent

__all__ = [
    "Delegate",
    "MethodInfo",
    "Model",
    "Placement",
    "PortInfo",
    "Program",
    "Session",
    "Sizes",
    "States",
    "TraceEvent",
    "load",
]
