"""Fourier transforms that PyTorch does not decompose, on the traced graph: short-time ones as frames, transforms and sums of what
overlaps, inverse ones of Hermitian signals axis after axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def table(torch: Any) -> dict[Any, Callable[..., Any]]:
    """Decompositions of aten's operators, with their parameters."""

    def framed(window: Any, like: Any, n_fft: int, win_length: int | None) -> Any:
        """The window, in the middle of a frame."""
        n = n_fft if win_length is None else win_length
        if window is None:
            window = torch.ones(n, dtype=like.dtype.to_real(), device=like.device)
        left = (n_fft - n) // 2
        return torch.constant_pad_nd(window, [left, n_fft - n - left]) if n < n_fft else window

    def stft(
        x: Any,
        n_fft: int,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = None,
        normalized: bool = False,
        onesided: bool | None = None,
        return_complex: bool | None = None,
        align_to_window: bool | None = None,
    ) -> Any:
        frames = x.unfold(-1, n_fft, hop_length or n_fft // 4)
        frames = frames * framed(window, x, n_fft, win_length)
        half = not frames.is_complex() if onesided is None else onesided
        how = torch.fft.rfft if half and not frames.is_complex() else torch.fft.fft
        y = how(frames, norm="ortho" if normalized else "backward").transpose(-1, -2)
        return y if return_complex else torch.view_as_real(y)

    def istft(
        x: Any,
        n_fft: int,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Any = None,
        center: bool = True,
        normalized: bool = False,
        onesided: bool | None = None,
        length: int | None = None,
        return_complex: bool = False,
    ) -> Any:
        hop = hop_length or n_fft // 4
        half = not return_complex if onesided is None else onesided
        how = torch.fft.irfft if half and not return_complex else torch.fft.ifft
        wave = framed(window, x, n_fft, win_length)
        y = how(x.transpose(-1, -2), n=n_fft, norm="ortho" if normalized else "backward")
        if not return_complex and y.is_complex():
            y = y.real
        lead, count = y.shape[:-2], y.shape[-2]
        whole = n_fft + hop * (count - 1)

        def overlapped(frames: Any) -> Any:
            columns = frames.reshape(-1, count, n_fft).transpose(1, 2)
            return torch.nn.functional.fold(columns, (1, whole), (1, n_fft), stride=(1, hop))

        total = overlapped(y * wave).reshape(*lead, whole)
        weight = overlapped((wave * wave).expand(1, count, n_fft)).reshape(whole)
        start = n_fft // 2 if center else 0
        end = whole - (n_fft // 2 if center else 0) if length is None else start + length
        y = total[..., start:end] / weight[start:end]
        missing = end - whole
        return torch.constant_pad_nd(y, [0, missing]) if length is not None and missing > 0 else y

    def ihfftn(x: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
        """One axis after the other; PyTorch's own decomposition takes a view that cannot be traced."""
        if dim is None:
            dim = range(x.dim() - (x.dim() if s is None else len(s)), x.dim())
        dim = [dim] if isinstance(dim, int) else list(dim)
        y = torch.fft.ihfft(x, None if s is None else s[-1], dim[-1], norm)
        return torch.fft.ifftn(y, None if s is None else s[:-1], dim[:-1], norm) if dim[1:] else y

    def ihfft2(x: Any, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
        return ihfftn(x, s, dim, norm)

    aten = torch.ops.aten
    return {
        aten.stft.default: stft, aten.istft.default: istft,
        aten.fft_ihfftn.default: ihfftn, aten.fft_ihfft2.default: ihfft2,
    }  # fmt: skip
