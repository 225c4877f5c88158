"""Mutants of the C runtime outside the kernels, or its refusals taken away; do the tests notice?

    python tests/mutants/runtime.py --seed 7 --count 60
    python tests/mutants/runtime.py --refusals

draws mutants (switches.py) from the .c files of core, program, session, text and host, or takes every refusal of program, session and
the kernels' checks. All turns are built in at once, each behind a switch, under sanitizers and into a Python module. One run
of every test says which turns it meets; then each turn is switched on for what meets it, quickest first, until one fails:
tests/c, tests/session and others (all in one process), changed and corrupted copies of programs. Of what lives, a turn that the compiler makes
the same code of is none. Verdicts: build/mutants/runtime-SEED.jsonl and refusals-0.jsonl.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib
import importlib.util
import json
import mmap
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from switches import Turn, alone, apart, mutants, refusals, turned
from verdicts import HEAVY, OUT, ROOT, Chosen, in_child, journal, last_run, summary

AREA: Final = ("core", "program", "session", "text", "host")
ELSEWHERE: Final = {"none", "win32"}
"""Systems that this machine does not compile."""
REFUSALS: Final = ("program", "session", "kernels")
TESTS: Final = (
    "tests/session/test_control.py", "tests/session/test_counted_again.py", "tests/session/test_carried.py", "tests/session/test_generate.py", "tests/session/test_interpreted.py", "tests/session/test_refused.py",
    "tests/bindings/test_model.py", "tests/bindings/test_arguments.py", "tests/bindings/test_lifetime.py", "tests/lower/test_control.py",
    "tests/lower/test_shape_inputs.py", "tests/export/test_verify.py", "tests/program/test_reader.py", "tests/program/test_rows.py",
    "tests/program/test_steps.py",
)  # fmt: skip
LONG: Final = "tests/program/test_rows.py::test_bent_programs_of_every_row_do_no_harm"
"""With a program of its own."""

READ: Final = (
    "runtime_c",
    "tests/c",
    "tests/fuzz",
    "tests/program",
    "tests/session",
    "tests/bindings",
    "tests/export",
    "tests/lower",
)
"""What decides the verdicts."""

COPIES: Final = 200
"""Changed ones, of each program."""

SAMPLES: Final = ("pointwise", "control", "matmul")
"""Of tests/program/samples.py, for the corrupted programs."""

PLAIN: Final = ["-std=c11", "-g", "-O1", "-ffp-contract=off", "-D_POSIX_C_SOURCE=200809L", "-D_GNU_SOURCE", "-w",
                "-Iruntime_c", "-Iruntime_c/include", "-Itests/c", "-Itests/fuzz"]  # fmt: skip
SANITIZED: Final = [*PLAIN, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
WORK: Final = OUT / "c"
LIBRARY: Final = ROOT / "build/ctest/library/runtime_c/libpteron.a"
MET: Final = WORK / "met"
MOST: Final = 4096  # turns
MEMORY_MB: Final = 4096
WRITTEN: Final = 1 << 28  # bytes, of a log

SWITCH_H: Final = """
extern int mutant_now;
extern unsigned char *mutant_met;
static inline int mutant_holds(int k) { mutant_met[k] = 1; return mutant_now == k; }
"""
SWITCH_C: Final = f"""
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
int mutant_now = -1;
static unsigned char none[{MOST}];
unsigned char *mutant_met = none;
__attribute__((constructor)) static void read_turn(void) {{
  const char *turn = getenv("PTE_TURN"), *met = getenv("PTE_MET");
  if (turn) mutant_now = atoi(turn);
  int fd = met ? open(met, O_RDWR) : -1;
  void *at = fd < 0 ? MAP_FAILED : mmap(0, {MOST}, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) mutant_met = at;
}}
"""


# --- building -------------------------------------------------------------------------------------------------------------


def must(*words: object) -> None:
    done = subprocess.run(list(map(str, words)), cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, words))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def digest(turns: Sequence[Turn]) -> str:
    """Of the turns, the sources and the tests."""
    found = hashlib.sha256("\n".join(t.key for t in turns).encode())
    for folder in READ:
        for file in sorted(
            f for f in (ROOT / folder).rglob("*.*") if f.suffix in (".c", ".h", ".py", ".txt")
        ):
            found.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    return found.hexdigest()


def kept(name: str, make: Callable[[], Any]) -> Any:
    """What `make` gives, from a file where it was made before."""
    file = WORK / f"{name}.json"
    if not file.exists():
        made = json.dumps(make())
        file.write_text(made)
    return json.loads(file.read_text())


def said(test: Path, what: str) -> list[str]:
    head = f"// {what}:"
    return [w for s in test.read_text().splitlines() if s.startswith(head) for w in s[len(head) :].split()]  # fmt: skip


def sources(test: Path) -> list[str]:
    """Files below the root that the test links; empty: the library."""
    named = [ROOT / "runtime_c" / s for s in said(test, "sources") if s != "library"]
    files = [f for n in named for f in (sorted(n.glob("*.c")) if n.is_dir() else [n])]
    return [str(f.relative_to(ROOT)) for f in files]


def compiled(source: str, kind: str = "sanitized", text: str = "") -> Path:
    """The object of a source as it stands, or of `text` in its place; kind: sanitized, or of the Python module."""
    out = WORK / f"o-{kind}" / (source.replace("/", "+") + ".o")
    if out.exists():
        return out
    out.parent.mkdir(parents=True, exist_ok=True)
    path: Path | str = source
    if text:
        path = out.with_suffix(".c")
        path.write_text(text)
    flags = said(ROOT / source, "flags") if source.startswith("tests/c/test_") else []
    wide = [*SANITIZED, *flags] if kind == "sanitized" else [*release_flags(source), "-w"]
    must("cc", *wide, f"-I{(ROOT / source).parent}", "-include", WORK / "switch.h", "-c", path, "-o", out)  # fmt: skip
    return out


@functools.cache
def module_commands() -> list[str]:
    """Those that build the Python module, as ninja knows them."""
    (build,) = ROOT.glob("build/cp3*")
    must("ninja", "-C", build)
    done = subprocess.run(["ninja", "-C", str(build), "-t", "commands"], capture_output=True, text=True)  # fmt: skip
    return done.stdout.splitlines()


def release_flags(file: str) -> list[str]:
    (line,) = [c for c in module_commands() if f" -c {ROOT / file}" in c]
    words = shlex.split(line)
    out = words.index("-o")
    drop = {out, out + 1} | {i for i, w in enumerate(words) if w in ("-c", str(ROOT / file), "-MD")}
    drop |= {j for i, w in enumerate(words) if w in ("-MT", "-MF") for j in (i, i + 1)}
    return [w for i, w in enumerate(words) if i not in drop]


def module(objects: Sequence[Path]) -> Path:
    """The Python module with these objects for the library's own."""
    (build,) = ROOT.glob("build/cp3*")
    (line,) = [c for c in module_commands() if "-o " in c and "_pteron.abi3.so" in c.split("-o ", 1)[1].split()[0]]  # fmt: skip
    words = shlex.split(line)
    words = words[words.index("&&") + 1 :] if ":" in words[:1] else words
    words = words[: words.index("&&")] if "&&" in words else words
    at, out = words.index("-o"), WORK / "_pteron.abi3.so"
    if out.exists():
        return out
    words[at + 1 : at + 2] = [str(out), *map(str, objects)]
    done = subprocess.run(words, cwd=build, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    return out


def library() -> None:
    """The library under sanitizers, and programs for the tests."""
    must(sys.executable, "tests/program/samples.py", "build/samples")
    options = [f"-DPTE_BUILD_{part}=OFF" for part in ("SHARED", "TOOLS", "TESTS")]
    must("cmake", "-S", ".", "-B", LIBRARY.parents[1], "-DCMAKE_BUILD_TYPE=Debug", "-DPTE_SANITIZE=address,undefined", *options)  # fmt: skip
    must("cmake", "--build", LIBRARY.parents[1], "-j", "2")


def build(turns: Sequence[Turn]) -> list[Judge]:
    """All that judges, with all turns in it; what an ended run of the same has built and measured is taken."""
    stamp, now = WORK / "stamp", digest(turns)
    if not stamp.exists() or stamp.read_text() != now:
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        (WORK / "switch.h").write_text(SWITCH_H)
        library()
        stamp.write_text(now)
    MET.write_bytes(bytes(MOST))
    texts = {f: turned(f, [(k, t) for k, t in enumerate(turns) if t.file == f]) for f in {t.file for t in turns}}  # fmt: skip
    of: dict[str, list[Path]] = {}
    for kind in ("sanitized", "module"):
        switch = WORK / f"o-{kind}" / "switch.o"
        switch.parent.mkdir(parents=True, exist_ok=True)
        (WORK / "switch.c").write_text(SWITCH_C)
        if not switch.exists():
            must("cc", "-fPIC", "-O1", "-c", WORK / "switch.c", "-o", switch)
        of[kind] = [switch, *(compiled(f, kind, text) for f, text in sorted(texts.items()))]
    made = [c_test(t, of["sanitized"], texts) for t in sorted((ROOT / "tests/c").glob("test_*.c"))]
    made += [corrupted(name, of["sanitized"]) for name in SAMPLES]
    made.append(changed_copies(of["sanitized"], len(turns)))
    by_python = module(of["module"])
    return [*(j for j in made if j is not None), python_tests(by_python, len(turns))]


# --- judges ---------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Judge:
    """Tests that run together: `fails(k)` names what fails with turn k (-1: none), or nothing."""

    name: str
    fails: Callable[[int], str]
    seconds: float = 0
    met: frozenset[int] = frozenset()


def ends(command: Sequence[object], turn: int, seconds: float) -> int:
    """Exit status of a program in the root; 124 where it takes longer. A turn may make it say or take without end."""
    sanitizer = f"detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb={MEMORY_MB}"
    more = {"ASAN_OPTIONS": sanitizer, "PTE_TURN": str(turn), "PTE_MET": str(MET)}
    with (WORK / "log").open("w") as log:
        child = subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=log, stderr=log, env=os.environ | more, start_new_session=True)  # fmt: skip
        resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (WRITTEN, WRITTEN))
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return 124


