"""Queue offsets: consumed, smallest, largest, by time.

None of these requests checks whether the topic exists: an unknown queue counts as empty.
"""

from __future__ import annotations

import os
from struct import Struct
from typing import Final

from broker_core.broker.access.permits import Permits
from broker_core.broker.errors import IllegalArgument, NothingFound
from broker_core.broker.names import check_names
from broker_core.broker.offsets import ConsumerOffsets, Resets
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.replication.passed_on import PassedOn
from broker_core.broker.settings import Settings
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import ConsumerOffsetSerializeWrapper, QueryCorrectionOffsetBody
from broker_core.protocol.codes import EXACT_TIME_VERSION, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import offsets as headers
from broker_core.protocol.record import LOG_OFFSET_AT
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore

_MEMORY_BYTES: Final = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
_LOG_OFFSET: Final = Struct(">q")
_NEVER: Final = 2**63 - 1


class OffsetProcessor:
    """Answers 14, 15, 29 to 32, 43, 308 and 314."""

    def __init__(
        self,
        *,
        store: MessageStore,
        offsets: ConsumerOffsets,
        resets: Resets,
        passed_on: PassedOn,
        permits: Permits,
        settings: Settings,
    ) -> None:
        self._store = store
        self._offsets = offsets
        self._resets = resets
        self._passed_on = passed_on
        self._permits = permits
        self._settings = settings
        self._searches = {"": store.offset_by_time, "LOWER": store.first_from, "UPPER": store.last_until}

    def handlers(self) -> Handlers:
        return {
            RequestCode.QUERY_CONSUMER_OFFSET: self.query,
            RequestCode.UPDATE_CONSUMER_OFFSET: self.update,
            RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: self.by_time,
            RequestCode.GET_MAX_OFFSET: self.max,
            RequestCode.GET_MIN_OFFSET: self.min,
            RequestCode.GET_EARLIEST_MSG_STORETIME: self.earliest_time,
            RequestCode.GET_ALL_CONSUMER_OFFSET: self.all,
            RequestCode.QUERY_CORRECTION_OFFSET: self.corrections,
            RequestCode.CLONE_GROUP_OFFSET: self.clone,
        }

    def query(self, request: Command, _: Connection) -> Command:
        """Return a group's offset; a new group starts at 0 on a young queue, otherwise NothingFound is raised."""
        header = request.header(headers.QueryConsumerOffsetRequest)
        offset = self._offsets.find(header.consumer_group, header.topic, header.queue_id)
        if offset is None or offset < 0:
            if not self._is_young(header.topic, header.queue_id) or header.set_zero_if_not_found is False:
                raise NothingFound("Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first")
            offset = 0
        return Command.response(ResponseCode.SUCCESS, headers.QueryConsumerOffsetResponse(offset))

    def update(self, request: Command, connection: Connection) -> Command:
        """Set a group's offset; a slave passes it on to its master."""
        header = request.header(headers.UpdateConsumerOffsetRequest)
        check_names(consumerGroup=header.consumer_group, topic=header.topic)
        account = self._permits.account_of(request, connection)
        self._resets.set_offset(header.consumer_group, header.topic, header.queue_id, header.commit_offset, account)
        self._passed_on.note(header.consumer_group, header.topic, header.queue_id, header.commit_offset)
        return Command.response(ResponseCode.SUCCESS)

    def by_time(self, request: Command, _: Connection) -> Command:
        """Return the offset of the message stored nearest to a time; after the last one, the offset of the last.

        Clients of 5.x get the first message stored at that time or later, and the offset after the last one if there is
        none, unless they ask for the last one until then.
        """
        header = request.header(headers.SearchOffsetRequest)
        usual = "LOWER" if request.version >= EXACT_TIME_VERSION else ""
        search = self._searches.get((header.boundary_type or usual).upper())
        if search is None:
            raise IllegalArgument(f"boundaryType {str(header.boundary_type)[:80]!r} is neither LOWER nor UPPER")
        offset = search(header.topic, header.queue_id, header.timestamp)
        return Command.response(ResponseCode.SUCCESS, headers.SearchOffsetResponse(offset))

    def max(self, request: Command, _: Connection) -> Command:
        """Return the offset of the next message of a queue."""
        header = request.header(headers.GetMaxOffsetRequest)
        offset = self._store.max_offset(header.topic, header.queue_id)
        return Command.response(ResponseCode.SUCCESS, headers.GetMaxOffsetResponse(offset))

    def min(self, request: Command, _: Connection) -> Command:
        """Return the first readable offset of a queue."""
        header = request.header(headers.GetMinOffsetRequest)
        offset = self._store.min_offset(header.topic, header.queue_id)
        return Command.response(ResponseCode.SUCCESS, headers.GetMinOffsetResponse(offset))

    def earliest_time(self, request: Command, _: Connection) -> Command:
        """Return the store time of the first readable message of a queue, or -1 if there is none."""
        header = request.header(headers.GetEarliestMsgStoretimeRequest)
        store = self._store
        time = store.store_time(header.topic, header.queue_id, store.min_offset(header.topic, header.queue_id))
        return Command.response(
            ResponseCode.SUCCESS, headers.GetEarliestMsgStoretimeResponse(-1 if time is None else time)
        )

    def all(self, _request: Command, _: Connection) -> Command:
        """Return the offsets of all groups."""
        tree = self._offsets.tree()["offsetTable"]
        table = {key: {int(queue_id): offset for queue_id, offset in queues.items()} for key, queues in tree.items()}
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(ConsumerOffsetSerializeWrapper(table)))

    def corrections(self, request: Command, _: Connection) -> Command:
        """Return the smallest offset of all groups per queue, where the compared group is not behind it."""
        header = request.header(headers.QueryCorrectionOffsetRequest)
        offsets = self._offsets
        left_out = set((header.filter_groups or "").split(","))
        smallest: dict[int, int] = {}
        for group in offsets.groups_of(header.topic):
            if group in left_out:
                continue
            for queue_id, offset in offsets.of(group, header.topic).items():
                smallest[queue_id] = min(smallest.get(queue_id, offset), offset)
        for queue_id, offset in offsets.of(header.compare_group, header.topic).items():
            if smallest.get(queue_id, 0) > offset:
                smallest[queue_id] = _NEVER
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(QueryCorrectionOffsetBody(smallest)))

    def clone(self, request: Command, _: Connection) -> Command:
        """Copy the offsets of one group to another, in one topic or in all topics."""
        header = request.header(headers.CloneGroupOffsetRequest)
        offsets = self._offsets
        if header.src_group == header.dest_group:
            raise IllegalArgument(f"group {header.src_group} cannot take over its own offsets")
        for topic in [header.topic] if header.topic else offsets.topics_of(header.src_group):
            for queue_id, offset in dict(offsets.of(header.src_group, topic)).items():
                self._resets.set_offset(header.dest_group, topic, queue_id, offset)
        return Command.response(ResponseCode.SUCCESS)

    def _is_young(self, topic: str, queue_id: int) -> bool:
        """Return whether a new group can start at offset 0 without old data (broker/README.md#consumer-offsets)."""
        store = self._store
        if store.min_offset(topic, queue_id) > 0:
            return False
        found = store.get(topic, queue_id, 0, max_messages=1, max_bytes=1)
        if not found.records:
            return True
        (log_offset,) = _LOG_OFFSET.unpack_from(found.records[0], LOG_OFFSET_AT)
        in_memory = _MEMORY_BYTES * self._settings.config.pulls.in_memory_ratio
        return bool(store.appended_log_offset - log_offset <= in_memory)
