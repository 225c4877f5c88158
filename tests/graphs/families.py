"""How to use each operator: functions that choose operands and attributes, most of them such that the node is valid.

An entry returns (inputs, attributes, number of outputs). Operators whose operands broadcast come from the standard's schemas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from graphs.draft import DTYPES, Draft, UnfitError

Use = tuple[list[str], dict[str, Any], int]
USES: Final[dict[str, Callable[[Draft, str], Use]]] = {}

FLOATS: Final = ("float", "float16", "double", "bfloat16")
INTEGERS: Final = ("int64", "int32")


def use(*ops: str) -> Callable[[Callable[[Draft, str], Use]], Callable[[Draft, str], Use]]:
    def enter(function: Callable[[Draft, str], Use]) -> Callable[[Draft, str], Use]:
        for op in ops:
            assert op not in USES, op
            USES[op] = function
        return function

    return enter


# --- element by element -------------------------------------------------------------------------------------------------

NUMBERS: Final[dict[str, tuple[Any, ...]]] = {
    "alpha": (0.01, 0.5, 1.0, 1.7, -0.5, 2.0), "beta": (0.0, 0.5, 1.0, -1.0), "gamma": (1.05, 0.5), "lambd": (0.5, 0.0, 1.0),
    "bias": (0.0, 0.5, -0.5), "detect_negative": (0, 1), "detect_positive": (0, 1), "fmod": (0, 1), "seed": (1,),
    "approximate": ("none", "tanh"), "direction": ("LEFT", "RIGHT"), "saturate": (0, 1), "ratio": (0.3,),
}  # fmt: skip


def numbers(d: Draft, op: str, chance: float = 0.5) -> dict[str, Any]:
    """Attributes that any number fits."""
    there = d.schema(op).attributes
    return {
        n: d.pick(v)
        for n, v in NUMBERS.items()
        if n in there and (there[n].required or d.chance(chance))
    }


@use(
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "Identity",
    "IsInf", "IsNaN", "Log", "Neg", "Not", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus",
    "Softsign", "Sqrt", "Tan", "Tanh", "BitwiseNot", "Celu", "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish",
    "Selu", "Shrink", "Swish", "ThresholdedRelu", "Shape", "Size",
)  # fmt: skip
def unary(d: Draft, op: str) -> Use:
    attrs = numbers(d, op)
    x = d.tensor(d.allowed(op), constant=0.1)
    if op == "Shape" and d.opset >= 15 and d.chance(0.4):
        attrs |= {"start": d.rng.randint(-6, 6), "end": d.rng.randint(-6, 6)}
    return [x], attrs, 1


@use(
    "Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual", "Less",
    "LessOrEqual", "Mod", "Mul", "Or", "Sub", "Xor", "PRelu", "BitShift",
)  # fmt: skip
def binary(d: Draft, op: str) -> Use:
    attrs = numbers(d, op)
    a = d.tensor(d.allowed(op))
    if op == "Mod" and d.dtype_of(a) in FLOATS:
        attrs["fmod"] = 1
    b = d.like(a, broadcast(d, d.of(a)))
    return ([a, b] if op == "PRelu" or d.chance(0.6) else [b, a]), attrs, 1


def broadcast(d: Draft, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to it, or sometimes with it."""
    kept = [n if d.chance(0.75) else 1 for n in shape]
    return tuple(kept[d.rng.randrange(len(kept)) :] if kept and d.chance(0.35) else kept)


@use("Max", "Min", "Mean", "Sum")
def variadic(d: Draft, op: str) -> Use:
    a = d.tensor(d.allowed(op))
    count = d.pick((0, 1, 1, 1, 2, 3))
    return [a, *(d.like(a, broadcast(d, d.of(a))) for _ in range(count))], {}, 1


@use("Pow")
def power(d: Draft, op: str) -> Use:
    a = d.tensor(d.allowed(op))
    shape = broadcast(d, d.of(a))
    if d.opset < 12 or d.chance(0.5):
        return [a, d.like(a, shape)], {}, 1
    return [a, d.tensor(("float", "int32", "int64"), shape=shape, constant=0.7)], {}, 1


