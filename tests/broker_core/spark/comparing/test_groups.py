"""What a group has consumed of a topic, read from a broker."""

from __future__ import annotations

from functools import partial

from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.blocking import BlockingSession
from broker_core.client.consumer.pull import PullConsumer
from broker_core.client.errors import TopicNotFound
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.message_id import UniqueIds
from broker_core.protocol.topics import dead_letter_topic, retry_topic
from broker_core.redrive.copies import copy_of, target_of
from broker_core.redrive.request import Asked, Destination, Place, RedriveRequest, Target
from broker_core.spark.comparing.groups import GroupSide, group_side
from broker_core.spark.comparing.sides import topic_side
from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import plan
from tests.support.cluster import RunningBroker
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.topics import orders
from tests.support.wait import wait_until


class Group:
    """A group that reads a topic of one queue, all of which is below its offset."""

    def __init__(self, broker: RunningBroker, session: BlockingSession, topic: str, count: int) -> None:
        self.topic, self.name = topic, f"readers-of-{topic}"
        self._session = session
        self._options = SourceOptions(
            topics=(topic,), stores=(broker.data / "broker",), brokers=("broker-a",), name_servers=(broker.name_server,)
        )
        self._consumer = PullConsumer(session.session, self.name)
        self._ids = UniqueIds(ip="127.0.0.1", pid=1, loader=1)
        make_topic(session, topic, queues=1)
        make_topic(session, retry_topic(self.name), queues=1)
        fill_topic(session, topic, orders(count))
        self.consume_all(topic)

    def consume_all(self, topic: str) -> None:
        """Move the offset behind all messages of a topic."""
        queues = self._session.run(self._session.session.routes.refresh(topic)).read_queues
        for queue in queues:
            self._session.run(self._consumer.commit(queue, len(self.stored(topic))))

    def stored(self, topic: str) -> list[StoredMessage]:
        """Return the messages of a topic, none if it is not there."""
        try:
            return [message for queue in read_topic(self._session, topic).values() for message in queue]
        except TopicNotFound:
            return []

    def give_up(self, message: StoredMessage) -> StoredMessage:
        """Send a message to the dead letters, and return the dead letter."""
        before = len(self.stored(dead_letter_topic(self.name)))
        assert self._session.run(self._consumer.send_back(message, "broker-a", delay_level=-1))
        wait_until(lambda: len(self.stored(dead_letter_topic(self.name))) == before + 1)
        return self.stored(dead_letter_topic(self.name))[-1]

    def redrive(self, letter: StoredMessage, to: Destination) -> StoredMessage:
        """Send a dead letter again, and return its copy."""
        asked = Asked(group=self.name, target=Target(to=to), topics=(self.topic,))
        request = RedriveRequest(
            job_id="7", cluster="local", created_by="till", attempt=1, request_hash="", asked=asked,
            source=Place(name_servers=()),
        )  # fmt: skip
        topic = target_of(letter, request)
        copy = copy_of(PlacedMessage(letter, "broker-a"), topic, self._ids.make(1), request)
        self._session.run(self._session.producer().send(copy))
        wait_until(partial(self._has, topic, copy.properties["UNIQ_KEY"]))
        return self.stored(topic)[-1]

    def _has(self, topic: str, message_id: str) -> bool:
        return any(message.message_id == message_id for message in self.stored(topic))

    def side(self) -> GroupSide:
        """Return what the group has consumed by now."""
        options = SourceOptions(topics=(self.topic,), stores=self._options.stores, brokers=self._options.brokers)
        return group_side("right", self.name, topic_side(options, plan(options)), self._options.wire_place)

    def notes(self) -> list[str | None]:
        """Return the note of each message of the topic, None for what was consumed."""
        return [note for batch in self.side().read(0, ()) for note in batch.column("_note").to_pylist()]


def test_a_dead_letter_that_went_back_to_the_group_is_consumed_once_its_copy_is(
    shared_broker: RunningBroker, session: BlockingSession
) -> None:
    # Given two dead letters of which one goes back to the group
    group = Group(shared_broker, session, "went-back", 3)
    first, _, third = group.stored("went-back")
    letter = group.give_up(first)
    group.give_up(third)
    assert group.notes() == ["dead", None, "dead"]
    group.redrive(letter, "failed_group")
    assert group.notes() == ["in retry", None, "dead"]
    # When the group consumes the copy
    group.consume_all(retry_topic(group.name))
    # Then the message is consumed, and counted once
    assert group.notes() == [None, None, "dead"]
    assert group.side().fates.retried == 1


def test_a_dead_letter_that_died_again_is_followed_to_its_last_copy(
    shared_broker: RunningBroker, session: BlockingSession
) -> None:
    group = Group(shared_broker, session, "died-again", 1)
    copy = group.redrive(group.give_up(group.stored("died-again")[0]), "failed_group")
    group.consume_all(retry_topic(group.name))
    letter = group.give_up(copy)
    assert (group.notes(), group.side().fates.retried) == (["dead"], 0)
    group.redrive(letter, "failed_group")
    assert group.notes() == ["in retry"]
    group.consume_all(retry_topic(group.name))
    assert (group.notes(), group.side().fates.retried) == ([None], 1)


def test_a_dead_letter_that_went_back_to_its_topic_is_another_message(
    shared_broker: RunningBroker, session: BlockingSession
) -> None:
    group = Group(shared_broker, session, "sent-anew", 1)
    copy = group.redrive(group.give_up(group.stored("sent-anew")[0]), "origin")
    group.consume_all("sent-anew")
    assert group.notes() == ["dead", None]
    group.give_up(copy)
    assert group.notes() == ["dead", "dead"]
