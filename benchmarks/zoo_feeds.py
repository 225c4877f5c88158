"""What the models of the zoo are fed: sounds, pictures, texts and tables that are drawn, the same on every machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Sizes = Mapping[str, int]
Feed = Callable[[np.random.Generator, Sizes], np.ndarray]
"""An input's array at some sizes of the model's symbols."""


def extents(shape: tuple[int | str, ...], sizes: Sizes) -> list[int]:
    return [sizes[x] if isinstance(x, str) else x for x in shape]


def normal(*shape: int | str) -> Feed:
    return lambda rng, sizes: rng.standard_normal(extents(shape, sizes)).astype(np.float32)


def share(*shape: int | str, most: float = 1.0) -> Feed:
    """Evenly from 0 to `most`."""
    return lambda rng, sizes: (rng.random(extents(shape, sizes)) * most).astype(np.float32)


def zeros(*shape: int | str, dtype: Any = np.float32) -> Feed:
    return lambda rng, sizes: np.zeros(extents(shape, sizes), dtype)


def ones(*shape: int | str, dtype: Any = np.float32) -> Feed:
    return lambda rng, sizes: np.ones(extents(shape, sizes), dtype)


def value(x: Any, dtype: Any = np.int64) -> Feed:
    return lambda rng, sizes: np.array(x, dtype)


def ids(below: int, *shape: int | str, dtype: Any = np.int64, least: int = 1) -> Feed:
    """Integers of a vocabulary."""
    return lambda rng, sizes: rng.integers(least, below, extents(shape, sizes)).astype(dtype)


def sound(*shape: int | str, rate: int = 16000) -> Feed:
    """Along the last axis: a voice of eight harmonics whose pitch and loudness move, and noise 40 dB below it."""

    def draw(rng: np.random.Generator, sizes: Sizes) -> np.ndarray:
        *rows, count = extents(shape, sizes)
        out = np.empty((int(np.prod(rows, dtype=int)), count))
        for i in range(len(out)):
            t = np.arange(count) / rate
            pitch = rng.uniform(90, 220) * (1 + 0.1 * np.sin(2 * np.pi * rng.uniform(1, 4) * t))
            phase = 2 * np.pi * np.cumsum(pitch) / rate
            voice = sum(np.sin(k * phase + rng.uniform(0, 6)) / k for k in range(1, 9))
            out[i] = voice * (0.55 + 0.45 * np.sin(2 * np.pi * rng.uniform(2, 6) * t)) / 4
        out += rng.standard_normal(out.shape) * 0.003
        return out.reshape(*rows, count).astype(np.float32)

    return draw


def spectra(*shape: int | str) -> Feed:
    """Logarithms of magnitudes along the last axis, louder at the low end, which move slowly along the axis before."""

    def draw(rng: np.random.Generator, sizes: Sizes) -> np.ndarray:
        extent = extents(shape, sizes)
        noise = rng.standard_normal(extent)
        if noise.ndim > 1:
            noise = (noise + np.roll(noise, 1, -2) + np.roll(noise, 2, -2)) / 2
        return (noise - np.linspace(0, 3, extent[-1])).astype(np.float32)

    return draw


def picture(*shape: int | str, last: bool = False, scale: float = 1.0, mean: float = 0.0) -> Feed:
    """Discs and bars of even colours over a gradient, in 0 to 1, less `mean`, times `scale`; channels last where `last`."""

    def draw(rng: np.random.Generator, sizes: Sizes) -> np.ndarray:
        extent = extents(shape, sizes)
        batch, (height, width), channels = (
            extent[0],
            (extent[1:3] if last else extent[2:4]),
            (extent[3] if last else extent[1]),
        )
        out = np.stack([scene(rng, height, width, channels) for _ in range(batch)])
        out = (out - mean) * scale
        return (out if last else np.moveaxis(out, 3, 1)).astype(np.float32)

    return draw


def scene(rng: np.random.Generator, height: int, width: int, channels: int) -> np.ndarray:
    """One picture, [height, width, channels], in 0 to 1."""
    y, x = np.mgrid[:height, :width] / max(height, width)
    out = np.full((height, width, channels), rng.uniform(0.3, 0.9, channels))
    out *= (0.8 + 0.2 * x)[..., None]
    for i in range(8):
        cy, cx, r = rng.uniform(0, 1), rng.uniform(0, 1), rng.uniform(0.03, 0.2)
        near = (
            (y - cy) ** 2 + (x - cx) ** 2 < r * r
            if i % 2
            else (abs(y - cy) < r / 4) & (abs(x - cx) < r)
        )
        out[near] = rng.uniform(0, 1, channels)
    return np.clip(out + rng.standard_normal(out.shape) * 0.02, 0, 1)


LINES = (
    "Compiled once, run anywhere",
    "0123456789 kg",
    "The quick brown fox",
    "Invoice No. 4711",
    "same bits everywhere",
)
"""What is drawn for recognizers of text."""


def line(text: str, height: int, width: int | None = None) -> np.ndarray:
    """The text in black on white, [height, width], in 0 to 1; as wide as it is where no width is given."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size=int(height * 0.62))
    canvas = Image.new("L", (width or int(font.getlength(text)) + height // 2, height), 255)
    ImageDraw.Draw(canvas).text((height // 4, height // 2), text, fill=0, font=font, anchor="lm")
    return np.asarray(canvas, np.float32) / 255


def text_line(channels: int, height: int, width: str = "w", *, text: str = LINES[2]) -> Feed:
    """A drawn line of text, [1, channels, height, width], in -1 to 1."""

    def draw(rng: np.random.Generator, sizes: Sizes) -> np.ndarray:
        gray = line(text, height, sizes[width]) * 2 - 1
        gray = gray + rng.standard_normal(gray.shape).astype(np.float32) * 0.02
        return np.repeat(gray[None, None], channels, 1).astype(np.float32)

    return draw


def file_bytes(*shape: int | str, dtype: Any = np.int32) -> Feed:
    """The first bytes of a page of documentation, which is text."""

    def draw(rng: np.random.Generator, sizes: Sizes) -> np.ndarray:
        rows, count = extents(shape, sizes)
        text = Path(__file__).parents[1].joinpath("README.md").read_bytes()
        starts = rng.integers(0, max(1, len(text) - count), rows)
        return np.stack([np.frombuffer(text, np.uint8)[s : s + count] for s in starts]).astype(
            dtype
        )

    return draw


def mask(*shape: int | str, dtype: Any = np.bool_) -> Feed:
    """True but for the last two of each row."""

    def draw(rng: np.random.Generator, sizes: Sizes) -> np.ndarray:
        out = np.ones(extents(shape, sizes), dtype)
        out[..., -2:] = 0
        return out

    return draw
