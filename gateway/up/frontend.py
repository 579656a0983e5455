"""Builds, tests or lints the console's pages: ``python -m gateway.up.frontend [build|test|lint] [argument …]``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from gateway.up.errors import CannotStart
from gateway.up.services import npm

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
INSTALLED = FRONTEND / "node_modules" / ".package-lock.json"


def run_npm(*arguments: str) -> None:
    """Run npm in the frontend's folder; raise CannotStart with its exit status if it fails."""
    tool = npm()
    environment = {**os.environ, "PATH": f"{tool.node_folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
    finished = subprocess.run([*tool.command, *arguments], cwd=FRONTEND, env=environment, check=False)  # noqa: S603 - npm of this machine
    if finished.returncode:
        raise CannotStart(f"npm {' '.join(arguments)} failed with status {finished.returncode}; see its output above")


def install() -> None:
    """Install the packages of package-lock.json, unless they are installed."""
    lock = FRONTEND / "package-lock.json"
    if not INSTALLED.exists() or INSTALLED.stat().st_mtime < lock.stat().st_mtime:
        run_npm("ci", "--no-audit", "--no-fund")
        INSTALLED.touch()


def main() -> int:
    """Install what is missing, and run the script named by the first argument; return the exit status."""
    parser = argparse.ArgumentParser(description="Run a script of the console's pages, and install what it needs.")
    parser.add_argument("script", nargs="?", default="build", help="build (the default), test or lint")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    asked = parser.parse_args()
    try:
        install()
        # npm takes all options before a bare "--" for its own, and argparse leaves out the one that it is given.
        run_npm("run", asked.script, "--", *asked.arguments)
    except CannotStart as error:
        sys.stderr.write(f"gantry: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
