"""The class archive with which Spark starts faster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.spark.java import find_java
from broker_core.spark.session import SessionConfig, archive_path, settings
from tests.support.cluster import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]


def test_an_archive_is_recorded_once_and_is_what_a_session_names(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "broker_core.spark.archive", str(tmp_path)]
    # Given an environment in which an archive was recorded
    subprocess.run(command, cwd=ROOT, check=True, timeout=1000)
    java = find_java(tmp_path)
    target = archive_path(java, tmp_path)
    assert target.stat().st_size > 10 << 20
    recorded_at = target.stat().st_mtime_ns
    # When it is to be recorded again
    subprocess.run(command, cwd=ROOT, check=True, timeout=500)
    # Then it stays, nothing lies beside it, and a session names it
    assert target.stat().st_mtime_ns == recorded_at
    assert list(tmp_path.glob("classes-*")) == [target]
    chosen = settings(SessionConfig(app_name="test", work_dir=tmp_path / "job", cache=tmp_path), java)
    assert str(target) in chosen["spark.driver.extraJavaOptions"]


def test_without_java_set_up_goes_on_and_says_what_is_missing(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _WITHOUT_JAVA], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("Spark will start slowly, without a class archive: Spark needs Java 17 or newer")


_WITHOUT_JAVA = """
from broker_core.spark import archive, java
java._candidates = lambda setting, environ: iter(())
raise SystemExit(archive.main())
"""