@use("Where")
def where(d: Draft, op: str) -> Use:
    a = d.tensor(d.allowed(op, 1))
    b = d.like(a, broadcast(d, d.of(a)))
    return [d.tensor(("bool",), shape=broadcast(d, d.of(a))), a, b], {}, 1


@use("Clip")
def clip(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op))
    if d.has(op, "min"):
        return [x], {k: v for k, v in (("min", -1.0), ("max", 1.5)) if d.chance(0.7)}, 1
    ends = [d.like(x, (), 0.8) if d.chance(0.7) else "" for _ in range(2)]
    return [x, *ends], {}, 1


@use("Cast")
def cast(d: Draft, op: str) -> Use:
    x = d.tensor([t for t in d.allowed(op) if t != "string"])
    to = d.dtype([t for t in d.allowed(op) if t != "string"])
    return [x], {"to": DTYPES[to][0], **numbers(d, op, 0.2)}, 1


@use("CastLike")
def cast_like(d: Draft, op: str) -> Use:
    x = d.tensor([t for t in d.allowed(op) if t != "string"])
    return [x, d.fresh(d.dtype(d.allowed(op)), (1,))], {}, 1


@use("Dropout")
def dropout(d: Draft, op: str) -> Use:
    return [d.tensor(d.allowed(op))], {}, d.pick((1, 1, 2)) if d.opset >= 10 else 1


# --- along axes -----------------------------------------------------------------------------------------------------------


@use(
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "ReduceSumSquare",
)  # fmt: skip
def reduction(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op))
    attrs: dict[str, Any] = {"keepdims": d.pick((0, 1))} if d.chance(0.7) else {}
    axes = d.axes(len(d.of(x)), 0)
    if d.has(op, "axes"):
        return [x], attrs | ({"axes": axes} if axes else {}), 1
    if d.chance(0.2):
        attrs["noop_with_empty_axes"] = d.pick((0, 1))
    return [x, d.ints(axes) if d.chance(0.85) else ""], attrs, 1


@use("ArgMax", "ArgMin")
def arg(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1)
    attrs: dict[str, Any] = {"axis": d.axis(len(d.of(x)))} if d.chance(0.8) else {}
    if d.chance(0.5):
        attrs["keepdims"] = d.pick((0, 1))
    if d.opset >= 12 and d.chance(0.4):
        attrs["select_last_index"] = d.pick((0, 1))
    return [x], attrs, 1


@use("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")
def along(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1)
    attrs: dict[str, Any] = {"axis": d.axis(len(d.of(x)))} if d.chance(0.8) else {}
    if op == "LpNormalization" and d.chance(0.5):
        attrs["p"] = d.pick((1, 2))
    if d.opset < 11 and attrs.get("axis", 0) < 0:
        attrs["axis"] += len(d.of(x))
    return [x], attrs, 1


@use("CumSum", "CumProd")
def cumulative(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1)
    axis = d.ints(d.axis(len(d.of(x))), d.pick(INTEGERS))
    return [x, axis], {k: d.pick((0, 1)) for k in ("exclusive", "reverse") if d.chance(0.4)}, 1


@use("TopK")
def top(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1)
    axis = d.axis(len(d.of(x)))
    k = d.rng.randint(0, d.of(x)[axis])
    attrs: dict[str, Any] = {"axis": axis}
    if d.opset >= 11:
        attrs |= {n: d.pick((0, 1)) for n in ("largest",) if d.chance(0.6)}
    if d.has(op, "k"):
        return [x], attrs | {"k": max(k, 1), "axis": axis % len(d.of(x))}, 2
    return [x, d.ints([k])], attrs, 2


# --- moving elements --------------------------------------------------------------------------------------------------


@use("Transpose")
def transpose(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op))
    perm = list(range(len(d.of(x))))
    d.rng.shuffle(perm)
    return [x], {"perm": perm} if perm and d.chance(0.8) else {}, 1


