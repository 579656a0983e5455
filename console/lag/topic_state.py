"""Makes the state of a topic from a reading. Unknown is None, never zero."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from broker_core.client.admin.topics import Topic
from console.lag.facts import BrokerFacts
from console.lag.following import Changed
from console.lag.group_state import missing_of
from console.lag.rates import Rates
from console.lag.reading import LagReading
from console.lag.shapes import TopicLastKnown, TopicState
from console.moments import rfc3339

# Among many topics a quiet one is read once in minutes; its rate is as old as its figures, which show their age.
_STALE_MS: Final = 15 * 60 * 1000


class TopicStates:
    """Makes the states of one cluster's topics; remembers what rates and last known figures need."""

    def __init__(self) -> None:
        # By broker: what one of them confirms says nothing of another.
        self._written: defaultdict[str, Rates[str]] = defaultdict(lambda: Rates(stale_ms=_STALE_MS))
        self._seen: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._last: Mapping[str, TopicLastKnown] = {}

    def begin_with(self, last: Mapping[str, TopicLastKnown]) -> None:
        """Take over the last known figures, by topic, from before this process started."""
        self._last = last

    def see(self, reading: LagReading) -> None:
        """Record what the brokers said since the last reading."""
        for broker, facts in reading.facts.items():
            self._note(broker, facts, facts.ends)
            seen = self._seen[broker]
            for gone in seen.keys() - facts.ends.keys():
                del seen[gone]
            self._written[broker].keep(seen)
            if facts.followed_at:
                self._written[broker].confirm(facts.followed_at)

    def see_changed(self, reading: LagReading, changed: Mapping[str, Changed]) -> None:
        """Record what the brokers said of the topics that changed; all others are as they were."""
        for broker, facts in reading.facts.items():
            self._note(broker, facts, changed[broker].topics & facts.ends.keys())
            self._written[broker].confirm(facts.followed_at)

    def _note(self, broker: str, facts: BrokerFacts, topics: Iterable[str]) -> None:
        seen, written = self._seen[broker], self._written[broker]
        for topic in topics:
            at = facts.ended_at(topic)
            if seen.get(topic) != at:
                seen[topic] = at
                written.see(at, {topic: sum(end.max_offset for end in facts.ends[topic].values())})

    def of(
        self, reading: LagReading, topic: Topic, lags: Collection[int | None], before: TopicState | None
    ) -> TopicState:
        """Return the state of one topic with the lags of its groups; `before` is its last one."""
        name = topic.name
        missing = [each for each in reading.missing if each.holds_topic(name)]
        facts = [facts for broker in topic.configs if (facts := reading.facts.get(broker)) is not None]
        known = [lag for lag in lags if lag is not None]
        # A broker that is silent may know groups that no other one does.
        is_heard = bool(facts) and not missing
        shown = TopicState(
            name=name,
            groups=len(lags) if is_heard else None,
            max_lag=max(known, default=0) if len(known) == len(lags) and is_heard else None,
            missing=missing_of(missing),
        )
        if missing or not facts or not all(name in each.ends for each in facts):
            shown.last_known = self._last.get(name) if before is None else last_known_of(before)
            return shown
        ends = [end for each in facts for end in each.ends.get(name, {}).values()]
        stored_at = max((end.last_update_timestamp for end in ends), default=0)
        shown.measured_at = rfc3339(min(each.ended_at(name) for each in facts))
        shown.messages = sum(end.max_offset - end.min_offset for end in ends)
        shown.size_bytes = _whole_sum(each.kept_bytes.get(name) for each in facts)
        shown.in_rate = self._rate(topic)
        shown.last_stored_at = rfc3339(stored_at) if stored_at else None
        return shown

    def _rate(self, topic: Topic) -> float | None:
        rates = [self._written[broker].find(topic.name) for broker in topic.configs]
        known = [rate for rate in rates if rate is not None]
        return sum(known) if known and len(known) == len(rates) else None


def last_known_of(state: TopicState) -> TopicLastKnown | None:
    """Return the figures of a state, or those that it shows as the last known ones."""
    if state.measured_at is None:
        return state.last_known
    return TopicLastKnown(
        at=state.measured_at,
        messages=state.messages,
        in_rate=state.in_rate,
        last_stored_at=state.last_stored_at,
        # Of a topic without groups there is no lag that could be the largest.
        max_lag=state.max_lag if state.groups else None,
    )


def _whole_sum(values: Iterable[int | None]) -> int | None:
    """Return the sum; None if one of them is unknown."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if len(known) == len(found) else None
