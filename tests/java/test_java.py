"""The Java binding on a desktop JVM that checks every JNI call (-Xcheck:jni), against what Python computes."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from boards import sdk
from java import fixtures

import pteron
from pteron.schema.dtypes import DTYPES

ROOT = Path(__file__).parents[2]
JAVA = ROOT / "bindings/java/src"
JARS = Path("/usr/share/java")


def sh(*command: str | Path, timeout: float = 300) -> str:
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}\n{done.stderr[-4000:]}"
    return done.stdout + done.stderr


def home() -> Path:
    """The JDK's folder."""
    if (javac := shutil.which("javac")) is None:
        pytest.skip("not installed: javac (openjdk-17-jdk-headless)")
    return Path(javac).resolve().parents[1]


def archives() -> list[Path]:
    """The runtime as the editable install built it: position-independent, with its delegates."""
    here = f"build/cp3*{platform.machine()}/runtime_c"
    folders = sorted(ROOT.glob(here), key=lambda p: p.stat().st_mtime)
    if not folders:
        pytest.skip("no runtime in build/: make dev")
    return [folders[-1] / f"lib{name}.a" for name in ("pteron_delegates", "pteron")]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("jni") / "libpteron_jni.so"
    include = home() / "include"
    sh(
        *("cc", "-std=c11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-Werror"),
        *("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wl,--exclude-libs,ALL", "-Wl,-z,defs"),
        *(f"-I{include}", f"-I{include}/linux", f"-I{ROOT}/runtime_c/include"),
        *sorted((JAVA / "main/c").glob("*.c")),
        *archives(),
        *("-pthread", "-ldl", "-o", out),
    )
    return out


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The binding, without a warning, by the language of Android's oldest desugaring; and prototypes of its functions."""
    home()
    out = tmp_path_factory.mktemp("classes")
    said = sh(
        *("javac", "--release", "11", "-Xlint:all", "-Xdoclint:all,-missing", "-Werror"),
        *("-h", out / "headers", "-d", out / "main"),
        *sorted((JAVA / "main/java").rglob("*.java")),
    )
    assert "warning" not in said
    return out


def test_every_native_method_has_its_function_and_nothing_else_is_exported(
    library: Path, classes: Path
) -> None:
    declared = re.findall(
        r"\bJNICALL (Java_\w+)", (classes / "headers/dev_pteron_Native.h").read_text()
    )
    rows = sh("nm", "-D", "--defined-only", library).splitlines()
    assert {row.split()[-1] for row in rows} == {*declared, "JNI_OnLoad"}
    texts = "".join(p.read_text() for p in (JAVA / "main/c").glob("*.c"))
    for name in declared:  # parameters: Java's, behind env and cls
        prototype = re.search(
            rf"{name}\s*\(JNIEnv \*, jclass(.*?)\);",
            (classes / "headers/dev_pteron_Native.h").read_text(),
            flags=re.S,
        )
        short = name.removeprefix("Java_dev_pteron_Native_")
        ours = re.search(rf"PTE_NATIVE\(\w+, {short}\)(.*?)\) \{{", texts, flags=re.S)
        assert prototype and ours, name
        types = [w.strip() for w in prototype[1].split(",") if w.strip()]
        assert types == re.findall(r"\b(j[a-z]+(?:Array)?) \w+", ours[1]), name


CONSTANTS = {"INPUT", "OUTPUT", "STATE", "KEEP", "RESET", "ADOPT"}
ELSEWHERE = {
    "pte_api_version": "one library: it is made with its JNI",
    "pte_dtype_name": "DType",
    "pte_delegate_null": "for tests of C",
    "pte_program_method_count": "Program.methods",
    "pte_program_find_method": "Program.method",
    "pte_host_pool_close": "the pool of a JVM stays",
    **{
        f"pte_host_model_{verb}": "Program and Session own what it owns, with the garbage collector's rules"
        for verb in (
            "open",
            "open_fd",
            "open_bytes",
            "close",
            "program",
            "session",
            "prepare",
            "run",
        )
    },
}
"""Functions of C without a call in JNI, and what stands for them."""


def test_java_reaches_what_c_has(root: Path) -> None:
    """Every function of the C interface is called for a native method, and every native method for a public one."""
    texts = "".join(p.read_text() for p in (JAVA / "main/c").glob("*.c"))
    called = set(re.findall(r"\b(pte_\w+)\b", texts))
    assert {*ELSEWHERE} == sdk.declared() - called
    java = {p.stem: p.read_text() for p in (JAVA / "main/java").rglob("*.java")}
    natives = re.findall(r"static native \S+ (\w+)\(", java.pop("Native"))
    rest = "".join(java.values())
    assert (
        len(natives) >= 24
        and {*natives} == {*re.findall(r"\bNative(?:\.|::)(\w+)", rest)} - CONSTANTS
    )
    header = (root / "runtime_c/include/pteron/pteron.h").read_text()
    for struct in ("open_options", "prepare_options", "run_options", "sampling"):
        body = re.search(rf"typedef struct pte_{struct} \{{(.*?)\n\}}", header, re.S)
        assert body is not None, struct
        rows = re.sub(r"/\*.*?\*/", "", body[1], flags=re.S).split(";")
        fields = {
            w for row in rows for w in re.findall(r"(?<=\(\*)\w+|\w+(?=\s*,|\s*$)", row.strip())
        }
        unset = {name for name in fields if not re.search(rf"\.{name}\b", texts)}
        assert len(fields) > 4 and unset <= {"reserved", "now_self"}, (struct, unset)


