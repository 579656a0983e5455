"""Says why a broker or a name server did not answer, without error numbers and names of classes."""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Mapping
from typing import Final

from broker_core.client import errors as client
from broker_core.protocol.codes import RequestCode
from broker_core.remoting.errors import ConnectionClosed, RemotingTimeout
from console.clusters.connections import ClusterNotFound, ClusterSilent
from console.moments import lasting

_NUMBER: Final = re.compile(r"\[Errno -?\d+\] ")
_NO_WAY: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH})

# As Gantry and 5.x refuse a delivery time; only Gantry tells how far away it would have been.
_TOO_FAR: Final = re.compile(r"bigger than the max delay (\d{1,15})ms(?:: (\d{1,15})ms asked for)?")
_REQUEST: Final = re.compile(r"request type (\d{1,9})\b")
_LEASE: Final = "lease", "does not support leases; RocketMQ 5 and Gantry do"
_SCHEDULED: Final = "scheduled", "does not list, move or recall messages that wait; Gantry does"
# By the type of a request: the ability that it belongs to (`console.brokers.abilities`), and the words for its lack.
_LACKING: Final[Mapping[int, tuple[str | None, str]]] = {
    **dict.fromkeys(
        (
            RequestCode.POP_MESSAGE,
            RequestCode.ACK_MESSAGE,
            RequestCode.BATCH_ACK_MESSAGE,
            RequestCode.PEEK_MESSAGE,
            RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
            RequestCode.NOTIFICATION,
            RequestCode.POLLING_INFO,
            RequestCode.END_POP_WAIT,
            RequestCode.SET_MESSAGE_REQUEST_MODE,
        ),
        _LEASE,
    ),
    **dict.fromkeys(
        (
            RequestCode.LIST_TIMERS,
            RequestCode.SUMMARIZE_TIMERS,
            RequestCode.RESCHEDULE_MESSAGE,
            RequestCode.RECALL_MESSAGE,
        ),
        _SCHEDULED,
    ),
    RequestCode.QUERY_ASSIGNMENT: (None, "does not assign queues to consumers; RocketMQ 5 and Gantry do"),
    RequestCode.GET_TOPIC_CONFIG: (
        "message_type",
        "does not keep the message types of topics; RocketMQ 5 and Gantry do",
    ),
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: (
        None,
        "does not report the settings of one group; RocketMQ 5 and Gantry do",
    ),
    RequestCode.GET_ALL_PRODUCER_INFO: (
        "producers",
        "does not list its producers; RocketMQ 4.9.3, RocketMQ 5 and Gantry do",
    ),
    RequestCode.LIST_TOPIC_PRODUCERS: (None, "does not tell which producers send to a topic; Gantry does"),
    RequestCode.GET_BROKER_CLUSTER_ACL_INFO: (None, "does not manage accounts in the way of RocketMQ 4.9; Gantry does"),
    RequestCode.PURGE_TOPIC: ("purge", "cannot purge a topic; Gantry can"),
    **dict.fromkeys(
        (
            RequestCode.CONTROLLER_ELECT_MASTER,
            RequestCode.CONTROLLER_GET_METADATA_INFO,
            RequestCode.CONTROLLER_GET_SYNC_STATE_DATA,
            RequestCode.CLEAN_BROKER_DATA,
            RequestCode.NAME_STATE,
            RequestCode.SET_REPLICA_POLICY,
            RequestCode.ADOPT_STATE,
        ),
        (None, "hosts no controller"),
    ),
    RequestCode.LITE_PULL_MESSAGE: (None, "does not support lite pull; RocketMQ 5 and Gantry do"),
}


# What the client says of TLS, and the same of a peer with its name.
_TLS: Final = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"the peer's certificate is not trusted: (.+)", "{peer} has a certificate that is not trusted: {why}"),
        (r"the peer's certificate is for another host: (.+)", "{peer} has a certificate for another host: {why}"),
        (r"the peer requires a client certificate()", "{peer} requires a client certificate"),
        (r"(?:the peer does not speak TLS|may speak no TLS)()", "{peer} does not seem to speak TLS"),
        (r"the peer speaks TLS; this side does not()", "{peer} accepts connections with TLS only"),
        (r"the peer refused the TLS session: (.+)", "{peer} refused the TLS session: {why}"),
        (r"TLS: (.+)", "{peer} cannot be reached with TLS: {why}"),
    )
)


def lacking_of(error: BaseException) -> str | None:
    """Return the ability (`console.brokers.abilities`) that a broker lacks, or None if it did not say so."""
    if not isinstance(error, client.NotSupported):
        return None
    if isinstance(error, client.FilterNotServed):
        return "sql"
    found = _REQUEST.search(error.remark or "")
    return _LACKING.get(int(found[1]), (None, ""))[0] if found is not None else None


