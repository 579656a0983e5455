"""The shapes of requests and answers, and the problems for invalid requests, with JSON pointers."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from gateway.data.faults import json_fault, json_pointer, shape_fault
from gateway.problems import INVALID, MALFORMED, FieldError, ProblemError
from gateway.sql_filter import MOST_CHARACTERS, BadSql, parse_sql

Encoding = Literal["json", "text", "base64"]
Text = Annotated[str, Meta(min_length=1, max_length=255)]
Milliseconds = Annotated[int, Meta(ge=0, le=2**53)]
_LONGEST_TAGS: Final = 255
_EVERY_TAG: Final = "*"
_NO_SQL: Final = "An expression is required for the type 'sql'; '*', every message, is of the type 'tag'."


class Body(Struct, forbid_unknown_fields=True):
    """A message body inside JSON."""

    encoding: Encoding
    data: Raw


class Entry(Struct, forbid_unknown_fields=True):
    """One message to produce."""

    body: Body | UnsetType = UNSET
    entry_id: Text | None = None
    keys: list[Text] = []
    tag: Text | None = None
    properties: dict[str, str] = {}
    ordering_key: Text | None = None
    delay_ms: Milliseconds | None = None
    deliver_at: str | None = None


class Options(Struct, forbid_unknown_fields=True):
    """How the messages of one request are stored; `flush` "async" never waits for the disk."""

    atomic: bool = False
    flush: Literal["async", "sync"] | None = None
    timeout_ms: Annotated[int, Meta(ge=1, le=30_000)] = 3000


class ProduceRequest(Entry, forbid_unknown_fields=True):
    """One message, or a list of `messages` without the fields of a single one."""

    messages: Annotated[list[Entry], Meta(min_length=1)] | UnsetType = UNSET
    options: Options = msgspec.field(default_factory=Options)


class PrepareAnswer(Struct):
    """A message that waits for the decision on its transaction."""

    transaction_id: Annotated[str, Meta(description="For `:commit` and `:rollback`; the same for every process.")]
    message_id: str
    topic: str
    group: Annotated[str, Meta(description="The producer group, whose members the broker asks about it.")]
    stored_at: str
    check_after_ms: Annotated[
        int | None,
        Meta(description="When the broker asks first; null: `transactionTimeOut` of the broker, usually 6 s."),
    ]


class DecideRequest(Struct, forbid_unknown_fields=True):
    """A decision on a transaction; with a reason it is recorded in the audit, as one that an operator makes."""

    reason: Annotated[str, Meta(min_length=1, max_length=1000)] | None = None


class DecideAnswer(Struct):
    """How a transaction ended."""

    transaction_id: str
    message_id: str
    topic: str
    group: str
    decision: Literal["committed", "rolled_back"]


class Filter(Struct, frozen=True, forbid_unknown_fields=True):
    """The messages to receive, by tag (``created || paid``) or by SQL92 over their properties (``amount > 100``)."""

    type: Literal["tag", "sql"] = "tag"
    expression: Annotated[str, Meta(min_length=1, max_length=MOST_CHARACTERS)] = _EVERY_TAG

    def check(self, at: str = "#/filter/expression") -> None:
        """Raise INVALID for SQL that does not compile, and for a list of no tags, which would bring every message."""
        if self.type == "sql":
            if self.expression == _EVERY_TAG:
                raise invalid(at, _NO_SQL)
            try:
                parse_sql(self.expression)
            except BadSql as error:
                raise invalid(at, str(error)) from None
        elif len(self.expression) > _LONGEST_TAGS:
            raise invalid(at, f"Must have at most {_LONGEST_TAGS} characters.")
        elif not self.expression.replace("||", "").strip():
            raise invalid(at, "The filter names no tag; leave it out, or send '*', for every message.")


EVERYTHING: Final = Filter()


Order = Literal["none", "fifo"]
"""fifo: no messages of a queue while one of it is on lease, so each queue is consumed in its order."""


class ReceiveRequest(Struct, forbid_unknown_fields=True):
    """What to lease, and for how long."""

    max_messages: Annotated[int, Meta(ge=1, le=32)] = 16
    wait_ms: Annotated[int, Meta(ge=0, le=30_000)] = 0
    lease_ms: Annotated[int, Meta(ge=1000, le=43_200_000)] = 30_000
    filter: Filter = EVERYTHING
    order: Order = "none"
    attempt_id: Annotated[str, Meta(min_length=1, max_length=128)] | None = None
    body_encoding: Literal["auto", "json", "text", "base64"] = "auto"


Receipts = Annotated[list[str], Meta(min_length=1)]


class AckRequest(Struct, forbid_unknown_fields=True):
    """Messages to acknowledge."""

    receipts: Receipts


class NackRequest(Struct, forbid_unknown_fields=True):
    """Messages that failed: to deliver again after a delay, or to move to the group's dead letters."""

    receipts: Receipts
    delay_ms: Annotated[int, Meta(ge=0, le=43_200_000)] = 0
    reason: Annotated[str, Meta(max_length=1000)] | None = None
    dead_letter: bool = False


