"""A package for Android built without an NDK: what it holds, that its library runs, that a second build is the same."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

import pteron

pytestmark = pytest.mark.boards

ROOT = Path(__file__).parents[2]
SMOKE = ROOT / "android_demo/smoke"
TOOLS = (
    "aapt aapt2 aarch64-linux-gnu-gcc apksigner clang-19 dexdump javac ld.lld-19 qemu-aarch64 smali"
)
PAGE = 16384


def sh(*command: str | Path) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with smoke.apk, libpteron_jni.so and the program, its input and what this machine computes."""
    missing = [tool for tool in TOOLS.split() if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    out = tmp_path_factory.mktemp("smoke")
    images = (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)
    program = out / "digits-int8.pte"
    source = root / "examples/digits/digits.onnx"
    pteron.export_model(source, program, quantize="int8", calibrate={"image": images})
    (out / "image").write_bytes(images[:1].tobytes())
    (out / "logits").write_bytes(pteron.load(program, threads=1)(images[:1]).tobytes())
    sh("python3", SMOKE / "build.py", out, program)
    return out


def faults(package: Path) -> list[str]:
    """Stored entries that lie elsewhere than where they can be mapped, and segments of libraries that need smaller pages."""
    raw, found = package.read_bytes(), []
    for entry in zipfile.ZipFile(package).infolist():
        name, extra = struct.unpack_from("<HH", raw, entry.header_offset + 26)
        at = entry.header_offset + 30 + name + extra
        so = entry.filename.endswith(".so")
        align = PAGE if so else 64 if entry.filename.endswith(".pte") else 4
        if (so or align == 64) and entry.compress_type != zipfile.ZIP_STORED:
            found.append(f"{entry.filename}: compressed")
        if entry.compress_type == zipfile.ZIP_STORED and at % align:
            found.append(f"{entry.filename}: at {at}, no multiple of {align}")
        if so:
            body = raw[at : at + entry.file_size]
            (headers,), (count,) = (
                struct.unpack_from("<Q", body, 32),
                struct.unpack_from("<H", body, 56),
            )
            rows = [struct.unpack_from("<IIQQQQQQ", body, headers + 56 * k) for k in range(count)]
            found += [
                f"{entry.filename}: segment {r[7]}" for r in rows if r[0] == 1 and r[7] % PAGE
            ]
    return found


def test_the_package_verifies_and_is_aligned(built: Path) -> None:
    package = built / "smoke.apk"
    said = sh("apksigner", "verify", "--verbose", package)
    assert said.startswith("Verifies\n") and "Scheme v3): true" in said
    assert faults(package) == []
    badging = sh("aapt", "dump", "badging", package)
    for line in ("sdkVersion:'26'", "launchable-activity: name='dev.pteron.MainActivity'", "native-code: 'arm64-v8a'"):  # fmt: skip
        assert line in badging
    with zipfile.ZipFile(package) as whole:  # the very files
        library = whole.read("lib/arm64-v8a/libpteron_jni.so")
        assert library == (built / "libpteron_jni.so").read_bytes()
        assert whole.read("assets/digits-int8.pte") == (built / "digits-int8.pte").read_bytes()


def test_the_checks_notice_what_is_wrong(built: Path, tmp_path: Path) -> None:
    package = built / "smoke.apk"
    raw = bytearray(package.read_bytes())
    raw[raw.find(b"\x7fELF") + 5000] ^= 1
    (tmp_path / "flipped.apk").write_bytes(raw)
    done = subprocess.run(["apksigner", "verify", tmp_path / "flipped.apk"], capture_output=True)
    assert done.returncode != 0
    with (
        zipfile.ZipFile(package) as whole,
        zipfile.ZipFile(tmp_path / "moved.apk", "w") as moved,
    ):
        moved.writestr("x", b"x")
        for name in whole.namelist():
            moved.writestr(name, whole.read(name))
    assert any(".so: at" in fault for fault in faults(tmp_path / "moved.apk"))


def test_a_second_build_has_the_same_bytes(built: Path, tmp_path: Path) -> None:
    shutil.copy(built / "debug.p12", tmp_path)
    sh("python3", SMOKE / "build.py", tmp_path, built / "digits-int8.pte")
    for name in ("libpteron_jni.so", "classes.dex", "smoke.apk"):
        assert (tmp_path / name).read_bytes() == (built / name).read_bytes(), name


def test_the_library_asks_for_what_android_has_and_shows_what_java_calls(built: Path) -> None:
    library = built / "libpteron_jni.so"
    stubs = (SMOKE / "stubs.txt").read_text().split()
    wanted = {row.split()[-1] for row in sh("nm", "-D", "--undefined-only", library).splitlines()}
    assert wanted <= set(stubs)
    shown = {row.split()[-1] for row in sh("nm", "-D", "--defined-only", library).splitlines()}
    called = sh("dexdump", built / "classes.dex")
    natives = re.findall(r"name +: '(\w+)'\n +type +: '.*'\n +access +: \S+ \(.*NATIVE", called)
    assert shown == {f"Java_dev_pteron_Native_{n}" for n in natives} | {"JNI_OnLoad"}
    dynamic = sh("readelf", "-dW", library)
    assert "BIND_NOW" in dynamic and "TEXTREL" not in dynamic
    assert set(re.findall(r"NEEDED.*\[(.*)\]", dynamic)) == {"libc.so", "libdl.so"}
    segments = sh("readelf", "-lW", library)
    assert re.search(r"GNU_STACK.* RW  ", segments) and "TLS" not in segments


@pytest.fixture(scope="module")
def host(built: Path) -> Path:
    """A program for 64-bit Arm Linux that loads the library, and Android's libraries in terms of glibc's."""
    out = built / "host"
    out.mkdir()
    gcc = ("aarch64-linux-gnu-gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra")
    sh(*gcc, f"-I{built / 'smoke/include'}", SMOKE / "host_load.c", "-ldl", "-o", out / "load")
    shared = (*gcc, "-shared", "-fPIC", "-Wl,--no-as-needed")
    sh(*shared, SMOKE / "host_libc.c", "-Wl,-soname,libc.so", "-ldl", "-o", out / "libc.so")
    sh(*shared, "-x", "c", "/dev/null", "-Wl,-soname,libdl.so", "-o", out / "libdl.so")
    return out


@pytest.mark.parametrize("cpu, features", [("max", 14), ("cortex-a76", 6), ("cortex-a53", 2)])
def test_the_very_library_gives_the_bytes_of_this_machine(
    built: Path, host: Path, cpu: str, features: int
) -> None:
    want = (built / "logits").read_bytes()
    said = sh(
        *("qemu-aarch64", "-cpu", cpu, "-L", "/usr/aarch64-linux-gnu"),
        *("-E", f"LD_LIBRARY_PATH={host}", host / "load", built / "libpteron_jni.so"),
        *(built / "digits-int8.pte", built / "image", str(len(want))),
    )
    assert said.split() == [f"{features:x}", want.hex()]
