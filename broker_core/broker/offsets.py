"""How far each group is: the next queue offset it wants of every queue (broker/README.md#consumer-offsets).

The register takes every offset without a check, smaller ones too, because the last writer wins. It is kept as
``consumerOffset.json`` every five seconds and at the end; what a crash loses is delivered again.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    """Group, topic and queue id to queue offset."""

    def __init__(self, file: JsonFile) -> None:
        self._file = file
        self._groups: dict[str, dict[str, dict[int, int]]] = {}
        self.is_changed = False

    def commit(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Keep the offset of a group in a queue, in place of the one before."""
        queues = self._groups.setdefault(group, {}).setdefault(topic, {})
        if queues.get(queue_id) != offset:
            queues[queue_id] = offset
            self.is_changed = True

    def find(self, group: str, topic: str, queue_id: int) -> int | None:
        """Return the offset of a group in a queue, or None when it never stored one."""
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

    def drop_topic(self, topic: str) -> None:
        """Forget the offsets of a topic that is deleted: one made again under its name starts at 0."""
        for topics in self._groups.values():
            self.is_changed |= topics.pop(topic, None) is not None
        self._groups = {group: topics for group, topics in self._groups.items() if topics}

    def drop_group(self, group: str) -> None:
        """Forget the offsets of a group."""
        self.is_changed |= self._groups.pop(group, None) is not None

    def tree(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return the register in the file's shape."""
        table = {
            f"{topic}{_SEPARATOR}{group}": {str(queue_id): offset for queue_id, offset in queues.items()}
            for group, topics in self._groups.items()
            for topic, queues in topics.items()
        }
        return {"offsetTable": table}

    def text(self) -> bytes:
        """Return the text of the file as it should be now; from here on the register counts as unchanged."""
        self.is_changed = False
        return orjson.dumps(self.tree(), option=orjson.OPT_INDENT_2)

    def save(self, text: bytes) -> None:
        """Write a text of `text()`; may run in another thread. Raises OSError."""
        self._file.save(text)

    def load(self) -> None:
        """Replace the register by what the file says; raises BadConfigFile."""
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
    """Sets offsets from outside, the only way besides acknowledging leases.

    What the group has on lease in a queue is forgotten, so that it really begins there.
    """

    def __init__(self, offsets: ConsumerOffsets, leases: Leases, limits: BrokerLimits) -> None:
        self._offsets = offsets
        self._leases = leases
        self._limits = limits

    def set_offset(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Let a group go on at `offset` of a queue; the same offset again changes nothing.

        Neither group nor topic need to be known, as in the reference; so their number is limited here. Raises
        LimitReached.
        """
        if self._offsets.find(group, topic, queue_id) is None:
            self._check_room(group, topic)
        queue = self._leases.find(group, topic, queue_id)
        if queue is not None and queue.committed != offset:
            self._leases.open(group, topic, queue_id, offset)
        self._offsets.commit(group, topic, queue_id, offset)

    def _check_room(self, group: str, topic: str) -> None:
        if len(self._offsets.of(group, topic)) >= self._limits.queues_per_topic:
            raise self._limits.refuse("queues_per_topic", f"no offset was kept for group {group!r} in topic {topic!r}")
        groups, topics = self._offsets.groups(), self._offsets.topics_of(group)
        if group not in groups and len(groups) >= self._limits.groups:
            raise self._limits.refuse("groups", f"no offset was kept for group {group!r}")
        if topic not in topics and len(topics) >= self._limits.topics:
            raise self._limits.refuse("topics", f"no offset was kept for group {group!r} in topic {topic!r}")
