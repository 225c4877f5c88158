"""An ExportedProgram that writes buffers becomes one with pairs of inputs and outputs, on the graph, without a second trace.

Every output gets a clone of its own, so that a value returned twice, or an input returned unchanged, keeps a name in ONNX.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping
from typing import Any, Final

from pteron.schema.errors import ModelError

from . import booleans, empty_tensors, linalg, segments, windows
from .functionalize import without_writes
from .pairs import as_pairs, without_complex
from .traced import decomposed


@dataclasses.dataclass(frozen=True, slots=True)
class Captured:
    """`states`: buffer name -> its value at the time of capture. Inputs and outputs are the user's own, states excluded; the last outputs
    are what the inputs `written` become. `has_complex`: the program had complex numbers, which are pairs now.
    """

    program: Any
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    states: dict[str, Any]
    written: tuple[str, ...] = ()
    has_complex: bool = False
    notes: tuple[str, ...] = ()


def state_pairs(
    torch: Any, program: Any, where: str, *, ours: bool, complex_pairs: bool = False
) -> Captured:
    """Decomposes nothing but functionalises: mutated buffers become inputs `past.<name>` and outputs `present.<name>`.

    Args:
        ours: The program may be changed. Where nothing in it writes, that saves tracing it once more.
        complex_pairs: Complex inputs and outputs become real ones of pairs.

    Raises:
        ModelError: parameters are written, or an output is neither tensor nor number.
    """
    from torch.export import graph_signature as sig

    if ours:
        _clone_results_of_branches(torch, program.graph_module)
        without_writes(torch, program)
    try:
        table: dict[Any, Any] = {}
        for part in (linalg, segments, windows):
            table |= part.table(torch) if part.needed(torch, program) else {}
        as_it_is = ours and not table and not _writes(torch, program)
        done = program if as_it_is else decomposed(program, table)
        real, notes = without_complex(torch, done, where, complex_pairs)
        has_complex, done = real is not done, real
    except ModelError:
        raise
    except Exception as error:
        text = next((line for line in str(error).splitlines() if line.strip()), "")
        raise ModelError(
            f"{where}: torch.export's program has no functional form: {type(error).__name__}: {text}"
        ) from error
    signature, graph = done.graph_signature, done.graph_module.graph
    if getattr(signature, "parameters_to_mutate", {}):
        raise ModelError(
            f"{where}: parameter {next(iter(signature.parameters_to_mutate.values()))!r} is written; make it a buffer"
        )
    if any(s.kind == sig.InputKind.TOKEN for s in signature.input_specs):
        raise ModelError(
            f"{where}: the program has operators with side effects (printing, scripts); remove them"
        )
    node = {n.name: n for n in graph.nodes}
    producer = {buffer: output for output, buffer in signature.buffers_to_mutate.items()}
    targets = list(producer)
    inputs = _input_specs(sig, signature, graph, node, targets, where)
    user = [s.arg for s in signature.output_specs if s.kind == sig.OutputKind.USER_OUTPUT]
    names = _output_names(torch, program, len(user))
    kept = []
    for arg, name in zip(user, names, strict=True):
        if isinstance(arg, sig.TensorArgument):
            kept.append((arg.name, name))
        elif not (isinstance(arg, sig.ConstantArgument) and arg.value is None):
            kept.append((_number(torch, sig, graph, node, arg, f"{where}: output {name!r}"), name))
    kept += [(output, name) for output, name in signature.user_inputs_to_mutate.items()]
    written = tuple(signature.user_inputs_to_mutate.values())
    empty_tensors.as_constants(torch, graph)
    _first_names(torch, graph)
    _known_parts(torch, graph)
    _dense_before_views(torch, graph)
    _tensors_for_numbers(torch, graph)
    booleans.as_numbers(torch, graph)
    specs = _clone_outputs(
        torch, sig, graph, node, [k for k, _ in kept] + [producer[t] for t in targets]
    )
    graph.lint()
    done.graph_module.recompile()
    values = {t: done.state_dict.get(t, done.constants.get(t)) for t in targets}
    user_in = [s.arg.name for s in inputs if s.kind == sig.InputKind.USER_INPUT]
    made = _rebuild(torch, sig, done, inputs, specs, values)
    mine = tuple(user_in[: len(user_in) - len(targets)])
    # An input and an output of one name would be one value in ONNX.
    outputs = tuple(n + "_out" * (n in mine) for _, n in kept)
    return Captured(made, mine, outputs, values, written, has_complex, notes)


def _clone_results_of_branches(torch: Any, module: Any) -> None:
    """A branch of torch.cond may give its input or a view of it, which torch does not decompose; a copy is no view."""
    for name, inner in module.named_modules():
        if not name or not hasattr(inner, "graph"):
            continue
        (out,) = inner.graph.find_nodes(op="output")
        with inner.graph.inserting_before(out):

            def clone(node: Any, graph: Any = inner.graph) -> Any:
                value = node.meta.get("val")
                if not isinstance(value, torch.Tensor):
                    return node
                copy = graph.call_function(torch.ops.aten.clone.default, (node,))
                copy.meta = {k: v for k, v in node.meta.items() if k != "unbacked_bindings"}
                return copy

            out.args = torch.fx.map_arg(out.args, clone)
        inner.recompile()


def _writes(torch: Any, program: Any) -> bool:
    """Whether an operator may write one of its arguments; one with a body of its own may."""
    calls = (n.target for n in program.graph.nodes if n.op == "call_function")
    symbolic = (torch.sym_not, torch.sym_max, torch.sym_min, torch.sym_float, torch.sym_ite)
    for target in calls:
        if isinstance(target, torch._ops.OpOverload):
            if target._schema.is_mutable:
                return True
        elif target not in symbolic and getattr(target, "__module__", "") not in (
            "_operator",
            "math",
        ):
            return True
    return any(n.op == "get_attr" for n in program.graph.nodes)


def _input_specs(
    sig: Any, signature: Any, graph: Any, node: Any, targets: list[str], where: str
) -> list[Any]:
    """Specs in their new order: the mutated buffers become the last user inputs; placeholders follow."""
    buffers = {s.target: s.arg for s in signature.input_specs if s.kind == sig.InputKind.BUFFER}
    inputs = []
    for spec in signature.input_specs:
        if spec.kind == sig.InputKind.BUFFER and spec.target in targets:
            continue
        if spec.kind == sig.InputKind.USER_INPUT and not isinstance(spec.arg, sig.TensorArgument):
            # A Python value was burnt in; its placeholder is idle.
            if isinstance(spec.arg, sig.ConstantArgument) and not node[spec.arg.name].users:
                graph.erase_node(node[spec.arg.name])
                continue
            raise ModelError(
                f"{where}: input {spec.arg.name!r} is a dynamic number; pass a tensor instead"
            )
        inputs.append(spec)
    inputs += [sig.InputSpec(sig.InputKind.USER_INPUT, buffers[t], None) for t in targets]
    at = next(iter(graph.nodes))
    for spec in inputs:
        placeholder = node[spec.arg.name]
        if placeholder is not at:
            at.prepend(placeholder)
        else:
            at = at.next
    return inputs


def _number(torch: Any, sig: Any, graph: Any, node: dict[str, Any], arg: Any, where: str) -> str:
    """A number among the outputs as a scalar tensor: the name of its node."""
    value = arg.value if isinstance(arg, sig.ConstantArgument) else node[arg.name]
    example = value if not hasattr(value, "meta") else value.meta["val"]
    dtypes = (
        ((bool, torch.SymBool), torch.bool),
        ((int, torch.SymInt), torch.int64),
        ((float, torch.SymFloat), torch.float32),
    )
    dtype = next((d for kinds, d in dtypes if isinstance(example, kinds)), None)
    if dtype is None:
        raise ModelError(
            f"{where} is {type(example).__name__}, not a tensor or number: leave it out"
        )
    fake = next(
        n.meta["val"].fake_mode for n in graph.nodes if hasattr(n.meta.get("val"), "fake_mode")
    )
    with graph.inserting_before(next(n for n in graph.nodes if n.op == "output")):
        made = graph.call_function(torch.ops.aten.scalar_tensor.default, (value,), {"dtype": dtype})
    with fake:
        made.meta["val"] = torch.ops.aten.scalar_tensor.default(example, dtype=dtype)
    node[made.name] = made
    return str(made.name)


def _tensors_for_numbers(torch: Any, graph: Any) -> None:
    """7.5 // x: a number where the operator takes a tensor becomes one, of the dtype of the result; torch.onnx does not."""
    for node in list(graph.nodes):
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            continue
        wanted = [str(a.type) == "Tensor" for a in node.target._schema.arguments]
        for i, (value, tensor) in enumerate(zip(node.args, wanted, strict=False)):
            if not tensor or not isinstance(value, (bool, int, float)):
                continue
            others = (x.meta["val"] for x in node.all_input_nodes if "val" in x.meta)
            first = next((x for x in others if isinstance(x, torch.Tensor)), None)
            if first is None:
                continue
            dtype = torch.result_type(first, value)
            with graph.inserting_before(node):
                made = graph.call_function(
                    torch.ops.aten.scalar_tensor.default, (value,), {"dtype": dtype}
                )
            with first.fake_mode:
                made.meta["val"] = torch.ops.aten.scalar_tensor.default(value, dtype=dtype)
            node.update_arg(i, made)


