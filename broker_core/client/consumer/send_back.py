"""Sending a message that was not handled back to the broker for redelivery (client/README.md#handling)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from broker_core.client.config import ProducerConfig
from broker_core.client.errors import NoRoute
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol import properties as names
from broker_core.protocol.headers.send import ConsumerSendMessageBackRequest
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.topics import is_retry_topic, retry_topic

_INNER_GROUP: Final = "CLIENT_INNER_PRODUCER"
_DEFAULT_MAX: Final = 16
_TIMEOUT_MS: Final = 5_000
_FIRST_DELAY_LEVEL: Final = 3


class SendBack:
    """Sends back messages of one group."""

    def __init__(self, session: Session, group: str, *, max_reconsume_times: int) -> None:
        self._session = session
        self._group = group
        self._max = _DEFAULT_MAX if max_reconsume_times < 0 else max_reconsume_times
        self._producer = Producer(session, _INNER_GROUP, ProducerConfig(create_topics=True))
        self._log = get_logger(__name__, f"group={group}")

    async def send_back(self, message: StoredMessage, broker_name: str, *, delay_level: int = 0) -> bool:
        """Make the broker deliver `message` again; return False if neither way worked.

        Delay level 0 means by retry count, below 0 a dead letter at once. If the broker refuses the message, a copy
        goes to the group's retry topic; not of a damaged message, whose stored bytes would become an intact body.
        """
        try:
            await self._ask_broker(message, broker_name, delay_level)
        except GantryError as error:
            self._log.warning("topic=%s: %s was not accepted back: %s", message.topic, message.message_id, error)
            return message.damage is None and await self.send_copy(message)
        return True

    async def send_copy(self, message: StoredMessage) -> bool:
        """Send a copy to the retry topic, where the broker makes it a dead letter once its retries are used up."""
        try:
            await self._producer.send(self.copy(message), timeout_ms=_TIMEOUT_MS)
        except GantryError as error:
            self._log.warning("topic=%s: %s cannot be retried: %s", message.topic, message.message_id, error)
            return False
        return True

    def copy(self, message: StoredMessage) -> Message:
        """Return the copy of `message` for the retry topic."""
        properties = dict(message.properties)
        properties.setdefault(names.RETRY_TOPIC, message.topic)
        properties.setdefault(names.ORIGIN_MESSAGE_ID, message.offset_id)
        properties.pop(names.TRAN_MSG, None)
        properties[names.RECONSUME_TIME] = str(message.reconsume_times + 1)
        properties[names.MAX_RECONSUME_TIMES] = str(self._max)
        properties[names.DELAY] = str(_FIRST_DELAY_LEVEL + message.reconsume_times)
        return Message(retry_topic(self._group), message.body, properties, message.flag)

    async def _ask_broker(self, message: StoredMessage, broker_name: str, delay_level: int) -> None:
        addr = self._session.routes.master(broker_name)
        if addr is None:
            raise NoRoute(message.topic, f"no master of broker {broker_name!r} is known")
        header = ConsumerSendMessageBackRequest(
            offset=message.log_offset,
            group=self._group,
            delay_level=delay_level,
            origin_msg_id=message.message_id,
            origin_topic=message.topic,
            max_reconsume_times=self._max,
        )
        await self._session.call(addr, header, timeout_ms=_TIMEOUT_MS)


def as_sent(message: StoredMessage) -> StoredMessage:
    """Return `message` under its original topic: a retried message comes from the group's retry topic."""
    topic = message.properties.get(names.RETRY_TOPIC)
    if topic is None or not is_retry_topic(message.topic):
        return message
    return replace(message, topic=topic)
