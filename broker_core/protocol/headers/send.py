"""Headers of sending: plain, short-named, batch; send-back; request and reply (protocol/README.md#sending).

Codes 310, 320 and 325 have the fields of 10 and 324 under one-letter names. The classes differ only in those names:
their attributes are the same.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header


@header(RequestCode.SEND_MESSAGE)
class SendMessageRequest:
    """Code 10: a send with full field names. `batch`, not the code, decides whether the body is a batch."""

    topic: str
    queue_id: I32
    sys_flag: I32
    born_timestamp: I64
    flag: I32
    producer_group: str = ""
    default_topic: str = ""
    default_topic_queue_nums: I32 = 4
    properties: str | None = None
    reconsume_times: I32 = 0
    unit_mode: bool = False
    max_reconsume_times: I32 | None = None
    batch: bool = False
    bname: str | None = None
    is_repeated: bool | None = field(default=None, metadata={"wire": "gantryRepeated"})
    """Ours: an earlier attempt with the same unique id and time of birth may be stored."""


@header(RequestCode.SEND_MESSAGE_V2)
class SendMessageV2Request:
    """Code 310, and 320 with `batch` true: the same fields as SendMessageRequest under one-letter names."""

    topic: str = field(metadata={"wire": "b"})
    queue_id: I32 = field(metadata={"wire": "e"})
    sys_flag: I32 = field(metadata={"wire": "f"})
    born_timestamp: I64 = field(metadata={"wire": "g"})
    flag: I32 = field(metadata={"wire": "h"})
    producer_group: str = field(default="", metadata={"wire": "a"})
    default_topic: str = field(default="", metadata={"wire": "c"})
    default_topic_queue_nums: I32 = field(default=4, metadata={"wire": "d"})
    properties: str | None = field(default=None, metadata={"wire": "i"})
    reconsume_times: I32 = field(default=0, metadata={"wire": "j"})
    unit_mode: bool = field(default=False, metadata={"wire": "k"})
    max_reconsume_times: I32 | None = field(default=None, metadata={"wire": "l"})
    batch: bool = field(default=False, metadata={"wire": "m"})
    bname: str | None = field(default=None, metadata={"wire": "n"})
    is_repeated: bool | None = field(default=None, metadata={"wire": "gantryRepeated"})


SendHeader: TypeAlias = SendMessageRequest | SendMessageV2Request

SHORT_NAMED: frozenset[int] = frozenset(
    (RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE, RequestCode.SEND_REPLY_MESSAGE_V2)
)
"""The codes whose header is a SendMessageV2Request; 10 and 324 have a SendMessageRequest."""


def send_header_kind(code: int) -> type[SendHeader]:
    """Return the header class of a send or reply request with `code`."""
    return SendMessageV2Request if code in SHORT_NAMED else SendMessageRequest


@header()
class SendMessageResponse:
    """The answer to every send, also to messages stored but not flushed or not replicated in time (10, 11, 12)."""

    msg_id: str
    queue_id: I32
    queue_offset: I64
    transaction_id: str | None = None
    batch_uniq_id: str | None = None
    recall_handle: str | None = None  # 5.x: of a message that waits for its delivery time
    msg_region: str | None = field(default=None, metadata={"wire": "MSG_REGION"})
    trace_on: bool | None = field(default=None, metadata={"wire": "TRACE_ON"})


@header(RequestCode.CONSUMER_SEND_MSG_BACK)
class ConsumerSendMessageBackRequest:
    """Code 36: deliver again later. `offset` is a log offset; delay level below 0: dead letter, 0: by retry count."""

    offset: I64
    group: str
    delay_level: I32
    origin_msg_id: str | None = None
    origin_topic: str | None = None
    unit_mode: bool = False
    max_reconsume_times: I32 | None = None
    bname: str | None = None


@header(RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT)
class PushReplyMessageToClientRequest:
    """Code 326, broker to client: the reply to this client's request. Hosts are ``ip:port``."""

    topic: str
    queue_id: I32
    sys_flag: I32
    born_timestamp: I64
    flag: I32
    born_host: str
    store_host: str
    store_timestamp: I64
    producer_group: str = ""
    default_topic: str = ""
    default_topic_queue_nums: I32 = 4
    properties: str | None = None
    reconsume_times: I32 = 0
    unit_mode: bool = False
