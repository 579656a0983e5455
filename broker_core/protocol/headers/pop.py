"""Headers of leased consumption, 5.x (protocol/README.md#pop). Their codes need JSON headers."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header

INIT_MODE_MIN = 0
INIT_MODE_MAX = 1


@header(RequestCode.POP_MESSAGE)
class PopMessageRequest:
    """Code 200050: lease up to 32 messages for `invisible_time` ms; wait up to `poll_time` ms for the first."""

    consumer_group: str
    topic: str
    queue_id: I32  # -1: any queue
    max_msg_nums: I32
    invisible_time: I64
    poll_time: I64
    born_time: I64
    init_mode: I32 = INIT_MODE_MIN
    exp_type: str | None = None
    exp: str | None = None
    order: bool = False
    attempt_id: str | None = None
    bname: str | None = None
    poll_id: str | None = None  # Gantry only: names this request for EndPopWaitRequest; Apache brokers ignore it


@header(RequestCode.END_POP_WAIT)
class EndPopWaitRequest:
    """Code 30107 (Gantry): end the wait of this connection's pop with the given `poll_id`. It is sent one-way."""

    poll_id: str


@header()
class PopMessageResponse:
    """The values from which clients build the receipts of the messages in the body."""

    pop_time: I64
    invisible_time: I64
    revive_qid: I32
    rest_num: I64
    start_offset_info: str | None = None
    msg_offset_info: str | None = None
    order_count_info: str | None = None


@header(RequestCode.ACK_MESSAGE)
class AckMessageRequest:
    """Code 200051: a leased message is done; `extra_info` is its receipt."""

    consumer_group: str
    topic: str
    queue_id: I32
    extra_info: str
    offset: I64
    bname: str | None = None


@header(RequestCode.BATCH_ACK_MESSAGE)
class BatchAckMessageRequest:
    """Code 200151: many leased messages are done; the body is BatchAckMessageRequestBody."""


@header(RequestCode.PEEK_MESSAGE)
class PeekMessageRequest:
    """Code 200052: read messages without a lease."""

    consumer_group: str
    topic: str
    queue_id: I32
    max_msg_nums: I32
    bname: str | None = None


@header(RequestCode.CHANGE_MESSAGE_INVISIBLETIME)
class ChangeInvisibleTimeRequest:
    """Code 200053: lease the message for `invisible_time` ms from now; the old receipt becomes invalid."""

    consumer_group: str
    topic: str
    queue_id: I32
    extra_info: str
    offset: I64
    invisible_time: I64
    bname: str | None = None
    suspend: bool = False  # later 5.x: the message was not handled, so this delivery does not count
    failure_reason: str | None = None
    """Gantry alone: the message is returned because it failed, and why; empty if its consumer gave no reason."""


@header()
class ChangeInvisibleTimeResponse:
    """The values from which clients build the new receipt."""

    pop_time: I64
    invisible_time: I64
    revive_qid: I32


@header(RequestCode.NOTIFICATION)
class NotificationRequest:
    """Code 200054: answer when there is a message to pop."""

    consumer_group: str
    topic: str
    queue_id: I32
    poll_time: I64
    born_time: I64
    order: bool = False
    attempt_id: str | None = None
    bname: str | None = None


@header()
class NotificationResponse:
    """Whether there is a message, or no room to wait for one."""

    has_msg: bool
    polling_full: bool = False


@header(RequestCode.POLLING_INFO)
class PollingInfoRequest:
    """Code 200055: the number of pops that wait for this queue."""

    consumer_group: str
    topic: str
    queue_id: I32
    bname: str | None = None


@header()
class PollingInfoResponse:
    """The number of waiting requests."""

    polling_num: I32


@header(RequestCode.QUERY_ASSIGNMENT)
class QueryAssignmentRequest:
    """Code 400: the queues of one client. The body is QueryAssignmentRequestBody."""


@header(RequestCode.SET_MESSAGE_REQUEST_MODE)
class SetMessageRequestModeRequest:
    """Code 401: pull or pop for a group and topic; the body is SetMessageRequestModeRequestBody."""
