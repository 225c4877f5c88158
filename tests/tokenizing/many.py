"""The long part of this folder: python tests/tokenizing/many.py [TEXTS [MUTATIONS [KIND ...]]], all kinds unless told.

Random texts, megabytes of code and prose, and bent segments, of each kind; a line a kind. Exits with 1 where something differs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tokenizers import Tokenizer
from tokenizing.compare import compare, opened, save
from tokenizing.kinds import KINDS, broken, noise, pieces, prose
from tokenizing.test_hostile import hostile, tried


def main(argv: list[str]) -> int:
    count, mutations = (int(word) for word in (*argv[:2], *("20000", "100000")[len(argv[:2]) :]))
    texts = [*noise(11, count), *broken(12, count // 10), *pieces()]
    size = sum(map(len, prose())) / 1e6
    print(f"{len(texts)} texts, {size:.1f} million characters of prose and code among them")
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = hostile(folder)
        for kind in argv[2:] or KINDS:
            path = save(KINDS[kind](), folder / "tokenizer.json")
            theirs = Tokenizer.from_file(str(path))
            score = compare(opened(path, folder), theirs, texts, 4)
            bent = tried(program, kind, folder, mutations, 5).strip()
            failed |= score.ids + score.decoded > 0
            speeds = [score.tokens / s / 1e6 for s in (score.ours_s, score.theirs_s)]
            print(
                f"{kind:16} ids differ {score.ids}, texts {score.decoded}; {speeds[0]:.2f} million tokens a CPU second, "
                f"tokenizers {speeds[1]:.2f}; {bent} {score.first}",
                flush=True,
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
