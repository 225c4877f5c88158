"""`python -m pteron`: the command line."""

import sys

from pteron.cli import main

sys.exit(main())
