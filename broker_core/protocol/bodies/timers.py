"""Messages that wait for their delivery time, as a Gantry broker lists them. Times are ms since 1970."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """One message: `seq` is its number in the order of sending, `log_offset` where its record is, without the body."""

    seq: int = 0
    due: int = 0
    topic: str = ""
    queue_id: int = 0
    msg_id: str = ""
    keys: str | None = None
    tags: str | None = None
    stored_at: int = 0
    born_at: int = 0
    born_host: str = ""
    log_offset: int = 0
    body_size: int = 0


@dataclass(frozen=True, slots=True)
class TimerList:
    """A page; `is_last` when nothing follows it."""

    messages: list[WaitingMessage] = field(default_factory=list)
    is_last: bool = True
    after_due: int = -1
    after_seq: int = -1


@dataclass(frozen=True, slots=True)
class WaitingInTopic:
    """One topic: how many wait, and when the first and the last are due."""

    topic: str = ""
    waiting: int = 0
    first_due: int = 0
    last_due: int = 0


@dataclass(frozen=True, slots=True)
class DueInBucket:
    """How many messages of a topic are due within one bucket, which starts at `begin`."""

    begin: int = 0
    topic: str = ""
    due: int = 0


@dataclass(frozen=True, slots=True)
class TimerSummary:
    """Everything that waits, in figures; the last ones are of the last 24 hours, or since `since` if that is less."""

    topics: list[WaitingInTopic] = field(default_factory=list)
    buckets: list[DueInBucket] = field(default_factory=list)
    is_partial: bool = False
    delivered: int = 0
    late: int = 0
    worst_late_ms: int = 0
    recalled: int = 0
    since: int = 0
    max_delay_ms: int = 0
