"""Every operator's kernel under the thread sanitizer, its work divided into single items on real threads (threads.c).

    python -m ops.races            in tests/

Each case runs with each variant that this machine has; a race ends the program, which says where, and so does this.
"""

from __future__ import annotations

import os
import sys

from ops import harness
from ops.cases import CASES
from ops.harness import Status, canonical
from ops.library import Target, racing
from ops.remote import Remote


def main() -> int:
    cc = (*os.environ.get("CC", "cc").split(), "-fsanitize=thread", "-g", "-Wno-tsan")
    options = ("-DPTE_SANITIZE=thread", "-DCMAKE_C_FLAGS=-Wno-tsan")
    built = racing(Target("ops-thread", cc, options))
    os.environ.setdefault("TSAN_OPTIONS", "halt_on_error=1")
    count = 0
    for op, cases in sorted(CASES.items()):
        remote = Remote([str(built)])
        for i, case in enumerate(cases):
            outs = harness.outs_of(case)
            here = harness.run(case, outs)
            for cpu in harness.variants():
                how = f"{op}: case {i} ({case}), cpu {cpu:#x}"
                try:
                    there = harness.run(case, outs, cpu=cpu, threads=3, remote=remote)
                except EOFError as error:
                    sys.exit(f"{how}: {error}")
                same = there.status == here.status and (
                    here.status != Status.OK
                    or all(canonical(a) == canonical(b) for a, b in zip(here.outputs, there.outputs, strict=True))
                )  # fmt: skip
                if not same:
                    sys.exit(f"{how}: other bytes")
                count += 1
        remote.close()
    print(f"{count} runs of {len(CASES)} operators, no race")
    return 0


if __name__ == "__main__":
    sys.exit(main())