@use("Reshape")
def reshape(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op))
    shape = factors(d, int(np.prod(d.of(x))))
    if shape and d.chance(0.4) and 0 not in shape:
        shape[d.rng.randrange(len(shape))] = -1
    for i, n in enumerate(d.of(x)):
        if i < len(shape) and shape[i] == n and d.chance(0.3):
            shape[i] = 0
    attrs = {"allowzero": 1} if d.opset >= 14 and d.chance(0.1) else {}
    return [x, d.ints(shape)], attrs, 1


def factors(d: Draft, count: int) -> list[int]:
    out = []
    for p in (2, 2, 2, 3, 3, 5, 7):
        if count and count % p == 0 and d.chance(0.6):
            out.append(p)
            count //= p
    if count != 1 or d.chance(0.3):
        out.insert(d.rng.randint(0, len(out)), count)
    return out[:6] if int(np.prod(out[:6])) == int(np.prod(out)) else [int(np.prod(out))]


@use("Flatten")
def flatten(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op))
    rank = len(d.of(x))
    low = -rank if d.opset >= 11 else 0
    return [x], {"axis": d.rng.randint(low, rank)} if d.chance(0.8) else {}, 1


@use("Squeeze")
def squeeze(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op))
    ones = [a for a, n in enumerate(d.of(x)) if n == 1]
    axes = d.rng.sample(ones, d.rng.randint(0, len(ones)))
    if d.opset >= 11:
        axes = [a - len(d.of(x)) if d.chance(0.3) else a for a in axes]
    if d.has(op, "axes"):
        return [x], {"axes": axes} if axes else {}, 1
    return [x, d.ints(axes) if axes else ""], {}, 1


@use("Unsqueeze")
def unsqueeze(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 0, 4)
    rank = len(d.of(x)) + d.pick((1, 1, 2))
    axes = d.rng.sample(range(rank), rank - len(d.of(x)))
    if d.opset >= 11:
        axes = [a - rank if d.chance(0.3) else a for a in axes]
    return ([x], {"axes": axes}, 1) if d.has(op, "axes") else ([x, d.ints(axes)], {}, 1)


@use("Expand")
def expand(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 0, 4)
    shape = [n if n != 1 or d.chance(0.4) else d.extent() for n in d.of(x)]
    shape = [1 if d.chance(0.2) else n for n in shape]
    return [x, d.ints([d.extent()] * d.pick((0, 0, 1)) + shape)], {}, 1


@use("Tile")
def tile(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 0, 4)
    return [x, d.ints([d.pick((1, 1, 2, 3, 0)) for _ in d.of(x)])], {}, 1


@use("Concat")
def concat(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1)
    axis = d.axis(len(d.of(x))) if d.opset >= 11 else d.rng.randrange(len(d.of(x)))
    others = []
    for _ in range(d.pick((0, 1, 1, 2))):
        shape = list(d.of(x))
        shape[axis] = d.extent()
        others.append(d.like(x, shape))
    return [x, *others], {"axis": axis}, 1


@use("Split")
def split(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1)
    axis = d.axis(len(d.of(x))) if d.opset >= 11 else d.rng.randrange(len(d.of(x)))
    n = d.of(x)[axis]
    count = d.rng.randint(1, 3)
    cuts = sorted(d.rng.randint(0, n) for _ in range(count - 1))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
    attrs: dict[str, Any] = {"axis": axis}
    if d.has(op, "split"):
        return [x], attrs | {"split": sizes}, count
    if d.opset >= 18 and d.chance(0.4):
        return [x], attrs | {"num_outputs": count}, count
    return [x, d.ints(sizes)], attrs, count


@use("Slice")
def slicing(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1)
    axes = d.axes(len(d.of(x)))
    if d.opset < 10:
        axes = [a % len(d.of(x)) for a in axes]
    ends = (-100, -3, -2, -1, 0, 1, 2, 3, 100, 2**63 - 1, 2**31 - 1, -(2**63))
    starts = [d.pick(ends) for _ in axes]
    stops = [d.pick(ends) for _ in axes]
    if d.has(op, "starts"):
        return [x], {"starts": starts, "ends": stops, "axes": axes}, 1
    steps = [d.pick((1, 1, 2, -1, -2, 3, -(2**63), 2**63 - 1)) for _ in axes]
    inputs = [x, d.ints(starts), d.ints(stops)]
    if d.chance(0.85):
        inputs += [d.ints(axes)] + ([d.ints(steps)] if d.chance(0.7) else [])
    return inputs, {}, 1


