"""Trains the digit classifier of the demo: python train.py (needs torch, onnxscript and scikit-learn).

Writes digits.onnx, test.npz (the 360 images held out, with labels) and calibration.npz (64 images of the training set, as
`pteron quantize --calibrate` reads them) beside itself. Data: the 8x8 digits that ship
with scikit-learn (Alpaydin and Kaynak 1998, UCI). Same versions, same bytes.
"""

from pathlib import Path

import numpy as np
import onnx
import torch
from sklearn.datasets import load_digits
from torch import nn

HERE = Path(__file__).parent


class Digits(nn.Module):
    """Images [n, 1, 8, 8] with values 0 to 1 -> logits [n, 10]: two convolutions with a shortcut, a third, a mean."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16))
        self.second = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16))
        self.third = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32))
        self.head = nn.Linear(32, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = self.first(image).relu()
        x = (self.second(x) + x).relu()
        x = self.third(nn.functional.max_pool2d(x, 2)).relu()
        return self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    images = torch.from_numpy((data.images[order] / 16).astype(np.float32))[:, None]
    labels = torch.from_numpy(data.target[order])
    model = Digits()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3, weight_decay=1e-2)
    epochs, batch, count = 60, 64, 1437
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 3e-3, epochs=epochs, steps_per_epoch=-(-count // batch)
    )
    for _ in range(epochs):
        for rows in torch.randperm(count).split(batch):
            shift = torch.randint(-1, 2, (2,)).tolist()
            x = images[rows].roll(shift, (2, 3))
            loss = nn.functional.cross_entropy(model(x), labels[rows], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    model.eval()
    with torch.no_grad():
        right = (model(images[count:]).argmax(1) == labels[count:]).float().mean()
    print(
        f"{sum(p.numel() for p in model.parameters())} parameters, accuracy {right:.4f} on {len(labels) - count}"
    )
    program = torch.onnx.export(
        model,
        (images[:2],),
        input_names=["image"],
        output_names=["logits"],
        dynamic_shapes={"image": {0: torch.export.Dim("batch")}},
        opset_version=20,
        dynamo=True,
        optimize=True,
        external_data=False,
        verbose=False,
    )
    proto = program.model_proto
    for owner in (proto, proto.graph, *proto.graph.node, *proto.graph.value_info):
        del owner.metadata_props[:]  # paths of the machine that trained it
    onnx.save(proto, HERE / "digits.onnx")
    np.savez_compressed(HERE / "calibration.npz", image=images[:64].numpy())
    np.savez_compressed(
        HERE / "test.npz",
        image=(images[count:].numpy() * 16).astype(np.uint8),
        label=labels[count:].numpy().astype(np.uint8),
    )


if __name__ == "__main__":
    main()
