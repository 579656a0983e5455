"""Requirements of `console.lag.state` and `group_state`: the states made of readings. Unknown is None, never zero."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from broker_core.client.admin.clusters import BrokerAddress, BrokerRuntime
from broker_core.client.admin.groups import Group, GroupConnections, GroupStats
from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.protocol.bodies import MessageModel, MessageQueue, OffsetWrapper, TopicConfig, TopicOffset
from broker_core.protocol.bodies.groups import Connection, SubscriptionGroupConfig
from console.clusters.memory import QueueCounts
from console.lag.facts import BrokerFacts, Delay
from console.lag.following import Changed
from console.lag.group_state import NO_OFFSET, drain_estimate
from console.lag.reading import LagReading, Missing
from console.lag.shapes import GroupState, GroupSummary, LeaseConsumerState, MissingBroker, OverviewLastKnown
from console.lag.state import ClusterState, StateBuilder
from tests.console.lag.figures import known

OVERVIEW_FIGURES = set(OverviewLastKnown.__struct_fields__) - {"at"}
AT = 1_800_000_000_000
A, B = BrokerAddress("c", "broker-a", 0, "10.0.0.1:10911"), BrokerAddress("c", "broker-b", 0, "10.0.0.2:10911")
SILENT = Missing(
    "broker-b", B.addr, "broker-b at 10.0.0.2:10911 refused the connection", AT, {"orders": QueueCounts(2, 2, 6)}
)


def queue(number: int = 0, topic: str = "orders", broker: str = "broker-a") -> MessageQueue:
    return MessageQueue(topic, broker, number)


def facts(at: int = AT, groups: dict[str, GroupStats] | None = None, **parts: Any) -> BrokerFacts:
    """Return the facts of a broker: the lag of some groups."""
    stats = groups or {}
    return BrokerFacts(**{"at": at, "stats": stats, "groups": {name: Group(name) for name in stats}, **parts})


def reading(
    at: int = AT, *, groups: dict[str, GroupStats] | None = None, table: dict[str, str] | None = None, **parts: Any
) -> LagReading:
    """Return a reading of a cluster with one broker that answers, and some groups."""
    names_of_reading = ("missing", "topics", "owners", "brokers", "disagreeing", "name_server_reason")
    of_reading: dict[str, Any] = {name: parts.pop(name) for name in names_of_reading if name in parts}
    said = parts.pop("facts", None) or {"broker-a": facts(at, groups, **parts)}
    names = {name for each in said.values() for name in each.stats}
    whole: dict[str, Any] = {
        "at": at,
        "brokers": [A],
        "runtimes": {A.addr: BrokerRuntime({"commitLogDiskRatio": "0.5", **(table or {})})},
        "reasons": {B.addr: SILENT.reason},
        "facts": said,
        "groups": {name: Group(name) for name in names},
        **of_reading,
    }
    return LagReading(**whole)


def behind(stored: int, consumed: int) -> GroupStats:
    return GroupStats({queue(): OffsetWrapper(stored, consumed)})


def topic(name: str, kind: TopicKind = TopicKind.NORMAL, brokers: Iterable[str] = ("broker-a",)) -> Topic:
    return Topic(name, kind, {broker: TopicConfig(name) for broker in brokers})


def ends(name: str, end: int) -> dict[str, Any]:
    """Return the parts of a broker's facts about one topic."""
    return {"ends": {name: {queue(0, name): TopicOffset(0, end, AT)}}, "ends_at": {name: AT}}


def state(*readings: LagReading) -> ClusterState:
    builder = StateBuilder()
    for each in readings:
        last = builder.step(each)
    return last


def watched(lags: Iterable[tuple[int, int]], **parts: Any) -> GroupState:
    """Return the group after readings, one a second, with these numbers stored and consumed."""
    seen = [reading(AT + s * 1_000, groups={"g": behind(*pair)}, **parts) for s, pair in enumerate(lags)]
    return state(*seen).groups["g"]


