"""Which producers write to a topic, by the sends that were stored (broker/README.md#producers-of-a-topic).

On the hot path counting is one look-up and two additions for each request; order and limits are kept when a producer
sends for the first time in a minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

MOST_OF_TOPIC: Final = 1_000
MOST: Final = 50_000
MINUTE_MS: Final = 60_000

Key: TypeAlias = tuple[str, str, str]
"""Topic, producer group and the connection's ``ip:port``."""


@dataclass(slots=True)
class Sends:
    """What one connection sent to a topic in one producer group; times in ms. The client id is empty until known."""

    client_id: str
    language: int
    version: int
    messages: int = 0
    last_at: int = 0
    minute: int = 0
    before_minute: int = 0
    """How many of the messages were counted before `minute` began."""
    last_minute: int = 0
    """How many messages the minute before `minute` had."""

    def turn(self, minute: int) -> None:
        """Begin to count for another minute."""
        is_next = minute == self.minute + 1
        self.last_minute = self.messages - self.before_minute if is_next else 0
        self.before_minute, self.minute = self.messages, minute

    def rate(self, now: int) -> float:
        """Return the messages a second over the last minute: this minute's, and the last one's by its share in it."""
        minute, elapsed = divmod(now, MINUTE_MS)
        counted = self.messages - self.before_minute
        this, last = {0: (counted, self.last_minute), 1: (0, counted)}.get(minute - self.minute, (0, 0))
        return (this + last * (MINUTE_MS - elapsed) / MINUTE_MS) * 1000 / MINUTE_MS


class TopicProducers:
    """The producers of every topic; beyond a limit the one that has been silent for the longest is forgotten.

    `now` is when counting begins, in ms.
    """

    def __init__(self, now: int, *, most: int = MOST, most_of_topic: int = MOST_OF_TOPIC) -> None:
        self._began = now
        self._most = most
        self._most_of_topic = most_of_topic
        self._sends: dict[Key, Sends] = {}
        self._by_topic: dict[str, dict[Key, Sends]] = {}
        self._complete_since: dict[str, int] = {}

    def __len__(self) -> int:
        """How many producers are known, in all topics together."""
        return len(self._sends)

    def find(self, key: Key) -> Sends | None:
        """Return the sends of a producer."""
        return self._sends.get(key)

    def add(self, key: Key, sends: Sends) -> None:
        """Add a producer; the oldest of its topic, or of all topics, go where there are too many."""
        of_topic = self._by_topic.setdefault(key[0], {})
        if len(of_topic) >= self._most_of_topic:
            self._drop(next(iter(of_topic)))
        elif len(self._sends) >= self._most:
            self._drop(next(iter(self._sends)))
        self._sends[key] = self._by_topic.setdefault(key[0], {})[key] = sends

    def count(self, key: Key, sends: Sends, messages: int, now: int) -> None:
        """Count stored messages of a known producer."""
        minute = now // MINUTE_MS
        if minute != sends.minute:
            sends.turn(minute)
            of_topic = self._by_topic[key[0]]
            self._sends[key] = self._sends.pop(key)  # dictionaries keep the order: the silent ones come first
            of_topic[key] = of_topic.pop(key)
        sends.messages += messages
        sends.last_at = now

    def of(self, topic: str) -> dict[Key, Sends]:
        """Return the producers of a topic."""
        return self._by_topic.get(topic, {})

    def complete_since(self, topic: str) -> int:
        """Return since when no producer of the topic is missing: the broker's start, unless some were forgotten."""
        return self._complete_since.get(topic, self._began)

    def rate(self, sends: Sends, now: int) -> float | None:
        """Return a producer's messages a second over the last minute; None while counting has not lasted so long."""
        return sends.rate(now) if now - self._began >= MINUTE_MS else None

    def forget(self, topic: str) -> None:
        """Forget a deleted topic."""
        for key in self._by_topic.pop(topic, {}):
            del self._sends[key]
        self._complete_since.pop(topic, None)

    def _drop(self, key: Key) -> None:
        dropped, topic = self._sends.pop(key), key[0]
        of_topic = self._by_topic[topic]
        del of_topic[key]
        if not of_topic:
            del self._by_topic[topic]
        self._complete_since[topic] = max(self.complete_since(topic), dropped.last_at + 1)
