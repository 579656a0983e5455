"""Requirements of `console.lag.state`: what people see of a reading. Unknown is None, never zero."""

from __future__ import annotations

from typing import Any

from broker_core.client.admin.clusters import BrokerAddress, BrokerRuntime
from broker_core.client.admin.groups import Group, GroupConnections, GroupStats
from broker_core.client.admin.topics import Topic, TopicKind, TopicStats
from broker_core.client.answers import Answers
from broker_core.client.errors import Unreachable
from broker_core.protocol.bodies import MessageModel, MessageQueue, OffsetWrapper, TopicConfig, TopicOffset
from broker_core.protocol.bodies.groups import Connection
from console.lag.reading import Reading
from console.lag.state import ClusterState, StateBuilder, summary

SILENT = Unreachable("10.0.0.2:10911", "no connection")
AT = 1_800_000_000_000


def queue(number: int = 0, topic: str = "orders", broker: str = "broker-a") -> MessageQueue:
    return MessageQueue(topic, broker, number)


def reading(at: int = AT, *, groups: dict[str, GroupStats] | None = None, **parts: Any) -> Reading:
    """Return a reading of a cluster with one broker that answers, and some groups."""
    stats = groups or {}
    defaults: dict[str, Any] = {
        "brokers": [BrokerAddress("c", "broker-a", 0, "10.0.0.1:10911")],
        "runtimes": Answers({"10.0.0.1:10911": runtime()}),
        "groups": {name: Group(name) for name in stats},
        "group_stats": Answers(stats),
    }
    return Reading(at=at, **{**defaults, **parts})


def runtime(**table: str) -> BrokerRuntime:
    return BrokerRuntime({"brokerVersionDesc": "V5", "commitLogDiskRatio": "0.5", **table})


def behind(stored: int, consumed: int, **options: Any) -> GroupStats:
    return GroupStats({queue(): OffsetWrapper(stored, consumed)}, **options)


def topic(name: str, kind: TopicKind = TopicKind.NORMAL) -> Topic:
    return Topic(name, kind, {"broker-a": TopicConfig(name)})


def state(*readings: Reading) -> ClusterState:
    builder = StateBuilder()
    for each in readings:
        last = builder.step(each)
    return last


def test_lag_is_what_is_stored_and_not_consumed() -> None:
    group = state(reading(groups={"billing": behind(10, 4)})).groups["billing"]
    assert (group["lag"], group["queues"][0]["lag"], group["unknown_reason"]) == (6, 6, None)


def test_a_group_ahead_of_its_broker_has_no_lag() -> None:
    assert state(reading(groups={"billing": behind(4, 10)})).groups["billing"]["lag"] == 0


def test_the_lag_is_unknown_when_one_broker_was_silent() -> None:
    stats = behind(10, 4, failed={"10.0.0.2:10911": SILENT})
    group = state(reading(groups={"billing": stats})).groups["billing"]
    assert (group["lag"], group["state"], group["time_lag_ms"], group["drain_eta_ms"]) == (None, "unknown", None, None)
    assert "10.0.0.2:10911" in group["unknown_reason"]


def test_a_silent_cluster_has_no_figures_at_all() -> None:
    # Given a cluster that answered once
    known = {"billing": behind(10, 4)}
    first = reading(groups=known, topics={"orders": topic("orders")})
    second = reading(AT + 1_000, groups=known, topics={"orders": topic("orders")}, silent_because="no name server")
    # When it answers no more
    shown = state(first, second)
    # Then nothing of before is told as of now
    unknown = {name for name, value in shown.overview.items() if value is None}
    assert unknown >= {
        "in_rate", "out_rate", "total_lag", "oldest_unconsumed_ms", "dead_letters", "disk_used_ratio", "uptime_ms",
        "topics", "groups",
    }  # fmt: skip
    assert (shown.overview["brokers_answering"], shown.overview["lag_unknown_groups"]) == (0, 1)
    assert shown.overview["brokers"][0]["reason"] == "no name server"
    assert shown.groups["billing"]["unknown_reason"] == "no name server"
    assert shown.topics["orders"]["messages"] is None


def test_an_empty_cluster_has_zero_lag() -> None:
    overview = state(reading()).overview
    assert (overview["total_lag"], overview["groups"], overview["dead_letters"]) == (0, 0, 0)


def test_rates_and_the_time_to_drain_come_from_two_readings() -> None:
    group = state(
        reading(groups={"billing": behind(100, 0)}), reading(AT + 1_000, groups={"billing": behind(110, 30)})
    ).groups["billing"]
    assert (group["in_rate"], group["out_rate"], group["lag"], group["drain_eta_ms"]) == (10, 30, 80, 4_000)


def test_a_group_that_loses_ground_never_drains() -> None:
    readings = [reading(AT + s * 1_000, groups={"billing": behind(100 * s, 10 * s)}) for s in range(1, 25)]
    group = state(*readings).groups["billing"]
    assert (group["state"], group["drain_eta_ms"], group["lag_per_second"]) == ("growing", None, 90)


