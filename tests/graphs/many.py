"""Many random graphs: `python -m graphs.many SEED COUNT [OPERATOR]` prints a line a defect, then counts by reason.

A process of its own runs each chunk of 100, so that a crash is a line too. `--show SEED [OPERATOR]` prints one model and its
verdict; `--each TIMES PART PARTS`: a part of the models that end in each operator, so many of each.
"""

from __future__ import annotations

import collections
import json
import random
import resource
import subprocess
import sys
from collections.abc import Iterable

import onnx
from graphs.judge import judge, reason
from graphs.make import case, of_each

CHUNK = 100
MOST_BYTES = 12 << 30
"""Of a chunk's address space: the reference makes whatever a spoilt shape asks for, and the machine is others' too."""


def chunk(chosen: Iterable[tuple[int, str]]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    for seed, only in chosen:
        print(json.dumps({"begin": seed}), flush=True)
        try:
            made = case(random.Random(seed), only)
        except Exception as error:
            print(
                json.dumps(
                    {
                        "seed": seed,
                        "kind": "generator",
                        "text": repr(error),
                        "reason": f"generator {error!r}"[:80],
                        "ops": [],
                        "spoilt": "",
                    }
                )
            )
            continue
        verdict = judge(made)
        ops = [n.op_type for n in made.model.graph.node]
        print(
            json.dumps({"seed": seed, "kind": verdict.kind, "text": verdict.text[:400], "reason": reason(made, verdict),
                        "ops": ops, "opset": made.model.opset_import[0].version, "spoilt": made.spoilt, "defect": verdict.is_defect}),
            flush=True,
        )  # fmt: skip


def main() -> int:
    if sys.argv[1] == "--show":
        made = case(random.Random(int(sys.argv[2])), *sys.argv[3:])
        print(onnx.printer.to_text(made.model), made.feeds, made.spoilt, judge(made), sep="\n")
        return 0
    if sys.argv[1] == "--chunk":
        first, count, only = int(sys.argv[2]), int(sys.argv[3]), "".join(sys.argv[4:5])
        chunk((seed, only) for seed in range(first, first + count))
        return 0
    if sys.argv[1] == "--each":
        times, part, parts = map(int, sys.argv[2:5])
        chunk(list(of_each(times))[part::parts])
        return 0
    first, total = int(sys.argv[1]), int(sys.argv[2])
    ends = sys.argv[3:]
    kinds: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    at = first
    while at < first + total:
        count = min(CHUNK, first + total - at)
        done = subprocess.run(
            [sys.executable, "-m", "graphs.many", "--chunk", str(at), str(count), *ends],
            capture_output=True,
            text=True,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        results = [r for r in lines if "kind" in r]
        for r in results:
            kinds[r["kind"]] += 1
            if r["kind"] not in ("same",):
                reasons[r["reason"]] += 1
            if r.get("defect") or r["kind"] == "generator":
                print(json.dumps(r), flush=True)
        if done.returncode:
            last = max((r["begin"] for r in lines if "begin" in r), default=at)
            kinds["crash"] += 1
            print(
                json.dumps(
                    {
                        "seed": last,
                        "kind": "crash",
                        "code": done.returncode,
                        "text": done.stderr[-300:],
                    }
                ),
                flush=True,
            )
            at = last + 1
            continue
        at += count
    print(json.dumps(kinds))
    for text, count in reasons.most_common(400):
        print(f"{count:6} {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
