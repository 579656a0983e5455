"""Runs of sends: many of one producer, which one call stores and answers (broker/README.md#runs-of-sends)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

from broker_core.broker.access.forwarded import is_forwarded
from broker_core.broker.clients import Clients
from broker_core.broker.config import BrokerConfig
from broker_core.broker.intake import Intake
from broker_core.broker.names import MAX_NAME
from broker_core.broker.role import Roles
from broker_core.broker.sent_answer import Additions, marked
from broker_core.broker.sent_text import sys_flag_in
from broker_core.broker.settings import Settings
from broker_core.broker.topic_producers import TopicProducers
from broker_core.broker.topics import Topics
from broker_core.broker.waits import Waits
from broker_core.native import native
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.codes import SERIALIZER_JSON, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.frame import Frame
from broker_core.protocol.header_form import HeaderForm, cut_send
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.host import encode_host, parse_host
from broker_core.protocol.record import encode_topic
from broker_core.protocol.topics import NOT_FOR_CLIENTS, RETRY_PREFIX
from broker_core.remoting.connection import Connection
from broker_core.store.send_plan import SendPlan, StoredSends

MOST_AT_ONCE: Final = 24
"""Frames of one call: the first answers leave while the next messages are stored."""
_MOST_FORMS: Final = 4
_MOST_LEFT: Final = 31
"""Frames that are left to the handlers unseen; what never is a plain send should not be looked at each time."""
_ANOTHER: Final = b"x"
"""What makes other properties of any."""


class Basis(NamedTuple):
    """What a plan was made for; it is made anew when one of these was replaced."""

    topic: TopicConfig
    config: BrokerConfig
    added: str
    answer: HeaderForm

    def is_still(self, topic: TopicConfig, config: BrokerConfig, added: str, answer: HeaderForm) -> bool:
        """Return whether all are the same objects."""
        return self.topic is topic and self.config is config and self.added is added and self.answer is answer


@dataclass(slots=True)
class Kind:
    """Sends of one connection that differ only where their form is cut."""

    form: HeaderForm
    topic: str
    group: str
    flag: int
    sys_flag: int
    reconsume_times: int
    made_for: Basis | None = None
    plan: SendPlan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The parts of the broker that take part in a send."""

    topics: Topics
    unsaved: Set[str]
    additions: Additions
    intake: Intake
    producers: TopicProducers
    clients: Clients[Connection]
    waits: Waits | None
    """None if no send waits."""
    roles: Roles
    settings: Settings
    clock: Callable[[], int]


