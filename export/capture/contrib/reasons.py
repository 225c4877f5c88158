"""Why an operator of another domain is refused, and what to do."""

from __future__ import annotations

from typing import Final

import onnx_ir as ir

from .foreign import DOMAIN, LEARNED

OF_OPERATOR: Final = {
    (
        LEARNED,
        "CategoryMapper",
    ): "it maps strings, which no program has: encode categories as integers before the model",
    (LEARNED, "CastMap"): "it takes a map, which no program has: give the model a table of numbers",
    (
        LEARNED,
        "DictVectorizer",
    ): "it takes a map, which no program has: give the model a table of numbers",
    (
        LEARNED,
        "ZipMap",
    ): "other nodes read the maps that it makes, which no program has: convert with zipmap=False",
    (DOMAIN, "Tokenizer"): "it reads strings, which no program has: tokenize before the model",
    (DOMAIN, "BeamSearch"): "it generates: export the decoder, and generate with `pteron generate`",
    (
        DOMAIN,
        "GreedySearch",
    ): "it generates: export the decoder, and generate with `pteron generate`",
    (DOMAIN, "Sampling"): "it generates: export the decoder, and generate with `pteron generate`",
    (DOMAIN, "WhisperBeamSearch"): "it generates: export encoder and decoder each",
    (
        DOMAIN,
        "EPContext",
    ): "it holds what another runtime compiled for its processor: export the model that it is from",
}
OF_DOMAIN: Final = {
    DOMAIN: "it has no translation: export without this optimization of onnxruntime (ORT_ENABLE_EXTENDED at most)",
    LEARNED: "it has no translation: leave it out of what is converted",
    "com.microsoft.nchwc": "it is laid out for one processor: save the model at ORT_ENABLE_EXTENDED",
    "com.ms.internal.nhwc": "it is laid out for one processor: save the model at ORT_ENABLE_EXTENDED",
    "ai.onnx.preview.training": "it trains: export the model for inference",
    "ai.onnx.training": "it trains: export the model for inference",
    "ai.onnx.contrib": "it is of onnxruntime-extensions, which reads text, sound and images: do that before the model",
}
UNKNOWN: Final = "its operator is unknown: expected ONNX's own, or a function in the model that says what it does"


def why_not(node: ir.Node) -> str:
    """The reason, and what to do behind a colon."""
    known = OF_OPERATOR.get((node.domain, node.op_type))
    return known or OF_DOMAIN.get(node.domain, UNKNOWN)
