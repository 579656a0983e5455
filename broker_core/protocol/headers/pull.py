"""Headers of pulling (protocol/README.md#pulling)."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header


@header(RequestCode.PULL_MESSAGE)
class PullMessageRequest:
    """Code 11, and 361 of 5.x. `sys_flag` marks which of the later fields are valid (codes.PULL_*)."""

    consumer_group: str
    topic: str
    queue_id: I32
    queue_offset: I64
    max_msg_nums: I32
    sys_flag: I32
    commit_offset: I64 = 0
    suspend_timeout_millis: I64 = 0
    subscription: str | None = None
    sub_version: I64 = 0
    expression_type: str | None = None
    bname: str | None = None
    max_msg_bytes: I32 | None = None  # 5.x


@header()
class PullMessageResponse:
    """Where to continue; clients require all four fields with codes 0, 19, 20 and 21."""

    suggest_which_broker_id: I64
    next_begin_offset: I64
    min_offset: I64
    max_offset: I64
