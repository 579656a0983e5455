"""Headers of two-phase sends."""

from __future__ import annotations

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.fields import I32, I64, header


@header(RequestCode.END_TRANSACTION)
class EndTransactionRequest:
    """Code 37: the decision. `commit_or_rollback` is 0 unknown, 8 commit or 12 rollback."""

    producer_group: str
    tran_state_table_offset: I64
    commit_log_offset: I64
    commit_or_rollback: I32
    from_transaction_check: bool = False
    msg_id: str | None = None
    transaction_id: str | None = None
    bname: str | None = None


@header(RequestCode.CHECK_TRANSACTION_STATE)
class CheckTransactionStateRequest:
    """Code 39, broker to producer, one-way, the record as body: asks how a transaction ended."""

    tran_state_table_offset: I64
    commit_log_offset: I64
    msg_id: str | None = None
    transaction_id: str | None = None
    offset_msg_id: str | None = None
    bname: str | None = None


@header(RequestCode.RESUME_CHECK_HALF_MESSAGE)
class ResumeCheckHalfMessageRequest:
    """Code 323: check this half message again, starting with the first check."""

    msg_id: str | None = None
    topic: str | None = None  # 5.x
