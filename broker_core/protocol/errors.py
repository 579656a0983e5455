"""All errors in bytes from the wire.

::

    ProtocolError
     ├─ FrameError               the stream cannot be split into frames any more; close the connection
     │   ├─ FrameTooLarge
     │   └─ MalformedFrame
     ├─ MalformedStream          a replication stream cannot be read any further; close the connection
     ├─ HeaderError
     │   ├─ MalformedHeader      the header cannot be read, or a field does not match its type
     │   └─ MissingField         a required field is missing
     ├─ MalformedBody            a JSON body does not match its type
     │   └─ LooseJsonTooLong     it is not strict JSON, and too long to be read as Java's dialect
     └─ MessageError             one message, or a part of it, cannot be read or written
         ├─ MalformedRecord
         ├─ MalformedProperties
         ├─ MalformedBatch
         ├─ MalformedMessageId
         ├─ MalformedHandle
         ├─ MalformedHost
         ├─ UnknownCompression
         └─ MalformedCompression
"""

from __future__ import annotations

from broker_core.errors import GantryError


class ProtocolError(GantryError):
    """Bytes do not follow the protocol."""


class FrameError(ProtocolError):
    """The stream cannot be split any further; `head` holds the first bytes that are not a frame."""

    def __init__(self, message: str, *, head: bytes = b"") -> None:
        super().__init__(message)
        self.head = head


class FrameTooLarge(FrameError):
    """A frame announces more bytes than the limit."""

    def __init__(self, size: int, limit: int, *, head: bytes = b"") -> None:
        super().__init__(f"a frame of {size} bytes is larger than the limit of {limit}", head=head)
        self.size = size
        self.limit = limit


class MalformedFrame(FrameError):
    """The length, header length or serializer of a frame is impossible."""


class MalformedStream(ProtocolError):
    """Bytes that no peer of a replication stream sends; the message names them."""


class HeaderError(ProtocolError):
    """A header, or one of its fields, cannot be used."""


class MalformedHeader(HeaderError):
    """Raised when a header cannot be read, or a field's text does not match its type."""


class MissingField(HeaderError):
    """Raised when a header lacks a field that the request needs."""

    def __init__(self, header: str, field: str) -> None:
        super().__init__(f"{header}: the field {field} is missing")
        self.header = header
        self.field = field


class MalformedBody(ProtocolError):
    """Raised when a JSON body cannot be read as its type."""


class LooseJsonTooLong(MalformedBody):
    """A text that is not strict JSON, of more bytes than are read in the dialect of Java peers."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"{size} bytes that are not strict JSON, of which at most {limit} are read")
        self.size = size
        self.limit = limit


class MessageError(ProtocolError):
    """A message, or a part of it, violates its format."""


class MalformedRecord(MessageError):
    """Bytes that are not a complete, intact stored message; `position` is where in the buffer it should start."""

    def __init__(self, reason: str, *, position: int = 0) -> None:
        super().__init__(f"record at byte {position}: {reason}")
        self.reason = reason
        self.position = position


class MalformedProperties(MessageError):
    """Message properties that a property string cannot represent."""


class MalformedBatch(MessageError):
    """A body that is not a sequence of batch entries."""


class MalformedMessageId(MessageError):
    """Text that is not a message id of the expected kind."""


class MalformedHandle(MessageError):
    """Text that is not the recall handle of a delayed message."""


class MalformedHost(MessageError):
    """Bytes or text that are not an IP address with a port."""


class UnknownCompression(MessageError):
    """An undefined compressor number in the sys flag."""


class MalformedCompression(MessageError):
    """A body that the compressor in its sys flag cannot decompress, or that exceeds the limit when decompressed."""
