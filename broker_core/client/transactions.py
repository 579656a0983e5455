"""Sending in two phases: a message that is seen only when its producer commits it (client/README.md#transactions).

A broker that was not told the decision asks any producer of the group, perhaps in another process or on another day.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from enum import IntEnum
from types import TracebackType
from typing import Final, NamedTuple, Self, TypeAlias

from broker_core.client.config import ProducerConfig
from broker_core.client.errors import ClientError, MessageRefused, NoMaster, refused_decision
from broker_core.client.masters import is_of_former
from broker_core.client.members import Prepared
from broker_core.client.producer import Producer
from broker_core.client.sending import SendResult, SendStatus
from broker_core.client.session import Session
from broker_core.logs import get_logger
from broker_core.protocol import properties as names
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.transactions import EndTransactionRequest
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.message_id import parse_offset_id
from broker_core.protocol.topics import HALF_TOPIC

_DONE: Final = frozenset(
    {
        ResponseCode.SUCCESS,
        ResponseCode.FLUSH_DISK_TIMEOUT,
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
        ResponseCode.SLAVE_NOT_AVAILABLE,
    }
)
"""The answers to a decision that was stored; all but the first are not known to be where the broker promises."""

_log = get_logger(__name__)


class Decision(IntEnum):
    """What becomes of a prepared message; with UNKNOWN the broker asks again later."""

    UNKNOWN = 0
    COMMIT = flags.TRANSACTION_COMMIT
    ROLLBACK = flags.TRANSACTION_ROLLBACK


_STATES: Final = {
    Decision.UNKNOWN: "UNKNOW",  # as Java spells it
    Decision.COMMIT: "COMMIT_MESSAGE",
    Decision.ROLLBACK: "ROLLBACK_MESSAGE",
}
"""The decisions in traces."""


class Committed(NamedTuple):
    """What came of a message that was sent with `send`."""

    result: SendResult
    decision: Decision


Check: TypeAlias = Callable[[StoredMessage], Decision | Awaitable[Decision]]
"""Tells a broker how the transaction of a message ended; it is called on the session's loop."""

Work: TypeAlias = Callable[[Message], Decision | Awaitable[Decision]]
"""What is done between the two phases."""


class TransactionProducer:
    """Sends messages of transactions, and answers the brokers' questions about them with `check`."""

    def __init__(self, session: Session, group: str, check: Check, config: ProducerConfig | None = None) -> None:
        self._producer = Producer(session, group, config)
        self._session = session
        self._check = check
        self.group = group

    async def start(self) -> Self:
        """Join the producer group, so that brokers ask here; raise GroupTaken if this session has one of the group."""
        self._session.members.add_checker(self)
        await self._producer.start()
        return self

    async def close(self) -> None:
        """Leave the group; what is still open is asked of its other members, or of those that come later."""
        self._session.members.remove_checker(self)
        await self._producer.close()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def send(self, message: Message, work: Work, *, timeout_ms: int | None = None) -> Committed:
        """Prepare a message, do `work`, and decide as it says.

        What `work` raises is raised, and TypeError if it returns no Decision; then nothing is decided, and the broker
        will ask `check`. So it will if it cannot be told the decision now, which is only logged. Raises what `prepare`
        raises.
        """
        result, prepared = await self.prepare(message, timeout_ms=timeout_ms)
        decision = Decision.ROLLBACK  # of a half message that may be lost: nothing may be done for it
        if result.status is SendStatus.SEND_OK:
            done = work(message)
            decision = _decision("work", await done if inspect.isawaitable(done) else done)
        try:
            await self.end(prepared, decision, message=message)
        except ClientError as error:
            _log.warning(
                "message %s: the broker was not told %s and will ask: %s", prepared.message_id, decision.name, error
            )
        return Committed(result, decision)

    async def prepare(self, message: Message, *, timeout_ms: int | None = None) -> tuple[SendResult, Prepared]:
        """Store a message that nobody sees yet; raise like `Producer.send`, and MessageRefused for one with a delay.

        After SendUncertain the broker asks `check` about what it may have stored.
        """
        half = half_message(message, self.group)
        # After an uncertain attempt another one would leave a second half message, which `check` commits as well.
        result = await self._producer.send(half, timeout_ms=timeout_ms, is_repeatable=False)
        return result, prepared_by(result)

    async def end(self, prepared: Prepared, decision: Decision, *, message: Message | None = None) -> None:
        """Tell the broker the decision and wait for its answer; UNKNOWN is told without one.

        Raises like `end_transaction`; the broker asks later about what it was not told. With the message its trace has
        topic, tag and keys.
        """
        self._trace(message or Message("", b""), prepared, decision, check=False)
        await end_transaction(self._session, self.group, prepared, decision)

    async def answer(self, asked: StoredMessage, prepared: Prepared) -> EndTransactionRequest | None:
        """Return the answer to a broker's question about a half message; None if `check` fails: it asks again."""
        try:
            found = self._check(asked)
            decision = _decision("check", await found if inspect.isawaitable(found) else found)
        except Exception:  # noqa: BLE001 - the check is the application's
            _log.exception(
                "group=%s message=%s: its check failed, the broker asks again", self.group, prepared.message_id
            )
            return None
        self._trace(asked, prepared, decision, check=True)
        return _header(self.group, prepared, decision, from_check=True)

    def _trace(self, message: Message | StoredMessage, prepared: Prepared, decision: Decision, *, check: bool) -> None:
        if self._producer.traces is not None:
            state = _STATES[decision]
            self._producer.traces.ended(message, prepared.message_id, prepared.broker_name, state, check=check)


