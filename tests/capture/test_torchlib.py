"""PyTorch's tables are made once for the operators that there are, and not kept for those that there were."""

from __future__ import annotations

from typing import Any

import pytest

from pteron.export.capture import torchlib

torch: Any = pytest.importorskip("torch")
pytest.importorskip("onnxscript")


def test_one_table_is_kept_however_many_libraries_come(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    made = []
    own = vars(ONNXRegistry)["from_torchlib"]

    def counting(table: Any, *args: Any, **kwargs: Any) -> Any:
        made.append(args)
        return own.__get__(None, table)(*args, **kwargs)

    monkeypatch.setattr(ONNXRegistry, "from_torchlib", classmethod(counting))
    monkeypatch.setattr(torchlib, "_FUNCTIONS", {})

    def take() -> Any:
        with torchlib.tables_made_once():
            return ONNXRegistry.from_torchlib(24)

    one, other = take(), take()
    assert len(made) == 1 and one.functions == other.functions and one is not other
    library = torch.library.Library("pteron_tables", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    take(), take()
    assert len(made) == 2 and len(torchlib._FUNCTIONS) == 1
    library._destroy()
    take()
    assert len(made) == 3 and len(torchlib._FUNCTIONS) == 1
