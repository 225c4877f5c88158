"""Joining programs: the bound holds, nothing is lost, and the result is what compiling both at once gives."""

import numpy as np
import pytest

from pteron.export.optimize import bodies
from pteron.export.program import terms
from pteron.export.program.terms import Term, load, registers, term

OPS = ("add", "mul", "sub", "max")


def some(rng: np.random.Generator, operands: int, size: int, outputs: int) -> list[Term]:
    pool = [load(i, "f32") for i in range(operands)]
    for _ in range(size):
        a, b = (pool[int(rng.integers(max(0, len(pool) - 6), len(pool)))] for _ in range(2))
        pool.append(term(str(rng.choice(OPS)), a, b) if rng.random() < 0.7 else term("neg", a))
    return [pool[-1 - i] for i in range(outputs)]


def test_a_joined_body_has_all_terms_in_order_and_registers_enough():
    rng, counted, fitted = np.random.default_rng(0), 0, 0
    for _ in range(400):
        outputs = int(rng.integers(1, 3))
        inner = bodies.read(some(rng, 4, int(rng.integers(2, 12)), outputs), [10, 11, 12, 13])
        for step in range(12):
            x = 20 + step
            outer = bodies.read(some(rng, 3, int(rng.integers(1, 5)), 1), [x, 10, 40 + step])
            if x not in outer.operands:
                continue
            kept = list(inner.outputs[: int(rng.integers(0, len(inner.outputs)))])
            known = {bodies.load(x, "f32"): inner.outputs[-1]}
            made = bodies.join(inner, kept, outer, known)
            if made is None:
                break
            need = registers(made.outputs)
            assert need <= made.bound <= 16
            assert set(made.terms) == set(terms.walk(made.outputs))
            seen: set[Term] = set()
            for t in made.terms:
                assert seen.issuperset(t.args)
                seen.add(t)
            assert {t.arg for t in seen if t.op == "load"} == set(made.operands)
            bodies.compiled(made)
            counted += made.bound == need
            fitted += 1
            inner = made
    assert fitted > 1000 and counted > 100, (fitted, counted)


def test_what_needs_more_registers_or_steps_than_there_are_is_not_joined():
    many = [term("neg", load(i, "f32")) for i in range(15)]
    pairs = [term("add", many[i], many[i + 1]) for i in range(14)]
    wide = bodies.read([*many, *pairs], range(100, 115))
    assert wide.bound > 2
    last = bodies.read([term("exp", load(0, "f32"))], [7])
    long = bodies.read([term("neg", load(0, "f32"))], [1])
    for at in range(2, 400):
        next_one = bodies.read([term("exp", load(0, "f32"))], [at])
        joined = bodies.join(long, [], next_one, {bodies.load(at, "f32"): long.outputs[0]})
        if joined is None:
            break
        long = joined
    assert long.steps == 256
    assert bodies.join(long, [], last, {bodies.load(7, "f32"): long.outputs[0]}) is None


def test_an_operand_of_both_is_no_reason_to_count_registers(monkeypatch: pytest.MonkeyPatch):
    inner = bodies.read([load(0, "f32") + load(1, "f32")], [1, 2])
    outer = bodies.read([load(0, "f32") * load(1, "f32")], [9, 2])
    monkeypatch.delattr(bodies, "registers")
    made = bodies.join(inner, [], outer, {bodies.load(9, "f32"): inner.outputs[0]})
    assert made is not None and made.operands == (1, 2)
