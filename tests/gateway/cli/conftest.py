"""The command line, run against the gateway that all tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.gateway.installation import ROOT, Installation

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(installation: Installation) -> Run:
    """Run the command line against the gateway as the admin."""

    def run(*words: str, stdin: str = "", **environ: str) -> subprocess.CompletedProcess[str]:
        own = {"GANTRY_URL": installation.url, "GANTRY_TOKEN": installation.tokens["admin"], **environ}
        command = [sys.executable, "-m", "gateway.cli", *words]
        return subprocess.run(
            command, cwd=ROOT, env={**os.environ, **own}, input=stdin, capture_output=True, text=True, timeout=60
        )

    return run
