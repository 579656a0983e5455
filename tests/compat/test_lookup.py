"""Finding messages with the unmodified Java client: by key, by their ids, by place and by time."""

from __future__ import annotations

import time

import pytest

from tests.compat.driver import Driver, JavaError, JavaObject
from tests.compat.java_values import JavaMessage, Queue, Received
from tests.compat.reading import Reader, messages_of
from tests.compat.sending import numbers_of, send_numbers
from tests.compat.servers import SHARED, Server
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

SETTINGS = SHARED

NO_MESSAGE, SYSTEM_ERROR = 208, 1
FOR_EVER = 2**62


@pytest.fixture
def producer(driver: Driver, server: Server) -> JavaObject:
    return driver.producer(server.name_server)


class Finder:
    """Asks by key."""

    def __init__(self, consumer: JavaObject, topic: str) -> None:
        self._consumer = consumer
        self._topic = topic

    def by_key(self, key: str, *, most: int = 32, begin: int = 0, end: int = FOR_EVER) -> list[Received]:
        """Return what has the key, in the order of the answer."""
        try:
            found = self._consumer.call("queryMessage", self._topic, key, most, begin, end)
        except JavaError as error:
            if error.code == NO_MESSAGE:
                return []
            raise
        return [Received.of(tree) for tree in found]


@pytest.fixture
def finder(reader: Reader, name: str) -> Finder:
    return Finder(reader.consumer, name)


@pytest.mark.sample
def test_messages_are_found_by_each_of_their_keys(
    producer: JavaObject, reader: Reader, finder: Finder, name: str
) -> None:
    for number in range(10):
        producer.call("send", JavaMessage(name, b"%d" % number, keys=f"own-{number} all {('even', 'odd')[number % 2]}"))
    reader.read(name, 10)
    wait_until(lambda: len(finder.by_key("all")) == 10)
    assert [numbers_of(finder.by_key(f"own-{number}")) for number in range(10)] == [[number] for number in range(10)]
    assert sorted(numbers_of(finder.by_key("odd"))) == [1, 3, 5, 7, 9]
    # No more than asked for: the newest ones
    assert sorted(numbers_of(finder.by_key("all", most=3))) == [7, 8, 9]
    # Not in another topic, not by half a key, not at another time
    assert finder.by_key("own") == []
    # The index knows seconds
    (third,) = finder.by_key("own-3")
    assert numbers_of(finder.by_key("own-3", begin=third.stored_at - 1000, end=third.stored_at)) == [3]
    assert finder.by_key("own-3", begin=third.stored_at + 1) == []
    assert finder.by_key("own-3", end=third.stored_at - 1001) == []


def test_messages_of_a_batch_and_delayed_ones_are_found_by_key_too(
    producer: JavaObject, reader: Reader, finder: Finder, name: str
) -> None:
    producer.call("send", [JavaMessage(name, b"%d" % number, keys=f"b{number} batch") for number in range(20)])
    reader.read(name, 20)
    producer.call("send", JavaMessage(name, b"99", keys="delayed", delay_level=1))
    wait_until(lambda: len(finder.by_key("batch")) == 20)
    assert numbers_of(finder.by_key("b7")) == [7]
    # The delayed one once it is there
    wait_until(lambda: numbers_of(finder.by_key("delayed")) == [99])


def test_a_message_is_found_by_the_id_that_its_producer_gave_it(
    driver: Driver, server: Server, producer: JavaObject, reader: Reader, name: str
) -> None:
    sent = [producer.call("send", JavaMessage(name, b"%d" % number)) for number in range(3)]
    admin = driver.admin(server.name_server)
    reader.read(name, 3)
    for number, row in enumerate(sent):
        # By the unique id, which stands in the index, and by the place in the log
        for message_id in (row["msgId"], row["offsetMsgId"]):
            found = Received.of(admin.call("viewMessage", name, message_id))
            assert (found.body, found.id) == (b"%d" % number, row["msgId"])
            assert (found.queue.id, found.queue_offset) == (row["queue"]["queueId"], row["queueOffset"])
        assert Received.of(reader.consumer.call("viewMessage", row["offsetMsgId"])).body == b"%d" % number
    # And nothing is found where nothing is
    nowhere = sent[2]["offsetMsgId"][:-16] + "%016X" % (1 << 40)
    with pytest.raises(JavaError) as lost:
        reader.consumer.call("viewMessage", nowhere)
    assert lost.value.code == SYSTEM_ERROR
    with pytest.raises(JavaError) as unknown:
        admin.call("queryMessageByUniqKey", name, "7F0000010001" + "0" * 20, 32, 0, FOR_EVER)
    assert unknown.value.code == NO_MESSAGE


def test_a_message_is_found_by_its_place_in_a_queue(producer: JavaObject, reader: Reader, name: str) -> None:
    send_numbers(producer, name, range(40))
    reader.read(name, 40)
    for queue_id, offset in ((0, 0), (1, 5), (3, 9)):
        pulled = reader.consumer.call("pull", Queue(name, queue_id), "*", offset, 1)
        assert numbers_of(messages_of(pulled)) == [offset * 4 + queue_id]


def test_a_queue_tells_its_range_and_its_oldest_message(producer: JavaObject, reader: Reader, name: str) -> None:
    send_numbers(producer, name, range(0, 40, 4))
    stored = reader.read(name, 10)
    ask = reader.consumer.call
    assert (ask("minOffset", Queue(name, 0)), ask("maxOffset", Queue(name, 0))) == (0, 10)
    assert ask("earliestMsgStoreTime", Queue(name, 0)) == stored[0].stored_at
    # An empty queue, and a queue that is not there
    for queue_id in (1, 77):
        assert (ask("minOffset", Queue(name, queue_id)), ask("maxOffset", Queue(name, queue_id))) == (0, 0)
        assert ask("earliestMsgStoreTime", Queue(name, queue_id)) == -1
        assert ask("searchOffset", Queue(name, queue_id), int(time.time() * 1000)) == 0


@pytest.mark.sample
def test_a_queue_is_searched_by_time(producer: JavaObject, reader: Reader, name: str) -> None:
    # Given messages of different times
    for number in range(0, 24, 4):
        begin = time.monotonic()
        wait_until(lambda begin=begin: time.monotonic() - begin > 0.03)  # type: ignore[misc]
        send_numbers(producer, name, [number])
    queue, times = Queue(name, 0), [message.stored_at for message in reader.read(name, 6)]
    # Then a time leads to the message that is nearest to it, the earlier of two that are equally near
    asked = {time + step for time in times for step in (-20, -1, 0, 1, 9, 20)} | {0, times[-1] + 60_000}
    for moment in sorted(asked):
        nearest = min(range(6), key=lambda offset: (abs(times[offset] - moment), offset))
        assert reader.consumer.call("searchOffset", queue, moment) == nearest, (times, moment)


def test_a_new_group_begins_at_the_beginning_of_a_young_queue_wherever_it_wants_to_begin(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    send_numbers(producer, name, range(8))
    consumer = driver.push_consumer(server.name_server, name, {name: "*"}, start="CONSUME_FROM_LAST_OFFSET")
    wait_until(lambda: sorted(numbers_of(consumer.received)) == list(range(8)))
