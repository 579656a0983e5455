"""The route table: registrations, expiry, changes by an operator."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from broker_core.namesrv.limits import LimitReached, RouteLimits
from broker_core.namesrv.routes import MASTER_ID, Master, Registration, RouteTable
from broker_core.protocol.bodies import DataVersion, QueueData, TopicConfig

A, B = "10.0.0.1:10911", "10.0.0.2:10911"


def broker(
    address: str = A,
    *topics: str,
    name: str = "broker-a",
    broker_id: int = 0,
    version: int = 1,
    cluster: str = "east",
    perm: int = 6,
) -> Registration:
    table = {topic: TopicConfig(topic, 4, 4, perm) for topic in topics}
    ha_address = address.replace("10911", "10912")
    return Registration(cluster, name, broker_id, address, ha_address, DataVersion(version, 7), table)


def table_with(*brokers: Registration) -> RouteTable:
    table = RouteTable()
    for each in brokers:
        table.register(each, holder=each.address, now=0)
    return table


def test_a_registered_topic_has_a_route() -> None:
    route = table_with(broker(A, "orders")).find_route("orders")
    assert route is not None
    assert route.queue_datas == [QueueData("broker-a", 4, 4, 6)]
    assert [data.broker_addrs for data in route.broker_datas] == [{0: A}]


def test_an_unknown_topic_has_none() -> None:
    assert table_with(broker(A, "orders")).find_route("payments") is None


def test_topics_missing_from_a_later_registration_stay() -> None:
    table = table_with(broker(A, "orders"), broker(A, "payments", version=2))
    assert sorted(table.topics()) == ["orders", "payments"]


def test_an_unchanged_data_version_changes_no_topic() -> None:
    table = table_with(broker(A, "orders", "bills"), broker(A, "orders", "bills", perm=4))
    assert table.find_route("orders").queue_datas[0].perm == 6  # type: ignore[union-attr]


def test_a_broker_that_begins_with_one_changed_topic_still_has_its_table_to_tell() -> None:
    # As after a restart of the name server: the next registration has the same version and all topics
    table = table_with(broker(A, "orders"), broker(A, "orders", "bills"))
    assert sorted(table.topics()) == ["bills", "orders"]


def test_a_broker_that_begins_with_a_heartbeat_still_has_its_table_to_tell() -> None:
    table = table_with(broker(A), broker(A, "orders", "bills"))
    assert sorted(table.topics()) == ["bills", "orders"]


def test_topics_of_a_slave_are_not_taken() -> None:
    assert table_with(broker(A, "orders", broker_id=1)).topics() == []


def test_a_slave_gets_its_master() -> None:
    table = table_with(broker(A))
    assert table.register(broker(B, broker_id=1), holder=B, now=0) == Master(A, "10.0.0.1:10912")


def test_a_slave_that_becomes_master_loses_its_old_id() -> None:
    table = table_with(broker(A, broker_id=1), broker(A, "orders"))
    assert table.clusters().broker_addr_table["broker-a"].broker_addrs == {0: A}


def test_the_last_address_takes_name_cluster_and_topics_with_it() -> None:
    table = table_with(broker(A, "orders"), broker(B, "payments", name="broker-b", cluster="west"))
    table.unregister("broker-a", 0, A)
    assert table.topics() == ["payments"]
    assert table.clusters().cluster_addr_table == {"west": ["broker-b"]}


def of_epoch(each: Registration, epoch: int | None) -> Registration:
    return replace(each, data_version=DataVersion(1, 7, epoch))


def test_a_master_whose_epoch_is_over_does_not_take_the_id_again() -> None:
    table = table_with(of_epoch(broker(A, "orders"), 4), of_epoch(broker(B, "orders"), 5))
    for late in (of_epoch(broker(A, "orders", "bills"), 4), broker(A, "orders", "bills")):
        assert table.register(late, holder=A, now=1) is None
        assert table.clusters().broker_addr_table["broker-a"].broker_addrs == {0: B}
    assert table.topics() == ["orders"]

    assert table.register(of_epoch(broker(A, broker_id=1), 5), holder=A, now=1) == Master(B, "10.0.0.2:10912")
    table.register(of_epoch(broker(A, "orders"), 6), holder=A, now=1)
    assert table.clusters().broker_addr_table["broker-a"].broker_addrs == {0: A}


def test_the_epoch_counts_while_its_master_begins_with_one_changed_topic() -> None:
    table = table_with(of_epoch(broker(B, "orders"), 5))
    table.register(of_epoch(broker(A, "orders"), 4), holder=A, now=1)
    assert table.clusters().broker_addr_table["broker-a"].broker_addrs == {0: B}


def test_without_epochs_the_last_one_has_the_id() -> None:
    table = table_with(broker(A, "orders"), broker(B, "orders"))
    assert table.clusters().broker_addr_table["broker-a"].broker_addrs == {0: B}


def test_queues_stay_while_a_slave_is_there() -> None:
    table = table_with(broker(A, "orders"), broker(B, broker_id=1))
    table.forget_holder(A)
    route = table.find_route("orders")
    assert route is not None
    assert route.broker_datas[0].broker_addrs == {1: B}


def test_a_silent_broker_expires_and_its_holder_is_returned() -> None:
    table = table_with(broker(A, "orders"))
    assert table.expire(before=0) == []
    assert table.expire(before=1) == [A]
    assert table.find_route("orders") is None


def test_the_same_data_version_is_a_sign_of_life() -> None:
    table = table_with(broker(A, "orders", "bills"))
    assert table.touch(A, DataVersion(1, 7), now=50) == (False, DataVersion(1, 7))
    assert table.expire(before=50) == []
    assert table.touch(A, DataVersion(2, 7), now=60) == (True, DataVersion(1, 7))
    assert table.touch(B, DataVersion(1, 7), now=60) == (True, None)


def test_a_topic_is_deleted_in_one_cluster_or_everywhere() -> None:
    table = table_with(broker(A, "orders"), broker(B, "orders", name="broker-b", cluster="west"))
    table.delete_topic("orders", "west")
    assert table.topics_of_cluster("west") == []
    assert table.topics_of_cluster("east") == ["orders"]
    table.delete_topic("orders")
    assert table.topics() == []


def test_write_permission_is_taken_and_given_back() -> None:
    table = table_with(broker(A, "orders", "payments", perm=7))
    assert table.take_write_permission("broker-a") == 2
    assert {queue.perm for queue in table.find_route("orders").queue_datas} == {5}  # type: ignore[union-attr]
    assert table.give_write_permission("broker-a") == 2
    assert {queue.perm for queue in table.find_route("orders").queue_datas} == {6}  # type: ignore[union-attr]
    assert table.take_write_permission("nobody") == 0


def test_what_a_connection_registered_is_forgotten_in_time_by_its_own_size() -> None:
    # Each of them used to be sought among all brokers and all topics: this took minutes.
    table = RouteTable(RouteLimits(brokers=20_000))
    table.register(broker(A, *(f"t{number}" for number in range(20_000))), holder="broker", now=0)
    for number in range(10_000):
        registration = broker(f"10.0.1.{number}:1", name=f"x{number}", cluster=f"c{number}")
        table.register(registration, holder=number // 16, now=0)
    began = time.process_time()
    for holder in range(10_000 // 16):
        table.forget_holder(holder)
    assert time.process_time() - began < 2
    assert table.names() == ["east", "broker-a"]
    assert len(table.topics()) == 20_000


def test_the_brokers_of_one_connection_are_limited_and_known_ones_may_register_again() -> None:
    table = RouteTable(RouteLimits(brokers_per_connection=2))
    for address, name in ((A, "one"), (B, "two"), (A, "one")):
        table.register(broker(address, name=name), holder="c", now=0)
    with pytest.raises(LimitReached, match="limit brokers_per_connection=2 reached: broker 'three'"):
        table.register(broker(A, "orders", name="three"), holder="c", now=0)
    assert table.names() == ["east", "one", "two"]
    assert table.topics() == []
    table.register(broker(A, "orders", name="three"), holder="another", now=0)


def test_nothing_is_kept_of_a_broker_that_has_left() -> None:
    table = table_with(broker(A, name="without topics"), broker(B, "orders", name="with one"))
    for address, name in ((A, "without topics"), (B, "with one")):
        table.unregister(name, MASTER_ID, address)
    kept = [value for name, value in vars(table).items() if name != "limits"]
    assert not any(kept), kept


def test_all_brokers_and_all_routes_are_limited() -> None:
    table = RouteTable(RouteLimits(brokers=2, routes=3))
    table.register(broker(A, "t1", "t2"), holder=A, now=0)
    with pytest.raises(LimitReached, match="limit routes=3 reached: broker 'broker-b'"):
        table.register(broker(B, "t1", "t2", name="broker-b"), holder=B, now=0)
    table.register(broker(B, "t1", name="broker-b"), holder=B, now=0)
    with pytest.raises(LimitReached, match="limit brokers=2 reached: broker 'broker-c'"):
        table.register(broker("c:1", name="broker-c"), holder="c", now=0)
    table.delete_topic("t2")
    table.unregister("broker-a", 0, A)
    table.register(broker("c:1", "t1", "t2", name="broker-c"), holder="c", now=0)


def test_the_topics_of_one_broker_are_limited_however_many_registrations_bring_them() -> None:
    table = RouteTable(RouteLimits(routes_per_broker=3))
    table.register(broker(A, "t1", "t2", version=1), holder=A, now=0)
    table.register(broker(A, "t2", "t3", version=2), holder=A, now=0)
    with pytest.raises(LimitReached, match="limit routes_per_broker=3 reached: broker 'broker-a'"):
        table.register(broker(A, "t3", "t4", version=3), holder=A, now=0)
    assert table.topics() == ["t1", "t2", "t3"]


def test_topics_that_no_rocketmq_can_have_are_left_out_and_the_others_are_taken() -> None:
    odd = ("", "a/b", "a b", "a\nb", "<b>", "t" * 263)
    real = ("orders", "%RETRY%" + "g" * 255, "%DLQ%g", "MQ_INST_1%orders", "broker.10.1.2.3", "订单", "a|b", "TBW102")
    table = table_with(broker(A, *odd, *real))
    assert table.topics() == list(real)
    assert table.find_route("a/b") is None
    table.unregister("broker-a", MASTER_ID, A)
    assert table.topics() == []


def test_a_broker_that_others_have_replaced_does_not_unregister_them() -> None:
    table = table_with(broker(A, "orders"), broker(B, "orders"))
    table.unregister("broker-a", 0, A)
    assert table.clusters().broker_addr_table["broker-a"].broker_addrs == {0: B}


def test_one_address_under_two_names_leaves_both_with_its_connection() -> None:
    table = RouteTable()
    for name in ("one", "two"):
        table.register(broker(A, "orders", name=name), holder="c", now=0)
    table.unregister("one", 0, A)
    table.forget_holder("c")
    assert (table.names(), table.topics()) == ([], [])


def test_a_broker_name_is_in_the_cluster_that_it_named_last() -> None:
    table = table_with(broker(A), broker(A, cluster="west"))
    assert table.clusters().cluster_addr_table == {"west": ["broker-a"]}
