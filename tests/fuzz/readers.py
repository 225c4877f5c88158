"""Bent files for every Python reader of files from elsewhere: each ends in a result, or in one line and exit code 3.

    python tests/fuzz/readers.py [COUNT [READER ...]]       COUNT bent files a reader, 2,000 unless told; SEED=n, KEEP=folder

A file is a valid one with bits flipped, cut off, numbers made telling, parts copied, keys doubled, nested, of other types or
with characters that command a terminal; then bombs of each kind. A process of its own reads them, with limits on memory and time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import decoders
import valid_files
from bent_files import bent, resealed, zip_of

ROOT: Final = Path(__file__).resolve().parents[2]
DIGITS: Final = ROOT / "examples/digits/digits.onnx"
SECONDS: Final = 20
"""Of the processor, for one file."""
MEMORY_BYTES: Final = 6 << 30
"""Of addresses beyond those that the process has when it begins."""


# --- bombs ------------------------------------------------------------------------------------------------------------


def npy(header: str, data: bytes = b"") -> bytes:
    head = header.encode() + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data


def bombs(name: str) -> Iterator[bytes]:
    if name in ("npz", "samples", "statistics", "journal"):
        huge = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }")
        yield zip_of({"image.npy": huge, "head.npy": huge, "report.npy": huge})
        yield huge
        yield zip_of(
            {
                "image.npy": npy(
                    "{'descr': '|u1', 'fortran_order': False, 'shape': (500000000,), }",
                    bytes(500000000),
                )
            }
        )
        yield npy(
            "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
            b"cos\nsystem\n(S'true'\ntR.",
        )
        yield npy("(" * 5000)
        yield zip_of(
            {
                "../../x.npy": huge,
                "a\x1b[2J.npy": npy(
                    "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", bytes(4)
                ),
            }
        )
    if name in ("recipe",):
        yield b"a: &a [x]\n" + b"".join(
            b"%c: &%c [*%c, *%c]\n" % (c + 1, c + 1, c, c) for c in range(97, 121)
        )
        yield b"format: nf4\nrules: [" + b"[" * 100000
        yield b"".join(b"k%d: 1\n" % i for i in range(100000))
        yield b"!!python/object/apply:os.system ['true']"
        yield b'format: "\\e[31mred"\n'
    if name == "tokenizer":
        for pattern in (
            "(((a{99}){99}){99})",
            "(a|b|c|d)*a" + "[a-d]" * 30,
            "[" * 9999,
            "(" * 9999,
        ):
            split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
            facts = {"pre_tokenizer": split | {"invert": False}, "model": {"vocab": {"a": 0}}}
            yield json.dumps(facts | {"model": facts["model"] | {"merges": []}}).encode()
        yield b'{"model": {"type": "BPE", "vocab": {"a": 4194303}, "merges": []}}'
    if name in ("ranges", "profile", "tokenizer"):
        yield b"[" * 10_000_000
        yield b'{"a":' * 100_000
        yield b"9" * 5_000_000
    if name == "gguf":
        yield struct.pack("<4sIQQ", b"GGUF", 3, 2**63, 2**63)
        yield (
            struct.pack("<4sIQQ", b"GGUF", 3, 0, 1)
            + struct.pack("<Q", 1)
            + b"k"
            + struct.pack("<I", 9)
            + struct.pack("<IQ", 9, 2**27) * 100000
        )
    if name == "safetensors":
        text = (
            b'{"a":{"dtype":"F32","shape":['
            + b"9" * 4000
            + b",1" * 2_000_000
            + b'],"data_offsets":[0,4]}}'
        )
        yield struct.pack("<Q", len(text)) + text
        yield struct.pack("<Q", 2_000_000) + b"[" * 2_000_000


# --- readers ----------------------------------------------------------------------------------------------------------


def read_checkpoint(path: Path) -> None:
    from pteron.export.checkpoint import read_checkpoint
    from pteron.export.checkpoint.weight import Weight

    for tensor in read_checkpoint(path).values():
        got = tensor.read()
        if isinstance(got, Weight):
            got.decoded()


def read_npz(path: Path) -> None:
    from pteron.cli.pairs import arrays

    arrays(path)


def read_samples(path: Path) -> None:
    import onnx_ir as ir

    from pteron.quantize.observe.samples import samples

    for sample in samples(ir.load(DIGITS), path, 4):
        len(sample)


def read_recipe(path: Path) -> None:
    from pteron.quantize.recipe.file import read_recipe

    read_recipe(path)


def read_ranges(path: Path) -> None:
    from pteron.quantize.observe.calibrate import ranges_of

    ranges_of(path.read_bytes(), path.name)


def read_statistics(path: Path) -> None:
    from pteron.quantize.observe.statistics import load

    read = load(path)
    for record in set(read.records.values()):
        read.read(record)


def read_profile(path: Path) -> None:
    from pteron.export.tune.profile import read_profile

    read_profile(path)


def read_journal(path: Path) -> None:
    """Not even a line: what is damaged is made again."""
    from pteron.quantize.encode.table import FORMATS
    from pteron.quantize.rounding.journal import Journal

    kept = Journal(path.parent)
    found = kept.rounded("key", FORMATS["nf4"])
    assert found is None or (found.encoded.codes == 1).all()


def read_tokenizer(path: Path) -> None:
    """What export writes, the runtime takes."""
    import pteron
    from pteron.export.file.emit import emit_bytes
    from pteron.export.program import Block, Method, Program
    from pteron.export.text import from_file
    from pteron.schema.errors import ModelError

    found = from_file(path)
    if found.segment is None:
        raise ModelError(found.reason)
    nothing = Program("m", blocks=(Block(()),), methods=(Method("main", (), (), (0, 0), 0),))
    tokenizer = pteron.load(emit_bytes(dataclasses.replace(nothing, text=found.segment))).tokenizer
    try:
        tokenizer.decode(tokenizer.encode("<s> ab 12 \u00e9"))
    except pteron.ProgramError as error:
        raise AssertionError(f"the runtime refused what was written: {error}") from error


def read_model(path: Path) -> None:
    import pteron

    pteron.export_model(path, path.with_name("out.pte"))


@dataclasses.dataclass(frozen=True)
class Reader:
    valid: Callable[[], Iterator[bytes]]
    file: str
    read: Callable[[Path], None]
    codes: tuple[int, ...] = (3,)
    """2, too, where a whole file may hold what does not fit the model."""
    share: int = 1
    """Of the files that are asked for, one in so many: an export takes as long as a hundred readings."""


READERS: Final = {
    "gguf": Reader(valid_files.gguf, "m.gguf", read_checkpoint),
    "safetensors": Reader(valid_files.safetensors, "m.safetensors", read_checkpoint),
    "npz": Reader(valid_files.npz, "x.npz", read_npz),
    "samples": Reader(valid_files.images, "x.npz", read_samples, (2, 3)),
    "recipe": Reader(valid_files.recipe, "r.yaml", read_recipe),
    "ranges": Reader(valid_files.ranges, "r.json", read_ranges),
    "statistics": Reader(valid_files.statistics, "s.npz", read_statistics),
    "profile": Reader(valid_files.profile, "p.json", read_profile),
    "journal": Reader(valid_files.journal, "key.npz", read_journal),
    "tokenizer": Reader(valid_files.tokenizer, "tokenizer.json", read_tokenizer),
    "onnx": Reader(valid_files.onnx, "m.onnx", read_model, share=10),
    "pt2": Reader(valid_files.pt2, "m.pt2", read_model, share=100),
    "config": Reader(decoders.configs, "config.json", decoders.read_config, share=2),
    "decoder": Reader(decoders.files, "m.gguf", decoders.build, share=2),
}


# --- files --------------------------------------------------------------------------------------------------------------


def files(name: str, count: int, seed: int, bombs_too: bool) -> Iterator[bytes]:
    valid = list(READERS[name].valid())
    yield from valid
    if bombs_too:
        yield from bombs(name)
    yield b""
    draw = random.Random(f"{name} {seed}")
    for _ in range(count):
        data = draw.choice(valid)
        yield (
            resealed(data, draw) if data[:2] == b"PK" and draw.random() < 0.6 else bent(data, draw)
        )


# --- trying -----------------------------------------------------------------------------------------------------------


class _Late(BaseException):
    pass


def _late(*_: object) -> None:
    raise _Late


def tried(reader: Reader, path: Path) -> str:
    """What is wrong with how a file was read; "" where nothing is."""
    from pteron.cli import _CODES, _text
    from pteron.schema.errors import PteronError
    from pteron.schema.printable import printable

    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        reader.read(path)
    except PteronError as error:
        code = next(code for kind, code in _CODES if isinstance(error, kind))
        lines = printable(_text(error)).split("\n")
        if code not in reader.codes:
            return f"exit code {code}: {type(error).__name__}: {lines[0][:150]}"
        if any(not line.startswith("  ") for line in lines[1:]) or len(lines[0]) > 5000:
            return f"{len(lines)} lines, the first of {len(lines[0])}: {lines[0][:100]}"
    except _Late:
        return f"more than {SECONDS} s"
    except BaseException as error:
        at = [
            f
            for f in traceback.extract_tb(error.__traceback__)
            if "pteron" in f.filename or str(ROOT) in f.filename
        ]
        where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(at[-2:]))
        return f"{type(error).__name__} at {where}: {str(error)[:100]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


def _limits() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGESIZE") + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _child(name: str, count: int, seed: int, bombs_too: bool, first: int, say: int) -> None:
    """Reads files from `first` on; a line each: its number and what is wrong."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = Path(folder) / READERS[name].file
        with contextlib.suppress(Exception):  # imports, before memory is limited
            path.write_bytes(next(READERS[name].valid()))
            READERS[name].read(path)
        _limits()
        for i, data in enumerate(files(name, count, seed, bombs_too)):
            if i < first:
                continue
            path.write_bytes(data)
            os.write(say, f"{i} begun\n".encode())
            if wrong := tried(READERS[name], path):
                keep(name, i, data)
                os.write(say, f"{i} {' '.join(wrong.split())}\n".encode(errors="replace"))
    os.write(say, b"end\n")


