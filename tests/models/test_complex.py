"""Complex numbers inside of a PyTorch module: rotary embeddings, products, Fourier transforms; compared with eager."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from models.test_operators import agree, randn

import pteron

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
nn = torch.nn


def pairs(x: Any) -> Any:
    return torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))


def reals(x: Any) -> Any:
    return torch.view_as_real(x).flatten(-2)


def rotary(x: Any, angle: Any) -> Any:
    turned = torch.polar(torch.ones_like(angle), angle) * 0.5
    return reals(pairs(x) * turned[:, :, None, :])


def test_rotary_embedding_of_complex_numbers(tmp_path: Path) -> None:
    cases = [(randn(b, n, 3, 8), randn(b, n, 4)) for b, n in ((2, 5), (1, 1), (3, 9))]
    axes = {0: "batch", 1: "seq"}
    agree(tmp_path, [rotary], *cases, dynamic=(axes, axes))


class Held(nn.Module):
    """A table of complex numbers, a parameter, a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.randn(5, 4, dtype=torch.complex64), persistent=False)
        self.scale = nn.Parameter(torch.randn(4, dtype=torch.complex64))

    def forward(self, x: Any) -> Any:
        y = pairs(x) * self.table[None, : x.shape[1]] * self.scale
        return reals(y + torch.tensor([1 + 2j, 0, 3j, 4]))


def test_complex_weights(tmp_path: Path) -> None:
    module, x = Held(), randn(2, 5, 8)
    pteron.export_model(module, tmp_path / "m.pte", args=(x,), dynamic_shapes=({0: "b", 1: "n"},))
    model = pteron.load(tmp_path / "m.pte", threads=1)
    for case in (x, randn(3, 2, 8)):
        with torch.no_grad():
            torch.testing.assert_close(torch.from_numpy(model(case)), module(case))


def test_arithmetic(tmp_path: Path) -> None:
    functions = [
        lambda x, r: pairs(x).abs(),
        lambda x, r: pairs(x).angle(),
        lambda x, r: reals(pairs(x) + r),
        lambda x, r: reals(r - pairs(x)),
        lambda x, r: reals(pairs(x).sub(pairs(x * x), alpha=3)),
        lambda x, r: reals(2.5 - pairs(x)),
        lambda x, r: reals(r[:, :1] + pairs(x[:1])),
        lambda x, r: reals(pairs(x) * r * (2 - 1j)),
        lambda x, r: reals(pairs(x) / (pairs(x + 3) * 2)),
        lambda x, r: reals(pairs(x) / (1 + 1j) / r),
        lambda x, r: reals(pairs(x).reciprocal() + 1j),
        lambda x, r: reals(r / pairs(x)),
        lambda x, r: reals(2.5 / pairs(x)),
        lambda x, r: reals(pairs(x) ** 3),
        lambda x, r: reals(torch.exp(pairs(x))),
        lambda x, r: pairs(x).conj().imag - pairs(x).real,
        lambda x, r: reals(pairs(x) @ pairs(x).mT),
        lambda x, r: reals((pairs(x) @ r[0].to(torch.complex64)).unsqueeze(-1)),
        lambda x, r: reals(torch.complex(r, r + 1).cumsum(1)),
        lambda x, r: reals(torch.complex(r[:1], r[:, :1]) * torch.complex(r[0], r[0])),
        lambda x, r: reals(torch.stack([pairs(x), pairs(x) * 1j]).sum(0).mean(1, keepdim=True)),
        lambda x, r: reals(torch.cat([pairs(x), torch.complex(r, r)]).flip(0)[[0, 2]]),
        lambda x, r: reals(torch.where(r > 0, pairs(x), -pairs(x).conj()).roll(1, 1)),
        lambda x, r: torch.cat(pairs(x).split([1, 2, 1], 1)[1:], 1).abs().square(),
    ]
    agree(tmp_path, functions, (randn(3, 8) * 0.5, randn(3, 4) + 0.1))


def test_fourier_transforms(tmp_path: Path) -> None:
    fft = torch.fft
    functions = [
        lambda x: fft.fftn(x, dim=(1, 2)).real,
        lambda x: reals(fft.ifft(fft.fft(x, norm="ortho"), dim=1)),
        lambda x: reals(fft.rfft(x, dim=1)),
        lambda x: reals(fft.rfft2(x, s=(4, 10))),
        lambda x: fft.irfft(fft.rfft(x, dim=1) * fft.rfft(x.flip(1), dim=1).conj(), n=7, dim=1),
        lambda x: fft.irfft(fft.rfft(x)),
        lambda x: fft.irfftn(fft.rfftn(x, dim=(0, 1, 2)), dim=(0, 1, 2)),
        lambda x: fft.fftshift(fft.fft(x)).imag,
        lambda x: fft.hfft(fft.fft(x)),
    ]
    agree(tmp_path, functions, (randn(2, 7, 6),))


