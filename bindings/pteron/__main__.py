"""`python -m pteron`, and the command `pteron`: the command line, whose loading can be interrupted, too."""

import signal
import sys


def main() -> int:
    try:
        from .cli import main as command

        return command()
    except KeyboardInterrupt:  # while modules are loaded
        sys.stderr.write("pteron: interrupted\n")
        return 130
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is done and said


if __name__ == "__main__":
    sys.exit(main())
