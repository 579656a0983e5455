"""A replay that is stopped in the middle, by a user and by its time limit, with a real broker and a real Spark."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from broker_core.client.blocking import BlockingSession
from broker_core.protocol.message import Message
from console.audit.record import Actor
from console.jobs import control, drivers, launcher, services
from console.jobs.models import JobState, StateCode
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.topics import orders

pytestmark = pytest.mark.spark
ANN = Actor("ann")
STOP_SECONDS = 2.0


def test_a_replay_stopped_and_resumed_twice_counts_as_one_that_was_not(
    embedded: BlockingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop is over within 2 s, and a replay that goes on after it copies each message once."""
    for topic in ("often", "often-copy"):
        make_topic(embedded, topic)
    fill_topic(embedded, "often", orders(3000))
    request: dict[str, Any] = {
        "type": "replay", "cluster": "local", "source": {"topic": "often"}, "target": {"topic": "often-copy"},
        "limits": {"messages_per_second": 400, "max_minutes": 10},
    }  # fmt: skip
    job = services.create(ANN, request)
    looking = launcher._JobRun._check_and_renew
    stop_at = [400, 1200]
    asked_at: list[float] = []

    def stop_in_the_middle(run: launcher._JobRun) -> None:
        written = run._progress.counters.written if run._progress else 0
        if stop_at and written >= stop_at[0]:
            if stop_at.pop(0) == 400:
                services.cancel(ANN, job)
            else:
                # As if it had worked for so long by now
                run._stopwatch._earlier_ms = 600_000
            asked_at.append(time.monotonic())
        looking(run)

    monkeypatch.setattr(launcher._JobRun, "_check_and_renew", stop_in_the_middle)
    took = []
    for state, code in ((JobState.CANCELLED, StateCode.CANCELLED), (JobState.FAILED, StateCode.TIME_LIMIT)):
        launcher.run(job.id, worker="w")
        took.append(time.monotonic() - asked_at[-1])
        job.refresh_from_db()
        assert (job.state, job.state_code) == (state, code), job.state_reason
        assert 400 <= job.counters["written"] < 3000
        services.retry(ANN, job)
    control.change_limits(ANN, job, {"messages_per_second": None})
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.attempt) == (JobState.SUCCEEDED, 3), job.state_reason
    originals, copies = read_topic(embedded, "often"), read_topic(embedded, "often-copy")
    bodies = [{queue: [each.body for each in found] for queue, found in topic.items()} for topic in (originals, copies)]
    assert bodies[0] == bodies[1]
    counted = {name: job.counters[name] for name in ("planned", "read", "filtered", "matched", "written", "failed")}
    assert counted == {"planned": 3000, "read": 3000, "filtered": 0, "matched": 3000, "written": 3000, "failed": 0}
    assert max(took) < STOP_SECONDS


def computed_seconds(session: int | None) -> float:
    """Return how long the busiest task of the Spark in a session of processes has computed; 0 before it has one."""
    ticks = [0]
    for stat in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        fields = rest.split()
        if name.startswith("Executor task") and int(fields[3]) == session:
            ticks.append(int(fields[11]))
    return max(ticks) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("warm_s", [0, 600])
def test_a_regular_expression_that_never_ends_does_not_keep_a_job_from_its_end(
    embedded: BlockingSession, monkeypatch: pytest.MonkeyPatch, settings: Settings, pool: drivers.Pool, warm_s: int
) -> None:
    """A regular expression may take for ever on one value: a cancel is over soon all the same.

    A driver whose tasks go on does not stay: they would keep its cores from the next job, and write to its log.
    """
    settings.GANTRY_SPARK_WARM = warm_s
    topic = f"slow-{warm_s}"
    make_topic(embedded, topic)
    fill_topic(embedded, topic, [Message(topic, b"a" * 60 + b"!")])
    # Java answers most such expressions at once, and not those with what a group has matched.
    source = {"topic": topic, "where": r"cast(body AS string) RLIKE '(a+)+\\1b'"}
    job = services.create(ANN, {"type": "replay", "cluster": "local", "source": source, "target": {"kind": "parquet"}})
    looking = launcher._JobRun._check_and_renew
    asked_at: list[float] = []

    def cancel_in_the_value(run: launcher._JobRun) -> None:
        job.refresh_from_db(fields=["pid"])
        # Nothing else of so small a job computes for so long
        if not asked_at and computed_seconds(job.pid) > 3:
            asked_at.append(time.monotonic())
            services.cancel(ANN, job)
        looking(run)

    monkeypatch.setattr(launcher._JobRun, "_check_and_renew", cancel_in_the_value)
    launcher.run(job.id, worker="w")
    took = time.monotonic() - asked_at[0]
    job.refresh_from_db()
    # Whether the message counts as read depends on where it hangs.
    assert (job.state, job.counters["written"]) == (JobState.CANCELLED, 0)
    assert pool.idle() == []
    # The value would take for ever; a loaded machine takes some seconds to end so many processes.
    assert took < 10 * STOP_SECONDS
