"""A real controller under damaged requests of each of its codes: each is answered, and what it keeps stays sound."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

import pytest

from broker_core.namesrv.changes import OF_CONTROLLER
from broker_core.protocol import Command, RequestCode, bodies
from broker_core.protocol.bodies.controller import decode_state, encode_state
from broker_core.protocol.bodies.replicas import SyncStateSet
from broker_core.protocol.codes import FLAG_ONE_WAY
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.headers import controller as headers
from tests.broker_core.controller.hosted import Hosted, brokers, hosted
from tests.broker_core.controller.states import state
from tests.fuzz import requests, samples
from tests.fuzz.cases import BASE_SEED, TIMES, run_cases
from tests.fuzz.mutations import mutate

REQUESTS_EACH: Final = int(150 * TIMES)
LIKELY: Final = {
    "clusterName": ("C",), "brokerName": ("b", "b", "c"), "brokerId": ("1", "2", "3"), "life": ("1-a", "2-b", "x"),
    "masterBrokerId": ("1", "2"), "masterEpoch": ("1", "2", "3"), "registerCheckCode": ("check1", "check2", "check3"),
    "appliedBrokerId": ("1", "2", "3", "4"), "brokerControllerIdsToClean": ("2", "3", "2;3", "x"),
    "brokerIds": ("1", "1;2"), "viewEpoch": ("0", "1"), "viewVersion": ("0", "3"), "dryRun": ("true", "false"),
}  # fmt: skip


def request_of(random: Random, code: int) -> Command:
    """Return a request that is often plausible to a controller with a name `b`."""
    request = requests.damaged(random, code)
    request.flag &= ~FLAG_ONE_WAY
    for name, texts in LIKELY.items():
        if random.random() < 0.8:
            request.ext_fields[name] = random.choice(texts)
    if code == RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET and random.random() < 0.8:
        lives = {each: random.choice(("1-a", "2-b")) for each in (1, 2)}
        body = bodies.encode_strict(SyncStateSet([1, 2][: random.randint(0, 2)], random.randint(0, 3), lives))
        request.body = body if random.random() < 0.5 else mutate(random, body)
    return request


async def is_sound(served: Hosted) -> None:
    """Assert that every name that is kept is a state, and that the controller serves."""
    _, names = await served.controller.parts.decisions.read()
    for name, kept in names.items():
        assert decode_state(kept.text).name == name
    assert (await served.ask(headers.NameStateRequest("b"))).code == 0


@pytest.mark.parametrize("code", sorted(OF_CONTROLLER))
async def test_damaged_requests_are_answered(
    tmp_path: Path, code: RequestCode, caplog: pytest.LogCaptureFixture
) -> None:
    async with hosted(tmp_path) as served, brokers(served, 1, 2):
        for number in range(REQUESTS_EACH):
            random = Random(BASE_SEED * 1_000_003 + code * 1_000 + number)
            request = request_of(random, code)
            request.serializer = 0
            await served.client.invoke(served.address, request, 10_000)
        await is_sound(served)
    assert [record for record in caplog.records if record.exc_info] == []


def test_damaged_states_are_refused_or_read() -> None:
    sound = encode_state(state())

    def case(random: Random) -> None:
        read = decode_state(mutate(random, sound))
        assert decode_state(encode_state(read)) == read

    run_cases(5_000, case, named=MalformedBody)


def test_damaged_answers_are_refused_or_read() -> None:
    kinds = (bodies.Preview, bodies.ControllerInfo, bodies.BrokerReplicasInfo, bodies.SyncStateSet)

    def case(random: Random) -> None:
        kind = random.choice(kinds)
        bodies.decode(kind, mutate(random, bodies.encode_strict(samples.sample(random, kind))))

    run_cases(5_000, case, named=MalformedBody)