class SendLane:
    """The runs of one connection."""

    __slots__ = ("_born_host", "_connection", "_kinds", "_left", "_left_next", "_stage")

    def __init__(self, stage: Stage, connection: Connection) -> None:
        self._stage = stage
        self._connection = connection
        self._born_host = encode_host(*parse_host(connection.peer))
        self._kinds: list[Kind] = []
        self._left = 0
        self._left_next = 0

    def take(self, frames: list[Frame], at: int) -> int:
        """Store and answer the plain sends from `at` on that differ in little; return how many frames that were."""
        if self._left:
            self._left -= 1
            return 0
        if not self._stage.roles.now.is_master:
            return 0
        kind = self._kind_of(frames[at])
        taken = 0 if kind is None else self._put(kind, frames, at)
        if taken:
            self._left_next = 0
        else:
            self._left = self._left_next
            self._left_next = min(2 * self._left_next + 1, _MOST_LEFT)
        return taken

    def _kind_of(self, frame: Frame) -> Kind | None:
        assert native is not None
        for kind in self._kinds:
            if native.header_matches(*kind.form, frame.header):
                return kind
        new = find_kind(frame)
        if new is not None:
            self._kinds = [new, *self._kinds[: _MOST_FORMS - 1]]
        return new

    def _put(self, kind: Kind, frames: list[Frame], at: int) -> int:
        stage = self._stage
        topic = stage.topics.find(kind.topic)
        waits = stage.waits
        sends = stage.producers.find(key := (kind.topic, kind.group, self._connection.peer))
        if topic is None or topic.order or kind.topic in stage.unsaved or sends is None:
            return 0
        most = MOST_AT_ONCE if waits is None else min(MOST_AT_ONCE, waits.room)
        now = stage.clock()
        until = min(len(frames), at + most)
        stored = stage.intake.put_sends(self._plan_of(kind, topic), frames, at, until, now)
        if stored.sends:
            if not sends.client_id:
                sends.client_id = stage.clients.producer_id(kind.group, self._connection)
            stage.producers.count(key, sends, stored.sends, now)
            self._answer(stored, now)
        return stored.sends

    def _answer(self, stored: StoredSends, now: int) -> None:
        if self._stage.waits is None:
            self._connection.answer_many(stored.answers, stored.sends)
        else:
            answer = partial(self._answer_settled, stored, self._connection.owe())
            self._stage.waits.wait(stored.end, answer, now=now, sends=stored.sends)

    def _answer_settled(self, stored: StoredSends, owed: asyncio.Future[None], code: ResponseCode) -> None:
        self._connection.answer_many(marked(stored.answers, code), stored.sends)
        if not owed.done():  # cancelled where the server waited long enough
            owed.set_result(None)

    def _plan_of(self, kind: Kind, topic: TopicConfig) -> SendPlan:
        additions, config = self._stage.additions, self._stage.settings.config
        added, answer = additions.text, additions.answer_form
        if kind.plan is None or kind.made_for is None or not kind.made_for.is_still(topic, config, added, answer):
            kind.made_for = Basis(topic, config, added, answer)
            kind.plan = self._make_plan(kind, kind.made_for)
        return kind.plan

    def _make_plan(self, kind: Kind, basis: Basis) -> SendPlan:
        topic, config = basis.topic, basis.config
        return SendPlan(
            *kind.form,
            *basis.answer,
            topic=kind.topic,
            encoded_topic=encode_topic(kind.topic),
            queues=max(topic.read_queue_nums, topic.write_queue_nums),
            flag=kind.flag,
            sys_flag=sys_flag_in(topic, kind.sys_flag),
            reconsume_times=kind.reconsume_times,
            born_host=self._born_host,
            store_host=self._stage.intake.store_host,
            added=basis.added,
            longest_body=min(config.limits.body_bytes, config.store.max_message_size),
            longest_text=config.limits.properties_bytes,
            only_waiting=self._stage.waits is not None,
        )


def find_kind(frame: Frame) -> Kind | None:
    """Return the kind of a plain send whose header says everything in the usual form; None for any other frame."""
    cut = cut_send(frame.header) if frame.serializer == SERIALIZER_JSON else None
    if cut is None:
        return None
    other = _other_values(cut.values)
    try:
        request, header = _read(frame)
        other_request, other_header = _read(frame._replace(header=cut.with_others(other)))
    except ProtocolError:
        return None  # the handler says what is wrong with it
    if not header.properties or request.code != RequestCode.SEND_MESSAGE_V2 or request.flag or not _is_plain(header):
        return None
    if is_forwarded(request) or header.is_repeated:  # the handler looks whether it is there, and whose it is
        return None
    # A name may be said twice, in ways that a cut does not see: it decides only if another value there does.
    expected = replace(
        header,
        queue_id=int(other[b"q"]),
        born_timestamp=int(other[b"t"]),
        properties=header.properties + _ANOTHER.decode(),
    )
    if other_header != expected or other_request.opaque != int(other[b"o"]):
        return None
    return Kind(cut.form, header.topic, header.producer_group, header.flag, header.sys_flag, header.reconsume_times)


def _other_values(values: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return different values, by letter."""
    numbers = {letter: b"2" if values[letter] == b"1" else b"1" for letter in (b"q", b"t", b"o")}
    return {**numbers, b"p": values[b"p"] + _ANOTHER}


def _read(frame: Frame) -> tuple[Command, SendMessageV2Request]:
    request = Command.decode(frame)
    return request, request.header(SendMessageV2Request)


def _is_plain(header: SendMessageV2Request) -> bool:
    return not (
        header.batch
        or header.sys_flag & flags.TRANSACTION_MASK
        or header.topic.startswith(RETRY_PREFIX)
        or header.topic in NOT_FOR_CLIENTS
        or len(header.producer_group) > MAX_NAME
    )
