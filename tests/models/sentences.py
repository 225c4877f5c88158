"""English sentences that every Python has: paragraphs of the standard library's documentation strings."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

MODULES = (
    "os json re math random statistics datetime collections itertools functools logging socket ssl email http urllib "
    "unittest argparse decimal fractions heapq bisect threading subprocess asyncio pathlib shutil tempfile zipfile tarfile "
    "csv sqlite3 xml.dom typing inspect ast dis pickle copy string textwrap calendar locale gettext struct codecs io time "
    "select signal mmap queue sched contextlib dataclasses enum types weakref operator glob fnmatch hashlib hmac secrets "
    "base64 binascii html ftplib smtplib poplib imaplib uuid ipaddress wave colorsys cmd shlex tkinter pdb profile timeit "
    "trace tracemalloc warnings abc traceback gc platform ctypes concurrent.futures multiprocessing configparser netrc "
    "plistlib turtle difflib doctest"
)
SEED = 7


def sentences() -> list[str]:
    """All of them, 40 to 80 characters long, in one fixed random order; about two thousand, by the version of Python."""
    found = {
        text for module in _modules() for thing in _documented(module) for text in _short(thing)
    }
    ordered = sorted(found)
    np.random.default_rng(SEED).shuffle(ordered)  # type: ignore[arg-type]
    return ordered


def _modules() -> Iterator[ModuleType]:
    for name in MODULES.split():
        try:
            yield importlib.import_module(name)
        except ImportError:  # tkinter and turtle are packages of their own in some distributions
            continue


def _documented(module: ModuleType) -> Iterator[Any]:
    """The module, its public classes and functions, the public methods of the classes."""
    yield module
    for thing in _public(module):
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield thing
        if inspect.isclass(thing):
            yield from filter(callable, _public(thing))


def _public(owner: Any) -> list[Any]:
    return [value for name, value in vars(owner).items() if not name.startswith("_")]


def _short(thing: Any) -> Iterator[str]:
    """Its first three paragraphs that look like a sentence."""
    text = getattr(thing, "__doc__", None)
    for paragraph in text.split("\n\n")[:3] if isinstance(text, str) else []:
        line = " ".join(paragraph.split())
        code = "-->" in line or ">>>" in line
        if 40 <= len(line) <= 80 and line[0].isupper() and line.count(" ") >= 6 and not code:
            yield line


if (
    __name__ == "__main__"
):  # in a process of its own, so that what else was imported changes nothing
    warnings.simplefilter("ignore")
    sys.stdout.write(json.dumps(sentences()))