def keep(name: str, i: int, data: bytes) -> None:
    if folder := os.environ.get("KEEP"):
        Path(folder).mkdir(exist_ok=True)
        (Path(folder) / f"{name}-{i}").write_bytes(data)


def run(name: str, count: int, seed: int = 1, bombs_too: bool = True) -> tuple[int, Counter[str]]:
    """How many files were read, and what was wrong how often."""
    found, first, done = Counter[str](), 0, 0
    while True:
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            try:
                _child(name, count, seed, bombs_too, first, theirs)
            finally:
                os._exit(0)
        os.close(theirs)
        last, ended = first, False
        with os.fdopen(ours, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line == "end\n":
                    ended = True
                    break
                number, _, text = line.strip().partition(" ")
                last, done = int(number), done + (text == "begun")
                if text != "begun":
                    found[text] += 1
        _, status = os.waitpid(child, 0)
        if ended:
            return done, found
        found[f"file {last}: the process ended, {status}"] += 1
        first = last + 1


def main(argv: list[str]) -> int:
    count, names = int(argv[0]) if argv else 2000, argv[1:] or list(READERS)
    bad = 0
    for name in names:
        done, found = run(
            name, max(1, count // READERS[name].share), int(os.environ.get("SEED", "1"))
        )
        print(
            f"{name}: {done} files, {sum(found.values())} of them wrong, in {len(found)} ways",
            flush=True,
        )
        for text, times in found.most_common(40):
            print(f"  {times:5} {text}", flush=True)
        bad += len(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
