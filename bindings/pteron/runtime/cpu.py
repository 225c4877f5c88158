"""What the processor under us can do."""

from __future__ import annotations

import dataclasses
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pteron.schema.errors import ArgumentError
from pteron.schema.isas import ROWS

from .._pteron import lib
from .arguments import integer
from .memory import check, new_struct

MAX_THREADS: Final = 256
"""Of a pool."""


Cache = tuple[int, int, int]
"""Bytes, ways, bytes of a line; 0: there is none, or nobody knows."""


@dataclasses.dataclass(frozen=True, slots=True)
class Machine:
    """What decides into which blocks kernels cut their work, never what they compute; all 0 is a usual machine.

    Attributes:
        misses: Of the first cache, that a core follows at once.
        memory_ns: What a line takes from memory.
    """

    l1: Cache = (0, 0, 0)
    l2: Cache = (0, 0, 0)
    l3: Cache = (0, 0, 0)
    misses: int = 0
    memory_ns: int = 0


def described(machine: Machine | None) -> Any:
    """`machine` as the runtime takes it; None: as the processor and the system say it."""
    if machine is not None:
        return new_struct("pte_machine", **{f.name: getattr(machine, f.name) for f in dataclasses.fields(machine)})  # fmt: skip
    out = new_struct("pte_machine")
    check(lib.pte_host_machine(out))
    return out


def allowed(features: int | None) -> int:
    """What a session may use, as the runtime takes it: all that the system reports, or these of them, 0 portable kernels alone."""
    have = int(lib.pte_host_cpu())
    if features is None:
        return have
    return integer("cpu", features, 0, 2**32 - 1) & have or int(lib.PTE_CPU_PORTABLE)


def features() -> list[str]:
    """Names of the kernel variants that sessions pick from, best last."""
    mask = lib.pte_host_cpu()
    return ["portable", *(row.name for row in ROWS if mask >> row.feature & 1)]


def machine(root: Path = Path("/")) -> str:
    """The processor's name, family and model, as far as the system says them, and the kernels it gets.

    A virtual machine may name a line of processors alone; family and model tell its generations apart.
    """
    try:
        lines = (root / "proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    facts: dict[str, str] = {}
    for line in lines:
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    name = facts.get("model name") or platform.processor() or platform.machine()
    if "cpu family" in facts and "model" in facts:
        name += f" (family {facts['cpu family']}, model {facts['model']})"
    return f"{name}, {available()} processors, kernels {features()[-1]}"


def threads(asked: int | None = None) -> int:
    """How many threads a run takes: what is asked, else PTERON_NUM_THREADS, else `available()`.

    Raises:
        ArgumentError: the variable or `asked` is no number of threads.
    """
    if asked is not None and integer("threads", asked, 0, MAX_THREADS):
        return integer("threads", asked, 0, MAX_THREADS)
    text = os.environ.get("PTERON_NUM_THREADS", "").strip()
    if not text or text == "0":
        return available()
    if not text.isdecimal():
        raise ArgumentError(f"PTERON_NUM_THREADS: expected a number of threads, got {text!r}")
    return integer("PTERON_NUM_THREADS", int(text), 1, MAX_THREADS)


def available(root: Path = Path("/")) -> int:
    """Processors that this process may use: its affinity, and whole processors of its control group's quota."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return max(1, min([count, *(int(share) for share in quotas(root))]))


def quotas(root: Path) -> Iterator[float]:
    """Processors by each quota that holds for this process: cgroup v2's cpu.max, v1's cfs_quota_us, of its group and those above."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / ("cpu" if controllers else "")
        here = top / group.lstrip("/")
        for folder in (here, *here.parents):
            if not folder.is_relative_to(top):
                break
            quota, period = _quota(folder, bool(controllers))
            if quota.isdecimal() and period.isdecimal() and int(period):
                yield int(quota) / int(period)


def _quota(folder: Path, old: bool) -> tuple[str, str]:
    try:
        if old:
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            quota, period = ((folder / name).read_text().strip() for name in names)
        else:
            quota, period = (folder / "cpu.max").read_text().split()
    except (OSError, ValueError):
        return "max", ""
    return quota, period
