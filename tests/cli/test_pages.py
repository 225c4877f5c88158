"""HTML pages: one file each, what it must name is in it, and no name of a model is taken for HTML."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

import pteron
from pteron.cli import main
from pteron.cli.describe import InstrRow, Placed, Plan
from pteron.cli.pages.graph import paths
from pteron.cli.pages.program import fitting, picture
from pteron.quantize.report import LayerReport, QuantReport
from pteron.reports.quantization import quantization_page
from pteron.reports.template import Number, broken, lasting, modules, outline, page, place, table

STATES = """<ir_version: 9, opset_import: ["" : 20]>
g (float[2] x, float[2] a, float[2] b) => (float[2] y, float[2] aa, float[2] bb) {
  ["l.0/Add"] aa = Add (x, a)
  ["l.0/Erf"] h = Erf (aa)
  s = ReduceMax <keepdims = 0> (h)
  zero = Constant <value = float {0}> ()
  c = Less (s, zero)
  i = If (c) <
    then_branch = t () => (float[2] n) { n = Softmax (h) },
    else_branch = e () => (float[2] m) { k = Softmax (h) m = Softmax (k) }
  >
  ["l.1/Add"] bb = Add (i, b)
  ["l.1/Erf"] y = Erf (bb)
}"""

EVIL = "<img src=x onerror=alert(1)>&\"'"
VOID = {"meta", "line", "wbr", "rect"}
OPTIONAL = {"tr", "th", "td", "tbody", "thead", "li", "p", "html", "body", "head"}


class Box(NamedTuple):
    """Of the graph as it is drawn."""

    x: float
    y: float
    w: float
    h: float

    def within(self, other: Box) -> bool:
        across = other.x <= self.x and self.x + self.w <= other.x + other.w
        return across and other.y <= self.y and self.y + self.h <= other.y + other.h


class Reader(HTMLParser):
    """Elements with their attributes, texts, and whether what must be closed is."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID | OPTIONAL:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID | OPTIONAL:
            assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def stands_alone(text: str) -> Reader:
    """Reads a page: nothing in it asks for another file, links lead within it, ids are there once, all is closed."""
    read = Reader(text)
    assert not read.open
    assert not {t for t, _ in read.tags} & {"link", "img", "iframe", "object"}
    ids = [a["id"] for _, a in read.tags if "id" in a]
    assert len(ids) == len(set(ids))
    links = [a["href"] for _, a in read.tags if "href" in a]
    assert all(link and link[0] == "#" and link[1:] in ids for link in links)
    assert not any("src" in a for _, a in read.tags)
    assert not re.search(r"url\(|@import|https?://", text)
    return read


def test_the_page_of_a_program_has_names_peak_modules_and_tables(
    digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(digits), "--html", str(tmp_path / "p.html")]) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'p.html'}\n"
    text = (tmp_path / "p.html").read_text()
    read = stands_alone(text)
    assert '<text class="name"' in text and ">second.0/Conv</text>" in text
    assert "peak 8.0 KiB at #1 second.0/Conv" in read.texts
    summaries = [read.texts[i] for i, t in enumerate(read.texts) if t in ("first.0", "head")]
    assert summaries == ["first.0", "head"]
    assert sum(t == "th" and "aria-sort" in a for t, a in read.tags) > 10
    assert any("width=device-width" in str(a.get("content")) for t, a in read.tags if t == "meta")
    assert "prefers-color-scheme: dark" in text
    for width in (1100, 380):  # the plan on a desk and on a phone
        assert f'viewBox="0 0 {width} ' in text


def drawn(page: Path) -> dict[str, Any]:
    """The data of its first graph."""
    found = re.search(r"<script type='application/json'>(.*?)</script>", page.read_text(), re.S)
    assert found
    return dict(json.loads(found[1]))


def parts(folder: Path) -> Path:
    """Concat of x and Relu(x): the page of a program whose output two instructions write."""
    ports = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [s, 4]) for n, s in (("x", 2), ("y", 4))
    ]
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="a.b/Relu"),
        helper.make_node("Concat", ["x", "r"], ["y"], name="a.c/Concat", axis=0),
    ]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    pteron.export_model(made, folder / "m.pte")
    assert main(["inspect", str(folder / "m.pte"), "--html", str(folder / "m.html")]) == 0
    return folder / "m.html"


