"""Message look-ups: by key or unique id, and by log offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.errors import MessageGone
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.settings import Settings
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import messages as headers
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore

MAX_BODY: Final = 12 * 1024 * 1024
"""Bytes of records in one answer, well below the limit of a frame; a single record is returned whatever its size."""


class MessageProcessor:
    """Answers 12 and 33."""

    def __init__(
        self, *, store: MessageStore, arrivals: Arrivals, settings: Settings, clock: Callable[[], int]
    ) -> None:
        self._arrivals = arrivals
        self._store = store
        self._settings = settings
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.QUERY_MESSAGE: self.by_key,
            RequestCode.VIEW_MESSAGE_BY_ID: self.by_log_offset,
        }

    def by_key(self, request: Command, _: Connection) -> Command:
        """Return the messages with a key in a time range, oldest first, and whether the search was complete."""
        header = request.header(headers.QueryMessageRequest)
        limits = self._settings.config.limits
        wanted = limits.unique_key_results if header.unique_key_query else header.max_num
        found = self._store.search(
            header.topic,
            header.key,
            begin=header.begin_timestamp,
            end=header.end_timestamp,
            max_count=max(1, min(wanted, limits.query_results)),
        )
        records, is_whole = _fitting(found.records)
        figures = headers.QueryMessageResponse(
            index_last_update_timestamp=self._clock(),
            index_last_update_phyoffset=self._store.dispatched_log_offset,
            search_index_files=found.index_files,
            search_index_files_skipped=found.index_files_skipped_by_time,
            search_entries_visited=found.entries_visited,
            search_collisions_dropped=found.collisions_dropped,
            search_expired=found.expired_messages,
            search_complete=found.complete and is_whole,
        )
        if not records:
            remark = "; ".join(map(str, found.damaged)) or "can not find message, maybe time range not correct"
            return Command.response(ResponseCode.QUERY_NOT_FOUND, figures, remark=remark)
        return Command.response(ResponseCode.SUCCESS, figures, b"".join(records))

    def by_log_offset(self, request: Command, _: Connection) -> Command:
        """Return the record at a log offset."""
        offset = request.header(headers.ViewMessageByIdRequest).offset
        record = self._arrivals.find_named(offset)
        if record is None:
            raise MessageGone(f"can not find message by the offset, {offset}")
        return Command.response(ResponseCode.SUCCESS, body=record)


def _fitting(records: list[memoryview]) -> tuple[list[memoryview], bool]:
    """Return the last records that fit into an answer, and whether these are all; pages go back in time."""
    size = 0
    for count, record in enumerate(reversed(records)):
        size += len(record)
        if count and size > MAX_BODY:
            return records[-count:], False
    return records, True
