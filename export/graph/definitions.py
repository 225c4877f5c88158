"""What ONNX says of its operators in words, as rows: attributes' values, ranks and extents of operands.

onnx's own inference does not look at these. `check` compares a node with them as far as numbers are known; a size that has
a name fits everything, and whoever lowers the node states the relation where it needs it.

    X[n,c,*]   rank 2 and more; a letter is one extent in all of a node's operands, 4h a multiple of one, a number itself
    x[n,*r]    what is left is the same in all operands with that letter; x[~] is of the rank of the first operand
    k()        one element, of rank 0 or 1
    k(*)       one element, of any rank
    w{m}       one element, or [m]
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import onnx

Known = tuple[int | None, ...]
"""None: an extent is not known."""

Shape = Known | None
"""None: the rank is not known."""


class NotAllowedError(Exception):
    """The text says what was expected and what it got."""


WIDE: Final = {
    ("Constant", "value_int"), ("Constant", "value_ints"), ("Shape", "start"), ("Shape", "end"), ("Slice", "starts"), ("Slice", "ends"),
    ("Dropout", "seed"), ("SoftmaxCrossEntropyLoss", "ignore_index"), ("NegativeLogLikelihoodLoss", "ignore_index"),
    ("TfIdfVectorizer", "pool_int64s"),
}  # fmt: skip
"""Attributes that may be any i64; in others onnx's inference reads the low 32 bits, and nobody means more."""

FLAGS: Final = {
    "align_corners", "allowzero", "antialias", "ceil_mode", "center_point_box", "count_include_pad", "detect_negative",
    "detect_positive", "exclude_outside", "exclusive", "fmod", "input_forget", "interleaved", "inverse", "is_causal", "keepdims",
    "largest", "layout", "linear_before_reset", "new_axis", "noop_with_empty_axes", "onesided", "periodic", "reverse", "saturate",
    "select_last_index", "sorted", "storage_order", "training_mode", "transA", "transB", "upper", "scan_input_directions",
    "scan_output_directions",
}  # fmt: skip
"""Attributes that are 0 or 1."""

LEAST: Final = {
    "block_size": 0, "blocksize": 1, "group": 1, "hidden_size": 1, "kernel_shape": 1, "kv_num_heads": 0, "left_window_size": -1,
    "num_groups": 1, "num_heads": 0, "num_outputs": 1, "num_scan_inputs": 1, "offset_group": 1, "output_height": 1,
    "output_padding": 0, "output_shape": 0, "output_width": 1, "p": 1, "pads": 0, "q_num_heads": 0, "right_window_size": -1,
    "rotary_embedding_dim": 0, "sampling_ratio": 0, "size": 1, "strides": 1, "dilations": 1, "batch_dims": 0,
}  # fmt: skip
"""The least value of an attribute, or of each of its numbers."""

NEGATIVE: Final = {("Pad", "pads")}
"""It may be negative there."""

TYPES: Final = (
    "to", "dtype", "output_dtype", "output_datatype", "precision", "stash_type", "softmax_precision",
)  # fmt: skip
"""Attributes that are element types."""

FLOATS: Final = (
    onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE, onnx.TensorProto.BFLOAT16,
)  # fmt: skip
FLOAT_TYPES: Final = dict.fromkeys(("precision", "stash_type", "softmax_precision"), FLOATS)
"""Those that are of what is computed in."""

