"""Requirements of `console.jobs.workers`: which worker does what, since when, and which is silent."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import redis
from pytest_django import Settings

from console.fields import moment
from console.jobs import schedules, services, workers
from console.jobs.models import Job
from tests.console.jobs.conftest import BY, REPLAY
from tests.console.jobs.test_schedule import NOON, schedule
from tests.support.cast import Cast, somebody
from tests.support.gantry import ROOT

IDENTITY = """
import django
django.setup()
from console.jobs import workers
print(workers.identity("celery@one"))
"""


@pytest.fixture
def store(redis_of_test: str, settings: Settings) -> Any:
    settings.GANTRY_REDIS_URL = redis_of_test
    with redis.Redis.from_url(redis_of_test) as found:
        yield found
        found.delete("gantry:workers")


def test_the_workers_are_shown_with_what_they_do_and_what_waits(cast: Cast, job: Job, store: redis.Redis) -> None:
    # Given a worker with a run, one that fell silent with one, an idle one, and a job that waits
    silent, waiting = services.create(BY, REPLAY), services.create(BY, REPLAY)
    for each, name in ((job, "celery@one"), (silent, "celery@two")):
        assert services.claim(each.id, worker=workers.identity(name), host="h") is not None
    Job.objects.filter(pk=job.pk).update(pid=4711)
    for name in ("celery@one", "celery@idle"):
        workers.note(name)
    long_ago = msgspec.json.encode(workers.Sign(at=1, host="gone", pid=1, started=1, idle_drivers=[]))
    store.hset("gantry:workers", "celery@gone", long_ago)
    # When somebody looks
    found: Any = cast.browser("viewer").get("/api/v1/job-workers").json()
    # Then each says whether it lives and what it does
    idle, one, two = found["items"]
    assert (one["name"], one["host"], one["is_alive"]) == ("celery@one", socket.gethostname(), True)
    assert [(run["job_id"], run["pid"], run["attempt"]) for run in one["runs"]] == [(job.id, 4711, 1)]
    assert one["runs"][0]["since"] is not None
    assert (idle["name"], idle["runs"], idle["idle_drivers"]) == ("celery@idle", [], [])
    assert (two["is_alive"], two["heard_at"], two["runs"][0]["job_id"]) == (False, None, silent.id)
    assert (found["are_known"], found["at_once"], found["queued"], found["most_queued"]) == (True, 2, 1, 200)
    assert found["waiting"] == [waiting.id]
    queued_at = Job.objects.get(pk=waiting.pk).queued_at
    assert queued_at is not None
    assert found["waiting_since"] == moment(queued_at)


def test_a_worker_does_not_claim_the_run_of_the_one_before_it(
    cast: Cast, job: Job, store: redis.Redis, place: Path
) -> None:
    # Given a worker that was killed, and one that has its name since
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "gateway.settings", "GANTRY_DATA_DIR": str(place)}
    dead = subprocess.Popen(
        [sys.executable, "-c", IDENTITY], env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    told, _ = dead.communicate()
    assert services.claim(job.id, worker=told.strip(), host="h") is not None
    workers.note("celery@one")
    # Then the run is with the dead one, of which nobody has heard
    found: Any = cast.browser("viewer").get("/api/v1/job-workers").json()["items"]
    assert [each["name"] for each in found] == ["celery@one", "celery@one"]
    by_process = {each["pid"]: each for each in found}
    gone, lives = by_process[dead.pid], by_process[os.getpid()]
    assert (gone["is_alive"], gone["heard_at"], [run["job_id"] for run in gone["runs"]]) == (False, None, [job.id])
    assert (lives["is_alive"], lives["runs"]) == (True, [])


def test_what_waits_for_more_than_a_place_is_listed_with_the_reason(cast: Cast, store: redis.Redis) -> None:
    # Given a run of a schedule with another one behind it, and one that died and waits for its next try
    planned = schedule()
    first, second = (schedules.create_run(BY, planned, at) for at in (NOON, None))
    assert services.claim(first.id, worker="w", host="h") is not None
    dead = services.claim(services.create(BY, REPLAY).id, worker="w", host="h")
    assert dead is not None
    services.finish_dead(dead, "it died")
    assert dead.next_try_at is not None
    # And a user with as many jobs at work as one may have where others start jobs
    mine = services.create(somebody("admin"), REPLAY)
    assert services.claim(mine.id, worker="w", host="h") is not None
    more = services.create(somebody("admin"), REPLAY)
    # When somebody looks
    found: Any = cast.browser("viewer").get("/api/v1/job-workers").json()
    # Then all that is queued is in one list at least
    held = {each["job_id"]: (each["by"], each["until"], each["behind"]) for each in found["held"]}
    assert held == {
        second.id: ("schedule_run", None, first.id),
        dead.id: ("next_try", moment(dead.next_try_at), None),
        more.id: ("share", None, None),
    }
    assert (found["queued"], found["waiting"]) == (3, [more.id])
    # And one that the caller may not read is not named
    hidden: Any = cast.limited(("topic", "other", "read"), ("job", "*", "read")).get("/api/v1/job-workers").json()
    assert [(each["job_id"], each["behind"]) for each in hidden["held"]] == [(None, None)] * 3


def test_a_job_that_one_may_not_read_is_only_counted(cast: Cast, job: Job, store: redis.Redis) -> None:
    services.claim(job.id, worker="w", host="h")
    services.create(BY, REPLAY)
    reader = cast.limited(("topic", "other", "read"), ("job", "*", "read"))
    found: Any = reader.get("/api/v1/job-workers").json()
    [worker] = found["items"]
    assert (worker["runs"], worker["hidden_runs"]) == ([], 1)
    assert found["waiting"] == [None]


def test_everybody_sees_the_own_share_and_of_others_only_sums(cast: Cast, job: Job, settings: Settings) -> None:
    settings.GANTRY_JOBS_QUEUED_PER_USER = 7
    running, _ = services.create(somebody("operator"), REPLAY), services.create(somebody("operator"), REPLAY)
    assert services.claim(running.id, worker="w", host="h") is not None
    services.create(somebody("admin"), REPLAY)

    def seen_by(browser: Any) -> Any:
        found = browser.get("/api/v1/job-workers").json()
        return found["queued"], found["yours"]

    own = {"running": 1, "most_running": 1, "queued": 1, "most_queued": 7}
    assert seen_by(cast.browser("operator")) == (3, own)
    assert seen_by(cast.browser("admin")) == (3, {"running": 0, "most_running": 1, "queued": 1, "most_queued": 7})
    assert seen_by(cast.browser("viewer")) == (3, {"running": 0, "most_running": 1, "queued": 0, "most_queued": 7})
    # A token has no share of its own
    assert seen_by(cast.program("operator", "read")) == (3, own)


def test_without_redis_nobody_knows_whether_a_worker_lives(cast: Cast, job: Job, settings: Settings) -> None:
    settings.GANTRY_REDIS_URL = "redis://127.0.0.1:1/0"
    workers.note(f"celery@{os.getpid()}")
    services.claim(job.id, worker="w", host="h")
    found: Any = cast.browser("viewer").get("/api/v1/job-workers").json()
    [worker] = found["items"]
    assert found["are_known"] is False
    assert (worker["name"], worker["pid"], worker["is_alive"], len(worker["runs"])) == ("w", None, None, 1)
