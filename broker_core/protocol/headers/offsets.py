"""Headers about queue offsets: consumed, smallest, largest, by time."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header


@header(RequestCode.QUERY_CONSUMER_OFFSET)
class QueryConsumerOffsetRequest:
    """Code 14: the offset a group stored."""

    consumer_group: str
    topic: str
    queue_id: I32
    bname: str | None = None
    set_zero_if_not_found: bool | None = None  # 5.x


@header()
class QueryConsumerOffsetResponse:
    """The stored queue offset."""

    offset: I64


@header(RequestCode.UPDATE_CONSUMER_OFFSET)
class UpdateConsumerOffsetRequest:
    """Code 15: store a group's offset; usually one-way."""

    consumer_group: str
    topic: str
    queue_id: I32
    commit_offset: I64
    bname: str | None = None


@header(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP)
class SearchOffsetRequest:
    """Code 29: the queue offset whose store time is nearest to `timestamp` (ms).

    5.x says LOWER for the first message stored then or later, UPPER for the last one stored until then.
    """

    topic: str
    queue_id: I32
    timestamp: I64
    bname: str | None = None
    boundary_type: str | None = None  # 5.x


@header()
class SearchOffsetResponse:
    """The queue offset found."""

    offset: I64


@header(RequestCode.GET_MAX_OFFSET)
class GetMaxOffsetRequest:
    """Code 30: the queue offset of the next message.

    5.x also sends ``committed``, false to count acknowledged messages that are not in the queue yet; here all are.
    """

    topic: str
    queue_id: I32
    bname: str | None = None


@header()
class GetMaxOffsetResponse:
    """One past the last message's queue offset; 0 for an unknown queue."""

    offset: I64


@header(RequestCode.GET_MIN_OFFSET)
class GetMinOffsetRequest:
    """Code 31: the first readable queue offset."""

    topic: str
    queue_id: I32
    bname: str | None = None


@header()
class GetMinOffsetResponse:
    """The first readable queue offset; 0 for an unknown queue."""

    offset: I64


@header(RequestCode.GET_EARLIEST_MSG_STORETIME)
class GetEarliestMsgStoretimeRequest:
    """Code 32: when the first readable message was stored."""

    topic: str
    queue_id: I32
    bname: str | None = None


@header()
class GetEarliestMsgStoretimeResponse:
    """The store time in ms, -1 if there is no message."""

    timestamp: I64


@header(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET)
class ResetOffsetRequest:
    """Code 222: reset a group's consumers to `timestamp` (ms; -1 is the end).

    5.x may name one queue, and an offset in place of a time; -1 means neither.
    """

    topic: str
    group: str
    timestamp: I64
    is_force: bool = False
    queue_id: I32 | None = None
    offset: I64 | None = None


@header(RequestCode.RESET_CONSUMER_CLIENT_OFFSET)
class ResetConsumerClientOffsetRequest:
    """Code 220, broker to client, one-way: move to the offsets in the body (ResetOffsetBody)."""

    topic: str
    group: str
    timestamp: I64
    is_force: bool = False


@header(RequestCode.QUERY_CORRECTION_OFFSET)
class QueryCorrectionOffsetRequest:
    """Code 308: offsets of `compare_group`, corrected by those of the groups in `filter_groups` (comma list)."""

    compare_group: str
    topic: str
    filter_groups: str | None = None


@header(RequestCode.CLONE_GROUP_OFFSET)
class CloneGroupOffsetRequest:
    """Code 314: copy one group's stored offsets to another."""

    src_group: str
    dest_group: str
    topic: str | None = None
    offline: bool = False
