"""Architectures of transformers and timm, small and with random weights: export, run, compare with eager.

    python benchmarks/sweep.py [--only REGEX] [--limit N] [--minutes N] [--journal FILE] [--seconds N] [--layers N] [--again]
    python benchmarks/sweep.py --report        what the journal says, by verdict

Each is exported twice, with fixed sizes and with dynamic batch (and sequence), and must agree with eager at the example's sizes and,
where they are dynamic, at others. Where torch.export refuses both dynamic axes, the batch alone is tried. One that takes longer than the limit is tried again with two
layers and twice the time. A line for each goes to the journal; what is there already is not run again, so a sweep that was ended goes on. Every architecture has a process of its own,
forked from one that has imported everything, and a limit of processor time.
"""

from __future__ import annotations

import importlib
import tempfile
import warnings
from pathlib import Path
from typing import Any

import architectures
import numpy as np
import torch
from apart import apart, options, sweep, tally, verdict

import pteron
from pteron.export.capture.check import differs
from pteron.export.capture.examples import array


def main() -> None:
    warnings.simplefilter("ignore")
    parser = options(__doc__, "build/sweep.jsonl", 60)
    parser.add_argument("--layers", type=int, default=6)
    asked = parser.parse_args()
    work = lambda n: deepest(n, asked.layers, asked.seconds)  # noqa: E731
    sweep(asked, ready, architectures.names, work, line, report)


def ready() -> None:
    architectures.find_networks()
    import_all()


def report(rows: list[dict[str, Any]]) -> None:
    """What does not hold, each with its reason; then counts."""
    for row in sorted(rows, key=lambda r: (r["static"]["verdict"], r["dynamic"]["verdict"])):
        if {row["static"]["verdict"], row["dynamic"]["verdict"]} != {"ok"}:
            print(line(row))
    for way in ("static", "dynamic"):
        for source in ("transformers", "timm"):
            mine = [r for r in rows if r["name"].startswith(source)]
            print(f"{source}, {way}: {len(mine)} ({tally(r[way]['verdict'] for r in mine)})")
    print(f"{sum(r['seconds'] for r in rows) / max(len(rows), 1):.1f} s of processor time each")


def line(row: dict[str, Any]) -> str:
    ways = [f"{way} {row[way]['verdict']}" for way in ("static", "dynamic")]
    texts = dict.fromkeys(row[way].get("text", "") for way in ("static", "dynamic"))
    return (
        f"{row['name']}: {', '.join(ways)} {' | '.join(t for t in texts if t)} ({row['seconds']} s)"
    )


def deepest(name: str, layers: int, seconds: int) -> dict[str, Any]:
    """The verdicts with so many layers, or with two where those take too long."""
    row = both_ways(apart(lambda: one(name, layers), seconds))
    if row["static"]["verdict"] == "slow" and layers > 2:
        layers, row = 2, both_ways(apart(lambda: one(name, 2), 2 * seconds))
    return {"layers": layers, **row}


def both_ways(row: dict[str, Any]) -> dict[str, Any]:
    """Of one that ended before it could say."""
    return (
        row if "static" in row else {**both(row["verdict"], row["text"]), "seconds": row["seconds"]}
    )


def both(kind: str, text: str) -> dict[str, Any]:
    return {way: verdict(kind, text) for way in ("static", "dynamic")}


def import_all() -> None:
    """Once, in front of all forks; one export fills the tables of torch and ours."""
    torch.set_num_threads(1)
    importlib.import_module("pteron.runtime")
    importlib.import_module("transformers.models.auto.modeling_auto")
    x = torch.randn(2, 4)
    pteron.export_model(torch.nn.Linear(4, 4), args=(x,), dynamic_shapes=({0: "batch"},))


def one(name: str, layers: int) -> dict[str, Any]:
    """Its verdicts: ok, unmade (no such small model), untraced (torch.export refuses), or what is wrong with the export."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    try:
        module, inputs, axes = architectures.build(name, layers)
        cases = [inputs(2, 8), inputs(3, 11)]
        with torch.no_grad():
            wanted = [module(*case) for case in cases]
    except Exception as error:
        return both("unmade", f"{type(error).__name__}: {error}")

    def specs(axes: Any) -> Any:
        return (tuple(axes),) if isinstance(module, architectures.First) else tuple(axes)

    dynamic = attempt(module, cases, wanted, specs(axes))
    if dynamic["verdict"] == "untraced" and any(len(a) > 1 for a in axes):
        batch = [{0: "batch"} if 0 in a else {} for a in axes]
        same = [inputs(2, 8), inputs(3, 8)]
        with torch.no_grad():
            results = [module(*case) for case in same]
        alone = attempt(module, same, results, specs(batch))
        if alone["verdict"] != "untraced":
            dynamic = {**alone, "axes": "batch alone", "refused": dynamic["text"]}
    return {"static": attempt(module, cases[:1], wanted[:1], None), "dynamic": dynamic}


def attempt(module: Any, cases: list[Any], wanted: list[Any], dynamic: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.pte"
        try:
            pteron.export_model(module, path, args=cases[0], dynamic_shapes=dynamic)
            model = pteron.load(path, threads=1)
            for i, (case, want) in enumerate(zip(cases, wanted, strict=True)):
                text = compare(model(*case), want)
                if text is not None:
                    return {"verdict": "wrong", "text": f"case {i}: {text}"}
        except pteron.PteronError as error:
            return {"verdict": kind_of(error), "text": str(error)[:600]}
        except Exception as error:
            return {"verdict": "traceback", "text": f"{type(error).__name__}: {error}"[:600]}
    return {"verdict": "ok"}


def kind_of(error: pteron.PteronError) -> str:
    text = str(error)
    if "torch.export failed" in text:
        return "untraced"
    return "differs" if "differs from the module" in text else "refused"


def compare(got: Any, want: Any) -> str | None:
    want = want if isinstance(want, tuple) else (want,)
    got = got if isinstance(got, tuple) else (got,)
    if len(got) != len(want):
        return f"expected {len(want)} results, got {len(got)}"
    texts = (differs(np.asarray(g), array(torch, w)) for g, w in zip(got, want, strict=True))
    return next((text for text in texts if text is not None), None)


if __name__ == "__main__":
    main()
