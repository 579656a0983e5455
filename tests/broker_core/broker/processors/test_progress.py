"""Code 30104 over a real socket: everything that changed since a reader asked last, and nothing else."""

from __future__ import annotations

from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.progress import GroupOffsets, Progress
from broker_core.protocol.half_records import PROGRESS_GROUP
from broker_core.protocol.headers import groups as group_headers
from broker_core.protocol.headers import topics as topic_headers
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.headers.progress import GetProgressRequest
from broker_core.protocol.topics import OP_HALF_TOPIC
from tests.support.broker import Wire
from tests.support.wait import eventually


async def changed(wire: Wire, before: Progress | None = None, *, limit: int = 1000, goes_on: bool = False) -> Progress:
    """Return what changed since an answer; everything without one. The broker's own group is left out: it comes with
    the first look at transactions, a second after the start."""
    known = before or Progress()
    answer = await wire.ask(GetProgressRequest(known.session, known.version, limit, goes_on))
    found = bodies.decode(Progress, answer.body)
    found.groups.pop(PROGRESS_GROUP, None)
    return found


async def commit(wire: Wire, offset: int, group: str = "billing") -> None:
    await wire.ask(UpdateConsumerOffsetRequest(group, "orders", 0, offset))


async def test_the_first_answer_is_everything_and_the_next_one_nothing(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b", b"c")
    await commit(wire, 1)
    await eventually(lambda: wire.broker.components.offsets.find(PROGRESS_GROUP, OP_HALF_TOPIC, 0) is not None)
    first = await changed(wire)
    ((low, high, stored_at),) = first.topics["orders"].queues
    assert (low, high, stored_at) == (0, 3, wire.broker.store.store_time("orders", 0, 2))
    assert first.topics["orders"].kept_bytes
    ((end, offset, last_read, held, unread_since),) = first.groups["billing"].queues["orders"]
    assert (end, offset, held) == (3, 1, -1)
    assert (last_read, unread_since) == tuple(wire.broker.store.store_time("orders", 0, place) for place in (0, 1))
    assert first.is_last
    second = await changed(wire, first)
    assert (second.topics, second.groups, second.members, second.version) == ({}, {}, {}, first.version)
    assert (second.topics_version, second.groups_version) == (first.topics_version, first.groups_version)


async def test_who_reads_a_topic_changes_with_it(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    await wire.fill("ships", b"a")
    await commit(wire, 1)
    before = await changed(wire)
    await wire.send("orders", b"b")
    after = await changed(wire, before)
    assert (set(after.topics), set(after.groups)) == ({"orders"}, {"billing"})
    assert after.groups["billing"].queues["orders"][0][:2] == [2, 1]
    await commit(wire, 2)
    moved = await changed(wire, after)
    assert (set(moved.topics), set(moved.groups)) == (set(), {"billing"})


async def test_leases_and_members_are_changes(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b")
    before = await changed(wire)
    await wire.heartbeat("laptop", group="billing", topics={"orders": "*"})
    leased = await wire.pop("orders", group="lessees", count=2)
    after = await changed(wire, before)
    assert len(leased) == 2
    assert [row[3] for row in after.groups["lessees"].queues["orders"]] == [2]
    assert set(after.members["billing"].subscription_table) >= {"orders"}
    assert (await changed(wire, after)).members == {}


async def test_what_is_deleted_is_gone(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    await commit(wire, 1)
    await wire.ask(group_headers.CreateSubscriptionGroupRequest(), bodies.encode(SubscriptionGroupConfig("billing")))
    before = await changed(wire)
    await wire.ask(topic_headers.DeleteTopicRequest("orders"))
    after = await changed(wire, before)
    assert after.gone_topics == ["orders"]
    assert after.groups["billing"] == GroupOffsets()
    assert after.topics_version != before.topics_version
    await wire.ask(group_headers.DeleteSubscriptionGroupRequest("billing", remove_offset=True))
    assert (await changed(wire, after)).gone_groups == ["billing"]


async def test_pages_go_on_and_a_reader_of_an_earlier_run_begins_anew(wire: Wire) -> None:
    everything = await changed(wire)
    names: set[str] = set()
    page = await changed(wire, limit=3)
    while not page.is_last:
        names |= page.topics.keys() | page.groups.keys()
        page = await changed(wire, page, limit=3, goes_on=True)
    assert names | page.topics.keys() | page.groups.keys() == everything.topics.keys() | everything.groups.keys()
    assert page.version == everything.version
    stranger = await changed(wire, Progress(session="0123456789abcdef", version=everything.version))
    assert stranger.topics.keys() == everything.topics.keys()
