"""Who may know whom: read from imports and includes, so that a wrong one fails before anyone relies on it."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# A Python package may import itself and these; what is not listed here has no place in the tree.
PYTHON = {
    "schema": set(),
    "export": {"schema", "_codec"},
    "quantize": {"schema", "export.checkpoint", "export.graph", "_codec"},
    "runtime": {"schema", "_pteron"},
    "amalgamate": {"schema", "export", "runtime", "_pteron"},
    "cli": {
        "schema", "export", "quantize", "runtime", "request", "pipeline", "amalgamate", "quantization", "reports", "source",
        "_pteron",
    },
    "reports": {"schema", "export", "quantize"},
    "timing": {"schema", "export", "runtime"},
    "request": {"schema", "export", "quantize"},
    "source": {"schema"},
    "pipeline": {"schema", "export", "quantize", "reports", "request", "runtime", "source", "timing"},
    "quantization": {"schema", "export", "quantize", "pipeline", "reports", "request", "source"},
    "": {"schema", "pipeline", "quantization", "runtime"},
}  # fmt: skip
FOLDERS = {"schema": "schema", "export": "export", "quantize": "quantize"}

# A folder or file of export/ may import itself and these: the way of the data, from capture to file.
EXPORT = {
    "options": {"delegates"},
    "write": set(),
    "text": {"checkpoint.gguf"},
    "sizes": set(),
    "checkpoint": set(),
    "graph": {"sizes", "write"},
    "builders": {"checkpoint", "graph"},
    "capture": {"builders", "graph", "sizes"},
    "passes": {"graph"},
    "program": {"graph.weights", "sizes"},
    "lower": {"graph", "program", "sizes"},
    "optimize": {"graph.weights", "program", "sizes"},
    "pack": {"graph", "program"},
    "plan": {"program", "sizes"},
    "tune": {"graph.naming", "pack.choices", "plan", "program"},
    "delegates": {"graph", "passes.int8", "plan.place", "program"},
    "file": {"graph.weights", "plan", "program", "sizes"},
    "verify": {"file.tables", "plan.lifetimes", "program", "sizes"},
    "report": {"graph", "pack", "plan", "program", "sizes", "tune"},
    "remedy": {"graph", "lower", "passes"},
    "export": {
        "capture", "delegates", "graph", "lower", "optimize", "options", "pack", "passes", "plan", "program", "remedy", "report",
        "tune", "verify",
    },
}  # fmt: skip

# The same of quantize/: from the recipe to the model that is written.
QUANTIZE = {
    "encode": set(),
    "recipe": {"encode"},
    "observe": {"recipe"},
    "report": {"encode", "observe", "recipe"},
    "rounding": {"encode", "observe", "recipe", "report"},
    "transform": {"observe", "recipe", "report", "rounding"},
    "static": {"encode", "observe", "recipe", "report", "rounding"},
    "mixed": {"encode", "observe", "recipe", "rounding", "static"},
    "write": {"encode", "recipe", "report", "rounding"},
    "stored": {"write"},
    "checkpoint": {"recipe.layers", "report", "write.functions"},
    "quantize": {
        "encode", "mixed", "observe", "recipe", "report", "rounding", "static", "transform", "write",
    },
}  # fmt: skip
STAGES = {"export": EXPORT, "quantize": QUANTIZE}

# A C folder may include itself, the public headers (quoted "pteron/...") and these.
C = {
    "include": set(),
    "core": set(),
    "gen": {"core"},
    "program": {"core", "gen"},
    "session": {"core", "gen", "program"},
    "text": {"core", "gen", "program", "session"},
    "tokenizer": {"core", "gen", "program"},
    "kernels": {"core", "gen"},
    "codec": {"core", "gen"},
    "delegates": {"delegate"},
    "host": {"core", "program", "session"},
    "tools": {"core", "program", "session", "gen"},
}
FREESTANDING = {
    "stddef.h",
    "stdint.h",
    "stdbool.h",
    "string.h",
    "stdarg.h",
    "float.h",
    "limits.h",
    "stdatomic.h",
}
INTRINSICS = {"emmintrin.h", "immintrin.h", "arm_neon.h", "arm_mve.h"}
SYSTEM = {"host", "tools", "delegates"}


def python_files() -> list[tuple[str, Path]]:
    files = [(name, p) for name, folder in FOLDERS.items() for p in (ROOT / folder).rglob("*.py")]
    home = ROOT / "bindings/pteron"
    for p in home.rglob("*.py"):
        first = p.relative_to(home).parts[0]
        files.append(
            (
                {
                    "runtime": "runtime",
                    "amalgamate": "amalgamate",
                    "cli": "cli",
                    "__main__.py": "cli",
                    "pipeline.py": "pipeline",
                    "quantization.py": "quantization",
                    "reports": "reports",
                    "source.py": "source",
                    "blame.py": "pipeline",
                    "recording.py": "pipeline",
                    "timing.py": "timing",
                    "request.py": "request",
                }.get(first, ""),
                p,
            )
        )
    return files


def absolute(path: Path, node: ast.ImportFrom) -> str:
    """The module that `from ... import` names: relative inside a top-level folder, whole across folders."""
    if node.level == 0:
        return node.module or ""
    inside = path.is_relative_to(ROOT / "bindings")
    parts = path.parent.relative_to(ROOT / "bindings" if inside else ROOT).parts
    package = parts if inside else ("pteron", *parts)
    return ".".join((*package[: len(package) - node.level + 1], *filter(None, [node.module])))


@functools.cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All that the file says, in no order."""
    return tuple(ast.walk(ast.parse(path.read_text(), str(path))))


