"""Headers of messages that wait for their delivery time. Times are ms since 1970."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header


@header(RequestCode.RECALL_MESSAGE)
class RecallMessageRequest:
    """Code 370 (5.x): do not deliver a message; `recall_handle` comes from the answer to its send."""

    topic: str
    recall_handle: str
    producer_group: str = ""
    bname: str | None = None


@header()
class RecallMessageResponse:
    """The unique id of the message that was recalled."""

    msg_id: str


@header(RequestCode.RESCHEDULE_MESSAGE)
class RescheduleMessageRequest:
    """Code 30103 (Gantry): deliver a waiting message at another time; answered by RescheduleMessageResponse."""

    topic: str
    msg_id: str
    deliver_ms: I64


@header()
class RescheduleMessageResponse:
    """When the message is due now: at once if the time asked for has passed."""

    msg_id: str
    deliver_ms: I64


@header(RequestCode.LIST_TIMERS)
class ListTimersRequest:
    """Code 30101 (Gantry): waiting messages, first those that are due first; answered by TimerList.

    Those due in [begin, end), of a topic, with a key or unique id, with a unique id; behind a place in the order.
    """

    limit: I32 = 32
    begin: I64 = 0
    end: I64 = (1 << 63) - 1
    after_due: I64 = -1
    after_seq: I64 = -1
    topic: str | None = None
    key: str | None = None
    msg_id: str | None = None


@header(RequestCode.SUMMARIZE_TIMERS)
class SummarizeTimersRequest:
    """Code 30102 (Gantry): counts by topic, and by topic and bucket of [begin, end); answered by TimerSummary."""

    begin: I64
    end: I64
    bucket_ms: I64