def is_too_far(error: BaseException) -> bool:
    """Return whether a broker refused a message because it would wait longer than the broker keeps messages."""
    return isinstance(error, client.BrokerRefused) and _TOO_FAR.search(error.remark or "") is not None


def reason_of(error: BaseException, names: Mapping[str, str] | None = None) -> str:
    """Return the reason in words, e.g. ``broker-a at 127.0.0.1:10911 refused the connection``.

    `names` has the broker's name of each address that is known, besides the one that the error itself knows.
    """
    if isinstance(error, client.TimedOut):
        return _late(error, _peer(error, error.addr, names))
    if isinstance(error, client.OtherBroker):
        return replaced(error.addr, (names or {}).get(error.addr) or error.broker_name)
    if isinstance(error, client.Unreachable):
        return _unreachable(error, _peer(error, error.addr, names))
    if isinstance(error, client.MalformedAnswer):
        peer = _peer(error, error.addr, names)
        return _stranger(error.addr) if error.of_name_server else f"{peer} sent an answer that cannot be read"
    if isinstance(error, client.BrokerRefused):
        return _refused(error, _peer(error, error.addr, names))
    if isinstance(error, ClusterSilent):
        return f"the cluster did not answer within {error.seconds:g} s"
    if isinstance(error, ClusterNotFound):
        return f"no cluster is named {error.cluster!r}"
    if isinstance(error, client.ClientClosed):
        return "the connection to the cluster is closed"
    return _NUMBER.sub("", str(error))


def replaced(address: str, name: str | None) -> str:
    """Return the words for a broker that answers where another one, of this name, was."""
    return f"another broker answers at {address}" + ("" if name is None else f", where {name} was")


def _peer(error: client.ClientError, address: str, names: Mapping[str, str] | None) -> str:
    if error.of_name_server or error.at_name_server:
        return f"name server{'s' if ', ' in address else ''} {address}"
    name = (names or {}).get(address) or error.broker_name
    return f"the broker at {address}" if name is None else f"{name} at {address}"


def _late(error: client.TimedOut, peer: str) -> str:
    if not error.was_sent:
        return f"the topic's brokers were not found within {error.timeout_ms / 1000:g} s"
    return f"{peer} did not answer within {error.timeout_ms / 1000:g} s"


def _unreachable(error: client.Unreachable, peer: str) -> str:
    """Return the operating system's error in words: the client's own texts contain its number."""
    for pattern, words in _TLS:
        if (found := pattern.search(str(error))) is not None:
            return words.format(peer=peer, why=found[1])
    causes = _causes(error)
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return f"{peer} refused the connection"
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return f"{peer} has a host name that cannot be resolved"
    if any(isinstance(cause, OSError) and cause.errno in _NO_WAY for cause in causes):
        return f"{peer} cannot be reached: there is no route to it"
    if any(isinstance(cause, RemotingTimeout | TimeoutError) for cause in causes):
        return f"{peer} did not accept a connection in time"
    if error.of_name_server and any(isinstance(cause, ConnectionClosed) and cause.is_unreadable for cause in causes):
        return _stranger(error.addr)
    if error.was_sent:
        return f"{peer} closed the connection"
    return f"{peer} cannot be reached"


def _stranger(address: str) -> str:
    return f"{address} does not answer like a name server: another program listens there"


def _refused(error: client.BrokerRefused, peer: str) -> str:
    if error.of_name_server and isinstance(error, client.NotSupported):
        return f"{error.addr} is not a name server: it is a broker or another program"
    if isinstance(error, client.BrokerBusy):
        return f"{peer} is too busy to answer"
    if isinstance(error, client.FilterNotServed):
        return f"{peer} filters by tags alone: its enablePropertyFilter is off"
    if isinstance(error, client.NotSupported):
        return f"{peer} {_lacks(error.remark or '')}"
    if isinstance(error, client.AccessDenied):
        return f"{peer} refused access: {error.reason}"
    if isinstance(error, client.NotConfirmed):
        return f"{peer} did it, but does not know that it stays: ask again"
    remark = error.remark or "it gave no reason"
    too_far = _TOO_FAR.search(remark)
    if isinstance(error, client.MessageIllegal | client.ParameterIllegal):
        peer = error.broker_name or "the broker"  # where it is does not matter to who has to send something else
    if too_far is not None:
        wait = "" if too_far[2] is None else f"; this one would wait {lasting(int(too_far[2]))}"
        return f"{peer} keeps messages for at most {lasting(int(too_far[1]))}{wait}"
    return f"{peer} refused: {remark}"


def _lacks(remark: str) -> str:
    """Return what the broker does not support, according to the request type that its remark names."""
    found = _REQUEST.search(remark)
    if found is None:
        return "does not support this request"
    return _LACKING.get(int(found[1]), (None, f"does not support requests of type {found[1]}"))[1]


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause = error.__cause__ or error.__context__
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found
