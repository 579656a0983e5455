"""The unmodified Java client 4.9.8 in one long-lived JVM, under the command of tests (``gantry.Driver``).

::

    with started_driver(tmp_path) as driver:
        producer = driver.producer(name_server)
        producer.call("send", JavaMessage("orders", b"hi", keys="k1"))
        consumer = driver.push_consumer(name_server, "billing", {"orders": "*"})
        wait_until(lambda: len(consumer.received) == 1)
        driver.mqadmin("topicList", "-n", name_server)

Every object is a client instance of its own inside the JVM, so that several members of one group can live there. One
that is to die like a killed process needs a driver of its own: `Driver.kill`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from tests.compat.java_build import CLIENT, JavaProject
from tests.compat.java_values import Received, in_json

ANSWER_SECONDS = 90.0
# Clients give a request 3 s by themselves, in which a process on a busy machine may not have its turn.
_PATIENCE_MS = 30_000
SMALL_JVM = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

_CLIENT = "org.apache.rocketmq.client"
PRODUCER = f"{_CLIENT}.producer.DefaultMQProducer"
PUSH_CONSUMER = f"{_CLIENT}.consumer.DefaultMQPushConsumer"
LITE_PULL_CONSUMER = f"{_CLIENT}.consumer.DefaultLitePullConsumer"
OLD_PULL_CONSUMER = f"{_CLIENT}.consumer.DefaultMQPullConsumer"
ADMIN = "org.apache.rocketmq.tools.admin.DefaultMQAdminExt"


class JavaError(Exception):
    """What a Java method threw: its class, its message, the broker's response code (-1: none), and all its causes."""

    def __init__(self, tree: Mapping[str, Any]) -> None:
        super().__init__("; behind it: ".join(tree["causes"]) + tree["output"])
        self.kind: str = tree["class"]
        self.message: str = tree["message"]
        self.code: int = tree["code"]
        self.causes: list[str] = tree["causes"]
        self.output: str = tree["output"]
        """What a command of `mqadmin` had printed until then."""