def test_the_graph_knows_who_writes_what(tmp_path: Path) -> None:
    data = drawn(parts(tmp_path))
    assert data["inputs"] == ["x"] and {row[2] for row in data["instrs"]} == {"a.b", "a.c"}
    ((name, makers),) = data["outputs"]
    rows = data["instrs"]
    assert name == "y" and makers == [i for i, row in enumerate(rows) if row[2] == "a.c"]
    (relu,) = [i for i, row in enumerate(rows) if row[2] == "a.b"]
    assert rows[relu][5] == ["x"] and [rows[i][5] for i in makers] == [["x"], [relu]]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium, to draw")
def test_a_browser_draws_the_graph_and_folds_it(tmp_path: Path) -> None:
    """Boxes of what is in sight, before and after all is folded."""
    page = parts(tmp_path)
    folded = page.read_text().replace(
        "</script></html>",
        ";[...document.querySelectorAll('button')].at(-1).click()</script></html>",
    )
    (tmp_path / "folded.html").write_text(folded)
    seen = []
    for each in (page, tmp_path / "folded.html"):
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        done = subprocess.run(
            [*command, each.as_uri()], capture_output=True, text=True, timeout=600
        )
        boxes = re.findall(r'<g transform="[^"]*" class="(\w+)"', done.stdout)
        seen.append((sorted(boxes), done.stdout.count("<path")))
    (unfolded, lines), (folded, fewer) = seen
    assert unfolded == ["leaf"] * 3 + ["open"] * 2 + ["port"] * 2
    assert folded == ["leaf", "open", "port", "port", "shut"]
    assert 0 < fewer < lines


