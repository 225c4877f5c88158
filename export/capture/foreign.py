"""What other tools' files and folders are, told by their first bytes and names, and what to do with them instead."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Final

from pteron.schema.errors import naming_files

FILES: Final = (
    (b"TFL3", 4, "a TensorFlow Lite model; convert it with tf2onnx"),
    (b"ORTM", 4, "a model in onnxruntime's own format (.ort); export the ONNX model that it was made from"),
    (b"\x89HDF", 0, "a Keras HDF5 model; convert it with tf2onnx"),
    (b"GGUF", 0, "a GGUF file; pass its path, not its bytes"),
    (b"\x89PTERON", 0, "a Pteron program already; load it with pteron.load"),
    (b"ET12", 4, "an ExecuTorch program; export the original model"),
    (b"version https://git-lfs", 0, "a Git LFS pointer; run `git lfs pull`"),
    (b'\0\0{"', 6, "weights alone (safetensors); pass their folder, with its config.json, or export the model that they belong to: pteron export model.py:make, whose make loads them"),
    (b"\x80", 0, "a pickle, as old checkpoints of PyTorch and scikit-learn models are; load it and export what it holds"),
    (b"<?xml", 0, "an XML file, as OpenVINO's are; export the original model to ONNX"),
    (b"7767517", 0, "an ncnn model; export the original model to ONNX"),
    (b"{", 0, "JSON text; pass the model's file"),
    (b"<!DOCTYPE", 0, "a web page, perhaps of a download that needs a login; download the file itself"),
    (b"<html", 0, "a web page, perhaps of a download that needs a login; download the file itself"),
)  # fmt: skip
"""First bytes, where they stand, and what such a file is."""
SEEN: Final = 20_000
"""Files of a folder that are looked at."""
NAMED: Final = 5


def kind_of(data: bytes) -> str:
    """What the bytes are where they are another tool's; else ""."""
    if not data:
        return "an empty file"
    return next((what for magic, at, what in FILES if data[at : at + len(magic)] == magic), "")


@naming_files()
def refuse_folder(path: Path) -> None:
    """Where the path is a folder, says which file of it is meant, or what else it is.

    Raises:
        FileError: it is one.
    """
    if path.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, f"expected a file, got a folder{_instead(path)}", str(path)
        )


def _instead(folder: Path) -> str:
    models = sorted(_models(folder), key=lambda name: (name.count(os.sep), name))
    if models:
        more = f" and {len(models) - NAMED} more" if len(models) > NAMED else ""
        return f"; pass a model in it: {', '.join(models[:NAMED])}{more}"
    if (folder / "saved_model.pb").exists():
        return ", a TensorFlow SavedModel; convert it with tf2onnx"
    if (kind := _transformer(folder / "config.json")) is not None:
        return (
            f", a checkpoint of transformers{kind} without safetensors; download those, or load it there and export the module: "
            "pteron export model.py:make, or pteron.export_model(module, out, args=...)"
        )
    return ""


def _models(folder: Path) -> list[str]:
    """ONNX models below the folder, by their names in it."""
    found, left = list[str](), SEEN
    for inner, _, names in os.walk(folder):
        left -= len(names) + 1
        if left < 0:
            break
        found += [os.path.relpath(Path(inner, n), folder) for n in names if n.endswith(".onnx")]
    return found


def _transformer(config: Path) -> str | None:
    """The kind of model that a config.json names, in parentheses; None: it is not transformers'."""
    try:
        read = json.loads(config.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    kind = read.get("model_type") if isinstance(read, dict) else None
    return f" ({kind})" if isinstance(kind, str) and kind.replace("-", "_").isidentifier() else None
