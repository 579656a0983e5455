"""Every limit of the broker: its name, its value, and the answer when it is reached.

====================== ==================================== ==========================================================
limit                  bounds                               answer when reached
====================== ==================================== ==========================================================
connections            open sockets of each listener        the new socket is closed
idle_seconds           seconds a connection may be idle     it is closed
tls_handshake_seconds  seconds for a TLS handshake          the connection is closed
tls_handshakes         TLS handshakes of a listener at once the oldest is closed
frame_bytes            one request with its length word     the connection is closed: the next frame cannot be found
header_bytes           one request's header                 the connection is closed
body_bytes             one message's or one batch's body    MESSAGE_ILLEGAL (13)
properties_bytes       one message's property text          MESSAGE_ILLEGAL (13)
json_bytes             one body of JSON or settings         SYSTEM_ERROR (1)
loose_json_bytes       one body of JSON that is not strict  SYSTEM_ERROR (1)
topics                 topics, retry topics included        SYSTEM_ERROR (1)
groups                 consumer groups; producer groups too SYSTEM_ERROR (1)
groups_per_client      groups of one connection             SYSTEM_ERROR (1)
queues_per_topic       queues of one topic                  INVALID_PARAMETER (29)
queues                 queues that ever had a message       SYSTEM_ERROR (1)
queue_locks            queues that orderly consumers hold   SYSTEM_ERROR (1)
parked_pulls           waiting long polls of all queues     SYSTEM_BUSY (2): the client asks again after a second
parked_pops            waiting long polls for leases        POLLING_FULL (209)
pop_batch              messages leased by one request       INVALID_PARAMETER (29)
request_modes          pop settings of topics and groups    SYSTEM_ERROR (1)
leases_per_group       messages on lease to one group       FLOW_CONTROL (215)
query_results          messages of one look-up by key       the answer ends there
unique_key_results     the same, by unique id               the answer ends there
timer_messages         messages that wait for a time        SYSTEM_ERROR (1)
open_transactions      half messages that are not decided   SYSTEM_ERROR (1)
unflushed_waiters      sends that wait for one sync flush   SYSTEM_BUSY (2)
forwarded_requests     requests that a slave forwarded and  SYSTEM_BUSY (2)
                       that wait for the master
unanswered_requests    requests of one connection that      SYSTEM_BUSY (2)
                       handlers still work on
calls_per_connection   requests to one client that wait     SYSTEM_ERROR (1) to the sender of the request
                       for its answer
write_buffer_bytes     answers one client has not read      no more requests are read until it has
unread_bytes           the same, while answers still follow the connection is closed
memory_bytes           what all connections and parked      a long poll: SYSTEM_BUSY (2); otherwise the connection
                       requests hold together               that holds most is closed
====================== ==================================== ==========================================================

With access control one account may hold a quarter of some of them (`shares.py`): topics and groups that its first use
created, groups of its producers, queue_locks, parked_pulls, parked_pops, open_transactions. The last twentieth of
topics and of groups is left to administration: first uses do not create those.

The remark of each answer names the limit and its value, so that an operator can find it here; when a connection is
closed, the log names them. Every limit is also a setting (`settings/table.py`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from broker_core.broker.errors import (
    IllegalArgument,
    LimitReached,
    MessageIllegal,
    PollingFull,
    TooManyLeases,
    WaitingFull,
)
from broker_core.protocol.frame import MAX_FRAME
from broker_core.remoting import ConnectionLimits

_KIB: Final = 1024
_MIB: Final = 1024 * _KIB

_RESERVE: Final = 20
"""The last twentieth of some limits is not used up by first uses: an administrator can still create something."""

_REFUSALS: Final[dict[str, type[LimitReached]]] = {
    "parked_pulls": WaitingFull,
    "unflushed_waiters": WaitingFull,
    "forwarded_requests": WaitingFull,
    "memory_bytes": WaitingFull,
    "parked_pops": PollingFull,
    "leases_per_group": TooManyLeases,
}
"""The limits that are not answered with SYSTEM_ERROR."""


_SHARE: Final = 4
"""One account may hold the fourth part of some limits, so that none keeps the others out (`shares.py`)."""

REACHED: Final[Counter[str]] = Counter()
"""How often each limit was reached since the start of the process, which runs one broker."""


@dataclass(frozen=True, slots=True)
class BrokerLimits:
    """The values; sizes in bytes, all others are counts."""

    connections: int = 10_000
    idle_seconds: int = 120  # serverChannelMaxIdleTimeSeconds
    tls_handshake_seconds: int = 10  # the same as in Netty
    tls_handshakes: int = 1_000
    frame_bytes: int = MAX_FRAME  # com.rocketmq.remoting.frameMaxLength
    # The longest property text, its separators and letters written as six characters each, is 192 KiB.
    header_bytes: int = 512 * _KIB
    body_bytes: int = 4 * _MIB  # maxMessageSize
    properties_bytes: int = 32_767  # a signed 16-bit length in the record
    json_bytes: int = _MIB
    # Java's dialect is read at one to ten megabytes a second, and no other client is served in the meantime. No request
    # of Java's clients needs it; their answers about offsets do, with 70 bytes for each queue.
    loose_json_bytes: int = 64 * _KIB
    topics: int = 20_000  # each keeps consume queue files open
    groups: int = 20_000
    groups_per_client: int = 1_000
    queues_per_topic: int = 65_536
    queues: int = 30_000  # each keeps a file open; the limit is lower where the system allows fewer files
    queue_locks: int = 200_000
    parked_pulls: int = 100_000  # the same limit as in Apache RocketMQ
    parked_pops: int = 100_000
    pop_batch: int = 32
    request_modes: int = 20_000
    leases_per_group: int = 100_000
    query_results: int = 64  # maxMsgsNumBatch
    unique_key_results: int = 32  # defaultQueryMaxNum
    timer_messages: int = 10_000_000
    open_transactions: int = 100_000
    unflushed_waiters: int = 100_000
    forwarded_requests: int = 10_000
    unanswered_requests: int = 10_000  # as long as the longest send queue of Apache RocketMQ
    calls_per_connection: int = 10_000
    # One pull answer: a client that reads keeps up, so a larger buffer would only move the wait.
    write_buffer_bytes: int = 256 * _KIB
    unread_bytes: int = 64 * _MIB
    memory_bytes: int = 1024 * _MIB

    def refuse(self, limit: str, what: str) -> LimitReached:
        """Return the error for `limit`, reached by `what`."""
        REACHED[limit] += 1
        return _REFUSALS.get(limit, LimitReached)(limit, getattr(self, limit), what)

    def share(self, limit: str) -> int:
        """Return how much of `limit` one account may hold."""
        allowed: int = getattr(self, limit)
        return max(1, allowed // _SHARE)

    def refuse_share(self, limit: str, what: str) -> LimitReached:
        """Return the error for an account's share of `limit`, reached by `what`."""
        return self.refuse(limit, f"one account may have 1 / {_SHARE} of them; {what}")

    def check_first_use(self, limit: str, known: int, what: str) -> None:
        """Raise LimitReached where only an administrator may create one more than are `known`."""
        allowed: int = getattr(self, limit)
        if known >= allowed - allowed // _RESERVE:
            kept = f"the last 1 / {_RESERVE} is for administrators; " if known < allowed else ""
            raise self.refuse(limit, kept + what)

    def of_connections(self) -> ConnectionLimits:
        """Return the limits that are enforced where bytes are received and sent."""
        return ConnectionLimits(
            frame_bytes=self.frame_bytes,
            header_bytes=self.header_bytes,
            connections=self.connections,
            unanswered_requests=self.unanswered_requests,
            calls_per_connection=self.calls_per_connection,
            memory_bytes=self.memory_bytes,
            write_buffer_bytes=self.write_buffer_bytes,
            unread_bytes=self.unread_bytes,
            idle_seconds=self.idle_seconds,
            tls_handshake_seconds=self.tls_handshake_seconds,
            tls_handshakes=self.tls_handshakes,
        )

    def check_queues(self, **counts: int) -> None:
        """Raise IllegalArgument for a negative or too large number of queues; arguments are named as on the wire."""
        for name, count in counts.items():
            if not 0 <= count <= self.queues_per_topic:
                raise IllegalArgument(
                    f"{name} {count} is not between 0 and limit queues_per_topic={self.queues_per_topic}"
                )

    def check_sizes(self, body_bytes: int, properties_bytes: int) -> None:
        """Raise MessageIllegal when a body or a property text is too large to be stored."""
        if body_bytes > self.body_bytes:
            raise MessageIllegal(
                "the message is illegal, maybe msg body or properties length not matched. "
                f"body of {body_bytes} bytes, limit body_bytes={self.body_bytes}"
            )
        if properties_bytes > self.properties_bytes:
            raise MessageIllegal(
                "the message is illegal, maybe msg body or properties length not matched. "
                f"properties of {properties_bytes} bytes, limit properties_bytes={self.properties_bytes}"
            )