def test_the_page_of_a_quantization_sorts_by_error(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    words = [root / "examples/digits/digits.onnx", "-o", tmp_path / "q.pte", "-q", "--report", out]
    assert main(["quantize", *map(str, words), "--format", "nf4", "--rule", "^head$=skip"]) == 0
    read = stands_alone(out.read_text())
    values = [
        float(str(a["data-v"])) for t, a in read.tags if t == "td" and a.get("class") == "bars"
    ]
    assert len(values) == 3 and all(10 < v < 40 for v in values)
    assert "Left as they are: head." in read.texts


@pytest.mark.parametrize(
    "metric, heads", [("cosine", {"loss"}), ("top1", {"another largest element"})]
)
def test_the_page_of_a_quantization_draws_its_front(
    metric: str, heads: set[str], root: Path, tmp_path: Path
) -> None:
    """The loss in words of its metric, and a point for the model as it is and for each layer that a rule mends."""
    folder = root / "examples/digits"
    words = [folder / "digits.onnx", "-o", tmp_path / "q.pte", "-q", "--format", "nf4"]
    given = ["--evaluate", folder / "calibration.npz", "--metric", metric]
    for out in (tmp_path / "r.html", tmp_path / "r.json"):
        assert main(["quantize", *map(str, [*words, *given, "--report", out])]) == 0
    read = stands_alone((tmp_path / "r.html").read_text())
    assert heads | {"Size against accuracy"} <= set(read.texts)
    assert ("loss" in read.texts[: read.texts.index("Layers")]) == (metric == "cosine")
    points = json.loads((tmp_path / "r.json").read_text())["front"]
    assert len(points) == sum(t == "circle" for t, _ in read.tags) == 5
    assert [p["bytes"] for p in points] == sorted({p["bytes"] for p in points})
    assert [p["left"] for p in points] == sorted((p["left"] for p in points), reverse=True)
    saved = [a["left"] - b["left"] for a, b in itertools.pairwise(points)]
    taken = [b["bytes"] - a["bytes"] for a, b in itertools.pairwise(points)]
    worth = [s / t for s, t in zip(saved, taken, strict=True)]
    assert points[0]["mended"] == "" and worth == sorted(worth, reverse=True)


def test_the_page_of_a_quantization_says_its_perplexity() -> None:
    report = QuantReport("nf4", loss=12.5, exact=12.25, metric="perplexity")
    read = stands_alone(quantization_page(report))
    assert {"perplexity in f32", "12.25", "perplexity", "12.5"} <= set(read.texts)


def test_the_layers_in_red_are_those_that_cost_most() -> None:
    """By their losses where these were measured, whatever the ratio of signal to noise."""
    rows = [
        LayerReport(
            f"l{i}", "MatMul", "nf4", (64, 64), 4.25, 0.01 * (1 + i), 1.0, 0.1, loss=12.0 - i
        )
        for i in range(12)
    ]
    text = quantization_page(QuantReport("nf4", rows))
    assert re.findall(r"<td>(l\d+)<td class=bars[^>]*><span class='bar bad'", text) == [
        f"l{i}" for i in range(10)
    ]


def test_the_page_of_a_calibration_has_the_grids(root: Path, tmp_path: Path) -> None:
    folder, out = root / "examples/digits", tmp_path / "r.html"
    words = [folder / "digits.onnx", "-o", tmp_path / "q.onnx", "-q", "--report", out]
    calibrate = ["--format", "int8", "--calibrate", str(folder / "calibration.npz")]
    assert main(["quantize", *map(str, words), *calibrate]) == 0
    assert "Activations" in stands_alone(out.read_text()).texts


def test_the_page_of_a_profile_has_shares(digits: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.html"
    assert main(["profile", str(digits), "--runs", "2", "--html", str(out)]) == 0
    read = stands_alone(out.read_text())
    assert "second.0" in read.texts and any(re.fullmatch(r"[\d.]+%", t) for t in read.texts)


def test_the_page_of_an_export_tells_what_became_of_it_or_why_not(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = root / "examples/digits/digits.onnx", tmp_path / "r.html"
    words = [str(model), "-q", "-o", str(tmp_path / "d.pte"), "--report"]
    assert main(["export", *words, str(out), "--delegate", "null,cpu", "--fix", "batch=1"]) == 0
    read = stands_alone(out.read_text())
    assert {"Exported", "Placement", "Stages", "conv"} <= set(read.texts)
    f = TensorProto.FLOAT
    ports = [helper.make_tensor_value_info(n, f, [4]) for n in "xy"]
    node = helper.make_node("Nope", ["x"], ["y"], name=f"{EVIL}n", domain="other.tools")
    graph = helper.make_graph([node], "g", ports[:1], ports[1:])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("other.tools", 1)]
    bad = tmp_path / "bad.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), bad)
    assert main(["export", str(bad), "-q", "--report", str(out)]) == 3
    read = stands_alone(out.read_text())
    assert "Not exported" in read.texts and f"{EVIL}n" in read.texts
    assert main(["export", str(bad), "-q", "--report", str(tmp_path / "r.json")]) == 3
    facts = json.loads((tmp_path / "r.json").read_text())
    assert facts["error"]["kind"].endswith("Error") and "Nope" in facts["error"]["text"]
    assert not (tmp_path / "bad.pte").exists()


def test_names_of_a_model_are_no_html(tmp_path: Path) -> None:
    """Whoever is sent a model, and sends its page on, runs nothing of the model's maker."""
    f = TensorProto.FLOAT
    ports = [helper.make_tensor_value_info(f"{EVIL}{n}", f, [f"{EVIL}", 4]) for n in "xy"]
    weight = onnx.numpy_helper.from_array(np.ones((4, 4), np.float32), f"{EVIL}w")
    node = helper.make_node(
        "MatMul", [ports[0].name, weight.name], [ports[1].name], name=f"{EVIL}.a/MatMul"
    )
    graph = helper.make_graph([node], f"{EVIL}g", ports[:1], ports[1:], [weight])
    model = tmp_path / "m.onnx"
    opset = helper.make_opsetid("", 20)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=9), model)
    pages = [tmp_path / f"{n}.html" for n in "pqt"]
    pte = tmp_path / "m.pte"
    pteron.export_model(model, pte)
    assert main(["inspect", str(pte), "--html", str(pages[0])]) == 0
    words = [model, "-o", tmp_path / "q.pte", "-q", "--report", pages[1]]
    assert main(["quantize", *map(str, words), "--format", "int4"]) == 0
    assert main(["profile", str(pte), "--runs", "1", "--html", str(pages[2])]) == 0
    for each in pages:
        read = stands_alone(each.read_text())
        assert not [t for t, a in read.tags if "onerror" in a]
    assert any(EVIL in t for t in Reader(pages[0].read_text()).texts)


