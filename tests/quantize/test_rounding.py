"""Scale search and GPTQ: never worse by what they minimise, whatever the format, and what GPTQ leaves is a local optimum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from encoders import ENCODERS
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import pteron
from pteron.cli import main
from pteron.export.capture.onnx import capture_onnx
from pteron.quantize.encode import blocks, elements
from pteron.quantize.encode.format import BlockFormat
from pteron.quantize.encode.table import FORMATS
from pteron.quantize.observe import statistics
from pteron.quantize.observe.layer_inputs import reading, rows
from pteron.quantize.observe.samples import samples
from pteron.quantize.recipe.layers import layers
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.report import QuantReport
from pteron.quantize.rounding.gptq import DAMP, _rescaled, gptq
from pteron.quantize.rounding.scale_search import search
from pteron.recording import record
from pteron.schema.errors import QuantError, RecipeError

EACH = pytest.mark.parametrize("fmt", ENCODERS, ids=lambda f: f.name)


def inputs(k: int, rows: int = 600) -> np.ndarray:
    """Rows that are correlated and of unlike magnitudes, like activations."""
    rng = np.random.default_rng(5)
    mixed = rng.standard_normal((rows, k // 2)) @ rng.standard_normal((k // 2, k))
    spread = np.exp2(rng.uniform(-3, 3, k))
    return ((mixed + 0.3 * rng.standard_normal((rows, k))) * spread).astype(np.float32)


def weight(n: int = 48, k: int = 128) -> np.ndarray:
    rng = np.random.default_rng(6)
    return (rng.standard_normal((n, k)) * np.exp2(rng.uniform(-6, 2, (n, 1)))).astype(np.float32)


def squares(x: np.ndarray) -> float:
    return float(np.square(x, dtype=np.float64).sum())


@EACH
def test_search_is_never_worse_than_nearest_for_any_block(fmt: BlockFormat) -> None:
    w = weight()
    errors = [
        np.square(blocks.decode(made) - w, dtype=np.float64).reshape(len(w), -1, fmt.block or 128).sum(-1)
        for made in (search(w, fmt), blocks.encode(w, fmt))
    ]  # fmt: skip
    assert np.all(errors[0] <= errors[1] * (1 + 1e-6))
    less = {2: 0.99, 3: 0.99, 4: 0.99, 6: 0.999, 8: 1 + 1e-6}[fmt.element.bits]
    assert errors[0].sum() < errors[1].sum() * less


@EACH
def test_search_weighs_columns(fmt: BlockFormat) -> None:
    w, x = weight(), inputs(128)
    heavy = np.square(x).mean(0, dtype=np.float64).astype(np.float32)[None]
    costs = [
        float((np.square(blocks.decode(made) - w, dtype=np.float64) * heavy).sum())
        for made in (search(w, fmt, heavy), search(w, fmt), blocks.encode(w, fmt))
    ]
    assert costs[0] <= costs[1] * (1 + 1e-6) and costs[0] <= costs[2] * (1 + 1e-6)


@EACH
def test_gptq_leaves_less_at_the_output_than_a_weighted_search(fmt: BlockFormat) -> None:
    w, x = weight(), inputs(128)
    second = (x.T @ x / len(x))[None]
    diagonal = np.diagonal(second, axis1=1, axis2=2)
    by_gptq, by_search = (
        squares(x @ (blocks.decode(made) - w).T)
        for made in (gptq(w, fmt, second), search(w, fmt, diagonal))
    )
    assert by_gptq < 0.7 * by_search


def test_no_other_code_of_one_weight_is_better_after_gptq() -> None:
    """A sweep ends where every code is the nearest to its best number, given the others: tried by taking each code's neighbours."""
    fmt, w, x = FORMATS["mxfp4"], weight(2, 64), inputs(64)
    h = (x.T @ x / len(x)).astype(np.float64)
    made = gptq(w, fmt, h[None].astype(np.float32), sweeps=60)
    h[np.diag_indices_from(h)] += DAMP * np.diagonal(h).mean()
    steps = np.repeat(blocks.steps(made), 32, axis=1)
    values = elements.values(fmt.element)
    now = values[made.codes] * steps - w

    def cost(miss: np.ndarray) -> float:
        return float(np.einsum("ni,ij,nj->", miss, h, miss))

    least = cost(now.astype(np.float64))
    for i, j in np.ndindex(*w.shape):
        for value in values:
            other = now.astype(np.float64)
            other[i, j] = value * steps[i, j] - w[i, j]
            assert cost(other) >= least * (1 - 1e-5)