@pytest.mark.parametrize(
    ("switches", "delivery"),
    [
        ({"broker-a": True, "broker-b": True}, "on"),
        ({"broker-a": False, "broker-b": True}, "partly_paused"),
        ({"broker-a": False, "broker-b": False}, "paused"),
        ({}, None),
    ],
)
def test_a_group_is_paused_where_its_brokers_do_not_deliver(switches: dict[str, bool], delivery: str | None) -> None:
    configs = {broker: SubscriptionGroupConfig("g", consume_enable=on) for broker, on in switches.items()}
    seen = reading(groups={"g": behind(10, 4)})
    seen.groups["g"] = Group("g", configs)
    assert state(seen).groups["g"].delivery == delivery
    assert [each.delivery for each in state(seen).overview.worst_groups] == [delivery]
    seen.missing = [SILENT]
    assert state(seen).groups["g"].delivery is None, "nobody knows what the silent broker does"


def test_lag_is_what_is_stored_and_not_consumed() -> None:
    group = state(reading(groups={"billing": behind(10, 4)})).groups["billing"]
    assert (group.lag, group.queues[0].lag, group.unknown_reason, group.missing) == (6, 6, None, [])


def test_a_group_ahead_of_its_broker_has_no_lag() -> None:
    assert state(reading(groups={"billing": behind(4, 10)})).groups["billing"].lag == 0


def half_begun(at: int, stored: int, **parts: Any) -> LagReading:
    """Return a reading of two brokers with a topic that a group consumes on one of them."""
    on_b = queue(broker="broker-b")
    orders = {"orders": TopicConfig("orders", 1, 1)}
    said = {
        "broker-a": facts(at, {"g": behind(10, 4)}, topics=orders, followed_at=at),
        "broker-b": facts(at, topics=orders, ends={"orders": {on_b: TopicOffset(3, 3 + stored, at)}}, followed_at=at),
    }
    both = {"orders": topic("orders", brokers=said)}
    return reading(at, facts=said, brokers=[A, B], topics=both, **parts)


def test_lag_is_unknown_while_messages_wait_on_a_broker_that_has_no_offset_of_the_group() -> None:
    shown = state(half_begun(AT, 3))
    group = shown.groups["g"]
    reason = "it has no offset on broker-b yet: where it will begin there is not known"
    assert (group.lag, group.state, group.unknown_reason, group.measured_at) == (None, "unknown", reason, None)
    rows = [(row.broker, row.group_offset, row.broker_offset, row.lag, row.unknown_reason) for row in group.queues]
    assert rows == [("broker-a", 4, 10, 6, None), ("broker-b", None, 6, None, reason)]
    assert (shown.overview.total_lag, shown.overview.lag_unknown_groups) == (None, 1)


def test_what_arrives_where_a_group_has_not_begun_is_in_no_rate() -> None:
    for stored, rate in ((3, None), (0, 0.0)):
        group = state(*(half_begun(AT + second * 1_000, stored) for second in range(60))).groups["g"]
        assert (group.in_rate, group.out_rate) == (rate, 0.0)


def test_an_empty_queue_on_a_broker_without_an_offset_of_the_group_is_no_lag() -> None:
    group = state(half_begun(AT, 0)).groups["g"]
    assert (group.lag, group.unknown_reason, [row.lag for row in group.queues]) == (6, None, [6, 0])


def test_a_message_stored_where_a_group_has_no_offset_changes_its_lag_at_once() -> None:
    builder = StateBuilder()
    first = half_begun(AT, 0)
    assert builder.step(first).groups["g"].lag == 6
    first.facts["broker-b"].ends["orders"][queue(broker="broker-b")] = TopicOffset(3, 4, AT)
    nothing = {"broker-a": Changed(), "broker-b": Changed(topics={"orders"})}
    assert builder.step(replace(first, at=AT + 1_000, changed=nothing)).groups["g"].lag is None


