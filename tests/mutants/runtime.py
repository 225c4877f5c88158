"""Mutants of the C runtime outside the kernels, and whether its tests notice them.

    python tests/mutants/runtime.py --seed 7 --count 60

draws mutants (a comparison, an operator or a boolean turned) from the .c files of core, program, session and host, compiles
each in a folder of its own beside objects made once, and runs the tests/c that link the file, corrupted programs
(tests/fuzz/hostile.c), and tests/session and tests/bindings on a Python module with that object: until one fails.
What the compiler makes the same code of is no mutant. Verdicts: build/mutants/runtime-SEED.jsonl.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import importlib.util
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from verdicts import HEAVY, OUT, ROOT, in_child, journal, summary

AREA = ("core", "program", "session", "host/posix")
TESTS = (
    "tests/session/test_control.py", "tests/session/test_interpreted.py", "tests/bindings/test_model.py",
    "tests/export/test_verify.py",
)  # fmt: skip
SAMPLES = (
    "pointwise",
    "control",
    "matmul",
)  # of tests/program/samples.py, for the corrupted programs
TURNS = {
    "==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"], "^": ["&"], "<<": [">>"],
    ">>": ["<<"], "&&": ["||"], "||": ["&&"], "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="], "!": [""],
    "true": ["false"], "false": ["true"],
}  # fmt: skip
HOLDERS = ("binary_expression", "assignment_expression", "unary_expression")
SANITIZED = [
    "-std=c11",
    "-g",
    "-O1",
    "-ffp-contract=off",
    "-D_POSIX_C_SOURCE=200809L",
    "-D_GNU_SOURCE",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-Iruntime_c",
    "-Iruntime_c/include",
    "-Itests/c",
    "-Itests/fuzz",
]
WORK = OUT / "c"
LIBRARY = ROOT / "build/ctest/library/runtime_c/libpteron.a"


@dataclass(frozen=True, slots=True)
class Mutant:
    file: str  # below the root
    line: int
    column: int
    start: int  # of the operator, in bytes
    old: str
    new: str
    source: str  # the line as it was

    @property
    def key(self) -> str:
        return f"{self.file}:{self.source}:{self.column}:{self.old}:{self.new}"

    @property
    def text(self) -> str:
        data = (ROOT / self.file).read_bytes()
        return (
            data[: self.start] + self.new.encode() + data[self.start + len(self.old) :]
        ).decode()


# --- drawing ------------------------------------------------------------------------------------------------------------


def places(file: Path, r: random.Random) -> Iterator[Mutant]:
    """One mutant of each place where an operator or a boolean stands."""
    import tree_sitter_c
    from tree_sitter import Language, Parser

    data = file.read_bytes()
    lines = data.decode().splitlines()
    todo = [Parser(Language(tree_sitter_c.language())).parse(data).root_node]
    while todo:
        node = todo.pop()
        if node.type.startswith("preproc_if"):  # its condition: another build
            todo += [c for c in node.children if c != node.child_by_field_name("condition")]
            continue
        todo += node.children
        found = node.type in ("true", "false") or (
            node.type in TURNS and node.parent is not None and node.parent.type in HOLDERS
        )
        if found:
            line, column = node.start_point
            new = r.choice(TURNS[node.type])
            path = str(file.relative_to(ROOT))
            yield Mutant(
                path, line + 1, column, node.start_byte, node.type, new, lines[line].strip()
            )


def pools(seed: int) -> tuple[list[list[Mutant]], random.Random]:
    r = random.Random(seed)
    files = sorted(f for a in AREA for f in (ROOT / "runtime_c" / a).glob("*.c"))
    return [list(places(f, r)) for f in files], r


# --- building -------------------------------------------------------------------------------------------------------------


def cc(*words: object, log: Path | None = None) -> bool:
    done = subprocess.run(list(map(str, words)), cwd=ROOT, capture_output=True, text=True)
    if log is not None:
        log.write_text(done.stderr)
    return done.returncode == 0


def must(*words: object) -> None:
    done = subprocess.run(list(map(str, words)), cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, words))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def said(test: Path, what: str) -> list[str]:
    head = f"// {what}:"
    return [w for s in test.read_text().splitlines() if s.startswith(head) for w in s[len(head) :].split()]  # fmt: skip


def sources(test: Path) -> list[str]:
    """Files below the root that the test links; empty: the library."""
    named = [ROOT / "runtime_c" / s for s in said(test, "sources") if s != "library"]
    files = [f for n in named for f in (sorted(n.glob("*.c")) if n.is_dir() else [n])]
    return [str(f.relative_to(ROOT)) for f in files]


@functools.cache
def all_tests() -> list[Path]:
    """The C tests that hold on the plain source."""
    tests = [t for t in sorted((ROOT / "tests/c").glob("test_*.c")) if said(t, "sources")]
    good = [t for t in tests if ends([linked(t, None, None)], 300) == 0]
    for test in set(tests) - set(good):
        print(f"not used, for it fails on the plain source: {test.name}", file=sys.stderr)
    return good


def linked(test: Path, file: str | None, changed: Path | None) -> Path:
    """A test's program, with `changed` for the object of `file`."""
    own = [changed if s == file else compiled(s) for s in sources(test)]
    parts = own or [*filter(None, [changed]), LIBRARY]
    out = WORK / "test"
    head = compiled(f"tests/c/{test.name}")
    must("cc", "-fsanitize=address,undefined", head, *parts, "-lm", "-pthread", "-o", out)
    return out


