"""ai.onnx.ml: pipelines that scikit-learn, LightGBM and XGBoost make, and each operator over its attributes, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from models.contrib import RNG, check, f, model_of
from models.through import same
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import pteron
from pteron.schema.errors import ModelError

PIPELINES = sorted(p.stem for p in (Path(__file__).parent / "tabular").glob("*.onnx"))
ML: dict[str, Any] = {"domain": "ai.onnx.ml", "version": 3}
LEAVES = np.array([[1.0, -2.0], [0.5, 0.25], [-1.5, 3.0]], np.float32)


def rows(name: str, count: int) -> np.ndarray:
    if name == "categories":
        return RNG.integers(0, 6, (count, 3))  # of which 4 were known
    x = f(count, 6)
    return (
        np.where(RNG.random(x.shape) < 0.2, np.float32(np.nan), x) if name.endswith("_nan") else x
    )


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_of_numbers(name: str, tmp_path: Path) -> None:
    model = onnx.load(Path(__file__).parent / "tabular" / f"{name}.onnx")
    (port,) = model.graph.input
    x = rows(name, 50)
    report: Any = pteron.export_model(model, tmp_path / "m.pte")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    for feed in (x, x[:1]):
        got = pteron.load(tmp_path / "m.pte", threads=1).run({port.name: feed})
        for (key, y), want in zip(got.items(), session.run(None, {port.name: feed}), strict=True):
            if isinstance(want, list):
                assert f"output {key!r} is a table" in "\n".join(report.notes)
                want = np.array([list(each.values()) for each in want])
            assert y.shape == want.shape, key
            np.testing.assert_allclose(y, want, rtol=2e-5, atol=2e-5, err_msg=key)


def test_there_are_twenty_pipelines() -> None:
    assert len(PIPELINES) == 20


# --- trees ----------------------------------------------------------------------------------------------------------------

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
ASKED = np.array(
    [[-1], [-0.0], [0.0], [0.5], [1], [1 + 2**-23], [2], [np.inf], [-np.inf], [np.nan]]
)


def stumps(kind: str, asks: list[tuple[str, float, int]], width: int) -> dict[str, Any]:
    """A tree of one node for each (mode, threshold, missing goes first), over feature 0."""
    named: dict[str, Any] = {
        "nodes_modes": [], "nodes_values": [], "nodes_missing_value_tracks_true": [], "nodes_treeids": [], "nodes_nodeids": [],
        "nodes_featureids": [], "nodes_truenodeids": [], "nodes_falsenodeids": [],
        f"{kind}_treeids": [], f"{kind}_nodeids": [], f"{kind}_ids": [], f"{kind}_weights": [],
    }  # fmt: skip
    for t, (mode, value, missing) in enumerate(asks):
        named["nodes_modes"] += [mode, "LEAF", "LEAF"]
        named["nodes_values"] += [value, 0.0, 0.0]
        named["nodes_missing_value_tracks_true"] += [missing, 0, 0]
        named["nodes_treeids"] += [t] * 3
        named["nodes_nodeids"] += [0, 1, 2]
        named["nodes_featureids"] += [0] * 3
        named["nodes_truenodeids"] += [1, 0, 0]
        named["nodes_falsenodeids"] += [2, 0, 0]
        for leaf in (1, 2):
            for c in range(width):
                named[f"{kind}_treeids"].append(t)
                named[f"{kind}_nodeids"].append(leaf)
                named[f"{kind}_ids"].append(c)
                named[f"{kind}_weights"].append(float(LEAVES[t % 3, leaf - 1] + c))
    return named


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize("mode", MODES)
def test_every_way_to_compare(mode: str, missing: int, tmp_path: Path) -> None:
    asks = [(mode, value, missing) for value in (0.0, -0.0, 1.0, np.inf, -np.inf)]
    named = stumps("target", asks, 1)
    for x in (ASKED.astype(np.float32), ASKED):
        check(tmp_path, "TreeEnsembleRegressor", [x], {"n_targets": 1, **named}, ["FLOAT"], **ML)


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("how", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("base", [False, True])
def test_what_trees_are_combined_by(how: str, width: int, base: bool, tmp_path: Path) -> None:
    named = stumps("target", [("BRANCH_LEQ", v, 0) for v in (0.0, 0.5, -1.0, 1.0)], width)
    named |= {"n_targets": width, "aggregate_function": how}
    named |= {"base_values": [0.5, 1.0, -2.0][:width]} if base else {}
    check(tmp_path, "TreeEnsembleRegressor", [f(9, 2)], named, ["FLOAT"], **ML)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("positive", [False, True])
def test_scores_and_labels(transform: str, classes: int, positive: bool, tmp_path: Path) -> None:
    """Of two classes one has weights, as converters write it."""
    asks = [("BRANCH_LEQ", v, 0) for v in (0.0, 0.5, -1.0)]
    named = stumps("class", asks, 1 if classes == 2 else classes)
    if positive:
        named["class_weights"] = [abs(w) / 6 for w in named["class_weights"]]
    named |= {"classlabels_int64s": [7, -3, 20][:classes], "post_transform": transform}
    for base in ([], [0.25] if classes == 2 else [0.5, 0.25, 1.0]):
        more = named | ({"base_values": base} if base else {})
        check(tmp_path, "TreeEnsembleClassifier", [f(20, 1)], more, ["INT64", "FLOAT"], **ML)


def test_two_classes_with_weights_take_the_larger(tmp_path: Path) -> None:
    """As ONNX's reference says; onnxruntime gives 1 wherever the second is above 0."""
    named = stumps("class", [("BRANCH_LEQ", 0.0, 0), ("BRANCH_LEQ", 0.5, 0)], 2)
    named |= {"classlabels_int64s": [7, 8], "post_transform": "SOFTMAX"}
    named["class_weights"] = [float(w) for w in RNG.random(len(named["class_weights"]))]
    model, feeds = model_of("TreeEnsembleClassifier", [f(20, 1)], named, ["INT64", "FLOAT"], **ML)
    pteron.export_model(model, tmp_path / "m.pte")
    labels, scores = pteron.load(tmp_path / "m.pte").run(feeds).values()
    want = ReferenceEvaluator(model).run(None, feeds)
    np.testing.assert_array_equal(labels, want[0])
    np.testing.assert_allclose(scores, want[1], rtol=1e-5)


