"""Writes the pipelines beside this file: scikit-learn by skl2onnx, LightGBM and XGBoost by onnxmltools, small.

    pip install scikit-learn skl2onnx lightgbm xgboost onnxmltools
    python tests/models/tabular/make.py

Each takes f32 [n, 6], some with missing values (those whose name ends in _nan); `categories` takes i64 [n, 3].
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import lightgbm
import numpy as np
import onnx
import onnxmltools
import sklearn.base
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn import ensemble, linear_model, preprocessing, svm, tree
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

HERE: Final = Path(__file__).resolve().parent
RNG = np.random.default_rng(3)
X = RNG.standard_normal((240, 6)).astype(np.float32)
NAN = np.where(RNG.random(X.shape) < 0.1, np.nan, X).astype(np.float32)
TWO = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(np.int64)
THREE = np.digitize(X[:, 0] + 0.3 * X[:, 2], [-0.5, 0.5])
NUMBER = X[:, 0] * 2 + np.sin(X[:, 1])
CODES = RNG.integers(0, 4, (240, 3))
FEW: Final[dict[str, Any]] = {"n_estimators": 4, "random_state": 0}
SMALL: Final[dict[str, Any]] = {"max_depth": 4, "random_state": 0}

columns = ColumnTransformer(
    [("a", preprocessing.StandardScaler(), [0, 1]), ("b", preprocessing.MinMaxScaler(), [2, 3, 4])]
)
vectors = svm.SVC(kernel="rbf")
SKLEARN: Final[dict[str, tuple[Any, Any, Any]]] = {
    "logistic": (make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()), X, THREE),
    "linear": (make_pipeline(preprocessing.RobustScaler(), linear_model.Ridge()), X, NUMBER),
    "columns": (make_pipeline(columns, linear_model.LogisticRegression()), X, TWO),
    "forest": (ensemble.RandomForestClassifier(**FEW, max_depth=4), X, THREE),
    "forest_two": (ensemble.RandomForestClassifier(**FEW, max_depth=4), X, TWO),
    "forest_number": (ensemble.ExtraTreesRegressor(**FEW, max_depth=4), X, NUMBER),
    "boosting": (ensemble.GradientBoostingClassifier(**FEW), X, TWO),
    "boosting_three": (ensemble.GradientBoostingClassifier(**FEW), X, THREE),
    "ada": (ensemble.AdaBoostRegressor(tree.DecisionTreeRegressor(**SMALL), **FEW), X, NUMBER),
    "vectors": (make_pipeline(preprocessing.StandardScaler(), vectors), X, THREE),
    "vectors_number": (svm.SVR(kernel="poly"), X, NUMBER),
    "imputed_nan": (make_pipeline(SimpleImputer(), tree.DecisionTreeClassifier(**SMALL)), NAN, THREE),
    "neighbours": (make_pipeline(PCA(3), KNeighborsClassifier(3)), X, TWO),
    "bayes": (make_pipeline(preprocessing.Normalizer("l1"), GaussianNB()), X, THREE),
    "network": (MLPClassifier((6,), max_iter=30, random_state=0), X, TWO),
    "categories": (
        make_pipeline(preprocessing.OneHotEncoder(handle_unknown="ignore"), linear_model.LogisticRegression()), CODES, TWO,
    ),
}  # fmt: skip
QUIET: Final[dict[str, Any]] = {"n_estimators": 4, "verbose": -1}
LIGHTGBM: Final[dict[str, tuple[Any, Any, Any]]] = {
    "lightgbm": (lightgbm.LGBMClassifier(**QUIET), X, TWO),
    "lightgbm_nan": (lightgbm.LGBMRegressor(**QUIET), NAN, NUMBER),
}
XGBOOST: Final[dict[str, tuple[Any, Any, Any]]] = {
    "xgboost": (xgboost.XGBClassifier(n_estimators=3, max_depth=3), X, THREE),
    "xgboost_nan": (xgboost.XGBRegressor(n_estimators=4, max_depth=3), NAN, NUMBER),
}
OPSETS: Final = {"": 18, "ai.onnx.ml": 3}


def by_sklearn(made: Any, x: Any) -> onnx.ModelProto:
    """Probabilities as a table, but of `forest_two`: a map a row, which is what a converter gives unasked."""
    last = made.steps[-1][1] if hasattr(made, "steps") else made
    plain = sklearn.base.is_classifier(last) and made is not SKLEARN["forest_two"][0]
    options = {id(last): {"zipmap": False}} if plain else None
    return to_onnx(made, x[:1], options=options, target_opset=OPSETS)


def by_onnxmltools(convert: Callable[..., onnx.ModelProto], **more: Any) -> Callable[..., Any]:
    types = [("X", FloatTensorType([None, 6]))]
    return lambda made, x: convert(made, initial_types=types, target_opset=15, **more)


def main() -> None:
    for found, convert in (
        (SKLEARN, by_sklearn),
        (LIGHTGBM, by_onnxmltools(onnxmltools.convert_lightgbm, zipmap=False)),
        (XGBOOST, by_onnxmltools(onnxmltools.convert_xgboost)),
    ):
        for name, (model, x, y) in found.items():
            onnx.save(convert(model.fit(x, y), x), HERE / f"{name}.onnx")


if __name__ == "__main__":
    main()
