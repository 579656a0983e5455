"""Requirements of `console.clusters.memory`: a broker that was seen is remembered until an operator removes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync

from broker_core.logs import Repeated, get_logger
from console.audit.models import AuditRecord
from console.clusters import connections, memory, services
from console.clusters.connections import ClusterAddress
from console.clusters.memory import (
    MOST_GONE,
    QueueCounts,
    Sighting,
    aremember,
    aremembered,
    drop_process,
    note_topic,
    recall_route,
    remember,
    remembered,
    store_ids,
)  # fmt: skip
from console.clusters.models import Cluster
from console.errors import Conflict, NotKnown
from tests.support.cast import BY, Cast
from tests.support.cluster import RunningBroker, started_broker

AT = datetime(2026, 5, 1, 8, tzinfo=UTC)
ORDERS = {"orders": QueueCounts(4, 4, 6)}


@pytest.fixture
def prod(db: None) -> Cluster:
    """A cluster that the console knows."""
    return services.add(BY, name="prod", name_servers=["127.0.0.1:1"])


def sighting(name: str = "broker-a", **said: object) -> Sighting:
    return Sighting(name, {0: f"{name}:10911"}, **said)  # type: ignore[arg-type]


def test_a_broker_is_remembered_with_what_it_holds(prod: Cluster) -> None:
    remember("prod", [sighting(topics=ORDERS, groups={"billing": ("orders",)})], AT)
    known = remembered("prod").brokers["broker-a"]
    assert (known.address, known.first_seen_at, known.last_seen_at) == ("broker-a:10911", AT, AT)
    assert (known.topics, known.groups) == (ORDERS, {"billing": ("orders",)})
    assert known.holds("orders")


def test_so_many_brokers_are_remembered_and_an_odd_name_keeps_no_other_one_out(
    prod: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(memory, "MOST_BROKERS", 2)
    monkeypatch.setattr(memory, "_repeated", Repeated(get_logger("console.clusters.memory")))
    odd = [sighting(name) for name in ("x" * 256, "nul\0", "half\udc2f")]
    remember("prod", [*odd, sighting("a/b"), sighting("b"), sighting("c")], AT)
    assert list(remembered("prod").brokers) == ["a/b", "b"]
    # Those that are known stay up to date
    remember("prod", [sighting("d"), sighting("b")], AT + timedelta(hours=1))
    assert {name: each.last_seen_at - AT for name, each in remembered("prod").brokers.items()} == {
        "a/b": timedelta(0),
        "b": timedelta(hours=1),
    }
    assert caplog.text.count("is not remembered") == 1


def test_what_an_earlier_release_stored_of_a_topic_is_still_read(prod: Cluster) -> None:
    remember(
        "prod",
        [sighting(topics={"orders": QueueCounts(4, 4, 6, message_type="DELAY"), "plain": QueueCounts(1, 1, 6)})],
        AT,
    )
    row = prod.known_brokers.get()
    assert row.topics["plain"] == [1, 1, 6, "normal"]
    assert remembered("prod").brokers["broker-a"].topics["orders"].message_type == "DELAY"
    assert remembered("prod").brokers["broker-a"].topics["plain"].message_type is None


def test_who_does_not_answer_is_missing(prod: Cluster) -> None:
    remember("prod", [sighting("broker-a"), sighting("broker-b")], AT)
    assert [broker.name for broker in remembered("prod").missing(["broker-a"])] == ["broker-b"]
    assert remembered("prod").missing(["broker-a", "broker-b", "broker-c"]) == []


def test_what_a_broker_says_replaces_what_was_known_and_silence_does_not(prod: Cluster) -> None:
    remember("prod", [sighting(topics=ORDERS, groups={"billing": ("orders",)})], AT)
    later = AT + timedelta(hours=1)
    # When it is listed and does not report its topics
    remember("prod", [sighting()], later)
    known = remembered("prod").brokers["broker-a"]
    assert (known.topics, known.first_seen_at, known.last_seen_at) == (ORDERS, AT, later)
    # And when it answers, and the topic was deleted
    remember("prod", [sighting(topics={}, groups={})], later)
    known = remembered("prod").brokers["broker-a"]
    assert (known.topics, known.groups) == ({}, {})


def test_a_topic_is_remembered_as_soon_as_a_broker_has_created_it(prod: Cluster) -> None:
    remember("prod", [sighting("broker-a", topics=ORDERS), sighting("broker-b", topics=ORDERS), sighting("new")], AT)

    note_topic("prod", "bills", ["broker-a", "new"], QueueCounts(2, 2, 6))

    known = remembered("prod").brokers
    assert known["broker-a"].topics == {**ORDERS, "bills": QueueCounts(2, 2, 6)}
    assert known["broker-b"].topics == ORDERS
    assert known["new"].topics == {}, "what it has is still not known"


def test_the_identity_of_a_broker_is_remembered_until_it_tells_another(prod: Cluster) -> None:
    remember("prod", [sighting(store_id="a1"), sighting("broker-b", store_id="")], AT)
    remember("prod", [sighting()], AT)
    known = remembered("prod").brokers
    assert (known["broker-a"].store_id, known["broker-b"].store_id) == ("a1", "")
    assert [known["broker-a"].is_other(told) for told in ("a1", "b2", None)] == [False, True, True]
    assert not known["broker-b"].is_other("b2"), "one that told no identity may have learned to"
    # When its data folder was replaced
    remember("prod", [sighting(store_id="b2")], AT)
    assert remembered("prod").brokers["broker-a"].store_id == "b2"


@pytest.mark.django_db(transaction=True)
def test_the_last_known_route_of_a_topic_names_the_brokers_that_have_it() -> None:
    services.add(BY, name="prod", name_servers=["127.0.0.1:1"])
    at = {0: "127.0.0.1:1", 2: "127.0.0.1:2"}
    remember(
        "prod", [Sighting("a", at, ORDERS), Sighting("b", {0: "127.0.0.1:3"}, {"other": QueueCounts(1, 1, 6)})], AT
    )
    route = async_to_sync(recall_route)("prod", "orders")
    assert route is not None
    assert [(each.broker_name, each.broker_addrs) for each in route.broker_datas] == [("a", at)]
    assert [(each.broker_name, each.write_queue_nums, each.perm) for each in route.queue_datas] == [("a", 4, 6)]
    assert async_to_sync(recall_route)("prod", "unknown") is None


@pytest.mark.django_db(transaction=True)
def test_identities_are_found_by_the_address_of_the_master() -> None:
    services.add(BY, name="prod", name_servers=["127.0.0.1:1"])
    remember("prod", [sighting(store_id="a1"), sighting("broker-b", store_id="")], AT)
    assert async_to_sync(store_ids)("prod") == {"broker-a:10911": {"a1": "broker-a"}}


def test_a_process_that_is_listed_no_more_stays_until_it_is_forgotten_or_another_is_where_it_was(prod: Cluster) -> None:
    def processes() -> list[tuple[int, str, datetime]]:
        known = remembered("prod").brokers["broker-a"].processes
        return [(each.broker_id, each.address, each.last_seen_at) for each in known]

    later = AT + timedelta(minutes=1)
    remember("prod", [Sighting("broker-a", {0: "m:1", 1: "s:1", 2: "s:2"})], AT)
    remember("prod", [Sighting("broker-a", {0: "m:1"})], later)
    assert processes() == [(0, "m:1", later), (1, "s:1", AT), (2, "s:2", AT)]
    assert remembered("prod").brokers["broker-a"].addresses == {0: "m:1"}
    # A slave that became master by hand is no slave besides
    remember("prod", [Sighting("broker-a", {0: "s:1"})], later)
    assert processes() == [(0, "s:1", later), (2, "s:2", AT)]
    for number in range(10, 10 + MOST_GONE + 5):
        remember("prod", [Sighting("broker-a", {0: "s:1", number: f"x:{number}"})], later + timedelta(seconds=number))
    remember("prod", [Sighting("broker-a", {0: "s:1"})], later + timedelta(hours=1))
    assert [number for number, _, _ in processes()] == [0, *range(15, 15 + MOST_GONE)]


def test_a_process_is_forgotten_also_where_nobody_is_listed(prod: Cluster) -> None:
    remember("prod", [Sighting("broker-a", {0: "m:1", 1: "s:1"})], AT)
    drop_process("prod", "broker-a", 1)
    known = remembered("prod").brokers["broker-a"]
    assert (known.addresses, [each.broker_id for each in known.processes]) == ({0: "m:1"}, [0])


def test_the_memory_goes_with_its_cluster(prod: Cluster) -> None:
    remember("prod", [sighting()], AT)
    services.remove(BY, prod)
    assert remembered("prod").brokers == {}
    remember("prod", [sighting()], AT)
    assert remembered("prod").brokers == {}, "nobody knows this cluster any more"


@pytest.mark.django_db(transaction=True)
def test_code_on_a_loop_remembers_too() -> None:
    services.add(BY, name="prod", name_servers=["127.0.0.1:1"])
    async_to_sync(aremember)("prod", [sighting(topics=ORDERS)], AT)
    assert async_to_sync(aremembered)("prod").brokers["broker-a"].topics == ORDERS


def test_a_broker_that_is_gone_is_forgotten_by_an_operator_and_one_that_answers_is_not(
    running: RunningBroker, cast: Cast
) -> None:
    there = Sighting("broker-a", {0: running.address})
    unlisted = Sighting("broker-x", {0: "127.0.0.1:1"})
    remember("prod", [there, unlisted], AT)
    operator = cast.browser("operator")
    assert cast.browser("developer").delete("/api/v1/clusters/prod/brokers/broker-x").status_code == 403
    assert operator.delete("/api/v1/clusters/prod/brokers/nobody").status_code == 404
    refused = operator.delete("/api/v1/clusters/prod/brokers/broker-a")
    assert refused.status_code == 409
    assert "registered at the name server" in refused.json()["detail"]
    remember("prod", [Sighting("broker-a", {0: running.address, 1: "127.0.0.1:1"}), unlisted], AT)
    for broker_id, status in ((0, 409), (1, 204), (1, 404), ("x", 422)):
        path = f"/api/v1/clusters/prod/brokers/broker-a?broker_id={broker_id}"
        assert operator.delete(path).status_code == status, broker_id
    assert operator.delete("/api/v1/clusters/prod/brokers/broker-x").status_code == 204
    assert list(remembered("prod").brokers) == ["broker-a"]
    recorded = AuditRecord.objects.filter(action="broker.forget").order_by("pk").values_list("resource", "result")
    assert list(recorded) == [
        *[("prod/brokers/broker-a", result) for result in ("refused", "refused", "ok")],
        ("prod/brokers/broker-x", "ok"),
    ]


def test_a_broker_that_answers_is_kept_though_no_name_server_lists_it(prod: Cluster, tmp_path: Path) -> None:
    with started_broker(tmp_path) as broker:
        # Given a cluster whose name server has stopped, but not its broker

        async def find(name: str) -> ClusterAddress:
            return ClusterAddress(name, ("127.0.0.1:1",))

        before = connections._process.find_cluster
        connections.use(None)
        connections.look_up_by(find)
        remember("prod", [Sighting("broker-a", {0: broker.address}), Sighting("broker-b", {0: "127.0.0.1:1"})], AT)
        try:
            with pytest.raises(Conflict, match="answers"):
                services.forget_broker(BY, prod, "broker-a")
            services.forget_broker(BY, prod, "broker-b")
            with pytest.raises(NotKnown):
                services.forget_broker(BY, prod, "broker-b")
        finally:
            connections.use(None)
            if before is not None:
                connections.look_up_by(before)
