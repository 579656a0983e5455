"""Requirements of `console.lag.limited`: the figures of some names, and nothing of the others."""

from __future__ import annotations

from msgspec.structs import replace

from console.accounts.rights import Resource
from console.lag.limited import Sight, overview_of, series_of
from console.lag.shapes import BrokerState, OverviewSeries, OverviewState, Points, TopicState
from tests.console.lag.figures import group

ORDERS = Sight(lambda resource: isinstance(resource.name, str) and resource.name.startswith("orders"))
BROKER = BrokerState(
    name="a", address="127.0.0.1:1", broker_id=0, role="master", reachable=True, reason=None, in_rate=9.0
)
WHOLE = OverviewState(
    at="2026-05-01T08:00:00.000Z", in_rate=9.0, out_rate=9.0, total_lag=99, lag_unknown_groups=0,
    oldest_unconsumed_ms=99, oldest_group="payments", groups_behind=9, groups_timed=9, dead_letters=9,
    dead_letter_groups=9, disk_used_ratio=0.5, disk_days_to_full=9.0, uptime_ms=9, brokers=[BROKER],
    brokers_answering=1, topics=9, groups=9, worst_groups=[group("payments", 99)], missing=[], unknown_reason=None,
    name_server_reason=None,
)  # fmt: skip


def test_the_overview_counts_what_is_seen() -> None:
    one = replace(group("orders-a", 5), time_lag_ms=70, dead_letters=2, out_rate=1.5, lag_per_second=3.0)
    two = replace(group("orders-b", 0), time_lag_ms=0, dead_letters=0, out_rate=0.5, lag_per_second=-1.0)
    seen = overview_of(WHOLE, [one, two], [TopicState(name="orders", in_rate=2.0)], reads_cluster=False)
    assert (seen.total_lag, seen.lag_per_second, seen.groups_behind, seen.groups_timed) == (5, 2.0, 1, 1)
    assert (seen.oldest_unconsumed_ms, seen.oldest_group) == (70, "orders-a")
    assert (seen.dead_letters, seen.dead_letter_groups) == (2, 1)
    assert (seen.in_rate, seen.out_rate, seen.topics, seen.groups) == (2.0, 2.0, 1, 2)
    assert [each.name for each in seen.worst_groups] == ["orders-a"]
    assert (seen.disk_used_ratio, seen.brokers[0].in_rate, seen.brokers[0].reachable) == (None, None, True)
    assert overview_of(WHOLE, [one], [], reads_cluster=True).disk_used_ratio == 0.5


def test_what_is_unknown_of_one_is_unknown_of_all() -> None:
    lost = replace(group("orders-a", None), unknown_reason="broker_unreachable", dead_letters=None)
    seen = overview_of(WHOLE, [lost, group("orders-b", 1)], [], reads_cluster=False)
    assert (seen.total_lag, seen.lag_unknown_groups, seen.dead_letters) == (None, 1, None)
    young = overview_of(WHOLE, [group("orders-a", 1)], [], reads_cluster=False)
    assert (young.total_lag, young.lag_per_second) == (1, None)
    nobody = overview_of(replace(WHOLE, unknown_reason="silent", groups=None), [], [], reads_cluster=False)
    assert (nobody.total_lag, nobody.groups) == (None, None)


def test_a_group_keeps_its_own_retries_and_loses_hidden_topics() -> None:
    of_all = replace(group("orders-a", 1), topics=["orders", "payments", "%RETRY%orders-a", "%RETRY%payments"])
    assert ORDERS.group(of_all).topics == ["orders", "%RETRY%orders-a"]
    assert [each.name for each in ORDERS.groups([of_all, group("payments", 1)])] == ["orders-a"]
    assert Sight(lambda resource: True).group(of_all) is of_all


def test_a_topic_counts_the_groups_that_are_seen() -> None:
    readers = [replace(group(name, 1), topics=["orders"]) for name in ("orders-a", "payments")]
    (topic,) = ORDERS.topics([TopicState(name="orders", groups=2, max_lag=9), TopicState(name="payments")], readers)
    assert (topic.groups, topic.max_lag) == (1, None)
    assert not ORDERS.is_whole("group")
    assert ORDERS.may_read(Resource("topic", "orders"))


def test_a_history_is_that_of_the_groups_together() -> None:
    whole = OverviewSeries(
        in_rate=[9, 9], out_rate=[9, 9], total_lag=[9, 9], oldest_unconsumed_ms=[9, 9], disk_used_ratio=[0.5, 0.5]
    )
    one: dict[str, Points] = {"lag": [1, 2], "out_rate": [1, None], "time_lag_ms": [5, 5]}
    two: dict[str, Points] = {"lag": [3, 4], "out_rate": [1, 1], "time_lag_ms": [7, None]}
    seen = series_of([one, two], whole, reads_cluster=False)
    assert (seen.total_lag, seen.out_rate, seen.oldest_unconsumed_ms) == ([4, 6], [2, None], [7, None])
    assert (seen.in_rate, seen.disk_used_ratio) == ([None, None], [None, None])
    assert series_of([], whole, reads_cluster=True).total_lag == [None, None]
