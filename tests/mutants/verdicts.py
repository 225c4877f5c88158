"""What both kinds of mutants share: a child to try one in, how places are drawn, a journal that survives an end."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
import traceback
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

ROOT = Path(__file__).parents[2]
OUT = ROOT / "build/mutants"
# What is there before the fork: nothing of ours, all that takes long to import.
HEAVY = (
    "numpy", "onnx", "onnx.reference", "onnx.version_converter", "onnx_ir", "onnx_ir.passes.common", "onnxruntime", "sympy",
    "ml_dtypes", "flatbuffers", "cffi", "hypothesis", "pytest",
)  # fmt: skip


class Chosen:
    """These tests in this order, each named before it runs, each with an end in seconds of the processor, so that a busy machine kills no mutant."""

    def __init__(self, tests: Sequence[str], seconds: dict[str, float]) -> None:
        self.rank = {t: i for i, t in enumerate(tests)}
        self.seconds = seconds
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, in C too

    def pytest_sessionstart(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 120)  # for what files do when they are read

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.rank), key=lambda i: self.rank[i.nodeid])  # fmt: skip

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        print("RUNS", nodeid, flush=True)
        signal.setitimer(signal.ITIMER_PROF, 20 + 20 * self.seconds.get(nodeid, 1))

    def pytest_sessionfinish(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)  # what comes after has an end of its own


def last_run(log: Path) -> str:
    """What ran when the process ended."""
    ran = [s for s in log.read_text(errors="replace").splitlines() if s.startswith("RUNS ")]
    return ran[-1][5:] if ran else "import"


class Mutant(Protocol):
    @property
    def key(self) -> str: ...


M = TypeVar("M", bound=Mutant)
Verdict = dict[str, Any]


def in_child(work: Callable[[], int], log: Path, seconds: float) -> int:
    """Exit status of `work()` in a fork; 124 where it took too long, negative where a signal ended it."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
        fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        code = 70
        try:
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    end = time.monotonic() + seconds
    code = 124
    while time.monotonic() < end and code == 124:
        done, status = os.waitpid(pid, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if done else 124
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # what a test has begun, too
    if code == 124:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    return code


def spread(pools: Iterable[Sequence[M]], count: int, r: random.Random, known: set[str]) -> list[M]:
    """Every n-th of the places in the order of the files, those that another seed has drawn left out; in an order of its own."""
    pool: list[M] = []
    for each in pools:
        pool += r.sample(mine := [m for m in each if m.key not in known], len(mine))
    print(f"{len(pool)} places", file=sys.stderr)
    count, start = min(count, len(pool)), r.random()
    return r.sample([pool[int((i + start) * len(pool) / count)] for i in range(count)], count)


def journal(
    kind: str, told: Namespace, pools: Iterable[Sequence[M]], r: random.Random, judge: Callable[[M], Verdict | None],
    begin: Callable[[Sequence[M]], None] = lambda chosen: None,
) -> list[Verdict]:  # fmt: skip
    """`begin` gets what is drawn. Verdicts on what is drawn, each a line of build/mutants/KIND-SEED.jsonl at once; what stands there is not tried again,
    unless --again: then what survived is, and nothing is drawn."""
    file = OUT / f"{kind}-{told.seed}.jsonl"
    old = {f: last_verdicts(f) for f in OUT.glob(f"{kind}-*.jsonl")}
    done = old.pop(file, [])
    if told.again:
        lived = {d["key"] for d in done if "none" not in d and not d["killed"]}
        chosen = list({m.key: m for each in pools for m in each if m.key in lived}.values())
        done = [d for d in done if d["key"] not in lived]
    else:
        known = {d["key"] for ds in old.values() for d in ds}
        chosen = spread(pools, told.count, r, known)
    keys = {d["key"] for d in done}
    begin(chosen)
    end = time.monotonic() + told.seconds
    todo = [m for m in chosen if m.key not in keys]
    with file.open("a") as f:
        for m in todo:
            if time.monotonic() > end:
                print(f"{len(keys)} of {len(chosen)} judged; the next run goes on", file=sys.stderr)
                break
            said = judge(m)
            keys.add(m.key)
            said = said or {"key": m.key, "none": True}
            done.append(said)
            f.write(json.dumps(said) + "\n")
            f.flush()
    return [d for d in done if "none" not in d]


def last_verdicts(file: Path) -> list[Verdict]:
    """One for each place, the last."""
    return list({d["key"]: d for d in map(json.loads, file.read_text().splitlines())}.values())


def summary(done: Sequence[Verdict]) -> None:
    """Those of kept.txt apart: keys of the journals, each followed by a line that says why."""
    kept = set((Path(__file__).with_name("kept.txt")).read_text().splitlines()[::2])
    excused = [d for d in done if not d["killed"] and d["key"] in kept]
    done = [d for d in done if d not in excused]
    lived = [d for d in done if not d["killed"]]
    for d in sorted(lived, key=lambda d: (d["file"], d["line"])):
        print(f"{d['file']}:{d['line']}: {d.get('tests', 'all')} tests\n  - {d['was']}\n  + {d['is']}")  # fmt: skip
    share = 100 * (len(done) - len(lived)) / max(1, len(done))
    print(
        f"{len(done) - len(lived)} of {len(done)} killed, {share:.1f} %; {len(excused)} more are kept for a reason"
    )
