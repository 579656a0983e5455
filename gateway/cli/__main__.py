"""Runs the command line: ``python -m gateway.cli``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from gateway.cli.api import Refused, Unreachable
from gateway.cli.commands import gantry
from gateway.cli.output import NotWhole

NOT_DONE, NOT_REACHED, INTERRUPTED = 1, 3, 130
"""Exit codes; 2 is click's for a command that was written wrongly."""


def main() -> int:
    """Run the command of this process and return its exit code; errors are told on stderr."""
    try:
        code = gantry(prog_name="gantry", standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as fault:
        fault.show()
        return fault.exit_code
    except click.ClickException as fault:
        return _told(fault.format_message(), NOT_DONE)
    except click.Abort as end:
        if isinstance(end.__cause__, KeyboardInterrupt):
            return INTERRUPTED
        return _told("not done", NOT_DONE)
    except (Refused, NotWhole) as refusal:
        return _told(refusal, NOT_DONE)
    except Unreachable as failure:
        return _told(failure, NOT_REACHED)
    except OSError as error:
        # What could not be written is still there, and would be tried once more at the end.
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return _told(f"what was found cannot be written: {error.strerror or error}", NOT_DONE)
    return code if isinstance(code, int) else 0


def _told(words: object, code: int) -> int:
    print(f"gantry: {words}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
