"""What ai.onnx.ml does to tables of numbers before and after a model: scaling, missing values, codes of categories, columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from ... import graph as g
from .foreign import LEARNED, Foreign, means
from .scores import rows_of

FLOAT = int(ir.DataType.FLOAT)
INT64 = int(ir.DataType.INT64)
STRINGS = "encode categories as integers before the model"


def _float(n: Foreign, x: ir.Value) -> ir.Value:
    return x if x.dtype == ir.DataType.FLOAT else n("Cast", x, to=FLOAT)


@means("Scaler", domain=LEARNED)
def scaler(n: Foreign, *, offset: Sequence[float] = (), scale: Sequence[float] = ()) -> ir.Value:
    """(x - offset) scale in x's precision, as f32; one number or one a column."""
    x = n[0] if n[0].dtype == ir.DataType.DOUBLE else _float(n, n[0])
    kind = np.float64 if x.dtype == ir.DataType.DOUBLE else np.float32
    for op, numbers in (("Sub", offset), ("Mul", scale)):
        if numbers:
            x = n(op, x, n.constant(np.array(numbers, kind), op))
    return _float(n, x)


@means("Normalizer", domain=LEARNED)
def normalizer(n: Foreign, *, norm: str = "MAX") -> ir.Value:
    """Rows over their largest element, or their L1 or L2 norm; a row whose is 0 stays."""
    n.only("norm", norm, "MAX", "L1", "L2")
    rank, x = n.rank(n[0], "x"), rows_of(n)
    op = {"MAX": "ReduceMax", "L1": "ReduceL1", "L2": "ReduceL2"}[norm]
    size = n(op, x, n.ints(1))
    none = n("Equal", size, n.like(0.0, x))
    y = n("Div", x, n("Where", none, n.like(1.0, x), size))
    return n("Squeeze", y, n.ints(0)) if rank == 1 else y


@means("Imputer", domain=LEARNED)
def imputer(
    n: Foreign,
    *,
    imputed_value_floats: Sequence[float] = (),
    replaced_value_float: float = 0.0,
    imputed_value_int64s: Sequence[int] = (),
    replaced_value_int64: int = 0,
) -> ir.Value:
    """Another number where one is missing: NaN, or the one that stands for it."""
    x = n[0]
    whole = x.dtype in (ir.DataType.INT64, ir.DataType.INT32)
    values: Sequence[float] = imputed_value_int64s if whole else imputed_value_floats
    if not values or x.dtype is None:
        n.refuse("expected imputed values of x's type, got none", "correct the node")
    kind = x.dtype.numpy()
    if not whole and np.isnan(replaced_value_float):
        missing = n("IsNaN", x)
    else:
        gap = np.array(replaced_value_int64 if whole else replaced_value_float).astype(kind)
        missing = n("Equal", x, n.constant(gap, "missing"))
    return n("Where", missing, n.constant(np.array(values).astype(kind), "imputed"), x)


@means("Binarizer", domain=LEARNED)
def binarizer(n: Foreign, *, threshold: float = 0.0) -> ir.Value:
    over = n("Greater", n[0], n.like(threshold, n[0]))
    return n("CastLike", over, n[0])


@means("ArrayFeatureExtractor", domain=LEARNED)
def array_feature_extractor(n: Foreign) -> ir.Value:
    """Columns of x by number; a vector is a row."""
    x = n[0]
    if n.rank(x, "x") == 1:
        x = n("Unsqueeze", x, n.ints(0))
    return n("Gather", x, n("Reshape", n[1], n.ints(-1)), axis=-1)


@means("FeatureVectorizer", domain=LEARNED)
def feature_vectorizer(n: Foreign, *, inputdimensions: Sequence[int] = ()) -> ir.Value:
    """Columns of all operands side by side, each cut to as many as are said."""
    parts = []
    for i in range(len(n.node.inputs)):
        x = rows_of(n, i)
        known = g.dims(x)
        width = inputdimensions[i] if i < len(inputdimensions) else None
        if width is not None and (known is None or known[1] != width):
            if known is None or not isinstance(known[1], int) or known[1] < width:
                n.refuse(
                    f"expected operand {i} of {width} columns, got {known}", "correct the node"
                )
            x = n("Slice", x, n.ints(0), n.ints(width), n.ints(1))
        parts.append(x)
    return n("Concat", *parts, axis=1)


