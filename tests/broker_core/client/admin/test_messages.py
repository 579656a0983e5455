"""Finding messages."""

from __future__ import annotations

import time

import pytest

from broker_core.client.admin import Admin
from broker_core.client.admin.messages import DeliveryState
from broker_core.client.config import ClientConfig
from broker_core.client.errors import TopicNotFound
from broker_core.client.session import Session
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.message import Message
from tests.broker_core.client.conftest import Live
from tests.support.scripted import refuse, scripted_cluster


async def test_a_key_finds_its_messages_newest_first(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a", "b", key="A17")
    await live.send(topic, "c", key="other")

    result = await live.admin.messages.search(topic, "A17")

    assert [placed.message.body for placed in result.messages] == [b"b", b"a"]
    assert {placed.broker_name for placed in result.messages} == {"broker-a"}
    assert result.complete
    assert result.figures.index_files
    assert result.figures.entries_visited is not None
    assert result.figures.entries_visited >= 2


async def test_a_lookup_of_keys_is_newest_first_also_within_a_millisecond(live: Live) -> None:
    topic = await live.topic(queues=1)
    await live.producer.send_batch(topic, [Message.create(topic, b"x", keys=["A17"]) for _ in range(5)])

    lookup = await live.admin.messages.key_lookup([topic], begin=0, end=1 << 60, limit=9)
    found = await lookup.find("A17", ends=time.monotonic() + 10)

    assert [placed.message.queue_offset for placed in found.messages] == [4, 3, 2, 1, 0]


async def test_keys_that_only_hash_alike_are_dropped(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a", key="AaAa")
    await live.send(topic, "b", key="BBBB")

    result = await live.admin.messages.search(topic, "AaAa")

    assert [placed.message.body for placed in result.messages] == [b"a"]


async def test_a_search_keeps_to_its_times(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a", key="A17")
    (found,) = (await live.admin.messages.search(topic, "A17")).messages
    at = found.message.store_timestamp

    assert len((await live.admin.messages.search(topic, "A17", begin=at, end=at)).messages) == 1
    assert not (await live.admin.messages.search(topic, "A17", end=at - 1_000)).messages
    assert not (await live.admin.messages.search(topic, "A17", begin=at + 60_000)).messages


async def test_nothing_found_is_complete(live: Live) -> None:
    topic = await live.topic()

    result = await live.admin.messages.search(topic, "nothing")

    assert (result.messages, result.complete, result.failed) == ([], True, {})


async def test_a_search_that_reached_its_limit_is_not_complete(live: Live) -> None:
    topic = await live.topic()
    await live.send(topic, "a", "b", "c", key="A17")

    result = await live.admin.messages.search(topic, "A17", max_messages=2)

    assert len(result.messages) == 2
    assert not result.complete


async def test_a_search_in_an_unknown_topic_is_refused(live: Live) -> None:
    with pytest.raises(TopicNotFound):
        await live.admin.messages.search("nowhere", "A17")


async def test_a_message_is_found_by_either_id(live: Live) -> None:
    topic = await live.topic()
    (result,) = await live.send(topic, "a")

    by_unique = await live.admin.messages.find(topic, result.message_id)
    by_offset = await live.admin.messages.find(topic, result.offset_id)

    assert by_unique is not None
    assert by_unique == by_offset
    assert by_unique.message.body == b"a"
    assert by_unique.queue == result.queue


@pytest.mark.parametrize(
    "message_id", ["nonsense", "0" * 32, "7F000001000000010000000000000000", "C0A80001" + "F" * 24]
)
async def test_an_id_of_nothing_finds_nothing(live: Live, message_id: str) -> None:
    assert await live.admin.messages.find(await live.topic(), message_id) is None


async def test_an_offset_id_of_another_topic_is_not_of_this_one(live: Live) -> None:
    (result,) = await live.send(await live.topic(), "a")

    assert await live.admin.messages.find(await live.topic(), result.offset_id) is None


async def test_a_message_at_its_place(live: Live) -> None:
    topic = await live.topic()
    (result,) = await live.send(topic, "a")

    placed = await live.admin.messages.at(result.queue, result.queue_offset)

    assert placed is not None
    assert placed.message.message_id == result.message_id
    assert await live.admin.messages.at(result.queue, 99) is None


async def test_a_page_of_a_queue_says_where_to_continue(live: Live) -> None:
    topic = await live.topic(queues=1)
    results = await live.send(topic, *map(str, range(100)))
    queue = results[0].queue

    page = await live.admin.messages.page(queue, 10, 50)
    rest = await live.admin.messages.page(queue, page.positions[queue], 50)

    assert [placed.message.body for placed in page.messages] == [str(index).encode() for index in range(10, 60)]
    assert [placed.message.body for placed in rest.messages] == [str(index).encode() for index in range(60, 100)]
    assert (rest.min_offset, rest.max_offset, rest.positions) == (0, 100, {queue: 100})


async def test_browsing_is_newest_first_over_all_queues(live: Live) -> None:
    topic = await live.topic(queues=4)
    for body in range(100):
        await live.send(topic, str(body))
    wanted = [str(index).encode() for index in reversed(range(100))]

    first = await live.admin.messages.browse(topic, limit=30)
    second = await live.admin.messages.browse(topic, limit=30, positions=first.positions)
    third = await live.admin.messages.browse(topic, limit=50, positions=second.positions)

    pages = [[placed.message.body for placed in page.messages] for page in (first, second, third)]
    assert pages == [wanted[:30], wanted[30:60], wanted[60:]]
    assert third.positions == {}


async def test_browsing_keeps_to_its_times(live: Live) -> None:
    topic = await live.topic(queues=2)
    for body in "abcdef":
        await live.send(topic, body)
    everything = (await live.admin.messages.browse(topic)).messages
    times = sorted({placed.message.store_timestamp for placed in everything})
    begin, end = times[len(times) // 3], times[2 * len(times) // 3]

    page = await live.admin.messages.browse(topic, begin=begin, end=end)

    assert [placed.message.body for placed in page.messages] == [
        placed.message.body for placed in everything if begin <= placed.message.store_timestamp <= end
    ]
    assert not (await live.admin.messages.browse(topic, end=times[0] - 1)).messages
    assert not (await live.admin.messages.browse(topic, begin=times[-1] + 1)).messages


async def test_browsing_one_queue(live: Live) -> None:
    topic = await live.topic(queues=2)
    results = await live.send(topic, *map(str, range(10)))

    page = await live.admin.messages.browse(topic, queue_id=1)

    assert len(page.messages) == sum(result.queue.queue_id == 1 for result in results)


async def test_an_empty_topic_has_an_empty_page(live: Live) -> None:
    page = await live.admin.messages.browse(await live.topic())

    assert (page.messages, page.positions, page.failed) == ([], {}, {})


async def test_who_has_consumed_a_message(live: Live) -> None:
    topic, done, behind = await live.topic(queues=1), live.group(), live.group()
    results = await live.send(topic, "a", "b", "c")
    await live.admin.offsets.set(done, {results[0].queue: 3})
    await live.admin.offsets.set(behind, {results[0].queue: 1})
    placed = await live.admin.messages.at(results[2].queue, 2)
    assert placed is not None

    deliveries = {delivery.group: delivery for delivery in await live.admin.messages.deliveries(placed)}

    assert deliveries[done].state is DeliveryState.CONSUMED
    assert (deliveries[behind].state, deliveries[behind].behind) == (DeliveryState.NOT_REACHED, 1)


async def test_a_broker_that_does_not_answer_makes_a_search_incomplete(live: Live) -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.QUERY_MESSAGE, refuse(ResponseCode.QUERY_NOT_FOUND))
        cluster["broker-b"].on(RequestCode.QUERY_MESSAGE, refuse(ResponseCode.SYSTEM_BUSY))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            result = await Admin(session).messages.search("orders", "A17")

    assert not result.complete
    assert list(result.failed) == [cluster["broker-b"].addr]
    assert result.figures.index_files is None


async def test_an_offset_id_does_not_cause_a_connection_elsewhere(live: Live) -> None:
    """An id contains an address; a foreign id must not make this process connect to it."""
    async with scripted_cluster("stranger") as cluster:
        port = int(cluster["stranger"].addr.rpartition(":")[2])
        offset_id = f"7F000001{port:08X}{0:016X}"

        assert await live.admin.messages.find_by_offset_id(offset_id) is None

        assert not cluster["stranger"].connections


async def test_a_search_does_not_mix_topics(live: Live) -> None:
    one, two = await live.topic(), await live.topic()
    await live.producer.send(Message.create(one, b"1", keys=["shared"]))
    await live.producer.send(Message.create(two, b"2", keys=["shared"]))

    assert [placed.message.body for placed in (await live.admin.messages.search(two, "shared")).messages] == [b"2"]


async def test_a_damaged_message_is_found_and_browsed_with_its_stored_bytes(live: Live) -> None:
    topic = await live.topic(queues=1)
    await live.send(topic, "a", key="A17")
    await live.send_damaged(topic, properties="KEYS\x01A17")

    browsed = await live.admin.messages.browse(topic)
    found = await live.admin.messages.search(topic, "A17")
    damaged = browsed.messages[0].message
    by_id = await live.admin.messages.find(topic, damaged.offset_id)

    assert [placed.message.body for placed in browsed.messages] == [b"hello", b"a"]
    assert [placed.message.damage is None for placed in found.messages] == [False, True]
    assert by_id is not None
    assert by_id.message == damaged
    assert damaged.damage is not None
    assert "does not unpack" in damaged.damage
