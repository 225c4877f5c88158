"""Capture of PyTorch: right answers, state as pairs, names, source lines; and a guard for every silent failure."""

from __future__ import annotations

import base64
import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

from pteron.export.capture import capture
from pteron.export.capture.check import KEY
from pteron.export.graph import SOURCE, STATE, TRACED, nodes
from pteron.export.passes import run_passes
from pteron.schema.errors import ModelError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
nn = torch.nn
HERE = Path(__file__).name


def run(model: ir.Model, *arrays: Any) -> list[np.ndarray]:
    feeds = {v.name: np.asarray(a) for v, a in zip(model.graph.inputs, arrays, strict=True)}
    return list(ReferenceEvaluator(ir.to_proto(model)).run(None, feeds))


class Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(8, 4)

    def forward(self, x: Any, y: Any = None) -> Any:
        return torch.relu(self.a(x) if y is None else self.a(x + y))


def test_module_with_a_named_dimension() -> None:
    net, x = Linear(), torch.randn(3, 8)
    model = capture(net, args=(x,), dynamic_shapes=({0: "batch"},))
    assert str(model.graph.inputs[0].shape) == "[batch,8]"
    assert [v.name for v in model.graph.outputs] == ["output_0"]
    other = torch.randn(5, 8)
    np.testing.assert_allclose(
        run(model, other)[0], net(other).detach().numpy(), rtol=1e-5, atol=1e-6
    )


def test_one_name_is_one_dimension() -> None:
    shapes = ({0: "n"}, {0: "n"})
    model = capture(Linear(), args=(torch.randn(3, 8), torch.randn(3, 8)), dynamic_shapes=shapes)
    assert [str(v.shape) for v in model.graph.inputs] == ["[n,8]", "[n,8]"]


class Parts(nn.Module):
    def forward(self, x: Any) -> Any:
        edges = x[0, 0, :, 0], x[0, 0, 0, :]
        i, j = torch.meshgrid(*edges, indexing="ij")  # parts that the graph has not
        a, b = (x * (i + j)).chunk(2, 1)
        c, d = (a * b).max(-1)
        return torch.std_mean(c + d, 0)[0] + 1


def test_values_of_the_graph_are_those_of_the_program_that_it_was_written_from() -> None:
    x = torch.randn(2, 4, 5, 6)
    model = capture(Parts(), args=(x,))
    values = {v.metadata_props.get(TRACED, v.name): v for node in model.graph for v in node.outputs}
    steps = [s for s in model.meta[KEY].steps() if s.name in values]
    assert len(steps) > 20
    model.graph.outputs[:] = [values[s.name] for s in steps]
    for step, got in zip(steps, run(model, x), strict=True):
        np.testing.assert_allclose(got, step.value, rtol=1e-4, atol=1e-5, err_msg=step.name)


class Variadic(nn.Module):
    def forward(self, *xs: Any) -> Any:
        return xs[0] + xs[1]


@pytest.mark.parametrize("shapes", [{"xs": ({0: "n"}, {0: "n"})}, (({0: "n"}, {0: "n"}),)])
def test_names_inside_variadic_parameters(shapes: Any) -> None:
    x = torch.randn(3, 8)
    model = capture(Variadic(), args=(x, x.clone()), dynamic_shapes=shapes)
    assert [str(v.shape) for v in model.graph.inputs] == ["[n,8]", "[n,8]"]


def test_keyword_inputs_and_shapes_by_name() -> None:
    x = torch.randn(3, 8)
    model = capture(
        Linear(), args=(x,), kwargs={"y": x}, dynamic_shapes={"x": {0: "n"}, "y": {0: "n"}}
    )
    assert [(v.name, str(v.shape)) for v in model.graph.inputs] == [("x", "[n,8]"), ("y", "[n,8]")]


def test_source_lines_name_the_users_file_through_all_passes() -> None:
    model = capture(Linear(), args=(torch.randn(3, 8),), dynamic_shapes=({0: "batch"},))
    run_passes(model)
    assert list(nodes(model))
    for node in nodes(model):
        assert re.match(rf".*{HERE}:\d+", node.metadata_props[SOURCE]), node
        assert not [k for k in node.metadata_props if k.startswith("pkg.torch")]


def test_training_mode_comes_back() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
    net[0].eval()
    model = capture(net, args=(torch.randn(3, 4),))
    assert [m.training for m in net] == [False, True, True]
    assert STATE not in model.metadata_props