@pytest.mark.parametrize("name", ["nf4", "int4"])
def test_scales_follow_each_other(name: str) -> None:
    """The scale of a block is the best one beside those that were just chosen: less is left than before where inputs of all blocks
    say nearly the same, and each block would take back what the ones before it have mended."""
    fmt, rng = FORMATS[name], np.random.default_rng(21)
    w, x = weight(6, 512)[None], np.ones((64, 512)) + 0.05 * rng.standard_normal((64, 512))
    h, begun = (x.T @ x / len(x)).astype(np.float32)[None], blocks.encode(w[0], fmt)
    codes, before = begun.codes.reshape(w.shape), blocks.steps(begun).reshape(1, 6, -1)
    zero = None if begun.zero is None else begun.zero.reshape(before.shape)

    def left(steps: np.ndarray) -> float:
        zeros = None if zero is None else np.repeat(zero, fmt.block, axis=2)
        miss = w - elements.decode(codes, fmt.element, zeros) * np.repeat(steps, fmt.block, axis=2)
        return float(np.einsum("gni,gij,gnj->", miss.astype(np.float64), h, miss))

    assert left(_rescaled(w, codes, before, zero, begun, h)) < 0.5 * left(before)


@EACH
def test_groups_have_their_own_moments(fmt: BlockFormat) -> None:
    w, x = weight(8, 64), inputs(64)
    turned = np.ascontiguousarray(x[:, ::-1])
    seconds = [(v.T @ v / len(v)).astype(np.float32) for v in (x, turned)]
    together = gptq(w, fmt, np.stack(seconds))
    for half, second in zip((slice(0, 4), slice(4, 8)), seconds, strict=True):
        alone = gptq(w[half], fmt, second[None])
        np.testing.assert_array_equal(together.codes[half], alone.codes)
        np.testing.assert_array_equal(together.scale[half], alone.scale)


def test_moments_that_are_no_moments() -> None:
    """Off by more than the damping they still round; infinite ones are refused."""
    w = np.random.default_rng(0).standard_normal((4, 64)).astype(np.float32)
    second = np.full((1, 64, 64), 1e6, np.float32)
    second[0] -= 3e4 * np.eye(64, dtype=np.float32)
    assert np.linalg.eigvalsh(second[0]).min() < -DAMP * 1e6
    error = blocks.decode(gptq(w, FORMATS["nf4"], second)) - w
    assert np.abs(error.sum(1)).max() < 0.1
    with pytest.raises(QuantError, match="finite second moments"):
        gptq(w, FORMATS["nf4"], np.full((1, 64, 64), np.inf, np.float32))


def test_inputs_that_were_all_zero_change_nothing_for_others() -> None:
    """Columns without input are rounded as if they stood alone."""
    fmt, w, x = FORMATS["int8"], weight(4, 32), inputs(32)
    x[:, 7] = 0
    second = (x.T @ x / len(x))[None]
    made = gptq(w, fmt, second)
    assert np.isfinite(blocks.decode(made)).all()
    assert np.abs(blocks.decode(made) - w)[:, 7].max() <= np.abs(w).max() / 127
    none = gptq(w, fmt, np.zeros_like(second))
    assert np.isfinite(blocks.decode(none)).all()


# --- statistics -----------------------------------------------------------------------------------------------------------


