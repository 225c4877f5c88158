"""README's table of speed, from the tables that `make bench` and `make bench-text` wrote: python benchmarks/front.py

Rewrites what stands between the two marks in README.md. Times of one thread; a ratio is Pteron's time over the fastest other's, of
the pairs that were measured by turns.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BEGIN: Final = "<!-- speed: benchmarks/front.py -->\n"
END: Final = "<!-- end of speed -->\n"
ROWS: Final = {
    "resnet50": "ResNet-50, f32",
    "resnet50-int8": "ResNet-50, int8 (static)",
    "mobilenetv2": "MobileNetV2, f32",
    "mobilenetv2-int8": "MobileNetV2, int8 (static)",
    "encoder": "text encoder, 128 tokens, f32",
    "encoder-dynamic": "text encoder, int8 (dynamic)",
    "vit": "ViT, f32",
    "vit-dynamic": "ViT, int8 (dynamic)",
}
"""Of RESULTS.md."""
PEERS: Final = ("onnxruntime", "openvino")


def main() -> None:
    readme = ROOT / "README.md"
    readme.write_text(filled(readme.read_text()))


def filled(text: str) -> str:
    """The page with the table of today's results."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table() + END + after


def table() -> str:
    results = (ROOT / "benchmarks/RESULTS.md").read_text()
    times = measured(results)
    lines = [
        "| one thread | Pteron | ONNX Runtime | OpenVINO | Pteron / fastest |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, title in ROWS.items():
        ours, *theirs = (times[name][runtime] for runtime in ("pteron", *PEERS))
        cells = [f"{float(ms):.1f} ms" for ms, _ in (ours, *theirs)]
        ratio = max(float(r) for _, r in theirs)
        lines.append(f"| {title} | {' | '.join(cells)} | {ratio:.2f} |")
    text = (ROOT / "benchmarks/TEXT.md").read_text()
    rates = decoding(text)
    machine = found(r"^## (.*?), 2 processors", text)
    versions = found(r"^AMD EPYC, .*?; (.*?), oneDNN", results)
    lines += [
        "",
        f"Decoding 246 M parameters in 4 bits behind 128 tokens: **{rates['pteron']} tokens/s**, llama.cpp {rates['llama.cpp']}, "
        f"ONNX Runtime GenAI {rates['onnxruntime-genai']}.",
        f"{machine}, random weights; {versions}. All rows, other processors and the commands: [benchmarks](benchmarks/README.md).",
    ]
    return "\n".join(lines) + "\n"


def found(pattern: str, text: str) -> str:
    """The group of the pattern, where it is found first."""
    match = re.search(pattern, text, re.M)
    assert match is not None, pattern
    return match[1]


def measured(results: str) -> dict[str, dict[str, tuple[str, str]]]:
    """Of each model with one thread: runtime -> (ms, ratio)."""
    rows: dict[str, dict[str, tuple[str, str]]] = {}
    model = threads = ""
    for line in results.splitlines():
        cells = [c.strip() for c in line.split("|")[1:-1]]
        if len(cells) < 5 or not re.fullmatch(r"[\d.]+", cells[3]):
            continue
        model, threads = cells[0] or model, cells[1] or threads
        if threads == "1":
            rows.setdefault(model, {})[cells[2]] = (cells[3], cells[4])
    return rows


def decoding(text: str) -> dict[str, str]:
    """Of the first machine, 128 tokens, one thread: runtime -> tokens a second."""
    section = text.split("\n## ")[1]
    rows = re.findall(r"^\| 128 \| 1 \| (\S+).*? \| ([\d]+) \(", section, re.M)
    return dict(reversed(rows))


if __name__ == "__main__":
    main()
