"""Request and reply: a reply goes at once to the producer that waits for it, and is stored.

RocketMQ also stores a reply that reaches no client; here its sender gets an error, and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from broker_core.broker.clients import Clients
from broker_core.broker.errors import ReplyLost
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.send import SendProcessor
from broker_core.protocol import properties as names
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import PushReplyMessageToClientRequest, SendHeader, send_header_kind
from broker_core.protocol.properties import format_properties, parse_properties
from broker_core.remoting.connection import Connection
from broker_core.remoting.errors import RemotingError


class ReplyProcessor:
    """Answers 324 and 325."""

    def __init__(
        self,
        *,
        sender: SendProcessor,
        clients: Clients[Connection],
        address: str,
        timeout_ms: int,
        clock: Callable[[], int],
    ) -> None:
        self._clients = clients
        self._address = address
        self._timeout_ms = timeout_ms
        self._clock = clock
        self._sender = sender

    def handlers(self) -> Handlers:
        return {RequestCode.SEND_REPLY_MESSAGE: self.reply, RequestCode.SEND_REPLY_MESSAGE_V2: self.reply}

    async def reply(self, request: Command, connection: Connection) -> Command | None:
        """Forward a reply to the client that its property names, then store it like any message; raise ReplyLost."""
        header = request.header(send_header_kind(request.code))
        properties = parse_properties(header.properties or "")
        client_id = properties.get(names.REPLY_TO_CLIENT)
        if client_id is None:
            raise ReplyLost("reply message properties[REPLY_TO_CLIENT] is null")
        asker = self._clients.find_producer(client_id)
        if asker is None:
            raise ReplyLost(f"push reply message fail, channel of <{client_id}> not found.")
        push = Command.request(self._push_of(header, properties, connection), request.body)
        try:
            taken = await asker.channel.invoke(push, self._timeout_ms)
        except RemotingError as error:
            raise ReplyLost(f"push reply message to <{client_id}>fail. {error}") from error
        if taken.code != ResponseCode.SUCCESS:
            raise ReplyLost(f"push reply message to <{client_id}>fail. {taken.remark}")
        stored = self._sender.send(request, connection)
        return await stored if isinstance(stored, Awaitable) else stored

    def _push_of(
        self, header: SendHeader, properties: Mapping[str, str], connection: Connection
    ) -> PushReplyMessageToClientRequest:
        now = self._clock()
        return PushReplyMessageToClientRequest(
            topic=header.topic,
            queue_id=header.queue_id,
            sys_flag=header.sys_flag,
            born_timestamp=header.born_timestamp,
            flag=header.flag,
            born_host=connection.peer,
            store_host=self._address,
            store_timestamp=now,
            producer_group=header.producer_group,
            default_topic=header.default_topic,
            default_topic_queue_nums=header.default_topic_queue_nums,
            properties=format_properties({**properties, names.PUSH_REPLY_TIME: str(now)}),
            reconsume_times=header.reconsume_times,
            unit_mode=header.unit_mode,
        )
