"""The pages as a site: python docs/site/build.py [FOLDER]         FOLDER: build/site unless told

Stages a mirror of the tree's pages, so that links between them stay as they are, adds the reference of the Python interface, which is made
from docstrings, and runs Sphinx with warnings as errors.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pteron

ROOT: Final = Path(__file__).resolve().parents[2]
PARTS: Final = {
    "Start": [
        "docs/index", "docs/getting-started", "docs/choose", "docs/troubleshooting", "docs/migrate", "docs/compare", "docs/glossary",
    ],
    "Guides": [
        "docs/export", "docs/quantize", "docs/quantize-measured", "docs/quantization", "docs/checkpoints", "docs/generate",
        "docs/delegates", "docs/c", "docs/android", "docs/web", "docs/boards", "docs/microcontrollers",
    ],
    "Reference": ["docs/python", "docs/models", "docs/onnx", "docs/operators", "docs/format", "docs/numerics"],
    "Inside": ["docs/design", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"],
}  # fmt: skip
"""The navigation; decisions and benchmarks follow, as they lie."""


def main() -> int:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/site"
    source = out / "source"
    shutil.rmtree(source, ignore_errors=True)
    stage(source)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-c",
        str(ROOT / "docs/site"),
    ]
    return subprocess.run([*command, str(source), str(out / "html")], check=False).returncode


def stage(source: Path) -> None:
    """A mirror of the pages and their pictures, README as the index with the navigation, and the reference of Python."""
    kinds = ("*.md", "docs/*.svg")
    listed = subprocess.run(
        ["git", "ls-files", *kinds], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.split():
        if name.split("/")[0] in ("docs", "benchmarks") or "/" not in name:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            text = (ROOT / name).read_bytes()
            (source / name).write_bytes(
                without_sources(name, text.decode()).encode() if name.endswith(".md") else text
            )
    (source / "docs/python.md").write_text(reference())
    parts = dict(PARTS)
    parts["Decisions"] = sorted(
        str(p.relative_to(source).with_suffix("")) for p in source.glob("docs/adr/*.md")
    )
    parts["Benchmarks"] = sorted(
        str(p.relative_to(source).with_suffix("")) for p in source.glob("benchmarks/*.md")
    )
    trees = "\n\n".join(
        "\n".join(["```{toctree}", ":hidden:", f":caption: {name}", "", *pages, "```"])
        for name, pages in parts.items()
    )
    home = source / "README.md"
    (source / "index.md").write_text(f"{home.read_text()}\n{trees}\n")
    home.unlink()


def without_sources(name: str, text: str) -> str:
    """README is the index. Links to what is no page become plain text, for the site has no sources to show; charts of Mermaid, whose numbers stand in
    tables beside them, are left out."""
    home = (ROOT / name).parent

    def plain(link: re.Match[str]) -> str:
        target = link[2].partition("#")[0]
        if target.endswith("README.md") and (home / target).resolve() == ROOT / "README.md":
            return link[0].replace("README.md", "index.md")
        is_page = target == "" or target.startswith("http") or target.endswith((".md", ".svg"))
        return link[0] if is_page or not (home / target).exists() else link[1]

    text = re.sub(r"```mermaid\n.*?```\n", "", text, flags=re.DOTALL)
    return re.sub(r"(?<!!)\[([^\]\n]*)\]\(([^)\s]+)\)", plain, text)


def reference() -> str:
    """Every public name of the package, by its docstring."""
    lines = ["# Python interface", "", "Generated from the docstrings of the package `pteron`.", ""]
    things = {name: getattr(pteron, name) for name in pteron.__all__}
    for name, thing in sorted(things.items(), key=lambda item: (_rank(item[1]), item[0].lower())):
        if isinstance(thing, type):
            kind, more = "autoclass", "   :members:\n"
        elif callable(thing):
            kind, more = "autofunction", ""
        else:
            continue
        lines += [f"## {name}", "", "```{eval-rst}", f".. {kind}:: pteron.{name}", f"{more}```", ""]
    return "\n".join(lines)


def _rank(thing: object) -> int:
    """Functions, then classes, then errors."""
    return 1 + issubclass(thing, Exception) if isinstance(thing, type) else 0


if __name__ == "__main__":
    sys.exit(main())
