"""Finds the route of a path in the data plane; it splits the path instead of matching patterns (hot path)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal, NamedTuple

from broker_core.client.admin.groups import is_system_group
from broker_core.client.admin.topics import TopicKind, kind_of
from broker_core.protocol.topics import MAX_GROUP_NAME, MAX_TOPIC_NAME, PLAIN_GROUP_NAME, is_topic_name
from console.accounts.rights import Resource
from gateway.auth import Principal
from gateway.problems import FORBIDDEN, GROUP_NOT_FOUND, MESSAGE_ILLEGAL, TOPIC_NOT_FOUND, ProblemError

Action = Literal["produce", "receive", "ack", "nack", "extend", "commit", "rollback"]

_PREFIX: Final = "/api/v1/clusters/"
_LEASE_ACTIONS: Final[dict[str, Action]] = {"receive": "receive", "ack": "ack", "nack": "nack", "extend": "extend"}
_DECISIONS: Final[dict[str, Action]] = {"commit": "commit", "rollback": "rollback"}
_NAMES_KEPT: Final = 4096
_LONGEST_KEPT: Final = 512  # characters of a path: longer than any with valid names
SOCKETS: Final = frozenset({"/ws/v1/produce", "/ws/v1/consume"})


class Route(NamedTuple):
    """The action and the names in the path of a request; the names are not checked yet."""

    action: Action
    cluster: str
    topic: str
    group: str = ""
    transaction: str = ""
    """The id of the transaction to end, which names its topic."""


def find_route(method: str, path: str) -> Route | None:
    """Return the route of a request for the data plane, or None for one of the control plane.

    `path` is percent-decoded. A GET on the path for producing belongs to the control plane, which browses messages;
    the lease actions belong to the data plane with any method.
    """
    if not path.startswith(_PREFIX):
        return None
    # The path of a transaction comes once.
    is_kept = len(path) <= _LONGEST_KEPT and "/transactions/" not in path
    return _route_of(method, path) if is_kept else _route(method, path)


def _route(method: str, path: str) -> Route | None:
    parts = path[len(_PREFIX) :].split("/")
    if len(parts) == 3:
        transaction, _, verb = parts[2].rpartition(":")
        if parts[1] == "transactions" and transaction and verb in _DECISIONS:
            return Route(_DECISIONS[verb], parts[0], "", transaction=transaction)
    elif len(parts) == 4:
        cluster, topics, topic, messages = parts
        if method == "POST" and topics == "topics" and messages == "messages":
            return Route("produce", cluster, topic)
    elif len(parts) == 5 and parts[1] == "groups" and parts[3] == "topics":
        topic, colon, verb = parts[4].rpartition(":")
        action = _LEASE_ACTIONS.get(verb)
        if colon and action is not None:
            return Route(action, parts[0], topic, parts[2])
    return None


_route_of = lru_cache(maxsize=_NAMES_KEPT)(_route)


def check_topic(name: str) -> None:
    """Raise TOPIC_NOT_FOUND for a name that no topic can have."""
    if not is_topic_name(name):
        raise ProblemError(
            TOPIC_NOT_FOUND,
            f"{name[:150]!r} is not a topic name: 1 to {MAX_TOPIC_NAME} letters, digits, '_', '-', '%' or '|'.",
        )


def check_target(topic: str) -> None:
    """Raise TOPIC_NOT_FOUND for a name that no topic can have, MESSAGE_ILLEGAL for a topic of brokers."""
    if len(topic) > MAX_TOPIC_NAME or not _is_target(topic):
        check_topic(topic)
        raise ProblemError(MESSAGE_ILLEGAL, f"The name {topic!r} is reserved by brokers; nothing can be sent there.")


def check_group(name: str) -> None:
    """Raise GROUP_NOT_FOUND for a name that users may not give to a consumer group."""
    if len(name) > MAX_GROUP_NAME or not _is_group(name):
        raise ProblemError(
            GROUP_NOT_FOUND, f"{name[:150]!r} is not a group name: 1 to {MAX_GROUP_NAME} letters, digits, '_' or '-'."
        )


def check_consumer(principal: Principal, topic: str, group: str) -> None:
    """Raise a problem unless the names are valid and `principal` may consume the topic with the group.

    No token may consume the topics and groups that brokers and the system use internally, whatever its scopes.
    """
    if len(topic) > MAX_TOPIC_NAME or not _is_topic(topic):
        check_topic(topic)
    check_group(group)
    principal.require("consume", Resource("topic", topic), group=group)
    if principal.token_id is not None and _are_internal(topic, group):
        raise ProblemError(FORBIDDEN, f"Topic {topic!r} or group {group!r} is internal; no token may consume it.")


# Names are remembered, not checked at each request; longer ones than names can be are never passed, nor kept.
@lru_cache(maxsize=_NAMES_KEPT)
def _is_target(topic: str) -> bool:
    return is_topic_name(topic) and kind_of(topic) is not TopicKind.SYSTEM


_is_topic = lru_cache(maxsize=_NAMES_KEPT)(is_topic_name)


@lru_cache(maxsize=_NAMES_KEPT)
def _are_internal(topic: str, group: str) -> bool:
    return kind_of(topic) is TopicKind.SYSTEM or is_system_group(group)


@lru_cache(maxsize=_NAMES_KEPT)
def _is_group(name: str) -> bool:
    return PLAIN_GROUP_NAME.fullmatch(name) is not None
