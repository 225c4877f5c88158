"""Work in a process of its own, forked from one that has imported everything: a verdict whatever happens to it, and a journal of verdicts.

A sweep is `options`, then `sweep`, which does `each` of its names: a run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import resource
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def options(about: str, journal: str, seconds: int) -> argparse.ArgumentParser:
    """What every sweep can be asked; `journal` and `seconds` are defaults."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="names that the expression finds")
    parser.add_argument("--limit", type=int, default=10**6)
    parser.add_argument("--minutes", type=float, default=10**6, help="begin none after these")
    parser.add_argument("--journal", default=journal)
    parser.add_argument("--seconds", type=int, default=seconds, help="of processor time for each")
    parser.add_argument("--again", action="store_true", help="those in the journal, too")
    parser.add_argument("--report", action="store_true", help="what the journal says")
    return parser


def sweep(
    asked: argparse.Namespace,
    prepare: Callable[[], None],
    names: Callable[[], Iterable[str]],
    work: Callable[[str], dict[str, Any]],
    line: Callable[[dict[str, Any]], str],
    report: Callable[[list[dict[str, Any]]], None],
) -> None:
    """`prepare`, then `each` of the names; with --report the report alone of what the journal says."""
    if asked.report:
        report(read(Path(asked.journal)))
        return
    prepare()
    report(each(names(), work, line, asked))


def tally(verdicts: Iterable[str]) -> str:
    """How many of each, most first."""
    return ", ".join(f"{n} {kind}" for kind, n in collections.Counter(verdicts).most_common())


def each(
    names: Iterable[str],
    work: Callable[[str], dict[str, Any]],
    line: Callable[[dict[str, Any]], str],
    asked: argparse.Namespace,
) -> list[dict[str, Any]]:
    """Adds a row to the journal for each name that it lacks, and prints its line. All rows of the journal."""
    journal = Path(asked.journal)
    done = set() if asked.again else {row["name"] for row in read(journal)}
    left = [n for n in names if n not in done and re.search(asked.only, n)][: asked.limit]
    end = time.monotonic() + 60 * asked.minutes
    for i, name in enumerate(left):
        if time.monotonic() > end:
            break
        row = {"name": name, **work(name)}
        add(journal, row)
        print(f"{i + 1}/{len(left)} {line(row)}", flush=True)
    return read(journal)


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