@use("Gather")
def gather(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1)
    axis = d.axis(len(d.of(x)))
    return (
        [x, indices(d, d.of(x)[axis], d.shape(0, 2))],
        {"axis": axis} if axis or d.chance(0.5) else {},
        1,
    )


def indices(d: Draft, n: int, shape: tuple[int, ...], dtypes: tuple[str, ...] = INTEGERS) -> str:
    if n == 0 and np.prod(shape):
        raise UnfitError
    low = -n if d.opset >= 11 else 0
    flat = [d.rng.randint(low, n - 1) for _ in range(int(np.prod(shape)))]
    return d.given(np.array(flat, DTYPES[d.pick(dtypes)][1]).reshape(shape), 0.5)


@use("GatherElements", "ScatterElements", "Scatter")
def elements(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1, 4)
    axis = d.axis(len(d.of(x))) if d.opset >= 11 else d.rng.randrange(len(d.of(x)))
    shape = [d.rng.randint(min(n, 1), n) for n in d.of(x)]
    index = indices(d, d.of(x)[axis], tuple(shape))
    if op == "GatherElements":
        return [x, index], {"axis": axis}, 1
    attrs: dict[str, Any] = {"axis": axis}
    if d.has(op, "reduction") and d.chance(0.5):
        attrs["reduction"] = d.pick(
            ("add", "mul", "max", "min") if d.opset >= 18 else ("add", "mul")
        )
    return [x, index, d.like(x, shape)], attrs, 1


@use("GatherND", "ScatterND")
def nd(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1, 4)
    shape = d.of(x)
    batch = d.pick((0, 0, 1)) if op == "GatherND" and d.opset >= 12 and len(shape) > 1 else 0
    depth = d.rng.randint(1, len(shape) - batch)
    outer = shape[:batch] + d.shape(0 if op == "GatherND" or d.chance(0.5) else 1, 2)
    rows = []
    for _ in range(int(np.prod(outer))):
        if any(n == 0 for n in shape[batch : batch + depth]):
            raise UnfitError
        rows.append([d.rng.randint(-n, n - 1) for n in shape[batch : batch + depth]])
    index = d.given(np.array(rows, np.int64).reshape((*outer, depth)), 0.5)
    if op == "GatherND":
        return [x, index], {"batch_dims": batch} if batch else {}, 1
    attrs = {}
    if d.has(op, "reduction") and d.chance(0.5):
        attrs["reduction"] = d.pick(
            ("add", "mul", "max", "min") if d.opset >= 18 else ("add", "mul")
        )
    return [x, index, d.like(x, (*outer, *shape[depth:]))], attrs, 1


@use("Pad")
def pad(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1, 4)
    rank = len(d.of(x))
    mode = d.pick(
        ("constant", "constant", "reflect", "edge", *(("wrap",) if d.opset >= 19 else ()))
    )
    axes = d.axes(rank) if d.opset >= 18 and d.chance(0.4) else list(range(rank))
    low = -1 if d.chance(0.2) and mode == "constant" else 0
    sizes = [d.of(x)[a] for a in axes] * 2
    pads = [d.rng.randint(low, 2 if mode == "constant" else max(0, min(2, n - 1))) for n in sizes]
    attrs: dict[str, Any] = {"mode": mode} if mode != "constant" or d.chance(0.3) else {}
    if d.has(op, "pads"):
        return [x], attrs | {"pads": pads} | ({"value": 1.5} if d.chance(0.3) else {}), 1
    inputs = [x, d.ints(pads), d.like(x, ()) if d.chance(0.5) else ""]
    return [*inputs, d.ints(axes) if len(axes) < rank or axes != sorted(axes) else ""], attrs, 1


