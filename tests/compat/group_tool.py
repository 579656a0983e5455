"""`mqadmin` on one topic and the group that reads it: what tests of groups and of their offsets begin with."""

from __future__ import annotations

from tests.compat.conftest import Server
from tests.compat.driver import Driver, JavaError, PushConsumer
from tests.compat.java_values import JavaMessage, Queue
from tests.compat.printed import rows
from tests.support.wait import wait_until

MESSAGES = 6
# No member and no offset yet (206), or the name server does not yet know the group's retry topic (17).
_NOT_YET = (206, 17)


class GroupTool:
    """`mqadmin` on one topic of one server, its two queues, and the group that reads it."""

    def __init__(self, driver: Driver, server: Server, name: str) -> None:
        self.driver = driver
        self.server = server
        self.topic = name
        self.group = f"{name}_g"
        self("updateTopic", "-c", "test", "-t", name, "-r", "2", "-w", "2")

    def __call__(self, command: str, *words: str) -> str:
        return self.driver.mqadmin(command, "-n", self.server.name_server, *words)

    def send(self, count: int = MESSAGES, tag: str = "TagA") -> None:
        """Send messages to both queues in turn."""
        producer = self.driver.producer(self.server.name_server, f"{self.topic}_p")
        for each in range(count):
            producer.call("send", JavaMessage(self.topic, b"body-%d" % each, tag=tag), Queue(self.topic, each % 2))

    def consumer(self, tags: str = "*") -> PushConsumer:
        """Start a member of the group."""
        return self.driver.push_consumer(self.server.name_server, self.group, {self.topic: tags})

    def progress(self) -> list[list[str]]:
        """Return queue id, end, offset and lag of each queue of the topic, as far as the group has offsets."""
        try:
            printed = self("consumerProgress", "-g", self.group)
        except JavaError as error:
            if error.code in _NOT_YET:
                return []
            raise
        return [words[2:6] for words in rows(printed) if words[0] == self.topic]

    def is_at(self, *offsets: int) -> bool:
        """Say whether the group's offsets are these."""
        return [words[2] for words in self.progress()] == list(map(str, offsets))

    def wait_until_at(self, *offsets: int, by: PushConsumer) -> None:
        """Wait until the group's offsets are these; `by` tells its own now, and not only after ten seconds."""

        def has_told() -> bool:
            by.call("getDefaultMQPushConsumerImpl.persistConsumerOffset")
            return self.is_at(*offsets)

        wait_until(has_told)

    def read_and_gone(self) -> None:
        """Have the group read everything and leave."""
        self.send()
        consumer = self.consumer()
        self.wait_until_at(3, 3, by=consumer)
        consumer.shutdown()
