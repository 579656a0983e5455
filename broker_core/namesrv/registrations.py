"""The bodies of registrations, of which only the changed topics are decoded.

A broker sends all of its topics with every new one, and every half minute. Decoding each of them to a `TopicConfig`
costs five times as much as parsing the text, and delays all other requests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

from broker_core.protocol import fastjson
from broker_core.protocol.bodies import RegisterBrokerBody, TopicConfig, coder
from broker_core.protocol.bodies.registration import decode_registration

LOOSE_BYTES: Final = 256 * 1024
"""The limit on a registration that is not strict JSON, as of RocketMQ 5 with static topics: their queues are numbers as
keys. No other request is served while one is read, and anybody can send one."""

_WRAPPER: Final = "topicConfigSerializeWrapper"
_TABLE: Final = "topicConfigTable"

_Tree: TypeAlias = dict[Any, Any]


class RegistrationReader:
    """Reads the registrations of one connection, and keeps the topics of the last one."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, TopicConfig]] = {}

    def read(
        self, data: bytes, *, compressed: bool, check_topics: Callable[[int], None] = lambda _: None
    ) -> RegisterBrokerBody:
        """Return a decoded registration, as `decode_registration` does; raises MalformedBody, and LooseJsonTooLong.

        `check_topics` is called with how many topics it has before they are read, and may raise an error.
        """
        if compressed or not data:
            return decode_registration(data, compressed=compressed, check_topics=check_topics)
        tree = fastjson.loads(data, LOOSE_BYTES)
        table = _table_of(tree)
        if table is None:
            return coder.from_tree(RegisterBrokerBody, tree)
        check_topics(len(table))
        known = self._known
        changed = {name: topic for name, topic in table.items() if name not in known or known[name][0] != topic}
        body = coder.from_tree(RegisterBrokerBody, tree | {_WRAPPER: tree[_WRAPPER] | {_TABLE: changed}})
        wrapper = body.topic_config_serialize_wrapper
        read = wrapper.topic_config_table
        self._known = {name: (topic, read[name]) if name in changed else known[name] for name, topic in table.items()}
        topics = {name: config for name, (_, config) in self._known.items()}
        return replace(body, topic_config_serialize_wrapper=replace(wrapper, topic_config_table=topics))


def _table_of(tree: Any) -> _Tree | None:
    """Return the topics of a registration, or None for a tree of another shape."""
    wrapper = tree.get(_WRAPPER) if isinstance(tree, dict) else None
    table = wrapper.get(_TABLE) if isinstance(wrapper, dict) else None
    return table if isinstance(table, dict) else None
