"""PyTorch's own table of operators with its own samples: export, run, compare with eager.

    python benchmarks/operators.py [--dtype float32] [--only REGEX] [--samples N] [--minutes N] [--journal FILE] [--seconds N] [--again]
    python benchmarks/operators.py --report        what the journals say, by verdict

The table is torch.testing's op_db (it wants `pip install expecttest`). A sample's tensors are inputs, all else of it is fixed. A program is
made from one draw of a sample's values, its check on them off, and must agree with eager on that draw and on another: what a user who
exports without a check would get. What differs is exported again with the check: `differs` where that refuses it, `wrong` where it does not.
A line for each operator goes to the journal; what is there already is not run again.
"""

from __future__ import annotations

import argparse
import collections
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from apart import apart, each, options, read, verdict
from sweep import compare, kind_of
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

import pteron
from pteron.export.capture.examples import array
from pteron.export.capture.pairs import as_pairs

UNWRITTEN = (
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
)
"""Their memory holds what it held: eager itself differs, or is the same by chance."""
GOOD = ("ok", "untraced", "random", "none")
"""`untraced`: torch.export refuses; `random`: eager itself differs, or may, or the refusal says so; `none`: no sample that gives tensors, or a sparse one."""
WORST = ("killed", "traceback", "wrong", "slow", "differs", "refused", *GOOD)


def main() -> None:
    warnings.simplefilter("ignore")
    asked = parsed()
    if asked.report:
        for journal in sorted(Path("build").glob("operators-*.jsonl")):
            report(journal.stem, read(journal))
        return
    torch.set_num_threads(1)
    pteron.export_model(torch.nn.Linear(4, 4), args=(torch.randn(2, 4),))  # fills all tables once
    dtype = getattr(torch, asked.dtype)
    table = {name_of(op): op for op in op_db if dtype in op.supported_dtypes("cpu")}

    def work(name: str) -> dict[str, Any]:
        return apart(lambda: one(table[name], dtype, asked.samples), asked.seconds)

    report(Path(asked.journal).stem, each(table, work, line, asked))


def parsed() -> argparse.Namespace:
    parser = options(__doc__, "", 60)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument(
        "--samples", type=int, default=4, help="of each operator, spread over its list"
    )
    asked = parser.parse_args()
    asked.journal = asked.journal or f"build/operators-{asked.dtype}.jsonl"
    return asked


def line(row: dict[str, Any]) -> str:
    return f"{row['name']}: {row['verdict']} {row['text']}"


def report(title: str, rows: list[dict[str, Any]]) -> None:
    for row in sorted(rows, key=lambda r: (WORST.index(r["verdict"]), r["name"])):
        if row["verdict"] not in GOOD:
            print(line(row))
    count = collections.Counter(r["verdict"] for r in rows)
    print(f"{title}: {len(rows)} ({', '.join(f'{n} {v}' for v, n in count.most_common())})")


def of_eigh(result: Any, *sample: Any, **kwargs: Any) -> Any:
    """As torch's own test: vectors without their signs."""
    values, vectors = result
    return values, vectors.abs()


def of_svd(result: Any, *sample: Any, **kwargs: Any) -> Any:
    """Vectors of singular values without their signs, and the product, which has them."""
    u, s, v = result
    vh = v.mH if "some" in kwargs else v
    u, vh = u[..., : s.shape[-1]], vh[..., : s.shape[-1], :]
    return s, u.abs(), vh.abs(), u * s.unsqueeze(-2) @ vh


