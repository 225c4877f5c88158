"""Weights beside a model: which folders they may lie in, and tensors that are read there.

A file of a model hub's cache is a link into the folder where the cache keeps all files of a model; package managers give files that have
several names. onnx_ir refuses both; here a file is read where the model's own file leads to its folder.
"""

from __future__ import annotations

from pathlib import Path

import onnx_ir as ir

from .. import graph as g

HOME = "pteron.home"
"""In a model's meta: the folder of its file once links are followed."""


def set_folder(model: ir.Model, path: Path) -> None:
    """External data of the model and of its functions lies beside `path`, as the model's file does."""
    model.meta[HOME] = path.resolve().parent
    ir.external_data.set_base_dir(model.graph, str(path.parent))
    for function in model.functions.values():
        for node in g.nodes_of(function):
            for a in node.attributes.values():
                if a.type == ir.AttributeType.TENSOR and isinstance(a.value, ir.ExternalTensor):
                    a.value.base_dir = str(path.parent)


def found(model: ir.Model, tensor: ir.ExternalTensor) -> Path | None:
    """The file that the tensor lies in, links followed; None: neither below the model's folder nor beside the file itself.

    A tensor that was found before stays so, in a model that was captured again.
    """
    folder = Path(tensor.base_dir).resolve()
    path = (folder / tensor.location).resolve()
    if isinstance(tensor, Beside):
        return path
    if ".." in Path(tensor.location).parts or Path(tensor.location).is_absolute():
        return path if path.is_relative_to(folder) else None
    homes = (folder, model.meta.get(HOME, folder))
    return path if any(path.is_relative_to(home) for home in homes) else None


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
