"""Module paths and source lines: what exporters write, what names become of it, and what merging keeps."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from pteron.export.capture import capture
from pteron.export.export import export
from pteron.export.graph import MODULE, common_module, nodes
from pteron.export.graph.naming import name_nodes, title
from pteron.export.graph.text import onnx_text
from pteron.export.options import Options
from pteron.export.passes import run_passes
from pteron.export.program import Program
from pteron.export.report import Report
from pteron.quantize.quantize import transformer
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.report import QuantReport
from pteron.schema.errors import LoweringError, QuantError

RNG = np.random.default_rng(3)
W = RNG.standard_normal((8, 8)).astype(np.float32)


def by_operator(program: Program, op: str) -> list[str]:
    """Names of the nodes whose instructions have the operator, in order."""
    found = [program.nodes[i.node].name for b in program.blocks for i in b.instrs if i.op == op]
    return list(dict.fromkeys(found))


def scoped(text: str, modules: list[str], **types: Any) -> ir.Model:
    """A graph in text, whose nodes say in torch's way which module they are of."""
    model = onnx_text(text, **types)
    for i, (node, path) in enumerate(zip(model.graph, modules, strict=True)):
        scopes = ["", *([path] if path else []), f"op_{i}"]
        node.metadata_props["pkg.torch.onnx.name_scopes"] = repr(scopes)
        node.name = f"node_{i}"
    return model


def names_of(model: ir.Model) -> list[str]:
    return [str(n.name) for n in nodes(model)]


# --- where a path stands ------------------------------------------------------------------------------------------------


def test_scopes_of_torch_name_nodes_and_values() -> None:
    modules = ["encoder.layer.0.query", "encoder.layer.0", "encoder.layer.0", ""]
    model = scoped("y = Neg(Relu(Abs(MatMul(x, w))))", modules, x="f32[n, 8]", w=W)
    captured = capture(model)
    wanted = ["encoder.layer.0.query/MatMul", "encoder.layer.0/Abs", "encoder.layer.0/Relu", "Neg"]
    assert names_of(captured) == wanted
    assert [n.outputs[0].name for n in captured.graph] == [*wanted[:3], "y"]
    assert not any(k.startswith("pkg.torch") for n in captured.graph for k in n.metadata_props)
    assert names_of(model) == ["node_0", "node_1", "node_2", "node_3"], "the source is not changed"


def test_a_second_call_of_a_module_has_its_path_too() -> None:
    model = scoped("y = Relu(Relu(x))", ["act", "act@1"], x="f32[2]")
    assert names_of(capture(model)) == ["act/Relu", "act/Relu_1"]


@pytest.mark.parametrize("text", ["", "[1, 2", "'encoder'", "[]", "['']", "{}", "__import__('os')"])
def test_scopes_that_are_none_leave_the_node_its_name(text: str) -> None:
    model = onnx_text("y = Relu(x)", x="f32[2]")
    model.graph[0].metadata_props["pkg.torch.onnx.name_scopes"] = text
    model.graph[0].name = "mine"
    assert names_of(capture(model)) == (["Relu"] if text == "['']" else ["mine"])


def test_the_namespace_of_other_exporters() -> None:
    model = onnx_text("y = Relu(x)", x="f32[2]")
    text = ": __main__.M/encoder: Encoder/encoder.act: torch.nn.ReLU/relu: aten.relu.default"
    model.graph[0].metadata_props["namespace"] = text
    assert names_of(capture(model)) == ["encoder.act/Relu"]


SCRIPTED = {
    "/encoder/layer.0/attention/MatMul_1": "encoder.layer.0.attention/MatMul_1",
    "/encoder/layer.0/attention/self/query/MatMul": "encoder.layer.0.attention.self.query/MatMul",
    "/layer1/layer1.0/conv1/MatMul": "layer1.0.conv1/MatMul",
    "/seq/seq.1/seq.1.0/MatMul": "seq.1.0/MatMul",
    "/MatMul_3": "MatMul_3",
    "/layer.0/dense/MatMul/MatMulAddFusion": "layer.0.dense/MatMul",
    "/layer.0/dense/MatMul_quant": "layer.0.dense/MatMul",
    "/": "MatMul",
    "//": "MatMul",
    "MatMul_7": "MatMul_7",
    "model/dense/MatMul": "model/dense/MatMul",
}


