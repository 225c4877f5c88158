"""Two roads, one program: a PyTorch module, and the file that torch.onnx.export writes of it. `benchmarks/roads.py` has 60 networks."""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: make dev-torch")
import pteron  # noqa: E402
from pteron.export.capture import capture  # noqa: E402
from pteron.export.graph.text import as_text  # noqa: E402
from pteron.export.passes import run_passes  # noqa: E402
from pteron.quantize.recipe.rules import recipe  # noqa: E402

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
nn = torch.nn


def conv(i: int, o: int, k: int = 1, groups: int = 1, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(i, o, k, stride, k // 2, groups=groups, bias=False)


class Block(nn.Module):
    """MobileNet's, with its short cut."""

    def __init__(self, i: int, o: int, stride: int) -> None:
        super().__init__()
        e = 4 * i
        self.body = nn.Sequential(
            *(conv(i, e), nn.BatchNorm2d(e), nn.Hardswish()),
            *(
                conv(e, e, 3, e, stride),
                nn.BatchNorm2d(e),
                nn.ReLU(),
                conv(e, o),
                nn.BatchNorm2d(o),
            ),
        )
        self.short = stride == 1 and i == o

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.body(x)
        return x + y if self.short else y


NETS = {
    "a convolution": lambda: conv(3, 16, 3),
    "with batch norm": lambda: nn.Sequential(conv(3, 16, 3), nn.BatchNorm2d(16)),
    "two": lambda: nn.Sequential(conv(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), conv(16, 16)),
    "wide": lambda: nn.Sequential(conv(3, 4100), nn.ReLU(), conv(4100, 4)),
    "transposed": lambda: nn.Sequential(nn.ConvTranspose2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), conv(8, 4)),
    "of one axis": lambda: nn.Sequential(nn.Flatten(2), nn.Conv1d(3, 8, 3, bias=False), nn.BatchNorm1d(8), nn.ReLU()),
    "a small network": lambda: nn.Sequential(
        *(conv(3, 16, 3, 1, 2), nn.BatchNorm2d(16), nn.Hardswish(), Block(16, 24, 2), Block(24, 24, 1)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10, bias=False)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NETS)
def test_a_module_gives_the_graph_and_layers_that_its_file_gives(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    net, x = NETS[name]().eval(), torch.randn(1, 3, 16, 16)
    for m in net.modules():
        if isinstance(m, nn.modules.batchnorm._BatchNorm):
            m.running_mean.normal_()
            m.running_var.uniform_(0.5, 2)
    logging.disable(logging.WARNING)
    torch.onnx.export(net, (x,), tmp_path / "n.onnx", input_names=["x"], dynamo=True, verbose=False)
    logging.disable(logging.NOTSET)
    graphs = [run_passes(capture(net, args=(x,))), run_passes(capture(tmp_path / "n.onnx"))]
    ops = [[n.op_type for n in graph.graph] for graph in graphs]
    assert ops[0] == ops[1] and "Shape" not in ops[0], as_text(graphs[0])
    layers = sum(isinstance(m, (nn.Conv1d, nn.Conv2d, nn.Linear)) for m in net.modules())
    assert ops[0].count("Conv") + ops[0].count("Gemm") + ops[0].count("MatMul") == layers
    samples = np.random.default_rng(0).standard_normal((2, 3, 16, 16), np.float32)
    made = recipe("int8", algorithm="nearest")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pteron.QuantWarning)
        reports = [
            pteron.export_model(source, tmp_path / "m.pte", quantize=made, calibrate=samples, strip=True, **more)
            for source, more in ((net, {"args": (x,)}), (tmp_path / "n.onnx", {}))
        ]  # fmt: skip
    assert [r.coverage[0]["layers"] for r in reports] == [layers, layers]
    assert reports[0].file_bytes == reports[1].file_bytes


@pytest.mark.parametrize("name", ["torchvision/resnet18", "timm/mobilenetv3_small_050"])
def test_published_networks_take_both_roads(name: str) -> None:
    import architectures

    source = name.partition("/")[0]
    architectures.find_networks()
    pytest.importorskip(source, reason=f"needs {source}: make dev-torch")
    import roads

    logging.disable(logging.WARNING)
    row = roads.compared(name)
    logging.disable(logging.NOTSET)
    assert row["verdict"] == "same", roads.line({**row, "name": name, "seconds": 0})
    if name.endswith("resnet18"):
        assert row["module"]["layers"] == [21, 21]


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.head = nn.Embedding(1024, 64), nn.Linear(64, 1024, bias=False)
        self.head.weight = self.table.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(torch.tanh(self.table(tokens)))


@pytest.mark.parametrize("format", [None, "nf4", "int8"])
@pytest.mark.parametrize("shape", [(5,), (1, 5)])
def test_a_tied_table_is_stored_once(
    format: str | None, shape: tuple[int, ...], tmp_path: Path
) -> None:
    torch.manual_seed(0)
    net, tokens = Tied().eval(), torch.randint(0, 1024, shape)
    how = {} if format is None else {"quantize": recipe(format, embeddings=True)}
    report = pteron.export_model(net, tmp_path / "t.pte", args=(tokens,), strip=True, **how)
    bits = {None: 32, "nf4": 4.5, "int8": 8.5}[format]
    assert report.file_bytes < 1.2 * 1024 * 64 * bits / 8 + 8192
    if format is None:
        got = pteron.load(tmp_path / "t.pte")(tokens.numpy())
        np.testing.assert_allclose(got, net(tokens).detach().numpy(), atol=1e-4)
