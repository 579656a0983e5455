"""Everything that changed at this broker in one answer: queue ends, offsets of groups, members."""

from __future__ import annotations

from broker_core.broker.changes import Changes
from broker_core.broker.clients import Clients
from broker_core.broker.groups import Groups
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.processors.consume_stats import GroupProgress
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.members import consumer_connection
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.progress import GroupOffsets, Progress, QueueProgress, TopicRanges
from broker_core.protocol.bodies.topics import DataVersion, TopicConfig
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.progress import GetProgressRequest
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore

MOST_NAMES = 2_000
"""In one answer: it is made on the loop that serves messages."""


class ProgressProcessor:
    """Answers 30104, which is this broker's own."""

    def __init__(
        self,
        *,
        changes: Changes[Connection],
        progress: GroupProgress,
        store: MessageStore,
        topics: Topics,
        groups: Groups,
        clients: Clients[Connection],
        offsets: ConsumerOffsets,
    ) -> None:
        self._changes = changes
        self._progress = progress
        self._store = store
        self._topics = topics
        self._groups = groups
        self._clients = clients
        self._offsets = offsets

    def handlers(self) -> Handlers:
        return {RequestCode.GET_PROGRESS: self.changed}

    def changed(self, request: Command, _: Connection) -> Command:
        """Return whole topics, groups and members that changed after the version of the request."""
        header = request.header(GetProgressRequest)
        changes = self._changes
        if header.limit > 0 and not header.goes_on:
            changes.look()
        since = header.since if header.session == changes.session else 0
        found, is_last = changes.after(since, max(0, min(header.limit, MOST_NAMES)))
        answer = Progress(
            session=changes.session,
            version=found[-1][1] if found else since,
            is_last=is_last,
            topics_version=_text(self._topics.version),
            groups_version=_text(self._groups.version),
        )
        for (kind, name), _number in found:
            is_gone = changes.is_gone((kind, name))
            if kind == "topic":
                self._add_topic(answer, name, is_gone=is_gone)
            elif kind == "group":
                self._add_group(answer, name, is_gone=is_gone)
            else:
                self._add_members(answer, name)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(answer))

    def _add_topic(self, answer: Progress, name: str, *, is_gone: bool) -> None:
        config = self._topics.find(name)
        if is_gone or config is None:
            answer.gone_topics.append(name)
            return
        answer.topics[name] = self._ranges_of(config)
        if answer.topics[name].kept_bytes is None:
            self._changes.mark("topic", name)

    def _ranges_of(self, topic: TopicConfig) -> TopicRanges:
        store, name = self._store, topic.topic_name
        ranges, kept = [], 0
        is_summed = True
        for queue_id in range(topic.write_queue_nums):
            low, high = store.min_offset(name, queue_id), store.max_offset(name, queue_id)
            last = store.store_time(name, queue_id, high - 1) if high > low else None
            ranges.append([low, high, last or 0])
            size = store.kept_bytes(name, queue_id)
            is_summed &= size is not None
            kept += size or 0
        return TopicRanges(ranges, kept if is_summed else None)

    def _add_group(self, answer: Progress, name: str, *, is_gone: bool) -> None:
        if is_gone:
            answer.gone_groups.append(name)
            return
        read = {topic.topic_name: self._queues_of(name, topic) for topic in self._progress.topics(name)}
        answer.groups[name] = GroupOffsets(self._offsets.topics_of(name), read)

    def _queues_of(self, group: str, topic: TopicConfig) -> list[QueueProgress]:
        store, name = self._store, topic.topic_name
        rows = []
        for queue, offset in self._progress.offsets(group, topic, topic.read_queue_nums):
            end, consumed = offset.broker_offset, offset.consumer_offset
            held = -1 if offset.pull_offset is None else offset.pull_offset - consumed
            unread = max(consumed, store.min_offset(name, queue.queue_id))
            waiting_since = store.store_time(name, queue.queue_id, unread) if consumed < end else None
            rows.append([end, consumed, offset.last_timestamp, held, waiting_since or 0])
        return rows

    def _add_members(self, answer: Progress, name: str) -> None:
        group = self._clients.find_consumers(name)
        if group is None:
            answer.left_groups.append(name)
        else:
            answer.members[name] = consumer_connection(group)


def _text(version: DataVersion) -> str:
    return f"{version.timestamp}.{version.counter}"
