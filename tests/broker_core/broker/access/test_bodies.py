"""The bodies that name topics and groups are read once, by the check of rights and the handler together."""

from __future__ import annotations

from typing import Any, Final

import pytest

from broker_core.protocol import bodies
from broker_core.protocol.bodies.heartbeat import HeartbeatData
from broker_core.protocol.bodies.locks import LockBatchRequestBody
from broker_core.protocol.bodies.pop import BatchAckMessageRequestBody, QueryAssignmentRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode as Code
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from tests.broker_core.broker.access.conftest import ADMIN
from tests.support.broker import TIMEOUT_MS, Wire

QUEUES: Final = [MessageQueue("orders", "broker-a", 0)]
BODIES: Final[list[tuple[Code, Any]]] = [
    (Code.HEART_BEAT, HeartbeatData("c")),
    (Code.LOCK_BATCH_MQ, LockBatchRequestBody("billing", "c", QUEUES)),
    (Code.UNLOCK_BATCH_MQ, LockBatchRequestBody("billing", "c", QUEUES)),
    (Code.QUERY_ASSIGNMENT, QueryAssignmentRequestBody("orders", "billing", "c")),
    (Code.BATCH_ACK_MESSAGE, BatchAckMessageRequestBody("broker-a")),
]


@pytest.mark.parametrize(("code", "body"), BODIES, ids=[code.name for code, _ in BODIES])
async def test_a_body_is_read_once(guarded: Wire, monkeypatch: pytest.MonkeyPatch, code: Code, body: Any) -> None:
    request = Command(code, body=bodies.encode(body))
    read, decode = [], bodies.decode

    def reading(kind: type, data: bytes, *limits: int) -> object:
        if data == request.body:
            read.append(kind)
        return decode(kind, data, *limits)

    monkeypatch.setattr(bodies, "decode", reading)
    answer = await guarded.client.invoke(guarded.address, ADMIN.sign(request), TIMEOUT_MS)

    assert answer.code == ResponseCode.SUCCESS, answer.remark
    assert len(read) == 1
