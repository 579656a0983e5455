"""The body of a registration, of which only the topics that changed are encoded.

It names all topics, and the first send to each new one waits for it: encoding all of them would make every topic
dearer than the one before.
"""

from __future__ import annotations

from typing import Final

from broker_core.protocol import bodies, fastjson
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.routes import RegisterBrokerBody
from broker_core.protocol.bodies.topics import TopicConfig, TopicConfigSerializeWrapper

_TABLE: Final = b"{}"
_END: Final = b"}}"  # of the wrapper and of the body: names are in alphabetical order, and the table's is the last


class RegistrationBody:
    """Encodes the topics of one broker, and keeps the text of each until its settings are others."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[TopicConfig, bytes]] = {}

    def encode(self, wrapper: TopicConfigSerializeWrapper) -> bytes:
        """Return the bytes that `bodies.encode` makes of a RegisterBrokerBody with these topics."""
        table = wrapper.topic_config_table
        texts = [self._text(name, topic) for name, topic in table.items()]
        if len(self._texts) > len(table):
            self._texts = {name: text for name, text in self._texts.items() if name in table}
        empty = bodies.encode(RegisterBrokerBody(TopicConfigSerializeWrapper(wrapper.data_version)))
        return b"".join((empty.removesuffix(_TABLE + _END), b"{", b",".join(texts), b"}", _END))

    def _text(self, name: str, topic: TopicConfig) -> bytes:
        known = self._texts.get(name)
        if known is None or known[0] is not topic:
            known = self._texts[name] = (topic, fastjson.dumps({name: coder.to_tree(topic)})[1:-1])
        return known[1]