@functools.cache
def imports(path: Path) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = absolute(path, node)
            found.append((module, node.lineno))
            found += [(f"{module}.{alias.name}", node.lineno) for alias in node.names]
    return found


@pytest.mark.parametrize("layer, path", python_files(), ids=lambda x: str(x)[-40:])
def test_python_imports_only_what_its_layer_may_know(layer: str, path: Path) -> None:
    for name, line in imports(path):
        if name == "pteron" or name.startswith("pteron._"):
            inner = name.removeprefix("pteron").removeprefix(".")
        elif name.startswith("pteron."):
            inner = name.removeprefix("pteron.")
        else:
            torch = name.split(".")[0] in ("torch", "onnxscript")
            allowed = "export/capture" in path.as_posix() or layer == ""
            assert not torch or allowed, f"{path}:{line}: {name} outside export/capture"
            continue
        top = inner.split(".")[0]
        if (
            not top
            or top == layer
            or top == "__version__"
            or not (top in PYTHON or top.startswith("_"))
        ):
            continue
        may = PYTHON[layer]
        fits = any(inner == m or inner.startswith(m + ".") for m in may)
        assert fits, f"{path}:{line}: {layer or 'pteron'} may import {sorted(may)}, not {name}"


@functools.cache
def modules_of(home: str) -> set[str]:
    files = {p.relative_to(ROOT / home).with_suffix("") for p in (ROOT / home).rglob("*.py")}
    return {".".join(p.parts).removesuffix(".__init__") for p in files}


def files_of_stages() -> list[Path]:
    return sorted(p for home in STAGES for p in (ROOT / home).rglob("*.py"))


