"""The runtime's operators: `OPS` has every row of the files ops_<family>.py, each a decorated NumPy function, which is the
operator's meaning.

How to read a row: schema/row.py. What is not here is decomposed at export: transposes, slices, expands and squeezes
are strides on a value; concat and pad by a constant are copies into views; arithmetic is `pointwise`. An operator works
on its last axes, or on axis 0 where it gathers; lowering brings the wanted axis there by a view. Images are
channels-last ([b, *spatial, c]), which for ONNX's NCHW values is a view too.

f16 and bf16 values are widened by the pointwise cast in front and rounded once behind: kernels compute in f32.
Index inputs are i64. Float promises are against these functions evaluated in f64.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from .row import OPS, Op

__all__ = ["OPS", "Op"]

for _path in sorted(Path(__file__).parent.glob("ops_*.py")):
    importlib.import_module(f"pteron.schema.{_path.stem}")
for _name in sorted(OPS, key=lambda name: OPS[name].id):
    OPS[_name] = OPS.pop(_name)
