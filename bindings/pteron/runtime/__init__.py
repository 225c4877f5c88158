"""Runs programs: `load` a file, call the model. Needs numpy and cffi, nothing of export."""

from pteron.runtime.delegates import Delegate, Placement
from pteron.runtime.model import Model, load
from pteron.runtime.program import PortInfo, Program
from pteron.runtime.session import Session, TraceEvent

__all__ = ["Delegate", "Model", "Placement", "PortInfo", "Program", "Session", "TraceEvent", "load"]
