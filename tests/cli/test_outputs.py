"""What commands write is whole or not there, and never in the place of something that a user would miss."""

from __future__ import annotations

import errno
import functools
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import onnx
import pytest

import pteron
from pteron.cli import main
from pteron.export.capture.onnx import capture_onnx
from pteron.export.graph.save import save_onnx
from pteron.export.write import apart, write_whole

pytestmark = pytest.mark.slow

PTERON = [sys.executable, "-m", "pteron"]


@pytest.fixture
def model(root: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(root / "examples/digits/digits.onnx", tmp_path / "digits.onnx"))


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 400 KB, more than a small disk has."""
    path = tmp_path_factory.mktemp("wide") / "wide.onnx"
    weight = onnx.numpy_helper.from_array(np.ones((300, 350), np.float32), "w")
    ports = [
        onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1, k])
        for n, k in (("x", 300), ("y", 350))
    ]
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = onnx.helper.make_graph([node], "wide", ports[:1], ports[1:], [weight])
    opset = onnx.helper.make_opsetid("", 20)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=9), path)
    return path


def small_disk() -> None:
    """For a child: no file grows above 64 KiB, as on a disk that is full then."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))


def leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if p.name.startswith(".pteron-")]


# --- inputs stay -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "export {m} -o {m}",
        "export {m} -o {link}",
        "export {m} -o {hard}",
        "quantize {m} -o {m} --format nf4",
        "quantize {m} -o {other}.onnx --format nf4 --report {other}.json --ranges {m}",
        "quantize {m} -o {other}.onnx --format int8 --calibrate {npz} --ranges {npz}",
        "quantize {m} -o {other}.pte --format int8 --calibrate {npz} --ranges {other}.pte",
        "run {pte} -o {pte}",
        "run {pte} -i {npz} -o {npz}",
        "run {pte} -i image={npz} -o {npz}",
        "profile {pte} -o {pte}",
        "inspect {pte} --html {pte}",
    ],
)
def test_an_input_is_never_written_over(
    words: str, model: Path, digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link.onnx").symlink_to(model)
    os.link(model, tmp_path / "hard.onnx")
    shutil.copy(digits, tmp_path / "d.pte")
    np.savez(tmp_path / "in.npz", image=np.zeros((2, 1, 8, 8), np.float32))
    names = {"m": model, "link": tmp_path / "link.onnx", "hard": tmp_path / "hard.onnx"}
    names |= {"pte": tmp_path / "d.pte", "npz": tmp_path / "in.npz", "other": tmp_path / "other"}
    before = {p: p.read_bytes() for p in tmp_path.iterdir()}
    code = main([w.format(**names) for w in words.split()])
    error = capsys.readouterr().err
    assert code == 2 and len(error.splitlines()) == 1, error
    assert "expected" in error
    assert before == {p: p.read_bytes() for p in tmp_path.iterdir()}


def test_weights_beside_a_model_are_not_written_over(wide: Path, tmp_path: Path) -> None:
    path = tmp_path / "wide.onnx"
    onnx.save(onnx.load(wide), path, save_as_external_data=True, location="weights.bin")
    before = (tmp_path / "weights.bin").read_bytes()
    with pytest.raises(pteron.ArgumentError, match=r"weights.bin: expected another file than"):
        pteron.export_model(path, tmp_path / "weights.bin")
    assert (tmp_path / "weights.bin").read_bytes() == before


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    with pytest.raises(pteron.ArgumentError, match=r"another file than the output"):
        apart([tmp_path / "a", tmp_path / "x" / ".." / "a"], [])


# --- what is there keeps its kind ----------------------------------------------------------------


def test_a_kernel_list_that_cannot_be_written_leaves_no_program(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "m.pte"
    out.write_bytes(b"old")
    for path in ("/proc/k.h", "/dev/full"):  # no file can be there; its bytes find no room
        words = ["export", str(model), "-o", str(out), "--kernel-list", path, "-q"]
        assert main(words) == 5
        assert f"{path}: cannot be written" in capsys.readouterr().err
        assert out.read_bytes() == b"old" and not leftovers(tmp_path)


def test_a_kernel_list_is_of_a_program_that_goes_to_the_standard_output(
    model: Path, tmp_path: Path
) -> None:
    """Which cannot be read again: it waited for ever."""
    for out in ("/dev/stdout", tmp_path / "m.pte"):
        words = ["export", model, "-o", out, "--kernel-list", tmp_path / f"{Path(out).stem}.h"]
        done = subprocess.run(
            [*PTERON, *words, "-q"], stdout=subprocess.PIPE, timeout=120, check=True
        )
        if out == "/dev/stdout":
            piped = done.stdout
    assert piped == (tmp_path / "m.pte").read_bytes()
    lists = [(tmp_path / f"{name}.h").read_text().splitlines()[1:] for name in ("stdout", "m")]
    assert lists[0] == lists[1]


def test_mode_and_links_stay(model: Path, tmp_path: Path) -> None:
    real = tmp_path / "folder" / "real.pte"
    real.parent.mkdir()
    real.write_bytes(b"old")
    real.chmod(0o640)
    link = tmp_path / "link.pte"
    link.symlink_to("folder/real.pte")
    pteron.export_model(model, link)
    assert link.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640
    assert pteron.load(link).info.name == "main"
    dangling = tmp_path / "dangling.pte"
    dangling.symlink_to("folder/new.pte")
    pteron.export_model(model, dangling)
    assert dangling.is_symlink() and pteron.load(tmp_path / "folder/new.pte")


def test_a_new_file_has_the_mode_of_the_umask(model: Path, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        pteron.export_model(model, tmp_path / "m.pte")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m.pte").stat().st_mode) == 0o640


def test_the_standard_output_gets_the_program_and_nothing_else(model: Path, tmp_path: Path) -> None:
    command = [*PTERON, "export", model, "-q", "-o", "/dev/stdout"]
    piped = subprocess.run(command, capture_output=True, check=True)
    pteron.export_model(model, tmp_path / "m.pte")
    assert piped.stdout == (tmp_path / "m.pte").read_bytes()
    assert b"constants" in piped.stderr
    with (tmp_path / "file").open("wb") as file:
        file.write(b"before")
        file.flush()
        subprocess.run(command, stdout=file, check=True, stderr=subprocess.DEVNULL)
        file.write(b"after")
    assert (tmp_path / "file").read_bytes() == b"before" + piped.stdout + b"after"


def test_an_open_descriptor_is_written_not_replaced(digits: Path, tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        name = f"/dev/fd/{file.fileno()}"
        command = [*PTERON, "run", digits, "-o", name]
        subprocess.run(command, pass_fds=[file.fileno()], check=True, capture_output=True)
        assert os.fstat(file.fileno()).st_size > 0
    assert np.load(tmp_path / "file")["logits"].shape == (1, 10)


def test_a_pipe_stays_one_and_gets_everything(digits: Path, tmp_path: Path) -> None:
    fifo, got = tmp_path / "fifo", list[bytes]()
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))
    reader.start()
    assert main(["profile", str(digits), "--runs", "1", "-o", str(fifo)]) == 0
    reader.join()
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert json.loads(got[0])["traceEvents"]


# --- disks that are full, folders that are closed ---------------------------------------------------

WRITES = [
    "export {wide} -o {out}/m.pte",
    "quantize {wide} -o {out}/m.onnx --format int8 --rule w=skip",
    "quantize {wide} -o {out}/m.pte --format int8 --rule w=skip",
    "run {big} -o {out}/y.npz",
    "profile {deep} --runs 5 -o {out}/t.json",
    "inspect {deep} --html {out}/p.html",
]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, wide: Path) -> dict[str, Path]:
    """`big` has an output of 400 KB, `deep` a page of more than 64 KB."""
    folder = tmp_path_factory.mktemp("programs")
    f = onnx.TensorProto.FLOAT
    x = onnx.helper.make_tensor_value_info("x", f, [400, 256])

    def save(nodes: list[onnx.NodeProto], last: str, name: str, **options: bool) -> Path:
        y = onnx.helper.make_tensor_value_info(last, f, [400, 256])
        graph = onnx.helper.make_graph(nodes, name, [x], [y])
        made = onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9
        )
        pteron.export_model(made, folder / f"{name}.pte", **options)
        return folder / f"{name}.pte"

    sines = [
        onnx.helper.make_node("Sin", [f"x{i}" if i else "x"], [f"x{i + 1}"]) for i in range(400)
    ]
    big = save([onnx.helper.make_node("Sin", ["x"], ["y"])], "y", "big")
    return {"big": big, "deep": save(sines, "x400", "deep", fuse=False), "wide": wide}


