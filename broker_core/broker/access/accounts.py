"""Accounts and what each may do with topics and groups."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag, StrEnum
from typing import Final, NamedTuple, Self

from broker_core.protocol.addresses import AddressPattern
from broker_core.protocol.bodies.access import PlainAccessConfig
from broker_core.protocol.signature import SHORTEST_KEY
from broker_core.protocol.topics import (
    DEAD_LETTER_PREFIX,
    RETRY_PREFIX,
    WITH_ALL_TOPICS,
    is_dead_letter_topic,
    is_retry_topic,
)


class Right(IntFlag):
    """What an account may do; DENY outweighs the others."""

    DENY = 1
    PUB = 2
    SUB = 4


class Kind(StrEnum):
    """What a right is for."""

    TOPIC = "topic"
    GROUP = "group"


class Need(NamedTuple):
    """A right that a request needs: one of `rights` for a topic or a group."""

    kind: Kind
    name: str
    rights: Right
    is_listed_only: bool = False
    """Whether the right must be listed, since the account's default for topics is not meant for this one."""


_RIGHTS: Final[Mapping[str, Right]] = {
    "DENY": Right.DENY,
    "PUB": Right.PUB,
    "SUB": Right.SUB,
    "PUB|SUB": Right.PUB | Right.SUB,
    "SUB|PUB": Right.PUB | Right.SUB,
}


@dataclass(frozen=True, slots=True)
class Account:
    """One account. An administrator without a list of its own may do everything."""

    access_key: str
    secret_key: str = field(repr=False)
    is_admin: bool
    addresses: AddressPattern
    """Those from which requests with this account need no signature and no right."""
    defaults: Mapping[Kind, Right]
    listed: Mapping[tuple[Kind, str], Right]

    @classmethod
    def of(cls, config: PlainAccessConfig) -> Self:
        """Return the account that a file or a request describes; raises ValueError with the reason."""
        for name, key in (("accessKey", config.access_key), ("secretKey", config.secret_key)):
            if key is None or len(key) < SHORTEST_KEY:
                raise ValueError(f"the {name} must be longer than {SHORTEST_KEY - 1} characters")
        listed: dict[tuple[Kind, str], Right] = {}
        _list(listed, Kind.TOPIC, config.topic_perms or ())
        _list(listed, Kind.GROUP, config.group_perms or ())
        return cls(
            access_key=config.access_key or "",
            secret_key=config.secret_key or "",
            is_admin=config.admin,
            addresses=AddressPattern.parse(config.white_remote_address),
            defaults={
                Kind.TOPIC: _right(config.default_topic_perm or "DENY"),
                Kind.GROUP: _right(config.default_group_perm or "DENY"),
            },
            listed=listed,
        )

    def may(self, need: Need) -> bool:
        """Return whether the account has a right."""
        if self._may_do_all:
            return True
        owned = self.listed.get((need.kind, need.name))
        if owned is None:
            owned = Right.DENY if need.is_listed_only else self.defaults[need.kind]
        return not owned & Right.DENY and bool(owned & need.rights)

    def loses_by(self, changed: Account | None) -> bool:
        """Return whether a change of the account takes something from it, or may do so; None is its deletion.

        Another secret counts as a loss: whoever has only the old one is not to go on. A right that was listed must be
        listed still, since the default is not meant for every topic.
        """
        if changed is None or changed.secret_key != self.secret_key or changed.addresses != self.addresses:
            return True
        if changed._may_do_all:
            return False
        if self._may_do_all or (self.is_admin and not changed.is_admin):
            return True
        places = self.listed.keys() | changed.listed.keys()
        return any(_left(self.defaults[kind]) & ~_left(changed.defaults[kind]) for kind in Kind) or any(
            _left(self._right_at(place)) & ~_left(changed._right_at(place, self.listed)) for place in places
        )

    @property
    def _may_do_all(self) -> bool:
        return self.is_admin and not self.listed

    def _right_at(self, place: tuple[Kind, str], without_default: Collection[tuple[Kind, str]] = ()) -> Right:
        default = Right(0) if place in without_default else self.defaults[place[0]]
        return self.listed.get(place, default)


def _left(right: Right) -> Right:
    """Return what a right allows."""
    return Right(0) if right & Right.DENY else right


def need_topic(topic: str, rights: Right) -> Need:
    """Return the right for a topic; that for a group's retry or dead-letter topic is the group's own."""
    if is_retry_topic(topic):
        return need_group(topic.removeprefix(RETRY_PREFIX))
    if is_dead_letter_topic(topic):
        return need_group(topic.removeprefix(DEAD_LETTER_PREFIX))
    return Need(Kind.TOPIC, topic, rights, is_listed_only=topic in WITH_ALL_TOPICS)


def need_group(group: str) -> Need:
    """Return the right to consume as a group."""
    return Need(Kind.GROUP, group, Right.SUB)


def _list(found: dict[tuple[Kind, str], Right], kind: Kind, perms: Sequence[str]) -> None:
    """Add rights to those found; DENY stays, also where a group is listed by itself and by a topic of its own."""
    for text in perms:
        name, separator, right = (part.strip() for part in text.partition("="))
        if not separator or not name:
            raise ValueError(f"{text!r} is not a {kind} and its right, such as name=PUB|SUB")
        need = need_topic(name, Right.SUB) if kind is Kind.TOPIC else need_group(name)
        place = need.kind, need.name
        found[place] = _right(right) | found.get(place, Right(0)) & Right.DENY


def _right(text: str) -> Right:
    right = _RIGHTS.get(text.strip())
    if right is None:
        raise ValueError(f"{text!r} is not a right: DENY, PUB, SUB or PUB|SUB")
    return right