def test_what_lies_on_a_silent_broker_is_unknown_and_named() -> None:
    # Given two brokers that answered
    other = GroupStats({queue(0, broker="broker-b"): OffsetWrapper(30, 0)})
    both = {"broker-a": facts(groups={"g": behind(10, 4)}), "broker-b": facts(groups={"g": other})}
    topics = {"orders": topic("orders", brokers=("broker-a", "broker-b"))}
    whole = reading(facts=both, brokers=[A, B], topics=topics)
    whole.runtimes[B.addr] = BrokerRuntime({})
    # When one of them stops answering
    part = reading(AT + 1_000, groups={"g": behind(10, 4)}, missing=[SILENT], brokers=[A, B], topics=topics)
    shown = state(whole, part)
    # Then the figures of the group are unknown, with the last known ones, and not half as large
    group = shown.groups["g"]
    assert (group.lag, group.state, group.time_lag_ms, group.clients) == (None, "unknown", None, None)
    assert (group.unknown_reason, group.measured_at) == (SILENT.reason, None)
    assert [each.broker for each in group.missing] == ["broker-b"]
    assert (known(group.last_known).lag, known(group.last_known).at) == (36, "2027-01-15T08:00:00.000Z")
    rows = [(row.broker, row.queue_id, row.lag, row.unknown_reason) for row in group.queues]
    assert rows == [
        ("broker-a", 0, 6, None),
        ("broker-b", 0, None, SILENT.reason),
        ("broker-b", 1, None, SILENT.reason),
    ]
    # And the same holds for topic and overview
    orders = shown.topics["orders"]
    assert (orders.max_lag, orders.messages, orders.groups) == (None, None, None), "it may know another group"
    assert [each.broker for each in shown.topics["orders"].missing] == ["broker-b"]
    overview = shown.overview
    assert {name for name in OVERVIEW_FIGURES if getattr(overview, name) is None} >= {
        "total_lag", "oldest_unconsumed_ms", "dead_letters", "in_rate", "out_rate", "disk_used_ratio",
    }  # fmt: skip
    assert (known(overview.last_known).total_lag, overview.brokers_answering, len(overview.brokers)) == (36, 1, 2)
    assert (overview.topics, overview.groups) == (1, 1), "the names are remembered"
    assert overview.missing == [
        MissingBroker(broker="broker-b", reason=SILENT.reason, since="2027-01-15T08:00:00.000Z")
    ]


def test_a_silent_broker_takes_nothing_from_what_it_does_not_hold() -> None:
    other = {"g": GroupStats({queue(0, "payments"): OffsetWrapper(9, 2)})}
    shown = state(
        reading(groups=other, missing=[SILENT], topics={"payments": topic("payments")}, **ends("payments", 9))
    )
    assert (shown.groups["g"].lag, shown.topics["payments"].messages, shown.topics["payments"].groups) == (7, 9, 1)
    assert shown.overview.total_lag is None


def test_a_group_that_only_answering_brokers_know_is_not_idle_while_one_is_silent() -> None:
    # Nobody knows what it reads: it may have begun on the silent broker since that was seen last.
    groups = {"new": GroupStats(), "retries": GroupStats({queue(0, "%RETRY%retries"): OffsetWrapper(0, 0)})}
    shown = state(reading(groups=groups, missing=[SILENT], topics={"orders": topic("orders")}))
    for name in groups:
        group = shown.groups[name]
        assert (group.state, group.lag, group.unknown_reason) == ("unknown", None, SILENT.reason)
        assert [each.broker for each in group.missing] == ["broker-b"]


def test_of_a_broker_that_never_said_what_it_holds_everything_is_unknown() -> None:
    never = Missing("broker-b", B.addr, "not yet", None)
    shown = state(reading(groups={"g": behind(9, 2)}, missing=[never]))
    assert (shown.groups["g"].lag, shown.overview.groups) == (None, None)


def test_without_a_broker_nothing_is_known() -> None:
    empty = LagReading(at=AT)
    assert {name for name in OVERVIEW_FIGURES if getattr(state(empty).overview, name) is not None} == set()
    assert state(empty).overview.unknown_reason == "the name server lists no broker"
    away = LagReading(at=AT, name_server_reason="name server a:1 refused the connection")
    assert state(away).overview.unknown_reason == "name server a:1 refused the connection"


def test_what_was_last_known_outlives_the_process() -> None:
    before = StateBuilder()
    before.step(reading(groups={"g": behind(10, 4)}, topics={"orders": topic("orders")}, **ends("orders", 10)))
    after = StateBuilder()
    after.begin_with(before.last_known())
    shown = after.step(
        reading(AT + 9_000, groups={"g": behind(0, 0)}, missing=[SILENT], topics={"orders": topic("orders")})
    )
    assert (known(shown.groups["g"].last_known).lag, known(shown.overview.last_known).total_lag) == (6, 6)
    assert known(shown.topics["orders"].last_known).messages == 10