@pytest.mark.parametrize("path", files_of_stages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_stage_knows_only_what_lies_before_it(path: Path) -> None:
    home, *parts = path.relative_to(ROOT).parts
    layer, package = parts[0].removesuffix(".py"), f"pteron.{home}."
    if layer == "__init__":
        return
    may = STAGES[home][layer]
    for name, line in imports(path):
        inner = name.removeprefix(package)
        if not name.startswith(package) or inner not in modules_of(home):
            continue
        fits = inner.split(".")[0] == layer or any(
            inner == m or inner.startswith(m + ".") or m.startswith(inner + ".") for m in may
        )
        assert fits, f"{path}:{line}: {home}/{layer} may import {sorted(may)}, not {name}"


@pytest.mark.parametrize("home", STAGES)
def test_stages_follow_one_another(home: str) -> None:
    needs = {s: {m.split(".")[0] for m in may} - {s} for s, may in STAGES[home].items()}
    TopologicalSorter(needs).prepare()


def test_lowering_has_one_door() -> None:
    """Its context, nodes and references are its own: others call `lower`."""
    for path in (ROOT / "export").rglob("*.py"):
        if "lower" not in path.relative_to(ROOT / "export").parts:
            names = {name for name, _ in imports(path) if name.startswith("pteron.export.lower")}
            assert names <= {"pteron.export.lower", "pteron.export.lower.lower"}, path


def test_the_tree_of_links_has_the_installed_layout() -> None:
    """Type checkers and editors look there: what an installation would bring, and nothing twice."""
    home = ROOT / "bindings/pteron"
    kinds = (".py", ".pyi", ".typed")
    brought = {p.name for p in home.iterdir() if p.suffix in kinds or (p / "__init__.py").exists()}
    links = {p.name: p.resolve() for p in (ROOT / ".tree/pteron").iterdir() if p.is_symlink()}
    assert links == {n: home / n for n in brought} | {n: ROOT / n for n in FOLDERS}


METHODS = {"pteron.export.lower.context": {"elementwise", "rearrange"}}
"""A class and files of its methods, which name it as a type. `real`, `emit`, views, casts and elementwise work of a Lowering
call each other: they are one thing, of more lines than a file has."""


def needs_of(path: Path, name: str, modules: Mapping[str, Path]) -> set[str]:
    """The modules that `path` imports anywhere in it: in functions and for type checkers, too."""
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom):
            package = absolute(path, node)
            for alias in node.names:
                inner = f"{package}.{alias.name}"
                found.add(inner if inner in modules else package)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    own = {f"{name.rpartition('.')[0]}.{part}" for part in METHODS.get(name, ())}
    inside = {
        m for m in found if m.startswith(name + ".")
    }  # a package that gathers its own modules
    return (found & set(modules)) - {name} - inside - own


def test_every_import_of_ours_is_found_without_an_installation() -> None:
    """By .tree and tests/, as type checkers and editors look for them on a fresh clone."""
    folders = ("schema", "export", "quantize", "bindings", "tests", "benchmarks", "examples")
    own = {p.stem for p in (ROOT / "tests").iterdir() if p.suffix == ".py" or p.is_dir()}

    def is_there(place: Path) -> bool:
        files = (place.parent / f"{place.name}{end}" for end in (".py", ".pyi"))
        return place.is_dir() or any(file.exists() for file in files)

    lost = []
    for path in (p for folder in folders for p in (ROOT / folder).rglob("*.py")):
        theirs = {"pteron", *own} - {p.stem for p in path.parent.iterdir()}
        for node in nodes(path):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.level:
                home = path.parents[node.level - 1] / (node.module or "").replace(".", "/")
                lost += [] if is_there(home) else [f"{path}:{node.lineno}"]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                top = name.split(".")[0]
                home = ROOT / (".tree" if top == "pteron" else "tests") / name.replace(".", "/")
                if top in theirs and not is_there(home):
                    lost.append(f"{path}: {name}")
    assert not lost, lost


def test_no_circle_of_imports() -> None:
    modules: dict[str, Path] = {}
    for _, path in python_files():
        inside = path.is_relative_to(ROOT / "bindings")
        parts = path.relative_to(ROOT / "bindings" if inside else ROOT).with_suffix("").parts
        name = ".".join(parts if inside else ("pteron", *parts)).removesuffix(".__init__")
        modules[name] = path
    known = {name: needs_of(path, name, modules) for name, path in modules.items()}
    try:
        TopologicalSorter(known).prepare()
    except CycleError as circle:
        pytest.fail(f"a circle of imports: {' -> '.join(circle.args[1])}")


@pytest.mark.parametrize("layer, path", python_files(), ids=lambda x: str(x)[-40:])
def test_imports_inside_a_top_level_folder_are_relative(layer: str, path: Path) -> None:
    """So a file is found where it lies. Those run as scripts have no package and write whole names."""
    if path.name == "__main__.py" or path.name == "tosa_worker.py":
        return
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "") != "":
            top = node.module.split(".")
            own = top[0] == "pteron" and (
                (top[1:] or [""])[0] == layer
                if layer in FOLDERS
                else (top[1:] or [""])[0] not in FOLDERS
            )
            assert not own, f"{path}:{node.lineno}: {node.module}: write a relative import"