def deep(trees: int, depth: int) -> dict[str, Any]:
    """Complete trees of 2^depth leaves over 8 features, as lists."""
    inner, every = (1 << depth) - 1, (1 << depth + 1) - 1
    at = np.arange(every)
    is_leaf = at >= inner
    each = {
        "nodes_nodeids": at,
        "nodes_featureids": at % 8 * ~is_leaf,
        "nodes_truenodeids": np.where(is_leaf, 0, 2 * at + 1),
        "nodes_falsenodeids": np.where(is_leaf, 0, 2 * at + 2),
    }
    named: dict[str, Any] = {k: np.tile(v, trees).tolist() for k, v in each.items()}
    named["nodes_treeids"] = np.repeat(np.arange(trees), every).tolist()
    named["nodes_modes"] = np.where(np.tile(is_leaf, trees), "LEAF", "BRANCH_LEQ").tolist()
    named["nodes_values"] = f(every * trees).tolist()
    named["target_treeids"] = np.repeat(np.arange(trees), inner + 1).tolist()
    named["target_nodeids"] = np.tile(at[is_leaf], trees).tolist()
    named["target_ids"] = [0] * ((inner + 1) * trees)
    named["target_weights"] = f((inner + 1) * trees).tolist()
    return named | {"n_targets": 1}


def test_trees_of_thousands_of_nodes_are_one_instruction(tmp_path: Path) -> None:
    """24 bytes a node and less: three numbers and a threshold, half a weight."""
    named = deep(20, 9)
    model, feeds = model_of("TreeEnsembleRegressor", [f(70, 8)], named, ["FLOAT"], **ML)
    report = same(model, [feeds], tmp_path, 1e-4)
    assert report.methods[0].instructions["tree_ensemble"] == 1
    pteron.export_model(model, tmp_path / "m.pte")
    assert (tmp_path / "m.pte").stat().st_size < 24 * 20 * 1023


