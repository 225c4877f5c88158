"""Runs that would go on for years end at their deadline or cancel."""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from program import op_samples

from pteron.export.file.emit import emit_bytes
from pteron.export.pack import stored_groups
from pteron.export.plan import plan
from pteron.export.program import Block, Constant, Instr, Method, Port, Program, Value
from pteron.export.sizes import Dim
from pteron.export.sizes.expressions import symbol
from pteron.schema.dtypes import DTYPES
from pteron.schema.errors import LimitError
from pteron.schema.formats import FORMATS
from pteron.schema.ops import OPS
from pteron.schema.signature import CONTROL
from pteron.schema.steps import Step

runtime = pytest.importorskip(
    "pteron.runtime.model", reason="needs the built module pteron._pteron"
)
pytestmark = pytest.mark.alone

TIMEOUT_S, ENDED_S = 0.05, 1.0
from_runtime = None
X = np.ones(4, np.float32)


def model(values: list[Value], blocks: list[Block], **more: Any) -> Any:
    inputs = tuple(Port(v.name, i) for i, v in enumerate(values) if v.storage == "input")
    outputs = tuple(Port(v.name, i) for i, v in enumerate(values) if v.storage == "output")
    method = Method("main", inputs, outputs, (0, len(values)), 0)
    program = Program("test", values=tuple(values), blocks=tuple(blocks), methods=(method,), **more)
    return runtime.load(emit_bytes(plan(program)), threads=1)


def endless(elements: int = 4) -> Any:
    """A loop whose body has no instruction and whose condition stays true."""
    values = [
        Value("x", "f32", (elements,), "input", 0),
        Value("go", "bool", (), "input", 1),
        Value("y", "f32", (elements,), "output", 0),
        Value("i", "i64", (), "param"),
        Value("carried", "f32", (elements,), "param"),
    ]
    main = Block((Instr("loop", (None, 1, 0), (2,), {"body": 1}),))
    return model(values, [main, Block((), (3, 4), (1, 0))])


@pytest.mark.parametrize("elements", [4, 1 << 22])
def test_a_loop_without_instructions_ends_at_the_deadline(elements: int) -> None:
    m, x = endless(elements), np.ones(elements, np.float32)
    m.run({"x": x, "go": False})
    begin = time.monotonic()
    with pytest.raises(LimitError, match=r"op 0 \(loop\): the deadline has passed"):
        m.run({"x": x, "go": True}, timeout_s=TIMEOUT_S)
    assert time.monotonic() - begin < ENDED_S
    assert np.array_equal(m.run({"x": x, "go": False})["y"], x)


