"""What the demo has in its assets, and what the desk computes from it: python android_demo/models.py FOLDER

make android-models
"""

import hashlib
import importlib.util
import sys
from pathlib import Path

import numpy as np

import pteron

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "How was the lamp lit before electricity?"


def digest(*outputs: np.ndarray) -> str:
    """As Measured.java."""
    return hashlib.sha256(b"".join(o.tobytes() for o in outputs)).hexdigest()[:16]


def digits(folder: Path) -> list[str]:
    """The classifier in three arithmetics, the last for a DSP that most phones will not lend."""
    source = ROOT / "examples/digits/digits.onnx"
    images = (np.load(ROOT / "examples/digits/test.npz")["image"] / 16).astype(np.float32)
    (folder / "image.f32").write_bytes(images[0].tobytes())
    static = {"quantize": "int8", "calibrate": {"image": images}, "fix": {"batch": 1}}
    ways = {
        "digits": {"hints": {"batch": 1}},
        "digits-int8": static,
        "digits-dsp": {**static, "delegates": "hexagon,cpu", "placement": "allow"},
    }
    rows = []
    for name, options in ways.items():
        pteron.export_model(source, folder / f"{name}.pte", **options)
        with pteron.load(folder / f"{name}.pte", delegates=()) as model:
            rows.append(f"{name}\t{digest(model(images[:1]))}")
    return rows


def search(folder: Path) -> list[str]:
    """MiniLM in NF4, its tokens, the page and its vectors."""
    spec = importlib.util.spec_from_file_location("search", ROOT / "examples/search/search.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    torch, weights = example.torch, example.get_model_path()
    tokenizer = example.AutoTokenizer.from_pretrained(weights)
    module = example.Embed(example.AutoModel.from_pretrained(weights)).eval()
    lines = (ROOT / "examples/search/page.txt").read_text().splitlines()
    tokens = tokenizer(lines[:2], padding=True, return_tensors="pt")
    axes = {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("seq", min=2, max=512)}
    pteron.export_model(
        module,
        folder / "minilm.pte",
        args=(tokens["input_ids"], tokens["attention_mask"]),
        dynamic_shapes=({**axes}, {**axes}),
        quantize="nf4",
    )
    table = sorted(tokenizer.get_vocab().items(), key=lambda row: row[1])
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token, _ in table))
    (folder / "page.txt").write_text("".join(f"{line}\n" for line in lines))
    with pteron.load(folder / "minilm.pte") as model:
        vectors = [model(*one(tokenizer, line)) for line in [*lines, QUESTION]]
    (folder / "page.f32").write_bytes(np.concatenate(vectors[:-1]).astype("<f4").tobytes())
    return [f"minilm\t{digest(vectors[-1])}\t{QUESTION}"]


def one(tokenizer, text: str) -> tuple[np.ndarray, np.ndarray]:
    tokens = tokenizer([text], return_tensors="np")
    return tokens["input_ids"].astype(np.int64), tokens["attention_mask"].astype(np.int64)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "android_demo/app/src/main/assets"
    folder.mkdir(parents=True, exist_ok=True)
    rows = digits(folder) + search(folder)
    (folder / "desk.txt").write_text("".join(f"{row}\n" for row in rows))
    for path in sorted(folder.iterdir()):
        print(f"{path.stat().st_size:9d}  {path.name}")


if __name__ == "__main__":
    main()
