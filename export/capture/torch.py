"""Capture of PyTorch: nn.Module with example inputs, ExportedProgram, .pt2 file. The only place that imports torch.

    module -> torch.export -> state_pairs -> torch.onnx at opset 24, not optimized -> capture_onnx

torch.onnx fails silently in known ways; each has a guard here: state written outside of buffers (`mutations`), buffer
mutation dropped (`state_pairs`), outputs that share a name (`state_pairs` clones), narrow quantization ranges lost
(`translations`), an opset that is not the one asked for, weights folded to floats (optimize=False).
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import inspect
import io
import json
import logging
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import onnx_ir as ir

from pteron.schema.errors import ModelError, existing

from .. import graph as g
from ..graph import bounds
from .check import KEY, Example
from .examples import FRAME, example_of
from .mutations import Trial, check_writes, eval_mode
from .onnx import capture_onnx, zip_kind
from .recurrent import kept_whole
from .small_sizes import dynamic_axes, least_sizes
from .state_pairs import Captured, state_pairs
from .torchlib import tables_made_once
from .traced import bounds_of, range_of, stated
from .variations import Maker, Subject, Varied

OPSET: Final = 24
"""At 23 torch.onnx writes invalid RotaryEmbedding; above 25 it mislabels the opset."""


def capture_torch(
    source: Any,
    *,
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    complex_pairs: bool = False,
    name: str | None = None,
) -> ir.Model:
    """Captures a module (in eval mode, without gradients), an ExportedProgram or a .pt2 file.

    Args:
        args, kwargs: Example inputs of a module.
        dynamic_shapes: Like `args`, leaves {axis: name or torch.export.Dim}; one name is one dimension wherever it stands. For an
            ExportedProgram it only names dimensions that are dynamic already.
        complex_pairs: Complex inputs and outputs become f32 or f64 with an axis of 2, real and imaginary part, behind the others.

    Raises:
        ModelError: torch is missing, the export fails, or the module keeps state that cannot be seen from outside.
    """
    path = existing(Path(source)) if isinstance(source, (str, os.PathLike)) else None
    where = name or (type(source).__name__ if path is None else path.stem)
    torch = _torch()
    if path is not None:
        source = _load(torch, path)
    if isinstance(source, torch.export.ExportedProgram):
        if args is not None or kwargs is not None:
            raise ModelError(
                f"{where}: an exported program has its inputs already; leave out args and kwargs"
            )
        program, trial, least = source, None, dict[str, int]()
        example: Any = program.example_inputs or ((), {})
    elif isinstance(source, torch.nn.Module):
        if args is None and kwargs is None:
            raise ModelError(
                f"{where}: expected example inputs, got none; pass args=(...) as you would call the module (model.py:make returns (module, args))"
            )
        if args is not None and not isinstance(args, (tuple, list)):
            raise ModelError(
                f"{where}: args: expected a tuple of inputs, got {type(args).__name__}; pass args=(x,)"
            )
        example = _detached(torch, (tuple(args or ()), dict(kwargs or {})))
        program, trial, least = _export(torch, source, example, dynamic_shapes, where)
    else:
        raise ModelError(
            f"model: expected a path, ONNX model, torch module or ExportedProgram, got {type(source).__name__}"
        )
    axes = list(dynamic_axes(torch, program))
    with _quiet(), tables_made_once(), torch.no_grad():
        names = _names(torch, source, example, dynamic_shapes)
        with _any_size():
            captured = state_pairs(
                torch, program, where, ours=trial is not None, complex_pairs=complex_pairs
            )
        missed = sorted(trial.written - captured.states.keys()) if trial is not None else []
        if missed:
            raise ModelError(
                f"{where}: buffer {missed[0]!r} is written when the module runs but torch.export does not see it; write it in place (copy_)"
            )
        model, captured = _convert(torch, program, captured, names, least, where, name)
    model.meta[g.PARAMETERS] = frozenset(captured.program.state_dict)
    model.meta[g.NOTES] = [
        *model.meta.get(g.NOTES, []),
        *captured.notes,
        *(
            f"{where}: input {name!r} is written by the module: output {name + '_out'!r} is what it becomes"
            for name in captured.written
        ),
    ]
    if program.example_inputs is not None:
        varied = Varied(axes, _limits(program, axes, least), _called(torch, example, axes, model))
        model.meta[KEY] = _example(torch, source, program, captured, example, varied, trial)
    return model


def _example(
    torch: Any,
    source: Any,
    program: Any,
    captured: Captured,
    example: Any,
    varied: Varied,
    trial: Trial | None,
) -> Example:
    """What the check needs. A module begins its other runs with the states that the first one left."""
    leaves, spec = torch.utils._pytree.tree_flatten(example)
    module = source
    states = dict(captured.states)
    if trial is None:
        with _quiet():
            module = program.module(check_guards=False)
    else:
        states = {s: trial.buffers[s] for s in states}
    subject = Subject(torch, module, states)

    def run() -> tuple[Any, dict[str, Any], list[Any]]:
        if trial is not None:
            return trial.result, trial.buffers, trial.inputs
        with _quiet():
            return subject.run(leaves, spec)

    maker = Maker(torch, subject, captured, example, varied, list(states.values()))
    return example_of(torch, captured, run, example, maker.others, maker.itself)


def _limits(
    program: Any, axes: list[tuple[int, int, Any]], least: Mapping[str, int]
) -> dict[Any, tuple[int, int]]:
    """The least and the largest size by the tracer's symbol."""
    found = {}
    for symbol in {s for _, _, e in axes for s in e.free_symbols}:
        low, high = range_of(program.range_constraints.get(symbol))
        found[symbol] = max(low, least.get(str(symbol), 0)), high
    return found