class ExtendRequest(Struct, forbid_unknown_fields=True):
    """Leases to extend."""

    receipts: Receipts
    lease_ms: Annotated[int, Meta(ge=1000, le=43_200_000)] = 30_000


class Produced(Struct, omit_defaults=True):
    """The result of one message of a produce request."""

    entry_id: str
    status: Literal["stored", "stored_not_flushed", "unknown", "failed"]
    message_id: str | UnsetType = UNSET
    broker: str | UnsetType = UNSET
    queue_id: int | UnsetType = UNSET
    offset: int | str | UnsetType = UNSET
    stored_at: str | UnsetType = UNSET
    deliver_at: str | UnsetType = UNSET
    problem: dict[str, object] | UnsetType = UNSET


class ProduceAnswer(Struct):
    """The results in the order of the request."""

    results: list[Produced]
    stored: int
    failed: int


class Leased(Struct):
    """One message on lease."""

    message_id: str
    topic: str
    broker: str
    queue_id: int
    offset: int | str
    keys: list[str]
    tag: str | None
    ordering_key: str | None
    properties: dict[str, str]
    content_type: str | None
    body: Body
    born_at: str
    stored_at: str
    delivery_count: int
    first_delivered_at: str | None
    nack_reason: str | None
    receipt: str
    lease_expires_at: str


Reason = Literal["messages", "timeout", "incomplete", "draining", "ordering_locked"]


class UnheardBroker(Struct):
    """A broker that may have messages and was not asked, or did not answer."""

    broker: str
    reason: str


class ReceiveAnswer(Struct):
    """Leased messages, or why there are none."""

    messages: list[Leased]
    waited_ms: int
    reason: Annotated[
        Reason, Meta(description="`incomplete`: no message was found, and the brokers in `missing` did not tell.")
    ]
    missing: Annotated[
        list[UnheardBroker], Meta(description="Brokers that may have messages. Empty if there are messages.")
    ]


class Settled(Struct, omit_defaults=True):
    """The result of one receipt."""

    receipt: str
    status: Literal["acked", "already_acked", "nacked", "dead_lettered", "extended", "failed"]
    new_receipt: str | UnsetType = UNSET
    lease_expires_at: str | UnsetType = UNSET
    problem: dict[str, object] | UnsetType = UNSET


class SettleAnswer(Struct):
    """The results in the order of the request."""

    results: list[Settled]
    settled: int
    failed: int


_MOST_FAULTS: Final = 16
_T = TypeVar("_T")
_encode = msgspec.json.Encoder().encode
encode = _encode


def decoder(kind: type[_T]) -> msgspec.json.Decoder[_T]:
    """Return the decoder of a shape; create it once, at import."""
    return msgspec.json.Decoder(kind)


def decode(decode_as: msgspec.json.Decoder[_T], data: bytes) -> _T:
    """Return the request; raise MALFORMED if it is not JSON, and INVALID with a pointer if it has another shape."""
    try:
        return decode_as.decode(data)
    except msgspec.ValidationError as error:
        first = shape_fault(str(error), decode_as.type, data)
        faults = [FieldError(pointer, "INVALID", detail) for pointer, detail in _faults(first, decode_as, data)]
        raise ProblemError(INVALID, first[1], errors=faults) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProblemError(MALFORMED, f"The body {json_fault(error, data)}.") from None
    except RecursionError:
        raise ProblemError(MALFORMED, "The body is nested too deeply.") from None


def _faults(first: tuple[str, str], decode_as: msgspec.json.Decoder[_T], data: bytes) -> list[tuple[str, str]]:
    """Return the first fault, and that of each other member that is wrong by itself, in the order of the document."""
    try:
        members = msgspec.json.decode(data, type=dict[str, Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return [first]
    found = [first]
    for name, value in members.items():
        alone = b"{%b:%b}" % (_encode(name), value)
        place = json_pointer([name])
        try:
            decode_as.decode(alone)
        except msgspec.ValidationError as error:
            fault = shape_fault(str(error), decode_as.type, alone)
            # What is required and missing is not a fault of the member that stands alone here.
            if fault[0] not in (first[0], "#") and (fault[0] == place or fault[0].startswith(f"{place}/")):
                found.append(fault)
        if len(found) == _MOST_FAULTS:
            break
    return found


def invalid(pointer: str, detail: str) -> ProblemError:
    """Return the problem of one field at its pointer."""
    return ProblemError(INVALID, detail, errors=[FieldError(pointer, "INVALID", detail)])
