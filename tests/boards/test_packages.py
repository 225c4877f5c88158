"""pteron amalgamate --package: the tools' own packers and schemas, where a registry has them; and what no schema says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
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


ZEPHYR = """
cmake_minimum_required(VERSION 3.22)
project(stand_in C)
set(CONFIG_PTERON_MODEL y)
macro(zephyr_library_named name)
  add_library(${name} STATIC)
  set(current ${name})
endmacro()
macro(zephyr_library_sources)
  target_sources(${current} PRIVATE ${ARGN})
endmacro()
macro(zephyr_library_compile_options)
  target_compile_options(${current} PRIVATE ${ARGN})
endmacro()
macro(zephyr_include_directories)
  include_directories(${ARGN})
endmacro()
add_subdirectory(${FOLDER}/zephyr module)
"""
"""The four functions of Zephyr's that the module calls, as their documentation has them."""


@pytest.mark.boards
def test_the_module_builds_where_zephyrs_functions_stand_for_themselves(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "CMakeLists.txt").write_text(ZEPHYR)
    sdk.sh("cmake", "-S", tmp_path, "-B", tmp_path / "out", f"-DFOLDER={folder}")
    sdk.sh("cmake", "--build", tmp_path / "out")
    names = sdk.sh("nm", "--defined-only", tmp_path / "out/module/libpteron_model.a")
    assert " T pteron_model_run" in names


TOOLS = {"pio": "platformio==6.2.0", "pykwalify": "pykwalify==1.8.0", "west": "west==1.5.0", "menuconfig": "kconfiglib==14.1.0"}  # fmt: skip


@pytest.fixture(scope="module")
def tools() -> Path:
    """An environment of their own: they pin what others pin otherwise."""
    out = sdk.ROOT / "build/package-tools"
    if not all((out / "bin" / tool).exists() for tool in TOOLS):
        venv.create(out, with_pip=True)
        sdk.sh(out / "bin/pip", "install", "-q", *TOOLS.values())
    return out / "bin"


@pytest.mark.boards
def test_platformio_packs_and_installs_it(folder: Path, tools: Path, tmp_path: Path) -> None:
    at = {
        "PLATFORMIO_CORE_DIR": str(tmp_path / "core"),
        "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no",
    }
    packed, libraries = tmp_path / "it.tar.gz", tmp_path / "libraries"
    libraries.mkdir()
    sdk.sh(tools / "pio", "pkg", "pack", "-o", packed, folder, **at)
    into = ("--global", "--storage-dir", libraries, "--library", f"file://{packed}")
    sdk.sh(tools / "pio", "pkg", "install", *into, **at)
    (installed,) = libraries.iterdir()
    files = {path.name for path in installed.iterdir()}
    assert files >= {"library.json", "library.properties", "pteron_model.c", "pteron_model.h"}


@pytest.mark.boards
def test_west_fetches_the_module_and_kconfig_has_its_switch(
    folder: Path, tools: Path, tmp_path: Path
) -> None:
    origin, app = tmp_path / "origin", tmp_path / "app"
    shutil.copytree(folder, origin)
    app.mkdir()
    git = ("git", "-C", origin, "-c", "user.name=it", "-c", "user.email=it@localhost")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "it")):
        sdk.sh(*git, *words)
    row = f"{{name: digits, url: 'file://{origin}', revision: HEAD, path: modules/digits}}"
    (app / "west.yml").write_text(f"manifest: {{projects: [{row}]}}\n")
    sdk.sh(tools / "west", "init", "-l", app)
    west = f"cd {tmp_path} && {tools}/west"
    sdk.sh("bash", "-c", f"{west} update")
    assert "modules/digits" in sdk.sh("bash", "-c", f"{west} list")
    kconfig = tmp_path / "modules/digits/zephyr/Kconfig"
    script = "import kconfiglib as k, sys; c = k.Kconfig(sys.argv[1]); s = c.syms['PTERON_MODEL']; print(s.type == k.BOOL, c.warnings)"  # fmt: skip
    assert sdk.sh(tools / "python", "-c", script, kconfig) == "True []\n"


@pytest.mark.boards
def test_zephyrs_checker_takes_the_module(folder: Path, tools: Path, tmp_path: Path) -> None:
    (tmp_path / "schema.yml").write_text(MODULE)
    check = (tools / "pykwalify", "-s", tmp_path / "schema.yml", "-d")
    sdk.sh(*check, folder / "zephyr/module.yml")
    wrong = tmp_path / "module.yml"
    wrong.write_text((folder / "zephyr/module.yml").read_text().replace("kconfig", "kconfigs"))
    assert subprocess.run([*map(str, check), wrong], capture_output=True).returncode != 0
