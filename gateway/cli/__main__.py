"""Runs the command line: ``python -m gateway.cli``."""

from __future__ import annotations

import sys

from gateway.cli.api import Refused, Unreachable
from gateway.cli.commands import gantry
from gateway.cli.output import NotWhole

NOT_DONE, NOT_REACHED = 1, 3
"""Exit codes; 2 is click's for a command that was written wrongly."""


def main() -> int:
    """Run the command of this process and return its exit code; errors are told on stderr."""
    try:
        gantry(prog_name="gantry")
    except (Refused, NotWhole) as refusal:
        print(f"gantry: {refusal}", file=sys.stderr)
        return NOT_DONE
    except Unreachable as failure:
        print(f"gantry: {failure}", file=sys.stderr)
        return NOT_REACHED
    return 0


if __name__ == "__main__":
    sys.exit(main())
