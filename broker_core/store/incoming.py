"""The argument of a put: made once, where the message arrives, and passed on unchanged until its record is written."""

from __future__ import annotations

from typing import NamedTuple, Self

from broker_core.protocol.errors import MessageError
from broker_core.protocol.message import Message
from broker_core.protocol.properties import format_properties
from broker_core.protocol.record import MessageOrigin
from broker_core.store.errors import MessageUnstorable


class Incoming(NamedTuple):
    """One message, or the messages of one batch, on the way into the log. `native/src/native.h` lists the fields in
    the same order.

    `text` are the properties as they are stored. For a batch, `body` is that of the request, each message has a flag of
    its own, and `text` goes behind each message's own properties. A text must not end with a zero character: such a
    record could not be told from a torn one.
    """

    topic: str
    queue_id: int
    body: bytes
    text: str
    flag: int
    sys_flag: int
    # The fields of a MessageOrigin, inlined: each send makes this value, and a second tuple would cost it 0.2 us.
    born_timestamp: int
    born_host: bytes
    store_timestamp: int
    store_host: bytes
    reconsume_times: int
    prepared_transaction_offset: int

    @property
    def origin(self) -> MessageOrigin:
        """Where the message comes from."""
        return MessageOrigin(
            self.born_timestamp,
            self.born_host,
            self.store_timestamp,
            self.store_host,
            self.reconsume_times,
            self.prepared_transaction_offset,
        )

    @classmethod
    def of(cls, message: Message, queue_id: int, origin: MessageOrigin) -> Self:
        """Return a message with its properties as text; raise MessageUnstorable for properties that have no text."""
        try:
            text = format_properties(message.properties)
        except MessageError as error:
            raise MessageUnstorable(str(error)) from error
        return cls(message.topic, queue_id, message.body, text, message.flag, message.sys_flag, *origin)
