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
from pteron.quantize.recipe.rules import (
    ALGORITHMS,
    METRICS,
    RANGES,
    ROTATIONS,
    SCALINGS,
)
from pteron.schema.errors import ArgumentError, RecipeError
from pteron.schema.renamed import renamed_keyword

if TYPE_CHECKING:
    from pteron.quantize.observe.calibrate import Source
    from pteron.quantize.observe.samples import Samples
    from pteron.quantize.recipe.rules import Recipe
    from pteron.quantize.report import QuantReport

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
        "ExportedProgram; a decoder's checkpoint: a GGUF file, or a folder with config.json and safetensors; None where `methods` is given",
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
        "checkpoint that replaces the model's weights by name before quantization, as its tool quantized them: .gguf, "
        ".safetensors, or a folder of these (AutoAWQ, GPTQ, compressed-tensors, bitsandbytes)",
        kind=PATH,
    )
    partial: bool = row(
        False,
        "let weights cover a part of the model: parameters without a tensor stay as they are, tensors without a parameter "
        "are left out. Without it both are errors",
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
        "quantize the weights to this format first, as `pteron quantize --format` does: int8, nf4, mxfp4 ... (a wrong name "
        "lists all), or a recipe (.yaml)",
    )
    calibrate: Source | None = row(
        None,
        "samples for GPTQ and, with int8, for the ranges of activations: .npz with each input by name along the first axis, "
        ".npy of the only input, or a folder of them; in Python also arrays, tensors, lists, tuples, dicts, a DataLoader or "
        "a generator of these. For int8 also a file of ranges (.json)",
    )
    samples: int = row(64, "how many samples of calibrate to use", kind=COUNT)
    statistics: str | os.PathLike[str] | None = row(
        None,
        "file (.npz) for statistics of the layers' inputs: written with `calibrate`, read without; any format can use them "
        "again",
        kind=PATH,
    )
    evaluate: Samples | None = row(
        None,
        "samples, as for `calibrate`, to measure the loss at the outputs on: of all layers, and of each alone",
    )
    resume: bool = row(
        False,
        "keep finished work in a folder beside the output until that is written, and continue from one that is there",
        kind=FLAG,
    )
    max_ram: int | None = row(
        None,
        "bytes for weights and statistics while samples run; at least those of one layer",
        kind=COUNT,
    )
    tune: str | os.PathLike[str] | None = row(
        None,
        "profile (.json) of operator times on a target machine: decides where fast_conv or activations leaves a choice of "
        "operators, so that the program is the same wherever it is exported. With mode max-autotune missing times are "
        "measured and added, and a missing file is created",
        kind=PATH,
    )
    quantized: Callable[[QuantReport], None] | None = row(
        None,
        "called with the report of each quantized graph",
        kind=CALLABLE,
    )
    check: bool = row(
        True,
        "run a graph from PyTorch and compare it with the module, on the example inputs and on others; without (--no-check) "
        "it is not compared",
        kind=FLAG,
    )
    strip: bool = row(False, "leave out names and source lines", kind=FLAG)
    dry_run: bool = row(
        False, "stop after lowering: report problems, write nothing but the report", kind=FLAG
    )
    report: str | os.PathLike[str] | None = row(
        None, "write the report, or the error, to this file: .json or .html", kind=PATH
    )
    ranges: str | os.PathLike[str] | None = row(
        None,
        "write the observed ranges of activations to this file (.json), for calibrate",
        kind=PATH,
    )
    save_onnx: str | os.PathLike[str] | None = row(
        None,
        "write the captured graph, before it is quantized, as standard ONNX of the lowest opset that has its operators: for "
        "other runtimes, and for commands that take .onnx",
        kind=PATH,
    )
    kernel_list: str | os.PathLike[str] | None = row(
        None,
        "write a C header that limits a build to the program's kernels (CMake: PTE_KERNEL_LIST)",
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
        None, "output, .onnx or .pte; required without dry_run", kind=PATH
    )
    _: dataclasses.KW_ONLY
    args: Sequence[Any] | None = _like("args")
    kwargs: Mapping[str, Any] | None = _like("kwargs")
    dynamic_shapes: Any = _like("dynamic_shapes")
    format: str | None = row(
        None,
        "format of the weights: int8, nf4, mxfp4 ...; a wrong name lists all",
        kind=((str,), "a name"),
    )
    recipe: str | os.PathLike[str] | Recipe | None = row(
        None,
        "file (.yaml) with format, rules, embeddings, algorithm, activations, scaling, rotation, seed, range and targets",
    )
    rules: Mapping[str, str] | None = row(
        None,
        "REGEX=FORMAT: layers whose name matches REGEX get FORMAT, or stay as they are (skip); the last match wins",
        kind=MAPPING,
    )
    algorithm: str = row(
        "",
        "rounding: to nearest, by a scale search, or by GPTQ; default: gptq with samples or statistics, else search",
        choices=ALGORITHMS,
    )
    activations: str = _like("activations")
    scaling: str = row(
        "none",
        "scale input channels of layers before rounding (AWQ; needs samples): folded into weights and norms around them "
        "(fold), or with an added multiplication where it cannot be folded (multiply)",
        choices=SCALINGS,
    )
    rotation: str = row(
        "none",
        "rotate channels before rounding, folded into the weights around them (QuaRot): values of attention heads, the "
        "residual stream, or both (all)",
        choices=ROTATIONS,
    )
    seed: int = row(0, "seed of the random signs of rotation", kind=COUNT)
    range: str = row(
        "",
        "calibration method for ranges of static activations: minmax, the default, or without outliers: percentile, entropy, "
        "mse",
        choices=RANGES,
    )
    embeddings: bool = row(False, "quantize embedding tables (Gather), too", kind=FLAG)
    target_bpw: float | None = row(
        None,
        "mixed precision: choose each layer's format by its sensitivity, for this many bits a weight on average",
        kind=((int, float), "a number"),
    )
    target_size: int | str | None = row(
        None,
        "mixed precision as target_bpw, for this size of all weights: 12MB",
        kind=((int, str), "bytes"),
    )
    max_loss: float | None = row(
        None,
        "mixed precision: the fewest bits, or the fewest int16 and f32 units of static int8, whose loss at the outputs stays "
        "at or below this, in units of metric",
        kind=((int, float), "a number"),
    )
    metric: str = row(
        "cosine",
        "unit of max_loss and evaluate: cosine, the mean of 1 - cosine times 10^4; top1, per cent of outputs whose largest "
        "element changes; perplexity, of the tokens that are read",
        choices=METRICS,
    )
    among: str | Sequence[str] = row("", "formats that a target may choose from: nf4,mxfp6,int8")
    calibrate: Source | None = _like("calibrate")
    samples: int = _like("samples")
    ranges: str | os.PathLike[str] | None = _like("ranges")
    statistics: str | os.PathLike[str] | None = _like("statistics")
    evaluate: Samples | None = _like("evaluate")
    resume: bool = _like("resume")
    max_ram: int | None = _like("max_ram")
    dry_run: bool = row(
        False,
        "report what each layer would become, its bytes and its error by rounding to nearest; write nothing but the report",
        kind=FLAG,
    )
    report: str | os.PathLike[str] | None = _like("report")
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
