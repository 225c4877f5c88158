"""Two files of C instead of the runtime: they compile by themselves, ask for memcpy alone, and give the same bytes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

import pteron
from pteron.cli import main
from pteron.export.file.read import read
from pteron.export.program.kernels import header, kernels_of

pytestmark = pytest.mark.slow

MAIN = """
#include "pteron_model.h"
#include <stdio.h>
static _Alignas(64) unsigned char in[INPUT], out[OUTPUT];
int main(void) {
  const void *inputs[] = {in};
  void *outputs[] = {out};
#ifdef PTERON_MODEL_FIXED
  const void *none[] = {NULL};
  if (pteron_model_run(none, outputs) == 0) return 2;
#else
  if (pteron_model_run(inputs, outputs) == 0) return 2; /* not open */
  if (pteron_model_open(NULL, 0) != 0) return 4;
#endif
  if (fread(in, 1, sizeof in, stdin) != sizeof in) return 3;
  if (pteron_model_run(inputs, outputs) != 0) {
    fprintf(stderr, "%s\\n", pteron_model_error());
    return 1;
  }
  fprintf(stderr, "%zu\\n", pteron_model_used());
  return fwrite(out, 1, sizeof out, stdout) != sizeof out;
}
"""


def sh(*command: str | Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run([str(c) for c in command], input=given, capture_output=True)
    assert done.returncode == 0, done.stderr[-4000:].decode()
    return done


@pytest.mark.parametrize("form", [(), ("--replaceable",)], ids=["fixed", "replaceable"])
@pytest.mark.parametrize("name", ["f32", "int8", "nf4"])
def test_the_two_files_give_the_bytes_of_the_runtime(
    name: str, form: tuple[str, ...], root: Path, tmp_path: Path
) -> None:
    images = (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)
    how = {"f32": {}, "nf4": {"quantize": "nf4"}}.get(
        name, {"quantize": "int8", "calibrate": {"image": images}}
    )
    program = tmp_path / "digits.pte"
    pteron.export_model(root / "examples/digits/digits.onnx", program, **how)
    words = ["amalgamate", str(program), "-o", str(tmp_path / "out"), "--dim", "batch=3", *form]
    assert main(words) == 0
    want = pteron.load(program, threads=1)(images[:3])
    (tmp_path / "main.c").write_text(MAIN)
    sizes = (f"-DINPUT={images[:3].nbytes}", f"-DOUTPUT={want.nbytes}")
    gcc = ("gcc", "-std=c11", "-O1", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections")
    source, object_file = tmp_path / "out/pteron_model.c", tmp_path / "model.o"
    warnings = ("-Wall", "-Wextra", "-Wno-unused-function", "-Werror")
    sh(*gcc, *warnings, "-ffreestanding", "-c", source, "-o", object_file)
    rest = sh("nm", "-u", object_file).stdout.decode().split()
    assert set(rest) - {"U"} <= {"memcpy", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}
    include = f"-I{tmp_path / 'out'}"
    binary = tmp_path / "run"
    sh(*gcc, *sizes, include, tmp_path / "main.c", object_file, "-Wl,--gc-sections", "-o", binary)
    done = sh(binary, given=images[:3].tobytes())
    assert done.stdout == want.tobytes()
    most = re.search(
        r"define PTERON_MODEL_MEMORY (\d+)", (tmp_path / "out/pteron_model.h").read_text()
    )
    assert most is not None and int(done.stderr) <= int(most[1])


def test_what_has_no_place_on_a_board_is_refused(root: Path, tmp_path: Path) -> None:
    from java import fixtures

    fixtures.hand_written(tmp_path)
    assert main(["amalgamate", str(tmp_path / "states.pte"), "-o", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def test_a_fixed_image_refuses_what_only_a_run_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Blocks, and sizes that the data sets."""
    from program import samples

    samples.write(tmp_path)
    info = onnx.helper.make_tensor_value_info
    x, y = info("x", onnx.TensorProto.FLOAT, [4]), info("y", onnx.TensorProto.INT64, [1, "n"])
    graph = onnx.helper.make_graph([onnx.helper.make_node("NonZero", ["x"], ["y"])], "g", [x], [y])
    pteron.export_model(onnx.helper.make_model(graph), tmp_path / "places.pte")
    for name in ("control", "places"):
        words = ["amalgamate", str(tmp_path / f"{name}.pte"), "-o", str(tmp_path / "out")]
        assert main(words) == 2, name
        assert "--replaceable" in capsys.readouterr().err
        assert main([*words, "--replaceable"]) == 0, name


def test_a_kernel_list_has_what_the_program_uses_and_a_build_refuses_the_rest(
    root: Path, digits: Path, tmp_path: Path
) -> None:
    listed = tmp_path / "digits.h"
    source, out = root / "examples/digits/digits.onnx", tmp_path / "digits.pte"
    assert main(["export", str(source), "-o", str(out), "--kernel-list", str(listed), "-q"]) == 0
    kernels = kernels_of(read(out.read_bytes()))
    assert listed.read_text() == header(kernels, "digits.pte")
    assert "conv" in kernels.ops and ("max", "f32") in kernels.steps
    assert "#define PTE_WITHOUT_CONV\n" not in listed.read_text()
    assert "#define PTE_WITHOUT_ATTENTION\n" in listed.read_text()
    assert kernels.dtypes == {"f32"} and kernels.formats == {"plain"}


def test_the_pages_commands_run(root: Path, tmp_path: Path) -> None:
    page = (root / "docs/microcontrollers.md").read_text()
    commands = "".join(re.findall(r"```sh\n(.*?)```", page, flags=re.S))
    calls, replaced = re.findall(r"```c\n(.*?)```", page, flags=re.S)
    (tmp_path / "examples").symlink_to(root / "examples")
    both = [
        ("", calls + "int main(void) { return classify(); }\n"),
        (" --replaceable", replaced + "int main(void) { return start(NULL, 0); }\n"),
    ]
    for form, main_c in both:
        for line in commands.replace(" -o out\n", f"{form} -o out\n").splitlines():
            words = line.replace("-Os", "-O0").split()
            if words[0] == "pteron":
                words = [sys.executable, "-m", *words]
            subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
        (tmp_path / "out/main.c").write_text(main_c)
        sh("gcc", tmp_path / "out/main.c", tmp_path / "out/pteron_model.o", "-o", tmp_path / "run")
        sh(tmp_path / "run")
