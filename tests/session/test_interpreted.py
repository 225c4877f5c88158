"""The sample programs in one session at changing sizes: the numbers, shapes and states of the interpreter in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from program.samples import SAMPLES

from pteron.export.file.emit import emit_bytes
from pteron.export.plan import plan
from pteron.export.program import Method, Program
from pteron.export.program.interpret import run
from pteron.export.sizes import extents
from pteron.schema.errors import PteronError

runtime = pytest.importorskip(
    "pteron.runtime.model", reason="needs the built module pteron._pteron"
)
INTERPRETED = sorted(set(SAMPLES) - {"matmul", "delegated_only", "layers"})
"""Not panels, what nothing stands in for, and states that a block writes through a param: the interpreter binds by value."""
SIZES = (4, 1, 7, 64, 3)
WHOLE = (0, 3, 1)
Feeds = dict[str, np.ndarray[Any, Any]]


def feeds(program: Program, method: Method) -> Iterator[Feeds]:
    """Each size with each whole number and truth; elements at random."""
    rng = np.random.default_rng(5)
    for n, whole, truth in itertools.product(SIZES, WHOLE, (True, False)):
        made: Feeds = {}
        for port in method.inputs:
            value = program.values[port.value]
            shape = [
                extents.evaluate(e, dict.fromkeys(extents.symbols_of(e), n)) for e in value.shape
            ]
            if value.dtype == "bool":
                made[port.name] = np.full(shape, truth)
            elif value.dtype == "i64":
                made[port.name] = np.full(shape, whole)
            else:
                made[port.name] = rng.standard_normal(shape).astype(np.float32)
                made[port.name][made[port.name] > 1] = 0  # some that nonzero leaves out
        yield made


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", INTERPRETED)
def test_each_run_gives_what_the_interpreter_does(name: str, threads: int) -> None:
    program = plan(SAMPLES[name]())
    model = runtime.load(emit_bytes(program), threads=threads)
    for method in program.methods:
        session, states, ran = model.session(method.name), {}, 0
        for given in feeds(program, method):
            kept = {k: v.copy() for k, v in states.items()}
            try:
                want = run(program, given, method=method.name, states=states)
            except PteronError:
                states = kept
                with pytest.raises(PteronError):
                    session.run(given)
                continue
            ran += 1
            got = session.run(given)
            assert got.keys() == want.keys()
            for key, y in want.items():
                assert (got[key].shape, got[key].dtype) == (y.shape, y.dtype), (key, given)
                np.testing.assert_allclose(got[key], y, 1e-6, 1e-6, err_msg=f"{key} {given}")
            for key, state in states.items():
                np.testing.assert_allclose(session.states[key], state, 1e-6, 1e-6, err_msg=key)
        assert ran >= 2
