"""Text on 64-bit Arm, under an emulator: the tokens, logits and saved sessions of this machine, which goes on from those of Arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arm import cross
from boards import sdk
from models.decoder import VOCABULARY, decoder

import pteron
from pteron.runtime.tokens import Sampler

pytestmark = pytest.mark.slow

PROMPT, COUNT = [3, 1, 4, 1, 5, 9, 2, 6, 5, 35, 8, 9, 7, 9, 3, 23, 8], 24
DRAWN = {"seed": 7, "top_k": 40, "top_p": 0.95}


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, out = sdk.unpacked(sdk.ARM64), tmp_path_factory.mktemp("driver") / "generate"
    source = Path(__file__).with_name("generate.c")
    flags = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{folder}/include")
    sdk.sh(sdk.ARM64.cc, *flags, source, folder / "lib/libpteron.a", "-lm", "-lpthread", "-o", out)
    return out


def here(session: Any, temperature: float) -> tuple[list[int], bytes, bytes]:
    """Tokens, logits, and the session after half of them."""
    sampler = Sampler(pteron.Sampling(temperature=temperature, **DRAWN))
    feed, tokens, logits, saved = list(PROMPT), list[int](), b"", b""
    for i in range(COUNT):
        row = session.run({"input_ids": np.array([feed])})["logits"]
        logits += row.tobytes()
        tokens.append(sampler(row[0, -1], session.position))
        saved = session.save() if i == COUNT // 2 else saved
        feed = tokens[-1:]
    return tokens, logits, saved


@pytest.mark.parametrize("cpu", cross.CPUS)
@pytest.mark.parametrize(
    "quantize, cache, room, temperature",
    [
        (None, "f32", 64, 0.0),
        ("nf4", "f16", 64, 0.9),
        ("int8", "f32", 63, 0.9),
        ("nf4", "f8", 64, 0.9),
        ("nf4", "int8", 64, 0.9),
    ],
)
def test_the_same_text(
    quantize: str | None, cache: str, room: int, temperature: float, cpu: str, driver: Path, tmp_path: Path
) -> None:  # fmt: skip
    program = tmp_path / "m.pte"
    pteron.export_model(
        decoder(window=5), program, max_context=room, quantize=quantize, cache=cache
    )
    model = pteron.load(program, threads=1)
    tokens, logits, saved = here(model.session_of_calls, temperature)
    for threads, portable in ((1, 0), (2, 0), (2, 1)):
        words = (program, tmp_path / "logits", tmp_path / "saved", VOCABULARY, temperature)
        words += (COUNT, threads, portable, *PROMPT)
        said = sdk.sh(*sdk.ARM64.command(cpu), driver, *map(str, words))
        assert [int(x) for x in said.split()] == tokens
        assert (tmp_path / "logits").read_bytes() == logits
        assert (tmp_path / "saved").read_bytes() == saved
    other = model.session()
    other.restore((tmp_path / "saved").read_bytes())
    made = pteron.Sampling(temperature=temperature, **DRAWN)
    rest = pteron.generate(
        other, tokens[COUNT // 2 : COUNT // 2 + 1], sampling=made, max_new_tokens=5
    )
    assert list(rest) == tokens[COUNT // 2 + 1 : COUNT // 2 + 6]
