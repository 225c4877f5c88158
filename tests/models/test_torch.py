"""PyTorch modules through the whole way: states, named sizes, several methods, .pt2 files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
nn, F = torch.nn, torch.nn.functional

SIZE, HEADS, ROOM = 32, 4, 24


class Decoder(nn.Module):
    """Two layers with a cache in buffers: forward(ids) appends to what was seen before."""

    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, SIZE)
        self.qkv = nn.ModuleList(nn.Linear(SIZE, 3 * SIZE) for _ in range(layers))
        self.out = nn.ModuleList(nn.Linear(SIZE, SIZE) for _ in range(layers))
        self.norm = nn.ModuleList(nn.LayerNorm(SIZE) for _ in range(layers))
        self.head = nn.Linear(SIZE, 50)
        self.register_buffer("seen", torch.zeros((), dtype=torch.long))
        for i in range(layers):
            self.register_buffer(
                f"k{i}", torch.zeros(1, HEADS, ROOM, SIZE // HEADS), persistent=False
            )
            self.register_buffer(
                f"v{i}", torch.zeros(1, HEADS, ROOM, SIZE // HEADS), persistent=False
            )

    def forward(self, ids: Any) -> Any:
        tokens = ids.shape[1]
        position = self.seen + torch.arange(tokens)
        visible = torch.arange(ROOM)[None, :] <= position[:, None]
        x = self.embed(ids)
        for i, (qkv, out, norm) in enumerate(zip(self.qkv, self.out, self.norm)):
            q, k, v = (
                t.unflatten(2, (HEADS, -1)).transpose(1, 2) for t in qkv(norm(x)).chunk(3, 2)
            )
            keys, values = getattr(self, f"k{i}"), getattr(self, f"v{i}")
            keys.index_copy_(2, position, k)
            values.index_copy_(2, position, v)
            y = F.scaled_dot_product_attention(q, keys, values, attn_mask=visible)
            x = x + F.silu(out(y.transpose(1, 2).flatten(2)))
        self.seen += tokens
        return self.head(x)


def net(module: Any) -> Any:
    torch.manual_seed(3)
    for p in module.parameters():
        nn.init.normal_(p, std=0.3)
    return module.eval().requires_grad_(False)


def test_decoder_with_a_cache_in_buffers(tmp_path: Path) -> None:
    """The session keeps the cache; prompt and single tokens by one program; reset starts again."""
    decoder = net(Decoder())
    path = tmp_path / "decoder.pte"
    pteron.export_model(
        decoder, path, args=(torch.zeros(1, 5, dtype=torch.long),), dynamic_shapes=({1: "tokens"},)
    )
    model = pteron.load(path)
    assert [p.name for p in model.info.inputs] == ["ids"]
    assert sorted(model.states) == ["past.k0", "past.k1", "past.seen", "past.v0", "past.v1"]
    rng = np.random.default_rng(0)
    prompt = [rng.integers(0, 50, (1, n)) for n in (7, 1, 1, 4, 1)]
    first = None
    for ids in prompt:
        want = decoder(torch.from_numpy(ids)).numpy()
        got = model(ids)
        first = got if first is None else first
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    assert int(model.states["past.seen"]) == 14
    model.states.reset()
    assert model(prompt[0]).tobytes() == first.tobytes()


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.full((4,), 2.5))

    def forward(self, x: Any) -> Any:
        self.total.mul_(0.5).add_(x.mean(0))
        return self.total * 2


def test_a_state_starts_with_the_buffers_value(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = Scaled()
    pteron.export_model(
        module, tmp_path / "s.pte", args=(torch.ones(3, 4),), dynamic_shapes=({0: "n"},)
    )
    model = pteron.load(tmp_path / "s.pte")
    for n in (3, 1, 5):
        x = torch.randn(n, 4)
        np.testing.assert_allclose(model(x.numpy()), module(x).numpy(), rtol=1e-6)


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            SIZE, HEADS, 64, batch_first=True, activation="gelu", norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x: Any) -> Any:
        return self.layers(x)


def test_torch_transformer_encoder(tmp_path: Path) -> None:
    encoder = net(Encoder())
    x = torch.randn(2, 9, SIZE)
    report = pteron.export_model(
        encoder, tmp_path / "e.pte", args=(x,), dynamic_shapes=({0: "batch", 1: "tokens"},)
    )
    assert report.methods[0].instructions["attention"] == 2
    model = pteron.load(tmp_path / "e.pte")
    for shape in ((2, 9), (1, 1), (3, 17)):
        x = torch.randn(*shape, SIZE)
        np.testing.assert_allclose(model(x.numpy()), encoder(x).numpy(), rtol=1e-4, atol=1e-4)


class Pyramid(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, 2, 1)
        self.norm = nn.BatchNorm2d(8)
        self.up = nn.ConvTranspose2d(8, 4, 2, 2)
        self.group = nn.GroupNorm(2, 4)

    def forward(self, x: Any) -> Any:
        y = F.relu(self.norm(self.down(x)))
        z = self.group(self.up(y))
        w = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
        return torch.cat([z, w], 1), F.adaptive_avg_pool2d(y, 1).flatten(1)


def test_torch_convolutions(tmp_path: Path) -> None:
    module = net(Pyramid())
    x = torch.randn(2, 3, 16, 20)
    pteron.export_model(module, tmp_path / "c.pte", args=(x,), dynamic_shapes=({0: "n"},))
    model = pteron.load(tmp_path / "c.pte")
    x = torch.randn(3, 3, 16, 20)
    for got, want in zip(model(x.numpy()), module(x), strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-4, atol=1e-4)


class Steps(nn.Module):
    """How often x can be halved: data decides the number of iterations."""

    def forward(self, x: Any) -> Any:
        def body(n: Any, y: Any) -> Any:
            return n + 1, y / 2

        return torch.while_loop(
            lambda n, y: y.abs().max() > 1, body, (torch.zeros((), dtype=torch.long), x)
        )


def test_torch_while_loop(tmp_path: Path) -> None:
    pteron.export_model(Steps(), tmp_path / "w.pte", args=(torch.full((4,), 9.0),))
    model = pteron.load(tmp_path / "w.pte")
    for top in (9.0, 0.5, 100.0):
        x = torch.linspace(0.1, top, 4)
        for got, want in zip(model(x.numpy()), Steps()(x), strict=True):
            np.testing.assert_array_equal(got, want.numpy())


def test_pt2_file(tmp_path: Path) -> None:
    module, x = net(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))), torch.randn(3, 8)
    program = torch.export.export(module, (x,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
    torch.export.save(program, tmp_path / "m.pt2")
    pteron.export_model(tmp_path / "m.pt2", tmp_path / "m.pte")
    x = torch.randn(6, 8)
    np.testing.assert_allclose(
        pteron.load(tmp_path / "m.pte")(x.numpy()), module(x).numpy(), rtol=1e-5, atol=1e-5
    )


def test_methods_share_their_weights(tmp_path: Path) -> None:
    """Prefill and decode are two methods of one program, their weights stored once."""
    from pteron.export.capture import capture

    module = net(nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)))
    one = capture(module, args=(torch.randn(1, 64),))
    many = capture(module, args=(torch.randn(8, 64),), dynamic_shapes=({0: "rows"},))
    single = pteron.export_model(one, tmp_path / "one.pte")
    both = pteron.export_model(methods={"prefill": many, "decode": one}, out=tmp_path / "both.pte")
    assert [m.name for m in both.methods] == ["prefill", "decode"]
    assert both.constants_bytes == single.constants_bytes
    x = torch.randn(5, 64)
    np.testing.assert_allclose(
        pteron.load(tmp_path / "both.pte", method="prefill")(x.numpy()),
        module(x).numpy(),
        rtol=1e-4,
        atol=1e-4,
    )
    got = pteron.load(tmp_path / "both.pte", method="decode")(x[:1].numpy())
    np.testing.assert_allclose(got, module(x[:1]).numpy(), rtol=1e-4, atol=1e-4)


class Chosen(nn.Module):
    """A branch for each size: which one is traced depends on the example."""

    def __init__(self, choose: Any) -> None:
        super().__init__()
        self.choose = choose

    def forward(self, x: Any) -> Any:
        return x * 2 if self.choose(x) else torch.cat([x, x]) * 100


BRANCHES = [
    (lambda x: x.shape[0] <= 8, [0, 1, 8], [9], r"axis 0 \(n\): expected 0 to 8, got 9"),
    (lambda x: x.shape[0] % 2 == 0, [0, 2, 6], [1, 5], r"x.shape\[0\] % 2\) == 0: got 2 and"),
    (lambda x: x.shape[0] != 1, [0, 5], [1], r"x.shape\[0\] != 1"),
    (lambda x: x.shape[0] >= 2, [2, 5], [0, 1], r"axis 0 \(n\): expected 2 to"),
    (lambda x: x.shape[0] < 5 or x.shape[0] > 7, [4], [5, 7, 8], "expected 0 to 4"),
]


@pytest.mark.parametrize("choose, good, bad, text", BRANCHES, ids=[b[3] for b in BRANCHES])
def test_sizes_outside_the_traced_guard_are_refused(
    choose: Any, good: Any, bad: Any, text: str, tmp_path: Path
) -> None:
    module = Chosen(choose)
    pteron.export_model(
        module, tmp_path / "m.pte", args=(torch.ones(4, 2),), dynamic_shapes=({0: "n"},)
    )
    model = pteron.load(tmp_path / "m.pte")
    for n in good:
        x = torch.randn(n, 2)
        np.testing.assert_array_equal(model(x.numpy()), module(x).numpy())
    for n in bad:
        with pytest.raises(pteron.ArgumentError, match=text):
            model(np.ones((n, 2), np.float32))


def test_a_guard_that_is_no_formula_over_sizes_is_named() -> None:
    with pytest.raises(pteron.ModelError, match=r"condition 0.7\*torch.sym_float\(x.shape\[0\]\)"):
        pteron.export_model(
            Chosen(lambda x: x.shape[0] * 0.7 < 5),
            args=(torch.ones(4, 2),),
            dynamic_shapes=({0: "n"},),
        )


def test_a_squeezed_axis_is_longer_than_one(tmp_path: Path) -> None:
    module = nn.Sequential(nn.Linear(4, 4), Squeeze())
    pteron.export_model(
        module, tmp_path / "m.pte", args=(torch.ones(3, 4),), dynamic_shapes=({0: "n"},)
    )
    with pytest.raises(pteron.ArgumentError, match="squeeze was traced for a size that is not 1"):
        pteron.load(tmp_path / "m.pte")(np.ones((1, 4), np.float32))


def test_len_of_a_tensor_is_a_size(tmp_path: Path) -> None:
    class Counted(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.reshape(len(x), -1) * len(x)

    module, path = Counted(), tmp_path / "m.pte"
    pteron.export_model(module, path, args=(torch.ones(4, 2, 3),), dynamic_shapes=({0: "n"},))
    model = pteron.load(path)
    assert model.inputs[0].shape == ("n", 2, 3)
    for n in (4, 1, 7):
        x = torch.randn(n, 2, 3)
        np.testing.assert_array_equal(model(x.numpy()), module(x).numpy())


class Squeeze(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.squeeze(0)


def test_relations_between_sizes_of_inputs(tmp_path: Path) -> None:
    class Shifted(nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x[1:] + y

    shapes = ({0: "n"}, {0: torch.export.Dim.DYNAMIC})
    path = tmp_path / "m.pte"
    pteron.export_model(
        Shifted(), path, args=(torch.ones(4, 2), torch.ones(3, 2)), dynamic_shapes=shapes
    )
    model = pteron.load(path)
    for n in (1, 2, 7):
        x, y = torch.randn(n, 2), torch.randn(n - 1, 2)
        np.testing.assert_array_equal(model(x.numpy(), y.numpy()), Shifted()(x, y).numpy())
    for n, m in ((4, 4), (4, 1)):
        with pytest.raises(pteron.ArgumentError):
            model(np.ones((n, 2), np.float32), np.ones((m, 2), np.float32))


def test_a_size_that_is_a_tables_length_in_the_example_stays_dynamic(tmp_path: Path) -> None:
    """What writes a state is decomposed: torch would take the guard n == min(5, n) for n == 5 there."""

    class Written(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("table", torch.randn(5, 2))
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: Any) -> Any:
            self.count.add_(1)
            return x + self.table[: x.shape[0]]

    module, path = Written(), tmp_path / "m.pte"
    pteron.export_model(module, path, args=(torch.ones(5, 2),), dynamic_shapes=({0: "n"},))
    model = pteron.load(path)
    for n in (5, 3, 0):
        x = torch.randn(n, 2)
        np.testing.assert_array_equal(model(x.numpy()), module(x).numpy())
    with pytest.raises(pteron.ArgumentError):
        model(np.ones((6, 2), np.float32))
