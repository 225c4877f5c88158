"""What `export_model` and `quantize_model` are asked for: the options of an export, and those of reading, quantizing and writing."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from pteron.export.options import (
    CALLABLE,
    COUNT,
    FLAG,
    MAPPING,
    PATH,
    Options,
    check_values,
    row,
    rows,
)
from pteron.quantize.recipe import ACTIVATIONS, ALGORITHMS, METRICS, RANGES, ROTATIONS, SCALINGS
from pteron.schema.errors import ArgumentError, RecipeError
from pteron.schema.renamed import renamed_keyword

if TYPE_CHECKING:
    from pteron.quantize.calibrate import Source
    from pteron.quantize.recipe import Recipe
    from pteron.quantize.report import QuantReport
    from pteron.quantize.samples import Samples

P = ParamSpec("P")
R = TypeVar("R")
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
        "path of an .onnx or .pt2 file, or model.py:NAME of a module or a function that returns (module, args[, dynamic_shapes]); bytes of an ONNX file, onnx.ModelProto, onnx_ir.Model, torch module or "
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
    tokenizer: str | os.PathLike[str] | None = row(
        None,
        "the model's tokenizer goes into the program: tokenizer.json, a folder with one, or a .gguf; one that needs what the program "
        "cannot say is an error",
        kind=PATH,
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
        "a profile (.json) of what operators took on some machine, by which they are chosen where --fast-conv or --exec-mode leaves a "
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
    strip: bool = row(False, "without names and source lines", kind=FLAG)
    dry_run: bool = row(
        False, "lower only: report problems, write nothing but the report", kind=FLAG
    )
    report: str | os.PathLike[str] | None = row(
        None, "write the report, or the error, as .json or .html", kind=PATH
    )
    ranges: str | os.PathLike[str] | None = row(
        None, "write the ranges of activations that were found (.json), for calibrate", kind=PATH
    )
    save_onnx: str | os.PathLike[str] | None = row(
        None,
        "write the captured and cleaned graph as standard ONNX, before it is quantized, at the lowest opset in which its operators "
        "mean the same: for other runtimes, and for commands that take .onnx",
        kind=PATH,
    )
    kernel_list: str | os.PathLike[str] | None = row(
        None,
        "write a header for a build with the program's kernels alone (CMake: PTE_KERNEL_LIST)",
        kind=PATH,
    )

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        if (self.source is None) == (self.methods is None):
            raise ArgumentError(
                "export: expected either a source or methods, got both or neither; give one"
            )
        if isinstance(self.source, Mapping) and self.source:
            raise ArgumentError(
                "source: expected a model, got a dict; load a state dict into its module and export that, or give several models "
                "as methods"
            )
        if any(isinstance(given, Mapping) and not given for given in (self.source, self.methods)):
            raise ArgumentError("methods: expected at least one, got none")
        check_report(self.report)
        for name in ("calibrate", "statistics", "evaluate", "resume", "max_ram", "ranges"):
            given = getattr(self, name)
            if (
                given is not None
                and given is not False
                and (self.quantize is None or self.methods is not None)
            ):
                raise RecipeError(f"{name}: expected quantize and one source; drop {name}")
        if self.partial and self.weights is None:
            raise ArgumentError("partial: expected weights; drop partial")
        if self.save_onnx is not None and self.methods is not None:
            raise ArgumentError("save_onnx: expected one source, got methods; drop save_onnx")
        if self.weights is not None and self.methods is not None:
            raise ArgumentError("weights: expected one source, got methods; drop weights")


def _like(name: str) -> Any:
    """The row of an export's option."""
    field = rows(Request)[name]
    facts = field.metadata
    return row(field.default, facts["text"], choices=facts["choices"], kind=facts["kind"])


