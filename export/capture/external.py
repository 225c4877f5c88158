"""Weights beside a model: which folders they may lie in, and tensors that are read there.

A file of a model hub's cache is a link into the folder where the cache keeps all files of a model; package managers give files that have
several names. onnx_ir refuses both; here a file is read where the model's own file leads to its folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import onnx_ir as ir

from .. import graph as g

HOME: Final = "pteron.home"
"""In a model's meta: the folder of its file once links are followed."""


def set_folder(model: ir.Model, path: Path) -> None:
    """External data of the model and of its functions lies beside `path`, as the model's file does."""
    model.meta[HOME] = path.resolve().parent

    def set_base(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
        if isinstance(tensor, ir.ExternalTensor):
            tensor.base_dir = str(path.parent)
        return tensor

    g.replace_tensors(model, set_base)


def found(model: ir.Model, tensor: ir.ExternalTensor) -> Path | None:
    """The file that the tensor lies in, links followed; None: neither below the model's folder nor beside the file itself.

    A tensor that was found before stays so, in a model that was captured again.
    """
    folder, location = Path(tensor.base_dir).resolve(), Path(tensor.location)
    path = (folder / location).resolve()
    homes = [folder]
    if not location.is_absolute() and ".." not in location.parts:
        homes.append(model.meta.get(HOME, folder))
    is_found = isinstance(tensor, Beside) or any(path.is_relative_to(home) for home in homes)
    return path if is_found else None


class Beside(ir.ExternalTensor):
    """One whose file was found: read there, whatever its number of names."""

    def _check_path_containment(self) -> None:
        """`found` did."""


def beside(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    """An external tensor that is read as `found` says; another as it is."""
    if not isinstance(tensor, ir.ExternalTensor) or isinstance(tensor, Beside):
        return tensor
    return Beside(
        tensor.location, tensor.offset, tensor.length, tensor.dtype,
        shape=tensor.shape, name=tensor.name or "", doc_string=tensor.doc_string,
        metadata_props=tensor.metadata_props, base_dir=tensor.base_dir,
    )  # fmt: skip
