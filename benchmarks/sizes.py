"""Derived and automatic dimensions: networks and architectures exported with them, run at other sizes, compared with eager.

    python benchmarks/sizes.py [--only REGEX] [--limit N] [--minutes N] [--journal FILE] [--seconds N] [--layers N] [--again]
    python benchmarks/sizes.py --report        what the journal says, by verdict

The 60 networks of roads.py, without most of their repeated blocks, and the 60 types of transformers that are used most, each twice:

    derived    32 * Dim("h") or 2 * Dim("h") + 1 for sides of a picture, 4 * Dim("s") or 2 * Dim("s") + 1 for a sequence,
               2 * Dim("b") for the batch of what has no other axis
    auto       Dim.AUTO for the same axes: torch.export may find one constant, which is said: specialized

A size that is multiple or odd is chosen by the name, so that both are met. The journal is as in sweep.py.
"""

from __future__ import annotations

import itertools
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import architectures
import roads
import torch
from apart import apart, options, sweep, tally, verdict
from sweep import compare, kind_of, ready

import pteron

WAYS: Final = ("derived", "auto")
COUNT: Final = 60
Case = tuple[torch.Tensor, ...]


def main() -> None:
    warnings.simplefilter("ignore")
    parser = options(__doc__, "build/sizes.jsonl", 120)
    parser.add_argument("--layers", type=int, default=2)
    asked = parser.parse_args()
    work = lambda n: ended(apart(lambda: one(n, asked.layers), asked.seconds))  # noqa: E731
    sweep(asked, ready, names, work, line, report)


def names() -> Iterator[str]:
    """A network and a type of transformers by turns."""
    types = itertools.islice(architectures.of_transformers(), COUNT)
    for pair in zip(roads.names(), types, strict=True):
        yield from pair


def ended(row: dict[str, Any]) -> dict[str, Any]:
    """Of one that ended before it could say."""
    if "derived" in row:
        return row
    return {**dict.fromkeys(WAYS, verdict(row["verdict"], row["text"])), "seconds": row["seconds"]}


def one(name: str, layers: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    try:
        module, cases, axes = network(name) if name[:4] in ("timm", "torc") else typed(name, layers)
        with torch.no_grad():
            wanted = [module(*case) for case in cases]
    except Exception as error:
        return dict.fromkeys(WAYS, verdict("unmade", f"{type(error).__name__}: {error}"))
    specs = {"derived": derived(cases[0], axes), "auto": [dict.fromkeys(a, AUTO) for a in axes]}
    is_one = isinstance(module, architectures.First)  # whose inputs are one parameter
    return {
        "axes": [{k: str(v) for k, v in spec.items()} for spec in specs["derived"]],
        **{w: tried(module, cases, wanted, (tuple(s),) if is_one else tuple(s), axes) for w, s in specs.items()},
    }  # fmt: skip


AUTO: Final = torch.export.Dim.AUTO


def network(name: str) -> tuple[Any, list[Case], list[dict[int, str]]]:
    """The example, another picture, and one alone; for networks of one side, other batches."""
    module, x = roads.made(name)
    module = architectures.few_repeats(module, 4)
    n = x.shape[-1]
    odd = architectures.hash_of(name) % 2
    for more in dict.fromkeys((odd, 0)):
        sides = [(n + more, n + more), (n + 32 + more, n + more), (n + more, n + 64 + more)]
        cases = [
            (torch.randn(batch, 3, *side),) for batch, side in zip((2, 3, 1), sides, strict=True)
        ]
        try:
            with torch.no_grad():
                [module(*case) for case in cases]
            return module, cases, [{0: "batch", 2: "height", 3: "width"}]
        except Exception:  # not every network takes every side
            continue
    return module, [(torch.randn(batch, 3, n, n),) for batch in (2, 4)], [{0: "batch"}]


def typed(name: str, layers: int) -> tuple[Any, list[Case], list[dict[int, str]]]:
    module, inputs, axes = architectures.build(name, layers)
    if not any(set(a.values()) - {"batch"} for a in axes):
        return module, [inputs(2, 8), inputs(4, 8)], axes
    odd = architectures.hash_of(name) % 2
    return module, [inputs(b, s + odd) for b, s in ((2, 8), (3, 12), (1, 4))], axes


def derived(case: Case, axes: list[dict[int, str]]) -> list[dict[int, Any]]:
    """Each axis by its name as an expression that the example's size fits; the batch itself where there are others."""
    kinds = {name for a in axes for name in a.values()}
    made: dict[str, Any] = {}
    for x, mine in zip(case, axes, strict=True):
        for axis, name in mine.items():
            made.setdefault(name, expression(name, int(x.shape[axis]), len(kinds) == 1))
    return [{axis: made[name] for axis, name in mine.items()} for mine in axes]


def expression(name: str, size: int, is_alone: bool) -> Any:
    dim = torch.export.Dim(name[0])
    if name == "batch":
        return 2 * dim if is_alone else torch.export.Dim("batch")
    if size % 2:
        return 2 * dim + 1
    return (32 if size % 32 == 0 else 4 if size % 4 == 0 else 2) * dim


def tried(
    module: Any, cases: list[Case], wanted: list[Any], spec: Any, axes: list[dict[int, str]]
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.pte"
        step = "export"
        try:
            pteron.export_model(module, path, args=cases[0], dynamic_shapes=spec)
            model = pteron.load(path, threads=1)
            fixed = constant(model, axes)
            if fixed:
                return verdict("specialized", ", ".join(fixed))
            for case, want in zip(cases, wanted, strict=True):
                step = f"run {[tuple(x.shape) for x in case]}"
                text = compare(model(*case), want)
                if text is not None:
                    return verdict("wrong", f"{step}: {text}")
        except pteron.PteronError as error:
            kind = "unrun" if step != "export" else kind_of(error)
            return verdict(kind, f"{step}: {error}")
        except Exception as error:
            return verdict("traceback", f"{step}: {type(error).__name__}: {error}")
    return verdict("ok")


def constant(model: Any, axes: list[dict[int, str]]) -> list[str]:
    """Axes that are dynamic in the request and constant in the program."""
    return [
        f"{port.name} axis {axis} ({name}) is {port.shape[axis]}"
        for port, mine in zip(model.inputs, axes, strict=True)
        for axis, name in mine.items()
        if isinstance(port.shape[axis], int)
    ]


def line(row: dict[str, Any]) -> str:
    ways = [f"{way} {row[way]['verdict']}" for way in WAYS]
    texts = dict.fromkeys(row[way]["text"] for way in WAYS)
    return (
        f"{row['name']}: {', '.join(ways)} {' | '.join(t for t in texts if t)} ({row['seconds']} s)"
    )


def report(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if {row[way]["verdict"] for way in WAYS} != {"ok"}:
            print(line(row))
    for way in WAYS:
        for kind in ("networks", "transformers"):
            mine = [r for r in rows if r["name"].startswith("transformers") == (kind != "networks")]
            print(f"{kind}, {way}: {len(mine)} ({tally(r[way]['verdict'] for r in mine)})")


if __name__ == "__main__":
    main()
