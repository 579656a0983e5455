"""Requirements of `gateway.health_checks`: brokers that do not answer, or whose figures are bad, are named."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import redis.asyncio

from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.answers import Answers
from broker_core.client.errors import AccessDenied, TimedOut, Unreachable
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import ReplicaState, new_state
from console.clusters.memory import Remembered, RememberedBroker
from console.clusters.models import Cluster
from console.lag import current, rounds
from console.lag.reading import LagReading
from console.lag.state import StateBuilder
from console.replicas.shapes import HeldReplica
from gateway import health_checks
from gateway.health_checks import MEANINGS, everything

GOOD = {"commitLogDiskRatio": "0.42", "dispatchBehindBytes": "0"}
SEEN = datetime(2026, 7, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, RememberedBroker]:
    """What the console remembers of the cluster: broker-a at b:1; a test may add others."""
    brokers = {"broker-a": RememberedBroker("broker-a", {0: "b:1"}, SEEN, SEEN)}

    async def remembered(_: str) -> Remembered:
        return Remembered(brokers)

    monkeypatch.setattr(health_checks, "aremembered", remembered)
    monkeypatch.setattr(current, "find_overview", lambda _: None)
    return brokers


def parts(answers: Answers[BrokerRuntime]) -> Any:
    async def runtime_of(addr: str, *, timeout_ms: int | None = None) -> BrokerRuntime:
        if addr in answers.failed:
            if isinstance(answers.failed[addr], TimedOut) and timeout_ms is None:
                await asyncio.Event().wait()
            raise answers.failed[addr]
        return answers.found[addr]

    async def masters() -> dict[str, str]:
        return {address: f"broker-{'ab'[n]}" for n, address in enumerate([*answers.found, *answers.failed])}

    async def admin(_: str) -> Any:
        return SimpleNamespace(clusters=SimpleNamespace(runtime_of=runtime_of, masters=masters))

    return SimpleNamespace(connections=SimpleNamespace(admin=admin), redis=None)


@pytest.mark.parametrize(
    ("figures", "name", "reason"),
    [
        (GOOD, "disk", None),
        (GOOD, "dispatch", None),
        ({**GOOD, "commitLogDiskRatio": "0.93"}, "disk", "the disk of b:1 is 93% full"),
        (
            {**GOOD, "dispatchBehindBytes": "99999999"},
            "dispatch",
            "the consume queues of b:1 are 99999999 bytes late",
        ),
        ({}, "disk", "b:1 does not say how full its disk is"),
        ({}, "dispatch", "b:1 does not say how far its consume queues are behind"),
    ],
)
async def test_figures_that_are_bad_or_missing_fail_a_check(figures: dict[str, str], name: str, reason: str) -> None:
    state = await everything(parts(Answers({"b:1": BrokerRuntime(figures)}))).state()
    assert list(state.reasons) == list(MEANINGS)
    assert state.reasons[name] == reason
    assert state.reasons["brokers"] is None


@pytest.mark.parametrize("name", ["brokers", "disk", "dispatch"])
async def test_a_broker_that_does_not_answer_is_not_called_healthy(name: str) -> None:
    silent = Unreachable("b:2", "refused")
    state = await everything(parts(Answers({"b:1": BrokerRuntime(GOOD)}, {"b:2": silent}))).state()
    assert "broker-b at b:2" in str(state.reasons[name])


async def test_a_broker_that_never_answers_is_named_and_does_not_make_the_others_seem_down() -> None:
    silent = TimedOut("b:2", 1_500)
    state = await everything(parts(Answers({"b:1": BrokerRuntime(GOOD)}, {"b:2": silent}))).state()
    assert state.reasons["broker"] is None
    for name in ("brokers", "disk", "dispatch"):
        assert state.reasons[name] == "broker-b at b:2 did not answer within 1.5 s"


@pytest.mark.parametrize("name", ["brokers", "disk", "dispatch"])
async def test_a_known_broker_that_is_not_listed_any_more_counts_as_silent(
    known: dict[str, RememberedBroker], name: str
) -> None:
    known["broker-b"] = RememberedBroker("broker-b", {0: "b:2"}, SEEN, SEEN)
    state = await everything(parts(Answers({"b:1": BrokerRuntime(GOOD)}))).state()
    assert state.reasons[name] == "broker-b is not listed by any name server"
    del known["broker-b"]  # an operator removed it
    assert (await everything(parts(Answers({"b:1": BrokerRuntime(GOOD)}))).state()).reasons[name] is None


async def test_a_broker_whose_replicas_are_held_is_named_with_the_reason(
    known: dict[str, RememberedBroker], monkeypatch: pytest.MonkeyPatch
) -> None:
    known["broker-b"] = RememberedBroker("broker-b", {0: "b:2"}, SEEN, SEEN)
    replicas = {number: ReplicaState(f"b:{number}", "", "1-a", "", True, 1) for number in (2, 3)}
    held = HeldReplica(code="damaged", reason="the log cannot be cut", common_end=None, more_bytes=None, advice="")
    reading = LagReading(
        now_ms(), decided={"broker-b": replace(new_state("broker-b", "C"), replicas=replicas)}, held={("b:2", 2): held}
    )
    monkeypatch.setattr(current, "find_overview", lambda _: StateBuilder().step(reading).overview)
    state = await everything(parts(Answers({"b:1": BrokerRuntime(GOOD)}))).state()
    assert state.reasons["brokers"] == (
        "broker-b is not listed by any name server; the log cannot be cut; "
        "replica 2 does not join by itself: see its log and its disk, then start it again"
    )


@pytest.mark.parametrize("name", ["brokers", "disk", "dispatch"])
async def test_where_no_broker_is_listed_or_known_nothing_is_called_healthy(
    known: dict[str, RememberedBroker], name: str
) -> None:
    known.clear()
    state = await everything(parts(Answers())).state()
    assert state.reasons[name] == "no broker is listed"


@pytest.mark.django_db(transaction=True)
async def test_a_cluster_that_the_sampler_does_not_reach_is_named(redis_url: str) -> None:
    for name in ("east", "west", "new"):
        await Cluster.objects.acreate(name=name, name_servers=["127.0.0.1:1"])
    await Cluster.objects.exclude(name="new").aupdate(created_at=SEEN)
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        asked = parts(Answers({"b:1": BrokerRuntime(GOOD)}))
        asked.redis = store
        await rounds.keep(store, {"east": now_ms() - 2_000, "west": now_ms() - 90_500})
        assert (await everything(asked).state()).reasons["sampling"] == "west was not sampled for 90 s"
        await rounds.keep(store, {"west": now_ms()})
        assert (await everything(asked).state()).reasons["sampling"] is None
        await rounds.forget(store, ["east"])
        assert "east was not sampled for" in str((await everything(asked).state()).reasons["sampling"])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Unreachable("b:1", "refused"), "no broker answers"),
        (AccessDenied(16, "no account", "b:1"), "brokers answer, but refuse access to this gateway"),
    ],
)
async def test_a_gateway_that_brokers_refuse_says_so(error: GantryError, reason: str) -> None:
    state = await everything(parts(Answers({}, {"b:1": error}))).state()
    assert state.reasons["broker"] == reason