def _called(
    torch: Any, example: Any, axes: list[tuple[int, int, Any]], model: ir.Model
) -> dict[Any, str]:
    """The graph's name of each symbol of the tracer."""
    leaves = torch.utils._pytree.tree_leaves(example)
    places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
    ports = dict(zip(places, model.graph.inputs, strict=False))
    return {
        e: str(list(ports[i].shape or ())[axis])
        for i, axis, e in axes
        if e.is_Symbol and i in ports
    }


def _detached(torch: Any, example: Any) -> Any:
    """The inputs without their histories, each tensor its own: one that requires grad is traced like any other."""
    tree: Any = torch.utils._pytree
    return tree.tree_map(lambda x: x.detach() if isinstance(x, torch.Tensor) else x, example)


def _torch() -> Any:
    try:
        import onnxscript  # noqa: F401  torch.onnx needs it and says so late
        import torch
    except ImportError as error:
        raise ModelError(
            f"a torch model needs {error.name}, which is not installed; pip install 'pteron[torch]', or export to ONNX elsewhere"
        ) from error
    return torch


def _load(torch: Any, path: Path) -> Any:
    try:
        with _quiet():  # torch logs what it raises
            return torch.export.load(path)
    except Exception as error:
        what = zip_kind(path.read_bytes())
        if what and "named .pt2" not in what:
            raise ModelError(
                f"{path.name}: expected a program of torch.export.save, got {what}"
            ) from None
        raise ModelError(
            f"{path.name}: expected a program of torch.export.save, got {_reason(error)}; "
            "custom operators must be imported before, and the torch version must not be older than the file's"
        ) from error


def _export(
    torch: Any, module: Any, example: Any, dynamic_shapes: Any, where: str
) -> tuple[Any, Trial, dict[str, int]]:
    """The program, what a run of the module gave, and the least sizes that the program holds for."""
    with eval_mode(module), torch.no_grad(), _quiet():
        trial = check_writes(torch, module, example, where)
        try:
            with kept_whole(torch) if dynamic_shapes is not None else contextlib.nullcontext():
                program = _traced(torch, module, example, _for_torch(torch, dynamic_shapes))
        except Exception as error:
            raise ModelError(
                f"{where}: torch.export failed: {_reason(error)}; make torch.export.export work first"
            ) from error
        is_asked = dynamic_shapes is not None and not trial.written
        least = least_sizes(torch, module, program, example) if is_asked else {}
    return program, trial, least