ALIASES: Final = {
    "divide": "div", "true_divide": "div", "multiply": "mul", "subtract": "sub",
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le",
    "not_equal": "ne", "negative": "neg", "absolute": "abs", "clip": "clamp", "fix": "trunc",
    "arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2",
    "arccosh": "acosh", "arcsinh": "asinh", "arctanh": "atanh",
    "special_exp2": "exp2", "special_expm1": "expm1", "special_log1p": "log1p",
    "special_expit": "sigmoid", "special_erf": "erf", "special_erfc": "erfc",
    "concat": "cat", "concatenate": "cat", "row_stack": "vstack", "swapaxes": "transpose",
}  # fmt: skip
"""Second names of operators. torch.onnx makes operands of two dtypes one for the first alone."""


def _first_names(torch: Any, graph: Any) -> None:
    for node in graph.nodes:
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
            name = ALIASES.get(node.target._opname) if node.target.namespace == "aten" else None
            packet = getattr(torch.ops.aten, name or "", None)
            if hasattr(packet, node.target._overloadname):
                node.target = getattr(packet, node.target._overloadname)


def _known_parts(torch: Any, graph: Any) -> None:
    """x.split(n) and x.chunk(n) have as many parts as in the trace: of sizes that are known, else a slice for each."""
    aten = torch.ops.aten
    splits = (aten.split.Tensor, aten.unsafe_split.Tensor)
    chunks = (aten.chunk.default, aten.unsafe_chunk.default)
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target not in (*splits, *chunks):
            continue
        x, size, axis = (*node.args, 0)[:3]
        sizes = [part.shape[axis] for part in node.meta["val"]]
        if all(isinstance(n, int) for n in sizes):
            node.target, node.args = aten.split_with_sizes.default, (x, sizes, axis)
            continue
        with graph.inserting_before(node):
            if node.target in chunks:
                size = _shared(torch, graph, x, axis, size)
            bounds = [_times(graph, i, size) for i in range(len(sizes) + 1)]
        for part in list(node.users):
            i = part.args[1]
            part.target, part.args = aten.slice.Tensor, (x, axis, bounds[i], bounds[i + 1])
        graph.erase_node(node)


