"""The queues, offsets and members that changed at a Gantry broker (30104). Times are ms since 1970, 0 if unknown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from broker_core.protocol.bodies.groups import ConsumerConnection
from broker_core.protocol.errors import MalformedBody

SESSION_BYTES: Final = 8
_SESSION: Final = re.compile(rf"([0-9a-f]{{{2 * SESSION_BYTES}}})?")

QueueRange: TypeAlias = list[int]
"""First and next queue offset of a queue, and when its last message was stored."""
QueueProgress: TypeAlias = list[int]
"""Next offset of a queue, offset of the group, store time of the last message consumed, messages on lease (-1 without
leases), store time of the oldest message not consumed."""


@dataclass(frozen=True, slots=True)
class TopicRanges:
    """The write queues of a topic by their ids from 0 on; `kept_bytes` is None while it is still being summed."""

    queues: list[QueueRange] = field(default_factory=list)
    kept_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class GroupOffsets:
    """The topics in which a group has offsets; of those that it still reads, the read queues by their ids from 0 on."""

    topics: list[str] = field(default_factory=list)
    queues: dict[str, list[QueueProgress]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Progress:
    """What changed until `version` of a session: whole topics and groups, and the names of those that are gone."""

    session: str = ""
    version: int = 0
    is_last: bool = True
    """Whether nothing is left for another page."""
    topics_version: str = ""
    """Changes with the settings of topics."""
    groups_version: str = ""
    """Changes with the settings of groups."""
    topics: dict[str, TopicRanges] = field(default_factory=dict)
    groups: dict[str, GroupOffsets] = field(default_factory=dict)
    members: dict[str, ConsumerConnection] = field(default_factory=dict)
    """Of groups with native clients."""
    gone_topics: list[str] = field(default_factory=list)
    gone_groups: list[str] = field(default_factory=list)
    left_groups: list[str] = field(default_factory=list)
    """Groups that have no native client any more."""

    def __post_init__(self) -> None:
        """Raise MalformedBody for a session that no broker makes.

        Readers send it back in a request that they sign. A text of the broker's choice would be signed with it, and the
        signature would hold for any request whose values make up the same text.
        """
        if _SESSION.fullmatch(self.session) is None:
            raise MalformedBody(f"session is {self.session[:40]!r}, not {SESSION_BYTES} bytes in hexadecimal digits")
