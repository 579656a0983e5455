"""Request and reply: a reply goes at once to the producer that waits for it, and is stored.

RocketMQ also stores a reply that reaches no client; here its sender gets an error, and nothing is stored. A reply is
one plain message: whatever waits, decides or belongs to a group is sent as what it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from broker_core.broker.clients import Clients
from broker_core.broker.errors import MessageIllegal, ReplyLost
from broker_core.broker.names import check_names
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.send import SendProcessor
from broker_core.broker.transactions.records import is_transactional
from broker_core.protocol import properties as names
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import PushReplyMessageToClientRequest, SendHeader, send_header_kind
from broker_core.protocol.properties import format_properties, parse_properties
from broker_core.protocol.topics import NOT_FOR_CLIENTS, is_dead_letter_topic, is_retry_topic
from broker_core.remoting.connection import Connection
from broker_core.remoting.errors import RemotingError

_SHOWN: Final = 200


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
        """Forward a reply to the client that its property names, then store it like any message.

        Raises ReplyLost, MessageIllegal for what is no plain message, and IllegalArgument for too long a name.
        """
        header = request.header(send_header_kind(request.code))
        properties = parse_properties(header.properties or "")
        _check_plain(header, properties)
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


def _check_plain(header: SendHeader, properties: Mapping[str, str]) -> None:
    """Raise MessageIllegal before the reply is pushed, so that what cannot be stored reaches nobody either."""
    if header.topic in NOT_FOR_CLIENTS or is_retry_topic(header.topic) or is_dead_letter_topic(header.topic):
        raise MessageIllegal(f"a reply cannot be sent to the topic {header.topic[:_SHOWN]}")
    check_names(producerGroup=header.producer_group)
    if is_transactional(properties) or header.sys_flag & flags.TRANSACTION_MASK:
        raise MessageIllegal("a reply takes no part in a transaction")
    if asked := next((name for name in (names.DELAY, *names.TIMERS) if name in properties), None):
        raise MessageIllegal(f"a reply takes no delay and no delivery time ({asked})")
    if header.batch:
        raise MessageIllegal("a reply is one message, not a batch")
