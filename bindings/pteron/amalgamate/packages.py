"""What makes the two files a package of the tools that boards are programmed with: a function a tool, of a file's path -> text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Final
from xml.sax.saxutils import escape

FLAGS: Final = ("-ffp-contract=off",)
"""Part of the arithmetic: without it the bits differ."""
URL: Final = "https://example.org/pteron"
"""Where a package has none of its own: whoever publishes it says."""


def _about(name: str) -> str:
    return f"{name}: a neural network that pteron amalgamate made C of"


def _plain(name: str) -> str:
    """The program's name in what takes letters, digits and _ alone."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name.removesuffix(".pte"))


def arduino(name: str, version: str) -> dict[str, str]:
    """A library with its sources beside library.properties, whose format has no flags for the compiler: its page says which."""
    rows = {
        "name": f"pteron_{_plain(name)}",
        "version": version,
        "author": "Pteron",
        "maintainer": "Pteron",
        "sentence": _about(name) + ".",
        "paragraph": "Compile with -ffp-contract=off for the bits of the desk.",
        "category": "Data Processing",
        "url": URL,
        "architectures": "*",
        "includes": "pteron_model.h",
    }
    return {"library.properties": "".join(f"{key}={value}\n" for key, value in rows.items())}


def platformio(name: str, version: str) -> dict[str, str]:
    """A library for PlatformIO: `pio pkg pack` makes its archive."""
    facts = {
        "name": f"pteron_{_plain(name)}",
        "version": version,
        "description": _about(name),
        "keywords": ["neural network", "inference"],
        "authors": [{"name": "Pteron"}],
        "headers": "pteron_model.h",
        "frameworks": "*",
        "platforms": "*",
        "build": {
            "flags": list(FLAGS),
            "srcDir": ".",
            "includeDir": ".",
            "srcFilter": ["-<*>", "+<pteron_model.c>"],
        },
        "export": {"include": ["pteron_model.c", "pteron_model.h", "library.json"]},
    }
    return {"library.json": json.dumps(facts, indent=2) + "\n"}


def zephyr(name: str, version: str) -> dict[str, str]:
    """A module: west finds zephyr/module.yml, the build its library where CONFIG_PTERON_MODEL is set."""
    flags = " ".join(FLAGS)
    return {
        "zephyr/module.yml": f"name: pteron_{_plain(name)}\nbuild:\n  cmake: zephyr\n  kconfig: zephyr/Kconfig\n",
        "zephyr/CMakeLists.txt": (
            "if(CONFIG_PTERON_MODEL)\n"
            "  zephyr_library_named(pteron_model)\n"
            "  zephyr_library_sources(../pteron_model.c)\n"
            f"  zephyr_library_compile_options({flags})\n"
            "  zephyr_include_directories(..)\n"
            "endif()\n"
        ),
        "zephyr/Kconfig": (
            "config PTERON_MODEL\n"
            f'\tbool "{_about(_plain(name))}"\n'
            "\thelp\n"
            f"\t  Version {version}. Two functions: see pteron_model.h.\n"
        ),
    }


def cmsis(name: str, version: str) -> dict[str, str]:
    """A pack's description, for Cortex-M: zip the folder as Pteron.<name>.<version>.pack."""
    title, about = f"pteron_{_plain(name)}", escape(_about(name))
    return {
        f"Pteron.{title}.pdsc": f"""<?xml version="1.0" encoding="UTF-8"?>
<package schemaVersion="1.7.36" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance" xs:noNamespaceSchemaLocation="https://raw.githubusercontent.com/Open-CMSIS-Pack/Open-CMSIS-Pack-Spec/v1.7.36/schema/PACK.xsd">
  <vendor>Pteron</vendor>
  <name>{title}</name>
  <description>{about}</description>
  <url>{URL}/</url>
  <license>LICENSE</license>
  <releases>
    <release version="{version}" date="2026-01-01">As Pteron {version} makes it.</release>
  </releases>
  <conditions>
    <condition id="Cortex-M">
      <description>Cores with the instructions of Armv7-M, or later</description>
      <accept Dcore="Cortex-M3"/>
      <accept Dcore="Cortex-M4"/>
      <accept Dcore="Cortex-M7"/>
      <accept Dcore="Cortex-M33"/>
      <accept Dcore="Cortex-M55"/>
      <accept Dcore="Cortex-M85"/>
    </condition>
  </conditions>
  <components>
    <component Cclass="Machine Learning" Cgroup="NN Lib" Csub="{title}" Cversion="{version}" condition="Cortex-M">
      <description>{about}; compile with {" ".join(FLAGS)}</description>
      <files>
        <file category="header" name="pteron_model.h"/>
        <file category="source" name="pteron_model.c"/>
      </files>
    </component>
  </components>
</package>
""",
        "LICENSE": "The network's licence is its author's to state; what is Pteron's in pteron_model.c is Apache-2.0.\n",
    }


PACKAGES: Final[dict[str, Callable[[str, str], dict[str, str]]]] = {
    "arduino": arduino,
    "cmsis": cmsis,
    "platformio": platformio,
    "zephyr": zephyr,
}


def written(kinds: Iterable[str], name: str, version: str) -> dict[str, str]:
    """Path in the folder -> text, of all that are asked for; `name` is the program's file."""
    return {path: text for kind in kinds for path, text in PACKAGES[kind](name, version).items()}
