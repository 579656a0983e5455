"""A schedule whose topic keeps receiving: real programs copy each message once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import pytest
from django.utils import timezone

from broker_core.client.blocking import BlockingSession
from broker_core.protocol.message import Message
from console.audit.record import Actor
from console.jobs import launcher, schedules, services
from console.jobs import schedule as clock
from console.jobs.models import Job, JobState, Schedule
from tests.support.cast import somebody
from tests.support.replays import make_topic, read_topic
from tests.support.wait import wait_until

# One Java for the three runs.
pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("pool")]
BY = Actor.system("test")


@contextmanager
def receiving(embedded: BlockingSession, topic: str) -> Iterator[Callable[[], int]]:
    """Send numbered messages until the block ends; yield a function that returns how many were sent."""
    producer, sent, ended = embedded.producer(), count(1), threading.Event()
    numbers = [0]

    def work() -> None:
        while not ended.wait(0.005):
            number = next(sent)
            embedded.run(producer.send(Message(topic, b"%d" % number)))
            numbers[0] = number

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield lambda: numbers[0]
    finally:
        ended.set()
        thread.join()


def run(job: Job) -> None:
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    log = services.folder_of(job) / "log"
    assert job.state == JobState.SUCCEEDED, f"{job.state_reason}\n{log.read_text()}"


def fired(schedule: Schedule) -> Job:
    """Make the schedule due; return its job."""
    now = timezone.now()
    Schedule.objects.filter(pk=schedule.pk).update(next_run_at=now)
    (job,) = clock.step(now)
    return job


def test_two_runs_of_a_schedule_and_one_beside_them_copy_each_message_once(embedded: BlockingSession) -> None:
    make_topic(embedded, "from-shop")
    make_topic(embedded, "shop-copy")
    schedule = schedules.add_schedule(
        somebody("operator"),
        {
            "name": "copy", "cron": "0 * * * *", "zone": "UTC", "enabled": True, "overlap": "queue",
            "job": {
                "type": "replay", "cluster": "local", "target": {"topic": "shop-copy"},
                "source": {"topic": "from-shop", "from": "{{ last_success }}"},
            },
        },
    )  # fmt: skip
    with receiving(embedded, "from-shop") as sent:
        # Given a scheduled run and a manual one while messages arrive
        run(fired(schedule))
        run(schedules.run_now(BY, schedule))
        wait_until(lambda: sent() > 100)
    # When the schedule runs once more
    last = fired(schedule)
    run(last)
    # Then every message was copied once
    copies = Counter(int(each.body) for queue in read_topic(embedded, "shop-copy").values() for each in queue)
    assert copies == Counter(range(1, sent() + 1))
    assert last.counters["written"] < sent()