def limit(judge: Judge, first: float) -> float:
    """Seconds that a run may take: `first` where it was not measured yet."""
    return 10 + 10 * judge.seconds if judge.seconds else first


def linked(name: str, objects: Sequence[Path]) -> Path:
    out = WORK / name
    if not out.exists():
        must("cc", "-fsanitize=address,undefined", *objects, "-lm", "-pthread", "-o", out)
    return out


def c_test(test: Path, objects: Sequence[Path], texts: dict[str, str]) -> Judge | None:
    """None: it links nothing that is turned."""
    if not said(test, "sources"):
        return None
    own = sources(test)
    if own and not set(own) & set(texts):
        return None
    head = compiled(f"tests/c/{test.name}")
    parts = [objects[0], *map(compiled, own)] if own else [*objects, LIBRARY]
    program = linked(test.stem, [head, *parts])
    judge = Judge(test.name, lambda k: test.name if ends([program], k, limit(judge, 120)) else "")
    return judge


def corrupted(name: str, objects: Sequence[Path]) -> Judge:
    """Corrupted copies of a sample end in a refusal, or run."""
    from program import mutate

    cases, program = WORK / f"{name}.cases", WORK / "hostile"
    if not cases.exists():
        mutate.WORDS, mutate.RANDOM, mutate.EVERY = 300, 150, 0  # type: ignore[misc]
        data = (ROOT / f"build/samples/{name}.pte").read_bytes()
        cases.write_bytes(b"".join(mutate.cases(data, random.Random(name))))
    if name == SAMPLES[0]:
        mine = [compiled(f"tests/fuzz/{s}.c") for s in ("hostile", "each", "exercise")]
        linked("hostile", [*mine, *objects, LIBRARY])

    def fails(k: int) -> str:
        done = ends([program, f"build/samples/{name}.pte", cases], k, limit(judge, 180))
        ran = not done and json.loads((WORK / "log").read_text().splitlines()[-1])["ran"]
        return "" if ran else f"hostile {name}"

    judge = Judge(f"hostile {name}", fails)
    return judge