def _traced(torch: Any, module: Any, example: Any, dynamic_shapes: Any) -> Any:
    """torch.export, first without its assumption that a dynamic axis is neither 0 nor 1; some modules cannot be traced so.

    Last by its bytecode: `len(x)` is a size there; where torch runs the module, Python makes it a number.
    """

    def trace(strict: bool) -> Any:
        with contextlib.redirect_stderr(io.StringIO()):  # it prints half a graph where it fails
            return torch.export.export(
                module, example[0], example[1], dynamic_shapes=dynamic_shapes, strict=strict
            )

    if dynamic_shapes is None:
        return trace(False)
    with contextlib.suppress(Exception), _any_size():
        return trace(False)
    try:
        return trace(False)
    except Exception as error:
        if "specialized it to be a constant" not in str(error):
            raise
        try:
            with _any_size():
                return trace(True)
        except Exception as again:
            error.add_note(str(again))  # it knows the line
            raise error from None


def _any_size() -> Any:
    """Lets torch trace and decompose without the assumption that a dynamic axis is neither 0 nor 1; torch.onnx does, too."""
    from torch.fx.experimental import _config

    config: Any = _config
    return config.patch(backed_size_oblivious=True)


def _for_torch(torch: Any, spec: Any) -> Any:
    """Names become Dim.DYNAMIC: torch checks that the axis stays dynamic, and may still find relations between axes."""
    if isinstance(spec, str):
        return torch.export.Dim.DYNAMIC
    if isinstance(spec, Mapping):
        return {k: _for_torch(torch, v) for k, v in spec.items()}
    if isinstance(spec, (list, tuple)):
        return type(spec)(_for_torch(torch, v) for v in spec)
    return spec


def _names(torch: Any, source: Any, example: Any, dynamic_shapes: Any) -> list[Any]:
    """Names of dynamic axes, {axis: name} or None, for each tensor input in order."""
    found: dict[int, list[Any]] = {}

    def pair(value: Any, spec: Any) -> None:
        if isinstance(value, torch.Tensor):
            found.setdefault(id(value), []).append(_axis_names(spec))
        elif isinstance(value, Mapping):
            for key, item in value.items():
                pair(item, spec.get(key) if isinstance(spec, Mapping) else None)
        elif isinstance(value, (list, tuple)):
            inner = list(spec) if isinstance(spec, (list, tuple)) else []
            for item, each in zip(value, [*inner, *[None] * len(value)], strict=False):
                pair(item, each)

    positional, keyword = example
    pair(*_bound(source, positional, keyword, dynamic_shapes))
    leaves = torch.utils._pytree.tree_leaves((positional, keyword))
    return [
        found[id(x)].pop(0) if found.get(id(x)) else None
        for x in leaves
        if isinstance(x, torch.Tensor)
    ]


def _bound(source: Any, positional: Any, keyword: Any, spec: Any) -> tuple[Any, Any]:
    """Inputs and specs by parameter, or both in order; `*args` is one parameter."""
    try:
        bound = dict(inspect.signature(source.forward).bind(*positional, **keyword).arguments)
    except (AttributeError, TypeError, ValueError):  # an ExportedProgram has no forward
        names = [k for k in spec if k not in keyword] if isinstance(spec, Mapping) else []
        numbers = map(str, range(len(names), len(positional)))
        bound = {**dict(zip([*names, *numbers], positional, strict=False)), **keyword}
    return (bound, spec) if isinstance(spec, Mapping) else (list(bound.values()), spec)


def _axis_names(spec: Any) -> dict[int, str] | None:
    pairs = (
        enumerate(spec)
        if isinstance(spec, (list, tuple))
        else spec.items()
        if isinstance(spec, Mapping)
        else ()
    )
    named = {}
    for axis, dim in pairs:
        if isinstance(dim, str):
            named[int(axis)] = dim
        elif hasattr(dim, "__name__"):
            named[int(axis)] = str(dim.__name__)
    return named or None