def test_the_dtypes_of_java_are_the_runtimes() -> None:
    text = (JAVA / "main/java/dev/pteron/DType.java").read_text()
    rows = [
        (name.lower(), int(bits))
        for name, bits in re.findall(r"^  ([A-Z]\w*)\((\d+)\)[,;]", text, re.M)
    ]
    assert rows == [(d.name, d.bits) for d in DTYPES.values()]


def test_java_gives_the_bytes_of_python(
    root: Path, library: Path, classes: Path, tmp_path: Path
) -> None:
    """Also: misuse is typed exceptions, what is closed or forgotten is given back, 10,000 rounds take nothing."""
    jars = [p for w in ("junit-jupiter-*", "junit-platform-*", "opentest4j", "apiguardian-api", "picocli", "univocity-parsers") for p in JARS.glob(f"{w}.jar")]  # fmt: skip
    if not any("console" in p.name for p in jars):
        pytest.skip("not installed: junit5")
    path = ":".join(map(str, jars))
    both = f"{classes / 'main'}:{path}"
    tests = sorted((JAVA / "test/java").rglob("*.java"))
    sh(
        "javac",
        "--release",
        "11",
        "-Xlint:all,-classfile,-path",
        "-cp",
        both,
        "-d",
        tmp_path / "tests",
        *tests,
    )
    data = tmp_path / "data"
    data.mkdir()
    fixtures.write(root, data)
    said = sh(
        *("java", "-Xcheck:jni", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch"),  # the heap is no part of what grows
        *(f"-Dpteron.library={library}", f"-Dpteron.fixtures={data}"),
        *("-cp", f"{tmp_path / 'tests'}:{both}", "org.junit.platform.console.ConsoleLauncher"),
        *("--scan-class-path", tmp_path / "tests", "--details=tree", "--disable-banner"),
        "--disable-ansi-colors",
    )
    assert "WARNING" not in said, said[:4000]
    count = re.search(r"(\d+) tests successful", said)
    assert count is not None and int(count[1]) >= 24, said


KOTLIN = """
import dev.pteron.*
import java.util.concurrent.TimeUnit

fun main(args: Array<String>) {
    Program.open(args[0]).use { program ->
        program.session { threads(1) }.use { session ->
            val image = tensorOf(*FloatArray(64) { it / 64f }, shape = longArrayOf(1, 1, 8, 8))
            val logits = session.run("image" to image).getValue("logits").toFloats()
            val timed = session.run("image" to image) { timeout(1, TimeUnit.HOURS) }.getValue("logits")
            check(logits.contentEquals(timed.toFloats()))
            println(logits.joinToString(" ") { "%08x".format(it.toRawBits()) })
        }
    }
}
"""


@pytest.mark.boards
def test_the_kotlin_face_compiles_and_gives_the_bytes_of_python(
    library: Path, classes: Path, digits: Path, tmp_path: Path
) -> None:
    """By Debian's Kotlin 1.3, older than any that Android's plugin takes."""
    if shutil.which("kotlinc") is None:
        pytest.skip("not installed: kotlinc (kotlin)")
    (tmp_path / "Use.kt").write_text(KOTLIN)
    jars = [JARS / f"{name}.jar" for name in ("kotlin-stdlib", "kotlin-stdlib-jdk7")]
    (tmp_path / "out").mkdir()
    path = ":".join(map(str, [classes / "main", tmp_path / "out", *jars]))
    face = JAVA / "main/kotlin"
    said = sh("kotlinc", "-Werror", face, tmp_path / "Use.kt", "-cp", path, "-d", tmp_path / "out")
    assert "warning: " not in said.replace("VM warning", "")
    command = ("java", "-Xcheck:jni", f"-Dpteron.library={library}", "-cp", path, "UseKt", digits)
    got = bytes.fromhex("".join(sh(*command).split()))
    image = (np.arange(64, dtype=np.float32) / 64).reshape(1, 1, 8, 8)
    with pteron.load(digits, threads=1) as model:
        assert got == model(image).astype(">f4").tobytes()


SHELL = """
import dev.pteron.*;
import java.io.FileDescriptor;
import java.util.*;
import java.util.concurrent.TimeUnit;
class Page {
  interface AssetFileDescriptor { FileDescriptor getFileDescriptor(); long getStartOffset(); long getLength(); }
  void page(Session session, Map<String, Tensor> inputs, Cancel cancel, Tensor room, List<TraceEvent> events,
      AssetFileDescriptor asset) {
%s
  }
}
"""


def test_the_pages_examples_compile(classes: Path, tmp_path: Path) -> None:
    pages = [ROOT / "docs/android.md", ROOT / "bindings/java/README.md"]
    found = [b for p in pages for b in re.findall(r"```java\n(.*?)```", p.read_text(), flags=re.S)]
    assert len(found) == 4
    for block in found:
        (tmp_path / "Page.java").write_text(
            SHELL
            % block.replace("Session session =", "Session s0 =").replace(
                "session.run(Map", "s0.run(Map"
            )
        )
        sh(
            "javac",
            "--release",
            "11",
            "-cp",
            classes / "main",
            "-d",
            tmp_path,
            tmp_path / "Page.java",
        )
