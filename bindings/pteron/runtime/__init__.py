"""Runs programs: `load` a file, call the model. Needs numpy and cffi, nothing of export."""

from pteron.runtime.delegates import Delegate, Placement
from pteron.runtime.model import Model, load
from pteron.runtime.program import MethodInfo, PortInfo, Program
from pteron.runtime.session import Session, Sizes, States, TraceEvent

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