@pytest.fixture
def heeded() -> Iterator[None]:
    """The interrupt key as Python has it: behind `&` it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
def test_the_interrupt_key_ends_a_run_and_the_handler_is_put_back() -> None:
    m, before = endless(), signal.getsignal(signal.SIGINT)
    threading.Timer(TIMEOUT_S, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        m.run({"x": X, "go": True}, timeout_s=60)
    assert time.monotonic() - begin < ENDED_S
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):  # of Python alone, again
        _thread.interrupt_main()
        time.sleep(1)
    assert np.array_equal(m.run({"x": X, "go": False})["y"], X)


@pytest.mark.usefixtures("heeded")
def test_the_interrupt_key_ends_a_traced_run_while_an_event_is_told() -> None:
    m = endless()

    class Events(list[Any]):
        def append(self, event: Any) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            super().append(event)

    with pytest.raises(KeyboardInterrupt):
        m.run({"x": X, "go": False}, trace=Events())
    assert np.array_equal(m.run({"x": X, "go": False})["y"], X)


def test_extents_beside_a_zero_count() -> None:
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("z", "f32", (1 << 41, 0)),
        Value("y", "f32", (4,), "output", 0),
    ]
    with pytest.raises(LimitError, match=r"more than 2\^40 elements"):
        model(values, [Block((Instr("copy", (0,), (2,)),))])(X)


# --- every row ---------------------------------------------------------------------------------


CONV = {
    "kernel": (31, 31),
    "stride": (1, 1),
    "dilation": (1, 1),
    "begin": (15, 15),
    "end": (15, 15),
}
POOL = {key: value for key, value in CONV.items() if key != "end"}
LONG = (
    Step("load", "f32", 0),
    *(Step("exp", "f32", 0, (0,)) for _ in range(200)),
    Step("store", "f32", args=(0,)),
)
I8 = {"x_zero": 0, "y_zero": 0, "low": -128, "high": 127, "groups": 1, "spread": (1, 1)}
I16 = {"x_zero": 0, "y_zero": 0, "low": -128, "high": 127, "groups": 1, "wide": True}
N = 1 << 26  # elements: as much as a test may take; "*" takes no memory
HUGE = 1 << 40
COUNTED = Dim("t", "counted", min=0)


def case(inputs: str, outputs: str, **attrs: Any) -> tuple[str, str, dict[str, Any]]:
    return inputs, outputs, attrs


ENDLESS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "pointwise": case(f"*f32 {N}", f"f32 {N}", steps=LONG),
    "scatter_nd": case("f32 4 16, i64 1073741824 0, *f32 1073741824 4 16", "f32 4 16"),
    "tensor_scatter": case(f"f32 1 8 4, *f32 1 {HUGE >> 2} 4", "f32 1 8 4", circular=True),
    "topk": case(f"*f32 {HUGE}", "f32 1000, i64 1000"),
    "reduce": case(f"*f32 {HUGE}", "f32", kind="sum", count=1),
    "reduce columns": case(f"*0 f32 64 {HUGE >> 6}", "f32 64", kind="max", count=1),
    "reduce f64": case(f"*f64 {HUGE}", "f64", kind="sum", count=1),
    "reduce bool": case(f"*bool {HUGE}", "bool", kind="max", count=1),
    "arg_reduce": case(f"*f32 {HUGE}", "i64", kind="max"),
    "arg_reduce i64": case(f"*i64 {HUGE}", "i64", kind="min", last=True),
    "layer_norm": case(f"f32 {HUGE} 0", f"f32 {HUGE} 0, , ", count=1),
    "rms_norm": case(f"f32 {HUGE} 0", f"f32 {HUGE} 0", count=1),
    "matmul": case("f32 16384 4096, p 4096 4096, ", "f32 16384 4096"),
    "batch_matmul": case("*f32 4096 2097152, *f32 2097152 4096", "f32 4096 4096"),
    "batch_matmul of long rows": case(f"*f32 1 {N >> 4}, *f32 {N >> 4} 65536", "f32 1 65536"),
    "matmul_integer": case("*i64 4096 1048576, *i64 1048576 4096", "i64 4096 4096"),
    "conv": case(
        "f32 1 2048 2048 4, p 16 3844, ", "f32 1 2048 2048 16", **CONV, spread=(1, 1), groups=1
    ),
    "conv_depthwise": case("f32 1 2048 2048 16, t 16 961, ", "f32 1 2048 2048 16", **CONV),
    "conv_i8": case(
        "i8 1 2048 2048 4, w:i8 64 3844, i32 64, i32 64, k:i8 64", "i8 1 2048 2048 64", **CONV, **I8
    ),
    "conv_i16": case(
        "i16 1 2048 2048 4, w:i8 64 3844, i32 64, i32 64, k:i8 64", "i16 1 2048 2048 64", **CONV, **I16),
    "attention": case(
        "*f32 1 1 65536 64, *f32 1 1 16777216 64, *f32 1 1 16777216 64",
        "f32 1 65536 1 64",
        scale=1.0,
    ),
    "attention of a large head": case(
        "*f32 1 1 64 65536, *f32 1 1 65536 65536, *f32 1 1 65536 65536",
        "f32 1 64 1 65536",
        scale=1.0,
    ),
    "lstm": case("*f32 262144 1 1024, p 1024 256, , , , ", "f32 262144 1 256, , ", activations=(0, 1, 1), parameters=(0, 0) * 3),
    "gru": case("*f32 262144 1 768, p 768 256, , , ", "f32 262144 1 256, ", activations=(0, 1), parameters=(0, 0) * 2),
    "rnn": case("*f32 8192 32 512, p 512 512, , ", "f32 8192 32 512, ", activations=(1,), parameters=(0, 0)),
    "rnn of nothing": case(
        "*f32 1073741824 512 0, p 0 0, , ", "f32 1073741824 512 0, ", activations=(1,), parameters=(0, 0)
    ),
    "max_pool": case("f32 1 2048 2048 16", "f32 1 2048 2048 16, ", **POOL),
    "average_pool": case("f32 1 2048 2048 16", "f32 1 2048 2048 16", **CONV),
    "tree_ensemble": case(
        f"*f32 {N >> 4} 4, i32 1 3, f32 1, -i32 1 65536, f32 1 1", f"f32 {N >> 4} 1 1", reduction="sum"
    ),
    "non_max_suppression": case(
        "f32 1073741824 0 4, f32 1073741824 512 0, , , ", "i64 t 3"
    ),
}  # fmt: skip
"""By operator: more than a minute of work, through views of stride 0, extents beside a 0 and large windows."""

LARGE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "panel_scatter": case(
        f"f32 1 1 {N >> 12} 16 16, *f32 1 1 {N >> 8} 16, i64 1", f"f32 1 1 {N >> 12} 16 16"
    ),
    "copy": case(f"*f32 {N}", f"f32 {N}"),
    "reshape": case(f"f32 {N}", f"f32 {N >> 1} 2"),
    "dims": case("", "i64 2", values=(5, 7)),
    "pad": case("f32 16", f"f32 {N}", begin=(0,), mode="wrap"),
    "gather": case("*f32 4 8192, i64 8192", "f32 8192 8192"),
    "gather_rows": case("p 64 8192, i64 8192", "f32 8192 8192"),
    "gather_elements": case(f"*f32 4, *i64 {N}", f"f32 {N}"),
    "gather_nd": case("*f32 4 8192, i64 8192 1", "f32 8192 8192"),
    "scatter_elements": case(f"f32 1024, i64 {N >> 2}, *f32 {N >> 2}", "f32 1024", reduction="add"),
    "nonzero": case(f"bool {2 * N}", "i64 1 t"),
    "cumulate": case(f"*f32 {N}", f"f32 {N}", kind="prod"),
    "softmax": case(f"*f32 {N}", f"f32 {N}"),
    "layer_norm of a long row": case(f"f32 {N}", f"f32 {N}, , ", count=1),
    "rms_norm of a long row": case(f"f32 {N}", f"f32 {N}", count=1),
    "pack": case("*f32 4096 16384", "w 4096 16384"),
    "matmul of a row": case("f32 1 8192, p 8192 8192, ", "f32 1 8192"),
    "matmul_int8": case("f32 4096 4096, w:i4 2048 4096, ", "f32 4096 2048"),
    "matmul_turned": case("f32 4096 4096, w:i8_channel 2048 4096, ", "f32 4096 2048"),
    "conv_winograd": case("f32 1 256 512 512, w 18432 512, ", "f32 1 256 512 512", begin=1),
    "conv_block": case(
        "f32 1 512 512 16, w 256 16, w 16 256, t 256 9, , , ",
        "f32 1 512 512 16",
        kernel=3,
        stride=1,
        begin=1,
    ),
    "add_i8": case(f"i8 {N}, i8 {N}", f"i8 {N}", **op_samples.ADD_I8),
    "add_i16": case(f"i16 {N >> 1}, i16 {N >> 1}", f"i16 {N >> 1}", **op_samples.ADD_I16),
    "resize": case("f32 1 2048 2048 4", "f32 1 4096 4096 4", mode="cubic", antialias=True),
    "resize to one": case(f"f32 1 {N >> 2} 1", "f32 1 1 1", mode="linear", antialias=True),
    "grid_sample": case("f32 1 64 64 1024, f32 1 256 256 2", "f32 1 256 256 1024", mode="cubic"),
    "unpack": case(f"f8e4m3 {N}", f"f32 {N}"),
    "repack": case(f"f32 {N}", f"f8e4m3 {N}"),
    "codes": case(f"*f32 {N >> 6} 64", f"i8 {N >> 6} 64, f32 {N >> 6} 1", turned=True),
}
"""The rows whose work only memory makes long."""


def large(
    name: str, inputs: str, outputs: str, attrs: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The program of one instruction, and zeros for its inputs, -1 for "-i32 2 3". "*f32 2 3": a view of stride 0 of one element,
    "*0": of as many as its first axis; "p 2 3": a weight packed from one; "w:i8", "t", "k:i8": constants, as in op_samples."""
    op, values, constants, blocks = name.split()[0], [], [], []
    sides: tuple[list[int | None], list[int | None]] = ([], [])
    feeds: dict[str, Any] = {}

    def port(dtype: str, shape: tuple[int, ...], fill: int = 0) -> int:
        values.append(Value(f"x{len(feeds)}", dtype, shape, "input", len(feeds)))
        feeds[values[-1].name] = np.full(shape, fill, np.dtype(DTYPES[dtype].numpy))
        return len(values) - 1

    def view(dtype: str, shape: tuple[int, ...], kept: int) -> int:
        base = port(dtype, (shape[0],) if kept else (1,))
        strides = tuple(int(axis < kept) for axis in range(len(shape)))
        values.append(Value("", dtype, shape, "view", base, strides))
        return len(values) - 1

    def operand(text: str, output: bool) -> int | None:
        kind, *words = text.split()
        if kind == "*0":
            return view(words[0], tuple(map(int, words[1:])), 1)
        shape = tuple(symbol(COUNTED) if word == "t" else int(word) for word in words)
        if kind.startswith("*"):
            return view(kind[1:], shape, 0)
        if kind.startswith("-"):
            return port(kind[1:], shape, -1)
        if kind == "p":
            source = view("f32", shape, 0) if 0 not in shape else port("f32", shape)
            values.append(Value("", "f32", shape, layout="panels"))
            blocks.append(Instr("pack", (source,), (len(values) - 1,)))
        elif (kind[0] in "wt" and not output) or kind.startswith("k:"):
            letter, _, fmt = kind.partition(":")
            like = Instr(op, (), (), {"kernel": (), **attrs})
            groups = 1 if letter == "k" else stored_groups(like, shape)
            element, data = (
                op_samples.weight(letter, fmt, shape, groups)
                if letter != "k"
                else (fmt, np.full(shape, 30, np.int8))
            )
            layout = {"w": "panels", "t": "taps", "k": "strided"}[letter]
            more = {
                "layout": layout,
                "format": fmt if fmt in FORMATS else "plain",
                "groups": groups,
            }
            constants.append(Constant("w", element, shape, data, **more))
            values.append(Value("w", element, shape, "constant", len(constants) - 1, **more))
        elif output:
            count = sum(v.storage == "output" for v in values)
            packed = kind == "w"
            values.append(
                Value("", "f32", shape, layout="panels")
                if packed
                else Value(f"y{count}", kind, shape, "output", count)
            )
        else:
            return port(kind, shape)
        return len(values) - 1

    for side, texts in enumerate((inputs, outputs)):
        for text in texts.split(",") if texts else ():
            sides[side].append(operand(text, side == 1) if text.strip() else None)
    blocks.append(Instr(op, tuple(sides[0]), tuple(sides[1]), attrs))
    return model(values, [Block(tuple(blocks))], constants=tuple(constants), dims=(COUNTED,)), feeds


def test_every_row_has_a_long_case() -> None:
    names = {name.split()[0] for name in (*ENDLESS, *LARGE)}
    assert names == {op.name for op in OPS.values() if op.name not in CONTROL}


@pytest.mark.parametrize("name", [*ENDLESS, *LARGE])
def test_an_instruction_ends_at_the_deadline(name: str) -> None:
    """Processor time of this thread, so that a busy machine fails nobody. Unbounded, ENDLESS takes minutes to years."""
    m, feeds = large(name, *(ENDLESS | LARGE)[name])
    m._session.prepare({key: value.shape for key, value in feeds.items()})
    begin, ended = time.thread_time(), False
    try:
        m.run(feeds, timeout_s=TIMEOUT_S)
    except LimitError as error:
        ended = "the deadline has passed" in str(error)
        assert ended, error
    assert time.thread_time() - begin < ENDED_S
    assert ended or name in LARGE
