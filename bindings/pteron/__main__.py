"""`python -m pteron`, and the command `pteron`: the command line, whose loading can be interrupted, too."""

import os
import signal
import sys
from typing import Any


def main() -> int:
    is_heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heeded:  # an exception within an import of NumPy comes out as another
        signal.signal(signal.SIGINT, _leave)
    from .cli import main as command

    try:
        return command(loaded=_raise if is_heeded else lambda: None)
    finally:
        if is_heeded:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is done and said


def _leave(*_: Any) -> None:
    os.write(2, b"pteron: interrupted\n")
    os._exit(130)


def _raise() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    sys.exit(main())
