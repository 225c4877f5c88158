"""Which convolutions become conv_winograd, and their weights: U = G w G^T of every pair of channels, in f64, rounded once.

A window of 3 x 3 asks for 9 products a channel, output and pixel; of 4 x 4 pixels at once 36 do, of transformed pixels with
weights that are four times as many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.meaning.windows import WINOGRAD_WEIGHT

from ..graph.weights import BAND_BYTES, Elements, Source
from ..program import Instr, Value

PANEL: Final = 16
PRODUCTS: Final = 36
MOST_PADDING: Final = 2
LEAST_TILES: Final = 8
"""Of 4 x 4 pixels, of all images: with fewer the weights, read from memory once a run, take longer than the products."""
MANY_CHANNELS: Final = 64
"""With fewer the transforms, and what surrounds 36 small products, ask for more tiles: together as many as these have."""


def fits(instr: Instr, x: Value, y: Value) -> bool:
    """Whether a conv by a constant weight is what conv_winograd computes."""
    a = instr.attrs
    if instr.op != "conv" or tuple(a["kernel"]) != (3, 3) or a.get("groups", 1) != 1:
        return False
    if any(step != 1 for key in ("stride", "dilation", "spread") for step in a[key]):
        return False
    channels = (x.shape[-1], y.shape[-1])
    whole = all(isinstance(c, int) and c % PANEL == 0 for c in channels)
    dense = y.storage != "view" or y.strides is None
    return whole and dense and a["begin"][0] == a["begin"][1] and 0 <= a["begin"][0] <= MOST_PADDING


def pays(x: Value, y: Value) -> bool:
    """Whether conv_winograd, where it fits, is faster on most processors."""
    channels = min(int(x.shape[-1]), int(y.shape[-1]), MANY_CHANNELS)
    return channels * _tiles(y.shape) >= MANY_CHANNELS * LEAST_TILES


def _tiles(shape: tuple[Any, ...]) -> int:
    """Of all images, one where their number is not known at export; 0 where their size is not."""
    batch, high, wide, _ = shape
    if not isinstance(high, int) or not isinstance(wide, int):
        return 0
    return (batch if isinstance(batch, int) else 1) * -(-high // 4) * -(-wide // 4)


def attributes(attrs: dict[str, Any]) -> dict[str, Any]:
    """Those of conv_winograd, of the conv's."""
    return {"begin": attrs["begin"][0], "steps": attrs.get("steps", ())}


def weight(
    view: Callable[[], NDArray[Any]], shape: tuple[int, int]
) -> tuple[tuple[int, int], Elements]:
    """Shape and bytes of U, [36 n, c] in 36 groups of panels, of the conv's weight `view`, [n, 9 c]."""
    n, c = shape[0], shape[1] // 9

    def bands() -> Iterator[NDArray[Any]]:
        w = view().reshape(n, 9, c).astype(np.float64)
        step = max(BAND_BYTES // (8 * PRODUCTS * c) // PANEL, 1) * PANEL
        for e in range(PRODUCTS):
            for at in range(0, n, step):
                u = transformed(w[at : at + step], e).reshape(-1, PANEL, c)
                yield np.ascontiguousarray(u.swapaxes(1, 2)).reshape(-1).view(np.uint8)

    return (PRODUCTS * n, c), Source((4 * PRODUCTS * n * c,), np.dtype(np.uint8), bands)


def transformed(w: NDArray[np.float64], e: int) -> NDArray[np.float32]:
    """Element e of U for w [n, 9, c]."""
    factors = np.outer(WINOGRAD_WEIGHT[e // 6], WINOGRAD_WEIGHT[e % 6]).reshape(9)
    u: NDArray[np.float32] = (np.einsum("t,ntc->nc", factors, w) / 576).astype(np.float32)
    return u