PADDING: Final = "NOTSET SAME_UPPER SAME_LOWER VALID"
REDUCTION: Final = "none add mul max min"
LOSS: Final = "none mean sum"
DIRECTION: Final = "forward reverse bidirectional"
WORDS: Final = {
    key: tuple(words.split())
    for key, words in {
        "approximate": "none tanh", "auto_pad": PADDING, "keep_aspect_ratio_policy": "stretch not_larger not_smaller",
        "nearest_mode": "round_prefer_floor round_prefer_ceil floor ceil", "padding_mode": "zeros border reflection",
        "round_mode": "up down nearest", "BitShift.direction": "LEFT RIGHT", "direction": DIRECTION,
        "RoiAlign.coordinate_transformation_mode": "half_pixel output_half_pixel",
        "Resize.coordinate_transformation_mode": "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric "
        "tf_half_pixel_for_nn tf_crop_and_resize",
        "GridSample.mode": "linear nearest cubic bilinear bicubic", "RoiAlign.mode": "avg max",
        "Pad.mode": "constant reflect edge wrap", "DepthToSpace.mode": "DCR CRD", "SpaceToDepth.mode": "DCR CRD",
        "Upsample.mode": "nearest linear bilinear", "Resize.mode": "nearest linear cubic bilinear",
        "TensorScatter.mode": "linear circular", "ScatterElements.reduction": REDUCTION, "ScatterND.reduction": REDUCTION,
        "SoftmaxCrossEntropyLoss.reduction": LOSS, "NegativeLogLikelihoodLoss.reduction": LOSS,
    }.items()
}  # fmt: skip
"""Attribute, or operator.attribute -> the words that it may be."""

CHOICES: Final = {
    ("LpNormalization", "p"): (1, 2), ("ReverseSequence", "time_axis"): (0, 1), ("ReverseSequence", "batch_axis"): (0, 1),
    ("Attention", "qk_matmul_output_mode"): (0, 1, 2, 3),
}  # fmt: skip

AXES: Final = {
    "CumSum": 1, "CumProd": 1, "LayerNormalization": 0, "RMSNormalization": 0, "GatherElements": 0, "ScatterElements": 0,
    "Scatter": 0, "LpNormalization": 0, "Compress": 0, "QuantizeLinear": 0, "DequantizeLinear": 0, "Split": 0, "Softmax": 0,
    "LogSoftmax": 0, "Hardmax": 0, "TopK": 0, "Unique": 0, "TensorScatter": 0, "ArgMax": 0, "ArgMin": 0,
}  # fmt: skip
"""Operators whose axis onnx's inference does not look at, or not always; 1: it is the second operand."""

WHOLE: Final = ("Compress", "Unique")
"""Operators that take the whole tensor where no axis is told, a scalar too; others need an axis."""

SCALED: Final = ("QuantizeLinear", "DequantizeLinear")
"""Operators with scales and zero points: one, one for each element of an axis, or one for each block of it."""

EACH_AXIS: Final = {"Tile": 2, "CenterCropPad": 2, "Pad": 3}
"""Operators whose k is the number of the axes that are told, or of all where there are no more operands than this."""