def changed_copies(objects: Sequence[Path], count: int) -> Judge:
    """Changed copies of programs meet the refusals that refusals.txt lists; only the files that meet a turn are run again."""
    from program import test_refusals

    mine = [compiled(str(s.relative_to(ROOT))) for s in test_refusals.SOURCES]
    program, files = linked("refuse", [*mine, *objects, LIBRARY]), WORK / "files"
    if not files.exists():
        test_refusals.write_files(files)
        (WORK / "copies").mkdir(exist_ok=True)

    def texts(k: int, paths: Sequence[Path]) -> set[str]:
        if ends([program, str(COPIES), *paths], k, 30 * len(paths) + 60):
            return set()
        return {test_refusals.masked(s) for s in (WORK / "log").read_text(errors="replace").splitlines()}  # fmt: skip

    def first(path: Path) -> tuple[float, list[str], list[int]]:
        MET.write_bytes(bytes(MOST))
        start = time.monotonic()
        found = sorted(texts(-1, [path]))
        return time.monotonic() - start, found, sorted(marked(count))

    known = {p: kept(f"copies/{p.stem}", lambda p=p: first(p)) for p in sorted(files.glob("*.pte"))}  # type: ignore[misc]
    plain = {p: set(found) for p, (_, found, _) in known.items()}
    meets = {p: frozenset(met) for p, (_, _, met) in known.items()}
    wanted = test_refusals.listed() & set().union(*plain.values())

    def fails(k: int) -> str:
        again = [p for p in plain if k in meets[p]]
        others = set().union(*(plain[p] for p in plain if p not in again))
        return "changed copies" if wanted - others - texts(k, again) else ""

    seconds = sum(s for s, _, _ in known.values())
    return Judge("changed copies", fails, seconds, frozenset().union(*meets.values()))


