"""Questions about consumers that only their clients can answer: forwarded to them, with the answers returned.

What a client gets is made anew from the header that was read. The fields of the request have the account of whoever
asks and its signature, which holds for any other request with the same values too.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from broker_core.broker.access.accounts import Right, need_topic
from broker_core.broker.access.permits import Permits
from broker_core.broker.arrivals import Arrivals
from broker_core.broker.clients import Clients
from broker_core.broker.errors import AccessRefused, ClientTooSlow, ClientUnreachable, LimitReached, NoMembers
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.members import Member
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.logs import get_logger
from broker_core.protocol import bodies
from broker_core.protocol import properties as names
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import GetConsumerStatusBody
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.headers import clients as headers
from broker_core.protocol.message_id import parse_offset_id
from broker_core.protocol.record import decode_one
from broker_core.protocol.topics import real_topic
from broker_core.remoting.connection import Connection
from broker_core.remoting.errors import RemotingError, RemotingTimeout

_log = get_logger(__name__)


class RelayProcessor:
    """Answers 223, 307 and 309."""

    def __init__(
        self,
        *,
        arrivals: Arrivals,
        clients: Clients[Connection],
        permits: Permits,
        broker_name: str,
        timeout_ms: int,
        limits: BrokerLimits,
    ) -> None:
        self._arrivals = arrivals
        self._clients = clients
        self._permits = permits
        self._broker_name = broker_name
        self._timeout_ms = timeout_ms
        self._limits = limits

    def handlers(self) -> Handlers:
        return {
            RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: self.positions,
            RequestCode.GET_CONSUMER_RUNNING_INFO: self.running_info,
            RequestCode.CONSUME_MESSAGE_DIRECTLY: self.consume_directly,
        }

    async def positions(self, request: Command, _: Connection) -> Command:
        """Ask one or all members of a group for their offsets in a topic; members that do not answer are left out."""
        header = request.header(headers.GetConsumerStatusRequest)
        group = self._clients.find_consumers(header.group)
        if group is None:
            raise NoMembers(f"No Any Consumer online in the consumer group: [{header.group}]")
        asked = [member for member in group.members.values() if header.client_addr in (None, "", member.client_id)]
        found = await asyncio.gather(*(self._positions_of(member, header.topic, header.group) for member in asked))
        table = {member.client_id: queues for member, queues in zip(asked, found, strict=True) if queues is not None}
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(GetConsumerStatusBody(consumer_table=table)))

    async def running_info(self, request: Command, _: Connection) -> Command:
        """Forward the question to the client and return its answer."""
        header = request.header(headers.GetConsumerRunningInfoRequest)
        member = self._member(header.consumer_group, header.client_id)
        return await self._ask(member, header.consumer_group, Command.request(header))

    async def consume_directly(self, request: Command, _: Connection) -> Command:
        """Make a client consume one message now, outside its queues, if its account may read the message's topic."""
        header = request.header(headers.ConsumeMessageDirectlyRequest)
        record = self._arrivals.find_named(parse_offset_id(header.msg_id).log_offset)
        if record is None:
            raise ClientUnreachable(f"message {header.msg_id} is not in the store")
        member = self._member(header.consumer_group, header.client_id)
        message = decode_one(record, decompress=False)
        need = need_topic(real_topic(message.topic, message.properties.get(names.REAL_TOPIC)), Right.SUB)
        if not self._permits.may(member, need):
            raise AccessRefused(f"The account of client {member.client_id[:80]!r} may not read {need.kind}:{need.name}")
        question = Command.request(replace(header, broker_name=self._broker_name), record)
        return await self._ask(member, header.consumer_group, question)

    async def _positions_of(self, member: Member[Connection], topic: str, group: str) -> dict[MessageQueue, int] | None:
        question = Command.request(headers.GetConsumerStatusFromClientRequest(topic, group))
        try:
            answer = await member.channel.invoke(question, self._timeout_ms)
            return body_of(GetConsumerStatusBody, answer, self._limits).message_queue_table
        except (RemotingError, MalformedBody, LimitReached) as error:
            _log.warning("group=%s client=%s: did not report its offsets: %s", group, member.client_id, error)
            return None

    def _member(self, group: str, client_id: str) -> Member[Connection]:
        consumers = self._clients.find_consumers(group)
        member = consumers.find_member(client_id) if consumers is not None else None
        if member is None:
            raise ClientUnreachable(f"The Consumer <{group}> <{client_id}> not online")
        return member

    async def _ask(self, member: Member[Connection], group: str, question: Command) -> Command:
        client_id, timeout_ms = member.client_id, self._timeout_ms
        try:
            return await member.channel.invoke(question, timeout_ms)
        except RemotingTimeout as error:
            raise ClientTooSlow(f"consumer <{group}> <{client_id}> gave no answer in {timeout_ms} ms") from error
        except RemotingError as error:
            raise ClientUnreachable(f"invoke consumer <{group}> <{client_id}> Exception: {error}") from error
