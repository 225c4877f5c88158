"""A small BERT in PyTorch, written as the exporters' patterns expect it: two layers of 32, four heads."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.heads = heads

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, hidden = x.shape

        def apart(t: Tensor) -> Tensor:
            return t.view(batch, length, self.heads, hidden // self.heads).permute(0, 2, 1, 3)

        q, k, v = apart(self.query(x)), apart(self.key(x)), apart(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / (hidden // self.heads) ** 0.5
        y = torch.matmul(torch.softmax(scores + mask, -1), v)
        return y.permute(0, 2, 1, 3).reshape(batch, length, hidden)


class Layer(nn.Module):
    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.attention, self.out = SelfAttention(hidden, heads), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 2 * hidden), nn.Linear(2 * hidden, hidden)
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.norm1(self.out(self.attention(x, mask)) + x)
        return self.norm2(self.down(nn.functional.gelu(self.up(x))) + x)


class Bert(nn.Module):
    def __init__(self, hidden: int = 32, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(50, hidden), nn.Embedding(16, hidden)
        self.kinds, self.norm = nn.Embedding(2, hidden), nn.LayerNorm(hidden)
        self.layer = nn.ModuleList([Layer(hidden, heads) for _ in range(layers)])

    def forward(self, ids: Tensor, kinds: Tensor, mask: Tensor) -> Tensor:
        far = (1.0 - mask[:, None, None, :].float()) * -10000.0
        at = torch.arange(ids.shape[1])[None, :]
        x = self.norm(self.words(ids) + self.places(at) + self.kinds(kinds))
        for layer in self.layer:
            x = layer(x, far)
        return x
