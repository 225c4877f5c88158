"""What quantizers of PyTorch keep in safetensors: several tensors a weight, found by their names.

AutoAWQ, GPTQ      X.qweight, X.qzeros, X.scales (X.g_idx): int32 of several codes, [k, n] turned
compressed-tensors X.weight_packed, X.weight_scale (X.weight_zero_point, X.weight_shape); X.weight in 8 bits, X.weight_scale
bitsandbytes       X.weight, X.weight.absmax (X.weight.nested_absmax), X.weight.quant_state.bitsandbytes__nf4
"""

from __future__ import annotations

import functools
import json
import math
from typing import Any, Final

import ml_dtypes
import numpy as np

from pteron.schema.errors import QuantError

from .weight import Array, Tensor, Weight

Tensors = dict[str, Tensor]
AWQ_ORDER: Final = (0, 4, 1, 5, 2, 6, 3, 7)
"""Where in a word, counted in nibbles, AutoAWQ keeps each of eight columns."""
UNSIGNED: Final = {2: ml_dtypes.uint2, 4: ml_dtypes.uint4, 8: np.dtype(np.uint8)}
BNB: Final = ".quant_state.bitsandbytes__nf4"
EIGHT: Final = {"I8": "int8", "F8_E4M3": "fp8 E4M3", "F8_E5M2": "fp8 E5M2"}


def tensors_of(found: Tensors, config: dict[str, Any]) -> Tensors:
    """Weights by name in place of the tensors that they consist of."""
    settings = config.get("quantization_config", {})
    out, parts = Tensors(), set[str]()
    for name in found:
        stem, _, end = name.rpartition(".")
        made: Tensor | None = None
        if end == "qweight":
            made = _turned(found, stem, settings)
        elif end == "weight_packed":
            made = _compressed(found, stem)
        elif end == "weight" and f"{name}_scale" in found and found[name].kind in EIGHT:
            made = _eight(found, stem)
        elif end == "weight" and name + BNB in found:
            made = _bitsandbytes(found, stem)
        if made is not None:
            out[f"{stem}.weight"] = made
            parts |= {
                n
                for n in found
                if n.startswith((f"{stem}.weight", f"{stem}.q", f"{stem}.scales", f"{stem}.g_idx"))
            }
    return out | {
        name: _plain(found[name]) for name in found if name not in parts and name not in out
    }


def _plain(tensor: Tensor) -> Tensor:
    return Tensor(tensor.kind, tensor.shape, tensor.nbytes, lambda: _array(tensor))


def _array(tensor: Tensor) -> Array:
    got = tensor.read()
    assert isinstance(got, np.ndarray)
    return got.astype(np.float32) if tensor.kind in ("F64", "F16", "BF16") else got


