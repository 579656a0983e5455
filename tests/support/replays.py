"""What the tests of replays share: topics filled through the broker, and what came of a copy."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.client.blocking import BlockingSession
from broker_core.client.consumer.pull import PullConsumer, PullStatus
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.message import Message, StoredMessage
from tests.support.cluster import create_topic


def make_topic(session: BlockingSession, name: str, *, queues: int = 2) -> None:
    """Create a topic."""
    session.run(create_topic(session.session, name, queues=queues))


def fill_topic(session: BlockingSession, name: str, messages: Sequence[Message], *, per_batch: int = 200) -> None:
    """Send messages in batches, one batch to each queue in turn."""
    producer = session.producer()
    queues = session.run(producer.queues(name))
    for number, begin in enumerate(range(0, len(messages), per_batch)):
        batch = [Message(name, m.body, m.properties, m.flag) for m in messages[begin : begin + per_batch]]
        session.run(producer.send_batch(name, batch, queue=queues[number % len(queues)]))


def read_topic(session: BlockingSession, name: str) -> dict[int, list[StoredMessage]]:
    """Return all messages of a topic by queue."""
    consumer = PullConsumer(session.session)
    route = session.run(session.session.routes.refresh(name))
    return {queue.queue_id: _read_queue(session, consumer, queue) for queue in route.read_queues}


def _read_queue(session: BlockingSession, consumer: PullConsumer, queue: MessageQueue) -> list[StoredMessage]:
    found: list[StoredMessage] = []
    while True:
        answer = session.run(consumer.pull(queue, len(found)))
        found += answer.messages
        if answer.status is not PullStatus.FOUND:
            return found
