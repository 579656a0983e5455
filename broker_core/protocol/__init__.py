"""The RocketMQ remoting protocol and its messages: converts bytes to objects and back; no sockets, no clocks.

The wire: `frame` splits the stream, `command` is one request or response, `headers` and `bodies` are its contents as
dataclasses, `fields` and `bodies.coder` convert those to text and back. Messages: `message`, `record`, `batch`.
"""

from broker_core.protocol.codes import LanguageCode, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import (
    FrameError,
    FrameTooLarge,
    HeaderError,
    MalformedBody,
    MalformedFrame,
    MalformedHeader,
    MissingField,
    ProtocolError,
)
from broker_core.protocol.frame import Frame, FrameReader

__all__ = [
    "Command",
    "Frame",
    "FrameError",
    "FrameReader",
    "FrameTooLarge",
    "HeaderError",
    "LanguageCode",
    "MalformedBody",
    "MalformedFrame",
    "MalformedHeader",
    "MissingField",
    "ProtocolError",
    "RequestCode",
    "ResponseCode",
]
