"""What `export_model` is asked for: the options of an export, and those of reading, quantizing and writing."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pteron.export.options import CALLABLE, COUNT, FLAG, MAPPING, PATH, Options, row, rows
from pteron.schema.errors import ArgumentError, QuantError

if TYPE_CHECKING:
    from pteron.quantize.calibrate import Source
    from pteron.quantize.recipe import Recipe
    from pteron.quantize.report import QuantReport
    from pteron.quantize.samples import Samples

P = ParamSpec("P")
T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class Request(Options):
    """One export, from a source to a file.

    Raises:
        ArgumentError: neither a source nor methods, or both, or a value that is none of the choices.
        QuantError: calibration of what is not quantized.
    """

    source: Any = row(
        None,
        "path of an .onnx or .pt2 file, bytes of an ONNX file, onnx.ModelProto, onnx_ir.Model, torch module or "
        "ExportedProgram; None where `methods` is given",
    )
    out: str | os.PathLike[str] | None = row(
        None,
        "the program's file, which appears whole or not at all; None writes nothing: the report says whether the model can "
        "be exported",
        kind=PATH,
    )
    _: dataclasses.KW_ONLY
    methods: Mapping[str, Any] | None = row(
        None,
        "method name -> source: several models in one program, which share constants by content and states by name",
        kind=MAPPING,
    )
    weights: str | os.PathLike[str] | None = row(
        None,
        "a checkpoint whose weights take the place of those of the same names, as its tool quantized them, before anything is "
        "rounded: .gguf, .safetensors or a folder of these (AutoAWQ, GPTQ, compressed-tensors, bitsandbytes)",
        kind=PATH,
    )
    partial: bool = row(
        False,
        "of weights: what the checkpoint lacks stays as the model has it, and tensors without a place are left; else both are errors",
        kind=FLAG,
    )
    quantize: str | Recipe | None = row(
        None,
        "round the weights first, as `pteron quantize --format` does: nf4, mxfp4 ..., or a recipe's file (.yaml)",
    )
    calibrate: Source | None = row(
        None,
        "samples by which weights are rounded and, with int8, activations get their ranges: .npz with each input by name along "
        "the first axis, .npy of the only input, or a folder of them; in Python also arrays, tensors, lists, tuples, dicts, a "
        "DataLoader or a generator of these; for int8 also ranges (.json)",
    )
    samples: int = row(64, "samples to calibrate with", kind=COUNT)
    statistics: str | os.PathLike[str] | None = row(
        None,
        "what the samples say of the layers' inputs: a file (.npz) that is written with `calibrate` and read without, for any format",
        kind=PATH,
    )
    evaluate: Samples | None = row(
        None,
        "samples, as for `calibrate`, that the loss at the outputs is measured on: of all layers, and of each alone",
    )
    resume: bool = row(
        False,
        "keep what was rounded and measured in a folder beside the output until it is written, and go on from one that is there",
        kind=FLAG,
    )
    max_ram: int | None = row(
        None,
        "bytes that weights and statistics may take at once while samples run, at least those of one layer",
        kind=COUNT,
    )
    tune: str | os.PathLike[str] | None = row(
        None,
        "a profile (.json) of what operators took on some machine, by which they are chosen where --fast-conv or --exec leaves a "
        "choice: the same bytes wherever the export runs; with --mode max-autotune what it lacks is measured and added, and a file "
        "that is not there is begun",
        kind=PATH,
    )
    quantized: Callable[[QuantReport], None] | None = row(
        None,
        "called with the report of each quantized graph",
        kind=CALLABLE,
    )
    check: bool = row(
        True,
        "a graph from PyTorch is not run on its example inputs and compared with the module",
        kind=FLAG,
    )
    debug: bool = row(True, "without names and source lines", kind=FLAG)

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        if (self.source is None) == (self.methods is None):
            raise ArgumentError(
                "export: expected either a source or methods, got both or neither; give one"
            )
        if any(isinstance(given, Mapping) and not given for given in (self.source, self.methods)):
            raise ArgumentError("methods: expected at least one, got none")
        for name in ("calibrate", "statistics", "evaluate", "resume", "max_ram"):
            given = getattr(self, name)
            if (
                given is not None
                and given is not False
                and (self.quantize is None or self.methods is not None)
            ):
                raise QuantError(f"{name}: expected quantize and one source; drop {name}")
        if self.partial and self.weights is None:
            raise ArgumentError("partial: expected weights; drop partial")
        if self.weights is not None and self.methods is not None:
            raise ArgumentError("weights: expected one source, got methods; drop weights")


def front(request: Callable[P, Request]) -> Callable[[Callable[[Request], T]], Callable[P, T]]:
    """A function of a request, called with the request's fields; its documentation tells each."""

    def front_of(work: Callable[[Request], T]) -> Callable[P, T]:
        given = inspect.signature(request)

        @functools.wraps(work)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                given.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{work.__name__}() {error}") from None
            return work(request(*args, **kwargs))

        first, raises, last = inspect.cleandoc(work.__doc__ or "").partition("\n\nRaises:")
        call.__signature__ = given.replace(return_annotation=work.__annotations__["return"])  # type: ignore[attr-defined]
        call.__doc__ = f"{first}\n\nArgs:\n{_told(given.parameters)}{raises}{last}\n"
        return call

    return front_of


def _told(names: Iterable[str]) -> str:
    """A paragraph an option."""
    lines = []
    for field in (rows(Request)[name] for name in names):
        text = field.metadata["text"]
        lines.append(f"{field.name}: {f'False: {text}' if field.default is True else text}")
    texts = [textwrap.fill(line, 110, subsequent_indent="    ") for line in lines]
    return textwrap.indent("\n".join(texts), "    ")
