"""The second phase of transactions (broker/README.md#transactions)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from broker_core.broker.errors import IllegalArgument
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.sent_answer import mark
from broker_core.broker.transactions.table import Decision
from broker_core.broker.transactions.transactions import Transactions
from broker_core.broker.waits import Waits
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.transactions import EndTransactionRequest, ResumeCheckHalfMessageRequest
from broker_core.protocol.message import LogOffset, QueueOffset
from broker_core.protocol.message_id import parse_offset_id
from broker_core.remoting.connection import Connection, Result
from broker_core.store import MessageStore

_DECISIONS: Final = {
    flags.TRANSACTION_COMMIT: Decision.COMMITTED,
    flags.TRANSACTION_ROLLBACK: Decision.ROLLED_BACK,
}
_UNDECIDED: Final = 0


class TransactionProcessor:
    """Answers 37 and 323."""

    def __init__(
        self, *, transactions: Transactions, waits: Waits, store: MessageStore, clock: Callable[[], int]
    ) -> None:
        self._store = store
        self._transactions = transactions
        self._waits = waits if waits.are_needed else None
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.END_TRANSACTION: self.end,
            RequestCode.RESUME_CHECK_HALF_MESSAGE: self.resume,
        }

    def end(self, request: Command, _: Connection) -> Result:
        """Commit or roll back; what a producer does not know yet is neither stored nor answered, as in the original."""
        header = request.header(EndTransactionRequest)
        if header.commit_or_rollback == _UNDECIDED:
            return None
        decision = _DECISIONS.get(header.commit_or_rollback)
        if decision is None:
            raise IllegalArgument(f"commitOrRollback {header.commit_or_rollback} is none of 0, 8 and 12")
        end = self._transactions.end(
            header.producer_group,
            QueueOffset(header.tran_state_table_offset),
            LogOffset(header.commit_log_offset),
            decision,
        )
        return self._answer(end)

    def resume(self, request: Command, _: Connection) -> Result:
        """Check a half message from the beginning, which may have been given up."""
        header = request.header(ResumeCheckHalfMessageRequest)
        if not header.msg_id:
            raise IllegalArgument("msgId is missing")
        return self._answer(self._transactions.resume(parse_offset_id(header.msg_id).log_offset))

    def _answer(self, end: int | None) -> Result:
        """Answer a decision whose records end at a log offset; None: it was made before, somewhere in the log."""
        if end is None and self._waits is not None and self._waits.are_for_all:
            end = self._store.appended_log_offset
        response = Command.response(ResponseCode.SUCCESS)
        return response if self._waits is None or end is None else self._settled(self._waits, response, end)

    async def _settled(self, waits: Waits, response: Command, end: int) -> Command:
        """Answer when everything before log offset `end` is where it shall be (`waits.py`)."""
        settled: asyncio.Future[ResponseCode] = asyncio.get_running_loop().create_future()
        waits.wait(end, settled.set_result, now=self._clock())
        return mark(response, await settled, "done")
