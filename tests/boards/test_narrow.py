"""Where a size has 32 bits: what multiplies sizes does not wrap. 32-bit Arm under an emulator."""

from __future__ import annotations

from pathlib import Path

from boards.sdk import need, sh


def test_room_for_many_logits_does_not_wrap(root: Path, tmp_path: Path) -> None:
    cc = "arm-linux-gnueabihf-gcc"
    need(cc, "qemu-arm")
    home = root / "runtime_c"
    sources = [home / "text/sample.c", *(home / f"core/{stem}.c" for stem in ("error", "sized"))]
    flags = ["-std=c11", "-O1", "-static", f"-I{home}", f"-I{home}/include", f"-I{root}/tests/c"]
    program = tmp_path / "sample"
    sh(cc, *flags, root / "tests/c/test_sample.c", *sources, "-lm", "-o", program)
    sh("qemu-arm", program)