def network(**conv: object) -> bytes:
    """A convolution in two groups and a product, with weights c and w."""
    rng = np.random.default_rng(0)
    c = rng.standard_normal((6, 2, 3, 2)).astype(np.float32)
    w = rng.standard_normal((6, 5)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "c"], ["h"], group=2, **conv),
        helper.make_node("Transpose", ["h"], ["t"], perm=[0, 2, 3, 1]),
        helper.make_node("MatMul", ["t", "w"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4, 9, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    held = [numpy_helper.from_array(a, name) for a, name in ((c, "c"), (w, "w"))]
    graph = helper.make_graph(nodes, "g", [x], [y], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return bytes(model.SerializeToString())


GEOMETRIES = [
    {},
    {"pads": [1, 0, 2, 1]},
    {"strides": [2, 3], "dilations": [2, 1]},
    {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
    {"auto_pad": "SAME_LOWER", "dilations": [1, 2]},
]


@pytest.mark.parametrize("conv", GEOMETRIES, ids=str)
def test_a_layer_is_the_product_of_its_rows_and_its_matrix(conv: dict[str, object]) -> None:
    model = capture_onnx(network(**conv), opset=21)
    x = np.random.default_rng(1).standard_normal((2, 4, 9, 8)).astype(np.float32)
    proto = __import__("onnx").load_from_string(network(**conv))
    want = dict(zip("yh", ReferenceEvaluator(proto).run(["y", "h"], {"x": x}), strict=True))
    given = {"x": x, "t": want["h"].transpose(0, 2, 3, 1)}
    for layer, out in zip(layers(model), ("h", "y"), strict=True):
        how = reading(layer, model.graph)
        assert how is not None
        value = layer.node.inputs[layer.slot]
        assert value is not None and value.const_value is not None
        matrix = layer.matrix(value.const_value.numpy())
        read = rows(how, given[how.value])
        cut = matrix.reshape(how.groups, -1, matrix.shape[1])
        made = np.concatenate([r @ m.T for r, m in zip(read, cut, strict=True)], axis=1)
        n = want[out].shape[1] if out == "h" else want[out].shape[-1]
        flat = (
            np.moveaxis(want[out], 1, -1).reshape(-1, n) if out == "h" else want[out].reshape(-1, n)
        )
        np.testing.assert_allclose(made, flat, rtol=1e-4, atol=1e-4)


def test_a_file_of_statistics_gives_what_was_collected_in_one_pass_or_several(
    tmp_path: Path,
) -> None:
    model = capture_onnx(network(), opset=21)
    x = np.random.default_rng(2).standard_normal((5, 4, 9, 8)).astype(np.float32)
    given = samples(model, {"x": x}, 4)
    found = layers(model)
    once = statistics.spilled(statistics.collect(model, found, given, record, 1 << 30))
    several = tmp_path / "s.npz"
    statistics.write(several, statistics.collect(model, found, given, record, 1))
    again = statistics.load(several)
    assert (once.samples, again.samples) == (4, 4)
    for layer in found:
        a, b = once.of(layer, *layer.extents), again.of(layer, *layer.extents)
        assert a is not None and b is not None
        np.testing.assert_array_equal(a.second, b.second)
        np.testing.assert_array_equal(a.absmax, b.absmax)
        assert a.rows == b.rows
    how = reading(found[0], model.graph)
    assert how is not None
    each = rows(how, x[:4]).astype(np.float64)
    want = each.swapaxes(1, 2) @ each / each.shape[1]
    np.testing.assert_allclose(once.of(found[0], 6, 12).second, want, rtol=1e-4, atol=1e-5)  # type: ignore[union-attr]
    np.testing.assert_array_equal(once.of(found[0], 6, 12).absmax, np.abs(each).max(1))  # type: ignore[union-attr]


def test_statistics_of_another_model_are_refused(tmp_path: Path) -> None:
    model = capture_onnx(network(), opset=21)
    x = np.ones((1, 4, 9, 8), np.float32)
    path = tmp_path / "s.npz"
    found = layers(model)
    statistics.write(path, statistics.collect(model, found, samples(model, {"x": x}, 1), record, 1))
    with pytest.raises(RecipeError, match="are of another model: calibrate again"):
        statistics.load(path).of(found[0], 6, 13)
    whole = path.read_bytes()
    for cut in (
        b"",
        whole[:100],
        whole[:-30],
        whole.replace(b"pteron.statistics", b"pteron.statisticz"),
    ):
        path.write_bytes(cut)
        with pytest.raises(RecipeError, match="got another file, or a damaged one"):
            statistics.load(path).of(found[0], 6, 12)


def test_samples_that_can_be_read_once_are_enough_for_several_passes() -> None:
    model = capture_onnx(network(), opset=21)
    one = {"x": np.ones((1, 4, 9, 8), np.float32)}
    again = list(statistics.collect(model, layers(model), [one], record, 1 << 30))
    made = list(statistics.collect(model, layers(model), iter([one]), record, 1))
    assert [m.layers for m in made] == [m.layers for m in again]
    for a, b in zip(made, again, strict=True):
        np.testing.assert_array_equal(a.moments.second, b.moments.second)


# --- the command ----------------------------------------------------------------------------------------------------------


def quantized(*words: object) -> None:
    assert main(["quantize", *map(str, words), "-q"]) == 0


def test_one_calibration_serves_every_format(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = root / "examples/digits/digits.onnx"
    given = ("--calibrate", root / "examples/digits/calibration.npz")
    kept = ("--statistics", tmp_path / "s.npz")
    quantized(model, "-o", tmp_path / "a.onnx", "--format", "nf4", *given, *kept)
    quantized(model, "-o", tmp_path / "b.onnx", "--format", "nf4", *kept)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    for name in FORMATS:
        quantized(model, "-o", tmp_path / "c.onnx", "--format", name, *kept)
    capsys.readouterr()


def test_a_folder_holds_samples_of_unlike_sizes(root: Path, tmp_path: Path) -> None:
    images = np.load(root / "examples/digits/calibration.npz")
    name = images.files[0]
    folder = tmp_path / "samples"
    folder.mkdir()
    for i, part in enumerate(np.array_split(images[name][:40], 3)):
        np.savez(folder / f"{i}.npz", **{name: part})
    np.savez(tmp_path / "one.npz", **{name: images[name][:40]})
    for out, given in (("a", folder), ("b", tmp_path / "one.npz")):
        words = ("--format", "int4", "--calibrate", given)
        quantized(root / "examples/digits/digits.onnx", "-o", tmp_path / f"{out}.onnx", *words)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


@pytest.mark.parametrize("algorithm", ["nearest", "search", "gptq"])
def test_a_program_is_the_written_model(algorithm: str, root: Path, tmp_path: Path) -> None:
    """Both ways round to the same codes, and the report says by what."""
    source = root / "examples/digits/digits.onnx"
    given = np.load(root / "examples/digits/calibration.npz")
    arrays = {name: given[name] for name in given.files}
    done: list[QuantReport] = []
    wanted = recipe("mxfp4", algorithm=algorithm)
    pteron.export_model(
        source, tmp_path / "a.pte", quantize=wanted, calibrate=arrays, quantized=done.append, activations="float"
    )  # fmt: skip
    assert {r.algorithm for r in done[0].layers} == {algorithm}
    assert all(r.output is not None and 0 < r.output < 0.2 for r in done[0].layers)
    words = ("--format", "mxfp4", "--algorithm", algorithm, "--calibrate")
    quantized(source, "-o", tmp_path / "q.onnx", *words, root / "examples/digits/calibration.npz")
    images = (np.load(root / "examples/digits/test.npz")["image"][:20] / 16).astype(np.float32)
    want = ReferenceEvaluator(str(tmp_path / "q.onnx")).run(None, {"image": images})[0]
    got = pteron.load(tmp_path / "a.pte", threads=1)(images)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())