def compiled(source: str) -> Path:
    """The object of a source as it stands, with sanitizers."""
    out = WORK / "o" / source.replace("/", "+")
    out = out.with_name(out.name + ".o")
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        flags = said(ROOT / source, "flags") if source.startswith("tests/c/test_") else []
        must("cc", *SANITIZED, *flags, "-c", source, "-o", out)
    return out


@functools.cache
def module_commands() -> list[str]:
    """Those that build the Python module, as ninja knows them."""
    (build,) = ROOT.glob("build/cp3*")
    must("ninja", "-C", build)
    done = subprocess.run(["ninja", "-C", str(build), "-t", "commands"], capture_output=True, text=True)  # fmt: skip
    return done.stdout.splitlines()


def prepared() -> None:
    """The library under sanitizers, programs, corrupted programs."""
    WORK.mkdir(parents=True, exist_ok=True)
    if (WORK / "ready").exists():
        return
    must(sys.executable, "tests/program/samples.py", "build/samples")
    options = [f"-DPTE_BUILD_{part}=OFF" for part in ("SHARED", "TOOLS", "TESTS")]
    must("cmake", "-S", ".", "-B", LIBRARY.parents[1], "-DCMAKE_BUILD_TYPE=Debug", "-DPTE_SANITIZE=ON", *options)  # fmt: skip
    must("cmake", "--build", LIBRARY.parents[1], "-j", "2")
    from program import mutate

    mutate.WORDS, mutate.RANDOM, mutate.EVERY = 300, 150, 0  # type: ignore[misc]
    for name in SAMPLES:
        data = (ROOT / f"build/samples/{name}.pte").read_bytes()
        (WORK / f"{name}.cases").write_bytes(b"".join(mutate.cases(data, random.Random(name))))
    for source in ("tests/fuzz/hostile.c", "tests/fuzz/exercise.c"):
        compiled(source)
    module_commands()
    plain = "runtime_c/session/run.c"
    if by := by_corrupted(None) or by_python(plain, ROOT / plain):
        sys.exit(f"fails on the plain source: {by}")
    (WORK / "ready").touch()


def release_flags(file: str) -> list[str]:
    (line,) = [c for c in module_commands() if f" -c {ROOT / file}" in c]
    words = shlex.split(line)
    out = words.index("-o")
    drop = {out, out + 1} | {i for i, w in enumerate(words) if w in ("-c", str(ROOT / file), "-MD")}
    drop |= {j for i, w in enumerate(words) if w in ("-MT", "-MF") for j in (i, i + 1)}
    return [w for i, w in enumerate(words) if i not in drop]


def linked_module(objects: Path, out: Path) -> bool:
    (build,) = ROOT.glob("build/cp3*")
    (line,) = [c for c in module_commands() if "-o " in c and "_pteron.abi3.so" in c.split("-o ", 1)[1].split()[0]]  # fmt: skip
    words = shlex.split(line)
    words = words[words.index("&&") + 1 :] if ":" in words[:1] else words
    words = words[: words.index("&&")] if "&&" in words else words
    at = words.index("-o")
    words[at + 1] = str(out)
    words.insert(at + 2, str(objects))
    return subprocess.run(words, cwd=build, capture_output=True).returncode == 0


