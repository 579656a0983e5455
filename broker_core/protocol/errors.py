"""Every way in which bytes from the wire can be wrong.

::

    ProtocolError
     ├─ FrameError               the stream can no longer be cut; its connection must close
     │   ├─ FrameTooLarge
     │   └─ MalformedFrame
     ├─ HeaderError
     │   ├─ MalformedHeader      the header is not a header, or a field is not what its type says
     │   └─ MissingField         a field without which the request means nothing is absent
     ├─ MalformedBody            a JSON body is not what its type says
     └─ MessageError             one message, or a part of it, cannot be read or written
         ├─ MalformedRecord
         ├─ MalformedProperties
         ├─ MalformedBatch
         ├─ MalformedMessageId
         ├─ MalformedHost
         ├─ UnknownCompression
         └─ MalformedCompression
"""

from __future__ import annotations

from broker_core.errors import GantryError


class ProtocolError(GantryError):
    """Bytes do not follow the protocol."""


class FrameError(ProtocolError):
    """The stream cannot be cut any further; `head` holds the first bytes that are not a frame."""

    def __init__(self, message: str, *, head: bytes = b"") -> None:
        super().__init__(message)
        self.head = head


class FrameTooLarge(FrameError):
    """A frame announces more bytes than one frame may have."""

    def __init__(self, size: int, limit: int, *, head: bytes = b"") -> None:
        super().__init__(f"a frame of {size} bytes is larger than the limit of {limit}", head=head)
        self.size = size
        self.limit = limit


class MalformedFrame(FrameError):
    """A frame's length word, header length or serializer cannot be true."""


class HeaderError(ProtocolError):
    """A header, or one of its fields, cannot be used."""


class MalformedHeader(HeaderError):
    """Raised when a header cannot be read, or a field's text is not of the field's type."""


class MissingField(HeaderError):
    """Raised when a header lacks a field that the request needs."""

    def __init__(self, header: str, field: str) -> None:
        super().__init__(f"{header}: the field {field} is missing")
        self.header = header
        self.field = field


class MalformedBody(ProtocolError):
    """Raised when a JSON body cannot be read as the type it should be."""


class MessageError(ProtocolError):
    """One message, or a part of it, breaks the rules of its format."""


class MalformedRecord(MessageError):
    """Bytes that are not a whole, sound stored message; `position` is where in the buffer it should begin."""

    def __init__(self, reason: str, *, position: int = 0) -> None:
        super().__init__(f"record at byte {position}: {reason}")
        self.reason = reason
        self.position = position


class MalformedProperties(MessageError):
    """Message properties that the property string cannot carry."""


class MalformedBatch(MessageError):
    """A body that is not a sequence of batch entries."""


class MalformedMessageId(MessageError):
    """Text that is not a message id of the expected kind."""


class MalformedHost(MessageError):
    """Bytes or text that are not an IP address with a port."""


class UnknownCompression(MessageError):
    """A compressor number in the sys flag that nobody has defined."""


class MalformedCompression(MessageError):
    """A body that does not unpack with the compressor its sys flag names, or unpacks to more than allowed."""
