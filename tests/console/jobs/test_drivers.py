"""Drivers that stay between jobs: real programs and a real Spark, run by the launcher."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from broker_core.client.blocking import BlockingSession
from console.audit.record import Actor
from console.jobs import drivers, launcher, program, services
from console.jobs.models import Job, JobState
from console.jobs.requests import program_request
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.topics import orders
from tests.support.wait import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("pool")]
PATIENCE = 240.0
ANN = Actor("ann")


@pytest.fixture(scope="module")
def lasting() -> Iterator[drivers.Pool]:
    """Drivers that stay from one test to the next."""
    kept = drivers.Pool()
    yield kept
    kept.close()


@pytest.fixture
def lasting_pool(pool: drivers.Pool, lasting: drivers.Pool, monkeypatch: pytest.MonkeyPatch) -> drivers.Pool:
    """These drivers, for the jobs of this test."""
    monkeypatch.setattr(drivers, "POOL", lasting)
    return lasting


def replay(source: str, target: str, **limits: int) -> Job:
    request: dict[str, Any] = {
        "type": "replay", "cluster": "local", "source": {"topic": source}, "target": {"topic": target},
    }  # fmt: skip
    return services.create(ANN, request | ({"limits": limits} if limits else {}))


def run(job: Job) -> Job:
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    return job


def cancel_when_it_copies(monkeypatch: pytest.MonkeyPatch, job: Job) -> None:
    looking = launcher._JobRun._check_and_renew
    # A loaded machine would kill it: that a cancel takes less than two seconds is tested in test_cancelled_replay.py.
    monkeypatch.setattr(launcher, "CANCEL_GRACE_SECONDS", PATIENCE)

    def look(mine: launcher._JobRun) -> None:
        if not mine._job.cancel_requested and mine._progress is not None and mine._progress.counters.written:
            services.cancel(ANN, Job.objects.get(pk=job.pk))
        looking(mine)

    monkeypatch.setattr(launcher._JobRun, "_check_and_renew", look)


def count(session: BlockingSession, topic: str) -> int:
    return sum(map(len, read_topic(session, topic).values()))


def test_jobs_one_after_another_share_a_driver_and_only_the_first_waits_for_java(
    embedded: BlockingSession, pool: drivers.Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("orders", "first", "slow", "second"):
        make_topic(embedded, name)
    fill_topic(embedded, "orders", orders(1000))
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dasked=yes -XX:TieredStopAtLevel=1")
    first = run(replay("orders", "first"))
    assert (first.state, count(embedded, "first")) == (JobState.SUCCEEDED, 1000)
    # When a second one is cancelled in the middle
    slow = replay("orders", "slow", messages_per_second=100)
    with monkeypatch.context() as patched:
        cancel_when_it_copies(patched, slow)
        run(slow)
    # Then the driver goes on
    assert (slow.state, slow.exit_code) == (JobState.CANCELLED, 130)
    # And a comparison and another replay begin at once, each with its own log and result
    sides: dict[str, Any] = {"left": {"topic": "orders"}, "right": {"topic": "first"}, "by": "body"}
    compared = run(services.create(ANN, {"type": "reconcile", "cluster": "local", **sides}))
    second = run(replay("orders", "second"))
    assert (compared.state, second.state) == (JobState.SUCCEEDED, JobState.SUCCEEDED), compared.state_reason
    assert {job.pid for job in (slow, compared, second)} == {first.pid}
    assert count(embedded, "second") == 1000
    for job in (first, compared, second):
        log = (services.folder_of(job) / "log").read_text()
        assert ("-Dasked=yes" in log) == (job == first), "what Java says when it starts"
        assert "WARN spark" not in log
        assert log.count("ended with status") == 1
        assert not (services.folder_of(job) / "tmp").exists()
    assert first.result is not None
    assert second.result is not None
    assert second.result["phases"]["starting Spark"] < 0.5 < first.result["phases"]["starting Spark"]
    # And the result says where the time went until the first messages
    phases = first.result["phases"]
    assert list(phases) == [
        "waiting for a worker", "starting Python", "planning", "starting Spark", "copying", "until the first messages"
    ]  # fmt: skip
    assert sum(list(phases.values())[:4]) < phases["until the first messages"] < sum(list(phases.values())[:5]) + 1
    # When the worker stops
    pool.close()
    # Then nothing is left
    wait_until(lambda: not list(program.session_of(first.pid or 0)), within=PATIENCE)
    assert not list((services.folder_of(first).parents[1] / "cache/spark/drivers").iterdir())


@pytest.mark.usefixtures("lasting_pool")
def test_a_value_that_cannot_be_computed_is_why_a_job_of_a_driver_failed(embedded: BlockingSession) -> None:
    """Such a driver tries tasks again, whose second try knows nothing of the cause."""
    make_topic(embedded, "values")
    fill_topic(embedded, "values", orders(10_000))
    request: dict[str, Any] = {"type": "replay", "cluster": "local", "target": {"kind": "parquet"}}
    source = {"topic": "values", "where": "queue_offset < 4000 or cast(concat('x', queue_offset) as int) > 1"}
    job = run(services.create(ANN, request | {"source": source}))
    assert (job.state, job.retries, job.exit_code) == (JobState.FAILED, 0, 2), job.state_reason
    assert "source.where: it cannot be computed for a message: CAST_INVALID_INPUT" in str(job.state_reason)
    assert "BrokenPipe" not in (services.folder_of(job) / "log").read_text()


def test_two_jobs_at_once_have_a_driver_each_and_killing_one_harms_only_its_own_job(
    embedded: BlockingSession, lasting_pool: drivers.Pool
) -> None:
    make_topic(embedded, "pair")
    fill_topic(embedded, "pair", orders(600))
    jobs = []
    for name in ("driver-killed", "unharmed"):
        make_topic(embedded, name)
        job = replay("pair", name, messages_per_second=300)
        program.prepare(services.folder_of(job), program_request(job))
        jobs.append(job)
    killed, unharmed = (lasting_pool.run("replay", services.folder_of(job)) for job in jobs)
    assert killed.pid != unharmed.pid
    wait_until(lambda: (services.folder_of(jobs[0]) / "checkpoint.jsonl").exists(), within=PATIENCE)
    os.kill(killed.pid, signal.SIGKILL)
    wait_until(lambda: killed.poll() is not None, within=PATIENCE)
    wait_until(lambda: unharmed.poll() is not None, within=PATIENCE)
    assert (killed.poll(), unharmed.poll()) == (-signal.SIGKILL, 0)
    assert count(embedded, "unharmed") == 600
    for each in (killed, unharmed):
        each.end()
        each.keep()
    # Then the next job gets the driver that is left
    last = lasting_pool.run("replay", services.folder_of(jobs[1]))
    assert last.pid == unharmed.pid
    assert done(last) == 0


@pytest.fixture
def refused(place: Path) -> Path:
    """The folder of a job that no program can carry out: its driver needs no Spark."""
    sides: dict[str, Any] = {"left": {"topic": "orders"}, "right": {"topic": "copy"}, "by": "luck"}
    job = services.create(ANN, {"type": "reconcile", "cluster": "local", **sides})
    folder: Path = services.folder_of(job)
    program.prepare(folder, program_request(job))
    return folder


def done(run: program.Running) -> int:
    wait_until(lambda: run.poll() is not None, within=PATIENCE)
    run.end()
    run.keep()
    status = run.poll()
    assert status is not None
    return status


def test_a_driver_is_kept_for_as_long_as_the_setting_says(
    refused: Path, pool: drivers.Pool, settings: Settings
) -> None:
    settings.GANTRY_SPARK_WARM = 1
    first = pool.run("reconcile", refused)
    assert done(first) == 2
    second = pool.run("reconcile", refused)
    assert second.pid == first.pid
    done(second)
    wait_until(lambda: program.started_at(first.pid) is None, within=PATIENCE)
    third = pool.run("reconcile", refused)
    assert third.pid != first.pid
    done(third)


def test_a_driver_with_too_much_memory_is_not_kept(refused: Path, pool: drivers.Pool, settings: Settings) -> None:
    settings.GANTRY_SPARK_WARM_MIB = 1
    first = pool.run("reconcile", refused)
    done(first)
    assert program.started_at(first.pid) is None


def test_a_job_that_is_cancelled_before_its_driver_has_begun_did_not_succeed(refused: Path, pool: drivers.Pool) -> None:
    begun = pool.run("reconcile", refused)
    os.kill(begun.pid, signal.SIGSTOP)
    begun.terminate()
    os.kill(begun.pid, signal.SIGCONT)
    assert done(begun) in (-signal.SIGTERM, 2, 130)
    assert program.started_at(begun.pid) is None


@pytest.mark.parametrize(
    ("warm", "master", "kind"), [(0, "local[2]", "replay"), (9, "spark://h:1", "replay"), (9, "local[2]", "redrive")]
)
def test_jobs_that_no_driver_serves_have_a_process_of_their_own(
    warm: int, master: str, kind: str, settings: Settings, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GANTRY_SPARK_WARM, settings.GANTRY_SPARK_MASTER = warm, master
    monkeypatch.setattr(program, "command", lambda kind, folder: ["true"])
    own = drivers.start(kind, place / "jobs" / "one", {})
    assert isinstance(own, program.OwnProcess)
    assert done(own) == 0


def test_the_files_of_drivers_whose_worker_was_killed_are_removed(refused: Path, pool: drivers.Pool) -> None:
    left = refused.parents[1] / "cache/spark/drivers" / f"{os.getpid()}-1-1"
    left.mkdir(parents=True)
    done(pool.run("reconcile", refused))
    assert not left.exists()
