"""Java that starts before the program of its job is imported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from broker_core.job_folder import JobFolder
from broker_core.spark.programs.early import begin_early
from broker_core.spark.settings import shared_cache
from tests.support.cluster import ROOT
from tests.support.programs import PATIENCE_SECONDS, Program
from tests.support.wait import wait_until

COPY: dict[str, Any] = {"source": {"topic": "orders"}, "target": {"topic": "copy"}}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start changes the environment."""
    for name in ("JAVA_HOME", "SPARK_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYTHONPATH", "SPARK_LOCAL_IP"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("SPARK_LAUNCHER_OPTS", "")


def program(folder: Path, type_: str, **changes: Any) -> Program:
    place = {"store": str(folder), "broker": "broker-a", "name_servers": ["127.0.0.1:1"]}
    return Program(folder / "job", type_, place, shared_cache(), **changes)


@pytest.mark.parametrize(
    ("type_", "asked"),
    [
        ("replay", COPY | {"dry_run": True}),
        ("replay", COPY | {"source": {"topic": "orders", "where": "tag = 'paid'"}}),
        ("replay", COPY | {"target": {"topic": "copy", "transform": {"body": "upper(tag)"}}}),
        ("reconcile", {"left": {"topic": "orders"}, "right": {"topic": "copy"}}),
    ],
    ids=["dry run", "condition", "transformation", "comparison"],
)
def test_a_job_that_may_need_another_java_or_none_does_not_start_it_early(
    tmp_path: Path, type_: str, asked: dict[str, Any]
) -> None:
    job = program(tmp_path, type_)
    job.write(asked)
    assert begin_early(JobFolder(job.folder), tmp_path) is None


def test_a_request_that_cannot_be_read_starts_nothing_and_is_told_by_the_run(tmp_path: Path) -> None:
    assert begin_early(JobFolder(tmp_path), tmp_path) is None


def test_a_java_that_is_not_used_ends_with_its_standard_input(tmp_path: Path) -> None:
    job = program(tmp_path, "replay")
    job.write(COPY)
    jvm = begin_early(JobFolder(job.folder), tmp_path)
    assert jvm is not None
    jvm.wait()
    jvm.end()
    assert jvm.process.wait(60) == 0


def driver(job: Program) -> subprocess.Popen[bytes]:
    """Start a driver in a session of its own, and give it a job."""
    folder = job.folder.with_name("driver")
    folder.mkdir()
    started = subprocess.Popen(
        [sys.executable, "-m", "broker_core.spark.programs.driver", str(folder)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert started.stdin is not None
    started.stdin.write(json.dumps({"kind": job.type, "folder": str(job.folder)}).encode() + b"\n")
    started.stdin.flush()
    return started


def javas_of(session: int) -> list[str]:
    """Return the JVMs of a session that have not ended."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            stat = entry.read_text()
        except OSError:
            continue
        name, _, rest = stat.partition("(")[2].rpartition(")")
        state, _, _, its_session = rest.split()[:4]
        if its_session == str(session) and name == "java" and state != "Z":
            found.append(entry.parent.name)
    return found


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_driver_that_ends_while_java_starts_leaves_no_java(tmp_path: Path, number: signal.Signals) -> None:
    job = program(tmp_path, "replay")
    job.write(COPY)
    with driver(job) as started:
        wait_until(lambda: javas_of(started.pid), within=PATIENCE_SECONDS)
        os.kill(started.pid, number)
        started.wait(PATIENCE_SECONDS)
    wait_until(lambda: not javas_of(started.pid), within=PATIENCE_SECONDS)


def test_a_bad_request_for_which_java_was_started_early_leaves_no_java(tmp_path: Path) -> None:
    job = program(tmp_path, "replay")
    job.write(COPY | {"on_damage": "explode"})
    with driver(job) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        wait_until(lambda: javas_of(started.pid), within=PATIENCE_SECONDS)
        assert json.loads(started.stdout.readline())["status"] == 2
        started.stdin.close()
        started.wait(PATIENCE_SECONDS)
    wait_until(lambda: not javas_of(started.pid), within=PATIENCE_SECONDS)
