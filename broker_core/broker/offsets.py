"""The progress of each group: the next offset to consume in every queue (broker/README.md#consumer-offsets).

The register accepts every offset unchecked, smaller ones too, because the last writer wins. It is saved as
``consumerOffset.json`` every five seconds and at shutdown; messages whose offsets a crash loses are delivered again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from itertools import takewhile
from typing import Any, Final

import orjson

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.pop.leases import Leases
from broker_core.broker.saving import JsonFile
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.groups import ConsumerOffsetSerializeWrapper
from broker_core.protocol.errors import MalformedBody

FILE_NAME: Final = "consumerOffset.json"
_SEPARATOR: Final = "@"
_NOTHING: Final[Mapping[int, int]] = {}


class ConsumerOffsets:
    """Consumer offsets by group, topic and queue id."""

    def __init__(self, file: JsonFile) -> None:
        self._file = file
        self._groups: dict[str, dict[str, dict[int, int]]] = {}
        self.is_changed = False
        self.changes = 0
        """Counts what changed, for `changed_since`."""
        self._changed_at: dict[str, int] = {}  # each group's last change, most recent last
        self._moved: set[str] = set()

    def commit(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Set the offset of a group in a queue."""
        queues = self._groups.setdefault(group, {}).setdefault(topic, {})
        if queues.get(queue_id) != offset:
            queues[queue_id] = offset
            self._note(group)

    def _note(self, group: str) -> None:
        self.is_changed = True
        self.changes += 1
        self._moved.add(group)
        self._changed_at.pop(group, None)
        self._changed_at[group] = self.changes

    def changed_since(self, count: int) -> list[str]:
        """Return the groups that changed, or were removed, since `changes` was `count`; below 0: every group."""
        if count < 0:
            return self.groups()
        return [group for group, _ in takewhile(lambda each: each[1] > count, reversed(self._changed_at.items()))]

    def of_group(self, group: str) -> dict[str, dict[int, int]]:
        """Return the offsets of a group by topic and queue id; none if it has none left."""
        return {topic: dict(queues) for topic, queues in self._groups.get(group, {}).items()}

    def replace(self, table: Mapping[str, Mapping[str, Mapping[int, int]]], *, is_whole: bool) -> None:
        """Take over the offsets of groups from another broker; with `is_whole` it has no other groups."""
        for group in [each for each in self._groups if each not in table] if is_whole else ():
            self.drop_group(group)
        for group, topics in table.items():
            if topics == self._groups.get(group, {}):
                continue
            self._groups[group] = {topic: dict(queues) for topic, queues in topics.items()}
            if not topics:
                del self._groups[group]
            self._note(group)

    def find(self, group: str, topic: str, queue_id: int) -> int | None:
        """Return the offset of a group in a queue, or None if it never stored one."""
        return self.of(group, topic).get(queue_id)

    def of(self, group: str, topic: str) -> Mapping[int, int]:
        """Return the offsets of a group in a topic, by queue id."""
        return self._groups.get(group, {}).get(topic, _NOTHING)

    def topics_of(self, group: str) -> list[str]:
        """Return the topics in which a group has offsets."""
        return list(self._groups.get(group, ()))

    def groups_of(self, topic: str) -> list[str]:
        """Return the groups that have offsets in a topic."""
        return [group for group, topics in self._groups.items() if topic in topics]

    def groups(self) -> list[str]:
        """Return every group that has an offset."""
        return list(self._groups)

    def readers_of(self, topics: Set[str]) -> list[str]:
        """Return the groups that have offsets in one of the topics."""
        return [group for group, read in self._groups.items() if not topics.isdisjoint(read)]

    def take_moved(self) -> set[str]:
        """Return the groups whose offsets changed since this was called last."""
        moved, self._moved = self._moved, set()
        return moved

    def count_as_moved(self, groups: Iterable[str]) -> None:
        """Let the next `take_moved` return these groups too."""
        self._moved.update(groups)

    def clamp(self, low: Callable[[str, int], int], high: Callable[[str, int], int]) -> None:
        """Move each offset into its queue, which goes from `low` to `high`: it came without the log."""
        for group, topics in self._groups.items():
            for topic, queues in topics.items():
                for queue_id, offset in list(queues.items()):
                    begin, end = low(topic, queue_id), high(topic, queue_id)
                    self.commit(group, topic, queue_id, min(max(offset, begin), end))

    def drop_topic(self, topic: str) -> None:
        """Delete the offsets of a deleted topic: a new topic of the same name starts at 0."""
        for group, topics in self._groups.items():
            if topics.pop(topic, None) is not None:
                self._note(group)
        self._groups = {group: topics for group, topics in self._groups.items() if topics}

    def drop_group(self, group: str) -> None:
        """Delete the offsets of a group."""
        if self._groups.pop(group, None) is not None:
            self._note(group)

    def tree(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return the register in the format of the file."""
        table = {
            f"{topic}{_SEPARATOR}{group}": {str(queue_id): offset for queue_id, offset in queues.items()}
            for group, topics in self._groups.items()
            for topic, queues in topics.items()
        }
        return {"offsetTable": table}

    def text(self) -> bytes:
        """Return the current content for the file, and mark the register as saved."""
        self.is_changed = False
        return orjson.dumps(self.tree(), option=orjson.OPT_INDENT_2)

    def save(self, text: bytes) -> None:
        """Write a text returned by `text()`; may run in another thread. Raises OSError."""
        self._file.save(text)

    def load(self) -> None:
        """Replace the register with the content of the file; raises BadConfigFile."""
        tree: Any = self._file.load()
        try:
            table = coder.from_tree(ConsumerOffsetSerializeWrapper, {} if tree is None else tree).offset_table
        except MalformedBody as error:
            raise BadConfigFile(f"{self._file} is not a table of offsets: {error}") from error
        self._groups = {}
        for key, queues in table.items():
            topic, _, group = key.partition(_SEPARATOR)
            for queue_id, offset in queues.items():
                self.commit(group, topic, queue_id, offset)
        self.is_changed = False


class Resets:
    """Sets offsets on behalf of a client or operator; nothing else changes them except acknowledgements of leases.

    The group's leases in the queue are discarded, so that it really starts there.
    """

    def __init__(self, offsets: ConsumerOffsets, leases: Leases, limits: BrokerLimits) -> None:
        self._offsets = offsets
        self._leases = leases
        self._limits = limits
        self._firsts: dict[str, set[str]] = {}
        """The groups whose first offset an account set, since the broker started."""

    def set_offset(self, group: str, topic: str, queue_id: int, offset: int, account: str = "") -> None:
        """Let a group continue at `offset` of a queue; setting the same offset again changes nothing.

        Group and topic need not be known, as in Apache RocketMQ; so their number is limited here, for an `account` to
        its share of groups. Raises LimitReached.
        """
        if self._offsets.find(group, topic, queue_id) is None:
            self._check_room(group, topic, account)
        queue = self._leases.find(group, topic, queue_id)
        if queue is not None and queue.committed != offset:
            self._leases.open(group, topic, queue_id, offset)
        self._offsets.commit(group, topic, queue_id, offset)

    def _check_room(self, group: str, topic: str, account: str) -> None:
        if len(self._offsets.of(group, topic)) >= self._limits.queues_per_topic:
            raise self._limits.refuse("queues_per_topic", f"no offset was kept for group {group!r} in topic {topic!r}")
        topics = self._offsets.topics_of(group)
        if not topics:
            self._check_group(group, account)
        if topic not in topics and len(topics) >= self._limits.topics:
            raise self._limits.refuse("topics", f"no offset was kept for group {group!r} in topic {topic!r}")

    def _check_group(self, group: str, account: str) -> None:
        what = f"no offset was kept for group {group!r}"
        if len(self._offsets.groups()) >= self._limits.groups:
            raise self._limits.refuse("groups", what)
        if not account:
            return
        firsts = self._firsts.setdefault(account, set())
        if len(firsts) >= self._limits.share("groups"):
            firsts = self._firsts[account] = {each for each in firsts if self._offsets.topics_of(each)}
            if len(firsts) >= self._limits.share("groups"):
                raise self._limits.refuse_share("groups", what)
        firsts.add(group)
