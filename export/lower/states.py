"""The values that states start with, as constants of the Program."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import onnx_ir as ir

from ..graph.states import initial_values, state_roles
from ..program import Constant, Program


def with_initial(program: Program, models: Sequence[ir.Model]) -> Program:
    """The program with each state's initial value as a constant, and what it is of a context; states are named after their inputs."""
    constants, states = list(program.constants), list(program.states)
    values = {name: array for model in models for name, array in initial_values(model).items()}
    for i, state in enumerate(states):
        if state.name in values and state.initial is None:
            array = values[state.name]
            constants.append(Constant(f"{state.name}.initial", state.dtype, array.shape, array))
            states[i] = dataclasses.replace(state, initial=len(constants) - 1)
    roles = {name: role for model in models for name, role in state_roles(model).items()}
    for i, state in enumerate(states):
        if state.name in roles:
            role, axis, reach = roles[state.name]
            states[i] = dataclasses.replace(state, role=role, axis=axis, reach=reach)
    return dataclasses.replace(program, constants=tuple(constants), states=tuple(states))