def _shared(torch: Any, graph: Any, x: Any, axis: int, count: int) -> Any:
    """The size of an axis by the number of its parts, rounded up."""
    whole = graph.call_function(torch.ops.aten.sym_size.int, (x, axis))
    whole.meta["val"] = x.meta["val"].shape[axis]
    more = graph.call_function(operator.add, (whole, count - 1))
    more.meta["val"] = whole.meta["val"] + count - 1
    size = graph.call_function(operator.floordiv, (more, count))
    size.meta["val"] = more.meta["val"] // count
    return size


def _times(graph: Any, count: int, size: Any) -> Any:
    if count == 0 or isinstance(size, int):
        return count and count * size
    product = graph.call_function(operator.mul, (count, size))
    product.meta["val"] = count * size.meta["val"]
    return product


def _dense_before_views(torch: Any, graph: Any) -> None:
    """torch.onnx decomposes again, to other strides: a view that was possible may be none any more, of a copy it always is."""
    for view in list(graph.nodes):
        if view.op == "call_function" and view.target is torch.ops.aten.view.default:
            x = view.args[0]
            with graph.inserting_before(view):
                copy = graph.call_function(
                    torch.ops.aten.clone.default, (x,), {"memory_format": torch.contiguous_format}
                )
            copy.meta = {**view.meta, "val": x.meta.get("val")}
            view.args = (copy, *view.args[1:])


