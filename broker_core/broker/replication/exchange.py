"""The request of a slave before it connects (906), on both sides (broker/replication/README.md#the-rim)."""

from __future__ import annotations

from typing import Final

from broker_core.broker.replication.messages import Accepted, AskMaster, Exchange, Refused
from broker_core.broker.replication.replica_store import QueueEnds
from broker_core.protocol import bodies
from broker_core.protocol.bodies import replicas
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import MalformedBody, ProtocolError
from broker_core.protocol.headers.controller import ExchangeHaInfoRequest, ExchangeHaInfoResponse
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.errors import RemotingError
from broker_core.store.consume_queue import QueueEnd

_TIMEOUT_MS: Final = 2_000


async def ask_master(remoting: RemotingClient, ask: AskMaster) -> Accepted | Refused:
    """Return the master's answer; one that does not answer refuses."""
    request = ask.request
    header = ExchangeHaInfoRequest(
        broker_id=request.broker_id,
        life=request.life,
        segment_size=request.segment_bytes,
        epoch=request.epoch,
        newest_only=request.is_newest_only,
        empty=request.is_empty,
    )
    try:
        answer = await remoting.invoke(ask.address, Command.request(header), _TIMEOUT_MS)
        if answer.code != ResponseCode.SUCCESS:
            return Refused(answer.remark or f"the master answered code {answer.code}")
        place = answer.header(ExchangeHaInfoResponse)
        queue_ends = _queue_ends_of(answer.body) if request.is_empty else {}
    except (RemotingError, ProtocolError) as error:
        return Refused(str(error))
    if place.ticket is None or place.begin is None:
        return Refused("the master does not speak the stream with epochs")
    return Accepted(place.ticket, place.begin, queue_ends)


def _queue_ends_of(body: bytes) -> QueueEnds:
    """Return what a master told of its queues. Raises MalformedBody, also for an end that no queue can have."""
    told = bodies.decode(replicas.QueueEnds, body).queues
    found = {
        (topic, queue_id): QueueEnd(tip.next_offset, tip.log_offset, tip.size)
        for topic, queues in told.items()
        for queue_id, tip in queues.items()
    }
    for key, end in found.items():
        if end.next_offset < 1 or end.log_offset < 0 or end.size < 1:
            raise MalformedBody(f"queue {key} cannot end like this: {end}")
    return found


def exchange_of(request: Command) -> Exchange | None:
    """Return what a slave asks; None for a request of another kind of broker. Raises MalformedHeader."""
    header = request.header(ExchangeHaInfoRequest)
    if header.broker_id is None or header.life is None or header.segment_size is None or header.epoch is None:
        return None
    return Exchange(
        header.broker_id,
        header.life,
        header.epoch,
        header.segment_size,
        is_newest_only=bool(header.newest_only),
        is_empty=bool(header.empty),
    )


def answer_to(exchanged: Accepted | Refused) -> Command:
    """Return a master's answer."""
    if isinstance(exchanged, Refused):
        return Command.response(ResponseCode.ILLEGAL_OPERATION, remark=exchanged.reason)
    header = ExchangeHaInfoResponse(ticket=exchanged.ticket, begin=exchanged.begin)
    told: dict[str, dict[int, replicas.QueueTip]] = {}
    for (topic, queue_id), end in exchanged.queue_ends.items():
        told.setdefault(topic, {})[queue_id] = replicas.QueueTip(*end)
    return Command.response(ResponseCode.SUCCESS, header, bodies.encode_strict(replicas.QueueEnds(told)))
