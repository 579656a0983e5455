"""One attempt to send: choosing the queue, sending one request, interpreting its answer (client/README.md#attempts)."""

from __future__ import annotations

import time
from dataclasses import replace
from enum import StrEnum
from typing import Final

from broker_core.client.config import DEFAULT_TOPIC_QUEUES, ProducerConfig
from broker_core.client.errors import (
    MalformedAnswer,
    NoMaster,
    NoRoute,
    SendUncertain,
    TopicNotFound,
    TopicReadOnly,
    Unreachable,
    is_unconfirmed,
    refusal,
)
from broker_core.client.faults import Faults
from broker_core.client.packing import Packed
from broker_core.client.routes import Route
from broker_core.client.selection import QueuePicker
from broker_core.client.session import Session
from broker_core.clock import now_ms
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import TopicRouteData
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import HeaderError
from broker_core.protocol.headers.send import SendMessageResponse, SendMessageV2Request
from broker_core.protocol.message import QueueOffset
from broker_core.protocol.topics import TEMPLATE_TOPIC
from broker_core.protocol.values import hot_value


class SendStatus(StrEnum):
    """How safely a broker has stored a message."""

    SEND_OK = "SEND_OK"
    FLUSH_DISK_TIMEOUT = "FLUSH_DISK_TIMEOUT"
    FLUSH_SLAVE_TIMEOUT = "FLUSH_SLAVE_TIMEOUT"
    SLAVE_NOT_AVAILABLE = "SLAVE_NOT_AVAILABLE"


@hot_value
class SendResult:
    """Where a message was stored. SEND_OK is as safe as the broker promises; any other status is less safe."""

    status: SendStatus
    message_id: str
    """The unique id; for a batch, that of its first message."""
    offset_id: str
    """Empty if the message shared a request and the broker named only the first one."""
    queue: MessageQueue
    queue_offset: QueueOffset
    """For a batch, that of its first message; the others follow without a gap."""
    message_ids: tuple[str, ...] = ()
    recall_handle: str | None = None
    """By which a message that waits for its delivery time can be recalled; brokers without recall give none."""
    region: str | None = None
    """The region of the broker, for traces."""
    is_traced: bool = True
    """False if the broker asks clients not to trace the message."""


_STATUSES: Final[dict[int, SendStatus]] = {
    ResponseCode.SUCCESS: SendStatus.SEND_OK,
    ResponseCode.FLUSH_DISK_TIMEOUT: SendStatus.FLUSH_DISK_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT: SendStatus.FLUSH_SLAVE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE: SendStatus.SLAVE_NOT_AVAILABLE,
}


