"""The register of topics: settings, built-in topics, automatic creation (broker/README.md#topics).

Every change raises the data version, by which name servers detect changes. The register is saved as ``topics.json``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Final

import orjson

from broker_core.broker.config import Identity, TopicDefaults
from broker_core.broker.errors import BadConfigFile, IllegalTopicName, SystemTopic, TopicNameTooLong, TopicUnknown
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.saving import JsonFile
from broker_core.broker.shares import CreatedBy, FirstUses
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.topics import (
    DataVersion,
    TopicConfig,
    TopicConfigSerializeWrapper,
    is_same_version,
)
from broker_core.protocol.codes import PERM_INHERIT, PERM_READ, PERM_WRITE
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.topics import (
    BENCHMARK_TOPIC,
    HALF_TOPIC,
    MAX_TOPIC_NAME,
    NAME,
    OFFSET_MOVED_EVENT,
    OP_HALF_TOPIC,
    RETRY_PREFIX,
    SCHEDULE_TOPIC,
    SELF_TEST_TOPIC,
    SYSTEM_TOPICS,
    TEMPLATE_TOPIC,
    TIMER_TOPIC,
    TRANSACTION_EXPIRED_TOPIC,
    is_system_topic,
    reply_topic,
)

FILE_NAME: Final = "topics.json"

READ_WRITE: Final = PERM_READ | PERM_WRITE
_INHERITABLE: Final = READ_WRITE | PERM_INHERIT
_DELETED: Final = "deletedTopics"  # Gantry only: RocketMQ ignores these
_CREATED_BY: Final = "createdBy"
_BENCHMARK_QUEUES: Final = 1024
_CLUSTER_QUEUES: Final = 16
_SCHEDULE_QUEUES: Final = 18


@dataclass(frozen=True, slots=True)
class _Deletions:
    """What the file holds in addition to RocketMQ's fields: deleted topics and the time of their deletion (ms)."""

    deleted_topics: dict[str, int] = field(default_factory=dict)


def check_name(topic: str) -> None:
    """Raise IllegalTopicName unless `topic` is a valid topic name (protocol/README.md#names)."""
    if not topic.strip():
        raise IllegalTopicName("The specified topic is blank.")
    if NAME.fullmatch(topic) is None:
        raise IllegalTopicName("The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$")
    if len(topic) > MAX_TOPIC_NAME:
        raise TopicNameTooLong("The specified topic is longer than topic max length.")


def built_in(identity: Identity, defaults: TopicDefaults) -> list[TopicConfig]:
    """Return the topics that every broker has."""
    topics = [
        _topic(SELF_TEST_TOPIC, 1),
        _topic(BENCHMARK_TOPIC, _BENCHMARK_QUEUES),
        _topic(identity.cluster, _CLUSTER_QUEUES, _INHERITABLE if defaults.cluster_topic else PERM_INHERIT),
        _topic(identity.name, 1, _INHERITABLE if defaults.broker_topic else PERM_INHERIT),
        _topic(OFFSET_MOVED_EVENT, 1),
        _topic(SCHEDULE_TOPIC, _SCHEDULE_QUEUES),
        _topic(TIMER_TOPIC, 1),
        _topic(HALF_TOPIC, 1),
        _topic(OP_HALF_TOPIC, 1),
        _topic(TRANSACTION_EXPIRED_TOPIC, 1),
        _topic(reply_topic(identity.cluster), 1),
    ]
    if defaults.auto_create_topics:
        topics.append(_topic(TEMPLATE_TOPIC, defaults.queues, _INHERITABLE))
    if defaults.trace_topic:
        topics.append(_topic(defaults.trace_topic_name, 1))
    return topics


