"""What quantizers of PyTorch keep in safetensors: several tensors a weight, found by their names.

AutoAWQ, GPTQ      X.qweight, X.qzeros, X.scales (X.g_idx): int32 of several codes, [k, n] turned
compressed-tensors X.weight_packed, X.weight_scale (X.weight_zero_point, X.weight_shape, X.weight_global_scale); X.weight in 8
                   bits, X.weight_scale
bitsandbytes       X.weight, X.weight.absmax (X.weight.nested_absmax), X.weight.quant_state.bitsandbytes__nf4 or __fp4; of LLM.int8
                   X.weight, X.SCB (X.weight_format)
"""

from __future__ import annotations

import functools
import math
from typing import Any, Final

import ml_dtypes
import numpy as np

from pteron.schema.errors import QuantError
from pteron.schema.reading import parsed

from .weight import Array, Tensor, Weight

Tensors = dict[str, Tensor]
AWQ_ORDER: Final = (0, 4, 1, 5, 2, 6, 3, 7)
"""Where in a word, counted in nibbles, AutoAWQ keeps each of eight columns."""
UNSIGNED: Final = {2: ml_dtypes.uint2, 4: ml_dtypes.uint4, 8: np.dtype(np.uint8)}
MOST_BLOCK: Final = 1 << 20
BNB: Final = ".quant_state.bitsandbytes__"
BNB_PLACES: Final = {
    "nf4": np.arange(16, dtype=np.uint8),
    "fp4": np.array([8, 9, 14, 15, 12, 13, 10, 11, 7, 6, 1, 0, 3, 2, 5, 4], np.uint8),
}
"""Of its codes, places among the levels of ours."""
PARTS: Final = ("weight", "q", "scales", "g_idx", "SCB")
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
        elif end == "weight" and any(f"{name}{BNB}{kind}" in found for kind in BNB_PLACES):
            made = _bitsandbytes(found, stem)
        elif end == "weight" and found[name].kind == "I8" and f"{stem}.SCB" in found:
            made = _llm_int8(found, stem)
        if made is not None:
            out[f"{stem}.weight"] = made
            parts |= {n for n in found if n.startswith(tuple(f"{stem}.{part}" for part in PARTS))}
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
    order = _order(found, f"{stem}.g_idx", codes.shape[1], block)
    codes = codes if order is None else codes[:, order]
    if zero.max(initial=0) < 1 << bits:
        kind = UNSIGNED[bits]
        return Weight(codes.astype(kind), _f32(scales.T), block, zero.astype(kind), order=order)
    middle = 1 << (bits - 1)  # a zero point just beyond the codes: all of them in int8
    return Weight(
        (codes - np.int16(middle)).astype(np.int8),
        _f32(scales.T),
        block,
        (zero - middle).astype(np.int8),
        order=order,
    )


def _order(found: Tensors, name: str, k: int, block: int) -> Array | None:
    """Elements of K one group after the other, where act-order gave each its group; None: they lie so.

    Raises:
        QuantError: a group has more or fewer elements than others.
    """
    if name not in found:
        return None
    group, usual = _array(found[name]), np.arange(k) // block
    if np.array_equal(group, usual) or np.all(group < 0):
        return None
    order = np.argsort(group, kind="stable")
    if group.shape != (k,) or not np.array_equal(group[order], usual):
        raise QuantError(f"{name}: expected groups of {block} of {k} elements, got others")
    return order


def _f32(scales: Array) -> Array:
    return np.ascontiguousarray(scales, np.float32)


# --- compressed-tensors -------------------------------------------------------------------------------------------------