def _convert(
    torch: Any,
    program: Any,
    captured: Captured,
    names: list[Any],
    least: Mapping[str, int],
    where: str,
    name: str | None,
) -> tuple[ir.Model, Captured]:
    """The graph, and the program that it was written from value by value: torch.onnx decomposes, which gives other names."""
    from .translations import translations

    shapes = None
    if any(names):
        shapes = (*names[: len(captured.inputs)], *[None] * (len(captured.inputs) - len(names)))
        shapes += (None,) * len(captured.states)
    guards = [*stated(torch, program), *stated(torch, captured.program)]
    captured.program._guards_code = []  # a guard between two inputs makes torch.onnx fail; `bounds_of` keeps them
    try:
        result = torch.onnx.export(
            captured.program,
            dynamo=True,
            opset_version=OPSET,
            optimize=False,
            verbose=False,
            input_names=[*captured.inputs, *(f"past.{s}" for s in captured.states)],
            output_names=[*captured.outputs, *(f"present.{s}" for s in captured.states)],
            dynamic_shapes=shapes,
            custom_translation_table=translations(captured.program),
        )
    except Exception as error:
        raise ModelError(f"{where}: conversion to ONNX failed: {_reason(error)}") from error
    model: ir.Model = result.model
    got = model.graph.opset_imports.get("")
    if got != OPSET:
        raise ModelError(
            f"{where}: torch.onnx was asked for opset {OPSET}, got {got}; this is a bug of torch.onnx"
        )
    _check_ports(model, captured, where)
    guards += stated(torch, result.exported_program)
    bounds.write(model, bounds_of(torch, captured, model, guards, least, where))
    if captured.states:
        model.metadata_props[g.STATE] = _state_json(captured.states)
    written = dataclasses.replace(captured, program=result.exported_program)
    return capture_onnx(model, name or where), written


def _check_ports(model: ir.Model, captured: Any, where: str) -> None:
    wanted = [*captured.outputs, *(f"present.{s}" for s in captured.states)]
    got = [v.name for v in model.graph.outputs]
    if got != wanted or len(set(got)) != len(got):
        raise ModelError(
            f"{where}: torch.onnx was asked for outputs {wanted}, got {got}; return every tensor once"
        )
    inputs = [v.name for v in model.graph.inputs]
    expected = [*captured.inputs, *(f"past.{s}" for s in captured.states)]
    if inputs != expected:
        raise ModelError(
            f"{where}: torch.onnx was asked for inputs {expected}, got {inputs}; this is a bug of torch.onnx"
        )


def _state_json(states: Mapping[str, Any]) -> str:
    """{"past.x": "present.x", ..., "initial": {"past.x": base64 of the little-endian bytes}}; zeros are left out."""
    record: dict[str, Any] = {f"past.{s}": f"present.{s}" for s in states}
    initial = {}
    for state, value in states.items():
        if value is not None and bool(value.ne(0).any()):
            raw = ir.tensor(value.detach().contiguous()).tobytes()
            initial[f"past.{state}"] = base64.b64encode(raw).decode()
    return json.dumps({**record, "initial": initial})


def _reason(error: BaseException) -> str:
    """The cause that says most: the innermost exception's first line, and the user's line where torch names it."""
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    if isinstance(chain[-1], ModelError):
        return str(chain[-1])
    text = "\n".join("\n".join([str(e), *getattr(e, "__notes__", ())]) for e in chain)
    known = re.search(r"No ONNX function found for ([^\n]+)", text) or re.search(
        r"(Could not guard on data-dependent expression[^\n]+)", text
    )
    line = re.search(r"(Constraints violated[^\n]*(?:\n[^\n]+){0,4})", text)
    if line:
        return " ".join(line.group(1).split()) + _place(text)
    if known:
        hint = "; register one: pteron.export.translation" if known.group(0)[:2] == "No" else ""
        return known.group(0).strip() + _place(text) + hint
    first = next((part for part in str(chain[-1]).splitlines() if part.strip()), "")
    return f"{type(chain[-1]).__name__}: {first.strip()}"[:300]


def _place(text: str) -> str:
    """The user's line, where torch's text has the stack."""
    frames = [f for f in FRAME.findall(text) if "/site-packages/torch/" not in f[0]]
    return f" at {frames[-1][0]}:{frames[-1][1]}" if frames else ""


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Warnings and log lines of torch.onnx are about its own optimizer, which does not run; what fails is raised."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
