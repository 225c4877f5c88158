"""What convolutions and pools have in common: windows over spatial axes, their padding, channels-last views."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..program.views import Shape
from ..sizes import Extent, extents
from ..sizes.extents import add, ceildiv, floordiv, minimum, mul, sub
from .context import Lowering
from .node import Node
from .refs import Ref


@dataclasses.dataclass(frozen=True, slots=True)
class Window:
    """Numbers by spatial axis; `begin` and `end` may depend on sizes where auto_pad asks for it."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    begin: Shape
    end: Shape

    @property
    def reach(self) -> tuple[int, ...]:
        """Elements from the first to the last of a window."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True))


def read_window(l: Lowering, n: Node, spatial: Shape, kernel: Sequence[Extent]) -> Window:
    """The window attributes of a node; `spatial`: the extents it moves over."""
    rank = len(spatial)
    if rank > 3:
        l.fail(f"{rank} spatial axes; at most 3 are covered")
    if any(not isinstance(k, int) for k in kernel):
        l.fail(f"kernel {list(kernel)} depends on sizes; expected numbers")
    fixed = tuple(int(k) for k in kernel)
    stride = n.integers("strides") or (1,) * rank
    dilation = n.integers("dilations") or (1,) * rank
    window = Window(fixed, stride, dilation, (0,) * rank, (0,) * rank)
    auto = n.text("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        return same_window(window, spatial, auto)
    pads = (n.integers("pads") if auto == "NOTSET" else None) or (0,) * (2 * rank)
    return dataclasses.replace(window, begin=pads[:rank], end=pads[rank:])


def same_window(window: Window, spatial: Shape, auto: str) -> Window:
    pairs = [
        same_padding(i, s, r, auto)
        for i, s, r in zip(spatial, window.stride, window.reach, strict=True)
    ]
    return dataclasses.replace(
        window, begin=tuple(p[0] for p in pairs), end=tuple(p[1] for p in pairs)
    )


def same_padding(n: Extent, stride: int, reach: int, auto: str) -> tuple[Extent, Extent]:
    """(begin, end) such that ceil(n / stride) windows fit; the odd one goes to the end (SAME_UPPER) or the beginning."""
    total: Extent
    if stride == 1:
        total = reach - 1
    else:
        total = extents.maximum(add(sub(mul(sub(ceildiv(n, stride), 1), stride), n), reach), 0)
    small = floordiv(total, 2)
    large = sub(total, small)
    return (small, large) if auto == "SAME_UPPER" else (large, small)


def counts(spatial: Shape, window: Window, *, ceil: bool = False) -> Shape:
    """How many windows fit each axis. With `ceil` the last may hang over the end, but begins inside or in the padding before."""
    out = []
    for i, r, s, b, e in zip(
        spatial, window.reach, window.stride, window.begin, window.end, strict=True
    ):
        span = sub(add(add(i, b), e), r)
        if not ceil:
            out.append(add(floordiv(span, s), 1))
            continue
        most = add(floordiv(sub(add(i, b), 1), s), 1)  # windows that begin before the end padding
        out.append(minimum(add(ceildiv(span, s), 1), most))
    return tuple(out)


def static(l: Lowering, pads: Shape, what: str) -> tuple[int, ...]:
    """Padding that kernels take as numbers.

    Raises:
        RefusedError: it depends on sizes.
    """
    if any(not isinstance(p, int) for p in pads):
        l.fail(
            f"{what} {list(map(str, pads))} depends on sizes; expected numbers: fix the spatial sizes, or pad explicitly"
        )
    return tuple(int(p) for p in pads)


def channels_last(l: Lowering, x: Ref) -> Ref:
    """[b, c, *i] as [b, *i, c]."""
    return l.transpose(x, (0, *range(2, x.rank), 1))


def channels_first(l: Lowering, y: Ref) -> Ref:
    return l.transpose(y, (0, y.rank - 1, *range(1, y.rank - 1)))
