"""Sending: one message or a batch (broker/README.md#sending).

Everything here is a plain function: a send is answered in the same turn of the event loop, and the answers to the sends
of one read leave in few writes. Where it waits for the disk or a replica, the answer comes from `waits.py` instead.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from broker_core.broker.access.forwarded import is_forwarded
from broker_core.broker.access.permits import Permits
from broker_core.broker.clients import Clients
from broker_core.broker.config import BrokerConfig
from broker_core.broker.errors import (
    IllegalQueue,
    MessageIllegal,
    SendForbidden,
    TransactionsRefused,
)
from broker_core.broker.intake import Intake
from broker_core.broker.names import MAX_NAME, check_names
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.rights import WriteRights
from broker_core.broker.processors.send_runs import SendLane, Stage
from broker_core.broker.processors.sent_before import SentBefore
from broker_core.broker.processors.topic_creation import TopicCreation
from broker_core.broker.role import Roles
from broker_core.broker.sent_answer import Additions, mark
from broker_core.broker.sent_batch import settled_batch
from broker_core.broker.sent_text import settle, settled_pairs, sys_flag_in, take_wait
from broker_core.broker.settings import Settings
from broker_core.broker.timer.timer import Timer
from broker_core.broker.topic_producers import Sends, TopicProducers
from broker_core.broker.topics import Topics
from broker_core.broker.transactions.records import is_transactional
from broker_core.broker.transactions.transactions import Transactions
from broker_core.broker.waits import Waits
from broker_core.native import native
from broker_core.protocol import fields
from broker_core.protocol import properties as names
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import (
    SendHeader,
    SendMessageResponse,
    send_header_kind,
)
from broker_core.protocol.host import encode_host, parse_host
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.properties import format_properties, parse_properties
from broker_core.protocol.recall_handle import RecallHandle
from broker_core.protocol.record import MessageOrigin
from broker_core.protocol.topics import NOT_FOR_CLIENTS, RETRY_PREFIX, TIMER_TOPIC
from broker_core.remoting.connection import Connection, Result
from broker_core.store import AppendedBatch, AppendedRecord, Incoming

_RECALL_HANDLE: Final = fields.wire_names(SendMessageResponse)["recall_handle"]


@lru_cache(maxsize=16_384)
def _born_host(peer: str) -> bytes:
    """Return a connection's ``ip:port`` as records carry it."""
    return encode_host(*parse_host(peer))


