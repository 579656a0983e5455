"""Pages and figures of what waits, put together from the answers of all brokers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from heapq import merge
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.admin.timers import Place
from broker_core.client.answers import Answers
from broker_core.client.errors import NotSupported
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.bodies.timers import TimerSummary, WaitingMessage
from broker_core.protocol.headers.timers import ListTimersRequest
from console.clusters.memory import Remembered
from console.moments import rfc3339
from gateway.control.scheduled_shapes import ScheduledBucket, ScheduledDay, ScheduledTopic

MOST_READ: Final = 2_000
"""Messages that one page reads, for a caller who may not see all of them."""

_SHORTEST_MS: Final = 60_000
"""The shortest bucket of time that brokers count by."""

MaySee = Callable[[str], bool]
"""Whether the caller may read a topic."""


@dataclass(slots=True)
class WaitingPage:
    """Messages with their brokers, the places behind which the next page goes on, and the brokers that failed.

    A place is None for a broker that has no more.
    """

    messages: list[tuple[WaitingMessage, str]]
    positions: dict[str, Place | None]
    failed: Mapping[str, GantryError]

    @property
    def has_more(self) -> bool:
        """Whether a next page may have messages."""
        return any(place is not None for place in self.positions.values())


async def waiting_page(
    admin: Admin, wanted: ListTimersRequest, positions: dict[str, Place | None], may_see: MaySee
) -> WaitingPage:
    """Return the first messages of all brokers behind `positions`; raise the error if no broker has such a list."""
    page = WaitingPage([], dict(positions), {})
    read = 0
    while len(page.messages) < wanted.limit and read < MOST_READ:
        answers = await admin.timers.pages(page.positions, wanted)
        check_served(answers)
        page.failed = {**page.failed, **answers.failed}
        for name in answers.failed:
            page.positions[name] = None
        read += _take(page, answers, wanted.limit, may_see)
        if not page.has_more:
            break
    return page


def _take(page: WaitingPage, answers: Answers, limit: int, may_see: MaySee) -> int:  # type: ignore[type-arg]
    """Move messages to the page in the order of their times; return how many were read."""
    lines = [[(each.due, each.seq, name, each) for each in found.messages] for name, found in answers.found.items()]
    taken: Counter[str] = Counter()
    for due, seq, name, waiting in merge(*lines, key=lambda line: (line[0], line[2], line[1])):
        if len(page.messages) == limit:
            break
        taken[name] += 1
        page.positions[name] = due, seq
        if may_see(waiting.topic):
            page.messages.append((waiting, name))
    for name, found in answers.found.items():
        page.positions.setdefault(name, (-1, -1))
        if taken[name] == len(found.messages):
            page.positions[name] = None if found.is_last else (found.after_due, found.after_seq)
    return sum(len(found.messages) for found in answers.found.values())


def check_served(answers: Answers) -> None:  # type: ignore[type-arg]
    """Raise the error of the brokers if none of them answered."""
    if not answers.found and answers.failed:
        errors = list(answers.failed.values())
        raise next((error for error in errors if not isinstance(error, NotSupported)), errors[0])


async def waiting_of(admin: Admin, known: Remembered, topics: Iterable[str]) -> dict[str, int | None]:
    """Return how many messages wait for their time in each topic; None where a broker does not tell.

    `known` has the brokers that may hold some: of one that is not there any more it is not known.
    """
    now = now_ms()
    answers = await admin.timers.summary(now, now + _SHORTEST_MS, _SHORTEST_MS)
    counts: Counter[str] = Counter()
    for each in (topic for summary in answers.found.values() for topic in summary.topics):
        counts[each.topic] += each.waiting
    missing = known.missing(answers.found)
    return {
        topic: None if answers.failed or any(broker.holds(topic) for broker in missing) else counts[topic]
        for topic in topics
    }


def topics_of(found: Mapping[str, TimerSummary], may_see: MaySee) -> list[ScheduledTopic]:
    """Return what waits by topic, of all brokers together, most first."""
    waiting: Counter[str] = Counter()
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for each in (topic for summary in found.values() for topic in summary.topics):
        waiting[each.topic] += each.waiting
        first[each.topic] = min(each.first_due, first.get(each.topic, each.first_due))
        last[each.topic] = max(each.last_due, last.get(each.topic, each.last_due))
    return [
        ScheduledTopic(topic=topic, waiting=count, first_due_at=rfc3339(first[topic]), last_due_at=rfc3339(last[topic]))
        for topic, count in waiting.most_common()
        if may_see(topic)
    ]


def buckets_of(found: Mapping[str, TimerSummary], may_see: MaySee) -> list[ScheduledBucket]:
    """Return what is due by bucket and topic, of all brokers together, in the order of time."""
    due: Counter[tuple[int, str]] = Counter()
    for each in (bucket for summary in found.values() for bucket in summary.buckets):
        due[each.begin, each.topic] += each.due
    return [
        ScheduledBucket(begin=rfc3339(begin), topic=topic, due=count)
        for (begin, topic), count in sorted(due.items())
        if may_see(topic)
    ]


def last_day_of(found: Mapping[str, TimerSummary]) -> ScheduledDay | None:
    """Return what happened in the last day on all brokers together; None if none answered."""
    if not found:
        return None
    summaries = found.values()
    return ScheduledDay(
        delivered=sum(each.delivered for each in summaries),
        late=sum(each.late for each in summaries),
        worst_late_ms=max(each.worst_late_ms for each in summaries),
        recalled=sum(each.recalled for each in summaries),
        since=rfc3339(max(each.since for each in summaries)),
    )
