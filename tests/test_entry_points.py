"""Whatever starts with ``python -m`` says how it is used, and refuses what it does not know before it does anything."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GUARD = 'if __name__ == "__main__":'
# Spark itself starts it, with the arguments of pyspark.daemon.
NOT_OURS = {"broker_core.spark.daemon"}


def entry_points() -> set[str]:
    """Return the modules that may be started."""
    files = (file for package in ("broker_core", "gateway", "console") for file in (ROOT / package).rglob("*.py"))
    parts = (file.relative_to(ROOT).with_suffix("").parts for file in files if GUARD in file.read_text("utf-8"))
    return {".".join(names).removesuffix(".__main__") for names in parts} - NOT_OURS


ENTRY_POINTS = sorted(entry_points())


def started(module: str, argument: str, monkeypatch: pytest.MonkeyPatch) -> object:
    """Return the exit status of a program, which ends by itself."""
    monkeypatch.setattr(sys, "argv", [module, argument])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    return ended.value.code


def test_all_are_found() -> None:
    assert {"broker_core", "broker_core.namesrv", "gateway.up", "gateway.serve", "gateway.cli"} <= set(ENTRY_POINTS)


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("module", ENTRY_POINTS)
def test_each_says_how_it_is_used(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert started(module, "--help", monkeypatch) in (0, None)
    assert "usage:" in capsys.readouterr().out.lower()
    assert started(module, "--no-such-option", monkeypatch) == 2
    assert "error:" in capsys.readouterr().err.lower()