@dataclass
class JavaObject:
    """One object in the JVM."""

    driver: Driver
    name: str

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method, or a path of getters and a method with points between; raises JavaError.

        Arguments may be JSON values, JavaMessage, Queue, CALLBACK (the call then returns what the callback is told),
        ``selector(class name)``, ``tag(expression)``, ``made(class name, …)`` for an object made on the spot, and plain
        trees for beans. Maps whose keys are no texts are lists of pairs, both ways.
        """
        return self.driver.ask("call", self.name, method=method, arguments=[in_json(value) for value in arguments])

    def shutdown(self) -> None:
        """Leave in order, and forget the object."""
        self.driver.live.pop(self.name, None)
        self.call("shutdown")
        self.driver.ask("forget", self.name)


@dataclass(frozen=True)
class Behaviour:
    """How a listener answers (see Listener.java): the first `times` deliveries of a message, all of them if -1."""

    answer: str  # succeed, later, suspend, throw or nothing
    times: int = -1
    delay: int = 0
    wait: int = 0


@dataclass
class PushConsumer(JavaObject):
    """A push consumer; `events` are the deliveries to its listener so far, in its order."""

    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def received(self) -> list[Received]:
        """The messages that the listener was given, in its order."""
        return [Received.of(event["message"]) for event in list(self.events)]

    @property
    def bodies(self) -> list[bytes]:
        """Their bodies."""
        return [message.body for message in self.received]

    def behave(self, answer: str, *, times: int = -1, delay: int = 0, wait: int = 0) -> None:
        """Answer so from now on; what came before was answered otherwise."""
        self.driver.ask("behave", self.name, **asdict(Behaviour(answer, times, delay, wait)))

    def queues(self) -> set[tuple[str, str, int]]:
        """Return topic, broker and id of the queues that it reads now."""
        queues = self.call("getDefaultMQPushConsumerImpl.getRebalanceImpl.getProcessQueueTable.keySet")
        return {(queue["topic"], queue["brokerName"], queue["queueId"]) for queue in queues}


class Driver:
    """One JVM. `options` are the JVM's; `rebalance_ms` is how often its consumers share out their queues anew."""

    def __init__(
        self,
        folder: Path,
        *,
        project: JavaProject = CLIENT,
        options: tuple[str, ...] = SMALL_JVM,
        rebalance_ms: int = 1000,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        settings = (
            f"-Drocketmq.client.rebalance.waitInterval={rebalance_ms}",
            f"-Drocketmq.client.logRoot={folder}",
            "-Drocketmq.client.logLevel=WARN",
            f"-Duser.home={folder}",
        )
        self.folder = folder
        self.live: dict[str, JavaObject] = {}
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {}
        with (folder / "driver.log").open("ab") as log:
            self.process = subprocess.Popen(
                project.java("gantry.Driver", options=(*options, *settings)),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                cwd=folder,  # `mqadmin consumerStatus` leaves a file there
            )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._writing = threading.Lock()

    def ask(self, command: str, target: str = "", **arguments: Any) -> Any:
        """Have the JVM do something and return its answer; raises JavaError."""
        return self.later(command, target, **arguments).result(ANSWER_SECONDS)

    def later(self, command: str, target: str = "", **arguments: Any) -> Future[Any]:
        """Have the JVM do something that takes its time."""
        number = next(self._numbers)
        answer: Future[Any] = Future()
        self._waiting[number] = answer
        assert self.process.stdin is not None
        with self._writing:
            self.process.stdin.write(
                json.dumps({"id": number, "command": command, "target": target} | arguments) + "\n"
            )
            self.process.stdin.flush()
        return answer

    def mqadmin(self, *words: str) -> str:
        """Run a command of `mqadmin` in the JVM and return what it prints; raises JavaError (see its `output`)."""
        return cast("str", self.ask("mqadmin", words=words))

    # -- objects

    def new(self, kind: str, *arguments: Any, settings: Mapping[str, Any], **more: Any) -> JavaObject:
        """Make an object and keep it under a new name; it is not started."""
        made = PushConsumer if kind == PUSH_CONSUMER else JavaObject
        named = made(self, f"object-{next(self._numbers)}")
        settings = {name: in_json(value) for name, value in settings.items()}
        self.live[named.name] = named
        self.ask("new", named.name, **{"class": kind}, arguments=list(arguments), settings=settings)
        return named

    def client(self, kind: str, name_server: str, *arguments: Any, **settings: Any) -> JavaObject:
        """Make a client of RocketMQ, an instance of its own, with `settings` by the names of its setters."""
        instance = {
            "namesrvAddr": name_server,
            "instanceName": f"{self.process.pid}-{next(self._numbers)}",
            "mqClientApiTimeout": _PATIENCE_MS,
        }
        return self.new(kind, *arguments, settings=instance | settings)

    def producer(self, name_server: str, group: str = "compat-producer", **settings: Any) -> JavaObject:
        """Start a producer."""
        producer = self.client(PRODUCER, name_server, group, **({"sendMsgTimeout": _PATIENCE_MS} | settings))
        producer.call("start")
        return producer

    def admin(self, name_server: str, **settings: Any) -> JavaObject:
        """Start a DefaultMQAdminExt."""
        admin = self.client(ADMIN, name_server, **settings)
        admin.call("start")
        return admin

    def push_consumer(
        self,
        name_server: str,
        group: str,
        topics: Mapping[str, str | dict[str, str]],
        *,
        orderly: bool = False,
        start: str = "CONSUME_FROM_FIRST_OFFSET",
        behaviour: Behaviour | None = None,
        **settings: Any,
    ) -> PushConsumer:
        """Start a push consumer of `topics` (name to tag expression or selector); settings as setters.

        Its listener behaves as `behaviour` says from the first delivery on; without one it succeeds.
        """
        settings = {"consumeFromWhere": start, "persistConsumerOffsetInterval": 1000} | settings
        consumer = self.client(PUSH_CONSUMER, name_server, group, **settings)
        assert isinstance(consumer, PushConsumer)
        for topic, tags in topics.items():
            consumer.call("subscribe", topic, tags)
        self.ask("listen", consumer.name, orderly=orderly)
        if behaviour:
            self.ask("behave", consumer.name, **asdict(behaviour))
        consumer.call("start")
        return consumer

    def lite_consumer(self, name_server: str, group: str, **settings: Any) -> JavaObject:
        """Make a lite pull consumer; it is not started, so that it can subscribe first."""
        return self.client(LITE_PULL_CONSUMER, name_server, group, **settings)

    def old_consumer(self, name_server: str, group: str, **settings: Any) -> JavaObject:
        """Start a DefaultMQPullConsumer."""
        consumer = self.client(OLD_PULL_CONSUMER, name_server, group, **settings)
        consumer.call("start")
        return consumer

    def shutdown_clients(self) -> None:
        """Shut down every object that is still there, in the order in which they were made; raises JavaError."""
        for left in list(self.live.values()):
            left.shutdown()

    # -- the process

    def close(self) -> None:
        """End the JVM; its clients have no time to say goodbye."""
        self.kill()

    def kill(self) -> None:
        """End the JVM as ``kill -9`` does."""
        self.process.kill()
        self.process.wait()
        self._reader.join(5)
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # what nobody will read any more
            self.process.stdin.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._take(json.loads(line))
        for answer in self._waiting.values():
            answer.set_exception(EOFError(f"the JVM ended; see {self.folder / 'driver.log'}"))

    def _take(self, tree: dict[str, Any]) -> None:
        if "event" in tree:
            consumer = self.live.get(tree["event"])
            if isinstance(consumer, PushConsumer):
                consumer.events.append(tree)
            return
        answer = self._waiting.pop(tree["id"])
        if "error" in tree:
            answer.set_exception(JavaError(tree["error"]))
        else:
            answer.set_result(tree["result"])


@contextmanager
def started_driver(folder: Path, **options: Any) -> Iterator[Driver]:
    """Start a JVM and end it with the block."""
    driver = Driver(folder, **options)
    try:
        yield driver
    finally:
        driver.close()