@dataclasses.dataclass(frozen=True, slots=True)
class Quantization:
    """One quantization, from a source to a file.

    Raises:
        ArgumentError: no source, neither a format nor a recipe, or both, a value that is none of the choices.
    """

    source: Any = row(
        None,
        "as export_model takes it: a path of an .onnx or .pt2 file, model.py:NAME, bytes or a model of ONNX, a torch module",
    )
    out: str | os.PathLike[str] | None = row(
        None, "an .onnx or .pte file; needed, but for dry_run", kind=PATH
    )
    _: dataclasses.KW_ONLY
    args: Sequence[Any] | None = _like("args")
    kwargs: Mapping[str, Any] | None = _like("kwargs")
    dynamic_shapes: Any = _like("dynamic_shapes")
    format: str | None = row(
        None, "nf4, mxfp4 ...; an unknown one names all", kind=((str,), "a name")
    )
    recipe: str | os.PathLike[str] | Recipe | None = row(
        None,
        "what format, rules, embeddings, algorithm, activations, scaling, rotation, seed, range and the targets say, as a file "
        "(.yaml)",
    )
    rules: Mapping[str, str] | None = row(
        None,
        "REGEX=FORMAT: layers whose name REGEX finds get FORMAT, or stay as they are (skip); the last match wins",
        kind=MAPPING,
    )
    algorithm: str = row(
        "",
        "of rounding; default: gptq where there are samples or statistics, else search",
        choices=ALGORITHMS,
    )
    activations: str = row(
        "auto",
        "auto: int8 with format int8 and calibrate, else float; int16 there loses less and takes longer",
        choices=ACTIVATIONS,
    )
    scaling: str = row(
        "none",
        "with samples: channels that layers read are scaled before weights are rounded (AWQ), by weights and norms around "
        "them (fold), or by a multiplication more where those cannot (multiply)",
        choices=SCALINGS,
    )
    rotation: str = row(
        "none",
        "channels are rotated in the weights around them before these are rounded (QuaRot): of the values of attention heads, of "
        "the residual stream, or of both (all)",
        choices=ROTATIONS,
    )
    seed: int = row(0, "of the signs of rotation", kind=COUNT)
    range: str = row(
        "",
        "of activations in static int8: all of what samples showed (minmax, the default), or without outliers, by how many "
        "(percentile), by what codes tell of how elements lie (entropy) or by what they miss (mse)",
        choices=RANGES,
    )
    embeddings: bool = row(False, "tables that Gather reads, too", kind=FLAG)
    target_bpw: float | None = row(
        None,
        "formats by what each layer costs at the output, so that weights take so many bits on average",
        kind=((int, float), "a number"),
    )
    target_size: int | str | None = row(
        None, "as target_bpw, for all weights: 12MB", kind=((int, str), "bytes")
    )
    max_loss: float | None = row(
        None,
        "as few bits, or units of static int8 in int16 or f32, as keep the metric at the outputs at this loss or below",
        kind=((int, float), "a number"),
    )
    metric: str = row(
        "cosine",
        "of max_loss and evaluate: the mean of 1 - cosine at the outputs, times 10^4 (cosine); per cent of outputs whose "
        "largest element is another (top1); perplexity of the tokens that are read",
        choices=METRICS,
    )
    among: str | Sequence[str] = row("", "formats for a target: nf4,mxfp6,int8")
    calibrate: Source | None = _like("calibrate")
    samples: int = _like("samples")
    ranges: str | os.PathLike[str] | None = _like("ranges")
    statistics: str | os.PathLike[str] | None = _like("statistics")
    evaluate: Samples | None = _like("evaluate")
    resume: bool = _like("resume")
    max_ram: int | None = _like("max_ram")
    dry_run: bool = row(
        False,
        "what each layer would become, its bytes and its error by nearest rounding; write nothing but the report",
        kind=FLAG,
    )
    report: str | os.PathLike[str] | None = _like("report")
    exec_mode: str = _like("exec_mode")
    progress: Callable[[str], None] | None = _like("progress")

    def __post_init__(self) -> None:
        check_values(self)
        check_report(self.report)
        if self.source is None:
            raise ArgumentError("quantize: expected a source, got none")
        if (self.format is None) == (self.recipe is None):
            raise ArgumentError("expected format or recipe, got both or neither; give one")
        if self.recipe is not None:
            for field in dataclasses.fields(self):
                if field.name in OF_RECIPES and getattr(self, field.name) != field.default:
                    raise ArgumentError(
                        f"{field.name}: expected in the recipe; write it there, or drop recipe"
                    )


OF_RECIPES: Final = (
    "rules", "embeddings", "algorithm", "activations", "scaling", "rotation", "seed", "range", "target_bpw", "target_size",
    "max_loss", "metric", "among",
)  # fmt: skip
"""Options that a recipe's file says."""


def check_report(path: str | os.PathLike[str] | None) -> None:
    """Raises ArgumentError: a report is a page or JSON, by its name."""
    if path is not None and Path(path).suffix not in (".html", ".json"):
        raise ArgumentError(f"report {path}: expected an .html or .json file")


def front(request: Callable[P, R]) -> Callable[[Callable[[R], T]], Callable[P, T]]:
    """A function of a request, called with the request's fields; its documentation tells each."""

    def front_of(work: Callable[[R], T]) -> Callable[P, T]:
        given = inspect.signature(request)

        @functools.wraps(work)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                given.bind(*args, **kwargs)
            except TypeError as error:
                hint = renamed_keyword(kwargs, given.parameters)
                raise TypeError(f"{work.__name__}() {error}{hint}") from None
            return work(request(*args, **kwargs))

        first, raises, last = inspect.cleandoc(work.__doc__ or "").partition("\n\nRaises:")
        call.__signature__ = given.replace(return_annotation=work.__annotations__["return"])  # type: ignore[attr-defined]
        call.__doc__ = f"{first}\n\nArgs:\n{_told(request)}{raises}{last}\n"
        return call

    return front_of


def _told(request: Any) -> str:
    """A paragraph an option."""
    lines = []
    for field in (rows(request)[name] for name in inspect.signature(request).parameters):
        text = field.metadata["text"]
        lines.append(f"{field.name}: {f'False: {text}' if field.default is True else text}")
    texts = [textwrap.fill(line, 110, subsequent_indent="    ") for line in lines]
    return textwrap.indent("\n".join(texts), "    ")
