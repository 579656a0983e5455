"""The lists of groups and topics as the sampler published them last, decoded once for each of them in a process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Generic, TypeVar

import msgspec
import redis
from msgspec import Struct

from console import live
from console.lag.shapes import GroupList, GroupSummary, TopicList, TopicState

L = TypeVar("L", GroupList, TopicList)
R = TypeVar("R", GroupSummary, TopicState)

_log = logging.getLogger(__name__)


class _Published(Struct, Generic[L]):
    subject: str
    seq: int
    at: str
    data: L


@dataclass(frozen=True)
class Kept(Generic[R]):
    """One list: its number, when it was published, its rows in the order of their names."""

    seq: int
    at: str
    as_of: str
    """When its brokers were asked."""
    items: list[R]

    @cached_property
    def by_name(self) -> Mapping[str, R]:
        """The rows by name."""
        return {row.name: row for row in self.items}


_GROUPS: Final = msgspec.json.Decoder(_Published[GroupList])
_TOPICS: Final = msgspec.json.Decoder(_Published[TopicList])


def decoded_groups(kept: bytes) -> Kept[GroupSummary] | None:
    """Return a published list of groups; None if a process of another version published it."""
    return _decoded(_GROUPS, kept)


def decoded_topics(kept: bytes) -> Kept[TopicState] | None:
    """Return a published list of topics; None if a process of another version published it."""
    return _decoded(_TOPICS, kept)


def _decoded(decoder: msgspec.json.Decoder[_Published[L]], kept: bytes) -> Kept[R] | None:
    try:
        event = decoder.decode(kept)
    except msgspec.ValidationError as error:
        _log.warning("a published list could not be read: %s", error)
        return None
    return Kept(event.seq, event.at, event.data.at, event.data.items)  # type: ignore[arg-type]


class _Lists(Generic[R]):
    """The last list of each cluster; a request costs a question for its number while there is no newer one."""

    def __init__(self, decode: object) -> None:
        self._decode = decode
        self._turn = threading.Lock()
        self._kept: dict[str, Kept[R]] = {}

    def find(self, subject: str, store: redis.Redis) -> Kept[R] | None:
        """Return the newest list of the last minute, or None; raise RedisError."""
        pipe = store.pipeline(transaction=False)
        pipe.get(live.seq_key(subject))
        pipe.exists(live.state_key(subject))
        number, exists = pipe.execute()
        if not exists:
            self._kept.pop(subject, None)
            return None
        with self._turn:
            known = self._kept.get(subject)
            if known is not None and known.seq == int(number or 0):
                return known
            text = store.get(live.state_key(subject))
            found: Kept[R] | None = None if text is None else self._decode(text)  # type: ignore[operator]
            if found is None:
                self._kept.pop(subject, None)
            else:
                self._kept[subject] = found
            return found


_groups: Final[_Lists[GroupSummary]] = _Lists(decoded_groups)
_topics: Final[_Lists[TopicState]] = _Lists(decoded_topics)


def find_groups(cluster: str, store: redis.Redis) -> Kept[GroupSummary] | None:
    """Return the groups of a cluster as they were published in the last minute, or None; raise RedisError."""
    return _groups.find(live.groups(cluster), store)


def find_topics(cluster: str, store: redis.Redis) -> Kept[TopicState] | None:
    """Return the topics of a cluster as they were published in the last minute, or None; raise RedisError."""
    return _topics.find(live.topics(cluster), store)
