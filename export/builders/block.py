"""One decoder, in the operators that capture leaves of a module: embedding, blocks of attention and MLP, norm, head.

    x = table[ids];  x += attention(norm(x)), x += mlp(norm(x)) a block;  logits = norm(x) head

Tokens [1, tokens] give logits [1, tokens, vocabulary]; positions count from 0. What distinguishes families is their row
(families.py) and the facts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from .. import graph as g
from ..checkpoint.families import FAMILIES
from ..checkpoint.weight import Tensor
from ..graph.naming import name_nodes
from .facts import Facts
from .families import Row
from .nodes import PREFIX, Nodes
from .rope import Rope

TOKENS, LOGITS, COUNT = "input_ids", "logits", "tokens"
Angles = tuple[ir.Value, ir.Value]


def decoder(
    where: str, row: Row, facts: Facts, tensors: Mapping[str, Tensor]
) -> tuple[ir.Model, dict[str, Tensor]]:
    """The Graph, and which tensor of the checkpoint each of its initializers is.

    Raises:
        ModelError: a parameter has no tensor, one of another shape, or a tensor no place.
    """
    made = _Decoder(Nodes(where, facts.kind, tensors), row, facts)
    model = made.whole()
    g.infer(model)
    g.verify(model, "build")
    return model, made.nodes.weights


class _Decoder:
    """Writes one model's nodes."""

    def __init__(self, nodes: Nodes, row: Row, facts: Facts) -> None:
        self.nodes, self.row, self.facts = nodes, row, facts
        self._family = FAMILIES[row.names]
        self._angles: dict[Rope, Angles] = {}

    def whole(self) -> ir.Model:
        nodes, facts = self.nodes, self.facts
        ids = ir.Value(
            name=TOKENS, type=ir.TensorType(ir.DataType.INT64), shape=ir.Shape([1, COUNT])
        )
        nodes.graph.inputs.append(ids)
        size = facts.vocabulary, facts.hidden
        nodes.module = self._module("token_embd")
        x = nodes.op("Gather", nodes.weight(f"{nodes.module}.weight", size), ids)
        x = self._times(x, facts.embedding_scale)
        self._place(ids)
        for layer in range(facts.layers):
            x = self._block(x, layer)
        x = self._norm(x, "output_norm", facts.hidden)
        table = self._module("token_embd") + ".weight"
        nodes.module = self._module("output")
        if facts.tied:
            nodes.tie(f"{nodes.module}.weight", table)
        head = nodes.weight(table if facts.tied else f"{nodes.module}.weight", size)
        y = nodes.op("MatMul", x, nodes.op("Transpose", head, perm=[1, 0]))
        if facts.logit_divisor != 1.0:
            y = nodes.op("Div", y, facts.logit_divisor)
        if facts.logit_cap:
            y = nodes.op(
                "Mul", nodes.op("Tanh", nodes.op("Div", y, facts.logit_cap)), facts.logit_cap
            )
        nodes.finish()
        return self._model(y)

    def _model(self, logits: ir.Value) -> ir.Model:
        graph = self.nodes.graph
        model = ir.Model(graph, ir_version=g.IR_VERSION)
        name_nodes(model)
        for node in graph:
            for i, value in enumerate(node.outputs):
                value.name = f"{node.name}.{i}" if i else node.name
        logits.name, logits.type = LOGITS, ir.TensorType(ir.DataType.FLOAT)
        logits.shape = ir.Shape([1, COUNT, self.facts.vocabulary])
        graph.outputs.append(logits)
        return model

    def _module(self, role: str, layer: int | None = None) -> str:
        """What transformers calls the part."""
        name = self._family.modules[role]
        if layer is not None:
            name = f"{self._family.blocks}.{layer}.{name}"
        return name if role == "output" else f"{PREFIX}{name}"

    def _place(self, ids: ir.Value) -> None:
        """Angles [1, tokens, width / 2] of each kind of rotary embedding."""
        nodes = self.nodes
        nodes.module = f"{PREFIX}rotary_emb"
        count = nodes.op("Squeeze", nodes.op("Shape", ids, start=1, end=2), np.array([0]))
        places = nodes.op("Cast", nodes.op("Range", np.array(0), count, np.array(1)), to=1)
        column = nodes.op("Unsqueeze", places, np.array([0, 2]))
        for rope in dict.fromkeys(r for r in self.facts.ropes if r is not None):
            angles = nodes.op("Mul", column, np.array(rope.frequencies, np.float32))
            both = (nodes.op("Cos", angles), nodes.op("Sin", angles))
            cos, sin = (self._times(v, rope.scale) for v in both)
            self._angles[rope] = cos, sin

    def _times(self, x: ir.Value, factor: float) -> ir.Value:
        made: ir.Value = x if factor == 1.0 else self.nodes.op("Mul", x, float(factor))
        return made

    def _norm(self, x: ir.Value, role: str, size: int, layer: int | None = None) -> ir.Value:
        nodes, row = self.nodes, self.row
        nodes.module = self._module(role, layer)
        gain = nodes.weight(f"{nodes.module}.weight", (size,))
        if row.plus_one:
            gain = nodes.op("Add", gain, 1.0)
        bias = [nodes.weight(f"{nodes.module}.bias", (size,))] if row.norm_bias else []
        made: ir.Value = nodes.op(row.norm, x, gain, *bias, axis=-1, epsilon=self.facts.epsilon)
        return made

    def _linear(self, x: ir.Value, role: str, shape: tuple[int, int], layer: int) -> ir.Value:
        """`shape`: [out, in]."""
        nodes = self.nodes
        nodes.module = self._module(role, layer)
        weight = nodes.weight(f"{nodes.module}.weight", shape)
        y: ir.Value = nodes.op("MatMul", x, nodes.op("Transpose", weight, perm=[1, 0]))
        if role in self.facts.biases:
            y = nodes.op("Add", y, nodes.weight(f"{nodes.module}.bias", shape[:1]))
        return y

    def _block(self, x: ir.Value, layer: int) -> ir.Value:
        facts, row = self.facts, self.row
        steps = (
            (self._attention, "attn_norm", "post_attention_norm"),
            (self._mlp, "ffn_norm", "post_ffw_norm"),
        )
        for work, before, after in steps:
            y = self._norm(x, before, facts.hidden, layer) if row.before else x
            y = work(y, layer)
            if row.after:
                y = self._norm(y, after, facts.hidden, layer)
            self.nodes.module = f"{PREFIX}{self._family.blocks}.{layer}"
            x = self.nodes.op("Add", x, self._times(y, facts.residual_scale))
        return x

    def _attention(self, x: ir.Value, layer: int) -> ir.Value:
        facts, nodes = self.facts, self.nodes
        inner = self._module("attn_output", layer).rpartition(".")[0]
        q, k, v = self._queries(x, layer)
        nodes.module = inner
        v = self._heads(v, facts.pairs)
        q, k = (
            self._headed(q, "attn_q_norm", facts.heads, layer),
            self._headed(k, "attn_k_norm", facts.pairs, layer),
        )
        nodes.module = inner
        rope = facts.ropes[layer]
        if rope is not None:
            width = rope.width if rope.width != facts.head else 0
            q, k = (
                nodes.op("RotaryEmbedding", t, *self._angles[rope], rotary_embedding_dim=width)
                for t in (q, k)
            )
        window = facts.windows[layer]
        y = nodes.op(
            "Attention", q, k, v, is_causal=1, scale=facts.attention_scale, softcap=facts.score_cap,
            left_window_size=window - 1 if window else -1,
        )  # fmt: skip
        y = nodes.op("Transpose", y, perm=[0, 2, 1, 3])
        wide = facts.heads * facts.head
        y = nodes.op("Reshape", y, np.array([0, 0, wide]))
        return self._linear(y, "attn_output", (facts.hidden, wide), layer)

    def _queries(self, x: ir.Value, layer: int) -> tuple[ir.Value, ir.Value, ir.Value]:
        """Queries, keys, values [1, tokens, heads * head]."""
        facts = self.facts
        rows = [n * facts.head for n in (facts.heads, facts.pairs, facts.pairs)]
        if self.row.fused:
            whole = self._linear(x, "attn_qkv", (sum(rows), facts.hidden), layer)
            q, k, v = self.nodes.op("Split", whole, np.array(rows), outputs=3, axis=-1)
            return q, k, v
        q, k, v = (
            self._linear(x, role, (n, facts.hidden), layer)
            for role, n in zip(("attn_q", "attn_k", "attn_v"), rows, strict=True)
        )
        return q, k, v

    def _headed(self, x: ir.Value, role: str, heads: int, layer: int) -> ir.Value:
        """[1, heads, tokens, head] of queries or keys, normed where the family norms them."""
        kind, size, here = self.row.head_norms, self.facts.head, self.nodes.module
        if kind == "all":
            x = self._norm(x, role, heads * size, layer)
        self.nodes.module = here
        x = self._heads(x, heads)
        return self._norm(x, role, size, layer) if kind == "each" else x

    def _heads(self, x: ir.Value, heads: int) -> ir.Value:
        apart = self.nodes.op("Reshape", x, np.array([0, 0, heads, self.facts.head]))
        made: ir.Value = self.nodes.op("Transpose", apart, perm=[0, 2, 1, 3])
        return made

    def _mlp(self, x: ir.Value, layer: int) -> ir.Value:
        facts = self.facts
        shape = facts.inner, facts.hidden
        if self.row.fused:
            both = self._linear(x, "ffn_up", (2 * facts.inner, facts.hidden), layer)
            gate, up = self.nodes.op("Split", both, np.array([facts.inner] * 2), outputs=2, axis=-1)
        else:
            gate, up = (self._linear(x, role, shape, layer) for role in ("ffn_gate", "ffn_up"))
        self.nodes.module = self._module("ffn_down", layer).rpartition(".")[0]
        y = self.nodes.op("Mul", self._activated(gate), up)
        return self._linear(y, "ffn_down", (facts.hidden, facts.inner), layer)

    def _activated(self, x: ir.Value) -> ir.Value:
        nodes, kind = self.nodes, self.facts.activation
        made: ir.Value
        if kind == "silu":
            made = nodes.op("Mul", x, nodes.op("Sigmoid", x))
        elif kind in ("gelu", "gelu_tanh"):
            made = nodes.op("Gelu", x, approximate="tanh" if kind == "gelu_tanh" else "none")
        else:
            made = nodes.op("Relu", x)
            made = nodes.op("Mul", made, made) if kind == "relu2" else made
        return made
