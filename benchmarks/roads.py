"""Networks of torchvision and timm on both roads: the module itself, and the file that torch.onnx.export writes of it.

    python benchmarks/roads.py [--only REGEX] [--limit N] [--minutes N] [--journal FILE] [--seconds N] [--again]
    python benchmarks/roads.py --report        what the journal says, as a table

Each network, of random weights and a small picture, is exported in f32 and in static int8 from either. The roads are compared by nodes
after the passes, layers quantized of how many there are, and bytes of the program without names. A line for each goes to the
journal; what is there already is not run again, so a run that was ended goes on. Every network has a process of its own.
Weights keep their names, which the roads give otherwise: where those cross a page, the files differ by 16,384 bytes and in nothing else.
"""

from __future__ import annotations

import collections
import tempfile
import warnings
from pathlib import Path
from typing import Any, Final

import architectures
import numpy as np
import torch
from apart import apart, options, sweep, tally, verdict

import pteron
from pteron.quantize.recipe.rules import recipe

VISION: Final = """
alexnet convnext_tiny densenet121 efficientnet_b0 efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet0_5 mobilenet_v2
mobilenet_v3_large mobilenet_v3_small regnet_x_400mf regnet_y_400mf resnet18 resnet34 resnet50 resnext50_32x4d
shufflenet_v2_x0_5 squeezenet1_1 swin_t swin_v2_t vgg11 vgg11_bn vit_b_16 wide_resnet50_2
"""
"""Of torchvision,"""
TIMM: Final = """
resnet10t resnet26d resnetv2_50 seresnet18 ecaresnet26t skresnet18 res2net50_14w_8s cspresnet50 darknet53 dla34 dpn48b ese_vovnet19b_dw
ghostnet_050 hardcorenas_a hrnet_w18_small lcnet_050 mixnet_s mobilenetv3_small_050 mobilenetv4_conv_small mobilevit_xxs
mobileone_s0 nf_resnet26 nfnet_f0 pvt_v2_b0 repghostnet_050 repvgg_a0 regnety_002 rexnet_100 selecsls42 tinynet_e
tf_efficientnet_lite0 xception41 edgenext_xx_small convnextv2_atto
"""
"""and of timm: 60 in all."""
SIDE: Final = {"inception_v3": 96, "maxvit_t": 224, "vit_b_16": 224, "mobilevit_xxs": 64}
SAMPLES: Final = 2
RECIPE: Final = recipe("int8", {}, algorithm="nearest")  # which layers, not how well


def main() -> None:
    warnings.simplefilter("ignore")
    asked = options(__doc__, "build/roads.jsonl", 600).parse_args()
    work = lambda n: apart(lambda: compared(n), asked.seconds)  # noqa: E731
    torch.set_num_threads(1)
    sweep(asked, architectures.find_networks, names, work, line, table)


def names() -> list[str]:
    """torchvision/NAME and timm/NAME by turns."""
    a, b = [f"torchvision/{n}" for n in VISION.split()], [f"timm/{n}" for n in TIMM.split()]
    return [*(n for pair in zip(a, b, strict=False) for n in pair), *a[len(b) :], *b[len(a) :]]


def made(name: str) -> tuple[Any, Any]:
    """The network, its running statistics as after training, and a picture."""
    torch.manual_seed(0)
    source, _, kind = name.partition("/")
    if source == "timm":
        import timm  # pyright: ignore[reportMissingImports]

        net = timm.create_model(kind, pretrained=False, num_classes=10)
    else:
        import torchvision  # pyright: ignore[reportMissingImports]

        more = (
            {"aux_logits": False, "init_weights": False}
            if kind in ("googlenet", "inception_v3")
            else {}
        )
        net = getattr(torchvision.models, kind)(weights=None, **more)
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d) and m.running_mean is not None:
            m.running_mean.normal_(0, 0.1)
            m.running_var.uniform_(0.5, 2)
    side = SIDE.get(kind, 64)
    return net.eval().requires_grad_(False), torch.randn(1, 3, side, side)


def compared(name: str) -> dict[str, Any]:
    """Both roads side by side; the verdict is same, or what differs."""
    warnings.simplefilter("ignore")
    net, x = made(name)
    samples = np.random.default_rng(0).standard_normal((SAMPLES, *x.shape[1:]), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "net.onnx"
        torch.onnx.export(net, (x,), file, input_names=["x"], dynamo=True, verbose=False)
        rows = {
            "module": road(net, samples, Path(folder) / "a.pte", args=(x,)),
            "onnx": road(file, samples, Path(folder) / "b.pte"),
        }
    differ = [key for key in rows["module"] if rows["module"][key] != rows["onnx"][key]]
    return {**verdict("differs" if differ else "same", ", ".join(differ)), **rows}


def road(source: Any, samples: Any, out: Path, **more: Any) -> dict[str, Any]:
    """Nodes, layers and bytes of one road in f32 and in static int8."""
    plain = pteron.export_model(source, out, strip=True, check=False, **more)
    (port,) = pteron.load(out).inputs
    report = pteron.export_model(
        source,
        out,
        strip=True,
        check=False,
        quantize=RECIPE,
        calibrate={port.name: samples},
        **more,
    )
    (covered,) = report.coverage
    return {
        "nodes": plain.methods[0].nodes_out,
        "operators": dict(sorted(plain.methods[0].operators.items())),
        "bytes": plain.file_bytes,
        "layers": [covered["layers"], covered["of"]],
        "why": covered["reasons"],
        "int8 bytes": report.file_bytes,
    }


def line(row: dict[str, Any]) -> str:
    """nodes, bytes in f32 and int8, layers; where the roads differ module / onnx."""
    parts = [f"{row['name']:34s} {row['verdict']}"]
    if "module" in row:
        a, b = row["module"], row["onnx"]
        for key in ("nodes", "bytes", "int8 bytes"):
            parts.append(f"{key} {a[key]:,}" + ("" if a[key] == b[key] else f" / {b[key]:,}"))
        both = [f"{n} of {of}" for n, of in (a["layers"], b["layers"])]
        parts.append("layers " + " / ".join(dict.fromkeys(both)))
        if a["operators"] != b["operators"]:
            left, right = (collections.Counter(r["operators"]) for r in (a, b))
            parts.append(f"module alone {dict(left - right)}, file alone {dict(right - left)}")
        parts += [f"{count} because {why}" for why, count in a["why"].items()]
    else:
        parts.append(row.get("text", ""))
    return "; ".join(parts) + f" ({row['seconds']} s)"


def table(rows: list[dict[str, Any]]) -> None:
    for row in sorted(rows, key=lambda r: (r["verdict"], r["name"])):
        print(line(row))
    print(f"{len(rows)} networks: {tally(row['verdict'] for row in rows)}")


if __name__ == "__main__":
    main()
