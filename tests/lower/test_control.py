"""If, Loop and Scan against onnxruntime; what is known at export picks a branch there."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import onnxruntime
import pytest
from lower.test_families import floats

from pteron.export.capture import capture
from pteron.export.lower import lower
from pteron.export.optimize.fuse import fuse
from pteron.export.program.interpret import run
from pteron.export.program.listing import as_text
from pteron.schema.errors import LoweringError, PteronError


def parsed(text: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    onnx.checker.check_model(model)
    return model


def agrees(text: str, *many: dict[str, np.ndarray]) -> None:
    model = parsed(text)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    program = lower(ir.serde.deserialize_model(model))
    fused = fuse(program)
    for feeds in many:
        wanted = session.run(None, feeds)
        for made in (run(program, feeds), run(fused, feeds)):
            for output, want in zip(session.get_outputs(), wanted, strict=True):
                got = made[output.name]
                assert got.shape == want.shape and got.dtype == want.dtype
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


IF = """
agraph (float[n, 4] x, bool flag) => (float[n, 4] y) {{
    h = Add(x, x)
    y = If (flag) <
        then_branch = a () => (float[n, 4] p) {{ p = Relu(h) }},
        else_branch = b () => (float[{other}, 4] q) {{ {body} }}
    >
}}"""


def test_branches_see_outer_values() -> None:
    feeds = [{"x": floats((3, 4)), "flag": np.array(v)} for v in (True, False)]
    agrees(IF.format(other="n", body="q = Mul(x, h)"), *feeds)


def test_a_body_that_reads_what_failed_is_not_blamed() -> None:
    text = IF.format(other="n", body="q = Mul(x, h)").replace("Add(x, x)", "RandomNormalLike(x)")
    with pytest.raises(LoweringError, match=r"^1 node cannot be lowered:\n  RandomNormalLike .*$"):
        lower(capture(parsed(text)))


@pytest.mark.parametrize("shape", ["1", "1, 1", "1, 1, 1"])
def test_a_condition_is_one_element_of_any_rank(shape: str) -> None:
    model = parsed(f"""
    agraph (float[2] x, bool[{shape}] c) => (float[2] y) {{
        y = If (c) <
            then_branch = a () => (float[2] p) {{ p = Neg(x) }},
            else_branch = b () => (float[2] q) {{ q = Abs(x) }}
        >
    }}""")
    program = lower(capture(model))
    for flag in (True, False):
        c = np.full([1] * (shape.count(",") + 1), flag)
        got = run(program, {"x": np.array([1, -2], np.float32), "c": c})["y"]
        np.testing.assert_array_equal(got, [-1, 2] if flag else [1, 2])


def test_an_axis_that_differs_between_branches_is_counted() -> None:
    body = "q = Concat<axis=0>(x, h)"
    text = IF.format(other="m", body=body).replace("(float[n, 4] y)", "(float[k, 4] y)")
    agrees(text, *[{"x": floats((3, 4)), "flag": np.array(v)} for v in (True, False)])


def test_a_known_condition_leaves_one_branch() -> None:
    text = """
    agraph (float[n, 4] x) => (float[n, 4] y) {
        s = Shape<start = 1>(x)
        four = Constant<value = int64[1] {4}>()
        e = Equal(s, four)
        flag = Squeeze(e)
        y = If (flag) <
            then_branch = a () => (float[n, 4] p) { p = Relu(x) },
            else_branch = b () => (float[n, 4] q) { q = Neg(x) }
        >
    }"""
    program = lower(ir.serde.deserialize_model(parsed(text)))
    assert len(program.blocks) == 1
    assert "max" in as_text(program)


LOOP = """
agraph (float[4] x, int64 trips, bool start) => (float[4] last, float[t, 4] rows) {
    last, rows = Loop (trips, start, x) <
        body = b (int64 i, bool go, float[4] c) => (bool on, float[4] d, float[4] row) {
            f = Cast<to = 1>(i)
            d = Add(c, f)
            row = Mul(d, x)
            s = ReduceSum<keepdims = 0>(d)
            top = Constant<value = float {50.0}>()
            on = Less(s, top)
        }
    >
}"""


@pytest.mark.parametrize("start", [True, False])
@pytest.mark.parametrize("trips", [1, 3, 20])
def test_a_loop_carries_collects_and_stops(trips: int, start: bool) -> None:
    x = abs(floats((4,)))
    feeds = {"x": x, "trips": np.array(trips), "start": np.array(start)}
    agrees(LOOP, feeds)
    agrees(LOOP.replace("(trips, start, x)", "(trips, , x)"), feeds)


def test_a_loop_that_always_goes_on_has_exactly_its_trips() -> None:
    text = """
    agraph (float[4] x, int64 trips) => (float[4] last, float[t, 4] rows) {
        yes = Constant<value = bool {1}>()
        last, rows = Loop (trips, yes, x) <
            body = b (int64 i, bool go, float[4] c) => (bool on, float[4] d, float[4] row) {
                d = Add(c, x)
                row = Identity(c)
                on = Identity(go)
            }
        >
    }"""
    agrees(text, *[{"x": floats((4,)), "trips": np.array(n)} for n in (1, 5)])
    program = lower(ir.serde.deserialize_model(parsed(text)))
    assert [(d.kind, d.port) for d in program.dims] == [("shape", 1)]


def test_what_grows_from_round_to_round_is_counted() -> None:
    text = """
    agraph (float[n, 2] x, int64 trips) => (float[m, 2] y) {
        yes = Constant<value = bool {1}>()
        y = Loop (trips, yes, x) <
            body = b (int64 i, bool go, float[p, 2] c) => (bool on, float[q, 2] d) {
                d = Concat<axis = 0>(c, x)
                on = Identity(go)
            }
        >
    }"""
    agrees(text, {"x": floats((2, 2)), "trips": np.array(3)})


def test_what_a_loop_carries_has_the_bound_that_its_body_proves() -> None:
    """Without one each such axis takes the memory of 4096 elements."""
    text = """
    agraph (float[a, s, 2] v, float[n] w, float[n] u, int64 trips) => (float[p, q, 2] y, float[r] z) {
        yes = Constant<value = bool {1}>()
        k = Constant<value = float[5, 4, 1] {1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7,8,9,10}>()
        y, z = Loop (trips, yes, v, w) <
            body = b (int64 i, bool go, float[d, e, 2] c, float[f] g) => (bool on, float[5, 4, 2] o, float[h] j) {
                o = Add(c, k)
                j = Concat<axis = 0>(g, u)
                on = Identity(go)
            }
        >
    }"""
    w, u = floats((3,)), floats((3,))
    many = [(floats((2, 3, 2)), 0), *((floats((5, 4, 2)), n) for n in (0, 1, 4))]
    agrees(text, *({"v": v, "w": w, "u": u, "trips": np.array(n)} for v, n in many))
    dims = {d.name: d for d in lower(ir.serde.deserialize_model(parsed(text))).dims}
    counted = {n: str(d.capacity) for n, d in dims.items() if d.kind == "counted"}
    assert counted == {
        "carried": "Max(5, a)",
        "carried_1": "Max(4, s)",
        "carried_2": "n*trips + n",
    }


def test_the_bound_of_a_size_that_falls_with_what_is_counted() -> None:
    """10 - c is the most where c is least."""
    text = """
    agraph (float[10] x, bool flag) => (float[m] y) {
        zero = Constant<value = float {0.0}>()
        on = Greater(x, zero)
        some = Compress<axis = 0>(x, on)
        n = Shape(some)
        all = Constant<value = int64[1] {10}>()
        none = Constant<value = int64[1] {0}>()
        rest = Sub(all, n)
        y = If (flag) <
            then_branch = a () => (float[p] t) { t = Slice(x, none, rest) },
            else_branch = b () => (float[q] e) { e = Identity(some) }
        >
    }"""
    dims = {d.name: d for d in lower(ir.serde.deserialize_model(parsed(text))).dims}
    assert dims["either"].capacity == 10
    for x in (-np.arange(1, 11), np.arange(1, 11), np.arange(10) - 4):
        agrees(text, *[{"x": x.astype(np.float32), "flag": np.array(v)} for v in (True, False)])


def test_what_grows_is_compared_with_a_size_that_does_not_by_the_run() -> None:
    """Prepare, which has no sizes of a run, would compare 4096 with n."""
    text = """
    agraph (float[n] w, int64 trips, float[2] v) => (float[m] y) {
        yes = Constant<value = bool {1}>()
        none = Constant<value = int64[1] {0}>()
        one = Constant<value = float[1] {1.0}>()
        y = Loop (trips, yes, v) <
            body = b (int64 i, bool go, float[p] c) => (bool on, float[q] d) {
                s = Shape(c)
                part = Slice(w, none, s, none)
                a = Add(c, part)
                d = Concat<axis = 0>(a, one)
                on = Identity(go)
            }
        >
    }"""
    v = floats((2,))
    agrees(text, *({"w": floats((6,)), "v": v, "trips": np.array(n)} for n in (0, 1, 2, 5)))
    program = lower(ir.serde.deserialize_model(parsed(text)))
    with pytest.raises((PteronError, ValueError), match="reshape"):
        run(program, {"w": floats((3,)), "v": v, "trips": np.array(4)})


def test_loops_in_loops() -> None:
    text = """
    agraph (float[3] x) => (float[3] y) {
        yes = Constant<value = bool {1}>()
        two = Constant<value = int64 {2}>()
        y = Loop (two, yes, x) <
            body = b (int64 i, bool go, float[3] c) => (bool on, float[3] d) {
                h = Add(c, x)
                d = Loop (two, yes, h) <
                    body = e (int64 j, bool go2, float[3] f) => (bool on2, float[3] g) {
                        g = Mul(f, h)
                        on2 = Identity(go2)
                    }
                >
                on = Identity(go)
            }
        >
    }"""
    agrees(text, {"x": floats((3,))})


SCAN = """
agraph (float[2] s, float[{shape}] x) => (float[2] last, float[{out}] rows) {{
    last, rows = Scan (s, x) <num_scan_inputs = 1, {attrs}
        body = b (float[2] c, float[2] e) => (float[2] d, float[2] row) {{
            d = Add(c, e)
            row = Mul(d, e)
        }}
    >
}}"""


@pytest.mark.parametrize("back", [0, 1])
@pytest.mark.parametrize("axis", [0, 1])
def test_scan_walks_an_axis_in_either_direction(axis: int, back: int) -> None:
    attrs = (
        f"scan_input_axes = [{axis}], scan_output_axes = [{axis}], "
        f"scan_input_directions = [{back}], scan_output_directions = [{back}],"
    )
    shape = "t, 2" if axis == 0 else "2, t"
    x = floats((5, 2)) if axis == 0 else floats((2, 5))
    agrees(SCAN.format(shape=shape, out=shape, attrs=attrs), {"s": floats((2,), 1), "x": x})


def test_branches_of_other_ranks_are_refused() -> None:
    text = IF.format(other="n", body="q = Unsqueeze(x, z)").replace(
        "float[n, 4] q", "float[n, 1, 4] q"
    )
    text = text.replace("h = Add(x, x)", "h = Add(x, x)\n z = Constant<value = int64[1] {1}>()")
    with pytest.raises(LoweringError, match="reshape one of them"):
        lower(
            ir.serde.deserialize_model(
                onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>{text}')
            )
        )


@pytest.mark.parametrize("declared", ["[1]", "", "[]"])
def test_the_iteration_and_the_condition_as_a_body_declares_them(declared: str) -> None:
    """One of rank 1, of unknown rank, or a scalar: what the body says of it is what it gets."""
    text = """
    agraph (float[4] x, int64 trips) => (float[4] y) {
        yes = Constant<value = bool {1}>()
        y = Loop (trips, yes, x) <
            body = b (int64[1] i, bool[1] go, float[4] c) => (bool on, float[4] d) {
                one = Constant<value = int64[1] {0}>()
                f = Cast<to = 1>(i)
                g = Gather<axis = 0>(f, one)
                d = Add(c, g)
                on = Squeeze(go)
            }
        >
    }"""
    if declared != "[1]":
        text = text.replace("g = Gather<axis = 0>(f, one)", "g = Identity(f)")
        text = text.replace("on = Squeeze(go)", "on = Identity(go)")
        text = text.replace("int64[1] i, bool[1] go", "int64 i, bool go")
    model = ir.serde.deserialize_model(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}'))  # fmt: skip
    if declared == "":
        loop = next(n for n in model.graph if n.op_type == "Loop")
        for v in loop.attributes["body"].as_graph().inputs[:2]:
            v.shape = None
    x = floats((4,))
    for made in (lower(model), fuse(lower(model))):
        got = run(made, {"x": x, "trips": np.array(4)})["y"]
        np.testing.assert_allclose(got, x + 6, rtol=1e-6)


def test_what_sets_a_size_stays_in_a_branch_that_reads_the_size_alone() -> None:
    text = """
    agraph (float[4] x, bool[4] c, bool k) => (int64 y) {
        y = If (k) <
            then_branch = a () => (int64 p) { t = Compress(x, c)  p = Size(t) },
            else_branch = b () => (int64 q) { q = Size(x) }
        >
    }"""
    feeds = {"x": floats((4,)), "c": np.array([False, True, True, False])}
    agrees(text, *[{**feeds, "k": np.array(v)} for v in (True, False)])


@pytest.mark.parametrize("size", ["6", "n"])
def test_a_counted_size_beside_another_is_compared_by_the_run(size: str) -> None:
    """Its capacity agrees; where the count does not, ONNX has no result."""
    text = f"""
    agraph (float[6] x, bool[6] c, float[{size}] z) => (float[k] y) {{
        t = Compress(x, c)
        y = Add(t, z)
    }}"""
    program = lower(ir.serde.deserialize_model(parsed(text)))
    feeds = {"x": floats((6,)), "z": floats((6,), 1)}
    assert run(program, {**feeds, "c": np.ones(6, bool)})["y"].shape == (6,)
    with pytest.raises((PteronError, ValueError)):
        run(program, {**feeds, "c": np.arange(6) < 3})


def test_a_counted_size_agrees_with_one_that_is_not_its_capacity_where_a_run_finds_it_so() -> None:
    text = """
    agraph (float[6] x, bool[6] c, float[3] z) => (float[k] y) {
        t = Compress(x, c)
        y = Add(t, z)
    }"""
    feeds = {"x": floats((6,)), "z": floats((3,), 1)}
    agrees(text, {**feeds, "c": np.arange(6) % 2 == 1}, {**feeds, "c": np.arange(6) < 3})
    program = lower(ir.serde.deserialize_model(parsed(text)))
    for count in (0, 2, 6):
        with pytest.raises((PteronError, ValueError)):
            run(program, {**feeds, "c": np.arange(6) < count})


@pytest.mark.parametrize("most", [6, 7])
@pytest.mark.parametrize(
    "node, fit",
    [
        ("Reshape(t, six)", 6), ("Reshape(t, four)", 4), ("Squeeze(t, zero)", 1), ("Reshape(t, rest)", 3),
        ("Reshape(t, rest)", 6), ("Expand(t, fours)", 4), ("Expand(t, sixes)", 6),
    ],
)  # fmt: skip
def test_elements_that_are_counted_are_as_many_as_a_new_shape(
    node: str, fit: int, most: int
) -> None:
    """A view would show what lies behind them."""
    text = f"""
    agraph (float[{most}] x, bool[{most}] c) => (float[...] y)
        <int64[2] six = {{2, 3}}, int64[2] four = {{2, 2}}, int64[1] zero = {{0}}, int64[2] rest = {{3, -1}},
        int64[1] fours = {{4}}, int64[1] sixes = {{6}}> {{
        t = Compress(x, c)
        y = {node}
    }}"""
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21]>{text}'.replace("float[...] y", "float y")
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    program = lower(ir.serde.deserialize_model(model))
    x = floats((most,))
    got = run(program, {"x": x, "c": np.arange(most) < fit})["y"]
    np.testing.assert_array_equal(got.reshape(-1), x[:fit])
    for other in {1, 2, 4, 5} - {fit}:
        with pytest.raises((PteronError, ValueError), match="reshape"):
            run(program, {"x": x, "c": np.arange(most) < other})


@pytest.mark.parametrize("q", ["float", "float[2]"])
def test_what_scan_goes_over_is_as_long_as_the_first(q: str) -> None:
    text = f"""agraph (float[3] p, {q} q) => (float[n] y) {{
        y = Scan (p, q) <num_scan_inputs = 2,
            body = b (float a, float c) => (float w) {{ w = Add (a, c) }}
        >
    }}"""
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    with pytest.raises(LoweringError, match=r"Scan.*expected sequence"):
        lower(ir.from_proto(model))


PADDLE = """
agraph (float[b, 6] x) => (float[b, 6] y, float[m] past, bool[p] done) {
    trips = Constant<value = int64[1] {1024}>()
    go = Constant<value = bool {1}>()
    zero = Constant<value = int64 {0}>()
    unset = Constant<value = float {7.5}>()
    no = Constant<value = bool {0}>()
    i_end, y0, past0, done = Loop (trips, go, zero, x, unset, no) <
        body = b (int64 step, bool goes, int64 i, float[b, 6] z, float u, bool d) => (bool on, int64 j, float[b, 6] w, float v, bool e) {
            one = Constant<value = int64[1] {1}>()
            i1 = Reshape(i, one)
            j1 = Add(i1, one)
            six = Constant<value = int64[1] {6}>()
            end = Min(j1, six)
            i0 = Squeeze(i1)
            e0 = Squeeze(end)
            s0 = Squeeze(one)
            at = Range(i0, e0, s0)
            row = Constant<value = int64[2] {1, -1}>()
            at2 = Reshape(at, row)
            slice = Slice(z, i1, end, one)
            places = Shape(slice)
            none = Constant<value = int64[1] {0}>()
            first = Slice(places, none, one)
            times = Concat<axis = 0>(first, one)
            index = Tile(at2, times)
            negative = Neg(slice)
            scattered = ScatterElements<axis = 1>(z, index, negative)
            w = Identity(scattered)
            v = ReduceMax<keepdims = 0>(scattered, one)
            five = Constant<value = int64[1] {5}>()
            is_last = Equal(j1, five)
            e = Or(d, is_last)
            j = Squeeze(j1)
            n = Not(e)
            on = Squeeze(n)
        }
    >
    y = Identity(y0)
    past = Identity(past0)
}"""


def test_a_loop_of_paddles_begins_what_it_never_reads_as_any_number() -> None:
    """`x[:, i] = -x[:, i]` while the condition holds: `unset` becomes a vector, `no` takes a rank."""
    x = floats((2, 6))
    agrees(PADDLE, {"x": x}, {"x": x[:1]})


def test_what_a_loop_that_may_not_run_carries_keeps_its_type() -> None:
    text = PADDLE.replace("float[b, 6] x)", "float[b, 6] x, bool go)").replace(
        "    go = Constant<value = bool {1}>()\n", ""
    )
    with pytest.raises(LoweringError, match="carries f32 of rank 0 in, f32 of rank 1 out"):
        lower(capture(parsed(text)))


def test_what_a_loop_hands_on_unread_is_not_begun_anew() -> None:
    """The first iteration gives `a` as `before`: the zeros of a vector would be another value."""
    text = """
    agraph (float[4] x) => (float[m] y) {
        trips = Constant<value = int64 {1}>()
        go = Constant<value = bool {1}>()
        five = Constant<value = float {5.0}>()
        a_end, y = Loop (trips, go, five, x) <
            body = b (int64 i, bool c, float a, float[4] before) => (bool d, float[4] next, float a) {
                d = Identity(c)
                next = Neg(before)
            }
        >
    }"""
    with pytest.raises(LoweringError, match="carries f32 of rank"):
        lower(capture(parsed(text)))
