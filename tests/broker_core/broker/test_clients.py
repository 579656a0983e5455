"""The tables of live clients: members, the subscriptions of their groups, and notifications."""

from __future__ import annotations

from broker_core.broker.clients import Clients
from broker_core.broker.members import Member
from broker_core.protocol.bodies.heartbeat import ConsumerData, SubscriptionData


def member(channel: str, client_id: str = "", seen_at: int = 0) -> Member[str]:
    return Member(channel, client_id or channel, 3, 409, seen_at)


def consumer(group: str, *topics: str, version: int = 1) -> ConsumerData:
    return ConsumerData(
        group, subscription_data_set=[SubscriptionData(topic, f"v{version}", sub_version=version) for topic in topics]
    )


def test_a_group_changes_by_new_connections_and_other_topics_only() -> None:
    clients: Clients[str] = Clients()

    assert clients.heartbeat_consumer(consumer("billing", "orders"), member("a"))
    assert not clients.heartbeat_consumer(consumer("billing", "orders"), member("a"))
    assert not clients.heartbeat_consumer(consumer("billing", "orders", version=2), member("a"))
    assert clients.heartbeat_consumer(consumer("billing", "orders"), member("b"))
    assert clients.heartbeat_consumer(consumer("billing", "orders", "bills"), member("a"))
    assert clients.heartbeat_consumer(consumer("billing", "bills"), member("a"))


def test_a_subscription_is_replaced_by_a_newer_one_only() -> None:
    clients: Clients[str] = Clients()
    for version, expected in ((5, "v5"), (4, "v5"), (6, "v6")):
        clients.heartbeat_consumer(consumer("billing", "orders", version=version), member("a"))
        group = clients.find_consumers("billing")
        assert group is not None
        assert group.subscriptions["orders"].sub_string == expected


def test_client_ids_are_listed_once() -> None:
    clients: Clients[str] = Clients()
    for channel, client_id in (("old", "one"), ("new", "one"), ("other", "two")):
        clients.heartbeat_consumer(consumer("billing"), member(channel, client_id))

    group = clients.find_consumers("billing")
    assert group is not None
    assert group.client_ids() == ["one", "two"]


def test_the_newest_connection_of_a_client_is_found() -> None:
    clients: Clients[str] = Clients()
    clients.heartbeat_consumer(consumer("billing"), member("old", "one", seen_at=1))
    clients.heartbeat_consumer(consumer("billing"), member("new", "one", seen_at=2))

    group = clients.find_consumers("billing")
    assert group is not None
    found = group.find_member("one")
    assert found is not None
    assert found.channel == "new"
    assert group.find_member("two") is None


def test_the_others_of_a_group_are_notified_when_one_leaves() -> None:
    clients: Clients[str] = Clients()
    clients.heartbeat_consumer(consumer("billing"), member("a"))
    clients.heartbeat_consumer(consumer("billing"), member("b"))
    clients.heartbeat_consumer(consumer("alone"), member("a"))
    clients.producers.add("checkout", member("a"))

    assert clients.leave("a") == ["billing"]
    assert clients.find_consumers("alone") is None
    assert not clients.producers.of_group("checkout")
    assert clients.leave("a") == []


def test_silent_connections_are_found() -> None:
    clients: Clients[str] = Clients()
    clients.heartbeat_consumer(consumer("billing"), member("a", seen_at=10))
    clients.producers.add("checkout", member("b", seen_at=20))

    assert clients.silent_since(15) == {"a"}


def test_groups_are_found_by_topic() -> None:
    clients: Clients[str] = Clients()
    clients.heartbeat_consumer(consumer("billing", "orders"), member("a"))
    clients.heartbeat_consumer(consumer("audit", "bills"), member("a"))

    assert clients.groups_on("orders") == ["billing"]
