"""A command: one request or one response, independent of its form on the wire (protocol/README.md#frames)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from broker_core.protocol import fields, header_binary, header_json
from broker_core.protocol.codes import (
    FLAG_ONE_WAY,
    FLAG_RESPONSE,
    SERIALIZER_BINARY,
    SERIALIZER_JSON,
    VERSION,
    LanguageCode,
)
from broker_core.protocol.frame import Frame, frame_parts

T = TypeVar("T")

_PYTHON = int(LanguageCode.PYTHON)


@dataclass(slots=True)
class Command:
    """The content of a frame. `ext_fields` is the header's text form; `header(kind)` reads it as a dataclass.

    `views` are the rest of the body of a response, which are sent from where they lie.
    """

    code: int
    ext_fields: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    opaque: int = 0  # the sender's number of the request, repeated in its response
    flag: int = 0
    remark: str | None = None
    language: int = _PYTHON
    version: int = VERSION
    serializer: int = SERIALIZER_JSON
    views: Sequence[bytes | memoryview] = ()
    read_body: object = field(default=None, compare=False, repr=False)  # what the body says, once somebody has read it

    @classmethod
    def request(cls, header: object, body: bytes = b"", *, one_way: bool = False, code: int | None = None) -> Command:
        """Return a request; its code is that of the header's class, unless one header has several codes (320, 361)."""
        code = fields.code_of(type(header)) if code is None else int(code)
        return cls(code, fields.encode(header), body, 0, FLAG_ONE_WAY if one_way else 0)

    @classmethod
    def response(cls, code: int, header: object | None = None, body: bytes = b"", remark: str | None = None) -> Command:
        """Return a response; its sender copies `opaque` and `serializer` from the request (`answering`)."""
        return cls(int(code), {} if header is None else fields.encode(header), body, 0, FLAG_RESPONSE, remark)

    @classmethod
    def decode(cls, frame: Frame) -> Command:
        """Return the command in a frame; raises MalformedHeader."""
        serializer, header, body = frame
        read = header_binary.decode if serializer == SERIALIZER_BINARY else header_json.decode
        code, ext_fields, opaque, flag, remark, language, version = read(header)
        return cls(code, ext_fields, body, opaque, flag, remark, language, version, serializer)

    def encode_parts(self) -> list[bytes | memoryview]:
        """Return the buffers of this command's frame; raises MalformedHeader or FrameTooLarge."""
        if self.serializer == SERIALIZER_BINARY:
            header = header_binary.encode(
                self.code, self.ext_fields, self.opaque, self.flag, self.remark, self.language, self.version
            )
            return frame_parts(self.serializer, header, self.body, self.views)
        size = self.body_size
        head = header_json.frame_head(
            self.code, self.ext_fields, self.opaque, self.flag, self.remark, self.language, self.version, size
        )
        if self.views:
            return [head, self.body, *self.views]
        return [head, self.body] if size else [head]

    def encode(self) -> bytes:
        """Return this command's frame; raises MalformedHeader or FrameTooLarge."""
        return b"".join(self.encode_parts())

    @property
    def body_size(self) -> int:
        """How many bytes the body has, with its views."""
        return len(self.body) + sum(map(len, self.views)) if self.views else len(self.body)

    @property
    def is_response(self) -> bool:
        """Whether this is the response to a request."""
        return self.flag & FLAG_RESPONSE != 0

    @property
    def is_one_way(self) -> bool:
        """Whether this request must not be answered."""
        return self.flag & FLAG_ONE_WAY != 0

    def answering(self, request: Command) -> Command:
        """Make this the response to `request`: same number, same header form. Returns itself."""
        self.opaque = request.opaque
        self.serializer = request.serializer
        self.flag |= FLAG_RESPONSE
        return self

    def header(self, kind: type[T]) -> T:
        """Return `ext_fields` as a header dataclass; raises MissingField or MalformedHeader."""
        return fields.decode(kind, self.ext_fields)
