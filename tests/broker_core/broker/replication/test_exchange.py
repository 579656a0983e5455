"""The request before the stream, as bytes on the wire."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from broker_core.broker.replication.exchange import answer_to, ask_master, exchange_of
from broker_core.broker.replication.messages import Accepted, AskMaster, Exchange, Refused
from broker_core.protocol import bodies
from broker_core.protocol.bodies.replicas import QueueEnds, QueueTip
from broker_core.protocol.command import Command
from broker_core.store.consume_queue import QueueEnd

EMPTY = Exchange(2, "4-a", 3, 64, is_newest_only=True, is_empty=True)
OTHER = Exchange(2, "4-a", 3, 64)
TOLD = Accepted(
    7, 128, {("T", 0): QueueEnd(5, 100, 20), ("T", 3): QueueEnd(1, 0, 91), ("%RETRY%g", 0): QueueEnd(2, 9, 9)}
)


@dataclass
class Answering:
    """A client that gets one answer to whatever it asks."""

    answer: Command
    asked: list[Command] = field(default_factory=list)

    async def invoke(self, _address: str, request: Command, _timeout_ms: int) -> Command:
        self.asked.append(request)
        return self.answer


async def asked(request: Exchange, answer: Command) -> tuple[Accepted | Refused, Exchange | None]:
    client = Answering(answer)
    told = await ask_master(client, AskMaster(1, "a:1", request))  # type: ignore[arg-type]
    return told, exchange_of(client.asked[0])


@pytest.mark.parametrize("request_", [EMPTY, OTHER])
async def test_both_sides_understand_each_other(request_: Exchange) -> None:
    told, heard = await asked(request_, answer_to(TOLD if request_.is_empty else Accepted(7, 128)))
    assert heard == request_
    assert told == (TOLD if request_.is_empty else Accepted(7, 128))
    refused, _ = await asked(request_, answer_to(Refused("another epoch")))
    assert refused == Refused("another epoch")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"queues":{"T":{"0":{}}}}',
        *(
            bodies.encode_strict(QueueEnds({"T": {0: tip}}))
            for tip in (QueueTip(0, 1, 1), QueueTip(1, -1, 1), QueueTip(1, 1, 0))
        ),
    ],
)
async def test_ends_that_no_queue_can_have_are_a_refusal(body: bytes) -> None:
    answer = answer_to(Accepted(7, 128))
    answer.body = body
    assert isinstance((await asked(EMPTY, answer))[0], Refused)
    assert (await asked(OTHER, answer))[0] == Accepted(7, 128)