class Sending:
    """Chooses queues and makes single attempts for one producer group."""

    def __init__(self, session: Session, group: str, config: ProducerConfig) -> None:
        self.session = session
        self._group = group
        self._config = config
        self._faults = Faults(config.fault_avoidance)
        self._pickers: dict[str, tuple[Route, QueuePicker]] = {}

    def find_picker(self, topic: str) -> QueuePicker | None:
        """Return the picker for the writable queues of `topic`; None if its route is not known yet."""
        route = self.session.routes.find(topic)
        if route is None:
            self._pickers.pop(topic, None)
            return None
        return self._picker_of(route)

    async def get_picker(self, topic: str) -> QueuePicker:
        """Return the picker, querying a name server if necessary; raise TopicNotFound or Unreachable."""
        return self.find_picker(topic) or self._picker_of(await self._find_route(topic))

    def pick(self, topic: str, *, last_broker: str | None = None) -> MessageQueue:
        """Return the queue for the next attempt, preferably not of `last_broker`, of a topic whose route is known.

        Raises TopicReadOnly or NoMaster if it has none, NoRoute if the route is not known.
        """
        picker = self.find_picker(topic)
        if picker is None:
            raise NoRoute(topic, "its route is not known")
        queue = picker.pick(self._faults, now=now_ms(), last_broker=last_broker)
        if queue is None:
            raise self.without_queues(topic)
        return queue

    def without_queues(self, topic: str) -> NoRoute:
        """Return why a topic has no writable queue: a broker of it has no master now, or none takes its messages."""
        route = self.session.routes.find(topic)
        name = None if route is None else route.without_master
        return TopicReadOnly(topic) if name is None else NoMaster(name, topic=topic)

    async def attempt(
        self,
        packed: Packed,
        queue: MessageQueue,
        *,
        timeout_ms: int,
        connect_ms: int | None = None,
        is_repeated: bool = False,
    ) -> SendResult:
        """Send once; raise SendUncertain if the broker may have stored the message without saying that it stays.

        `connect_ms` is what of the time may pass before there is a connection. With `is_repeated` a broker of ours
        looks whether it has the message from an earlier attempt, and answers where.
        """
        addr = self._master_of(queue)
        code = RequestCode.SEND_BATCH_MESSAGE if packed.is_batch else None
        started = time.monotonic()
        try:
            answer = await self.session.invoke(
                addr,
                self._header(packed, queue, is_repeated=is_repeated or None),
                packed.body,
                timeout_ms=timeout_ms,
                connect_ms=connect_ms,
                code=code,
            )
        except Unreachable as error:
            self._faults.note_failure(queue.broker_name, now=now_ms())
            if error.was_sent:
                raise SendUncertain(packed.topic, addr, str(error), broker_name=queue.broker_name) from error
            raise
        result = self._result(packed, queue, answer, addr)
        self._faults.note_latency(queue.broker_name, int((time.monotonic() - started) * 1000), now=now_ms())
        return result

    async def one_way(self, packed: Packed, queue: MessageQueue) -> None:
        """Send once and expect no answer; raise NoRoute or Unreachable."""
        code = RequestCode.SEND_BATCH_MESSAGE if packed.is_batch else None
        await self.session.one_way(self._master_of(queue), self._header(packed, queue), packed.body, code=code)

    def _result(self, packed: Packed, queue: MessageQueue, answer: Command, addr: str) -> SendResult:
        status = _STATUSES.get(answer.code)
        if status is None:
            if answer.code == ResponseCode.TOPIC_NOT_EXIST:
                self.session.routes.forget(packed.topic)
            elif answer.code in self._config.retried_codes or self._faults.every_refusal_counts:
                self._faults.note_failure(queue.broker_name, now=now_ms())
            if is_unconfirmed(answer.remark):
                raise SendUncertain(packed.topic, addr, answer.remark or "", broker_name=queue.broker_name)
            raise self.session.named(refusal(answer.code, answer.remark, addr, topic=packed.topic), addr)
        try:
            stored = answer.header(SendMessageResponse)
        except HeaderError as error:
            raise MalformedAnswer(addr, str(error)) from error
        if stored.queue_id != queue.queue_id:
            queue = replace(queue, queue_id=stored.queue_id)
        ids, offset = packed.message_ids, QueueOffset(stored.queue_offset)
        traced = stored.msg_region, stored.trace_on is not False
        return SendResult(status, ids[0], stored.msg_id, queue, offset, ids, stored.recall_handle, *traced)

    def _header(self, packed: Packed, queue: MessageQueue, *, is_repeated: bool | None = None) -> SendMessageV2Request:
        return SendMessageV2Request(
            producer_group=self._group,
            topic=packed.topic,
            # Without a template the broker cannot create the topic, if it was deleted in the meantime.
            default_topic=TEMPLATE_TOPIC if self._config.create_topics else "",
            default_topic_queue_nums=DEFAULT_TOPIC_QUEUES,
            queue_id=queue.queue_id,
            sys_flag=packed.sys_flag,
            born_timestamp=packed.born_timestamp,
            flag=packed.flag,
            properties=packed.properties,
            reconsume_times=packed.reconsume_times,
            max_reconsume_times=packed.max_reconsume_times,
            batch=packed.is_batch,
            is_repeated=is_repeated,
        )

    def _master_of(self, queue: MessageQueue) -> str:
        addr = self.session.routes.master(queue.broker_name)
        if addr is None:
            raise NoRoute(queue.topic, f"no master of broker {queue.broker_name!r} is known")
        return addr

    def _picker_of(self, route: Route) -> QueuePicker:
        known = self._pickers.get(route.topic)
        if known is not None and known[0] is route:
            return known[1]
        picker = QueuePicker(route.write_queues)
        self._pickers[route.topic] = route, picker
        return picker

    async def _find_route(self, topic: str) -> Route:
        routes = self.session.routes
        try:
            return await routes.refresh(topic)
        except TopicNotFound:
            if not self._config.create_topics:
                raise
        except Unreachable:
            if (known := await routes.remembered(topic)) is None:
                raise
            return known
        template = await routes.get(TEMPLATE_TOPIC)
        return routes.install(topic, route_from_template(template.data))


def results_of_each(result: SendResult) -> list[SendResult]:
    """Return the results of the messages of a batch, whose brokers name the places of all or only of the first."""
    unique_ids = result.message_ids
    if len(unique_ids) < 2:
        return [result]
    ids: list[str] = result.offset_id.split(",")
    if len(ids) != len(unique_ids):
        ids = [""] * len(unique_ids)
    status, queue, first = result.status, result.queue, result.queue_offset
    traced = result.region, result.is_traced
    return [
        SendResult(status, its, ids[place], queue, QueueOffset(first + place), (its,), None, *traced)
        for place, its in enumerate(unique_ids)
    ]


def route_from_template(template: TopicRouteData) -> TopicRouteData:
    """Return the route that a topic gets when a broker creates it from the template (client/README.md#routes)."""
    queues = [
        replace(
            queue,
            read_queue_nums=min(DEFAULT_TOPIC_QUEUES, queue.read_queue_nums),
            write_queue_nums=min(DEFAULT_TOPIC_QUEUES, queue.read_queue_nums),
        )
        for queue in template.queue_datas
    ]
    return replace(template, queue_datas=queues)
