"""Bytes of the runtime: python benchmarks/size.py [--json]

Builds the shared library (Release, stripped) in build/size and adds up its text and data by folder of runtime_c.
The core is everything but kernels, delegates, host and text.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/size"
OBJECT = re.compile(r"/CMakeFiles/pteron_(?:objects|delegates)\.dir/(\w+)/([\w/]+)\.c\.o$")
"""Of the libraries' targets: an older tree may have left others there."""


def build() -> Path:
    """Configures and builds; returns the stripped copy of the shared library."""
    configure = ["cmake", "-S", str(ROOT), "-B", str(BUILD), "-DCMAKE_BUILD_TYPE=Release"]
    configure += ["-DPTE_BUILD_TESTS=OFF", "-DPTE_BUILD_TOOLS=OFF"]
    for command in (configure, ["cmake", "--build", str(BUILD), "-j", str(os.cpu_count())]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    library = next(p for p in BUILD.rglob("libpteron.so*") if not p.is_symlink())
    stripped = BUILD / "libpteron.stripped.so"
    subprocess.run(["strip", "--strip-unneeded", "-o", str(stripped), str(library)], check=True)
    return stripped


def parts() -> dict[str, int]:
    """Text, read-only data and data of the object files, by folder and, for kernels, by file."""
    sums: dict[str, int] = collections.Counter()
    for obj in sorted(BUILD.rglob("*.o")):
        match = OBJECT.search(obj.as_posix())
        if not match:
            continue
        rows = subprocess.run(["size", str(obj)], check=True, capture_output=True, text=True).stdout
        text, data, bss = map(int, rows.splitlines()[1].split()[:3])
        folder, name = match.groups()
        part = f"kernels/{name}" if folder == "kernels" else folder
        part = "kernels/math" if folder == "core" and name.startswith("math") else part
        sums[part] += text + data + bss
    return dict(sums)


def report() -> dict[str, object]:
    library, by_part = build(), parts()
    outside = ("kernels/", "delegates", "host", "tools", "text")
    core = sum(n for part, n in by_part.items() if not part.startswith(outside))
    return {"library": library.stat().st_size, "core": core, "parts": by_part}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    facts = report()
    if args.json:
        print(json.dumps(facts, indent=1))
        return
    by_part = facts["parts"]
    assert isinstance(by_part, dict)
    for part, count in sorted(by_part.items(), key=lambda row: -row[1]):
        print(f"{count:8d}  {part}")
    print(f"{facts['core']:8d}  core, without kernels, delegates, host and text")
    print(f"{facts['library']:8d}  libpteron.so, stripped")


if __name__ == "__main__":
    main()