CHANGED = {
    "an unknown mode": ("nodes_modes", 0, "BRANCH_NEAR", "BRANCH_NEAR"),
    "a node that is not there": ("nodes_truenodeids", 0, 9, r"\(0, 9\)"),
    "a node that leads to itself": ("nodes_truenodeids", 0, 0, "leads back to itself"),
    "two nodes of one name": ("nodes_nodeids", 1, 0, "same numbers"),
    "a list that is too short": ("nodes_values", None, [0.0], "entries in each list"),
    "a target that is not there": ("target_ids", 0, 5, "targets of 0 to 0"),
    "a negative feature": ("nodes_featureids", 0, -1, "feature"),
    "no number": ("nodes_values", 0, float("nan"), "no number"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_tables_that_make_no_trees_are_refused(what: str, tmp_path: Path) -> None:
    name, at, value, text = CHANGED[what]
    named = stumps("target", [("BRANCH_LEQ", 0.0, 0)], 1)
    if at is None:
        named[name] = value
    else:
        named[name][at] = value
    model, _ = model_of("TreeEnsembleRegressor", [f(3, 2)], named, ["FLOAT"], **ML)
    with pytest.raises(ModelError, match=f"the_node.*{text}"):
        pteron.export_model(model, tmp_path / "m.pte")


def test_a_feature_that_the_rows_have_not_is_found_by_the_run(tmp_path: Path) -> None:
    named = stumps("target", [("BRANCH_LEQ", 0.0, 0)], 1)
    named["nodes_featureids"][0] = 2
    model, feeds = model_of("TreeEnsembleRegressor", [f(3, 2)], named, ["FLOAT"], **ML)
    pteron.export_model(model, tmp_path / "m.pte")
    with pytest.raises(pteron.DataError, match=r"no such feature.*the_node"):
        pteron.load(tmp_path / "m.pte").run(feeds)


def tensor(name: str, *numbers: float, dtype: Any = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(numbers, dtype), name)


@pytest.mark.parametrize("missing", [None, [1, 0, 1]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sets_and_leaves_apart(missing: list[int] | None, dtype: Any, tmp_path: Path) -> None:
    """TreeEnsemble of opset 5, against ONNX's reference."""
    named = {
        "nodes_splits": tensor("s", 0, 0.5, 0, dtype=dtype),
        "nodes_modes": tensor("m", 6, 1, 6, dtype=np.uint8),
        "nodes_featureids": [0, 1, 1],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_trueleafs": [0, 1, 1],
        "nodes_falsenodeids": [2, 1, 2],
        "nodes_falseleafs": [0, 1, 1],
        "leaf_targetids": [0, 1, 0],
        "leaf_weights": tensor("w", 1.5, 2.5, -3.5, dtype=dtype),
        "membership_values": tensor("v", 3, 1, 4, 5, np.nan, 7, np.nan, dtype=dtype),
        "tree_roots": [0],
        "n_targets": 2,
    }
    named |= {} if missing is None else {"nodes_missing_value_tracks_true": missing}
    first = np.array([1, 2, 3, 4, 5, 6, np.nan, 0])
    x = np.stack([np.repeat(first, 4), np.tile([0.4, 0.5, 7, np.nan], 8)], 1).astype(dtype)
    kind = "FLOAT" if dtype == np.float32 else "DOUBLE"
    model, feeds = model_of("TreeEnsemble", [x], named, [kind], domain="ai.onnx.ml", version=5)
    pteron.export_model(model, tmp_path / "m.pte")
    (got,) = pteron.load(tmp_path / "m.pte").run(feeds).values()
    (want,) = ReferenceEvaluator(model).run(None, feeds)
    np.testing.assert_array_equal(got, want)


# --- linear models and vectors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("rows_of_weights", [1, 3])
def test_linear_classifiers(transform: str, rows_of_weights: int, tmp_path: Path) -> None:
    named = {
        "coefficients": f(rows_of_weights * 4).tolist(),
        "intercepts": f(rows_of_weights).tolist(),
        "classlabels_ints": [4, 9, 11][: max(2, rows_of_weights)],
        "post_transform": transform,
    }
    check(tmp_path, "LinearClassifier", [f(9, 4)], named, ["INT64", "FLOAT"], **ML)
    x = RNG.integers(-4, 4, (9, 4))
    check(tmp_path, "LinearClassifier", [x], named, ["INT64", "FLOAT"], **ML)


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "PROBIT"])
@pytest.mark.parametrize("targets", [1, 3])
def test_linear_regressors(transform: str, targets: int, tmp_path: Path) -> None:
    named = {"coefficients": (f(targets * 4) / 40).tolist(), "intercepts": [0.25] * targets}
    named |= {"targets": targets, "post_transform": transform}
    check(tmp_path, "LinearRegressor", [f(9, 4)], named, ["FLOAT"], tolerance=1e-4, **ML)


KERNELS = {
    "LINEAR": [0, 0, 0],
    "POLY": [0.1, 0.5, 3.0],
    "RBF": [0.2, 0, 0],
    "SIGMOID": [0.1, 0.2, 0],
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_support_vectors(kernel: str, tmp_path: Path) -> None:
    named = {"kernel_type": kernel, "kernel_params": [float(p) for p in KERNELS[kernel]]}
    named |= {"support_vectors": (f(5 * 4) + 30).tolist(), "rho": [0.25]}
    more = named | {"coefficients": f(5).tolist(), "n_supports": 5}
    x = f(9, 4) + 30  # far from 0, near the vectors
    check(tmp_path, "SVMRegressor", [x], more, ["FLOAT"], tolerance=1e-3, **ML)
    more["one_class"] = 1
    check(tmp_path, "SVMRegressor", [x], more, ["FLOAT"], **ML)
    for classes, per in ((2, [2, 3]), (3, [2, 1, 2])):
        pairs = classes * (classes - 1) // 2
        more = named | {
            "coefficients": f((classes - 1) * 5).tolist(),
            "rho": f(pairs).tolist(),
            "vectors_per_class": per,
            "classlabels_ints": [3, 1, 2][:classes],
        }
        check(tmp_path, "SVMClassifier", [x], more, ["INT64", "FLOAT"], tolerance=1e-3, **ML)
    more["classlabels_ints"], more["vectors_per_class"] = [5, 6], [2, 3]
    more |= {"rho": [0.1], "coefficients": f(5).tolist(), "prob_a": [-1.5], "prob_b": [0.2]}
    # of two classes onnxruntime iterates towards the chance of the pair, until it is within 0.0025 of it
    check(tmp_path, "SVMClassifier", [x], more, ["INT64", "FLOAT"], tolerance=2e-2, **ML)


# --- tables of numbers ----------------------------------------------------------------------------------------------------

HOLES = np.array([[1, np.nan, -1], [np.nan, 0, 4]], np.float32)
WHOLE = np.array([[3, 0, -1], [7, 7, 2]])
TABULAR: dict[str, tuple[Any, ...]] = {
    "scaler": ("Scaler", [f(3, 4)], {"offset": [1.0, 2, 3, 4], "scale": [0.5] * 4}, "FLOAT"),
    "scaler_one": ("Scaler", [WHOLE], {"offset": [1.5], "scale": [0.25]}, "FLOAT"),
    "scaler_f64": ("Scaler", [WHOLE.astype(np.float64)], {"offset": [1.5], "scale": [3.0]}, "FLOAT"),
    "max": ("Normalizer", [np.array([[1, -4], [0, 0], [-2, -1]], np.float32)], {"norm": "MAX"}, "FLOAT"),
    "l1": ("Normalizer", [np.array([[1, -4], [0, 0]], np.float32)], {"norm": "L1"}, "FLOAT"),
    "l2": ("Normalizer", [np.array([[1, -4], [0, 0]], np.float32)], {"norm": "L2"}, "FLOAT"),
    "imputer": (
        "Imputer", [HOLES], {"imputed_value_floats": [9.0, 8, 7], "replaced_value_float": float("nan")}, "FLOAT",
    ),
    "imputer_number": ("Imputer", [f(3, 4).round()], {"imputed_value_floats": [9.0], "replaced_value_float": 1.0}, "FLOAT"),
    "imputer_whole": ("Imputer", [WHOLE], {"imputed_value_int64s": [9], "replaced_value_int64": 7}, "INT64"),
    "binarizer": ("Binarizer", [f(3, 4)], {"threshold": 0.5}, "FLOAT"),
    "columns": ("ArrayFeatureExtractor", [f(3, 4), np.array([[2, 0, 2]])], {}, "FLOAT"),
    "columns_of_one": ("ArrayFeatureExtractor", [np.array([5, 6, 7]), np.array([[2], [0]])], {}, "INT64"),
    "side_by_side": ("FeatureVectorizer", [f(3, 4), f(3, 1)], {"inputdimensions": [4, 1]}, "FLOAT"),
    "labels": ("LabelEncoder", [WHOLE], {"keys_int64s": [7, 3, 0], "values_floats": [0.5, 1.5, 2.5]}, "FLOAT"),
    "labels_default": (
        "LabelEncoder", [WHOLE], {"keys_int64s": [7, 3], "values_int64s": [70, 30], "default_int64": 5}, "INT64",
    ),
    "one_hot": ("OneHotEncoder", [WHOLE], {"cats_int64s": [7, 0, 2]}, "FLOAT"),
    "one_hot_all": ("OneHotEncoder", [WHOLE], {"cats_int64s": [7, 0, 2, 3, -1], "zeros": 0}, "FLOAT"),
    "one_hot_floats": ("OneHotEncoder", [WHOLE.astype(np.float32)], {"cats_int64s": [7, 0, 2]}, "FLOAT"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABULAR)
def test_tables_of_numbers(name: str, tmp_path: Path) -> None:
    op, inputs, named, kind = TABULAR[name]
    check(tmp_path, op, inputs, named, [kind], **ML)


def test_a_key_may_be_nan(tmp_path: Path) -> None:
    named = {"keys_floats": [float("nan"), 1.0], "values_int64s": [1, 2]}
    inputs, like = [HOLES], {"domain": "ai.onnx.ml", "version": 4}
    check(tmp_path, "LabelEncoder", inputs, named, ["INT64"], **like)


def test_a_category_that_must_not_be_is_found_by_the_run(tmp_path: Path) -> None:
    named = {"cats_int64s": [7, 0], "zeros": 0}
    model, feeds = model_of("OneHotEncoder", [WHOLE], named, ["FLOAT"], **ML)
    pteron.export_model(model, tmp_path / "m.pte")
    with pytest.raises(pteron.DataError, match=r"out of range.*the_node"):
        pteron.load(tmp_path / "m.pte").run(feeds)


REASONS: dict[str, tuple[Any, ...]] = {
    "strings as labels": (
        "LinearClassifier", [f(2, 1)],
        {"coefficients": [1.0, 2.0], "intercepts": [0.0, 0.0], "classlabels_strings": ["yes", "no"]}, "labels are strings .'yes'",
    ),
    "strings as keys": ("LabelEncoder", [WHOLE], {"keys_strings": ["a"], "values_int64s": [1]}, "keys are strings"),
    "strings as categories": ("OneHotEncoder", [WHOLE], {"cats_strings": ["a"]}, "categories are strings"),
    "a mapper": ("CategoryMapper", [WHOLE], {"cats_int64s": [1], "cats_strings": ["a"]}, "maps strings"),
    "chances of three": (
        "SVMClassifier", [f(2, 1)],
        {
            "coefficients": [1.0] * 6, "rho": [0.0] * 3, "support_vectors": [1.0, 2, 3], "vectors_per_class": [1, 1, 1],
            "classlabels_ints": [1, 2, 3], "prob_a": [0.0] * 3, "prob_b": [0.0] * 3, "kernel_type": "LINEAR",
        }, "chances of 3 classes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_what_is_refused_says_why(name: str, tmp_path: Path) -> None:
    op, inputs, named, text = REASONS[name]
    model, _ = model_of(op, inputs, named, ["INT64"], **ML)
    with pytest.raises(ModelError, match=f"the_node.*{text}"):
        pteron.export_model(model, tmp_path / "m.pte")


def test_other_domains_are_refused_each_by_its_reason(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Optimizer", ["x"], ["a"], "first", domain="ai.onnx.preview.training"),
        helper.make_node("Own", ["a"], ["b"], "second", domain="mine"),
        helper.make_node("Conv", ["b"], ["y"], "third", domain="com.microsoft.nchwc"),
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    with pytest.raises(ModelError) as caught:
        pteron.export_model(helper.make_model(graph), tmp_path / "m.pte")
    text = str(caught.value)
    for part in ("3 nodes of 3", "it trains", "operator is unknown", "for one processor"):
        assert part in text