def _array(n: Foreign, what: str, *given: Sequence[object] | ir.TensorProtocol | None) -> g.Array:
    """Those of i64, f32, strings and a tensor that are there."""
    ints, floats, strings, tensor = given
    if isinstance(tensor, ir.TensorProtocol):
        if tensor.dtype == ir.DataType.STRING:
            n.refuse(f"its {what} are strings, which no program has", STRINGS)
        return tensor.numpy().reshape(-1)
    if strings:
        n.refuse(f"its {what} are strings, which no program has", STRINGS)
    return np.array(ints, np.int64) if ints else np.array(floats or (), np.float32)


@means("LabelEncoder", domain=LEARNED)
def label_encoder(
    n: Foreign,
    *,
    keys_int64s: Sequence[int] | None = None,
    keys_floats: Sequence[float] | None = None,
    keys_strings: Sequence[str] | None = None,
    keys_tensor: ir.TensorProtocol | None = None,
    values_int64s: Sequence[int] | None = None,
    values_floats: Sequence[float] | None = None,
    values_strings: Sequence[str] | None = None,
    values_tensor: ir.TensorProtocol | None = None,
    classes_strings: Sequence[str] | None = None,
    default_int64: int = -1,
    default_float: float = -0.0,
    default_string: str | None = None,
    default_tensor: ir.TensorProtocol | None = None,
) -> ir.Value:
    """The value beside a key, or the default."""
    if classes_strings:
        n.refuse("its classes are strings, which no program has", STRINGS)
    keys = _array(n, "keys", keys_int64s, keys_floats, keys_strings, keys_tensor)
    values = _array(n, "values", values_int64s, values_floats, values_strings, values_tensor)
    if len(keys) != len(values) or len(keys) == 0:
        n.refuse(
            f"expected as many values as keys, got {len(values)} for {len(keys)}",
            "correct the node",
        )
    rest = np.array(default_float if values.dtype.kind == "f" else default_int64)
    rest = rest if default_tensor is None else default_tensor.numpy().reshape(())
    table = n.constant(np.append(values, rest).astype(values.dtype), "values")
    return n("Gather", table, _place(n, n[0], keys))


def _place(n: Foreign, x: ir.Value, keys: g.Array) -> ir.Value:
    """Which of the keys each element is, the first of equals; their number where it is none."""
    each = n("Unsqueeze", x, n.ints(-1))
    same = n("Equal", each, n.constant(np.append(keys, keys[:1]), "keys"))
    if keys.dtype.kind == "f" and np.isnan(keys).any():
        nan = n.constant(np.append(np.isnan(keys), False), "is_nan")
        same = n("Or", same, n("And", n("IsNaN", each), nan))
    last = n.constant(np.arange(len(keys) + 1) == len(keys), "none")
    found = n("Cast", n("Or", same, last), to=int(ir.DataType.INT32))
    return n("ArgMax", found, axis=-1, keepdims=0)


@means("OneHotEncoder", domain=LEARNED)
def one_hot_encoder(
    n: Foreign,
    *,
    cats_int64s: Sequence[int] | None = None,
    cats_strings: Sequence[str] | None = None,
    zeros: int = 1,
) -> ir.Value:
    """A column a category. Without `zeros` a run fails where an element is none of them: it looks past the rows of a table."""
    keys = _array(n, "categories", cats_int64s, None, cats_strings, None)
    if len(keys) == 0:
        n.refuse("expected categories, got none", "correct the node")
    x = n[0] if n[0].dtype == ir.DataType.INT64 else n("Cast", n[0], to=INT64)
    if zeros:
        each = n("Unsqueeze", x, n.ints(-1))
        return n(
            "Cast", n("Equal", each, n.constant(keys.astype(np.int64), "categories")), to=FLOAT
        )
    return n(
        "Gather",
        n.constant(np.eye(len(keys), dtype=np.float32), "rows"),
        _place(n, x, keys.astype(np.int64)),
    )