def _unpacked(words: Array, bits: int) -> Array:
    """int32 [r, c] -> codes [r, c * 32 / bits], the lowest bits first."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    codes = (np.ascontiguousarray(words).view(np.uint32)[..., None] >> shifts) & ((1 << bits) - 1)
    return codes.astype(np.uint8).reshape(len(words), -1)


def _sizes(found: Tensors, names: list[str]) -> int:
    return sum(found[name].nbytes for name in names if name in found)


# --- AutoAWQ, GPTQ ------------------------------------------------------------------------------------------------------


def _turned(found: Tensors, stem: str, settings: dict[str, Any]) -> Tensor | None:
    names = [f"{stem}.{end}" for end in ("qweight", "qzeros", "scales", "g_idx")]
    if any(name not in found for name in names[:3]):
        return None
    (rows, columns), n = found[names[0]].shape, found[names[2]].shape[1]
    nbytes = _sizes(found, names)
    if columns != n:  # eight columns a word
        if columns * 8 != n:
            raise QuantError(f"{stem}: expected qweight of {n // 8} or {n} columns, got {columns}")
        return Tensor("AWQ 4 bit", (n, rows), nbytes, functools.partial(_awq, found, stem))
    bits = int(settings.get("bits", 0)) or 32 * found[names[1]].shape[1] // n
    if bits not in UNSIGNED:
        raise QuantError(f"{stem}: GPTQ of {bits} bits is not covered; those of 2, 4 and 8 are")
    first = str(settings.get("checkpoint_format", "gptq")) != "gptq_v2"
    read = functools.partial(_gptq, found, stem, bits, first)
    return Tensor(f"GPTQ {bits} bit", (n, rows * 32 // bits), nbytes, read)


def _awq(found: Tensors, stem: str) -> Weight:
    words, zeros, scales = (
        _array(found[f"{stem}.{end}"]) for end in ("qweight", "qzeros", "scales")
    )

    def columns(packed: Array) -> Array:
        eights = _unpacked(packed, 4).reshape(len(packed), -1, 8)
        return np.ascontiguousarray(eights[..., AWQ_ORDER].reshape(len(packed), -1).T)

    codes, zero = columns(words), columns(zeros)
    kind = ml_dtypes.uint4
    return Weight(
        codes.astype(kind), _f32(scales.T), codes.shape[1] // zero.shape[1], zero.astype(kind)
    )


def _gptq(found: Tensors, stem: str, bits: int, first: bool) -> Weight:
    words, zeros, scales = (
        _array(found[f"{stem}.{end}"]) for end in ("qweight", "qzeros", "scales")
    )
    codes = _unpacked(np.ascontiguousarray(words.T), bits)
    zero = np.ascontiguousarray(_unpacked(zeros, bits).T).astype(np.int16) + first
    block = -(-codes.shape[1] // zero.shape[1])
    if f"{stem}.g_idx" in found:
        order = _array(found[f"{stem}.g_idx"])
        if not np.array_equal(order, np.arange(codes.shape[1]) // block):
            raise QuantError(
                f"{stem}: g_idx (act-order) brings K into another order, which is not covered"
            )
    if zero.max(initial=0) < 1 << bits:
        kind = UNSIGNED[bits]
        return Weight(codes.astype(kind), _f32(scales.T), block, zero.astype(kind))
    middle = 1 << (bits - 1)  # a zero point just beyond the codes: all of them in int8
    return Weight(
        (codes - np.int16(middle)).astype(np.int8),
        _f32(scales.T),
        block,
        (zero - middle).astype(np.int8),
    )


def _f32(scales: Array) -> Array:
    return np.ascontiguousarray(scales, np.float32)


# --- compressed-tensors -------------------------------------------------------------------------------------------------


def _compressed(found: Tensors, stem: str) -> Tensor | None:
    names = [f"{stem}.weight_{end}" for end in ("packed", "scale", "zero_point", "shape", "g_idx")]
    packed = found[names[0]]
    if packed.kind != "I32" or names[1] not in found or names[3] not in found:
        raise QuantError(
            f"{stem}: compressed-tensors of {packed.kind} are not covered; those of integers are"
        )
    n, k = (int(i) for i in _array(found[names[3]]))
    bits = 32 // -(-k // packed.shape[1])
    if bits not in (4, 8) or packed.shape != (n, -(-k * bits // 32)):
        raise QuantError(
            f"{stem}: expected 4 or 8 bits, got {list(packed.shape)} words of [{n}, {k}]"
        )
    if names[4] in found:
        order = _array(found[names[4]])
        if np.any(np.diff(order) < 0):
            raise QuantError(f"{stem}: weight_g_idx (act-order) is not covered")
    read = functools.partial(_pack_quantized, found, stem, n, k, bits)
    return Tensor(f"compressed-tensors {bits} bit", (n, k), _sizes(found, names), read)


def _pack_quantized(found: Tensors, stem: str, n: int, k: int, bits: int) -> Weight:
    codes = _unpacked(_array(found[f"{stem}.weight_packed"]), bits)[:, :k]
    scale = _f32(_array(found[f"{stem}.weight_scale"]))
    zero = np.full(scale.shape, 1 << (bits - 1), np.uint8)
    if f"{stem}.weight_zero_point" in found:
        words = _array(found[f"{stem}.weight_zero_point"])
        zero = np.ascontiguousarray(_unpacked(np.ascontiguousarray(words.T), bits).T[:n])
    kind = UNSIGNED[bits]
    return Weight(codes.astype(kind), scale, _block(k, scale), zero.astype(kind))


def _block(k: int, scale: Array) -> int:
    return 0 if scale.ndim < 2 or scale.shape[1] == 1 else -(-k // scale.shape[1])


def _eight(found: Tensors, stem: str) -> Tensor | None:
    weight = found[f"{stem}.weight"]
    if len(weight.shape) != 2:
        return None
    names = [f"{stem}.weight", f"{stem}.weight_scale", f"{stem}.weight_zero_point"]
    kind = f"compressed-tensors {EIGHT[weight.kind]}"
    return Tensor(
        kind, weight.shape, _sizes(found, names), functools.partial(_eight_bits, found, stem)
    )


def _eight_bits(found: Tensors, stem: str) -> Weight:
    codes = found[f"{stem}.weight"].read()
    assert isinstance(codes, np.ndarray)
    scale, n = _f32(_array(found[f"{stem}.weight_scale"])), len(codes)
    if scale.ndim == 2 and 1 < len(scale) < n:  # of blocks of rows, too
        scale = np.repeat(scale, -(-n // len(scale)), axis=0)[:n]
    scale = np.broadcast_to(scale.reshape(-1, 1), (n, 1)) if scale.size in (1, n) else scale
    zero = None
    if f"{stem}.weight_zero_point" in found:
        given = _array(found[f"{stem}.weight_zero_point"])
        zero = (
            None
            if not np.any(given)
            else np.broadcast_to(given.reshape(-1, 1), (n, 1)).astype(codes.dtype)
        )
    return Weight(codes, np.ascontiguousarray(scale), _block(codes.shape[1], scale), zero)


# --- bitsandbytes -------------------------------------------------------------------------------------------------------


def _bitsandbytes(found: Tensors, stem: str) -> Tensor:
    state = json.loads(_array(found[f"{stem}.weight{BNB}"]).astype(np.uint8).tobytes())
    n, k = state["shape"]
    if k % state["blocksize"]:
        raise QuantError(
            f"{stem}: blocks of {state['blocksize']} straddle rows of {k}, which is not covered"
        )
    nbytes = sum(t.nbytes for name, t in found.items() if name.startswith(f"{stem}.weight"))
    read = functools.partial(_nf4, found, f"{stem}.weight", state)
    return Tensor("bitsandbytes nf4", (n, k), nbytes, read)


def _nf4(found: Tensors, name: str, state: dict[str, Any]) -> Weight:
    n, k = state["shape"]
    packed, absmax = _array(found[name]).reshape(-1), _array(found[f"{name}.absmax"]).reshape(-1)
    codes = np.stack([packed >> 4, packed & 15], axis=1).reshape(-1)[: math.prod((n, k))]
    if f"{name}.nested_absmax" in found:
        table, outer = (_array(found[f"{name}.nested_{end}"]) for end in ("quant_map", "absmax"))
        each = np.repeat(outer, state["nested_blocksize"])[: absmax.size]
        absmax = table[absmax.astype(np.int64)] * each + np.float32(state["nested_offset"])
    return Weight(
        codes.reshape(n, k), _f32(absmax.reshape(n, -1)), state["blocksize"], levels="nf4"
    )
