"""A llama's weights as llama.cpp's converter writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def llama_file(
    path: Path,
    state: dict[str, Any],
    heads: Any,
    pairs: Any,
    kind_of: Callable[[str], str],
    describe: Callable[[Any], None] = lambda writer: None,
) -> Path:
    """Rows of queries and keys, and their biases, in the order of the other rotation; `heads` and `pairs`: of all layers, or a list.

    `kind_of`: the type of the matrix of a name. `describe` adds more keys to the writer.
    """
    gguf = pytest.importorskip("gguf")
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 4)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_head_count(heads)
    writer.add_head_count_kv(pairs)
    describe(writer)
    for name, value in state.items():
        array = value.numpy()
        if "q_proj" in name or "k_proj" in name:
            told = heads if "q_proj" in name else pairs
            n = told if isinstance(told, int) else told[int(name.split(".")[2])]
            half = len(array) // n // 2
            array = array.reshape(n, 2, half, *array.shape[1:]).swapaxes(1, 2).reshape(array.shape)
        array = np.ascontiguousarray(array)
        kind = gguf.GGMLQuantizationType[kind_of(name) if array.ndim == 2 else "F32"]
        if kind != gguf.GGMLQuantizationType.F32:
            array = gguf.quants.quantize(array, kind)
        stem, _, end = name.rpartition(".")
        writer.add_tensor(f"{names.get_name(stem)}.{end}", array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