def test_modules_fold_in_order_and_short_chains_are_one() -> None:
    rows = [("a.b.c", 1), ("a.b.c", 2), ("d", 3), ("a.x", 4), ("", 5)]
    top = modules(rows, lambda r: r[0])
    text = outline(top, lambda r: f"<i>{r[1]}</i>", lambda rs: f"{len(rs)} rows")
    assert re.findall(r"<b>(.*?)</b> <span class=soft>(\d)|<i>(\d)", text) == [
        ("a", "3", ""), ("b.c", "2", ""), ("", "", "1"), ("", "", "2"), ("x", "1", ""), ("", "", "4"),
        ("d", "1", ""), ("", "", "3"), ("", "", "5"),
    ]  # fmt: skip
    stands_alone(page("t", [text]))


def test_a_table_leaves_out_what_is_empty_and_sorts_by_value() -> None:
    text = table(["name", "weight", "#size"], [("a", "", Number(1024.0, "1 KiB")), ("b", "", 3)])
    assert "weight" not in text and "data-v=1024.0>1 KiB" in text and "data-v=3>3" in text


def test_a_place_is_the_name_of_its_file_and_keeps_its_path() -> None:
    assert place("/a/b/net.py:7") == "<span title='/a/b/net.py:7'>net.py:7</span>"
    assert place("net.py:7") == "net.py:7" and place("") == ""


def test_a_box_has_a_name_where_it_fits() -> None:
    name = "layers.0.query/MatMul"
    fits = [name, "layers.0.query", "…0.query", "…query", ""]
    assert [fitting(name, letters) for letters in (21, 15, 9, 7, 5)] == fits
    empty = picture(Plan(0, 0, 0, 0, ()), ())
    assert empty.startswith("<svg") and "peak" not in empty
    many = tuple(Placed(f"v{i}", i, i, 0, 64) for i in range(3000))
    assert picture(Plan(64, 64, 0, 0, many), ()).count("<rect") == 3000


def test_blocks_lie_in_a_box_of_what_runs_them() -> None:
    def row(index: int, op: str, module: str, within: int | None) -> InstrRow:
        return InstrRow(index, 0, op, 0, "", "", "", "", module, "", (), within)

    rows = [
        row(0, "delegate", "", None),
        row(1, "conv", "first.0", 0),
        row(2, "loop", "enc", None),
        row(3, "if", "enc.gate", 2),
        row(4, "copy", "enc.gate", 3),
    ]
    inside = "enc.body of #2.gate"
    assert paths(rows) == ["", "fallback of #0.first.0", "enc", inside, f"{inside}.branches of #3"]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium, to draw")
def test_states_and_blocks_are_drawn_where_they_belong(tmp_path: Path) -> None:
    """A state lies in the module that reads it, branches in a box that hangs on their If."""
    out, page = tmp_path / "m.pte", tmp_path / "m.html"
    made = onnx.parser.parse_model(STATES)
    pteron.export_model(made, out, states={"a": "aa", "b": "bb"}, fuse=False)
    assert main(["inspect", str(out), "--html", str(page)]) == 0
    assert drawn(page)["states"] == ["a", "b"] and drawn(page)["inputs"] == ["x"]
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    done = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, timeout=600)
    assert re.search(r">▾ branches of #\d+<", done.stdout)
    frames = {
        name: Box(*map(float, (x, y, w, h)))
        for x, y, w, h, name in re.findall(
            r'translate\(([\d.-]+) ([\d.-]+)\)" class="(?:open|port)"[^>]*>'
            r'<rect width="([\d.]+)" height="([\d.]+)"[^>]*>.*?<title>([^<\n]*)',
            done.stdout,
        )
    }
    for state, module in (("a", "l.0"), ("b", "l.1")):
        assert frames[state].within(frames[module]), frames


def test_times_have_digits_and_short_words_stay_whole() -> None:
    assert [lasting(ms) for ms in (0.0, 0.000107, 0.0751, 0.1, 6.1734, 69.864, 1234.5)] == [
        "0 µs", "0.107 µs", "75.1 µs", "0.1 ms", "6.17 ms", "69.9 ms", "1.23 s",
    ]  # fmt: skip
    assert broken("matmul_int8") == "matmul_int8"
    assert broken("layers.0.gate_proj/MatMul") == "layers.<wbr>0.<wbr>gate_<wbr>proj/<wbr>MatMul"
    assert broken("a<b&c") == "a&lt;b&amp;c"
