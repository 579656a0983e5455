"""Says why a broker or a name server did not answer, without error numbers and names of classes."""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Mapping
from typing import Final

from broker_core.client import errors as client
from broker_core.protocol.codes import RequestCode
from broker_core.remoting.errors import RemotingTimeout
from console.clusters.connections import ClusterNotFound, ClusterSilent

_NUMBER: Final = re.compile(r"\[Errno -?\d+\] ")
_NO_WAY: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH})

_REQUEST: Final = re.compile(r"request type (\d{1,9})\b")
_NO_LEASES: Final = "has no leases; RocketMQ 5 and Gantry have"
_LACKING: Final[Mapping[int, str]] = {
    **dict.fromkeys(
        (
            RequestCode.POP_MESSAGE,
            RequestCode.ACK_MESSAGE,
            RequestCode.BATCH_ACK_MESSAGE,
            RequestCode.PEEK_MESSAGE,
            RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
            RequestCode.NOTIFICATION,
            RequestCode.POLLING_INFO,
            RequestCode.POP_ROLLBACK,
            RequestCode.SET_MESSAGE_REQUEST_MODE,
        ),
        _NO_LEASES,
    ),
    RequestCode.QUERY_ASSIGNMENT: "does not share out queues; RocketMQ 5 and Gantry do",
    RequestCode.GET_TOPIC_CONFIG: "does not tell the settings of a single topic; RocketMQ 5 and Gantry do",
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: "does not tell the settings of a single group; RocketMQ 5 and Gantry do",
    RequestCode.GET_ALL_PRODUCER_INFO: "does not list its producers; RocketMQ 4.9.3, RocketMQ 5 and Gantry do",
    RequestCode.LITE_PULL_MESSAGE: "has no lite pull of its own; RocketMQ 5 and Gantry have",
}


def reason_of(error: BaseException, names: Mapping[str, str] | None = None) -> str:
    """Return the reason in words, e.g. ``broker-a at 127.0.0.1:10911 refused the connection``.

    `names` has the broker's name of each address that is known.
    """
    if isinstance(error, client.TimedOut):
        return _late(error, _peer(error, error.addr, names))
    if isinstance(error, client.Unreachable):
        return _unreachable(error, _peer(error, error.addr, names))
    if isinstance(error, client.MalformedAnswer):
        peer = _peer(error, error.addr, names)
        return _stranger(error.addr) if error.of_name_server else f"{peer} gave an answer that cannot be read"
    if isinstance(error, client.BrokerRefused):
        return _refused(error, _peer(error, error.addr, names))
    if isinstance(error, ClusterSilent):
        return f"the cluster did not answer within {error.seconds:g} s"
    if isinstance(error, ClusterNotFound):
        return f"no cluster is named {error.cluster!r}"
    if isinstance(error, client.ClientClosed):
        return "the connection to the cluster is closed"
    return _NUMBER.sub("", str(error))


def _peer(error: client.ClientError, address: str, names: Mapping[str, str] | None) -> str:
    if error.of_name_server:
        return f"name server {address}"
    name = (names or {}).get(address)
    return f"the broker at {address}" if name is None else f"{name} at {address}"


def _late(error: client.TimedOut, peer: str) -> str:
    if not error.was_sent:
        return f"the topic's brokers were not found within {error.timeout_ms / 1000:g} s"
    return f"{peer} did not answer within {error.timeout_ms / 1000:g} s"


def _unreachable(error: client.Unreachable, peer: str) -> str:
    """Name the operating system's error: the client's own texts contain its number."""
    causes = _causes(error)
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return f"{peer} refused the connection"
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return f"{peer} has a host name that nobody knows"
    if any(isinstance(cause, OSError) and cause.errno in _NO_WAY for cause in causes):
        return f"{peer} cannot be reached: no network leads there"
    if any(isinstance(cause, RemotingTimeout | TimeoutError) for cause in causes):
        return f"{peer} took no connection in time"
    if error.of_name_server and error.was_sent:
        return _stranger(error.addr)
    if error.was_sent:
        return f"{peer} closed the connection"
    return f"{peer} cannot be reached"


def _stranger(address: str) -> str:
    return f"{address} does not answer as a name server does: something else listens there"


def _refused(error: client.BrokerRefused, peer: str) -> str:
    if error.of_name_server and isinstance(error, client.NotSupported):
        return f"{error.addr} is a broker, or something else, but no name server"
    if isinstance(error, client.BrokerBusy):
        return f"{peer} is too busy to answer"
    if isinstance(error, client.NotSupported):
        return f"{peer} {_lacks(error.remark or '')}"
    return f"{peer} refused: {error.remark or 'it gave no reason'}"


def _lacks(remark: str) -> str:
    """Say what the broker cannot do, according to the request that its remark names."""
    found = _REQUEST.search(remark)
    return _LACKING.get(int(found[1]), f"does not serve requests of type {found[1]}") if found else "cannot do this"


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause = error.__cause__ or error.__context__
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found
