"""Requests that brokers send to a client (client/README.md#calls-from-brokers)."""

from __future__ import annotations

from broker_core.client.members import ClientMembers, Member, Prepared
from broker_core.protocol import properties as names
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.stats import GetConsumerStatusBody, ResetOffsetBody
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.clients import (
    ConsumeMessageDirectlyRequest,
    GetConsumerRunningInfoRequest,
    GetConsumerStatusFromClientRequest,
    NotifyConsumerIdsChangedRequest,
)
from broker_core.protocol.headers.offsets import ResetConsumerClientOffsetRequest
from broker_core.protocol.headers.transactions import CheckTransactionStateRequest
from broker_core.protocol.message import LogOffset, QueueOffset
from broker_core.protocol.record import decode_one
from broker_core.protocol.signature import Credentials
from broker_core.remoting.connection import Connection
from broker_core.remoting.dispatch import Dispatch


class BrokerCalls:
    """Passes each request of a broker to the consumer of the group that it names."""

    def __init__(self, members: ClientMembers, credentials: Credentials | None = None) -> None:
        """Decisions on transactions are requests of their own, which `credentials` sign."""
        self._members = members
        self._credentials = credentials

    def register(self, dispatch: Dispatch) -> None:
        """Register these handlers with `dispatch` for every request code that a client serves."""
        dispatch.register(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, self._members_changed)
        dispatch.register(RequestCode.RESET_CONSUMER_CLIENT_OFFSET, self._reset_offsets)
        dispatch.register(RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT, self._positions)
        dispatch.register(RequestCode.GET_CONSUMER_RUNNING_INFO, self._running_info)
        dispatch.register(RequestCode.CONSUME_MESSAGE_DIRECTLY, self._consume_directly)
        dispatch.register(RequestCode.CHECK_TRANSACTION_STATE, self._check)

    def _members_changed(self, request: Command, _: Connection) -> None:
        member = self._find(request.header(NotifyConsumerIdsChangedRequest).consumer_group)
        if member is not None:
            member.members_changed()

    def _reset_offsets(self, request: Command, _: Connection) -> None:
        header = request.header(ResetConsumerClientOffsetRequest)
        member = self._find(header.group)
        if member is not None:
            member.reset_offsets(header.topic, coder.decode(ResetOffsetBody, request.body).offset_table)

    def _positions(self, request: Command, _: Connection) -> Command:
        header = request.header(GetConsumerStatusFromClientRequest)
        member = self._find(header.group)
        table = member.positions(header.topic) if member is not None else {}
        return Command.response(
            ResponseCode.SUCCESS, body=coder.encode(GetConsumerStatusBody(message_queue_table=table))
        )

    def _running_info(self, request: Command, _: Connection) -> Command:
        header = request.header(GetConsumerRunningInfoRequest)
        member = self._find(header.consumer_group)
        if member is None:
            return _unknown(header.consumer_group)
        return Command.response(ResponseCode.SUCCESS, body=coder.encode(member.running_info()))

    async def _consume_directly(self, request: Command, _: Connection) -> Command:
        header = request.header(ConsumeMessageDirectlyRequest)
        member = self._find(header.consumer_group)
        if member is None:
            return _unknown(header.consumer_group)
        result = await member.consume_directly(decode_one(request.body))
        return Command.response(ResponseCode.SUCCESS, body=coder.encode(result))

    async def _check(self, request: Command, connection: Connection) -> None:
        header, asked = request.header(CheckTransactionStateRequest), decode_one(request.body)
        checker = self._members.checkers.get(asked.properties.get(names.PGROUP, ""))
        if checker is None:
            return
        prepared = Prepared(
            header.bname or "",
            QueueOffset(header.tran_state_table_offset),
            LogOffset(header.commit_log_offset),
            asked.message_id,
        )
        answer = await checker.answer(asked, prepared)
        if answer is not None and not connection.is_closing:
            decision = Command.request(answer)
            connection.send(decision if self._credentials is None else self._credentials.sign(decision))

    def _find(self, group: str) -> Member | None:
        return self._members.consumers.get(group)


def _unknown(group: str) -> Command:
    return Command.response(
        ResponseCode.SYSTEM_ERROR, remark=f"The Consumer Group <{group}> not exist in this consumer"
    )