def test_fourier_transforms_of_dynamic_axes(tmp_path: Path) -> None:
    functions = [
        lambda x: torch.fft.fft(torch.fft.fft(x, dim=-1), dim=1).real,
        lambda x: torch.fft.irfft(torch.fft.rfft(x, dim=1), n=x.shape[1], dim=1),
    ]
    cases = [(randn(b, n, 6),) for b, n in ((2, 8), (1, 3), (3, 13))]
    agree(tmp_path, functions, *cases, dynamic=({0: "batch", 1: "seq"},))


class Outside(nn.Module):
    """Complex numbers in and out: of a weight, given back as they are, made of real ones."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, dtype=torch.complex64))

    def forward(self, z: Any, x: Any) -> Any:
        return torch.fft.fft(z * self.w), z, (z * x).abs(), torch.complex(x, x).conj()


@pytest.mark.parametrize("dynamic", [None, {"z": {0: "b"}, "x": {0: "b"}}])
def test_complex_numbers_outside_are_pairs(tmp_path: Path, dynamic: Any) -> None:
    module = Outside()
    args = torch.randn(3, 4, dtype=torch.complex64), randn(3, 4)
    report = pteron.export_model(
        module, tmp_path / "m.pte", args=args, dynamic_shapes=dynamic, complex_pairs=True
    )
    assert sum("is complex: in its place" in note for note in report.notes) == 4
    rows = 3 if dynamic is None else 5
    z, x = torch.randn(rows, 4, dtype=torch.complex64), randn(rows, 4)
    given = {"z": torch.view_as_real(z).numpy(), "x": x.numpy()}
    got = pteron.load(tmp_path / "m.pte").run(given)
    for name, want in zip(got, module(z, x), strict=True):
        real = torch.view_as_real(want.resolve_conj()) if want.is_complex() else want
        assert got[name].shape == real.shape
        assert abs(torch.from_numpy(got[name]) - real).max() < 1e-5


@pytest.mark.parametrize(
    ("function", "x", "text"),
    [
        (lambda x: x * 2, torch.ones(2, dtype=torch.complex64), "input 'x' is complex"),
        (lambda x: torch.complex(x, x), torch.ones(2), "an output is complex"),
        (lambda x: torch.complex(x, x).logcumsumexp(0).real, torch.ones(2), "logcumsumexp"),
        (lambda x: torch.linalg.eig(x)[0].real, torch.ones(2, 2), "need not be Hermitian.*eigh"),
        (lambda x: torch.linalg.eigvals(x).abs(), torch.ones(2, 2), "need not be Hermitian.*eigh"),
    ],
)
def test_what_is_refused(function: Any, x: Any, text: str) -> None:
    class Module(nn.Module):
        def forward(self, x: Any) -> Any:
            return function(x)

    with pytest.raises(pteron.ModelError, match=text):
        pteron.export_model(Module(), args=(x,))


def spectrum(x: Any) -> Any:
    w = torch.hann_window(16)
    return torch.view_as_real(torch.stft(x, 16, 4, window=w, return_complex=True))


def test_short_time_transforms(tmp_path: Path) -> None:
    def both(x: Any, **options: Any) -> Any:
        w = torch.hann_window(16)
        s = torch.stft(x, 16, 4, window=w, return_complex=True)
        return torch.istft(s * 1.5, 16, 4, window=w, **options)

    functions = [
        spectrum,
        both,
        lambda x: both(x, length=60),
        lambda x: both(x, length=70),
        lambda x: both(x, normalized=True),
        lambda x: torch.stft(x, 16, win_length=12, center=False, return_complex=True).abs(),
        lambda x: torch.stft(x, 16, normalized=True, onesided=False, return_complex=True).imag,
    ]
    agree(tmp_path, functions, (randn(2, 64),), (randn(3, 64),), dynamic=({0: "n"},))
    cut = [lambda x: torch.fft.fft2(x.reshape(-1, 8, 8), s=(10, 6)).abs()]
    agree(tmp_path, cut, (randn(2, 64),), (randn(3, 64),), dynamic=({0: "n"},))
    agree(tmp_path, [spectrum], (randn(1, 64),), (randn(1, 90),), dynamic=({1: "t"},))


@pytest.mark.parametrize("dtype", [None, torch.float32, torch.int64, torch.complex64])
def test_zeros_of_another_type(dtype: Any, tmp_path: Path) -> None:
    class Module(nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.zeros_like(torch.complex(x, x), dtype=dtype)

    x = torch.ones(3, 4)
    pteron.export_model(Module(), tmp_path / "m.pte", args=(x,), complex_pairs=True, check=False)
    want = Module()(x)
    want = torch.view_as_real(want) if want.is_complex() else want
    got = pteron.load(tmp_path / "m.pte")(x)
    assert got.dtype == want.numpy().dtype
    assert got.shape == want.shape and not got.any()