class Counter(nn.Module):
    """Keeps a running sum and how often it was called."""

    def __init__(self, persistent: bool = True) -> None:
        super().__init__()
        self.register_buffer("total", torch.full((4,), 2.0), persistent=persistent)
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))

    def forward(self, x: Any) -> Any:
        self.total.add_(x.sum(0))
        self.calls += 1
        return {"mean": self.total / self.calls, "x": x, "again": x}


@pytest.mark.parametrize("persistent", [True, False])
def test_mutated_buffers_become_state_pairs(persistent: bool) -> None:
    net = Counter(persistent)
    model = capture(net, args=(torch.ones(3, 4),), dynamic_shapes=({0: "n"},))
    assert [v.name for v in model.graph.inputs] == ["x", "past.total", "past.calls"]
    assert [v.name for v in model.graph.outputs] == [
        "mean",
        "x_out",
        "again",
        "present.total",
        "present.calls",
    ]
    record = json.loads(model.metadata_props[STATE])
    assert record.pop("initial") == {
        "past.total": base64.b64encode(np.full(4, 2, np.float32).tobytes()).decode()
    }
    assert record == {"past.total": "present.total", "past.calls": "present.calls"}
    assert float(net.total[0]) == 2.0, "capture must not change the module"
    total, calls = np.full(4, 2, np.float32), np.array(0)
    for rows in (1, 5, 2):
        x = torch.randn(rows, 4)
        mean, _, again, total, calls = run(model, x, total, calls)
        np.testing.assert_allclose(mean, net(x)["mean"].numpy(), rtol=1e-5)
        np.testing.assert_array_equal(again, x.numpy())