@pytest.mark.parametrize("words", WRITES)
def test_a_full_disk_is_one_line_and_nothing_is_left(
    words: str, programs: dict[str, Path], tmp_path: Path
) -> None:
    names = {**programs, "out": tmp_path}
    command = [*PTERON, *(w.format(**names) for w in words.split())]
    target = Path(next(w for w in command if w.startswith(f"{tmp_path}/")))
    target.write_bytes(b"old")
    done = subprocess.run(command, preexec_fn=small_disk, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 5, done.stderr
    assert f"{target}: cannot be written: File too large; nothing was changed" in last
    assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == [target.name]
    assert target.read_bytes() == b"old"


@pytest.mark.parametrize(
    "words",  # quantize takes what to write from the suffix
    [w for w in WRITES if "quantize" not in w],
)
def test_a_device_that_takes_nothing_is_one_line(words: str, programs: dict[str, Path]) -> None:
    words = " ".join("/dev/full" if "{out}" in w else w for w in words.split())
    command = [*PTERON, *(w.format(**programs) for w in words.split())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 5 and "Traceback" not in done.stderr
    assert "/dev/full: cannot be written: No space left on device" in done.stderr


def test_a_report_that_cannot_be_printed_is_one_line(digits: Path) -> None:
    with Path("/dev/full").open("w") as full:
        for words in (["inspect", digits], ["inspect", digits, "--json"], ["doctor"]):
            done = subprocess.run([*PTERON, *words], stdout=full, stderr=subprocess.PIPE, text=True)
            assert done.returncode == 5, done.stderr
            assert (
                len(done.stderr.splitlines()) == 1
                and "printed cannot be written: No space left" in done.stderr
            )


def test_a_reader_that_leaves_is_no_error(digits: Path) -> None:
    command = f"{sys.executable} -m pteron inspect {digits} --all --json | head -c 10"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr


@pytest.mark.parametrize(
    "closed, said",
    [
        (">&-", b""),
        ("2>&-", b"logits"),
        (">&- 2>&-", b""),
        ("<&-", b"logits"),
        ("2>/dev/full", b"logits"),
    ],
)
def test_a_closed_stream_is_nobody_who_listens(
    closed: str, said: bytes, digits: Path, model: Path, tmp_path: Path
) -> None:
    def shell(words: str) -> tuple[int, bytes, bytes]:
        line = f"'{sys.executable}' -m pteron {words} {closed}"
        done = subprocess.run(["bash", "-c", line], capture_output=True)
        return done.returncode, done.stdout, done.stderr

    code, out, err = shell(f"run '{digits}' -o '{tmp_path}/y.npz'")
    assert (code, err) == (0, b"") and out.startswith(said) and bool(out) == bool(said)
    assert np.load(tmp_path / "y.npz")["logits"].shape == (1, 10)
    code, _, err = shell(f"export '{model}' -o '{tmp_path}/m.pte'")
    assert code == 0 and b"Traceback" not in err
    assert pteron.load(tmp_path / "m.pte")
    assert shell("run nowhere.pte")[0] == 2


@pytest.mark.parametrize("words", ["--help", "--version", "run --help"])
def test_help_that_cannot_be_printed_is_an_error(words: str) -> None:
    line = f"'{sys.executable}' -m pteron {words} >/dev/full"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.returncode == 5 and len(done.stderr.splitlines()) == 1, done.stderr


def test_a_program_comes_through_a_pipe(digits: Path) -> None:
    for command in ("run", "verify", "inspect", "profile --runs 1", "bench --runs 1"):
        line = f"cat '{digits}' | '{sys.executable}' -m pteron {command} /dev/stdin"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), command


def test_a_folder_that_cannot_be_written_is_one_line(digits: Path) -> None:
    done = subprocess.run(
        [*PTERON, "run", digits, "-o", "/proc/self/out.npz"], capture_output=True, text=True
    )
    assert done.returncode == 5 and len(done.stderr.splitlines()) == 1
    assert "/proc/self/out.npz: cannot be written" in done.stderr


def test_a_file_that_may_not_be_written_stays(digits: Path, tmp_path: Path) -> None:
    """Root may write anything, unless that capability is taken away."""
    words = [*PTERON, "inspect", digits, "--html", tmp_path / "p.html"]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("needs setpriv of util-linux, for root")
        words = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override", *words]
    (tmp_path / "p.html").write_text("mine")
    (tmp_path / "p.html").chmod(0o444)
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 5 and len(done.stderr.splitlines()) == 1, done.stderr
    assert "p.html" in done.stderr and (tmp_path / "p.html").read_text() == "mine"


def test_large_models_are_two_files_or_none(wide: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.onnx"
    save_onnx(capture_onnx(wide), out, whole_bytes=1000)
    made = onnx.load(out)
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(made.graph.initializer[0]), 1)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert set(before) == {"m.onnx", "m.onnx.data"}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
    try:
        with pytest.raises(pteron.OutputError, match="nothing was changed"):
            save_onnx(capture_onnx(wide), out, whole_bytes=1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert before == {p.name: p.read_bytes() for p in tmp_path.iterdir()}


# --- killed runs -----------------------------------------------------------------------------------


def test_a_power_cut_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes are on the disk before the name is the file's, the name before anybody is told."""
    said: list[str] = []
    sync, move = os.fsync, Path.replace

    def synced(number: int) -> None:
        said.append(f"sync {Path(f'/proc/self/fd/{number}').readlink()} {os.fstat(number).st_size}")
        sync(number)

    def moved(part: Path, target: Path) -> Path:
        said.append(f"move {part}")
        return move(part, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", moved)
    write_whole(tmp_path / "m.pte", lambda part: part.write_bytes(b"whole") and None)
    first, second, third = said
    part = second.removeprefix("move ")
    assert first == f"sync {part} 5" and third.startswith(f"sync {tmp_path} ")


def test_the_part_of_a_killed_run_is_swept_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from pteron.export.write import write_whole\n"
        "write_whole(Path(sys.argv[1]), lambda part: (part.write_bytes(b'half'), print('.', flush=True), time.sleep(60)))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "a"], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline()
    write_whole(tmp_path / "b", lambda part: part.touch())
    assert len(leftovers(tmp_path)) == 1
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert len(leftovers(tmp_path)) == 1
    write_whole(tmp_path / "b", lambda part: part.touch())
    assert not leftovers(tmp_path) and not (tmp_path / "a").exists()


def test_the_interrupt_key_is_one_line_while_modules_are_loaded() -> None:
    """`numpy` here is a module that says so and waits."""
    code = (
        "import sys, types, time\n"
        "class Slow:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'numpy':\n"
        "            sys.stdout.write('loading\\n'); sys.stdout.flush(); time.sleep(60)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "from pteron.__main__ import main\n"
        "sys.argv = ['pteron', 'doctor']\n"
        "sys.exit(main())\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert started.stdout is not None and started.stdout.readline() == "loading\n"
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (130, "pteron: interrupted\n")


def test_the_interrupt_key_leaves_nothing(programs: dict[str, Path], tmp_path: Path) -> None:
    command = [*PTERON, "profile", programs["big"], "--runs", "1000000", "-o", tmp_path / "t.json"]
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # ignored behind `&`
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heed)
    ends = time.monotonic() + 60
    while str(programs["big"]) not in Path(f"/proc/{child.pid}/maps").read_text():
        assert time.monotonic() < ends, "the program was not opened"
        time.sleep(0.1)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=30)
    assert child.returncode == 130 and error == "pteron profile: interrupted\n"
    assert not list(tmp_path.iterdir())


def test_names_that_are_no_utf8_are_names(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of what is read and of what is written, in pages too."""
    odd = Path(os.fsdecode(bytes(tmp_path) + b"/m\xff\xe9"))
    source, program = odd.with_suffix(".onnx"), odd.with_suffix(".pte")
    page, trace = odd.with_suffix(".html"), odd.with_suffix(".json")
    model.rename(source)
    for words in (
        ["export", source, "-q", "-o", program, "--report", page],
        ["quantize", source, "-q", "-o", program, "--format", "nf4", "--report", page],
        ["inspect", program, "--html", page],
        ["profile", program, "--runs", "1", "-o", trace, "--html", page],
        ["run", program, "-o", odd.with_suffix(".npz")],
    ):
        page.unlink(missing_ok=True)
        assert main(list(map(str, words))) == 0
        if page in words:
            assert "\\udcff\\udce9" in page.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["bench", str(program), "--runs", "1", "--vs-onnx", str(source)]) in (0, 2)
    assert len(capsys.readouterr().err.splitlines()) <= 1


# --- several files appear together -------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".json", ".html"])
@pytest.mark.parametrize(
    "words",
    [
        "quantize {m} -o {out}.onnx --format nf4 --report {report} -q",
        "quantize {m} -o {out}.pte --format nf4 --report {report} -q",
        "export {m} -o {out}.pte --report {report} -q",
    ],
)
def test_an_output_whose_report_finds_no_room_is_not_there(
    words: str, suffix: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    folder = tmp_path / "out"
    folder.mkdir()
    names = {"m": model, "out": folder / "q", "report": folder / f"r{suffix}"}
    for word in words.format(**names).split():
        if word.startswith(str(folder / "q")):
            Path(word).write_bytes(b"before")
    before = {p.name: p.read_bytes() for p in folder.iterdir()}

    def full(part: Path, text: str) -> None:
        part.write_text(text[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pteron.export.write._fill", full)
    assert main(words.format(**names).split()) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert f"r{suffix}: cannot be written: No space left on device; nothing was changed" in line
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    monkeypatch.undo()
    assert main(words.format(**names).split()) == 0
    assert {p.name for p in folder.iterdir()} == {*before, f"r{suffix}"}


def test_a_journal_outlives_an_output_that_found_no_place(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (
        f"quantize {model} -o {tmp_path}/q.onnx --format nf4 --report {tmp_path}/r.json --resume -q"
    )

    def full(part: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pteron.export.write._fill", full)
    assert main(words.split()) != 0
    kept = tmp_path / "q.onnx.journal"
    assert kept.is_dir() and len(list(kept.iterdir())) > 1
    monkeypatch.undo()
    assert main(words.split()) == 0
    assert not kept.exists() and (tmp_path / "q.onnx").exists()
