"""The SQL92 filters of consumer groups, kept as Apache RocketMQ keeps them in ``consumerFilter.json``.

A filter is registered by heartbeats and outlives its consumers by a day. Its group has places among the bits of a
message; they are set when the message passes (broker/README.md#filter-bits).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.filters.bloom import Bloom
from broker_core.broker.filters.settings import FilterSettings
from broker_core.broker.saving import JsonFile
from broker_core.logs import get_logger
from broker_core.protocol.bodies.heartbeat import SubscriptionData
from broker_core.protocol.errors import MalformedRecord
from broker_core.protocol.properties import parse_properties
from broker_core.protocol.record import read_head
from broker_core.sql92 import IllegalExpression, Sql92, compile_sql92
from broker_core.store.fetch import BitTest

FILE_NAME: Final = "consumerFilter.json"
MOST: Final = 10_000
"""Of filters that are registered; the groups of further ones get no bits, and their messages are all tested."""

_SQL92: Final = "SQL92"
# How long a consumer must have been gone when the broker starts, ms.
_GONE_MS: Final = 30_000

_log = get_logger(__name__)


@dataclass(slots=True)
class Registered:
    """The filter of a group on a topic, since `born` (ms). It is dead when its group has left (`dead` >= `born`)."""

    topic: str
    group: str
    expression: str
    version: int
    born: int
    places: tuple[int, ...]
    compiled: Sql92 | None
    dead: int = 0

    @property
    def is_dead(self) -> bool:
        """Whether no consumer of the group is connected."""
        return self.dead >= self.born


@dataclass(slots=True)
class ConsumerFilters:
    """Filters by topic and group. `clock` returns ms, never less than the store time of a message that has its bits."""

    file: JsonFile
    settings: FilterSettings
    clock: Callable[[], int]
    is_changed: bool = False
    bloom: Bloom = field(init=False)
    _by_topic: dict[str, dict[str, Registered]] = field(default_factory=dict)
    _topics_of: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bloom = self.settings.bloom

    # -- registering

    def register(self, group: str, subscriptions: Sequence[SubscriptionData]) -> None:
        """Take the subscriptions of a heartbeat: new filters, those that changed, and those that are left."""
        filters = [each for each in subscriptions if each.expression_type == _SQL92 and each.sub_string]
        if not filters and group not in self._topics_of:
            return
        for each in filters:
            self._register(group, each)
        self._end(group, self._topics_of.get(group, set()) - {each.topic for each in subscriptions})

    def unregister(self, group: str) -> None:
        """Let the filters of a group without members die."""
        self._end(group, self._topics_of.get(group, set()))

    def _end(self, group: str, topics: Iterable[str]) -> None:
        for topic in topics:
            known = self._by_topic[topic][group]
            if not known.is_dead:
                known.dead = max(self.clock(), known.born)
                self.is_changed = True

    def _register(self, group: str, wanted: SubscriptionData) -> None:
        known, version = self.find(wanted.topic, group), wanted.sub_version
        if known is not None and (version < known.version or (version == known.version and not known.is_dead)):
            return
        self.is_changed = True
        if known is not None and (version == known.version or known.expression == wanted.sub_string):
            known.version, known.dead = version, 0
            return
        try:
            compiled = compile_sql92(wanted.sub_string)
        except IllegalExpression:
            self._forget(wanted.topic, group)
            return
        places = self.bloom.places_of(group, wanted.topic)
        self._put(Registered(wanted.topic, group, wanted.sub_string, version, self.clock(), places, compiled))

    def _put(self, filter_: Registered) -> None:
        self._clean()
        if sum(map(len, self._topics_of.values())) < MOST or self.find(filter_.topic, filter_.group):
            self._by_topic.setdefault(filter_.topic, {})[filter_.group] = filter_
            self._topics_of.setdefault(filter_.group, set()).add(filter_.topic)

    def _forget(self, topic: str, group: str) -> None:
        if self.find(topic, group) is None:
            return
        for table, key, part in ((self._by_topic, topic, group), (self._topics_of, group, topic)):
            found: Any = table[key]
            found.pop(part) if isinstance(found, dict) else found.discard(part)
            if not found:
                del table[key]

    def _clean(self) -> None:
        before = self.clock() - self.settings.kept_ms
        every = [each for groups in self._by_topic.values() for each in groups.values()]
        for old in (each for each in every if each.is_dead and each.dead <= before):
            self._forget(old.topic, old.group)

    # -- using

    def find(self, topic: str, group: str) -> Registered | None:
        """Return the filter of a group on a topic."""
        return self._by_topic.get(topic, {}).get(group)

    def bit_test(self, topic: str, group: str, expression: str) -> BitTest | None:
        """Return the test by bits that stands for an expression, if it is the one that is registered."""
        known = self.find(topic, group)
        if known is None or known.compiled is None or known.expression != expression:
            return None
        return BitTest(known.born, self.bloom.bytes_of(known.places))

    def bits_of(self, topic: str, record: memoryview) -> bytes:
        """Return the bits of a record of a topic: the places of all groups whose filters it passes."""
        filters = self._by_topic.get(topic)
        if not filters:
            return b""
        try:
            head = read_head(record)
        except MalformedRecord:
            return b""
        properties = parse_properties(str(record[head.properties_begin : head.properties_end], "utf-8", "replace"))
        passed = (each for each in filters.values() if each.compiled and each.compiled.matches(properties))
        return self.bloom.bytes_of(place for each in passed for place in each.places)

    # -- the file

    def text(self) -> bytes:
        """Return the current content for the file, and mark the register as saved."""
        self._clean()
        self.is_changed = False
        table = {
            topic: {"groupFilterData": {group: self._tree(each) for group, each in groups.items()}, "topic": topic}
            for topic, groups in self._by_topic.items()
        }
        return orjson.dumps({"filterDataByTopic": table}, option=orjson.OPT_INDENT_2)

    def save(self, text: bytes) -> None:
        """Write a text returned by `text()`; may run in another thread. Raises OSError."""
        self.file.save(text)

    def _tree(self, each: Registered) -> dict[str, object]:
        return {
            "bloomFilterData": {"bitNum": self.bloom.bits, "bitPos": each.places},
            "bornTime": each.born,
            "clientVersion": each.version,
            "consumerGroup": each.group,
            "dead": each.is_dead,
            "deadTime": each.dead,
            "expression": each.expression,
            "expressionType": _SQL92,
            "topic": each.topic,
        }

    def load(self) -> None:
        """Take the filters of the file, all dead; none if their bits have another geometry. Raises BadConfigFile."""
        tree: Any = self.file.load()
        try:
            groups = [each["groupFilterData"] for each in ((tree or {}).get("filterDataByTopic") or {}).values()]
            found = [self._of(each) for several in groups for each in several.values()]
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise BadConfigFile(f"{self.file} is not a table of filters: {error!r}") from error
        if None in found:
            _log.warning("file=%s: its bits have another geometry; filters are registered anew", self.file)
            return
        for each in found:
            if each is not None:
                self._put(each)

    def _of(self, tree: dict[str, Any]) -> Registered | None:
        """Return the filter of an entry; None for another geometry."""
        bits = tree.get("bloomFilterData") or {}
        places = tuple(int(place) for place in bits.get("bitPos") or ())
        if (bits.get("bitNum"), len(places)) != (self.bloom.bits, self.bloom.places):
            return None
        if not all(0 <= place < self.bloom.bits for place in places):
            raise ValueError(f"there is no bit {max(places)}")
        born, dead, expression = int(tree["bornTime"]), int(tree.get("deadTime", 0)), str(tree["expression"])
        try:
            compiled = compile_sql92(expression)
        except IllegalExpression as error:
            _log.warning("file=%s: the filter of %s does not compile: %s", self.file, tree["consumerGroup"], error)
            compiled = None
        dead = dead or max(born, self.clock() - _GONE_MS)
        topic, group, version = str(tree["topic"]), str(tree["consumerGroup"]), int(tree["clientVersion"])
        return Registered(topic, group, expression, version, born, places, compiled, dead)
