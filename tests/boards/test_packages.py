"""pteron amalgamate --package: the tools' own packers and schemas, where a registry has them; and what no schema says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from boards import sdk

from pteron.amalgamate import PACKAGES, written

MODULE = """
type: map
mapping:
  name: {type: str, required: true}
  build:
    type: map
    required: true
    mapping: {cmake: {type: str}, kconfig: {type: str}}
"""
"""What Zephyr's own schema has of the two keys that are used; any other is refused, as there."""


@pytest.fixture(scope="module")
def folder(digits: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("package")
    asked = [word for kind in PACKAGES for word in ("--package", kind)]
    sdk.sh(sys.executable, "-m", "pteron", "amalgamate", digits, "-o", out, *asked)
    return out


def test_each_tool_has_files_that_name_the_two_of_c(folder: Path) -> None:
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert files == {
        "pteron_model.c", "pteron_model.h", "library.properties", "library.json", "Pteron.pteron_digits.pdsc", "LICENSE",
        "zephyr/module.yml", "zephyr/CMakeLists.txt", "zephyr/Kconfig",
    }  # fmt: skip
    rows = dict(x.split("=", 1) for x in (folder / "library.properties").read_text().splitlines())
    assert {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"} <= set(rows)  # fmt: skip
    assert re.fullmatch(r"[A-Za-z][\w.-]{0,62}", rows["name"]) and rows["version"].count(".") == 2
    assert "../pteron_model.c" in (folder / "zephyr/CMakeLists.txt").read_text()
    pack = ElementTree.parse(folder / "Pteron.pteron_digits.pdsc").getroot()
    named = {file.attrib["name"] for file in pack.iter("file")} | {pack.findtext("license")}
    assert named <= files
    used = {c.attrib["condition"] for c in pack.iter("component")}
    assert used == {c.attrib["id"] for c in pack.iter("condition")}


@pytest.mark.parametrize("name", ["a&b<c>.pte", "größe.pte", 'quo"te.pte', "1.pte"])
def test_a_programs_name_breaks_no_format(name: str) -> None:
    texts = written(PACKAGES, name, "1.2.3")
    json.loads(texts["library.json"])
    assert re.fullmatch(r"pteron_\w+", yaml.safe_load(texts["zephyr/module.yml"])["name"], re.A)
    (pack,) = (text for path, text in texts.items() if path.endswith(".pdsc"))
    ElementTree.fromstring(pack.encode())


def test_another_tool_is_refused(digits: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "pteron", "amalgamate", digits, "-o", tmp_path / "out", "--package", "mbed")  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "expected one of arduino, cmsis" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def tools() -> Path:
    """An environment of their own: both pin what others pin otherwise."""
    out = sdk.ROOT / "build/package-tools"
    if not (out / "bin/pio").exists() or not (out / "bin/pykwalify").exists():
        venv.create(out, with_pip=True)
        sdk.sh(out / "bin/pip", "install", "-q", "platformio==6.2.0", "pykwalify==1.8.0")
    return out / "bin"


@pytest.mark.boards
def test_platformio_packs_it(folder: Path, tools: Path, tmp_path: Path) -> None:
    at = {
        "PLATFORMIO_CORE_DIR": str(tmp_path / "core"),
        "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no",
    }
    sdk.sh(tools / "pio", "pkg", "pack", "-o", tmp_path / "it.tar.gz", folder, **at)
    with tarfile.open(tmp_path / "it.tar.gz") as packed:
        assert set(packed.getnames()) >= {"library.json", "pteron_model.c", "pteron_model.h"}


@pytest.mark.boards
def test_zephyrs_checker_takes_the_module(folder: Path, tools: Path, tmp_path: Path) -> None:
    (tmp_path / "schema.yml").write_text(MODULE)
    check = (tools / "pykwalify", "-s", tmp_path / "schema.yml", "-d")
    sdk.sh(*check, folder / "zephyr/module.yml")
    wrong = tmp_path / "module.yml"
    wrong.write_text((folder / "zephyr/module.yml").read_text().replace("kconfig", "kconfigs"))
    assert subprocess.run([*map(str, check), wrong], capture_output=True).returncode != 0
