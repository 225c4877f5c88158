"""The page of examples/web in a headless browser, its digests beside the desk's; and pteron.js in Node on other programs."""

from __future__ import annotations

import functools
import gzip
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import pteron

pytestmark = pytest.mark.boards
FORMATS = (None, "nf4", "mxfp4", "mxfp6", "int4", "int8", "fp8-e4m3")
SCRIPT = """
import fs from "node:fs";
import { compile, load } from "./pteron.js";
const module = await compile(fs.readFileSync("pteron.wasm"));
const raw = fs.readFileSync("images.f32"), data = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length));
const out = {};
for (const name of process.argv.slice(2)) {
  const model = await load(module, fs.readFileSync(name));
  for (const rows of [2, 5, 2]) { // other sizes are prepared for, and the first ones again
    const image = { data: data.slice(0, 64 * rows), shape: [rows, 1, 8, 8] };
    const { logits } = model.run({ image });
    out[`${name} ${rows}`] = [logits.shape, Buffer.from(logits.data.buffer).toString("hex")];
  }
}
const bytes = new Uint8Array(fs.readFileSync(process.argv[2]));
const refused = async (work) => work().then(() => "taken", (error) => `${error.name}: ${error.message}`);
out.damaged = await refused(() => load(module, bytes.map((b, i) => (i === 300 ? b ^ 1 : b))));
const model = await load(module, bytes);
out.wide = await refused(async () => model.run({ image: { data: new Float64Array(64), shape: [1, 1, 8, 8] } }));
out.unknown = await refused(async () => model.run({ picture: { data: new Float32Array(64), shape: [1, 1, 8, 8] } }));
console.log(JSON.stringify(out));
"""


def need(*tools: str) -> None:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@pytest.fixture(scope="module")
def site(root: Path) -> Path:
    """build/web: what `make web` makes."""
    need("clang-19", "wasm-ld-19", "make")
    pytest.importorskip("transformers", reason="transformers is not installed: make dev-torch")
    home = Path(os.environ.get("VIRTUAL_ENV", root / ".venv"))
    command = ["make", "-s", "-o", f"{home}/.dev", "-o", f"{home}/.torch", f"VENV={home}", "web"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return root / "build/web"


def test_it_is_under_400_kilobytes_compressed(site: Path) -> None:
    assert len(gzip.compress((site / "pteron.wasm").read_bytes(), 9)) < 200 * 1024


def test_programs_give_the_bytes_of_this_machine_in_node(
    site: Path, root: Path, tmp_path: Path
) -> None:
    need("node")
    images = (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)
    for name in ("pteron.js", "pteron.wasm"):
        shutil.copy(site / name, tmp_path)
    (tmp_path / "images.f32").write_bytes(images[:5].tobytes())
    (tmp_path / "run.mjs").write_text(SCRIPT)
    source, want = root / "examples/digits/digits.onnx", {}
    static = {"quantize": "int8", "calibrate": {"image": images}}
    ways = {f"{name}.pte": {"quantize": name} for name in FORMATS} | {"static.pte": static}
    for name, how in ways.items():
        pteron.export_model(source, tmp_path / name, **how)
        with pteron.load(tmp_path / name, threads=1) as model:
            for rows in (2, 5):
                want[f"{name} {rows}"] = [[rows, 10], model(images[:rows]).tobytes().hex()]
    command = ["node", "run.mjs", *ways]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    got = json.loads(done.stdout)
    assert "digest" in got.pop("damaged")
    assert "expected a Float32Array of rank 4" in got.pop("wide")
    assert "picture: no such input" in got.pop("unknown")
    assert got == want


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = {
            **http.server.SimpleHTTPRequestHandler.extensions_map,
            ".wasm": "application/wasm",
        }

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(site))
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
    server.shutdown()
    server.server_close()


def test_the_page_computes_what_the_desk_computes(address: str, tmp_path: Path) -> None:
    need("chromium")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=120000"]
    flags += [f"--user-data-dir={tmp_path}/profile", "--window-size=800,1000"]
    command = ["chromium", *flags, "--dump-dom", address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    dom = done.stdout
    state = re.search(r'<p id="state"[^>]*>(.*?)</p>', dom)
    assert state is not None and state[1] == "all digests equal", dom[-3000:]
    assert dom.count(", equal</td>") == 3
    assert re.search(r'id="digit"[^>]*>\d<', dom)
