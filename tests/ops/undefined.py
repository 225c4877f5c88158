"""Every operator's kernel under clang's sanitizers of undefined behaviour and addresses, each variant that this machine has.

    python -m ops.undefined [SHARE]        in tests/; one case in SHARE (all unless told), and the products of any depth

Products up to K of 2,048 are beside the cases, in steps that are not the steps of any kernel.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from ops import harness
from ops.cases import CASES
from ops.cases_matrix import matmul
from ops.cases_matrix_int8 import int8, turned
from ops.harness import Case
from ops.library import Target, racing
from ops.remote import Remote

SANITIZERS = "address,undefined"


def deep() -> Iterator[Case]:
    for k in (640, 672, 704, 1001, 1376, 2015, 2048):
        for m in (1, 3, 9):
            yield matmul((m,), 33, k)
            yield turned((m,), 33, k)
            for name in ("i8_channel", "nf4", "mxfp6", "i4"):
                yield int8(name, (m,), 33, k)


def main(argv: list[str]) -> int:
    share = int(argv[0]) if argv else 1
    cc = os.environ.get("CC", "clang-19")
    flags = (f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=all", "-g")
    options = (f"-DCMAKE_C_COMPILER={cc}", f"-DPTE_SANITIZE={SANITIZERS}")
    built = racing(Target("ops-undefined", (cc, *flags), options))
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    every = {op: cases[::share] for op, cases in CASES.items()}
    every |= {"products of any depth": list(deep())[:: max(1, share // 4)]}
    count = 0
    for op, cases in sorted(every.items()):
        remote = Remote([str(built)])
        for i, case in enumerate(cases):
            for cpu in harness.variants():
                try:
                    harness.run(case, harness.outs_of(case), cpu=cpu, threads=2, remote=remote)
                except EOFError as error:
                    sys.exit(f"{op}: case {i} ({case}), cpu {cpu:#x}: {error}")
                count += 1
        remote.close()
    print(f"{count} runs of {len(CASES)} operators, nothing undefined")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
