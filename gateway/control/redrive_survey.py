"""What a redrive would do, found by reading the dead letters without sending anything."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import BrowsePage, PlacedMessage
from broker_core.client.admin.topics import TopicKind, TopicStats, kind_of
from broker_core.client.errors import NameIllegal, TopicNotFound
from broker_core.protocol.codes import PERM_WRITE
from broker_core.protocol.dead_letters import DeadLetterFilter, origin_of
from broker_core.protocol.topics import dead_letter_topic, retry_topic
from console.redrives.ledger import Place
from gateway.control.dead_letter_reading import Positions
from gateway.control.dead_letter_shapes import DeadLetter, dead_letter_of

MOST_READ: Final = 20_000
"""Dead letters that a dry run reads; a job reads all."""
READ_SECONDS: Final = 6.0
_BLOCK: Final = 500
_NOT_SAID: Final = "they do not say which topic they came from"


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A chosen dead letter, without its body."""

    letter: DeadLetter
    body_bytes: int
    target: str | None
    """The topic of its copy; None if it has none."""

    @property
    def place(self) -> Place:
        """Where it is."""
        return Place(self.letter.broker, self.letter.queue_id, self.letter.queue_offset, self.letter.message_id)


@dataclass(slots=True)
class Survey:
    """The chosen dead letters, the oldest first, and how far they were read."""

    stats: TopicStats = field(default_factory=TopicStats)
    page: BrowsePage = field(default_factory=BrowsePage)
    chosen: list[Surveyed] = field(default_factory=list)
    read: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    """Topics that take no copies, and why."""
    groups: dict[str, set[str]] = field(default_factory=dict)
    """Groups that would see the copies, with the topics that they read."""

    members: int | None = None
    """Native clients of the group that are connected; None if a broker does not say. Asked for the group alone only."""
    is_timed: bool = False
    """Whether only those of a time range are read."""

    @property
    def stored(self) -> int:
        """How many there are: those that came after they were counted, and were read, are among them."""
        return max(self.stats.messages, self.read)

    @property
    def is_whole(self) -> bool:
        """Whether all dead letters that may be chosen were read."""
        return not self.page.positions and (self.is_timed or self.read >= self.stats.messages)

    def failing(self, letters: list[Surveyed]) -> int:
        """Return how many of the dead letters cannot be sent."""
        return sum(each.target is None or each.target in self.refused for each in letters)


async def survey(admin: Admin, group: str, wanted: DeadLetterFilter, target: dict[str, Any]) -> Survey:
    """Read dead letters of a group, and ask about the topics of their copies; raise TopicNotFound or Unreachable."""
    topic = dead_letter_topic(group)
    found = Survey(is_timed=wanted.begin_ms is not None or wanted.end_ms is not None)
    found.stats = await admin.topics.stats(topic)
    positions: Positions | None = None
    until = time.monotonic() + READ_SECONDS
    while True:
        found.page = page = await admin.messages.browse(
            topic,
            begin=wanted.begin_ms or 0,
            end=wanted.last_ms,
            limit=_BLOCK,
            positions=positions,
        )
        found.read += len(page.messages)
        found.chosen += [_surveyed(each, group, target) for each in page.messages if wanted.chooses(each.message)]
        positions = page.positions
        if not positions or page.failed or found.read >= MOST_READ or time.monotonic() > until:
            break
    found.chosen.reverse()
    await _look_at_targets(admin, found, group, target["to"])
    if target["to"] == "failed_group":
        seen = await admin.groups.connections(group)
        # One that is known is enough; none is known only if every broker answered.
        found.members = None if seen.failed and not seen.members else len(seen.members)
    return found


def _surveyed(placed: PlacedMessage, group: str, target: dict[str, Any]) -> Surveyed:
    message = placed.message
    origin = origin_of(message)
    topic = {"failed_group": retry_topic(group) if origin else None, "origin": origin}.get(
        target["to"], target.get("topic")
    )
    return Surveyed(dead_letter_of(placed), len(message.body), None if message.damage is not None else topic)


async def _look_at_targets(admin: Admin, found: Survey, group: str, to: str) -> None:
    targets = sorted({each.target for each in found.chosen if each.target is not None})
    for topic in targets:
        refusal = await _refusal(admin, topic, to)
        if refusal is not None:
            found.refused[topic] = refusal
        elif to == "failed_group":
            found.groups.setdefault(group, set()).add(topic)
        else:
            for names in (await admin.topics.groups(topic)).raise_if_none().found.values():
                for name in names:
                    found.groups.setdefault(name, set()).add(topic)


async def _refusal(admin: Admin, topic: str, to: str) -> str | None:
    """Return why a topic takes no copies, or None."""
    if to != "failed_group" and kind_of(topic) is not TopicKind.NORMAL:
        return f"topic {topic!r} belongs to the brokers or to a group"
    try:
        settings = await admin.topics.get(topic)
    except (TopicNotFound, NameIllegal) as error:
        return str(error)
    if to != "failed_group" and settings.kind is not TopicKind.NORMAL:
        return f"topic {topic!r} belongs to the brokers"
    return None if settings.perm & PERM_WRITE else f"topic {topic!r} is read-only"


def by_topic(letters: list[Surveyed]) -> Counter[str]:
    """Return how many copies each topic would get."""
    return Counter(each.target for each in letters if each.target is not None)