def test_an_empty_cluster_has_zero_lag() -> None:
    overview = state(reading()).overview
    assert (overview.total_lag, overview.groups, overview.dead_letters) == (0, 0, 0)
    assert overview.oldest_unconsumed_ms == 0


def test_rates_are_averages_of_half_a_minute() -> None:
    # Given a consumer of ten messages per second that commits every five seconds
    group = watched([(100 + 10 * s, 50 * (s // 5)) for s in range(60)])
    assert group.in_rate == 10
    assert group.out_rate == pytest.approx(10, rel=0.2)
    for seconds in range(31, 60):
        out_rate = watched([(100 + 10 * s, 50 * (s // 5)) for s in range(seconds)]).out_rate
        assert out_rate == pytest.approx(10, rel=0.2)
    assert watched([(100, 0), (110, 30)]).out_rate is None, "a second tells nothing of commits"


def test_the_out_rate_of_a_topic_is_that_of_all_its_groups() -> None:
    def after(seconds: int, **groups: int) -> float | None:
        """Return the rate after that many seconds in which groups consumed so many messages each second."""
        whole = [
            reading(
                AT + s * 1_000,
                groups={name: behind(100 + 10 * s, per_second * s) for name, per_second in groups.items()},
                topics={"orders": topic("orders")},
                **ends("orders", 100),
            )
            for s in range(seconds)
        ]
        return state(*whole).topics["orders"].out_rate

    assert after(40) == 0, "no group reads it"
    assert after(40, billing=10, audit=4) == pytest.approx(14)
    assert after(2, billing=10) is None, "a second tells nothing of commits"


def test_the_time_to_drain_follows_from_both_rates() -> None:
    group = watched([(1_000, 10 * s) for s in range(36)])
    assert (group.lag, group.drain_eta_ms, group.drain_unknown) == (650, 65_000, None)
    not_falling = watched([(10 * s, 0) for s in range(36)])
    assert (not_falling.drain_eta_ms, not_falling.drain_unknown) == (None, "not_falling")
    assert (
        drain_estimate(3_000, None, 7.7, 7.7 + 1e-14) == drain_estimate(3_000, None, 7.7, 7.9) == (None, "not_falling")
    )
    assert drain_estimate(2**60, None, 0.0, 1e-9)[0] == 365 * 24 * 3600 * 1000
    unmeasured = watched([(9, 5)])
    assert (unmeasured.drain_eta_ms, unmeasured.drain_unknown) == (None, "rates_unknown")
    assert watched([(5, 5)]).drain_eta_ms == 0


def test_a_lag_that_rises_over_minutes_has_no_time_todrain_estimate() -> None:
    # Given a lag that rose for two minutes and has fallen for half a minute
    risen = [(100 * s, 10 * s) for s in range(120)]
    fallen = [(11_900, 1_190 + 40 * s) for s in range(32)]
    shown = watched([*risen, *fallen])
    assert known(shown.out_rate) > known(shown.in_rate)
    assert (known(shown.lag_per_second) > 0, shown.drain_eta_ms, shown.drain_unknown) == (True, None, "growing")


@pytest.mark.parametrize(
    ("word", "lags"),
    [
        ("caught_up", [(5, 5)]),
        ("stalled", [(50, 5)] * 40),
        ("unknown", [(50, 5)]),
        ("unknown", [(50 + s, 5) for s in range(20)]),
        ("consuming", [(1_000, 10 * s) for s in range(40)]),
        ("consuming", [(100 + 10 * s, 10 * s) for s in range(90)]),
        ("growing", [(100 * s, 10 * s) for s in range(90)]),
        ("consuming", [(6 + s, s) for s in range(20)]),
    ],
)
def test_one_word_tells_how_a_group_is(word: str, lags: list[tuple[int, int]]) -> None:
    online = {"g": GroupConnections({"c1": Connection("c1", "127.0.0.1:1")})}
    assert watched(lags, members=online).state == word
    assert watched(lags).state == word, "the same while its clients are not known"


def test_a_group_of_which_nobody_consumes_is_stalled_from_the_first_look() -> None:
    first = reading(groups={"g": behind(50, 5)}, members={"g": GroupConnections()})
    assert state(first).groups["g"].state == "unknown", "consumers by lease are not known"
    first.lease_consumers = {}
    assert state(first).groups["g"].state == "stalled"


def test_members_that_disagree_are_told_before_a_rate_is_known() -> None:
    assert state(reading(groups={"g": behind(50, 5)}, disagreeing={"g"})).groups["g"].state == "inconsistent"


def leasing(in_flight: int) -> LeaseConsumerState:
    since = "2027-01-15T08:00:00.000Z"
    return LeaseConsumerState(
        caller="shop",
        user="admin",
        kind="token",
        address="10.0.0.7",
        since=since,
        in_flight=in_flight,
        last_receive_at=since,
    )


def test_who_holds_a_lease_consumes_before_a_rate_is_known() -> None:
    first = reading(groups={"g": behind(50, 5)})
    for in_flight, word in ((3, "consuming"), (0, "unknown")):
        first.lease_consumers = {"g": [leasing(in_flight)]}
        assert state(first).groups["g"].state == word


def test_a_group_with_leases_out_is_not_idle_before_its_first_offset() -> None:
    first = reading(groups={"out": GroupStats(), "waits": GroupStats()})
    first.lease_consumers = {"out": [leasing(0), leasing(3)], "waits": [leasing(0)]}
    shown = state(first)
    assert (shown.groups["out"].state, shown.groups["out"].lag) == ("consuming", None)
    assert shown.groups["waits"].state == "idle"
    # It hides nothing of the lag of the others either.
    assert (shown.overview.total_lag, shown.overview.worst_groups) == (0, [])


def test_a_group_that_read_nothing_yet_is_idle_and_its_lag_unknown() -> None:
    shown = state(reading(groups={"g": GroupStats(), "other": behind(9, 4)}))
    group = shown.groups["g"]
    assert (group.state, group.lag, group.time_lag_ms, group.drain_eta_ms) == ("idle", None, None, None)
    assert group.unknown_reason == NO_OFFSET
    # It adds nothing to what waits, and hides nothing of the others.
    assert shown.overview.total_lag == 5
    assert [each.name for each in shown.overview.worst_groups] == ["other"]


def test_members_that_subscribe_to_different_things_are_the_state_of_a_group() -> None:
    groups = {"g": behind(9, 9), "new": GroupStats()}
    shown = state(reading(groups=groups, disagreeing={"g", "new"})).groups
    assert (shown["g"].state, shown["g"].lag, shown["new"].state) == ("inconsistent", 0, "idle")
    silent = state(reading(groups=groups, disagreeing={"g"}, missing=[SILENT], topics={"orders": topic("orders")}))
    assert silent.groups["g"].state == "unknown"


def test_the_slope_begins_with_the_first_commit() -> None:
    idle = [reading(AT + s * 1_000, groups={"g": GroupStats()}) for s in range(30)]
    reads = [reading(AT + s * 1_000, groups={"g": behind(20_000, 10 * s)}) for s in range(30, 95)]
    shown = state(*idle, *reads).groups["g"]
    assert shown.state == "consuming"
    assert shown.lag_per_second == pytest.approx(-10)


def test_the_slope_begins_anew_when_an_offset_is_moved_back() -> None:
    steady = [(10_000, 10_000)] * 100
    shown = watched([*steady, *[(10_000, 0)] * 50])
    assert (shown.lag, shown.lag_per_second, shown.state) == (10_000, None, "stalled")
    assert watched([*steady, *[(10_000, 0)] * 70]).lag_per_second == 0


def test_offsets_that_were_moved_forward_are_no_consumption() -> None:
    builder = StateBuilder()
    for second in range(60):
        builder.step(
            reading(AT + second * 1_000, groups={"g": behind(10_000, 0), "other": behind(10_000, 20 * second)})
        )
    # The move is told in the step before a broker is read that shows it.
    builder.note_moved({"g"})
    words = set()
    for second in range(60, 120):
        groups = {"g": behind(10_000, 4_000), "other": behind(10_000, 20 * second)}
        shown = builder.step(reading(AT + second * 1_000, groups=groups)).groups
        words.add(shown["g"].state)
        assert shown["g"].out_rate in (None, 0)
        assert shown["other"].out_rate == pytest.approx(20)
    assert (shown["g"].out_rate, shown["g"].state, "consuming" in words) == (0, "stalled", False)


def test_the_total_lag_changes_as_its_groups_together_do() -> None:
    seen = [
        reading(AT + s * 1_000, groups={"g": behind(4 * s, 0), "h": behind(900, s), "new": GroupStats()})
        for s in range(90)
    ]
    assert state(*seen[:30]).overview.lag_per_second is None
    assert state(*seen).overview.lag_per_second == pytest.approx(3)


def test_members_and_mode_are_told_when_all_brokers_told_them() -> None:
    online = GroupConnections({"c1": Connection("c1", "127.0.0.1:1")}, message_model=MessageModel.CLUSTERING)
    stats = {"g": behind(10, 10)}
    shown = state(reading(groups=stats, members={"g": online})).groups["g"]
    assert (shown.clients, shown.mode) == (1, "clustering")
    nobody = state(reading(groups=stats, members={"g": GroupConnections()})).groups["g"]
    assert (nobody.clients, nobody.mode) == (0, None)
    assert state(reading(groups=stats)).groups["g"].clients is None, "not asked yet"


def test_the_time_lag_is_that_of_the_oldest_message_if_all_are_known() -> None:
    stats = GroupStats({queue(0): OffsetWrapper(5, 0), queue(1): OffsetWrapper(5, 0), queue(2): OffsetWrapper(5, 5)})
    first, second = Delay(0, AT - 100, AT), Delay(0, AT - 900, AT)
    both = state(reading(groups={"g": stats}, delays={("g", queue(0)): first, ("g", queue(1)): second}))
    assert (both.groups["g"].time_lag_ms, both.overview.oldest_unconsumed_ms) == (900, 900)
    assert [each.time_lag_ms for each in both.groups["g"].queues] == [100, 900, 0]
    one = state(reading(groups={"g": stats}, delays={("g", queue(0)): first}))
    assert one.groups["g"].time_lag_ms is None
    overview = one.overview
    assert overview.oldest_unconsumed_ms is None, "somebody waits, and nobody knows for how long"
    assert (overview.groups_behind, overview.groups_timed) == (1, 0)


def test_a_queue_without_a_committed_offset_is_late_by_nothing_that_is_known() -> None:
    stats = GroupStats({queue(0): OffsetWrapper(5, 0), queue(1): OffsetWrapper(5, 2)})
    delays = {("g", queue(0)): Delay(0, None, AT), ("g", queue(1)): Delay(2, AT - 700, AT)}
    shown = state(reading(groups={"g": stats}, delays=delays))
    assert [each.time_lag_ms for each in shown.groups["g"].queues] == [None, 700]
    assert (shown.groups["g"].time_lag_ms, shown.overview.oldest_unconsumed_ms) == (700, 700)


def test_a_delay_grows_while_the_group_stands_and_is_as_old_as_it_is_when_it_went_on() -> None:
    stands = {("g", queue()): Delay(4, AT - 1_000, AT)}
    later = reading(AT + 5_000, groups={"g": behind(10, 4)}, delays=stands)
    assert state(later).groups["g"].time_lag_ms == 6_000
    went_on = state(reading(AT + 5_000, groups={"g": behind(10, 6)}, delays=stands)).groups["g"]
    assert (went_on.time_lag_ms, went_on.measured_at) == (1_000, "2027-01-15T08:00:00.000Z")


def test_leases_are_told_where_brokers_tell_them() -> None:
    stats_of_group = GroupStats({queue(): OffsetWrapper(10, 4, pull_offset=7)})
    assert state(reading(groups={"g": stats_of_group})).groups["g"].leases == 3
    assert state(reading(groups={"g": behind(10, 4)})).groups["g"].leases is None


@pytest.mark.parametrize(("stored", "leases"), [(4, 3), (5, None)])
def test_a_queue_without_leases_leaves_them_unknown_only_if_something_waits_there(
    stored: int, leases: int | None
) -> None:
    offsets = {queue(): OffsetWrapper(10, 4, pull_offset=7), queue(0, "%RETRY%g"): OffsetWrapper(stored, 4)}
    assert state(reading(groups={"g": GroupStats(offsets)})).groups["g"].leases == leases


def test_the_groups_of_a_topic_give_it_its_largest_lag() -> None:
    topics = {"orders": topic("orders")}
    groups = {"a": behind(10, 4), "b": behind(10, 1)}
    shown = state(reading(groups=groups, topics=topics, **ends("orders", 10))).topics["orders"]
    assert (shown.groups, shown.max_lag, shown.messages) == (2, 9, 10)
    assert shown.measured_at == "2027-01-15T08:00:00.000Z"


def test_retry_topics_count_for_the_lag_and_are_not_named() -> None:
    stats = GroupStats({queue(): OffsetWrapper(5, 5), queue(0, "%RETRY%g"): OffsetWrapper(3, 1)})
    group = state(reading(groups={"g": stats})).groups["g"]
    assert (group.lag, group.topics) == (2, ["orders"])


@pytest.mark.parametrize(("told", "expected"), [(700, 1000), (None, None)])
def test_the_size_of_a_topic_is_that_on_all_its_brokers_or_unknown(told: int | None, expected: int | None) -> None:
    def kept(size: int | None) -> BrokerFacts:
        return facts(
            ends={"orders": {queue(): TopicOffset(0, 7, AT)}}, ends_at={"orders": AT}, kept_bytes={"orders": size}
        )

    topics = {"orders": topic("orders", brokers=("broker-a", "broker-b"))}
    shown = state(reading(facts={"broker-a": kept(300), "broker-b": kept(told)}, brokers=[A, B], topics=topics))
    assert (shown.topics["orders"].messages, shown.topics["orders"].size_bytes) == (14, expected)


def test_dead_letters_are_counted_or_unknown() -> None:
    dead = {name: topic(name, TopicKind.DEAD_LETTER) for name in ("%DLQ%a", "%DLQ%b")}
    seven = {"%DLQ%a": {queue(0, "%DLQ%a"): TopicOffset(0, 7, AT)}}
    at = {"%DLQ%a": AT, "%DLQ%b": AT}
    counted = state(reading(topics=dead, ends={**seven, "%DLQ%b": {}}, ends_at=at)).overview
    assert (counted.dead_letters, counted.dead_letter_groups) == (7, 1)
    not_yet = state(reading(topics=dead, ends=seven, ends_at={"%DLQ%a": AT})).overview
    assert (not_yet.dead_letters, not_yet.dead_letter_groups) == (None, None)


def test_the_dead_letters_of_a_group_are_counted_or_unknown() -> None:
    groups, dead = {"g": behind(4, 4), "none": behind(4, 4)}, {"%DLQ%g": topic("%DLQ%g", TopicKind.DEAD_LETTER)}
    seven = {"%DLQ%g": {queue(0, "%DLQ%g"): TopicOffset(0, 7, AT)}}
    counted = state(reading(groups=groups, topics=dead, ends=seven, ends_at={"%DLQ%g": AT})).groups
    assert {name: group.dead_letters for name, group in counted.items()} == {"g": 7, "none": 0}
    not_yet = state(reading(groups=groups, topics=dead, ends={}, ends_at={})).groups
    assert not_yet["g"].dead_letters is None
    silent = state(reading(groups=groups, missing=[SILENT])).groups
    assert silent["none"].dead_letters is None, "a broker that does not answer may hold some"


def test_the_worst_groups_come_first_the_unknown_before_all() -> None:
    groups = {name: behind(lag, 0) for name, lag in zip("abcdefg", (3, 1, 4, 0, 5, 9, 2), strict=True)}
    shown = reading(groups=groups)
    shown.groups["x"] = Group("x")
    worst = state(shown).overview.worst_groups
    assert [group.name for group in worst] == ["x", "f", "e", "c", "a"]
    assert {type(group) for group in worst} == {GroupSummary}, "one line each"


def test_a_broker_that_restarted_has_no_rate_until_it_counted_anew() -> None:
    def at(second: int, total: int) -> LagReading:
        return reading(AT + second * 1_000, table={"msgPutTotalTodayNow": str(total)})

    assert state(at(0, 100), at(10, 200)).overview.in_rate == 10
    assert state(at(0, 100), at(10, 200), at(11, 3)).overview.in_rate is None
    assert state(at(0, 100), at(10, 200), at(11, 3), at(21, 53)).overview.in_rate == 5


def test_the_days_to_a_full_disk_follow_the_last_hours() -> None:
    def at(minute: int, ratio: float) -> LagReading:
        return reading(AT + minute * 60_000, table={"commitLogDiskRatio": str(ratio)})

    # A half-full disk fills by one per cent an hour
    filling = state(*(at(minute, 0.5 + minute / 60 / 100) for minute in range(121)))
    days = filling.overview.disk_days_to_full
    assert days is not None
    assert abs(days - 48 / 24) < 0.05
    assert state(*(at(minute, 0.5) for minute in range(121))).overview.disk_days_to_full is None
    less_than_an_hour = [at(minute, 0.5 + minute / 100) for minute in range(59)]
    assert state(*less_than_an_hour).overview.disk_days_to_full is None


def test_a_message_that_came_while_its_broker_was_asked_is_0_ms_old() -> None:
    delay = Delay(offset=7, stored_at=AT + 2, at=AT)
    assert (delay.age(AT, 7), delay.age(AT, 8), delay.age(AT + 5, 7)) == (0, 0, 3)


# Slaves


def test_a_former_master_has_no_rate_of_messages_in_and_counts_anew_when_it_is_master_again() -> None:
    builder, places = StateBuilder(), (A.addr, "10.0.0.3:10911")

    def at(second: int, master: int, *totals: int) -> tuple[float | None, list[float | None]]:
        held = replace(
            reading(AT + second * 1_000),
            brokers=[BrokerAddress("c", "broker-a", int(each != master), addr) for each, addr in enumerate(places)],
            runtimes={
                addr: BrokerRuntime({"msgPutTotalTodayNow": str(total)})
                for addr, total in zip(places, totals, strict=True)
            },
        )
        shown = builder.step(held).overview
        return shown.in_rate, [broker.in_rate for broker in sorted(shown.brokers, key=lambda each: each.address)]

    at(0, 0, 0, 0)
    assert at(10, 0, 500, 0) == (50, [50, None])
    at(12, 1, 500, 0)
    assert at(20, 1, 500, 400) == (50, [None, 50])
    at(22, 0, 500, 400)
    assert at(24, 0, 600, 400) == (50, [50, None])


def test_a_slave_is_no_second_source_of_messages_and_says_how_far_it_is_behind() -> None:
    slave = BrokerAddress("c", "broker-a", 1, "10.0.0.3:10911")
    builder = StateBuilder()
    states = []
    for second in (0, 10):
        ends = {"commitLogMaxOffset": str(1_000 + 500 * second), "msgPutTotalTodayNow": str(100 * second)}
        held = replace(reading(AT + second * 1_000, table=ends), brokers=[A, slave])
        copied = BrokerRuntime({**ends, "commitLogMaxOffset": "900", "getTransferedTps": "1 1 1"})
        said = {**held.runtimes, slave.addr: copied}
        held.facts["broker-a"].runtime = held.runtimes[A.addr]
        states.append(builder.step(replace(held, runtimes=said)).overview)

    leader, follower = states[1].brokers
    assert states[1].in_rate == leader.in_rate == 100
    assert (follower.in_rate, follower.behind_bytes, follower.behind_ms) == (None, 5_100, None)
    assert (leader.behind_bytes, leader.log_end) == (None, 6_000)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"sendRefusal": "too few"}, "too few"),
        ({"sendRefusal": "", "unconfirmedMs": "2000"}, ""),
        (
            {"sendRefusal": "", "unconfirmedMs": "5000"},
            "sends are stored, but not confirmed: the oldest waits for 5 s for the in-sync set",
        ),
    ],
)
def test_a_master_says_whether_it_takes_sends_and_a_slave_takes_none_anyway(table: dict[str, str], told: str) -> None:
    slave = BrokerAddress("c", "broker-a", 1, "10.0.0.3:10911")
    held = replace(reading(AT, table=table), brokers=[A, slave])
    said = {**held.runtimes, slave.addr: BrokerRuntime({"sendRefusal": "this replica is not the master"})}

    leader, follower = StateBuilder().step(replace(held, runtimes=said)).overview.brokers

    assert (leader.send_refusal, follower.send_refusal) == (told, None)
