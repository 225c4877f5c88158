"""Activations with a bias in front."""

from __future__ import annotations

import onnx_ir as ir

from .foreign import Foreign, means


@means("Gelu")
def gelu(n: Foreign) -> ir.Value:
    return n("Gelu", n[0])


@means("BiasGelu")
def bias_gelu(n: Foreign) -> ir.Value:
    return n("Gelu", n("Add", n[0], n[1]))


@means("FastGelu")
def fast_gelu(n: Foreign) -> ir.Value:
    """0.5 x (1 + tanh(0.797885 x + 0.035677 x^3)): sqrt(2 / pi) (x + 0.044715 x^3), rounded."""
    return n("Gelu", n.plus(n[0], n.get(1)), approximate="tanh")


@means("GemmFastGelu")
def gemm_fast_gelu(n: Foreign) -> ir.Value:
    return n("Gelu", n.plus(n("MatMul", n[0], n[1]), n.get(2)), approximate="tanh")


@means("QuickGelu")
def quick_gelu(n: Foreign, *, alpha: float = 1.702) -> ir.Value:
    x = n[0]
    return n("Mul", x, n("Sigmoid", n("Mul", x, n.like(alpha, x))))


@means("BiasSplitGelu")
def bias_split_gelu(n: Foreign) -> ir.Value:
    left, right = n.several("Split", 2, n("Add", n[0], n[1]), axis=-1, num_outputs=2)
    return n("Mul", left, n("Gelu", right))


@means("BiasAdd")
def bias_add(n: Foreign) -> ir.Value:
    return n.plus(n[0], n[1], n[2])


def activated(
    n: Foreign, x: ir.Value, activation: str, parameters: dict[str, float | None]
) -> ir.Value:
    """The activation of FusedConv, FusedGemm and FusedMatMulActivation."""
    alpha, beta = parameters.get("alpha"), parameters.get("beta")
    if activation in ("", "Relu", "Sigmoid", "Tanh", "Softplus"):
        return n(activation, x) if activation else x
    if activation == "LeakyRelu":
        return n("LeakyRelu", x, alpha=0.01 if alpha is None else alpha)
    if activation == "HardSigmoid":
        return n(
            "HardSigmoid",
            x,
            alpha=0.2 if alpha is None else alpha,
            beta=0.5 if beta is None else beta,
        )
    if activation != "Clip" or alpha is None or beta is None:
        n.refuse(f"activation {activation!r} with {parameters} is not covered")
    return n("Clip", x, n.like(alpha, x), n.like(beta, x))
