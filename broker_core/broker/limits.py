"""Every limit of the broker: its name, its value, and what is answered when it is reached.

=================== ==================================== ==========================================================
limit               bounds                               answer when reached
=================== ==================================== ==========================================================
connections         open sockets of each listener        the new socket is closed
body_bytes          one message's or one batch's body    MESSAGE_ILLEGAL (13)
properties_bytes    one message's property text          MESSAGE_ILLEGAL (13)
topics              topics, retry topics included        SYSTEM_ERROR (1)
groups              consumer groups                      SYSTEM_ERROR (1)
parked_pulls        long polls that wait, all queues     SYSTEM_BUSY (2): the client asks again after a second
parked_pops         long polls for leases that wait      POLLING_FULL (209)
pop_batch           messages leased by one request       INVALID_PARAMETER (29)
leases_per_group    messages out on lease to one group   FLOW_CONTROL (215)
query_results       messages of one look-up by key       the answer is cut there
unflushed_waiters   sends that wait for one sync flush   SYSTEM_BUSY (2)
=================== ==================================== ==========================================================

The remark of each answer names the limit and its value, so that an operator finds it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from broker_core.broker.errors import LimitReached, MessageIllegal, Overloaded, PollingFull, TooManyLeases

_REFUSALS: Final[dict[str, type[LimitReached]]] = {
    "parked_pulls": Overloaded,
    "unflushed_waiters": Overloaded,
    "parked_pops": PollingFull,
    "leases_per_group": TooManyLeases,
}
"""The limits that are not answered SYSTEM_ERROR."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The values; sizes in bytes, all others are counts."""

    connections: int = 10_000
    body_bytes: int = 4 * 1024 * 1024  # maxMessageSize (remoting-protocol.md 7.2)
    properties_bytes: int = 32_767  # a signed 16-bit length in the record (store-format.md 2.9)
    topics: int = 20_000  # each keeps consume queue files open
    groups: int = 20_000
    parked_pulls: int = 100_000  # as many as the reference holds pops (behaviour.md I.2)
    parked_pops: int = 100_000
    pop_batch: int = 32
    leases_per_group: int = 100_000
    query_results: int = 64  # maxMsgsNumBatch (remoting-protocol.md 7.2)
    unflushed_waiters: int = 100_000

    def refuse(self, limit: str, what: str) -> LimitReached:
        """Return the error that says that `limit` is reached by `what`."""
        return _REFUSALS.get(limit, LimitReached)(limit, getattr(self, limit), what)

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
