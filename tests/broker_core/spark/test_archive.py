"""The class archive with which Spark starts faster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.spark import archive as recording
from broker_core.spark.java import find_java
from broker_core.spark.session import SessionConfig, archive_path, settings, shared_cache
from tests.support.cluster import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a recorded archive: that of set-up if it is newer than the code, since recording takes long."""
    kept = shared_cache()
    archive = archive_path(find_java(kept), kept)
    if archive.exists() and archive.stat().st_mtime > Path(recording.__file__).stat().st_mtime:
        return kept
    record(tmp_path)
    return tmp_path


def record(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "broker_core.spark.archive", str(folder)], cwd=ROOT, check=True, timeout=1000)


def test_an_archive_is_recorded_once_and_is_what_a_session_names(folder: Path, tmp_path: Path) -> None:
    # Given an environment in which an archive was recorded
    java = find_java(folder)
    target = archive_path(java, folder)
    assert target.stat().st_size > 10 << 20
    recorded_at = target.stat().st_mtime_ns
    # When it is asked for again, as each start of Gantry does, without importing what only recording needs
    subprocess.run([sys.executable, "-c", _ASK_AGAIN, str(folder)], cwd=ROOT, check=True, timeout=100)
    # Then it stays, there is no other file, and a session uses it
    assert target.stat().st_mtime_ns == recorded_at
    assert list(folder.glob(f"{target.name}*")) == [target]
    chosen = settings(SessionConfig(app_name="test", work_dir=tmp_path / "job", cache=folder), java)
    assert str(target) in chosen["spark.driver.extraJavaOptions"]


def test_what_a_killed_recorder_left_is_removed(tmp_path: Path) -> None:
    target = tmp_path / "classes.archive"
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    names = [f"{target.name}{end}" for end in ("", f".{ended.pid}", f".{os.getpid()}", ".json")]
    for name in names:
        (tmp_path / name).touch()
    recording.remove_unfinished(target)
    assert {file.name for file in tmp_path.iterdir()} == {*names} - {names[1]}


def test_without_java_set_up_continues_and_says_what_is_missing(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _WITHOUT_JAVA], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("Spark will start slowly, without a class archive: Spark needs Java 17 or newer")


_ASK_AGAIN = """
import sys
from broker_core.spark import archive
status = archive.main()
assert "pyarrow" not in sys.modules
raise SystemExit(status)
"""
_WITHOUT_JAVA = """
from broker_core.spark import archive, java
java._candidates = lambda setting, environ: iter(())
raise SystemExit(archive.main())
"""
