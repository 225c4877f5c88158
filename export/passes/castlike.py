"""CastLike with a known type becomes Cast."""

from __future__ import annotations

import onnx_ir as ir

from .. import graph as g


def castlike_to_cast(model: ir.Model) -> bool:
    """y = CastLike(x, like) => y = Cast(x, to=type of like).

    Requires: the type of `like` is inferred. Declines: it is not.
    """
    changed = False
    for node in list(g.nodes(model)):
        if (
            g.is_op(node, "CastLike")
            and node.inputs[1] is not None
            and node.inputs[1].dtype is not None
        ):
            attributes: list[ir.Attr] = [ir.AttrInt64("to", int(node.inputs[1].dtype))]
            attributes += [
                a for a in node.attributes.values() if a.name in ("saturate", "round_mode")
            ]
            new = ir.Node("", "Cast", [node.inputs[0]], attributes)
            g.replace([node], [new], node.outputs[0], new.outputs[0])
            changed = True
    return changed