OPERANDS: Final = {
    "LSTM": "X[t,b,i] W[d,4h,i] R[d,4h,h] B[d,8h] sequence_lens[b] initial_h[d,b,h] initial_c[d,b,h] P[d,3h]",
    "GRU": "X[t,b,i] W[d,3h,i] R[d,3h,h] B[d,6h] sequence_lens[b] initial_h[d,b,h]",
    "RNN": "X[t,b,i] W[d,h,i] R[d,h,h] B[d,2h] sequence_lens[b] initial_h[d,b,h]",
    "GroupNormalization": "X[n,c,*] scale[c] bias[c]",
    "InstanceNormalization": "input[n,c,*] scale[c] B[c]",
    "BatchNormalization": "X[n,c,*] scale[c] B[c] input_mean[c] input_var[c]",
    "LRN": "X[n,c,*]",
    "SoftmaxCrossEntropyLoss": "scores[n,c,*r] labels[n,*r] weights[c]",
    "NegativeLogLikelihoodLoss": "input[n,c,*r] target[n,*r] weight[c]",
    "GatherElements": "data[m,*] indices[~]",
    "ScatterElements": "data[m,*] indices[~,*i] updates[~,*i]",
    "GatherND": "data[m,*] indices[k,*]",
    "ScatterND": "data[m,*] indices[k,*] updates[*]",
    "NonMaxSuppression": "boxes[b,n,4] scores[b,c,n] max_output_boxes_per_class() iou_threshold() score_threshold()",
    "OneHot": "indices[*] depth() values[2]",
    "TopK": "X[*] K()",
    "Range": "start() limit() delta()",
    "CumSum": "x[*] axis()",
    "CumProd": "x[*] axis()",
    "Trilu": "input[m,n,*] k()",
    "Tile": "input[*] repeats[k]",
    "BlackmanWindow": "size()",
    "HammingWindow": "size()",
    "HannWindow": "size()",
    "EyeLike": "input[m,n]",
    "ReverseSequence": "input[m,n,*] sequence_lens[b]",
    "Compress": "input[*] condition[k]",
    "GridSample": "X[n,c,*] grid[n,*]",
    "RoiAlign": "X[n,c,h,w] rois[r,4] batch_indices[r]",
    "MaxRoiPool": "X[n,c,h,w] rois[r,5]",
    "DFT": "input[*] dft_length() axis()",
    "STFT": "signal[b,n,*] frame_step() window[w] frame_length()",
    "MelWeightMatrix": "num_mel_bins() dft_length() sample_rate() lower_edge_hertz() upper_edge_hertz()",
    "Dropout": "data[*] ratio() training_mode()",
    "Pad": "data[*] pads[2k] constant_value() axes[k]",
    "Clip": "input[*] min() max()",
    "Slice": "data[*] starts[k] ends[k] axes[k] steps[k]",
    "Split": "input[*] split[k]",
    "Conv": "X[n,c,*] W[m,k,*] B[m]",
    "ConvTranspose": "X[n,c,*] W[c,k,*] B[m]",
    "ConvInteger": "x[n,c,*] w[m,k,*] x_zero_point() w_zero_point{m}",
    "QLinearConv": "x[n,c,*] x_scale() x_zero_point() w[m,k,*] w_scale{m} w_zero_point{m} y_scale() y_zero_point() B[m]",
    "DeformConv": "X[n,c,h,w] W[m,k,i,j] offset[n,o,p,q] B[m] mask[n,a,p,q]",
    "Col2Im": "input[n,c,l] image_shape[k] block_shape[k]",
    "AffineGrid": "theta[n,r,s] size[k]",
    "TensorScatter": "past_cache[b,*] update[b,*] write_indices[b]",
    "CenterCropPad": "input_data[*] shape[k]",
    "Attention4": "Q[b,q,s,e] K[b,k,t,e] V[b,k,t,f] attn_mask[m,*] past_key[b,k,p,e] past_value[b,k,p,f] "
    "nonpad_kv_seqlen[b]",
    "Attention3": "Q[b,s,x] K[b,t,y] V[b,t,z] attn_mask[m,*] past_key[b,k,p,e] past_value[b,k,p,f] nonpad_kv_seqlen[b]",
    "RotaryEmbedding4": "X[b,h,s,e] cos_cache[*] sin_cache[*] position_ids[b,s]",
    "RotaryEmbedding3": "X[b,s,e] cos_cache[*] sin_cache[*] position_ids[b,s]",
    "Loop": "M() cond()",
    "If": "cond(*)",
}  # fmt: skip