def of_places(at: int) -> Any:
    """Which of equals comes first is open: the elements at the places. `at`: of the axis among the arguments."""

    def unique(result: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        values, places = result if isinstance(result, tuple) else (None, result)
        if not x.dim() or kwargs.get("stable"):
            return result
        dim = kwargs.get("dim", args[at] if len(args) > at else -1)
        places = places if places.dim() == x.dim() else places.unsqueeze(dim)
        return values, torch.take_along_dim(x, places, dim)

    return unique


UNIQUE = {
    "linalg.eigh": of_eigh, "linalg.svd": of_svd, "svd": of_svd,
    "topk": of_places(1), "kthvalue": of_places(1), "sort": of_places(0), "argsort": of_places(0),
}  # fmt: skip
"""What of a result has one meaning, where not all has."""


def name_of(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


INPUT = "an input"


class Call(torch.nn.Module):
    """An operator whose tensors are inputs, by position; everything else of a sample is fixed."""

    def __init__(self, function: Any, leaves: list[Any], spec: Any, unique: Any = None) -> None:
        super().__init__()
        self.function, self.spec, self.unique = function, spec, unique
        self.fixed = [INPUT if isinstance(x, torch.Tensor) else x for x in leaves]

    def forward(self, *tensors: Any) -> Any:
        left = iter(tensors)
        leaves = [next(left) if x is INPUT else x for x in self.fixed]
        sample, args, kwargs = _pytree.tree_unflatten(leaves, self.spec)
        result = self.function(sample, *args, **kwargs)
        if self.unique is not None:
            result = self.unique(result, sample, *args, **kwargs)
        return tuple(x for x in _pytree.tree_leaves(result) if isinstance(x, torch.Tensor))


class Calls(torch.nn.Module):
    """Several calls, one after the other: inputs and results of all."""

    def __init__(self, calls: list[tuple[Call, int]]) -> None:
        super().__init__()
        self.calls = calls

    def forward(self, *tensors: Any) -> Any:
        left = iter(tensors)
        results = (call(*(next(left) for _ in range(count))) for call, count in self.calls)
        return tuple(x for result in results for x in result)


def together(calls: list[Any]) -> tuple[Calls, list[Any], list[Any]]:
    a, b = ([x for case in calls for x in case[i]] for i in (1, 2))
    return Calls([(call, len(tensors)) for call, tensors, _ in calls]), a, b


def one(op: Any, dtype: Any, count: int) -> dict[str, Any]:
    """The worst verdict of an operator's samples: of all in one program, and one by one where that is not right."""
    if op.name in UNWRITTEN:
        return verdict("random", "memory that nothing wrote")
    calls = list(cases(op, dtype, count))
    if len(calls) > 1 and attempt(*together(calls))["verdict"] == "ok":
        return verdict("ok")
    rows = [attempt(*case) for case in calls]
    return min(rows, key=lambda r: WORST.index(r["verdict"]), default=verdict("none"))


def cases(op: Any, dtype: Any, count: int) -> Iterator[tuple[Call, list[Any], list[Any]]]:
    """A sample as a module, and the tensors of two draws of it."""
    draws = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        draws.append(
            [
                _pytree.tree_flatten((s.input, s.args, s.kwargs))
                for s in op.sample_inputs("cpu", dtype)
            ]
        )
    whole = len(draws[0])
    for i in sorted({k * whole // count for k in range(count)}) if whole else ():
        (leaves, spec), (others, _) = (draw[min(i, len(draw) - 1)] for draw in draws)
        a, b = (
            [x.detach() for x in each if isinstance(x, torch.Tensor)] for each in (leaves, others)
        )
        if [(x.shape, x.dtype) for x in a] != [(x.shape, x.dtype) for x in b]:
            b = a
        if a:
            yield Call(op.op, leaves, spec, UNIQUE.get(op.name)), a, b


def attempt(module: torch.nn.Module, a: list[Any], b: list[Any]) -> dict[str, Any]:
    try:
        with torch.no_grad():
            wanted = [tuple(x.clone() for x in module(*clones(case))) for case in (a, b)]
            again = module(*clones(a))
    except Exception as error:
        return verdict("none", f"eager: {type(error).__name__}: {error}")
    if not wanted[0] or any(x.layout != torch.strided for x in (*a, *wanted[0])):
        return verdict("none")
    if compare(arrays(again), wanted[0]) is not None:
        return verdict("random")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.pte"
        try:
            pteron.export_model(
                module, path, args=tuple(clones(a)), check=False, complex_pairs=True
            )
            model = pteron.load(path, threads=1)
            for i, (case, want) in enumerate(zip((a, b), wanted, strict=True)):
                text = compare(own(model, case), want)
                if text is not None:
                    return caught(module, a, f"draw {i}, {[tuple(x.shape) for x in a]}: {text}")
        except pteron.PteronError as error:
            kind = "random" if "gives random numbers" in str(error) else kind_of(error)
            return verdict(kind, str(error))
        except Exception as error:
            return verdict("traceback", f"{type(error).__name__}: {error}")
    return verdict("ok")


def own(model: Any, case: list[Any]) -> tuple[Any, ...]:
    """The results of the module itself; the inputs that it writes follow them, as NAME_out."""
    got = model(*(as_pairs(torch, x) for x in clones(case)))
    got = got if isinstance(got, tuple) else (got,)
    written = {f"{port.name}_out" for port in model.inputs}
    names = [port.name for port in model.outputs]
    return tuple(x for name, x in zip(names, got, strict=True) if name not in written)


def caught(module: torch.nn.Module, a: list[Any], text: str) -> dict[str, Any]:
    """Whether the check on the example's values says so, too."""
    try:
        pteron.export_model(module, args=tuple(clones(a)), complex_pairs=True)
    except pteron.PteronError:
        return verdict("differs", text)
    return verdict("wrong", text)


def arrays(values: Any) -> tuple[Any, ...]:
    return tuple(array(torch, x) for x in values)


def clones(values: list[Any]) -> list[Any]:
    return [x.clone() for x in values]


if __name__ == "__main__":
    main()
