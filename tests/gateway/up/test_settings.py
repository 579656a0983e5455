"""The list of settings: complete, and printed on a machine that has nothing but Python and make."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from gateway.up.settings import SETTINGS, help_text

ROOT = Path(__file__).resolve().parents[3]


def test_the_help_text_names_every_setting_that_the_gateway_reads() -> None:
    read: set[str] = set()
    for file in (ROOT / "gateway").rglob("*.py"):
        read |= set(re.findall(r"\benv\.\w+\(\s*\"(GANTRY_\w+)\"", file.read_text(encoding="utf-8")))
    assert {"GANTRY_SECRET_KEY", "GANTRY_ALLOWED_HOSTS", "GANTRY_RATE_PRODUCE"} <= read
    printed = set(re.findall(r"^  (GANTRY_\w+)  ", help_text(), re.MULTILINE))
    assert read - printed == set()


def test_make_help_needs_no_package() -> None:
    without_packages = f"{sys.executable} -S"
    done = subprocess.run(
        ["make", "--no-print-directory", "help", f"PYTHON={without_packages}"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "make up" in done.stdout
    assert set(re.findall(r"^  (GANTRY_\w+)  ", done.stdout, re.MULTILINE)) == {name for name, *_ in SETTINGS}