def _decision(told_by: str, found: object) -> Decision:
    """Return what an application decided; raise TypeError for what is no Decision, such as True or None."""
    if not isinstance(found, Decision):
        raise TypeError(f"{told_by} must return a Decision, not {found!r}")
    return found


def half_message(message: Message, group: str) -> Message:
    """Return what is sent of a message in the first phase; raise MessageRefused for one with a delay."""
    if asked := next((name for name in (names.DELAY, *names.TIMERS) if name in message.properties), None):
        raise MessageRefused(f"a transactional message takes no delay and no delivery time ({asked})")
    properties = message.properties | {names.TRAN_MSG: "true", names.PGROUP: group}
    return Message(message.topic, message.body, properties, message.flag, message.sys_flag)


def prepared_by(result: SendResult) -> Prepared:
    """Return where a half message is, by the answer to its sender."""
    log_offset = parse_offset_id(result.offset_id).log_offset
    return Prepared(result.queue.broker_name, result.queue_offset, log_offset, result.message_id)


async def end_transaction(
    session: Session, group: str, prepared: Prepared, decision: Decision, *, from_check: bool = False
) -> bool:
    """Tell a broker the decision on a half message of a group; return whether it is as safe as the broker promises.

    `from_check` says that the broker asked for it. UNKNOWN is told without an answer. A master that is away or none any
    more is asked again, or its successor. Raises NoRoute, Unreachable, TransactionUnknown, TransactionDecided or
    another BrokerRefused; with TOPIC_NOT_EXIST if the topic of a message that is to be committed was deleted.
    """
    header = _header(group, prepared, decision, from_check=from_check)
    if decision is Decision.UNKNOWN:
        address = await session.master_of(prepared.broker_name)
        if address is None:
            raise NoMaster(prepared.broker_name, topic=HALF_TOPIC)
        await session.one_way(address, header)
        return True
    # Said twice it is the same decision: a master that died may have stored it, and its successor may have it.
    address, answer = await session.ask_master(prepared.broker_name, HALF_TOPIC, header)
    if answer.code not in _DONE or is_of_former(answer):
        raise session.named(refused_decision(answer.code, answer.remark, address), address)
    return answer.code == ResponseCode.SUCCESS


def _header(group: str, prepared: Prepared, decision: Decision, *, from_check: bool) -> EndTransactionRequest:
    return EndTransactionRequest(
        group,
        prepared.queue_offset,
        prepared.log_offset,
        decision,
        from_transaction_check=from_check,
        msg_id=prepared.message_id,
        transaction_id=prepared.message_id,
    )