class Topics:
    """All topics of this broker, by name."""

    def __init__(self, file: JsonFile, *, identity: Identity, defaults: TopicDefaults, limits: BrokerLimits) -> None:
        self._file = file
        self._identity = identity
        self._limits = limits
        self._first_uses = FirstUses(limits, "topics")
        self._table = {topic.topic_name: topic for topic in built_in(identity, defaults)}
        # Looked through at each registration, which must not take longer with more topics.
        self._ordered: set[str] = set()
        self._own = frozenset({identity.cluster, identity.name, reply_topic(identity.cluster)})
        self._deleted: dict[str, int] = {}
        self.version = DataVersion()
        self.is_changed = False
        # The version's counter at each topic's last change, most recent last, and at the last change of all topics.
        self._changed_at: dict[str, int] = {}
        self._all_changed_at = 0
        # With ten thousand topics, writing all of them anew took most of the time of creating one.
        self._lines: dict[str, tuple[TopicConfig, bytes]] = {}

    def __len__(self) -> int:
        return len(self._table)

    def find(self, topic: str) -> TopicConfig | None:
        """Return a topic's settings."""
        return self._table.get(topic)

    def get(self, topic: str) -> TopicConfig:
        """Return a topic's settings; raise TopicUnknown."""
        config = self._table.get(topic)
        if config is None:
            raise TopicUnknown(topic)
        return config

    def all(self) -> Collection[TopicConfig]:
        """Return all topics, built-in ones included."""
        return self._table.values()

    def system_names(self) -> list[str]:
        """Return the names of the topics of the broker itself."""
        return sorted(SYSTEM_TOPICS | self._own)

    def check_is_not_system(self, topic: str) -> None:
        """Raise SystemTopic for a topic that may not be changed by administration."""
        if is_system_topic(topic) or topic in self._own:
            raise SystemTopic(topic)

    def wrapper(self) -> TopicConfigSerializeWrapper:
        """Return all topics with their version, as sent over the wire and saved in the file."""
        return TopicConfigSerializeWrapper(self.version, dict(self._table))

    def changed_since(self, version: DataVersion) -> TopicConfigSerializeWrapper:
        """Return the topics that changed since `version`, which must be of this process, with the current version."""
        if version.counter < self._all_changed_at:
            return self.wrapper()
        news = takewhile(lambda each: each[1] > version.counter, reversed(self._changed_at.items()))
        return TopicConfigSerializeWrapper(self.version, {name: self._table[name] for name, _ in news})

    # -- changes; all of them raise the version

    def put(self, config: TopicConfig, *, now: int) -> None:
        """Create a topic or replace its settings; raise LimitReached when there are too many topics."""
        name = config.topic_name
        if name not in self._table and len(self._table) >= self._limits.topics:
            raise self._limits.refuse("topics", f"topic {name!r} was not created")
        self._set(config)
        self._deleted.pop(name, None)
        self._changed(now, name)

    def put_all(self, configs: Sequence[TopicConfig], *, now: int) -> None:
        """Put several topics; raise LimitReached when there would be too many of them, before any change."""
        news = {config.topic_name for config in configs} - self._table.keys()
        if news and len(self._table) + len(news) > self._limits.topics:
            raise self._limits.refuse("topics", f"topic {min(news)!r} was not created")
        for config in configs:
            self.put(config, now=now)

    def create_like(
        self, template: str, topic: str, *, queues: int, sys_flag: int, now: int, account: str = ""
    ) -> TopicConfig:
        """Create a topic from its template (broker/README.md#creating-a-topic-by-sending); it counts for the account.

        Raises IllegalTopicName, LimitReached, and TopicUnknown if the template is missing or not inheritable.
        """
        check_name(topic)
        model = self._table.get(template)
        if model is None or not model.perm & PERM_INHERIT:
            raise TopicUnknown(topic)
        count = max(min(queues, model.write_queue_nums), 0)
        config = replace(
            model,
            topic_name=topic,
            read_queue_nums=count,
            write_queue_nums=count,
            perm=model.perm & ~PERM_INHERIT,
            topic_sys_flag=sys_flag,
        )
        self._put_first(config, now, account)
        return config

    def get_or_create(self, topic: str, *, queues: int, now: int, account: str = "") -> TopicConfig:
        """Return a retry or dead-letter topic, created if it is missing: it counts for the account then.

        Raises IllegalTopicName or LimitReached.
        """
        config = self._table.get(topic)
        if config is None:
            check_name(topic)
            config = _topic(topic, queues)
            self._put_first(config, now, account)
        return config

    def _put_first(self, config: TopicConfig, now: int, account: str) -> None:
        name = config.topic_name
        self._first_uses.check(account, len(self._table), f"topic {name!r} was not created")
        self.put(config, now=now)
        self._first_uses.add(name, account)

    def find_or_restore(self, topic: str, *, now: int) -> TopicConfig | None:
        """Return a topic; a retry topic that was lost and not deleted is there again, whatever the limit of topics.

        It is created by a heartbeat, and a crash may come before it is saved.
        """
        known = self._table.get(topic)
        if known is None and topic.startswith(RETRY_PREFIX) and topic not in self._deleted:
            self._table[topic] = known = _topic(topic, 1)
            self._changed(now, topic)
        return known

    def delete(self, topic: str, *, now: int) -> None:
        """Delete a topic; nothing happens for an unknown topic."""
        if self._table.pop(topic, None) is not None:
            self._deleted[topic] = now
            self._first_uses.forget(topic)
            self._ordered.discard(topic)
            self._changed_at.pop(topic, None)
            self._changed(now)

    def offer(self, defaults: TopicDefaults, *, now: int) -> bool:
        """Create or update the templates of automatic topic creation as the settings say; return whether one changed.

        If automatic creation is off, an existing template can no longer be inherited from.
        """
        wanted = {topic.topic_name: topic for topic in built_in(self._identity, defaults)}
        known = self._table.get(TEMPLATE_TOPIC)
        if known is not None:
            wanted.setdefault(TEMPLATE_TOPIC, replace(known, perm=READ_WRITE))
        templates = [
            wanted[name] for name in (self._identity.cluster, self._identity.name, TEMPLATE_TOPIC) if name in wanted
        ]
        changed = [topic for topic in templates if topic != self._table.get(topic.topic_name)]
        for topic in changed:
            self._set(topic)
        if changed:
            self._changed(now, *(topic.topic_name for topic in changed))
        return bool(changed)

    def replace(self, wrapper: TopicConfigSerializeWrapper, *, now: int) -> bool:
        """Become the register of another broker, with its version; return whether anything was different.

        Topics that it does not have count as deleted: their queues are dropped when the store is opened next.
        """
        if is_same_version(wrapper.data_version, self.version):
            return False
        table = wrapper.topic_config_table
        self._deleted = {name: time for name, time in self._deleted.items() if name not in table}
        self._deleted |= {name: now for name in self._table if name not in table and not is_system_topic(name)}
        self._table = dict(table)
        self._ordered = {name for name, config in table.items() if config.order}
        self._changed_at = {}
        self.version = wrapper.data_version
        self._all_changed_at = self.version.counter
        self.is_changed = True
        return True

    def touch(self, *, now: int) -> None:
        """Raise the version, so that name servers fetch all topics again."""
        self._changed(now)
        self._all_changed_at = self.version.counter

    def apply_order(self, ordered: Collection[str], *, now: int) -> None:
        """Mark exactly the topics that the name servers list as ordered."""
        differing = sorted(self._ordered.symmetric_difference(ordered))
        wrong = [self._table[name] for name in differing if name in self._table]
        for config in wrong:
            self._set(replace(config, order=not config.order))
        if wrong:
            self._changed(now, *(config.topic_name for config in wrong))

    def adopt(self, queues: Iterable[tuple[str, int]], *, now: int) -> tuple[list[str], list[str]]:
        """After a crash, handle topics that have queues in the store but are missing from the register.

        Topics whose settings were lost get as many queues as the store has, so that no acknowledged message is hidden.
        Deleted topics whose queues were rebuilt from the log must be deleted again by the caller. Returns the names of
        both.
        """
        unknown: dict[str, int] = {}
        for topic, queue_id in queues:
            if topic not in self._table:
                unknown[topic] = max(unknown.get(topic, 0), queue_id + 1)
        lost = [topic for topic in unknown if topic not in self._deleted]
        for topic in lost:
            self._table[topic] = _topic(topic, unknown[topic])
        if lost:
            self._changed(now, *lost)
        return lost, [topic for topic in unknown if topic in self._deleted]

    def restore(self, queues: Iterable[tuple[str, int]], *, now: int) -> list[str]:
        """Take back every topic that has queues in the store, for a master whose predecessor knew more topics.

        A topic that was deleted has no queues any more, unless it was made again since. Returns their names.
        """
        self._deleted = {}
        lost, _ = self.adopt(queues, now=now)
        return lost

    def forget_deleted(self, before: int) -> None:
        """Forget topics that were deleted before a time (ms): the log has none of their messages any more."""
        self._deleted = {topic: time for topic, time in self._deleted.items() if time >= before}

    def _set(self, config: TopicConfig) -> None:
        self._table[config.topic_name] = config
        (self._ordered.add if config.order else self._ordered.discard)(config.topic_name)

    def _changed(self, now: int, *names: str) -> None:
        self.version = DataVersion(self.version.counter + 1, now, self.version.state_version)
        self.is_changed = True
        for name in names:
            self._changed_at.pop(name, None)
            self._changed_at[name] = self.version.counter

    # -- the file

    def text(self) -> bytes:
        """Return the current content for the file, and mark the register as saved."""
        self.is_changed = False
        known, self._lines = self._lines, {}
        for name, config in self._table.items():
            line = known.get(name)
            if line is None or line[0] is not config:
                line = config, orjson.dumps(name) + b": " + orjson.dumps(coder.to_tree(config))
            self._lines[name] = line
        return b'{\n"dataVersion": %b,\n"%b": %b,\n"%b": %b,\n"topicConfigTable": {\n%b\n}}\n' % (
            orjson.dumps(coder.to_tree(self.version)),
            _DELETED.encode(),
            orjson.dumps(self._deleted),
            _CREATED_BY.encode(),
            orjson.dumps(self._first_uses.table().created_by),
            b",\n".join(line for _, line in self._lines.values()),
        )

    def save(self, text: bytes) -> None:
        """Write a text returned by `text()`; may run in another thread. Raises OSError."""
        self._file.save(text)

    def load(self) -> None:
        """Add the topics of the file to the built-in ones, overriding these; raises BadConfigFile."""
        tree: Any = self._file.load()
        if tree is None:
            return
        try:
            wrapper = coder.from_tree(TopicConfigSerializeWrapper, tree)
            deleted: dict[str, int] = coder.from_tree(_Deletions, tree).deleted_topics
            created_by = coder.from_tree(CreatedBy, tree).created_by
        except MalformedBody as error:
            raise BadConfigFile(f"{self._file} is not a table of topics: {error}") from error
        self._table.update(wrapper.topic_config_table)
        self._ordered = {name for name, config in self._table.items() if config.order}
        self._deleted = deleted
        self._first_uses.load(created_by, self._table)
        self.version = wrapper.data_version


def _topic(name: str, queues: int, perm: int = READ_WRITE) -> TopicConfig:
    return TopicConfig(name, read_queue_nums=queues, write_queue_nums=queues, perm=perm)
