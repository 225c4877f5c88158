"""The smoke test's package: a signed APK with libpteron_jni.so and a program inside, from Debian's packages alone.

    python android_demo/smoke/build.py OUT PROGRAM.pte

Needs aapt, android-framework-res, apksigner, clang-19, lld-19, gcc-aarch64-linux-gnu, libsmali-java, a JDK, cmake.
No phone has installed it: tests/android/test_smoke.py and host_load.c say what is known of it. An app for people is built by Gradle.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
JAVA = ROOT / "bindings/java"
PAGE = 16384
FRAMEWORK = "/usr/share/android-framework-res/framework-res.apk"
SMALI = {"void": "V", "int": "I", "long": "J", "byte[]": "[B"}


def sh(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def library(out: Path) -> Path:
    """libpteron_jni.so for 64-bit Arm, by the CMake file that Gradle calls."""
    jdk = Path(shutil.which("javac") or "javac").resolve().parents[1]
    smoke, built = out / "smoke", out / "cmake"
    for folder in ("include", "lib"):
        (smoke / folder).mkdir(parents=True, exist_ok=True)
    for header in ("jni.h", "linux/jni_md.h"):  # the JDK's, never in the tree
        shutil.copy(jdk / "include" / header, smoke / "include")
    for line in (HERE / "stubs.txt").read_text().splitlines():
        name, *symbols = line.split()
        source = smoke / "lib" / f"{name}.c"
        source.write_text("".join(f"void {symbol}(void) {{}}\n" for symbol in symbols))
        target = ("--target=aarch64-linux-android26", "-nostdlib", "-shared", "-fuse-ld=lld-19")
        sh("clang-19", *target, "-w", "-ffreestanding", "-fno-builtin", f"-Wl,-soname,{name}", source, "-o", source.with_suffix(""))  # fmt: skip
    options = ("-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DPTE_SMOKE={smoke}")
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={HERE / 'android.cmake'}"
    sh("cmake", "-S", JAVA, "-B", built, toolchain, *options)
    sh("cmake", "--build", built, "-j", "2")
    stripped = out / "libpteron_jni.so"
    sh("aarch64-linux-gnu-strip", "--strip-unneeded", "-o", stripped, built / "libpteron_jni.so")
    return stripped


def dex(out: Path) -> Path:
    """The activity and the exception by hand, Native's functions as Java declares them."""
    classes, texts = out / "classes", out / "smali"
    sh("javac", "--release", "11", "-d", classes, *sorted((JAVA / "src/main/java").rglob("*.java")))
    rows = sh("javap", "-s", "-p", "-cp", classes, "dev.pteron.Native")
    found = re.findall(r"static native .*? (\w+)\(.*?;\n    descriptor: (\S+)", rows)
    shutil.copytree(HERE / "smali", texts, dirs_exist_ok=True)
    template = (HERE / "smali/dev/pteron/Native.smali").read_text()
    methods = "".join(f".method static native {n}{d}\n.end method\n" for n, d in found)
    (texts / "dev/pteron/Native.smali").write_text(template + methods)
    # one job, files in order: how several end decides where data lies
    files = sorted(texts.rglob("*.smali"))
    sh("smali", "assemble", "--api", "26", "--jobs", "1", "-o", out / "classes.dex", *files)
    return out / "classes.dex"


def put(package: zipfile.ZipFile, name: str, data: bytes, align: int = 0) -> None:
    """One entry, always the same bytes; with `align` stored, at a multiple of it (Android's field 0xD935)."""
    entry = zipfile.ZipInfo(name, (1981, 1, 1, 1, 1, 2))
    entry.external_attr = entry.create_system = 0
    entry.compress_type = zipfile.ZIP_STORED if align else zipfile.ZIP_DEFLATED
    if align:
        assert package.fp is not None
        padding = -(package.fp.tell() + 30 + len(name.encode()) + 6) % align
        entry.extra = struct.pack("<HHH", 0xD935, 2 + padding, align) + bytes(padding)
    package.writestr(entry, data, compresslevel=9)


def package(out: Path, so: Path, classes: Path, program: Path) -> Path:
    sh("aapt2", "link", "-I", FRAMEWORK, "--manifest", HERE / "AndroidManifest.xml", "-o", out / "base.apk")  # fmt: skip
    aligned, signed, key = out / "aligned.apk", out / "smoke.apk", out / "debug.p12"
    with zipfile.ZipFile(aligned, "w") as whole, zipfile.ZipFile(out / "base.apk") as base:
        for name in sorted(base.namelist()):
            put(whole, name, base.read(name), 4 if name == "resources.arsc" else 0)
        put(whole, "classes.dex", classes.read_bytes())
        put(whole, f"assets/{program.name}", program.read_bytes(), 64)
        put(whole, f"lib/arm64-v8a/{so.name}", so.read_bytes(), PAGE)
    secret = ("-storepass", "android", "-keypass", "android", "-alias", "androiddebugkey")
    if not key.exists():
        sh("keytool", "-genkeypair", "-keystore", key, "-storetype", "PKCS12", *secret, "-keyalg", "RSA", "-keysize", "2048", "-validity", "10000", "-dname", "CN=Android Debug,O=Android,C=US")  # fmt: skip
    schemes = [f"--v{n}-signing-enabled={'false' if n == 1 else 'true'}" for n in (1, 2, 3)]
    signer = ("apksigner", "sign", "--ks", key, "--ks-pass", "pass:android")
    sh(*signer, "--ks-key-alias", "androiddebugkey", *schemes, "--out", signed, aligned)
    return signed


def main() -> None:
    out, program = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    made = package(out, library(out), dex(out), program)
    print(f"{made.stat().st_size} bytes  {made}")


if __name__ == "__main__":
    main()