@use("DepthToSpace", "SpaceToDepth")
def depth(d: Draft, op: str) -> Use:
    b = d.pick((1, 2))
    n, c, h, w = (d.pick((1, 2)), d.pick((1, 2)), d.pick((1, 2)), d.pick((1, 3)))
    shape = (n, c * b * b, h, w) if op == "DepthToSpace" else (n, c, h * b, w * b)
    attrs: dict[str, Any] = {"blocksize": b}
    if op == "DepthToSpace" and d.opset >= 11 and d.chance(0.5):
        attrs["mode"] = d.pick(("DCR", "CRD"))
    return [d.tensor(d.allowed(op), shape=shape, constant=0.1)], attrs, 1


@use("Trilu")
def trilu(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 2)
    return [x, d.ints(d.rng.randint(-4, 4)) if d.chance(0.6) else ""], {"upper": d.pick((0, 1))}, 1


@use("ReverseSequence")
def reverse(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 2)
    time = d.pick((0, 1))
    n, t = d.of(x)[1 - time], d.of(x)[time]
    lengths = d.given(np.array([d.rng.randint(min(t, 1), t) for _ in range(n)], np.int64), 0.7)
    return [x, lengths], {"time_axis": time, "batch_axis": 1 - time}, 1


@use("Compress")
def compress(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1)
    if d.chance(0.3):
        return [x, d.fresh("bool", (d.rng.randint(1, 5),))], {}, 1
    axis = d.axis(len(d.of(x)))
    return [x, d.fresh("bool", (d.of(x)[axis],))], {"axis": axis}, 1


@use("NonZero")
def nonzero(d: Draft, op: str) -> Use:
    return [d.tensor(d.allowed(op), 1)], {}, 1


@use("Unique")
def unique(d: Draft, op: str) -> Use:
    x = d.tensor(("float", "int64", "int32"), 1, 3)
    attrs: dict[str, Any] = {"sorted": d.pick((0, 1))} if d.chance(0.5) else {}
    if d.chance(0.4):
        attrs["axis"] = d.axis(len(d.of(x)))
    return [x], attrs, d.pick((1, 2, 4))


@use("OneHot")
def one_hot(d: Draft, op: str) -> Use:
    x = d.tensor(("int64", "int32", "float"), 0, 3)
    attrs: dict[str, Any] = {"axis": d.axis(len(d.of(x)) + 1)} if d.chance(0.6) else {}
    return [x, d.ints(d.rng.randint(1, 6), d.pick(INTEGERS)), d.fresh("float", (2,))], attrs, 1


@use("EyeLike")
def eye(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 2, 2)
    attrs: dict[str, Any] = {"k": d.rng.randint(-3, 3)} if d.chance(0.5) else {}
    if d.chance(0.3):
        attrs["dtype"] = DTYPES[d.dtype(d.allowed(op))][0]
    return [x], attrs, 1


@use("Range")
def ranging(d: Draft, op: str) -> Use:
    dtype = d.pick(("int64", "int32", "float", "double", "int16"))
    start, step = d.rng.randint(-3, 3), d.pick((1, 2, -1, -2, 3))
    stop = start + step * d.rng.randint(-1, 5) + d.pick((0, 1))
    parts = [d.given(np.array(v, DTYPES[dtype][1]), 0.7) for v in (start, stop, step)]
    return parts, {}, 1


@use("ConstantOfShape")
def constant_of_shape(d: Draft, op: str) -> Use:
    from graphs.draft import initializer

    attrs = {}
    if d.chance(0.7):
        dtype = d.dtype(("float", "int64", "int32", "bool", "float16", "uint8"))
        attrs["value"] = initializer("v", d.values(dtype, (1,)))
    return [d.ints(list(d.shape(0, 4)))], attrs, 1


@use("Constant")
def constant(d: Draft, op: str) -> Use:
    from graphs.draft import initializer

    if d.opset >= 12 and d.chance(0.5):
        return (
            [],
            d.pick(
                (
                    {"value_float": 1.5},
                    {"value_ints": [1, -2]},
                    {"value_int": 3},
                    {"value_floats": [0.5]},
                )
            ),
            1,
        )
    return (
        [],
        {"value": initializer("v", d.values(d.dtype(("float", "int64", "bool")), d.shape(0, 3)))},
        1,
    )
