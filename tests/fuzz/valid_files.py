"""Valid files of each kind that a Python reader takes: what readers.py bends."""

from __future__ import annotations

import io
import json
import random
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parents[2]
DIGITS: Final = ROOT / "examples/digits/digits.onnx"


def gguf() -> Iterator[bytes]:
    def text(s: bytes) -> bytes:
        return struct.pack("<Q", len(s)) + s

    def key(name: bytes, kind: int, value: bytes) -> bytes:
        return text(name) + struct.pack("<I", kind) + value

    facts = [
        key(b"general.architecture", 8, text(b"llama")),
        key(b"llama.attention.head_count", 4, struct.pack("<I", 2)),
        key(b"llama.attention.head_count_kv", 9, struct.pack("<IQ", 4, 1) + struct.pack("<I", 2)),
        key(b"general.alignment", 4, struct.pack("<I", 32)),
        key(b"tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + text(b"a") + text(b"b")),
        key(b"deep", 9, struct.pack("<IQIQ", 9, 1, 4, 1) + struct.pack("<I", 7)),
    ]
    for kind, nbytes in (
        (0, 4 * 256 * 8),
        (1, 2 * 256 * 8),
        (2, 8 * 8 * 18),
        (8, 8 * 8 * 34),
        (12, 8 * 144),
        (14, 8 * 210),
    ):
        names = (b"blk.0.attn_q.weight", b"blk.0.attn_k.weight", b"output.weight")
        rows = b"".join(
            text(name) + struct.pack("<I2QIQ", 2, 256, 8, kind, -(-nbytes // 32) * 32 * i)
            for i, name in enumerate(names)
        )
        head = struct.pack("<4sIQQ", b"GGUF", 3, len(names), len(facts)) + b"".join(facts) + rows
        head += b"\0" * (-len(head) % 32)
        yield head + bytes(random.Random(kind).randbytes(-(-nbytes // 32) * 32 * len(names)))


def st(tensors: dict[str, tuple[str, list[int], bytes]]) -> bytes:
    head, at = dict[str, Any](), 0
    for name, (dtype, shape, data) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps({"__metadata__": {"format": "pt"}, **head}).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(t[2] for t in tensors.values())


def safetensors() -> Iterator[bytes]:
    r = random.Random(0).randbytes
    n, k = 16, 64
    f16 = np.full(n * 2, 0.01, np.float16).tobytes()
    yield st(
        {
            "a.weight": ("F32", [4, 4], r(64)),
            "b.bias": ("BF16", [8], r(16)),
            "c": ("F8_E4M3", [8], r(8)),
        }
    )
    yield st(
        {
            "fc.qweight": ("I32", [k, n // 8], r(k * n // 2)),
            "fc.qzeros": ("I32", [2, n // 8], r(n)),
            "fc.scales": ("F16", [2, n], f16),
        }
    )
    yield st({
        "fc.qweight": ("I32", [k // 8, n], r(k * n // 2)), "fc.qzeros": ("I32", [2, n // 8], r(n)), "fc.scales": ("F16", [2, n], f16),
        "fc.g_idx": ("I32", [k], np.repeat(np.arange(2, dtype=np.int32), k // 2).tobytes()),
    })  # fmt: skip
    yield st({
        "fc.weight_packed": ("I32", [n, k // 8], r(n * k // 2)), "fc.weight_scale": ("F16", [n, 2], f16),
        "fc.weight_shape": ("I64", [2], np.array([n, k]).tobytes()), "fc.weight_zero_point": ("I32", [n // 8, 2], r(n)),
    })  # fmt: skip
    yield st(
        {
            "fc.weight_packed": ("U8", [n, k // 2], r(n * k // 2)),
            "fc.weight_scale": ("F8_E4M3", [n, 4], b"8" * n * 4),
            "fc.weight_global_scale": ("F32", [1], b"\0\0\x80?"),
        }
    )
    yield st(
        {
            "fc.weight": ("I8", [n, k], r(n * k)),
            "fc.weight_scale": ("F32", [n, 1], b"\0\0\x80?" * n),
        }
    )
    yield st({"fc.weight": ("I8", [n, k], r(n * k)), "fc.SCB": ("F32", [n], b"\0\0\x80?" * n)})
    state = json.dumps(
        {
            "quant_type": "nf4",
            "blocksize": 64,
            "dtype": "float32",
            "shape": [n, k],
            "nested_blocksize": 256,
            "nested_offset": 0.1,
        }
    ).encode()
    yield st({
        "fc.weight": ("U8", [n * k // 2, 1], r(n * k // 2)), "fc.weight.absmax": ("U8", [n], r(n)), "fc.weight.quant_map": ("F32", [16], r(64)),
        "fc.weight.nested_absmax": ("F32", [1], b"\0\0\x80?"), "fc.weight.nested_quant_map": ("F32", [256], b"\0\0\x80?" * 256),
        "fc.weight.quant_state.bitsandbytes__nf4": ("U8", [len(state)], state),
    })  # fmt: skip


def npz() -> Iterator[bytes]:
    for save in (np.savez, np.savez_compressed):
        out = io.BytesIO()
        save(out, image=np.ones((4, 1, 8, 8), np.float32), ids=np.arange(6), word=np.array("word"))
        yield out.getvalue()
    out = io.BytesIO()
    np.save(out, np.ones((2, 3), np.float32))
    yield out.getvalue()


def images() -> Iterator[bytes]:
    out = io.BytesIO()
    np.savez(out, image=np.ones((4, 1, 8, 8), np.float32))
    yield out.getvalue()


def recipe() -> Iterator[bytes]:
    yield b'format: nf4\nembeddings: true\nalgorithm: gptq\nrules:\n  - match: "a.*"\n    format: int8\n  - {match: b, format: skip}\nseed: 3\n'
    yield b'{"format": "int8", "target_size": "12MB", "among": ["nf4", "int8"], "range": "mse"}'


def ranges() -> Iterator[bytes]:
    from pteron.quantize.observe.calibrate import Ranges

    ends = (np.zeros(3, np.float32), np.ones(3, np.float32))
    yield (
        Ranges(4, {"x": (0.0, 1.0), "y": (-1.0, 2.0)}, {"x": ends}, "minmax", {}).as_json().encode()
    )


def statistics() -> Iterator[bytes]:
    from pteron.quantize.observe.statistics import Moments, Record, write

    one = np.ones((1, 4), np.float32)
    out = io.BytesIO()
    write(
        out,
        [
            Record(f"r{i}", (f"layer{i}",), Moments(np.ones((1, 4, 4), np.float32), one, one, 5), 2)
            for i in range(2)
        ],
    )
    yield out.getvalue()


def profile() -> Iterator[bytes]:
    from pteron.export.tune.profile import INSTEAD_OF, VERSION

    operator, plain = next(iter(INSTEAD_OF.items()))
    row = {
        "operator": operator,
        "format": "i8_channel",
        "x": [1, 64],
        "y": [1, 64],
        "us": {plain: 2.0, operator: 1.0},
    }
    yield json.dumps(
        {"pteron_profile": VERSION, "target": {"machine": "m", "threads": 1}, "measured": [row]}
    ).encode()


def journal() -> Iterator[bytes]:
    from pteron.quantize.encode.format import Encoded
    from pteron.quantize.encode.table import FORMATS
    from pteron.quantize.report import LayerReport
    from pteron.quantize.rounding.journal import Journal
    from pteron.quantize.rounding.weight import Rounded

    report = LayerReport("l", "MatMul", "nf4", (4, 64), 4.5, 0.1, 1.0, 0.5)
    made = Rounded(
        Encoded(FORMATS["nf4"], np.ones((4, 64), np.uint8), np.ones((4, 1), np.float16)), report
    )
    with tempfile.TemporaryDirectory() as folder:
        Journal(Path(folder)).keep("key", made)
        yield (Path(folder) / "key.npz").read_bytes()


def onnx() -> Iterator[bytes]:
    from onnx import TensorProto, helper

    yield DIGITS.read_bytes()
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], name="conv"),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p"], ["f"], axis=1),
        helper.make_node("Gemm", ["f", "g"], ["y"], transB=1),
        helper.make_node("Softmax", ["y"], ["s"], axis=-1),
        helper.make_node("Reshape", ["s", "to"], ["out"]),
    ]
    made = [
        helper.make_tensor("w", TensorProto.FLOAT, [2, 1, 3, 3], [0.1] * 18),
        helper.make_tensor("g", TensorProto.FLOAT, [3, 32], [0.1] * 96),
        helper.make_tensor("to", TensorProto.INT64, [2], [3, -1]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 8, 8])
    y = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [x], [y], made)
    yield helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10
    ).SerializeToString()


def pt2() -> Iterator[bytes]:
    import torch

    out = io.BytesIO()
    program = torch.export.export(
        torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval(), (torch.ones(2, 4),)
    )
    torch.export.save(program, out)
    yield out.getvalue()


def tokenizer() -> Iterator[bytes]:
    """tokenizer.json of each model, as small as they can be."""
    added = [{"id": 9, "content": "<s>", "single_word": True, "lstrip": True, "special": True}]
    space = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    split = {
        "type": "Split",
        "pattern": {"Regex": r"(?i:'s)|[^\s\p{L}]?\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+"},
        "behavior": "Isolated",
        "invert": False,
    }
    spell = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
    around = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}],
        "special_tokens": {"<s>": {"ids": [9]}},
    }
    merges = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    pieces = [["<unk>", 0.0], ["▁", -1.5], ["a", -2.25e0], ["ab", -3.0]]
    words = {"[UNK]": 0, "a": 1, "##b": 2}
    bert = {
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    for facts in (
        {
            "normalizer": {"type": "NFC"},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, spell]},
            "model": merges,
            "decoder": {"type": "ByteLevel"},
            "post_processor": around,
        },
        {
            "normalizer": {"type": "Sequence", "normalizers": [space, {"type": "Lowercase"}]},
            "model": merges | {"unk_token": "a", "fuse_unk": True},
            "decoder": {"type": "Sequence", "decoders": [{"type": "Fuse"}, strip]},
        },
        {
            "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
            "model": {"type": "Unigram", "vocab": pieces, "unk_id": 0},
        },
        {
            "normalizer": {"type": "BertNormalizer", **bert},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {
                "type": "WordPiece",
                "vocab": words,
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
            },
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        },
    ):
        yield json.dumps({"added_tokens": added, **facts}).encode()