@pytest.mark.parametrize("name", SCRIPTED)
def test_names_of_the_older_exporter_are_paths(name: str) -> None:
    model = onnx_text("y = MatMul(x, w)", x="f32[n, 8]", w=W)
    model.graph[0].name = name
    assert names_of(capture(model)) == [SCRIPTED[name]]


def test_a_weight_s_name_tells_its_module() -> None:
    text = "h = MatMul(x, w); d = Add(h, b); t = Transpose(v); y = MatMul(d, t)"
    model = onnx_text(text, x="f32[n, 8]", w=W, b=W[0], v=W)
    dotted = {"w": "enc.query.weight", "b": "enc.query.bias", "v": "enc.out.weight"}
    for value in list(model.graph.initializers.values()):
        value.name = dotted[str(value.name)]
    named = ["enc.query/MatMul", "enc.query/Add", "enc.out/Transpose", "enc.out/MatMul"]
    assert names_of(capture(model)) == named
    for i, value in enumerate(list(model.graph.initializers.values())):
        value.name = f"onnx::MatMul_{i}"
    assert not any("/" in name for name in names_of(capture(model)))


# --- what merging keeps -------------------------------------------------------------------------------------------------


def test_the_common_module() -> None:
    assert common_module(["a.b.c", "a.b.d"]) == "a.b"
    assert common_module(["a.b", "a.b.d"]) == "a.b"
    assert common_module(["layer.1", "layer.10"]) == "layer"
    assert common_module(["a", "b"]) == common_module([]) == ""


def test_a_recognised_operator_lies_in_the_module_of_all_it_replaces() -> None:
    text = "d = Div(x, r); e = Erf(d); s = Add(e, one); p = Mul(x, s); y = Mul(p, half)"
    given = {"r": np.float32(2**0.5), "one": np.float32(1), "half": np.float32(0.5)}
    model = scoped(text, [f"mlp.act.{c}" for c in "abcde"], x="f32[n, 8]", **given)
    assert names_of(run_passes(capture(model))) == ["mlp.act/Gelu"]


def test_a_batch_norm_goes_into_the_convolution_s_name() -> None:
    text = "c = Conv(x, w); y = BatchNormalization(c, g, g, g, g)"
    given = {"w": RNG.standard_normal((3, 2, 1, 1)).astype(np.float32), "g": np.ones(3, np.float32)}
    model = scoped(text, ["stem.conv", "stem.bn"], x="f32[1, 2, 4, 4]", **given)
    assert names_of(run_passes(capture(model))) == ["stem.conv/Conv"]


def test_a_fused_chain_is_known_by_what_all_its_nodes_lie_in() -> None:
    text = "a = Tanh(x); b = Mul(a, x); c = Add(b, x); d = Abs(c); y = Neg(d)"
    paths = [f"block.{part}" for part in ("one", "two", "two", "three", "four")]
    program = export(scoped(text, paths, x="f32[n, 8]"))
    assert by_operator(program, "pointwise") == ["block/Tanh+Mul+Add+Abs+..."]
    apart = export(scoped("y = Neg(Tanh(x))", ["one", "two"], x="f32[n, 8]"))
    assert by_operator(apart, "pointwise") == ["two/Neg"]


def test_a_product_keeps_its_name_over_what_comes_behind_it() -> None:
    model = scoped("y = Relu(MatMul(x, w))", ["mlp.up", "mlp.act"], x="f32[n, 8]", w=W)
    assert by_operator(export(model), "matmul") == ["mlp.up/MatMul"]


def test_naming_again_changes_nothing() -> None:
    model = capture(scoped("y = Relu(Relu(Relu(x)))", ["m", "m", ""], x="f32[2]"))
    before = names_of(model)
    name_nodes(model)
    assert names_of(model) == before == ["m/Relu", "m/Relu_1", "Relu"]


def test_a_thousand_nodes_of_one_module_are_named_in_a_thousand_steps() -> None:
    count = 20_000
    x = ir.Value(name="x", shape=ir.Shape([2]), type=ir.TensorType(ir.DataType.FLOAT))
    made, last = list[ir.Node](), x
    for _ in range(count):
        node = ir.node("Abs", [last])
        node.metadata_props[MODULE] = "m"
        made.append(node)
        last = node.outputs[0]
    model = ir.Model(ir.Graph([x], [last], nodes=made, opset_imports={"": 28}), ir_version=10)
    name_nodes(model)
    assert model.graph[-1].name == f"m/Abs_{count - 1}"


