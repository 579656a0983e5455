"""Changes while a broker has no master, as before the first election: what none was told is never taken for made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import pytest

from broker_core.client.admin import Admin
from broker_core.client.admin.offsets import TO_THE_END
from broker_core.client.admin.topics import TopicChange
from broker_core.client.config import ClientConfig
from broker_core.client.errors import NoMaster, TopicNotFound
from broker_core.client.session import Session
from broker_core.protocol.bodies.access import PlainAccessConfig
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.headers.timers import ListTimersRequest
from tests.support.scripted import Cluster, refuse, scripted_cluster, succeed

CHANGED: Final = (
    RequestCode.UPDATE_AND_CREATE_TOPIC,
    RequestCode.DELETE_TOPIC_IN_BROKER,
    RequestCode.DELETE_TOPIC_IN_NAMESRV,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
    RequestCode.DELETE_SUBSCRIPTIONGROUP,
    RequestCode.PURGE_TOPIC,
)
CHANGES: Final[dict[str, Callable[[Admin], Awaitable[Any]]]] = {
    "create topic": lambda admin: admin.topics.create("orders"),
    "create topic on one": lambda admin: admin.topics.create("orders", brokers=["broker-b"]),
    "create typed topic": lambda admin: admin.topics.create("orders", message_type="DELAY"),
    "update topic": lambda admin: admin.topics.update("orders", perm=4),
    "update topic on one": lambda admin: admin.topics.update_on("orders", {"broker-b": TopicChange(perm=4)}),
    "delete topic": lambda admin: admin.topics.delete("orders"),
    "purge topic": lambda admin: admin.topics.purge("orders", {"broker-b": {0: 1}}),
    "create group": lambda admin: admin.groups.create("billing"),
    "delete group": lambda admin: admin.groups.delete("billing"),
    "reset offsets": lambda admin: admin.offsets.reset("billing", "orders", TO_THE_END),
}


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """Two brokers that take every change but a reset of offsets; no topic is there."""
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        for peer in (cluster.name_server, cluster["broker-a"]):
            for code in CHANGED:
                peer.on(code, succeed())
        cluster["broker-a"].on(RequestCode.GET_ALL_CONSUMER_OFFSET, refuse(1))
        yield cluster


@pytest.fixture
async def admin(cluster: Cluster) -> AsyncIterator[Admin]:
    async with Session(ClientConfig([cluster.name_server.addr])) as session:
        yield Admin(session)


def lose_masters(cluster: Cluster, *names: str) -> None:
    cluster.without_master.update(names)
    cluster.add_topic("orders")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_change_that_reaches_no_master_fails_and_says_whose(
    cluster: Cluster, admin: Admin, change: Callable[[Admin], Awaitable[Any]]
) -> None:
    lose_masters(cluster, "broker-a", "broker-b")

    with pytest.raises(NoMaster, match=r"no master of broker.* 'broker-b' is known"):
        await change(admin)

    asked = {each.code for peer in (cluster.name_server, *cluster.brokers.values()) for each in peer.requests}
    assert not asked.intersection(CHANGED)


@pytest.mark.parametrize("change", [name for name in CHANGES if not name.endswith(("on one", "purge topic"))])
async def test_a_broker_without_master_is_among_those_that_failed(cluster: Cluster, admin: Admin, change: str) -> None:
    lose_masters(cluster, "broker-b")

    answers = await CHANGES[change](admin)

    assert isinstance(answers.failed.pop("broker-b"), NoMaster)
    assert cluster["broker-a"].requests
    assert not cluster["broker-b"].requests


READS: Final[dict[str, Callable[[Admin], Awaitable[Any]]]] = {
    "topics": lambda admin: admin.topics.list(),
    "stats": lambda admin: admin.topics.stats("orders"),
    "groups of a topic": lambda admin: admin.topics.groups("orders"),
    "producers": lambda admin: admin.topics.producers("orders"),
    "senders": lambda admin: admin.topics.sending_producers("orders"),
    "groups": lambda admin: admin.groups.list(),
    "progress": lambda admin: admin.groups.consume_stats("billing"),
    "all progress": lambda admin: admin.groups.all_consume_stats(),
    "time": lambda admin: admin.groups.time_spans("billing", "orders"),
    "stored": lambda admin: admin.offsets.stored("billing", "orders"),
    "all stored": lambda admin: admin.offsets.all_stored("billing"),
    "open transactions": lambda admin: admin.transactions.open(),
    "producer groups": lambda admin: admin.transactions.producer_groups(),
    "waiting": lambda admin: admin.timers.pages({}, ListTimersRequest()),
    "waiting in all": lambda admin: admin.timers.summary(0, 1_000, 1_000),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
async def test_what_a_broker_without_master_has_is_unknown(
    cluster: Cluster, admin: Admin, read: Callable[[Admin], Awaitable[Any]]
) -> None:
    lose_masters(cluster, "broker-b")

    answers = await read(admin)

    assert isinstance(answers.failed["broker-b"], NoMaster)
    assert not cluster["broker-b"].requests


async def test_a_cluster_that_lists_no_broker_takes_no_change(cluster: Cluster, admin: Admin) -> None:
    cluster.brokers.clear()

    for change in (
        admin.topics.create("orders"),
        admin.groups.delete("billing"),
        admin.accounts.put(PlainAccessConfig(access_key="somebody")),
        admin.accounts.delete("somebody"),
        admin.accounts.put_global_white([]),
    ):
        with pytest.raises(NoMaster, match="the name servers list no broker"):
            await change


async def test_a_change_goes_to_the_master_of_now(cluster: Cluster, admin: Admin) -> None:
    lose_masters(cluster, "broker-a", "broker-b")
    assert not await admin.clusters.masters(), "what is asked often may be a second old"

    cluster.without_master.clear()

    assert set((await admin.topics.create("orders", brokers=["broker-a"])).found) == {cluster["broker-a"].addr}


async def test_a_change_of_no_broker_that_has_the_topic_fails(cluster: Cluster, admin: Admin) -> None:
    cluster.add_topic("orders", on=("broker-a",))

    with pytest.raises(TopicNotFound):
        await admin.topics.update_on("orders", {"broker-b": TopicChange(perm=4)})


async def test_a_message_that_a_broker_without_master_may_have_is_not_said_to_be_nowhere(
    cluster: Cluster, admin: Admin
) -> None:
    cluster["broker-a"].on(RequestCode.QUERY_MESSAGE, refuse(ResponseCode.QUERY_NOT_FOUND))
    lose_masters(cluster, "broker-b")

    found = await admin.messages.search("orders", "A17")
    rest = await admin.messages.search("orders", "A17", without=found.failed)

    assert (found.messages, found.complete, list(found.failed)) == ([], False, ["broker-b"])
    assert found.asked == {cluster["broker-a"].addr: "broker-a", "broker-b": "broker-b"}
    assert not rest.failed