def _clone_outputs(torch: Any, sig: Any, graph: Any, node: Any, names: list[str]) -> list[Any]:
    out = next(n for n in graph.nodes if n.op == "output")
    results, specs = [], []
    with graph.inserting_before(out):
        for name in names:
            clone = graph.call_function(torch.ops.aten.clone.default, (node[name],))
            # Sizes that data decides are bound where they are made, not by every copy.
            clone.meta = {k: v for k, v in node[name].meta.items() if k != "unbacked_bindings"}
            results.append(clone)
            specs.append(
                sig.OutputSpec(
                    sig.OutputKind.USER_OUTPUT, sig.TensorArgument(name=clone.name), None
                )
            )
    out.args = (tuple(results),)
    return specs


def _rebuild(
    torch: Any, sig: Any, done: Any, inputs: list[Any], specs: list[Any], values: dict[str, Any]
) -> Any:
    tree = torch.utils._pytree
    user_in = [s.arg for s in inputs if s.kind == sig.InputKind.USER_INPUT]
    entry = done.module_call_graph[0]
    signature = type(entry.signature)(
        inputs=user_in,
        outputs=[s.arg for s in specs],
        in_spec=tree.tree_structure((tuple(0 for _ in user_in), {})),
        out_spec=tree.tree_structure(tuple(0 for _ in specs)),
    )
    examples = [
        as_pairs(torch, x)
        for x in tree.tree_leaves(done.example_inputs)
        if isinstance(x, torch.Tensor)
    ]
    return torch.export.ExportedProgram(
        root=done.graph_module,
        graph=done.graph_module.graph,
        graph_signature=sig.ExportGraphSignature(inputs, specs),
        state_dict={k: v for k, v in done.state_dict.items() if k not in values},
        range_constraints=done.range_constraints,
        module_call_graph=[type(entry)(fqn="", signature=signature)],
        example_inputs=((*examples, *values.values()), {}),
        constants={k: v for k, v in done.constants.items() if k not in values},
        verifiers=[done.verifier],
    )


def _output_names(torch: Any, program: Any, count: int) -> list[str]:
    """Keys of a dict (or of a model output class) give names, positions `output_<i>`."""
    try:
        shaped = torch.utils._pytree.tree_unflatten(list(range(count)), program.call_spec.out_spec)
    except Exception:
        return [f"output_{i}" for i in range(count)]
    names = [f"output_{i}" for i in range(count)]

    def walk(value: Any, path: str) -> None:
        if isinstance(value, Mapping):
            for key, item in value.items():
                walk(item, f"{path}.{key}".lstrip("."))
        elif isinstance(value, (list, tuple)):
            for i, item in enumerate(value):
                walk(item, f"{path}.{i}" if path else "")
        elif isinstance(value, int) and path:
            names[value] = path

    walk(shaped, "")
    return names if len(set(names)) == count else [f"output_{i}" for i in range(count)]
