"""Weights in panels and taps, found through views, stored once a layout."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pteron.export.graph.weights import whole
from pteron.export.pack import Key, _panels_of, pack, panels, stored_groups, taps, unpanel
from pteron.export.program import Block, Constant, Instr, Method, Port, Program, Value
from pteron.schema.errors import ModelError

TABLE = np.arange(40 * 6, dtype=np.float32).reshape(40, 6)


def program(values: tuple[Value, ...], *instrs: Instr) -> Program:
    main = (Value("x", "f32", (2, 6), "input"), *values)
    method = Method("main", (Port("x", 0),), (), (0, len(main)), 0)
    constants = (Constant("table", "f32", TABLE.shape, TABLE),)
    return Program(
        "m", constants=constants, values=main, blocks=(Block(instrs),), methods=(method,)
    )


HEAD = (
    Value("table", "f32", (40, 6), "constant"),
    Value("y", "f32", (2, 40)),
    Value("ids", "i64", (3,)),
    Value("rows", "f32", (3, 6)),
)


def test_a_panel_holds_16_rows_of_one_column_together():
    packed = panels(TABLE).view(np.float32).reshape(3, 6, 16)
    assert packed[0, 0].tolist() == TABLE[:16, 0].tolist()
    assert packed[2, 5, :8].tolist() == TABLE[32:, 5].tolist()
    assert not packed[2, :, 8:].any()


@pytest.mark.parametrize("groups", [1, 2, 5])
def test_panels_come_back(groups: int):
    assert (unpanel(panels(TABLE, groups), np.float32, (40, 6), groups) == TABLE).all()


def test_taps_hold_16_channels_of_one_tap_together():
    assert taps(TABLE).view(np.float32).reshape(3, 6, 16)[1, 2].tolist() == TABLE[16:32, 2].tolist()


def test_a_constant_weight_is_packed_and_its_dense_form_dropped():
    notes: list[str] = []
    packed = pack(program(HEAD, Instr("matmul", (0, 1), (2,))), notes)
    (constant,) = packed.constants
    assert (constant.layout, constant.shape, notes) == ("panels", (40, 6), [])
    assert packed.values[packed.blocks[0].instrs[0].inputs[1] or 0].layout == "panels"
    again = pack(packed)
    assert (again.values, again.blocks) == (packed.values, packed.blocks)


def test_a_transposed_weight_is_packed_through_its_view():
    values = (
        Value("table", "f32", (40, 6), "constant"),
        Value("y", "f32", (6, 6)),
        Value("", "f32", (6, 40), "view", 1, (1, 6)),
        Value("x", "f32", (6, 40)),
    )
    packed = pack(program(values, Instr("matmul", (4, 3), (2,))))
    assert (unpanel(packed.constants[0].array, np.float32, (6, 40)) == TABLE.T).all()


def test_an_embedding_tied_to_the_head_reads_the_panels():
    instrs = (Instr("gather", (1, 3), (4,)), Instr("matmul", (4, 1), (2,)))
    packed = pack(program(HEAD, *instrs))
    assert [i.op for i in packed.blocks[0].instrs] == ["gather_rows", "matmul"]
    assert len(packed.constants) == 1


def test_a_constant_read_in_two_ways_is_stored_twice_and_noted():
    notes: list[str] = []
    instrs = (Instr("matmul", (0, 1), (2,)), Instr("copy", (1,), (1,)))
    assert len(pack(program(HEAD, *instrs), notes).constants) == 2
    assert "table is stored twice" in notes[0]


def test_a_computed_weight_goes_through_pack():
    packed = pack(program(HEAD, Instr("matmul", (0, 4), (2,))))
    first, second = packed.blocks[0].instrs
    assert (first.op, second.inputs[1]) == ("pack", first.outputs[0])
    assert packed.values[first.outputs[0] or 0].layout == "panels"


def test_computed_taps_are_refused():
    conv = Instr("conv_depthwise", (0, 4), (2,))
    with pytest.raises(ModelError, match="constant weights"):
        pack(dataclasses.replace(program(HEAD, conv)))


@pytest.mark.parametrize("dtype, kind", [("f32", np.float32), ("f64", np.float64), ("i8", np.int8)])
@pytest.mark.parametrize("n, k, groups", [(16, 8, 1), (37, 5, 1), (34, 3, 2), (1, 1, 1)])
def test_a_large_weight_is_packed_a_band_at_a_time(
    n: int, k: int, groups: int, dtype: str, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes, and their number, are those of packing it at once."""
    monkeypatch.setattr("pteron.export.pack.LARGE", 0)
    table = np.arange(2 * n * k).reshape(n, 2 * k).astype(kind)
    source = Constant("w", dtype, table.shape, table)
    made = _panels_of(source, Key(0, (n, k), (2 * k, 2), 1, "panels", groups))
    wanted = panels(np.ascontiguousarray(table[:, 1::2]), groups)
    assert made.shape == wanted.shape
    np.testing.assert_array_equal(whole(made), wanted)


@pytest.mark.parametrize(
    ("shape", "kernel", "groups", "stored"),
    [
        ((32, 9), (3, 3), 32, 1),  # depthwise: one group, so that a channel takes 12 bytes, not 192
        ((64, 9), (3, 3), 32, 32),
        ((32, 18), (3, 3), 32, 32),
        ((32, 18), (3, 3), 1, 1),
        ((2, 8191), (1, 8191), 2, 1),
        ((2, 8192), (1, 8192), 2, 2),
        ((0, 9), (3, 3), 3, 1),
    ],
)
def test_int8_weights_of_a_channel_a_group_lie_in_one_group(
    shape: tuple[int, int], kernel: tuple[int, ...], groups: int, stored: int
):
    attrs = {"groups": groups, "kernel": kernel}
    assert stored_groups(Instr("conv_i8", (), (), attrs), shape) == stored
    assert stored_groups(Instr("conv", (), (), attrs), shape) == groups