class SendProcessor:
    """Answers 10, 310 and 320."""

    def __init__(
        self,
        *,
        topics: Topics,
        creation: TopicCreation,
        rights: WriteRights,
        intake: Intake,
        timer: Timer,
        transactions: Transactions,
        address: str,
        producers: TopicProducers,
        clients: Clients[Connection],
        permits: Permits,
        waits: Waits,
        roles: Roles,
        sent_before: SentBefore,
        settings: Settings,
        clock: Callable[[], int],
    ) -> None:
        config = settings.config
        self._producers = producers
        self._clients = clients
        self._permits = permits
        self._timer = timer
        self._transactions = transactions
        self._address = address
        self._broker_name = config.identity.name
        self._topics = topics
        self._creation = creation
        self._unsaved = creation.unsaved
        self._rights = rights
        self._intake = intake
        self._waits = waits if waits.are_needed else None
        self._sent_before = sent_before
        self._clock = clock
        self._additions = Additions(settings, topics)
        settings.watch(self._follow)
        self._next_queue = itertools.count()
        self._stage = Stage(
            topics=topics,
            unsaved=creation.unsaved,
            additions=self._additions,
            intake=intake,
            producers=producers,
            clients=clients,
            waits=self._waits,
            roles=roles,
            settings=settings,
            clock=clock,
        )

    def handlers(self) -> Handlers:
        return {
            RequestCode.SEND_MESSAGE: self.send,
            RequestCode.SEND_MESSAGE_V2: self.send,
            RequestCode.SEND_BATCH_MESSAGE: self.send,
        }

    def _follow(self, config: BrokerConfig) -> None:
        self._limits = config.limits
        self._timer_settings = config.timer
        self._rejects_transactions = config.transactions.rejected

    def send(self, request: Command, connection: Connection) -> Result:
        """Store the message or the batch of a request; the answer may come later (`waits.py`)."""
        header = request.header(send_header_kind(request.code))
        if len(header.producer_group) > MAX_NAME:
            check_names(producerGroup=header.producer_group)
        now = self._clock()
        known = self._topics.find(header.topic)
        topic = known or self._creation.create_for(header, self._permits.account_of(request, connection), now=now)
        if header.topic in NOT_FOR_CLIENTS:
            raise SendForbidden(header.topic)
        if topic.order:
            self._rights.check_broker()
        queue_id = self._queue_of(header, topic)
        text = header.properties or ""
        self._limits.check_sizes(len(request.body), len(text))
        if self._waits is not None:
            self._waits.check_room()
        was_forwarded = is_forwarded(request)
        if (was_forwarded or header.is_repeated) and (
            before := self._sent_before.find(header, request.body, was_forwarded=was_forwarded)
        ):
            return self._answer_again(request, connection, before, now)
        peer = self._permits.peer_of(request, connection)
        born_host = _born_host(peer)
        if header.batch:
            text, waits = take_wait(text)
            stored: AppendedRecord | AppendedBatch = self._put_batch(
                header, topic, queue_id, request.body, text, self._origin(header, born_host, now)
            )
        else:
            stored, waits = self._put(request, connection, header, topic, queue_id, text, born_host, now)
        self._count(request, header, connection, peer, stored, now)
        response = self._additions.answer(stored.offset_id, stored.queue_offset, queue_id)
        if isinstance(stored, AppendedRecord) and stored.queue.topic == TIMER_TOPIC:
            self._add_handle(response, parse_properties(stored.text))
        waits = self._waits is not None and (waits or self._waits.are_for_all)
        if known is None or header.topic in self._unsaved:
            return self._answer_when_known(response, header.topic, stored.end if waits else None, now)
        if not waits:
            return response
        self._answer_when_settled(request, connection, response, stored.end, now)
        return None

    def _count(
        self,
        request: Command,
        header: SendHeader,
        connection: Connection,
        peer: str,
        stored: AppendedRecord | AppendedBatch,
        now: int,
    ) -> None:
        key = header.topic, header.producer_group, peer
        sends = self._producers.find(key)
        if sends is None:
            sends = Sends("", request.language, request.version)
            self._producers.add(key, sends)
        if not sends.client_id:  # the first heartbeat may come after the first send
            sends.client_id = self._clients.producer_id(header.producer_group, connection)
        self._producers.count(key, sends, len(stored.log_offsets) if isinstance(stored, AppendedBatch) else 1, now)

    # -- one message

    def _put(
        self,
        request: Command,
        connection: Connection,
        header: SendHeader,
        topic: TopicConfig,
        queue_id: int,
        text: str,
        born_host: bytes,
        now: int,
    ) -> tuple[AppendedRecord, bool]:
        """Store the message; return where, and whether its sender waits."""
        settled = None if header.topic.startswith(RETRY_PREFIX) else settle(text, self._additions.text)
        if settled is None or header.sys_flag & flags.TRANSACTION_PREPARED:
            text, waits = take_wait(text)
            origin = self._origin(header, born_host, now)
            return self._put_special(request, connection, header, topic, queue_id, text, origin), waits
        text, waits = settled
        if (
            connection.lane is None
            and native is not None
            and not self._permits.are_checked
            and not is_forwarded(request)
        ):
            connection.lane = SendLane(self._stage, connection)
        incoming = Incoming(
            header.topic,
            queue_id,
            request.body,
            text,
            header.flag,
            sys_flag_in(topic, header.sys_flag),
            header.born_timestamp,
            born_host,
            now,
            self._intake.store_host,
            header.reconsume_times,
            0,
        )
        return self._intake.put(incoming), waits

    def _origin(self, header: SendHeader, born_host: bytes, now: int) -> MessageOrigin:
        return MessageOrigin(header.born_timestamp, born_host, now, self._intake.store_host, header.reconsume_times)

    def _put_special(
        self,
        request: Command,
        connection: Connection,
        header: SendHeader,
        topic: TopicConfig,
        queue_id: int,
        text: str,
        origin: MessageOrigin,
    ) -> AppendedRecord:
        """Store a message with a delay or a delivery time, a retry, or the first phase of a transaction."""
        name, level = header.topic, 0
        pairs = self._pairs(text)
        if is_transactional(pairs) or header.sys_flag & flags.TRANSACTION_PREPARED:
            message = Message(name, request.body, pairs, header.flag, sys_flag_in(topic, header.sys_flag))
            return self._prepare(message, queue_id, origin, self._permits.account_of(request, connection))
        if names.DELAY in pairs:
            level = _delay_level(pairs[names.DELAY])
        if name.startswith(RETRY_PREFIX):
            account = self._permits.account_of(request, connection)
            dead = self._creation.dead_letter_of(request, header, account, now=origin.store_timestamp)
            if dead is not None:
                name, queue_id, level = dead, 0, 0
        due = None if name != header.topic else self._timer_settings.due_time(pairs, origin.store_timestamp)
        if level > 0:
            pairs = {each: value for each, value in pairs.items() if each not in names.TIMERS}
        message = Message(name, request.body, pairs, header.flag, sys_flag_in(topic, header.sys_flag))
        if due is not None:
            return self._timer.park(message, queue_id, origin, due)
        return self._intake.put_message(message, queue_id, origin, delay_level=level)

    def _prepare(self, message: Message, queue_id: int, origin: MessageOrigin, account: str) -> AppendedRecord:
        if self._rejects_transactions:
            raise TransactionsRefused(f"the broker[{self._address}] sending transaction message is forbidden")
        if not is_transactional(message.properties):  # Apache RocketMQ stores it where nobody can read it
            raise MessageIllegal("a prepared message has the property TRAN_MSG=true")
        if message.topic.startswith(RETRY_PREFIX):
            raise MessageIllegal("a retry topic takes no transactional message")
        check_names(PGROUP=message.properties.get(names.PGROUP, ""))
        return self._transactions.prepare(message, queue_id, origin, account=account)

    def _pairs(self, text: str) -> dict[str, str]:
        return settled_pairs(text) | self._additions.pairs

    # -- a batch

    def _put_batch(
        self, header: SendHeader, topic: TopicConfig, queue_id: int, body: bytes, text: str, origin: MessageOrigin
    ) -> AppendedBatch:
        pairs = self._pairs(text)
        if (
            header.sys_flag & flags.TRANSACTION_MASK
            or is_transactional(pairs)
            or names.DELAY in pairs
            or header.topic.startswith(RETRY_PREFIX)
        ):
            raise MessageIllegal("a batch takes no delay, no transaction and no retry topic")
        if asked := next((name for name in names.TIMERS if name in pairs), None):
            raise MessageIllegal(f"a batch takes no delivery time ({asked}); a delayed message is sent by itself")
        incoming = Incoming(
            header.topic,
            queue_id,
            settled_batch(body),
            format_properties(pairs),
            0,
            sys_flag_in(topic, header.sys_flag),
            *origin._replace(reconsume_times=0),
        )
        return self._intake.put_batch(incoming)

    # -- topic and queue

    def _queue_of(self, header: SendHeader, topic: TopicConfig) -> int:
        queues = max(topic.read_queue_nums, topic.write_queue_nums)
        if header.queue_id >= queues:
            raise IllegalQueue(header.topic, header.queue_id, queues)
        if header.queue_id >= 0:
            return header.queue_id
        return next(self._next_queue) % max(topic.write_queue_nums, 1)

    # -- the answer

    def _add_handle(self, response: Command, pairs: Mapping[str, str]) -> None:
        """Add to the answer the handle by which the sender can recall the message; one without unique id has none."""
        unique_id, topic = pairs.get(names.UNIQ_KEY), pairs[names.REAL_TOPIC]
        if unique_id and not topic.startswith(RETRY_PREFIX):
            due = int(pairs[names.TIMER_OUT_MS])
            response.ext_fields[_RECALL_HANDLE] = RecallHandle(topic, self._broker_name, due, unique_id).text

    async def _answer_when_known(self, response: Command, topic: str, end: int | None, now: int) -> Command:
        """Answer the first sends to a topic: a broker that is killed still knows it, and consumers find its route.

        With `end`, everything before that log offset must be where it shall be, too (`waits.py`).
        """
        settled: asyncio.Future[ResponseCode] = asyncio.get_running_loop().create_future()
        if end is None or self._waits is None:
            settled.set_result(ResponseCode.SUCCESS)
        else:
            self._waits.wait(end, settled.set_result, now=now)
        await self._creation.saved(topic)
        await self._creation.registered()
        return mark(response, await settled)

    def _answer_again(
        self, request: Command, connection: Connection, before: Sequence[StoredMessage], now: int
    ) -> Command | None:
        """Answer where messages are that came here before, when they are where they shall be."""
        first, ids = before[0], ",".join([each.offset_id for each in before])
        queue_id = int(first.properties.get(names.REAL_QID, first.queue_id))
        response = self._additions.answer(ids, first.queue_offset, queue_id)
        if first.topic == TIMER_TOPIC:
            self._add_handle(response, first.properties)
        if self._waits is None:
            return response
        end = max(each.log_offset + each.store_size for each in before)
        self._answer_when_settled(request, connection, response, end, now)
        return None

    def _answer_when_settled(
        self, request: Command, connection: Connection, response: Command, end: int, now: int
    ) -> None:
        request.body = b""  # it is stored; requests that wait must not hold a second copy

        def answer(code: ResponseCode) -> None:
            connection.answer(request, mark(response, code))

        assert self._waits is not None
        self._waits.wait(end, answer, now=now)


def _delay_level(text: str) -> int:
    try:
        return fields.read_i32(text)
    except ValueError as error:
        raise MessageIllegal(f"the property DELAY is {text[:20]!r}, not a number") from error