def marked(count: int) -> frozenset[int]:
    """The turns that were met."""
    return frozenset(k for k, b in enumerate(MET.read_bytes()[:count]) if b)


class Finder:
    """pteron._pteron is that file."""

    def __init__(self, module: Path) -> None:
        self.module = module

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "pteron._pteron":
            return None
        return importlib.util.spec_from_file_location(name, self.module)


class Watch:
    """Which turns each test meets, and its seconds."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.found: dict[str, list[Any]] = {}
        with MET.open("r+b") as f:
            self.map = mmap.mmap(f.fileno(), MOST)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.map[:] = bytes(MOST)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        row = self.found.setdefault(report.nodeid, [0.0, [], True])
        row[0] += report.duration
        row[1] = [k for k in range(self.count) if self.map[k]]
        row[2] = row[2] and not report.failed


def run_python(module: Path, turn: int, tests: Sequence[str], plugin: object) -> int:
    """In a child."""
    os.environ |= {"PTE_TURN": str(turn), "PTE_MET": str(MET)}
    sys.meta_path.insert(0, Finder(module))  # type: ignore[arg-type]
    return int(pytest.main(["-x", "-q", "--tb=line", "-p", "no:cacheprovider", *tests], [plugin]))


def python_tests(module: Path, count: int) -> Judge:
    found, log = WORK / "python.json", WORK / "python.log"

    def watch() -> int:
        watched = Watch(count)
        code = run_python(module, -1, (*TESTS, f"--deselect={LONG}"), watched)
        found.write_text(json.dumps(watched.found))
        return code

    if not found.exists() and in_child(watch, log, 900):
        found.unlink(missing_ok=True)
        sys.exit(f"the tests fail on the plain source: {log}")
    seconds = {t: s for t, (s, _, _) in json.loads(found.read_text()).items()}
    meets = {t: frozenset(m) for t, (_, m, _) in json.loads(found.read_text()).items()}

    def fails(k: int) -> str:
        chosen = Chosen(
            sorted((t for t in meets if k in meets[t]), key=lambda t: (seconds[t], t)), seconds
        )
        files = sorted({t.split("::")[0] for t in chosen.rank})
        end = 60 + sum(20 + 20 * seconds[t] for t in chosen.rank)
        return (
            last_run(log)
            if in_child(lambda: run_python(module, k, files, chosen), log, end)
            else ""
        )

    return Judge("python", fails, 2.0, frozenset().union(*meets.values()))


def measured(judges: Sequence[Judge], count: int) -> list[Judge]:
    """Each with what it meets, and how long it takes; quickest first."""

    def first(j: Judge) -> tuple[float, list[int]]:
        MET.write_bytes(bytes(MOST))
        start = time.monotonic()
        if j.fails(-1):
            sys.exit(f"{j.name} fails on the plain source: {WORK / 'log'}")
        return time.monotonic() - start, sorted(marked(count))

    for j in judges:
        if not j.seconds:
            j.seconds, met = kept(j.name, lambda j=j: first(j))
            j.met = frozenset(met)
    for j in sorted(judges, key=lambda j: j.seconds):
        print(f"{j.seconds:8.2f} s {len(j.met):5} {j.name}", file=sys.stderr)
    return sorted(judges, key=lambda j: j.seconds)


# --- verdicts -------------------------------------------------------------------------------------------------------------


def same_code(t: Turn) -> bool:
    """Whether the compiler makes of it what it makes of the original: then it is none."""
    made = set()
    source = WORK / "same" / Path(t.file).name
    source.parent.mkdir(exist_ok=True)
    for text in ((ROOT / t.file).read_text(), alone(t)):
        source.write_text(text)
        here = f"-I{(ROOT / t.file).parent}"
        must("cc", *release_flags(t.file), here, "-g0", "-w", "-c", source, "-o", WORK / "same.o")
        made.add((WORK / "same.o").read_bytes())
    return len(made) == 1


def verdict(k: int, t: Turn, judges: Sequence[Judge]) -> dict[str, Any] | None:
    """None: it is none."""
    concerned = [j for j in judges if k in j.met]
    start = time.monotonic()
    by = next((name for j in concerned if (name := j.fails(k))), "")
    if not by and same_code(t):
        return None
    return {"key": t.key, "file": t.file, "line": t.line, "was": t.source, "is": t.alone, "killed": bool(by), "by": by, "tests": len(concerned), "seconds": round(time.monotonic() - start, 1)}  # fmt: skip


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--count", type=int, default=60)
    ask.add_argument("--refusals", action="store_true")
    ask.add_argument("--again", action="store_true", help="try what survived of this seed again, and draw none")  # fmt: skip
    ask.add_argument("--seconds", type=float, default=1e9, help="end after so many; the next run goes on")  # fmt: skip
    told = ask.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "tests"))
    for name in HEAVY:
        importlib.import_module(name)
    r = random.Random(told.seed)
    folders = REFUSALS if told.refusals else AREA
    here = [f for a in folders for f in sorted((ROOT / "runtime_c" / a).rglob("*.c"))]
    files = [f for f in here if f.parent.name not in ELSEWHERE]
    found = [list(refusals(f) if told.refusals else mutants(f, r)) for f in files]
    told.count = sum(map(len, found)) if told.refusals else told.count
    judges: dict[str, Any] = {}

    def judge(t: Turn) -> dict[str, Any] | None:
        return verdict(judges["turns"].index(t), t, judges["all"]) if t in judges["turns"] else None

    def begin(chosen: Sequence[Turn]) -> None:
        judges["turns"] = apart(chosen)
        judges["all"] = measured(build(judges["turns"]), len(judges["turns"])) if chosen else []

    summary(journal("refusals" if told.refusals else "runtime", told, found, r, judge, begin))


if __name__ == "__main__":
    main()
