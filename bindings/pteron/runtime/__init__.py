"""Runs programs: `load` a file, call the model. Needs numpy and cffi, nothing of export."""

from .delegates import Delegate, Placement
from .model import Model, load
from .program import MethodInfo, PortInfo, Program
from .session import Session, Sizes, States, TraceEvent
from .tokenizer import Tokenizer
from .tokens import Sampler, Sampling, generate

__all__ = [
    "Delegate",
    "MethodInfo",
    "Model",
    "Placement",
    "PortInfo",
    "Program",
    "Sampler",
    "Sampling",
    "Session",
    "Sizes",
    "States",
    "Tokenizer",
    "TraceEvent",
    "generate",
    "load",
]