def _compressed(found: Tensors, stem: str) -> Tensor | None:
    names = [f"{stem}.weight_{end}" for end in COMPRESSED]
    packed = found[names[0]]
    if names[1] not in found or packed.kind not in ("I32", "U8") or len(packed.shape) != 2:
        raise QuantError(
            f"{stem}: compressed-tensors of {packed.kind} are not covered; those of integers and of 4 and 6-bit floats are"
        )
    if packed.kind == "U8":
        return _small_floats(found, stem, names)
    if names[3] not in found:
        raise QuantError(f"{stem}: expected {names[3]} beside {names[0]}, got none")
    n, k = (int(i) for i in _array(found[names[3]]))
    bits = 32 // -(-k // packed.shape[1])
    if bits not in (4, 8) or packed.shape != (n, -(-k * bits // 32)):
        raise QuantError(
            f"{stem}: expected 4 or 8 bits, got {list(packed.shape)} words of [{n}, {k}]"
        )
    read = functools.partial(_pack_quantized, found, stem, n, k, bits)
    return Tensor(f"compressed-tensors {bits} bit", (n, k), _sizes(found, names), read)


COMPRESSED: Final = ("packed", "scale", "zero_point", "shape", "g_idx", "global_scale")


def _pack_quantized(found: Tensors, stem: str, n: int, k: int, bits: int) -> Weight:
    codes = _unpacked(_array(found[f"{stem}.weight_packed"]), bits)[:, :k]
    scale = _f32(_array(found[f"{stem}.weight_scale"]))
    zero = np.full(scale.shape, 1 << (bits - 1), np.uint8)
    if f"{stem}.weight_zero_point" in found:
        words = _array(found[f"{stem}.weight_zero_point"])
        zero = np.ascontiguousarray(_unpacked(np.ascontiguousarray(words.T), bits).T[:n])
    kind, block = UNSIGNED[bits], _block(k, scale)
    order = _order(found, f"{stem}.weight_g_idx", k, block) if block else None
    codes = codes if order is None else codes[:, order]
    return Weight(codes.astype(kind), scale, block, zero.astype(kind), order=order)


def _small_floats(found: Tensors, stem: str, names: list[str]) -> Tensor:
    """E2M1, two a byte, the first in the low bits; E2M3, four in three bytes."""
    packed, scale = found[names[0]], found[names[1]]
    n, width = packed.shape
    blocks = scale.shape[1] if len(scale.shape) == 2 else 0
    sizes = {kind: width * 8 // bits for kind, bits in (("E2M1", 4), ("E2M3", 6))}
    fits = [kind for kind, k in sizes.items() if blocks and k in (16 * blocks, 32 * blocks)]
    if len(fits) != 1 or scale.shape[0] != n:
        raise QuantError(
            f"{stem}: expected floats of 4 or 6 bits with scales of 16 or 32, got {list(packed.shape)} bytes and scales {list(scale.shape)}"
        )
    k = sizes[fits[0]]
    read = functools.partial(_floats, found, stem, fits[0], k // blocks)
    return Tensor(f"compressed-tensors {fits[0]}", (n, k), _sizes(found, names), read)


def _floats(found: Tensors, stem: str, kind: str, block: int) -> Weight:
    packed = _array(found[f"{stem}.weight_packed"])
    if kind == "E2M1":
        codes = np.stack([packed & 15, packed >> 4], axis=2).reshape(len(packed), -1)
        typed = codes.view(ml_dtypes.float4_e2m1fn)
    else:
        bits = np.unpackbits(packed, axis=1, bitorder="little").reshape(len(packed), -1, 6)
        typed = np.packbits(bits, axis=2, bitorder="little")[..., 0].view(ml_dtypes.float6_e2m3fn)
    scale = _scales(found[f"{stem}.weight_scale"])
    if f"{stem}.weight_global_scale" in found:
        scale = scale / _f32(_array(found[f"{stem}.weight_global_scale"])).reshape(-1)[0]
    return Weight(np.ascontiguousarray(typed), scale, block)


def _scales(tensor: Tensor) -> Array:
    """f32; bytes are exponents, E8M0."""
    given = _array(tensor)
    if tensor.kind == "U8":
        given = given.view(ml_dtypes.float8_e8m0fnu)
    return _f32(given)


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
    scale, n = _scales(found[f"{stem}.weight_scale"]), len(codes)
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
    kind = next(kind for kind in BNB_PLACES if f"{stem}.weight{BNB}{kind}" in found)
    state = parsed(_array(found[f"{stem}.weight{BNB}{kind}"]).astype(np.uint8).tobytes())
    n, k = (int(i) for i in state["shape"])
    sizes = [int(state[name]) for name in ("blocksize", "nested_blocksize") if name in state]
    if n * k > 2 * found[f"{stem}.weight"].nbytes or not all(0 < i <= MOST_BLOCK for i in sizes):
        raise QuantError(
            f"{stem}: expected a state of its {found[f'{stem}.weight'].nbytes} bytes, got {n} by {k} in blocks of {sizes}"
        )
    nbytes = sum(t.nbytes for name, t in found.items() if name.startswith(f"{stem}.weight"))
    read = functools.partial(_four_bits, found, f"{stem}.weight", state, kind)
    return Tensor(f"bitsandbytes {kind}", (n, k), nbytes, read)


def _four_bits(found: Tensors, name: str, state: dict[str, Any], kind: str) -> Weight:
    """Blocks run on over rows: what two have in common, which divides both a block and a row, is our block."""
    n, k = state["shape"]
    packed, absmax = _array(found[name]).reshape(-1), _array(found[f"{name}.absmax"]).reshape(-1)
    codes = np.stack([packed >> 4, packed & 15], axis=1).reshape(-1)[: math.prod((n, k))]
    if f"{name}.nested_absmax" in found:
        table, outer = (_array(found[f"{name}.nested_{end}"]) for end in ("quant_map", "absmax"))
        each = np.repeat(outer, state["nested_blocksize"])[: absmax.size]
        absmax = table[absmax.astype(np.int64)] * each + np.float32(state["nested_offset"])
    block = math.gcd(k, state["blocksize"])
    scale = np.repeat(absmax, state["blocksize"] // block)[: n * k // block]
    return Weight(
        BNB_PLACES[kind][codes].reshape(n, k), _f32(scale.reshape(n, -1)), block, levels=kind
    )


def _llm_int8(found: Tensors, stem: str) -> Tensor:
    weight, names = found[f"{stem}.weight"], [f"{stem}.weight", f"{stem}.SCB"]
    form = found.get(f"{stem}.weight_format")
    if len(weight.shape) != 2 or (form is not None and np.any(_array(form))):
        raise QuantError(f"{stem}: expected bitsandbytes' int8 row by row, got another order")
    read = functools.partial(_rows_of_int8, found, stem)
    return Tensor("bitsandbytes int8", weight.shape, _sizes(found, names), read)


def _rows_of_int8(found: Tensors, stem: str) -> Weight:
    """SCB is the largest magnitude of a row, for which 127 stands."""
    codes, most = _array(found[f"{stem}.weight"]), _f32(_array(found[f"{stem}.SCB"]))
    return Weight(codes, (most * np.float32(7.874015718698502e-3)).reshape(-1, 1), 0)
