"""The options of ``format("rocketmq")`` for writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from broker_core.client.config import MAX_BODY_BYTES
from broker_core.protocol.signature import Credentials
from broker_core.remoting import ClientTls
from broker_core.spark import option_values as values
from broker_core.spark.errors import BadOption, BadUse
from broker_core.spark.options import OPTIONS, WIRE_OPTIONS, Option, known_options, take_wire_place
from broker_core.spark.wire_place import WirePlace


class QueueSelector(StrEnum):
    """How the queue of a message is chosen."""

    ROUND_ROBIN = "roundRobin"
    """Batch by batch, the next queue."""
    KEY = "key"
    """By the hash of the first key, as Java's producers do; without a key by ``roundRobin``."""
    SAME = "same"
    """The queue in the column `queue_id`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkOptions:
    """Where and how to write."""

    name_servers: tuple[str, ...]
    account: Credentials | None = None
    """Signs the requests; from the options accessKey, secretKey and securityToken."""
    tls: ClientTls | None = None
    """How to connect with TLS, from the options that begin with tls; None: in plaintext."""
    topic: str | None = None
    """For rows that name none in a column `topic`."""
    brokers: tuple[str, ...] = ()
    """Write to queues of these brokers only; all by default."""
    queue_selector: QueueSelector | None = None
    """None: ``same`` with a column `queue_id`, else ``roundRobin``."""
    batch_bytes: int = 1 << 20
    messages_per_second: int | None = None
    """Of each task."""
    copy_properties: bool = False
    """The column `properties` has those of messages that were read."""
    provenance: bool = False
    replay_id: str | None = None
    """Makes unique ids from the content of a batch, so that a batch that is sent again is recognised."""
    send_timeout_ms: int = 10_000
    retries: int = 10

    @property
    def wire_place(self) -> WirePlace:
        """How to reach the cluster."""
        return WirePlace(self.name_servers, self.account, self.tls)


def parse_sink_options(given: Mapping[str, str]) -> SinkOptions:
    """Return the options; raises UnknownOption with the nearest name, or BadOption with the expected form."""
    of_reading = {option.name.lower() for option in OPTIONS} - {option.name.lower() for option in SINK_OPTIONS}
    for name, text in given.items():
        if name.lower() == "store":
            raise BadOption(name, text, "a store is written by its broker only; give nameServer (host:port)")
        if name.lower() in of_reading:
            raise BadOption(name, text, "is an option of reading")
    fields: dict[str, Any] = {
        option.field: option.read(option.name, text) for option, text in known_options(given, SINK_OPTIONS)
    }
    if not fields.get("name_servers"):
        raise BadUse("give nameServer (host:port), the cluster to write to")
    take_wire_place(fields)
    options = SinkOptions(**fields)
    if options.batch_bytes > MAX_BODY_BYTES:
        raise BadOption("batchBytes", options.batch_bytes, f"brokers accept at most {MAX_BODY_BYTES}")
    if options.provenance and options.replay_id is None:
        raise BadOption("provenance", "true", "needs replayId, which the copies name as their origin")
    return options


def _topic(name: str, text: str) -> str:
    topics = values.read_words(name, text)
    if len(topics) != 1:
        raise BadOption(name, text, "name one topic; for several, give each row its own in a column topic")
    return topics[0]


def _selector(name: str, text: str) -> QueueSelector:
    by_lower_name = {each.value.lower(): each for each in QueueSelector}
    if text.lower() not in by_lower_name:
        raise BadOption(name, text, f"expected one of {', '.join(QueueSelector)}")
    return by_lower_name[text.lower()]


def _number(name: str, text: str) -> int:
    if not values.is_number(text):
        raise BadOption(name, text, "expected a whole number")
    return int(text)


SINK_OPTIONS: Final[Sequence[Option]] = (
    Option("nameServer", "name_servers", values.read_servers),
    *WIRE_OPTIONS,
    Option("topic", "topic", _topic),
    Option("broker", "brokers", values.read_some_words),
    Option("queueSelector", "queue_selector", _selector),
    Option("batchBytes", "batch_bytes", values.read_count),
    Option("messagesPerSecond", "messages_per_second", values.read_count),
    Option("copyProperties", "copy_properties", values.read_flag),
    Option("provenance", "provenance", values.read_flag),
    Option("replayId", "replay_id", values.read_text),
    Option("sendTimeoutMs", "send_timeout_ms", values.read_count),
    Option("retries", "retries", _number),
)
"""All options of writing."""