def test_a_group_is_active_with_clients_or_progress_and_idle_without() -> None:
    members = {
        "billing": GroupConnections({"c1": Connection("c1", "127.0.0.1:1")}, message_model=MessageModel.CLUSTERING)
    }
    stats = {"billing": behind(10, 10)}
    active = state(reading(groups=stats, members=members)).groups["billing"]
    assert (active["state"], active["clients"], active["mode"]) == ("active", 1, "clustering")
    idle = state(reading(groups=stats, members={"billing": GroupConnections()})).groups["billing"]
    assert (idle["state"], idle["clients"], idle["mode"]) == ("idle", 0, None)
    moving = state(reading(groups=stats), reading(AT + 1_000, groups={"billing": behind(20, 20)})).groups["billing"]
    assert (moving["state"], moving["clients"]) == ("active", None)


def test_the_time_lag_is_that_of_the_oldest_message_if_all_are_known() -> None:
    stats = GroupStats({queue(0): OffsetWrapper(5, 0), queue(1): OffsetWrapper(5, 0), queue(2): OffsetWrapper(5, 5)})
    both = state(reading(groups={"g": stats}, delays={"g": {queue(0): 100, queue(1): 900}})).groups["g"]
    assert (both["time_lag_ms"], [q["time_lag_ms"] for q in both["queues"]]) == (900, [100, 900, 0])
    one = state(reading(groups={"g": stats}, delays={"g": {queue(0): 100}}))
    assert one.groups["g"]["time_lag_ms"] is None
    assert one.overview["oldest_unconsumed_ms"] is None, "somebody waits, and nobody knows for how long"


def test_leases_are_told_where_brokers_tell_them() -> None:
    told = GroupStats({queue(): OffsetWrapper(10, 4, pull_offset=7)})
    assert state(reading(groups={"g": told})).groups["g"]["leases"] == 3
    assert state(reading(groups={"g": behind(10, 4)})).groups["g"]["leases"] is None


def test_a_topic_shows_the_worst_lag_of_its_groups() -> None:
    groups = {"a": behind(10, 4), "b": behind(10, 1)}
    figures = TopicStats({queue(): TopicOffset(2, 10, AT)})
    shown = state(reading(groups=groups, topics={"orders": topic("orders")}, topic_stats={"orders": figures}))
    assert shown.topics["orders"] | {"last_stored_at": ""} == {
        "name": "orders", "messages": 8, "in_rate": None, "last_stored_at": "", "groups": 2, "max_lag": 9,
    }  # fmt: skip


def test_the_worst_lag_is_unknown_when_one_group_is() -> None:
    groups = {"a": behind(10, 4), "b": behind(10, 1, failed={"x": SILENT})}
    shown = state(reading(groups=groups, topics={"orders": topic("orders")}))
    assert (shown.topics["orders"]["groups"], shown.topics["orders"]["max_lag"]) == (2, None)


def test_retry_topics_count_for_the_lag_and_are_not_named() -> None:
    stats = GroupStats({queue(): OffsetWrapper(5, 5), queue(0, "%RETRY%g"): OffsetWrapper(3, 1)})
    group = state(reading(groups={"g": stats})).groups["g"]
    assert (group["lag"], group["topics"]) == (2, ["orders"])


def test_dead_letters_are_counted_or_unknown() -> None:
    dead = {name: topic(name, TopicKind.DEAD_LETTER) for name in ("%DLQ%a", "%DLQ%b")}
    counts = {"%DLQ%a": TopicStats({queue(0, "%DLQ%a"): TopicOffset(0, 7, AT)}), "%DLQ%b": TopicStats()}
    counted = state(reading(topics=dead, topic_stats=counts)).overview
    assert (counted["dead_letters"], counted["dead_letter_groups"]) == (7, 1)
    not_yet = state(reading(topics=dead, topic_stats={"%DLQ%a": counts["%DLQ%a"]})).overview
    assert (not_yet["dead_letters"], not_yet["dead_letter_groups"]) == (None, None)


def test_the_worst_groups_come_first_the_unknown_before_all() -> None:
    groups = {name: behind(lag, 0) for name, lag in zip("abcdefg", (3, 1, 4, 0, 5, 9, 2), strict=True)}
    groups["x"] = behind(1, 0, failed={"b": SILENT})
    worst = state(reading(groups=groups)).overview["worst_groups"]
    assert [group["name"] for group in worst] == ["x", "f", "e", "c", "a"]
    assert set(worst[0]) == set(summary(state(reading(groups=groups)).groups["a"]))


def test_the_days_to_a_full_disk_follow_the_last_hours() -> None:
    def at(minute: int, ratio: float) -> Reading:
        return reading(
            AT + minute * 60_000, runtimes=Answers({"10.0.0.1:10911": runtime(commitLogDiskRatio=str(ratio))})
        )

    # Half of the disk fills by a hundredth an hour
    filling = state(*(at(minute, 0.5 + minute / 60 / 100) for minute in range(121)))
    days = filling.overview["disk_days_to_full"]
    assert days is not None
    assert abs(days - 48 / 24) < 0.05
    assert state(*(at(minute, 0.5) for minute in range(121))).overview["disk_days_to_full"] is None
    assert state(at(0, 0.5), at(1, 0.6)).overview["disk_days_to_full"] is None, "a minute is no trend"
