"""Work in a process of its own, forked from one that has imported everything: a verdict whatever happens to it, and a journal of verdicts."""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any


def apart(work: Callable[[], dict[str, Any]], seconds: int) -> dict[str, Any]:
    """What `work` returns, or {"verdict", "text"}: traceback, killed, or slow after `seconds` of processor time; and its "seconds"."""
    into, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(into)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        signal.alarm(60 * seconds)  # for what waits for ever
        try:
            row = work()
        except Exception as error:
            row = verdict("traceback", f"{type(error).__name__}: {error}")
        os.write(out, json.dumps(row).encode()[:60000])
        os._exit(0)
    os.close(out)
    with os.fdopen(into, "rb") as pipe:
        data = pipe.read()
    _, status, used = os.wait4(pid, 0)
    if data:
        row = json.loads(data)
    elif os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGXCPU):
        row = verdict("slow", f"more than {seconds} s")
    else:
        row = verdict("killed", f"status {status}")
    return {**row, "seconds": round(used.ru_utime + used.ru_stime, 1)}


def verdict(kind: str, text: str = "") -> dict[str, Any]:
    return {"verdict": kind, "text": text[:600]}


def read(journal: Path) -> list[dict[str, Any]]:
    """The last row of each name."""
    rows = (
        [json.loads(line) for line in journal.read_text().splitlines()] if journal.is_file() else []
    )
    return list({row["name"]: row for row in rows}.values())


def add(journal: Path, row: dict[str, Any]) -> None:
    journal.parent.mkdir(parents=True, exist_ok=True)
    with journal.open("a") as file:
        file.write(json.dumps(row) + "\n")
