"""Headers of message look-ups."""

from __future__ import annotations

from dataclasses import field

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header


@header(RequestCode.QUERY_MESSAGE)
class QueryMessageRequest:
    """Code 12: messages whose KEYS or UNIQ_KEY have `key`, stored between the two times (ms)."""

    topic: str
    key: str
    max_num: I32
    begin_timestamp: I64
    end_timestamp: I64
    unique_key_query: bool | None = field(default=None, metadata={"wire": "_UNIQUE_KEY_QUERY"})


@header()
class QueryMessageResponse:
    """The progress of the index; the `search_` figures exist only in Gantry."""

    index_last_update_timestamp: I64
    index_last_update_phyoffset: I64
    search_index_files: I64 | None = None
    search_index_files_skipped: I64 | None = None
    search_entries_visited: I64 | None = None
    search_collisions_dropped: I64 | None = None
    search_expired: I64 | None = None
    search_complete: bool | None = None


@header(RequestCode.VIEW_MESSAGE_BY_ID)
class ViewMessageByIdRequest:
    """Code 33: the record at a log offset."""

    offset: I64
    topic: str | None = None  # 5.x
