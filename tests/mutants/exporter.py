"""Mutants of the exporter, and whether the fast tests notice them.

    python tests/mutants/exporter.py --seed 7 --count 60

draws mutants (a comparison, an operator or a boolean turned, by cosmic-ray's operators) from the files of AREA,
proportional to what each has, and runs each in a child: no file is touched, the import gets the turned source.
Only the tests that reach the mutant's statement are run, quickest first; coverage of one run of all says which they are.
What lives through those meets the random graphs of tests/graphs that CI tries.
Every verdict is a line of build/mutants/exporter-SEED.jsonl at once, and what stands there is not run again.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import json
import os
import random
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest
from verdicts import HEAVY, OUT, ROOT, Chosen, in_child, journal, last_run, summary

AREA = (
    "lower/**/*", "passes/**/*", "optimize/*", "plan/*", "pack/__init__", "pack/codes", "delegates/partition",
    "delegates/segments", "program/rebuild", "program/terms", "sizes/extents", "graph/int8",
)  # fmt: skip
FAST = (
    "tests/passes", "tests/lower", "tests/export", "tests/schema", "tests/session", "tests/capture/test_onnx.py",
    "tests/program/test_reader.py", "tests/quantize", "tests/models/test_context.py",
)  # fmt: skip
SLOW = ("tests/session/test_stop.py", "tests/export/test_cost.py", "tests/schema/test_shape.py")
"""About time, and about the schema."""

TURNS = {
    "ReplaceComparisonOperator": "Eq_NotEq NotEq_Eq Lt_LtE Lt_GtE LtE_Lt LtE_Gt Gt_GtE Gt_LtE GtE_Gt GtE_Lt Is_IsNot IsNot_Is",
    "ReplaceBinaryOperator": "Add_Sub Sub_Add Mul_FloorDiv FloorDiv_Mul Div_Mul Mod_FloorDiv Pow_Mul LShift_RShift RShift_LShift "
    "BitOr_BitAnd BitAnd_BitOr BitXor_BitAnd",
    "ReplaceUnaryOperator": "Delete_USub Delete_Not Delete_Invert",
    "ReplaceAndWithOr": "", "ReplaceOrWithAnd": "", "ReplaceTrueWithFalse": "", "ReplaceFalseWithTrue": "", "AddNot": "",
}  # fmt: skip
GRAPHS, EACH = 300, 6  # as many as tests/graphs/test_graphs.py
MEMORY = 8 << 30


@dataclass(frozen=True, slots=True)
class Mutant:
    file: str  # below the root
    line: int
    column: int
    operator: str  # of cosmic-ray
    occurrence: int
    source: str  # the line as it was

    @property
    def key(self) -> str:
        return f"{self.file}:{self.source}:{self.column}:{self.operator}"


# --- drawing ------------------------------------------------------------------------------------------------------------


def mutants(file: Path) -> Iterator[Mutant]:
    """All of a file, but those in annotations, which nothing evaluates, and `strict=True`, which is an assertion."""
    from cosmic_ray.ast import ast_nodes, get_ast_from_path  # pyright: ignore[reportMissingImports]
    from cosmic_ray.plugins import get_operator  # pyright: ignore[reportMissingImports]

    text = file.read_text()
    lines, spans = text.splitlines(), list(spans_of_no_meaning(ast.parse(text)))
    names = [f"core/{k}_{t}" if t else f"core/{k}" for k, v in TURNS.items() for t in v.split() or [""]]  # fmt: skip
    nodes = list(ast_nodes(get_ast_from_path(file)))
    for name in names:
        operator = get_operator(name)()
        places = (start for n in nodes for start, _ in operator.mutation_positions(n))
        for i, (line, column) in enumerate(places):
            if not any(a <= (line, column) < b for a, b in spans):
                path = str(file.relative_to(ROOT))
                yield Mutant(path, line, column, name, i, lines[line - 1].strip())


def spans_of_no_meaning(tree: ast.AST) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for n in ast.walk(tree):
        strict = n.value if isinstance(n, ast.keyword) and n.arg == "strict" else None
        for a in (getattr(n, "annotation", None), getattr(n, "returns", None), strict):
            if isinstance(a, ast.expr):
                yield (a.lineno, a.col_offset), (a.end_lineno or 0, a.end_col_offset or 0)


def places(file: Path, r: random.Random) -> list[Mutant]:
    """One mutant of each place where an operator or a boolean stands."""
    found: dict[tuple[int, int], list[Mutant]] = {}
    for m in mutants(file):
        found.setdefault((m.line, m.column), []).append(m)
    return [r.choice(p) for _, p in sorted(found.items())]


def turned(m: Mutant) -> str:
    from cosmic_ray.mutating import mutate_code  # pyright: ignore[reportMissingImports]
    from cosmic_ray.plugins import get_operator  # pyright: ignore[reportMissingImports]

    code = mutate_code((ROOT / m.file).read_text(), get_operator(m.operator)(), m.occurrence)
    assert code is not None
    return str(code)


# --- which tests reach what -----------------------------------------------------------------------------------------------


class Watch:
    """Names the test that runs to coverage, and keeps its seconds."""

    def __init__(self, coverage: Any) -> None:
        self.coverage = coverage
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_runtest_logfinish(self) -> None:
        self.coverage.switch_context("")


def watch(tests: Path, out: Path) -> int:
    """In a child: runs a file of tests and writes {"seconds": {test: s}, "failed": [test], "lines": {file: {line: [test, "" at import]}}}."""
    import coverage  # pyright: ignore[reportMissingImports]

    cov = coverage.Coverage(data_file=None, source=[str(ROOT / "export")], config_file=False)
    seen = Watch(cov)
    cov.start()
    pytest.main(["-q", "-p", "no:cacheprovider", str(tests.relative_to(ROOT))], [seen])
    cov.stop()
    data = cov.get_data()
    lines = {str(Path(f).relative_to(ROOT)): data.contexts_by_lineno(f) for f in data.measured_files()}  # fmt: skip
    begun = out.with_suffix(".tmp")
    begun.write_text(json.dumps({"seconds": seen.seconds, "failed": sorted(seen.failed), "lines": lines}))  # fmt: skip
    begun.rename(out)
    return 0


def reached() -> dict[str, Any]:
    """{"seconds": {test: s}, "lines": {file: {line: [number of test, 0: import]}}} of all tests, those left out that fail on the plain source.
    What a file of tests reaches is build/mutants/reach/FILE.json at once; what stands there is not run again."""
    seconds: dict[str, float] = {}
    failed: set[str] = set()
    lines: dict[str, dict[str, list[str]]] = {}
    for said in map(reached_by, files_of_tests()):
        seconds |= said["seconds"]
        failed |= set(said["failed"])
        for file, reached in said["lines"].items():
            for n, names in reached.items():
                lines.setdefault(file, {}).setdefault(n, []).extend(names)
    for t in failed:
        del seconds[t]
    if len(seconds) <= 20 * len(failed):
        sys.exit(f"{len(failed)} tests fail on the plain source: {sorted(failed)}")
    print(f"{len(seconds)} tests; not used, for they fail on the plain source: {sorted(failed)}")
    at = {t: i for i, t in enumerate(["", *seconds])}
    numbered = {
        file: {n: sorted({at[t] for t in names if t in at}) for n, names in each.items()} for file, each in lines.items()
    }  # fmt: skip
    return {"seconds": seconds, "lines": numbered}


def reached_by(tests: Path) -> dict[str, Any]:
    part = OUT / "reach" / f"{str(tests.relative_to(ROOT)).replace('/', '.')}.json"
    if not part.exists() and in_child(lambda: watch(tests, part), OUT / "reach.log", 3000):
        sys.exit(f"{tests} does not end: {OUT / 'reach.log'}")
    return dict(json.loads(part.read_text()))


def files_of_tests() -> list[Path]:
    named = (ROOT / f for f in FAST)
    every = (g for f in named for g in ([f] if f.suffix else sorted(f.rglob("test_*.py"))))
    return [f for f in every if str(f.relative_to(ROOT)) not in SLOW]


@functools.cache
def tree(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text())


def statement(file: str, line: int) -> range:
    """The lines of the innermost statement at `line`; of one with a body, its head."""
    best = range(line, line + 1)
    for n in ast.walk(tree(file)):
        if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or 0):
            body = getattr(n, "body", None) or getattr(n, "cases", None)
            first = body[0].lineno if body and isinstance(body[0], ast.stmt) else 0
            end = max(first, n.lineno + 1) if first else (n.end_lineno or 0) + 1
            if line < end:
                best = range(n.lineno, end)
    return best


def tests_of(m: Mutant, known: dict[str, Any]) -> list[str]:
    """Those that reach the statement, quickest first; then all others where it runs at import or behind a cache."""
    lines, seconds = known["lines"].get(m.file, {}), known["seconds"]
    names = ["", *seconds]
    found = {names[t] for n in statement(m.file, m.line) for t in lines.get(str(n), [])}
    order = sorted((t for t in found if t), key=lambda t: (seconds[t], t))
    if "" in found or m.file.endswith("extents.py"):
        order += sorted(set(seconds) - found, key=lambda t: (seconds[t], t))
    return order


# --- running --------------------------------------------------------------------------------------------------------------


def put_in_place(text: str, path: str) -> None:
    """In a child: from now on the import of `path` gets `text`."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore", SyntaxWarning)
    plain = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> Any:
        return compile(text, path, "exec") if self.path == path else plain(self, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def is_defect(seed: int, only: str) -> bool:
    from graphs.judge import judge
    from graphs.make import case

    return judge(case(random.Random(seed), only)).is_defect


def watch_graphs(out: Path) -> int:
    """In a child: writes which random graphs are no defect of the plain source."""
    from graphs.make import of_each

    every = [*((seed, "") for seed in range(GRAPHS)), *of_each(EACH)]
    out.write_text(json.dumps([each for each in every if not is_defect(*each)]))
    return 0


def try_graphs(chosen: Sequence[tuple[int, str]]) -> int:
    """In a child: until one is a defect."""
    for seed, only in chosen:
        print("RUNS", f"graph {seed} {only}", flush=True)
        signal.setitimer(signal.ITIMER_PROF, 120)
        if is_defect(seed, only):
            return 1
    return 0


def try_mutant(tests: list[str], known: dict[str, Any]) -> int:
    """In a child: runs the tests until one fails, then the graphs."""
    files = sorted({t.split("::")[0] for t in tests})
    code = int(pytest.main(["-x", "-q", "--tb=line", "-p", "no:cacheprovider", *files], [Chosen(tests, known["seconds"])]))  # fmt: skip
    return code or try_graphs(known["graphs"])


def verdict(m: Mutant, known: dict[str, Any]) -> dict[str, Any]:
    tests, log, start = tests_of(m, known), OUT / "log", time.monotonic()
    code, by, text, path = 0, "", turned(m), str(ROOT / m.file)
    if tests:

        def work() -> int:
            put_in_place(text, path)
            return try_mutant(tests, known)

        code = in_child(work, log, 240 + 10 * sum(known["seconds"][t] for t in tests))
        by = last_run(log) if code else ""
    return {
        "key": m.key, "file": m.file, "line": m.line, "was": m.source, "is": text.splitlines()[m.line - 1].strip(), "operator": m.operator[5:],
        "killed": code != 0, "code": code, "by": by, "tests": len(tests), "seconds": round(time.monotonic() - start, 1),
    }  # fmt: skip


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    ask.add_argument("--seed", type=int, required=True)
    ask.add_argument("--count", type=int, default=60)
    ask.add_argument("--again", action="store_true", help="try what survived of this seed again, and draw none")  # fmt: skip
    ask.add_argument("--seconds", type=float, default=1e9, help="end after so many; the next run goes on")  # fmt: skip
    told = ask.parse_args()
    os.chdir(ROOT)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.path.insert(0, str(ROOT / "tests"))
    (OUT / "reach").mkdir(parents=True, exist_ok=True)
    for name in HEAVY:
        importlib.import_module(name)
    known = reached()
    plain = OUT / "graphs.json"
    if in_child(lambda: watch_graphs(plain), OUT / "log", 1000):
        sys.exit(f"the random graphs fail on the plain source: {OUT / 'log'}")
    known["graphs"] = json.loads(plain.read_text())
    r = random.Random(told.seed)
    files = sorted(f for a in AREA for f in (ROOT / "export").glob(f"{a}.py"))
    found = [list(mutants(f)) if told.again else places(f, r) for f in files]
    summary(journal("exporter", told, found, r, lambda m: verdict(m, known)))


if __name__ == "__main__":
    main()
