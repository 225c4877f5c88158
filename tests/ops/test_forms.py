"""What is computed at once has the bits of its steps: a program in which a step's value is stored, too, has them one by one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from ops import harness
from ops.cases_matrix_int8 import WHOLE
from ops.cases_pointwise_forms import FORMS
from ops.harness import Case, Status

from pteron.schema.row import Out
from pteron.schema.steps import STEPS, Step


def watched(case: Case, at: int) -> Case | None:
    """The case with the value of step `at` as a second output; None: it has none."""
    steps = case.attrs["steps"]
    step = steps[at]
    if step.op in ("store", "literal", "load"):
        return None
    type_ = STEPS[step.op].result or step.type
    more = Step("store", type_, step.dst, (step.dst,), arg=1)
    shape = case.inputs[0].shape
    return dataclasses.replace(
        case,
        attrs={"steps": (*steps[: at + 1], more, *steps[at + 1 :])},
        out=[*(case.out or ()), Out(shape, type_)],
    )


@pytest.mark.parametrize("case", FORMS, ids=str)
def test_forms_have_the_bits_of_their_steps(case: Case) -> None:
    for cpu in harness.variants():
        got = harness.run(case, harness.outs_of(case), cpu=cpu)
        assert got.status == Status.OK and got.outputs[0] is not None
        for at in range(len(case.attrs["steps"])):
            if (more := watched(case, at)) is None:
                continue
            want = harness.run(more, harness.outs_of(more), cpu=cpu)
            assert want.status == Status.OK and want.outputs[0] is not None
            assert np.array_equal(
                got.outputs[0], want.outputs[0], equal_nan=case.out[0].dtype == "f32"
            ), (at, cpu)
            signs = [np.signbit(y[~np.isnan(y)]) for y in (got.outputs[0].astype(np.float32), want.outputs[0].astype(np.float32))]  # fmt: skip
            assert np.array_equal(*signs), (at, cpu)


@pytest.mark.parametrize("case", WHOLE, ids=str)
def test_programs_that_are_one_form_have_the_bits_of_their_steps(case: Case) -> None:
    *steps, store = case.attrs["steps"]
    twice = tuple(Step("neg", "f32", 2, (2,)) for _ in range(2))
    more = dataclasses.replace(case, attrs={**case.attrs, "steps": (*steps, *twice, store)})
    for cpu in harness.variants():
        got, want = (harness.run(c, harness.outs_of(c), cpu=cpu) for c in (case, more))
        assert got.status == want.status == Status.OK
        assert got.outputs[0] is not None and want.outputs[0] is not None
        assert np.array_equal(got.outputs[0].view(np.uint32), want.outputs[0].view(np.uint32)), cpu


@pytest.mark.parametrize("case", [c for c in FORMS if c.inputs[0].ndim > 2], ids=str)
@pytest.mark.parametrize("threads", (1, 3))
def test_codes_of_planes_are_the_same_as_pixels(case: Case, threads: int) -> None:
    for cpu in harness.variants():
        outs = harness.outs_of(case)
        want = harness.run(case, outs, cpu=cpu)
        got = harness.run(case, outs, cpu=cpu, threads=threads, strided_outputs="last")
        assert got.status == Status.OK and got.outputs[0] is not None
        assert np.array_equal(got.outputs[0], want.outputs[0]), cpu