BATCH_FIRST: Final = {
    "X[t,b,i]": "X[b,t,i]", "initial_h[d,b,h]": "initial_h[b,d,h]", "initial_c[d,b,h]": "initial_c[b,d,h]",
}  # fmt: skip
"""What `layout` 1 changes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Operand:
    name: str
    kind: str  # the bracket that opens: [ ( {
    sizes: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class _Bound:
    """What letters of a row stand for: extents, and what is left of a shape."""

    sizes: dict[str, int] = dataclasses.field(default_factory=dict)
    rests: dict[str, Known] = dataclasses.field(default_factory=dict)


@functools.cache
def operands(op_type: str, batch_first: bool) -> tuple[Operand, ...]:
    words = OPERANDS.get(op_type, "").split()
    if batch_first:
        words = [BATCH_FIRST.get(w, w) for w in words]
    parts = [re.fullmatch(r"(\w+)([\[({])(.*)[\])}]", w) for w in words]
    return tuple(
        Operand(p[1], p[2], tuple(s for s in p[3].split(",") if s)) for p in parts if p is not None
    )


# --- attributes -----------------------------------------------------------------------------------------------------------


def check_values(op_type: str, attrs: Mapping[str, Any]) -> None:
    """Values of attributes that no operand decides.

    Raises:
        NotAllowedError: the standard does not allow one.
    """
    for name, value in attrs.items():
        if isinstance(value, str):
            _check_word(op_type, name, value)
        elif isinstance(value, int):
            _check_numbers(op_type, name, (value,))
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], int):
            _check_numbers(op_type, name, value)


def _check_word(op_type: str, name: str, value: str) -> None:
    allowed = WORDS.get(f"{op_type}.{name}", WORDS.get(name))
    if allowed is None or value in allowed:
        return
    if name == "direction" and allowed == WORDS[name] and value.lower() in allowed:
        return  # written in capitals by some
    raise NotAllowedError(f"expected {name} as one of {', '.join(allowed)}, got {value!r}")


def _check_numbers(op_type: str, name: str, values: Sequence[int]) -> None:
    allowed = CHOICES.get((op_type, name), (0, 1) if name in FLAGS else None)
    least = None if (op_type, name) in NEGATIVE else LEAST.get(name)
    for v in values:
        if (op_type, name) not in WIDE and not -(2**31) <= v < 2**31:
            raise NotAllowedError(f"expected {name} within 32 bits, got {v}")
        if allowed is not None and v not in allowed:
            expected = " or ".join(map(str, allowed))
            raise NotAllowedError(f"expected {name} as {expected}, got {v}")
        if least is not None and v < least:
            raise NotAllowedError(f"expected {name} of at least {least}, got {v}")
        if name in TYPES and not _is_type(name, v):
            kind = "a float type" if name in FLOAT_TYPES else "an element type"
            raise NotAllowedError(f"expected {name} as {kind}, got {v}")


def _is_type(name: str, value: int) -> bool:
    """0 says that there is none, where the operator may choose."""
    if value == 0:
        return name in ("output_dtype", "precision")
    return value in FLOAT_TYPES.get(name, onnx.TensorProto.DataType.values())


# --- operands -------------------------------------------------------------------------------------------------------------


def check_operands(
    op_type: str, attrs: Mapping[str, Any], shapes: Sequence[Shape], axis: int | None = None
) -> None:
    """Ranks, extents and the axis, as far as they are known. `shapes`: None where an operand is absent; `axis`: what the second
    operand says.

    Raises:
        NotAllowedError: the standard does not allow one.
    """
    _check_axis(op_type, attrs, shapes, axis)
    bound = _Bound()
    if op_type in ("LSTM", "GRU", "RNN"):
        bound.sizes["d"] = 2 if str(attrs.get("direction", "")).lower() == "bidirectional" else 1
        if "hidden_size" in attrs:
            bound.sizes["h"] = int(attrs["hidden_size"])
    first = shapes[0] if shapes else None
    if first is not None and len(shapes) <= EACH_AXIS.get(op_type, 0):
        bound.sizes["k"] = len(attrs.get("axes", first))
    rows = operands(_form(op_type, attrs, shapes), attrs.get("layout") == 1)
    for row, shape in zip(rows, shapes, strict=False):
        if shape is not None:
            _check_operand(row, shape, first, bound)
    if first is not None and "axes" in attrs:
        axes = list(attrs["axes"])
        _check_distinct(axes, len(first) + (len(axes) if op_type == "Unsqueeze" else 0))
    if op_type == "ReverseSequence" and attrs.get("time_axis", 0) == attrs.get("batch_axis", 1):
        raise NotAllowedError("expected time_axis and batch_axis as 0 and 1, got one twice")
    if op_type == "Attention":
        _check_heads(attrs, bound.sizes)
    if op_type in SCALED:
        _check_scales(attrs, [*shapes, None][:3])
    if op_type == "RotaryEmbedding" and first is not None and len(first) == 3:
        heads = int(attrs.get("num_heads", 0))
        if heads < 1 or (first[2] is not None and first[2] % heads):
            raise NotAllowedError(f"expected num_heads that divides {first[2]}, got {heads}")
    if op_type == "Scan":
        _check_scanned(attrs, shapes[len(shapes) - int(attrs["num_scan_inputs"]) :])
    if op_type == "Transpose" and first is not None and "perm" in attrs:
        _check_order(list(attrs["perm"]), len(first))


def _form(op_type: str, attrs: Mapping[str, Any], shapes: Sequence[Shape]) -> str:
    """The row of an operator that has several: by the rank of the first operand."""
    first = shapes[0] if shapes else None
    if op_type in ("Attention", "RotaryEmbedding"):
        if first is not None and len(first) not in (3, 4):
            raise NotAllowedError(f"expected a first operand of rank 3 or 4, got rank {len(first)}")
        return f"{op_type}{len(first)}" if first is not None else op_type
    return op_type


def _check_heads(attrs: Mapping[str, Any], bound: Mapping[str, int]) -> None:
    """Heads of keys and values serve equal numbers of heads of queries. `bound`: q and k where heads are an axis, or what the
    axes of heads together are, x, y and z."""
    q = bound.get("q", int(attrs.get("q_num_heads", 0)) if "x" in bound else None)
    k = bound.get("k", int(attrs.get("kv_num_heads", 0)) if "y" in bound else None)
    if q is not None and k is not None and (k < 1 or q < 1 or q % k):
        raise NotAllowedError(
            f"expected heads of queries as a multiple of those of keys, got {q} and {k}"
        )
    for letter, heads in (("x", q), ("y", k), ("z", k)):
        if letter in bound and heads and bound[letter] % heads:
            raise NotAllowedError(
                f"expected {heads} heads of equal size, got {bound[letter]} elements"
            )


def _check_distinct(axes: Sequence[int], rank: int) -> None:
    places = [a + rank if a < 0 else a for a in axes]
    if any(not 0 <= a < rank for a in places) or len(set(places)) < len(places):
        raise NotAllowedError(
            f"expected different axes from {-rank} to {rank - 1}, got {list(axes)}"
        )


def _check_order(perm: list[int], rank: int) -> None:
    if sorted(perm) != list(range(rank)):
        raise NotAllowedError(f"expected perm as an order of {rank} axes, got {perm}")


def _check_operand(row: Operand, shape: Known, first: Known | None, bound: _Bound) -> None:
    shown = [f"?{i}" if n is None else n for i, n in enumerate(shape)]
    if row.kind == "(" or (row.kind == "{" and all(n == 1 for n in shape)):
        if len(shape) > 1 > len(row.sizes) or any(n not in (1, None) for n in shape):
            raise NotAllowedError(f"expected one element as {row.name}, got {shown}")
        return
    if "~" in row.sizes and first is not None and len(shape) != len(first):
        raise NotAllowedError(f"expected {row.name} of rank {len(first)}, got {shown}")
    sizes = tuple(s for s in row.sizes if s[0] not in "*~")
    rest = next((s for s in row.sizes if s[0] == "*"), "")
    is_open = bool(rest) or "~" in row.sizes
    expected = f"[{', '.join(row.sizes)}]"
    if len(shape) < len(sizes) or (not is_open and len(shape) > len(sizes)):
        raise NotAllowedError(f"expected {row.name} as {expected}, got {shown}")
    for size, n in zip(sizes, shape, strict=False):
        if n is None:
            continue
        factor, letter = re.fullmatch(r"(\d*)([a-z]?)", size).groups()  # type: ignore[union-attr]
        times = int(factor or 1)
        if not letter:
            wanted = times
        elif letter in bound.sizes:
            wanted = times * bound.sizes[letter]
        elif n % times == 0:
            bound.sizes[letter] = n // times
            continue
        else:
            raise NotAllowedError(f"expected {row.name} as {expected}, got {shown}")
        if n != wanted:
            raise NotAllowedError(
                f"expected {row.name} as {expected} with {size} = {wanted}, got {shown}"
            )
    if len(rest) > 1:
        left = shape[len(sizes) :]
        known = bound.rests.setdefault(rest, left)
        if not _fits(known, left):
            like = ["?" if n is None else n for n in known]
            raise NotAllowedError(
                f"expected {row.name} as {expected} with {rest} = {like}, got {shown}"
            )


def _check_axis(
    op_type: str, attrs: Mapping[str, Any], shapes: Sequence[Shape], second: int | None
) -> None:
    place = AXES.get(op_type)
    shape = shapes[0] if shapes else None
    if place is None or shape is None:
        return
    rank = len(shape)
    if op_type in SCALED and len(shapes) > 1:
        scale = shapes[1]
        if scale is not None and all(n == 1 for n in scale):
            return  # one scale for all
    axis = second if place else attrs.get("axis")
    is_flat = op_type in WHOLE and "axis" not in attrs
    if not rank and not is_flat and op_type not in SCALED:
        raise NotAllowedError("expected a tensor of rank 1 or more, got a scalar")
    if axis is not None and rank and not -rank <= axis < rank:
        raise NotAllowedError(f"expected an axis from {-rank} to {rank - 1}, got {axis}")


def _check_scales(attrs: Mapping[str, Any], shapes: Sequence[Shape]) -> None:
    """One scale, or one for each element of the axis, or for each block of the axis; zero points as scales."""
    x, scale, zero = shapes
    if scale is None:
        return
    is_one = all(n == 1 for n in scale)
    if zero is not None and not (is_one and all(n == 1 for n in zero)) and not _fits(scale, zero):
        raise NotAllowedError(f"expected zero points as scales, {list(scale)}, got {list(zero)}")
    if is_one or x is None:
        return
    axis, block = int(attrs.get("axis", 1)), int(attrs.get("block_size", 0))
    if not -len(x) <= axis < len(x):
        raise NotAllowedError(f"expected an axis from {-len(x)} to {len(x) - 1}, got {axis}")
    axis %= len(x)
    if len(scale) == 1 and not block:
        wanted: Known = (x[axis],)
    else:
        length = x[axis]
        count = -(-length // block) if length is not None and block else None
        wanted = (*x[:axis], count, *x[axis + 1 :])
    if not _fits(wanted, scale):
        raise NotAllowedError(f"expected scales as {list(wanted)}, got {list(scale)}")


def _fits(a: Known, b: Known) -> bool:
    """One shape, as far as the two are known."""
    return len(a) == len(b) and all(m == n or None in (m, n) for m, n in zip(a, b, strict=True))


def _check_scanned(attrs: Mapping[str, Any], sequences: Sequence[Shape]) -> None:
    """Each has the axis that is scanned, all as long as the first."""
    length: int | None = None
    for i, shape in enumerate(sequences):
        axis = int(attrs["scan_input_axes"][i]) if "scan_input_axes" in attrs else 0
        if shape is None:
            continue
        if not -len(shape) <= axis < len(shape):
            raise NotAllowedError(f"expected sequence {i} with an axis {axis}, got {list(shape)}")
        if None not in (length, shape[axis]) and shape[axis] != length:
            raise NotAllowedError(
                f"expected sequences of one length, got {length} and {shape[axis]}"
            )
        length = shape[axis] if length is None else length


def check_scan(attrs: Mapping[str, Any], inputs: int, body_outputs: int) -> None:
    """How many of Scan's operands and results are sequences, and its lists for each of them.

    Raises:
        NotAllowedError: they do not agree.
    """
    count = int(attrs.get("num_scan_inputs", 1))
    if count > inputs:
        raise NotAllowedError(f"expected num_scan_inputs of at most {inputs}, got {count}")
    made = body_outputs - (inputs - count)
    for side, wanted in (("input", count), ("output", made)):
        for name in (f"scan_{side}_axes", f"scan_{side}_directions"):
            if name in attrs and len(attrs[name]) != wanted:
                raise NotAllowedError(f"expected {wanted} {name}, got {len(attrs[name])}")