# --- running --------------------------------------------------------------------------------------------------------------


def ends(command: list[object], seconds: float) -> int:
    """Exit status of a program in the root; 124 where it takes longer."""
    env = os.environ | {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    with (WORK / "log").open("w") as log:
        child = subprocess.Popen(list(map(str, command)), cwd=ROOT, stdout=log, stderr=log, env=env, start_new_session=True)  # fmt: skip
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return 124


def by_c(m: Changed, changed: Path) -> str:
    """The first of the C tests that fails, or nothing."""
    concerned = [(len(sources(t)) or 999, t) for t in all_tests() if not sources(t) or m.file in sources(t)]  # fmt: skip
    for _, test in sorted(concerned):
        if ends([linked(test, m.file, changed)], 90):
            return test.name
    return ""


def by_corrupted(changed: Path | None) -> str:
    binary = WORK / "hostile"
    mine = [
        compiled("tests/fuzz/hostile.c"),
        compiled("tests/fuzz/exercise.c"),
        *filter(None, [changed]),
        LIBRARY,
    ]
    must("cc", "-fsanitize=address,undefined", *mine, "-lm", "-pthread", "-o", binary)
    for name in SAMPLES:
        if ends([binary, f"build/samples/{name}.pte", WORK / f"{name}.cases"], 180):
            return f"hostile {name}"
        if json.loads((WORK / "log").read_text().splitlines()[-1])["ran"] == 0:
            return f"hostile {name}: nothing runs"
    return ""


def python_tests(module: Path) -> int:
    """In a child: pteron._pteron is that file."""

    class Finder:
        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
            if name != "pteron._pteron":
                return None
            return importlib.util.spec_from_file_location(name, module)

    sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]
    return int(pytest.main(["-x", "-q", "--tb=line", "-v", "-p", "no:cacheprovider", *TESTS]))


def by_python(file: str, source: Path) -> str:
    out, module = WORK / "release.o", WORK / "_pteron.abi3.so"
    must(*release_flags(file), "-w", "-c", source, "-o", out)
    if not linked_module(out, module):
        return "module does not link"
    code = in_child(lambda: python_tests(module), OUT / "log", 240)
    ran = [
        s for s in (OUT / "log").read_text(errors="replace").splitlines() if s.startswith("tests/")
    ]
    return (ran[-1].split()[0] if ran else "import") if code else ""


def same_code(m: Changed, source: Path) -> bool:
    """Whether the compiler makes of it what it makes of the original: then it is none."""
    texts = {}
    for text in ((ROOT / m.file).read_text(), m.text):
        source.write_text(text)
        must(*release_flags(m.file), "-g0", "-w", "-c", source, "-o", WORK / "same.o")
        texts[text] = (WORK / "same.o").read_bytes()
    return len(set(texts.values())) == 1


class Changed(Protocol):
    """A mutant, or a refusal taken away (refusals.py)."""

    @property
    def key(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def text(self) -> str: ...


def verdict(m: Changed) -> dict[str, Any] | None:
    """None: does not compile, or is none."""
    start, source, changed = (
        time.monotonic(),
        WORK / "mutant" / Path(m.file).name,
        WORK / "mutant.o",
    )
    source.parent.mkdir(exist_ok=True)
    source.write_text(m.text)
    here = f"-I{(ROOT / m.file).parent}"
    if not cc("cc", *SANITIZED, here, "-w", "-c", source, "-o", changed, log=WORK / "log"):
        return None
    if same_code(m, source):
        return None
    by = by_c(m, changed) or by_corrupted(changed) or by_python(m.file, source)
    return {
        "key": m.key, "file": m.file, "line": m.line, "was": m.source, "is": m.text.splitlines()[m.line - 1].strip(),
        "killed": bool(by), "by": by, "seconds": round(time.monotonic() - start, 1),
    }  # fmt: skip


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    ask.add_argument("--seed", type=int, required=True)
    ask.add_argument("--count", type=int, default=60)
    ask.add_argument("--again", action="store_true", help="try what survived of this seed again, and draw none")  # fmt: skip
    told = ask.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "tests"))
    for name in HEAVY:
        importlib.import_module(name)
    prepared()
    found, r = pools(told.seed)
    summary(journal("runtime", told, found, r, verdict))


if __name__ == "__main__":
    main()
