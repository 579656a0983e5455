"""What lies in a topic, as the Java client's old pull consumer reads it."""

from __future__ import annotations

from typing import Any

from tests.compat.driver import Driver, JavaError, JavaObject
from tests.compat.java_values import Queue, Received
from tests.support.wait import PATIENCE_SECONDS, wait_until

BATCH = 32


def messages_of(pulled: dict[str, Any]) -> list[Received]:
    """Return the messages of a PullResult."""
    return [Received.of(tree) for tree in pulled["messages"]]


class Reader:
    """Reads whole topics, and moves no group's offsets."""

    def __init__(self, driver: Driver, name_server: str) -> None:
        self.consumer: JavaObject = driver.old_consumer(name_server, "compat-reader")

    def queues(self, topic: str) -> list[Queue]:
        """Return the topic's readable queues in their order; raises JavaError for an unknown topic."""
        found = self.consumer.call("fetchSubscribeMessageQueues", topic)
        return sorted((Queue.of(tree) for tree in found), key=lambda queue: (queue.broker, queue.id))

    def read(self, topic: str, count: int, *, within: float = PATIENCE_SECONDS) -> list[Received]:
        """Return all messages of a topic, queue by queue, as soon as it is there and has at least `count`."""
        queues: list[Queue] = []

        def has_come() -> bool:
            queues[:] = queues or self._known_queues(topic)
            return sum(int(self.consumer.call("maxOffset", queue)) for queue in queues) >= count

        wait_until(has_come, within=within)
        return [message for queue in queues for message in self._read_queue(queue)]

    def _known_queues(self, topic: str) -> list[Queue]:
        try:
            return self.queues(topic)
        except JavaError as error:
            if "No topic route info" in str(error):
                return []
            raise

    def _read_queue(self, queue: Queue) -> list[Received]:
        found: list[Received] = []
        at = self.consumer.call("minOffset", queue)
        while at < self.consumer.call("maxOffset", queue):
            pulled = self.consumer.call("pull", queue, "*", at, BATCH)
            found += messages_of(pulled)
            assert pulled["next"] > at, pulled["status"]
            at = pulled["next"]
        return found
