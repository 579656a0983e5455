"""JSON shapes of transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple, get_args

from msgspec import Meta, Struct
from msgspec.structs import asdict

from broker_core.client.admin.transactions import HalfMessage
from broker_core.protocol.message import StoredMessage
from console.lag.shapes import MissingBroker
from console.moments import Moment, rfc3339
from gateway.control.message_shapes import StoredBody, body_of

State = Literal["open", "given_up", "committed", "rolled_back", "unknown"]

STATES: Final = list(get_args(State))


class Asked(NamedTuple):
    """How often the producers of a transaction were asked, and when last (ms); None for what is not known."""

    checks: int | None
    at: int | None

    @classmethod
    def of_open(cls, newest: HalfMessage) -> Asked:
        """Return it for an open transaction, of which this is the newest record."""
        return cls(newest.all_checks, newest.stored_at if newest.checks else None)


class TransactionRow(Struct, kw_only=True):
    """A message whose transaction is open, or was given up."""

    transaction_id: Annotated[
        str | None,
        Meta(description="For a decision; null if the half message is not stored any more, or could not be looked up."),
    ]
    message_id: str
    topic: str
    group: Annotated[str, Meta(description="The producer group, whose members the broker asks.")]
    broker: str
    state: Annotated[
        State, Meta(description="`given_up`: checked too often without a decision; it can still be committed.")
    ]
    keys: Sequence[str]
    tag: str | None
    born_at: Moment
    born_host: str
    prepared_at: Annotated[
        Moment | None, Meta(description="When its first half message was stored; null: not known any more.")
    ]
    checks: Annotated[
        int | None, Meta(description="How often its group was asked, also before it was given up; null: unknown.")
    ]
    checked_at: Annotated[Moment | None, Meta(description="When it was asked last; null: never, or unknown.")]
    next_check_at: Annotated[
        Moment | None,
        Meta(description="Estimated from the broker's settings; null: unknown, or while no producer is connected."),
    ]
    producer_connected: Annotated[
        bool | None, Meta(description="Whether a member of the group is connected to the broker; null: unknown.")
    ]
    body_bytes: int


class TransactionRows(Struct, frozen=True, kw_only=True):
    """Open transactions, the oldest first, or those given up, the newest first; not those of brokers in `missing`."""

    items: list[TransactionRow]
    next_cursor: str | None
    missing: list[MissingBroker]
    partial: Annotated[
        list[str],
        Meta(description="Brokers with more records than are read: some may be missing here, or decided by now."),
    ]


class TransactionDetail(TransactionRow, kw_only=True):
    """The whole of a transaction's message."""

    body: StoredBody | None
    properties: Mapping[str, str] | None
    hidden: Annotated[
        str | None, Meta(description="Why body and properties are null: a right is missing, or they are.")
    ]


class TransactionChecked(Struct, frozen=True, kw_only=True):
    """A transaction that is checked from the beginning."""

    message_id: str
    topic: str
    group: str
    broker: str
    producer_connected: Annotated[
        bool | None, Meta(description="Whether there is a producer to ask now; without one the check waits for it.")
    ]


def row_of(half: HalfMessage, transaction_id: str | None, state: State, asked: Asked) -> TransactionRow:
    """Return a row; what the settings of the broker and its producers tell is added later."""
    return TransactionRow(
        transaction_id=transaction_id,
        message_id=half.message_id,
        topic=half.topic,
        group=half.group,
        broker=half.broker_name,
        state=state,
        keys=half.keys,
        tag=half.tag,
        born_at=rfc3339(half.born_at),
        born_host=half.born_host,
        prepared_at=None if half.began_at is None else rfc3339(half.began_at),
        checks=asked.checks,
        checked_at=None if asked.at is None else rfc3339(asked.at),
        next_check_at=None,
        producer_connected=None,
        body_bytes=half.body_bytes,
    )


def detail_of(row: TransactionRow, message: StoredMessage | None, *, hidden: str | None) -> TransactionDetail:
    """Return the whole; if `hidden` says why, without body and properties."""
    shown = None if hidden else message
    return TransactionDetail(
        **asdict(row),
        body=None if shown is None else body_of(shown),
        properties=None if shown is None else shown.properties,
        hidden=hidden,
    )
