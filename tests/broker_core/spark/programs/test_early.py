"""Java that starts before the program of its job is imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker_core.job_folder import JobFolder
from broker_core.spark.programs.early import begin_early
from broker_core.spark.settings import shared_cache
from tests.support.programs import Program

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