class Writer(nn.Module):
    """Writes state in one of many ways."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.register_buffer("b", torch.zeros(4))
        self.plain = torch.zeros(4)
        self.p = nn.Parameter(torch.zeros(4), requires_grad=False)
        self.count = 0
        self.kept: dict[str, Any] = {"x": torch.zeros(4)}

    def forward(self, x: Any) -> Any:
        if self.how == "in place":
            self.b.add_(x)
        elif self.how == "assigned":
            self.b = self.b + x
        elif self.how == "slice":
            self.b[1:3] = x[1:3]
        elif self.how == "plain tensor":
            self.plain = self.plain + x
        elif self.how == "parameter":
            self.p.data.add_(x)
        elif self.how == "number":
            self.count += 1
        elif self.how == "dict":
            self.kept["x"] = self.kept["x"] + x
        elif self.how == "input":
            x.add_(1)
        elif self.how == "previous":
            self.plain, x = x.clone(), x - self.plain
        elif self.how == "cached":
            self.count = x.shape[0]
        return x + self.b + self.p + self.count + self.kept["x"]


@pytest.mark.parametrize("how", ["in place", "assigned", "slice"])
def test_written_buffers_are_states(how: str) -> None:
    model = capture(Writer(how), args=(torch.ones(4),))
    want = [2, 3, 3, 2] if how == "slice" else [4, 4, 4, 4]
    if how == "slice":
        want = [3, 2, 2, 3]
    result, present = run(model, np.ones(4, np.float32), np.full(4, 2, np.float32))
    assert present.tolist() == ([2, 1, 1, 2] if how == "slice" else [3] * 4)
    assert result.tolist() == want


REFUSED = {
    "plain tensor": "attribute 'plain' changes from run to run",
    "parameter": "parameter 'p' is written",
    "number": "attribute 'count' changes from run to run",
    "dict": "attribute .*kept.* changes from run to run",
    "previous": "attribute 'plain' changes from run to run",
}


@pytest.mark.parametrize("how", REFUSED)
def test_state_outside_of_buffers_is_refused(how: str) -> None:
    with pytest.raises(ModelError, match=REFUSED[how]):
        capture(Writer(how), args=(torch.ones(4),))


def test_an_attribute_set_to_the_same_value_each_run_is_no_state() -> None:
    capture(Writer("cached"), args=(torch.ones(4),))


class Outputs(nn.Module):
    def forward(self, x: Any, flag: bool = True) -> Any:
        return (x, None, [x + 1, x + 1]) if flag else x


def test_none_is_dropped_and_python_values_are_burnt_in() -> None:
    model = capture(Outputs(), args=(torch.ones(4), True))
    assert [v.name for v in model.graph.inputs] == ["x"]
    assert len(run(model, np.ones(4, np.float32))) == 3


class Number(nn.Module):
    def forward(self, x: Any) -> Any:
        return x, x.shape[0]


def test_a_number_as_output_is_a_scalar() -> None:
    model = capture(Number(), args=(torch.ones(4),), dynamic_shapes=({0: "n"},))
    assert run(model, np.ones(7, np.float32))[1].tolist() == 7
    with pytest.raises(ModelError, match="output 'output_1' is str, not a tensor or number"):
        capture(Named(), args=(torch.ones(4),))


class Named(nn.Module):
    def forward(self, x: Any) -> Any:
        return x + 1, "name"


def test_exported_program_and_pt2_file(tmp_path: Path) -> None:
    net, x = Counter(), torch.ones(3, 4)
    program = torch.export.export(net, (x,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},))
    path = tmp_path / "net.pt2"
    torch.export.save(program, path)
    for source in (program, path):
        model = capture(source, dynamic_shapes=({0: "rows"},))
        assert str(model.graph.inputs[0].shape) == "[rows,4]"
        assert "past.total" in json.loads(model.metadata_props[STATE])


class Narrow(nn.Module):
    def forward(self, x: Any) -> Any:
        ops = torch.ops.quantized_decomposed
        q = ops.quantize_per_tensor(x, 0.1, 0, -8, 7, torch.int8)
        return ops.dequantize_per_tensor(q, 0.1, 0, -8, 7, torch.int8)


@pytest.fixture
def narrow() -> nn.Module:
    """Its operators are registered by an import."""
    pytest.importorskip(
        "torch.ao.quantization.fx._decomposed", reason="quantized_decomposed operators are absent"
    )
    return Narrow()


def test_a_range_narrower_than_its_dtype_is_kept(narrow: nn.Module) -> None:
    x = torch.linspace(-3, 3, 16)
    model = capture(narrow, args=(x,))
    np.testing.assert_allclose(run(model, x)[0], narrow(x).numpy(), atol=1e-6)


def test_a_module_that_torch_export_made_is_captured_as_it_is(narrow: nn.Module) -> None:
    """Its eval() is an error of torch; quantizers of PT2E leave such modules."""
    x = torch.linspace(-3, 3, 16)
    made = torch.export.export(narrow, (x,)).module()
    np.testing.assert_allclose(run(capture(made, args=(x,)), x)[0], narrow(x).numpy(), atol=1e-6)


class Planes(torch.Tensor):
    """A weight of codes and scales, as torchao's, that can do what such weights have to."""

    codes: Any
    scale: Any

    @staticmethod
    def __new__(cls, codes: Any, scale: Any) -> Planes:
        return torch.Tensor._make_wrapper_subclass(cls, codes.shape, dtype=torch.float32)  # type: ignore[attr-defined, no-any-return]

    def __init__(self, codes: Any, scale: Any) -> None:
        self.codes, self.scale = codes, scale

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["codes", "scale"], None

    @staticmethod
    def __tensor_unflatten__(inner: Any, meta: Any, size: Any, stride: Any) -> Planes:
        return Planes(inner["codes"], inner["scale"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        wrapped = [a for a in args if isinstance(a, Planes)]
        if func in (
            torch.ops.aten.detach.default,
            torch.ops.aten.clone.default,
            torch.ops.aten.alias.default,
        ):
            return Planes(func(wrapped[0].codes), func(wrapped[0].scale))
        if func == torch.ops.aten.t.default:
            return (wrapped[0].codes.float() * wrapped[0].scale).t()
        raise NotImplementedError(func)


class OfPlanes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        codes = torch.arange(-12, 12, dtype=torch.int8).reshape(3, 8)
        self.weight = nn.Parameter(Planes(codes, torch.tensor([[0.5], [0.25], [3.0]])), False)

    def forward(self, x: Any) -> Any:
        return torch.ops.aten.mm(x, self.weight.t())


def test_a_weight_of_other_tensors_is_compared_by_them() -> None:
    x = torch.linspace(-3, 3, 16).reshape(2, 8)
    want = OfPlanes()(x).detach().numpy()
    np.testing.assert_allclose(run(capture(OfPlanes(), args=(x,)), x)[0], want, rtol=1e-6)


def test_torchaos_blocks_stay_codes() -> None:
    """torchao's operator or, where it has not been imported, one that is declared alike."""
    schema = (
        "(Tensor input, int[] block_size, Tensor scale, Tensor? zero_point, ScalarType input_dtype, Scalar? quant_min=None,"
        " Scalar? quant_max=None, ScalarType output_dtype=float32) -> Tensor"
    )

    def meant(q: Any, block: Any, scale: Any, zero: Any, *_: Any, **__: Any) -> Any:
        wide = q.reshape(q.shape[0], -1, block[1]).float()
        if zero is not None:
            wide = wide - zero.reshape(q.shape[0], -1, 1)
        return (wide * scale.reshape(q.shape[0], -1, 1)).reshape(q.shape)

    library = torch.library.Library("torchao", "FRAGMENT")
    if not hasattr(torch.ops.torchao, "dequantize_affine"):
        library.define("dequantize_affine" + schema)
        library.impl("dequantize_affine", meant, "CompositeImplicitAutograd")

    class Affine(nn.Module):
        def __init__(self, block: int) -> None:
            super().__init__()
            rng = np.random.default_rng(block)
            blocks = 64 // block
            self.block = block
            self.register_buffer(
                "q", torch.from_numpy(rng.integers(-8, 8, (5, 64)).astype(np.int8))
            )
            self.register_buffer(
                "s", torch.from_numpy(rng.uniform(0.1, 1, (5, blocks)).astype(np.float32))
            )
            self.register_buffer(
                "z", torch.from_numpy(rng.integers(-3, 4, (5, blocks)).astype(np.int8))
            )

        def forward(self, x: Any) -> Any:
            w = torch.ops.torchao.dequantize_affine(
                self.q, [1, self.block], self.s, self.z, torch.int8, -8, 7
            )
            return torch.nn.functional.linear(x, w)

    x = torch.linspace(-3, 3, 128).reshape(2, 64)
    for block in (32, 64):
        module = Affine(block)
        model = capture(module, args=(x,))
        assert "DequantizeLinear" in {n.op_type for n in model.graph}
        np.testing.assert_allclose(run(model, x)[0], module(x).numpy(), rtol=1e-5, atol=1e-5)


class Branch(nn.Module):
    def forward(self, x: Any) -> Any:
        return x + 1 if x.sum() > 0 else x - 1


class List(nn.Module):
    def forward(self, x: Any) -> Any:
        return sum([x[0]] * x.shape[0])


def line_of(kind: type[Any]) -> str:
    """The line of the module's only statement."""
    return rf"{HERE}:{inspect.getsourcelines(kind.forward)[1] + 1}\b"


FAILS = [
    (lambda: capture(Branch(), args=(torch.ones(4),)), "torch.export failed.*" + line_of(Branch)),
    (
        lambda: capture(List(), args=(torch.ones(4, 2),), dynamic_shapes=({0: "n"},)),
        r"torch.export failed.*a constant \(4\).*" + line_of(List),
    ),
    (lambda: capture(Linear()), "pass args="),
    (lambda: capture(Linear(), args=(torch.ones(3, 7),)), "the module fails on the example inputs"),
    (
        lambda: capture(Linear(), args=(torch.ones(3, 8),), dynamic_shapes=({1: "k"},)),
        "torch.export failed",
    ),
]


@pytest.mark.parametrize("call, text", FAILS, ids=[t for _, t in FAILS])
def test_failures_say_why(call: Any, text: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match=text):
        call()
    assert capfd.readouterr() == ("", ""), "the error says it all"


def test_low_precision_weights_stay_low() -> None:
    class Weight(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", torch.arange(16, dtype=torch.int8).reshape(4, 4))

        def forward(self, x: Any) -> Any:
            return x @ (self.w.to(torch.float32) * 0.5)

    model = capture(Weight(), args=(torch.ones(2, 4),))
    run_passes(model)
    assert [str(v.dtype) for v in model.graph.initializers.values() if len(v.shape or ()) == 2] == [
        "INT8"
    ]
    np.testing.assert_allclose(run(model, np.ones((2, 4), np.float32))[0][0], [12, 14, 16, 18])


def test_missing_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ModelError, match=r"needs onnxscript, .*pip install 'pteron\[torch\]'"):
        capture(Linear(), args=(torch.ones(3, 8),))
