"""What tests hand to the Java client and get from it, and their form in JSON (Values.java)."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

CALLBACK: Final = {"callback": True}
"""Stands for the callback of an asynchronous call."""


@dataclass(frozen=True)
class Queue:
    """A queue of a broker."""

    topic: str
    id: int
    broker: str = "broker-a"

    @classmethod
    def of(cls, tree: Mapping[str, Any]) -> Queue:
        """Return the queue that Java told of."""
        return cls(tree["topic"], tree["queueId"], tree["brokerName"])


@dataclass(frozen=True)
class JavaMessage:
    """A message to send. `properties` may hold system properties, which the client itself would refuse."""

    topic: str
    body: bytes = b"hi"
    tag: str = ""
    keys: str = ""
    delay_level: int = 0
    wait: bool = True
    flag: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Received:
    """A message as a Java client got it; times in ms since 1970."""

    topic: str
    body: bytes
    tag: str | None
    keys: str | None
    queue: Queue
    queue_offset: int
    id: str
    offset_id: str
    reconsume_times: int
    flag: int
    sys_flag: int
    properties: Mapping[str, str]
    born_at: int
    stored_at: int
    tree: Mapping[str, Any] = field(repr=False, hash=False, compare=False)
    """Everything, as it came; a method that takes a received message takes this one."""

    @classmethod
    def of(cls, tree: Mapping[str, Any]) -> Received:
        """Return the message that Java told of."""
        properties = tree["properties"]
        return cls(
            topic=tree["topic"],
            body=base64.b64decode(tree["body"]),
            tag=properties.get("TAGS"),
            keys=properties.get("KEYS"),
            queue=Queue(tree["topic"], tree["queueId"], tree["brokerName"]),
            queue_offset=tree["queueOffset"],
            id=tree["msgId"],
            offset_id=tree["offsetMsgId"],
            reconsume_times=tree["reconsumeTimes"],
            flag=tree["flag"],
            sys_flag=tree["sysFlag"],
            properties=properties,
            born_at=tree["bornTimestamp"],
            stored_at=tree["storeTimestamp"],
            tree=tree,
        )


def selector(class_name: str) -> dict[str, str]:
    """Stand for a MessageQueueSelector of this class."""
    return {"selector": class_name}


def tag(expression: str) -> dict[str, str]:
    """Stand for a MessageSelector by tag."""
    return {"tag": expression}


def sql(expression: str) -> dict[str, str]:
    """Stand for a MessageSelector by SQL92."""
    return {"sql": expression}


def made(class_name: str, *arguments: Any, **settings: Any) -> dict[str, Any]:
    """Stand for an object that is made for the call."""
    return {"new": class_name, "arguments": [in_json(value) for value in arguments], "settings": settings}


def in_json(value: Any) -> Any:
    """Return a value in the form in which the JVM takes it."""
    match value:
        case JavaMessage():
            return _message(value)
        case Queue():
            return {"topic": value.topic, "brokerName": value.broker, "queueId": value.id}
        case Received():
            return value.tree
        case list() | tuple() | set():
            return [in_json(one) for one in value]
        case bytes():
            return base64.b64encode(value).decode()
    return value


def _message(message: JavaMessage) -> dict[str, Any]:
    properties = dict(message.properties)
    if message.tag:
        properties["TAGS"] = message.tag
    if message.keys:
        properties["KEYS"] = message.keys
    if message.delay_level:
        properties["DELAY"] = str(message.delay_level)
    properties["WAIT"] = str(message.wait).lower()
    body = base64.b64encode(message.body).decode()
    return {"topic": message.topic, "body": body, "flag": message.flag, "properties": properties}
