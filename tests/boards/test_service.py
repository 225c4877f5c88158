"""examples/c/serve.c: answers with the bytes of this machine, outlives what is wrong, goes on a signal."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from boards import sdk

import pteron

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, out = sdk.unpacked(sdk.TARGETS[0]), tmp_path_factory.mktemp("serve") / "serve"
    warnings = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined")
    source, library = folder / "examples/serve.c", folder / "lib/libpteron.a"
    sdk.sh("cc", *warnings, f"-I{folder}/include", source, library, "-pthread", "-o", out)
    return out


@pytest.fixture
def service(binary: Path, digits: Path, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "socket"
    with subprocess.Popen([binary, digits, path, "batch=3"], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline().endswith(b"768 bytes in, 120 bytes out\n")
        yield path
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) == 0
    assert not path.exists()


def ask(path: Path, *requests: bytes) -> list[tuple[int, bytes]]:
    """On one connection."""
    out = []
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(str(path))
        file = s.makefile("rb")
        for request in requests:
            s.sendall(struct.pack("=I", len(request)) + request)
            status, count = struct.unpack("=II", file.read(8))
            out.append((status, file.read(count)))
    return out


def test_it_answers_with_the_bytes_of_this_machine(service: Path, digits: Path, root: Path) -> None:
    images = (np.load(root / "examples/digits/test.npz")["image"][:6] / 16).astype(np.float32)
    with pteron.load(digits, threads=1) as model:
        want = [(0, model(images[at : at + 3]).tobytes()) for at in (0, 3)]
    assert ask(service, images[:3].tobytes(), images[3:].tobytes()) == want


def test_a_wrong_request_ends_its_connection_alone(service: Path) -> None:
    ((status, text),) = ask(service, b"x" * 8)
    assert status != 0 and text == b"request: expected 768 bytes, got 8"
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(service))
        s.sendall(struct.pack("=I", 768) + b"half")
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(service))
    ((status, answer),) = ask(service, bytes(768))
    assert status == 0 and len(answer) == 120
