"""Operators that write their own input become those that make a new value, on the traced graph, where nobody can tell the two apart.

    a = conv2d(x, w), b = relu_(a), c = add(b, a)   =>   a = conv2d(x, w), b = relu(a), c = add(b, b)

`ReLU(inplace=True)` and `x += y` need no second trace for that, which takes as long as the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

FRESH: Final = (
    *("conv1d", "conv2d", "conv3d", "linear", "matmul", "batch_norm", "instance_norm"),
    *("group_norm", "layer_norm", "max_pool1d", "max_pool2d", "max_pool3d"),
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
)
"""Operators that PyTorch makes of others, whose result never is one of their inputs or lies in its memory. What the signature of such an
operator says is no proof: dropout and atleast_1d give the input itself."""

UNTAGGED: Final = ("hardswish_",)
"""Of one element each, though PyTorch does not say so."""


def without_writes(torch: Any, program: Any) -> None:
    """In place: each write of a value that has one name and no view. Other writes stay, all of them."""
    place = {node: i for i, node in enumerate(program.graph.nodes)}
    for node in list(program.graph.nodes):
        if _does_nothing(torch, node):
            _instead(program, node, node.args[0], node.users)
            program.graph.erase_node(node)
            continue
        target = _making(torch, node)
        if target is None or not _alone(torch, node, place):
            continue
        old, node.target = node.args[0], target
        _instead(program, old, node, [user for user in old.users if place[user] > place[node]])
    program.graph_module.recompile()


def _instead(program: Any, old: Any, new: Any, users: Iterable[Any]) -> None:
    """These read another value, and so does who looks results up by name."""
    for user in list(users):
        user.replace_input_with(old, new)
        if user.op == "output":
            program.graph_signature.replace_all_uses(old.name, new.name)


def _does_nothing(torch: Any, node: Any) -> bool:
    """Dropout in place, not of a training: its result is its input."""
    aten = torch.ops.aten
    if node.op != "call_function" or len(node.args) != 3 or node.args[2] is not False:
        return False
    return node.target in (aten.dropout_.default, aten.feature_dropout_.default, aten.alpha_dropout_.default)  # fmt: skip


def _making(torch: Any, node: Any) -> Any:
    """The operator of the same name that writes nothing, for one that writes its first argument alone and goes element by element."""
    target = node.target
    if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload):
        return None
    name = target._opname
    if target.namespace != "aten" or not name.endswith("_") or name.startswith("_"):
        return None
    packet = getattr(torch.ops.aten, name[:-1], None)
    other = getattr(packet, target._overloadname, None)
    if other is None or (torch.Tag.pointwise not in other.tags and name not in UNTAGGED):
        return None
    ours, theirs = (
        [(a.name, str(a.type)) for a in each._schema.arguments] for each in (target, other)
    )
    writes = [a.name for a in target._schema.arguments if a.is_write]
    fits = ours == theirs and writes == [ours[0][0]] and not other._schema.is_mutable
    return other if fits and _keeps_type(torch, node) else None


def _keeps_type(torch: Any, node: Any) -> bool:
    """Whether the result has the type and shape of what is written, whichever operator makes it."""
    tensors = [x.meta.get("val") for x in node.all_input_nodes]
    first = node.args[0].meta.get("val") if node.args and hasattr(node.args[0], "meta") else None
    if not isinstance(first, torch.Tensor) or not first.is_floating_point():
        return False
    return all(isinstance(x, torch.Tensor) and x.dtype == first.dtype for x in tensors)


def _alone(torch: Any, node: Any, place: dict[Any, int]) -> bool:
    """Whether what it writes is a value of the graph's own that no other value shares memory with."""
    value = node.args[0]
    if not _makes(torch, value):
        return False
    before = [user for user in value.users if place[user] < place[node]]
    return all(_makes(torch, user) for user in before)


def _makes(torch: Any, node: Any) -> bool:
    """Whether its result is memory of its own."""
    target = node.target
    if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload):
        return False
    schema = target._schema
    shares = schema.is_mutable or any(r.alias_info is not None for r in schema.returns)
    if target.namespace != "aten" or shares or "unsafe" in target._opname or not schema.returns:
        return False
    composite = torch._C._dispatch_has_kernel_for_dispatch_key(
        target.name(), "CompositeImplicitAutograd"
    )
    return not composite or target._opname in FRESH
