"""Requirements of `console.jobs.requests.live` where a broker of the target does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from rest_framework.exceptions import ValidationError

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.groups import GroupList
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.remoting.dispatch import Handler
from console.clusters.memory import Remembered, RememberedBroker
from console.errors import BrokersSilent
from console.jobs.requests import live
from tests.support.scripted import Cluster, say_nothing, scripted_cluster, succeed

GROUPS = RequestCode.QUERY_TOPIC_CONSUME_BY_WHO


def reading(*groups: str) -> Handler:
    return succeed(lambda _: Command.response(ResponseCode.SUCCESS, body=coder.encode(GroupList(list(groups)))))


@pytest.fixture
async def cluster(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    """Two brokers that the check asks; nothing else is remembered, and the caller sees every group."""
    loop = asyncio.get_running_loop()
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        async with Session(ClientConfig([cluster.name_server.addr])) as session:

            def ask(_: str, question: Callable[[Admin], Awaitable[Any]]) -> Any:
                async def asked() -> Any:
                    return await question(Admin(session))

                return asyncio.run_coroutine_threadsafe(asked(), loop).result()

            monkeypatch.setattr(live, "ask", ask)
            monkeypatch.setattr(live, "remembered", lambda _: Remembered())
            monkeypatch.setattr(live, "allows", lambda *_: True)
            yield cluster


async def check() -> None:
    request: Any = None
    await asyncio.to_thread(live.check_not_live, request, "local", "orders")


async def test_a_broker_that_hangs_is_named_within_seconds(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_ASK_MS", 100)
    cluster["broker-a"].on(GROUPS, reading())
    cluster["broker-b"].on(GROUPS, say_nothing())
    silent = (
        rf"is not known: broker-b at {cluster['broker-b'].addr} did not answer within 0.1 s; with allow_live_target"
    )
    with pytest.raises(BrokersSilent, match=silent) as refused:
        await check()
    assert (refused.value.status_code, refused.value.default_code) == (503, "broker_unreachable")


async def test_groups_of_a_broker_that_is_not_listed_any_more_read_the_topic(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("broker-a", "broker-b"):
        cluster[name].on(GROUPS, reading())
    await check()
    seen = datetime(2026, 7, 1, tzinfo=UTC)
    gone = RememberedBroker("broker-c", {}, seen, seen, groups={"billing": ("orders",), "other": ("payments",)})
    monkeypatch.setattr(live, "remembered", lambda _: Remembered({"broker-c": gone}))
    with pytest.raises(ValidationError, match="is read by billing, which"):
        await check()