def test_a_title_says_the_operator_once() -> None:
    assert title("MatMul", "a.b/MatMul_2") == "a.b/MatMul_2"
    assert title("MatMul", "a.b/dense") == "MatMul a.b/dense"
    assert title("", "outputs") == "outputs"


# --- who says it --------------------------------------------------------------------------------------------------------


def two_layers() -> ir.Model:
    text = "a = MatMul(x, v1); b = Relu(a); c = MatMul(b, v2); d = MatMul(c, v3); y = Relu(d)"
    weights = {f"v{i}": (W * i).astype(np.float32) for i in (1, 2, 3)}
    paths = ["enc.query", "enc", "enc.mix", "enc.mix", ""]
    return scoped(text, paths, x="f32[4, 8]", **weights)


def test_reports_and_rules_of_a_recipe_go_by_modules() -> None:
    done: list[QuantReport] = []
    wanted = recipe("int8", {r"^enc\.query": "skip"})
    report = Report()
    export(two_layers(), transform=transformer(wanted, None, done.append), report=report)
    assert [r.name for r in done[0].layers] == ["enc.mix/MatMul", "enc.mix/MatMul_1"]
    assert done[0].skipped == ["enc.query"]
    assert [p.node for p in report.products] == ["enc.mix/MatMul", "enc.mix/MatMul_1"]
    for pattern in (r"^v2$", "enc.mix/MatMul$"):
        rules = recipe("nf4", {pattern: "skip"})
        export(two_layers(), transform=transformer(rules, None, done.append))
        assert done[-1].skipped == ["enc.mix/MatMul"]
    with pytest.raises(QuantError, match=r"layers are enc.mix/MatMul, enc.mix/MatMul_1, enc.query"):
        export(two_layers(), transform=transformer(recipe("nf4", {"val_78": "skip"})))


def test_an_error_names_the_module() -> None:
    model = scoped("y = Relu(Det(x))", ["head.det", "head"], x="f32[4, 4]")
    with pytest.raises(LoweringError, match=r"Det 'head.det/Det'"):
        export(model)


# --- files of real exporters --------------------------------------------------------------------------------------------

PATHS = {
    "matmul": ["encoder.layer.0.query/MatMul", "encoder.layer.0.out/MatMul"],
    "attention": ["encoder.layer.0/Attention"],
    "layer_norm": ["encoder.layer.0.norm/LayerNormalization"],
    "conv": ["stem.0/Conv"],
}


def torch_module() -> tuple[Any, Any]:
    torch = pytest.importorskip("torch", reason="torch is not installed: make dev-torch")
    pytest.importorskip("onnxscript", reason="onnxscript is not installed: make dev-torch")
    nn = torch.nn

    class Layer(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.query, self.out, self.norm = nn.Linear(8, 8), nn.Linear(8, 8), nn.LayerNorm(8)

        def forward(self, x: Any) -> Any:
            q = self.query(x)
            return self.norm(self.out(torch.softmax(q @ x.transpose(-1, -2), -1) @ x) + x)

    class Encoder(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.ModuleList([Layer()])

        def forward(self, x: Any) -> Any:
            return self.layer[0](x)

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.stem = Encoder(), nn.Sequential(nn.Conv1d(5, 5, 3), nn.Sigmoid())

        def forward(self, x: Any) -> Any:
            return self.stem(self.encoder(x))

    return Model().eval(), torch.randn(2, 5, 8)


@pytest.mark.parametrize("road", ["module", "dynamo", "scripted"])
def test_every_road_from_torch_gives_the_same_paths(road: str) -> None:
    module, x = torch_module()
    if road == "module":
        program = export(module, Options(args=(x,)))
    else:
        import torch

        out = io.BytesIO()
        if road == "dynamo":
            done = torch.onnx.export(module, (x,), dynamo=True, verbose=False)
            out.write(done.model_proto.SerializeToString())
        else:
            torch.onnx.export(module, (x,), out, dynamo=False)
        program = export(onnx.load_model_from_string(out.getvalue()))
    assert {op: by_operator(program, op) for op in PATHS} == PATHS
    lines = [n.source for n in program.nodes if n.name == PATHS["matmul"][0]]
    assert road == "scripted" or all(__file__ in line for line in lines)