def c_files() -> list[Path]:
    home = ROOT / "runtime_c"
    return sorted(p for e in ("*.c", "*.h", "*.inc") for p in home.rglob(e))


@pytest.mark.parametrize("path", c_files(), ids=lambda p: str(p.relative_to(ROOT / "runtime_c")))
def test_c_includes_only_what_its_layer_may_know(path: Path) -> None:
    layer = path.relative_to(ROOT / "runtime_c").parts[0]
    if path.name == "variants.inc":  # a part of kernels/variants.c, which alone includes it
        layer = "kernels"
    for line, text in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', text)
        if not match:
            continue
        kind, name = match.groups()
        where = f"{path}:{line}"
        if kind == "<":
            if layer not in SYSTEM:
                by_isa = "__" in path.name or path.suffix == ".inc" or layer == "core"
                intrinsic = name in INTRINSICS and by_isa
                assert name in FREESTANDING or intrinsic, f"{where}: <{name}> is not freestanding"
            continue
        folder = name.split("/")[0] if "/" in name else layer
        if layer == "delegates":
            own = "delegates/" + path.relative_to(ROOT / "runtime_c/delegates").parts[0]
            may = ("pteron/", "delegates/payload.h", own + "/")
            assert "/" not in name or name.startswith(may), (
                f"{where}: delegates know delegate.h, payload.h and their own folder"
            )
        elif folder not in ("pteron", layer):
            assert folder in C[layer], (
                f"{where}: {layer} may include {sorted(C[layer])}, not {name}"
            )


def test_c_files_of_one_stem_are_reached_by_no_circle_of_includes() -> None:
    """x.c, x.h and x.inc are one thing: whoever it needs does not need it, by whatever way."""
    home = ROOT / "runtime_c"
    include = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
    needs: dict[str, set[str]] = {}
    for path in c_files():
        stem = str(path.relative_to(home).with_suffix("")).removeprefix("include/")
        names = {name.rsplit(".", 1)[0] for name in include.findall(path.read_text())}
        needs.setdefault(stem, set()).update(names - {stem})
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as circle:
        pytest.fail(f"a circle of includes: {' -> '.join(circle.args[1])}")


FORBIDDEN = re.compile(
    r"\b(malloc|calloc|realloc|free|printf|fprintf|abort|exit|errno|_Thread_local)\s*\("
)


@pytest.mark.parametrize("path", c_files(), ids=lambda p: str(p.relative_to(ROOT / "runtime_c")))
def test_c_outside_host_neither_allocates_nor_prints_nor_exits(path: Path) -> None:
    layer = path.relative_to(ROOT / "runtime_c").parts[0]
    if layer in SYSTEM:
        return
    code = re.sub(
        r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), path.read_text(), flags=re.S
    )
    code = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', code)
    for line, text in enumerate(code.splitlines(), 1):
        found = FORBIDDEN.search(text)
        assert not found, f"{path}:{line}: {found.group() if found else ''}...) belongs to host"


LIMIT_LINES, LIMIT_FUNCTION = 600, 80


def test_files_are_at_most_600_lines() -> None:
    generated = ("runtime_c/gen/", "schema/layout.py", "include/pteron/types.h")
    files = [p for _, p in python_files()] + c_files() + sorted((ROOT / "tests").rglob("*.py"))
    long = {
        str(p.relative_to(ROOT)): n
        for p in files
        if not any(g in p.as_posix() for g in generated)
        and (n := len(p.read_text().splitlines())) > LIMIT_LINES
    }
    assert not long, f"split these: {long}"


def test_python_functions_are_at_most_80_lines() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name} ({node.end_lineno - node.lineno + 1})"
        for _, path in python_files()
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > LIMIT_FUNCTION
    ]
    assert not long, f"split these: {long}"
