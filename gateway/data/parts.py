"""The shared parts of the endpoints of the data plane, created once by `gateway.composition`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import redis.asyncio

from console.clusters.connections import Connections
from gateway.auth import Authenticator, Principal
from gateway.data.audit_notes import FirstUses, KnownGroups, Note
from gateway.data.consumers import Caller, LeaseConsumers
from gateway.data.dead_letter_topics import DeadLetterTopics
from gateway.data.delays import Delays
from gateway.data.receipts import Lease, Receipts
from gateway.data.request_ids import RequestIds
from gateway.data.routing import Route
from gateway.data.told_leases import ToldLeases
from gateway.limits import GatewayLimits, LeasesOut
from gateway.metrics import Metrics
from gateway.problems import FORBIDDEN, HOST_NOT_SERVED, ProblemError
from gateway.rates import RateLimiter
from gateway.transaction_ids import TransactionIds

Header = tuple[bytes, bytes]


@dataclass(slots=True)
class Request:
    """One HTTP request with its body read and its caller known."""

    route: Route
    scope: MutableMapping[str, Any]
    headers: dict[bytes, bytes]
    """By lower-case name; of a repeated header the last value. All of them are in `scope`."""
    body: bytes
    principal: Principal
    address_of: Callable[[Mapping[str, Any]], str]
    id: str
    next_event: Callable[[], Awaitable[MutableMapping[str, Any]]]
    """ASGI's receive: after the body it returns when the client has disconnected."""

    @property
    def address(self) -> str:
        """Where the request came from."""
        return self.address_of(self.scope)

    @property
    def wants_text_offsets(self) -> bool:
        """Whether 64-bit offsets become strings, for readers whose numbers are doubles."""
        return wants_text_offsets(self.headers)


@dataclass(slots=True)
class Answer:
    """The answer to a request."""

    status: int
    body: bytes
    headers: Sequence[Header] = ()
    content_type: bytes = b"application/json"
    leased: int = 0
    """How many messages it leases."""
    is_uncertain: bool = False
    """Whether it is unknown for some message if it was stored; the same request may be tried again."""


def wants_text_offsets(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a request's headers ask for 64-bit offsets as strings."""
    return b"offsets=string" in headers.get(b"accept", b"")


class ClientGone(Exception):
    """The client closed its connection, so no answer can be sent."""


async def _none_known(_: str) -> frozenset[str]:
    return frozenset()


@dataclass(slots=True)
class DataPlaneParts:
    """The parts of the data plane of one process."""

    connections: Connections
    auth: Authenticator
    receipts: Receipts
    transaction_ids: TransactionIds
    redis: redis.asyncio.Redis
    note: Callable[[Note], None] = lambda _: None
    """Reports to the audit; returns at once."""
    known_groups: KnownGroups = _none_known
    """Returns the consumer groups of a cluster that were seen before, which saves asking its brokers."""
    serves_host: Callable[[bytes], bool] = lambda _: True
    """Whether requests to this host name are answered, as a protection against DNS rebinding."""
    client_address: Callable[[str, str], str] = lambda address, _: address
    """Returns the address of the client, given the peer's address and ``X-Forwarded-For``."""
    limits: GatewayLimits = field(default_factory=GatewayLimits)
    metrics: Metrics = field(default_factory=Metrics)
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    watched: dict[Lease, Callable[[], None]] = field(default_factory=dict)
    """By lease: called once when the lease is settled, by HTTP or WebSocket, here or in another process."""
    clock: Callable[[], float] = time.monotonic
    request_ids: RequestIds = field(default_factory=RequestIds)
    produce_rate: RateLimiter = field(init=False)
    consume_rate: RateLimiter = field(init=False)
    leases: LeasesOut = field(init=False)
    first_uses: FirstUses = field(init=False)
    consumers: LeaseConsumers = field(init=False)
    delays: Delays = field(init=False)
    told: ToldLeases = field(init=False)
    dead_letter_topics: DeadLetterTopics = field(init=False)

    def __post_init__(self) -> None:
        self.produce_rate = RateLimiter(self.limits.produce)
        self.consume_rate = RateLimiter(self.limits.consume)
        self.leases = LeasesOut(self.limits)
        self.first_uses = FirstUses(self.known_groups, self._has_group, self.note, self.clock)
        self.consumers = LeaseConsumers(self.redis)
        self.delays = Delays(self.connections, self.clock)
        self.dead_letter_topics = DeadLetterTopics(self.connections, self.redis, self.note)
        self.told = ToldLeases(
            self.redis,
            self.settled,
            listens=lambda: bool(self.leases or self.watched),
            sweep=lambda: self.leases.forget_expired(self.clock()),
        )

    def settled(self, portion: str, offsets: Sequence[int]) -> bool:
        """Stop counting leases of a portion, and notify their watchers; return False if none of it was granted here."""
        is_here = self.leases.settle(portion, offsets)
        self.consumers.settled(portion, offsets)
        if self.watched:
            for offset in offsets:
                ended = self.watched.pop((portion, offset), None)
                if ended is not None:
                    ended()
        return is_here

    async def _has_group(self, cluster: str, group: str) -> bool:
        admin = await self.connections.admin(cluster)
        return await admin.groups.find(group) is not None

    def address_of(self, scope: Mapping[str, Any]) -> str:
        """Return the address of the client of a request or socket; empty if the server provides none."""
        client = scope.get("client")
        forwarded = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
        return self.client_address(str(client[0]) if client else "", ",".join(forwarded))

    def note_refusal(
        self, principal: Principal, act: str, scope: Mapping[str, Any], problem: ProblemError, request_id: str
    ) -> None:
        """Report a missing right to the audit; other problems are not recorded."""
        if problem.kind is FORBIDDEN:
            who = Caller.of(principal, self.address_of(scope))
            self.note(Note(who, f"access.{act}", str(scope["path"]), "refused", request_id, problem.detail))

    def check_host(self, headers: Mapping[bytes, bytes], given: Sequence[tuple[bytes, bytes]] = ()) -> None:
        """Raise HOST_NOT_SERVED if the host name of a request is not served.

        `headers` has the last value of each of `given`; of several hosts nobody knows which is meant (RFC 9112 3.2).
        """
        host = headers.get(b"host")
        if len(given) > len(headers) and sum(name == b"host" for name, _ in given) > 1:
            raise ProblemError(HOST_NOT_SERVED, "The header Host is given more than once.")
        if host is not None and not self.serves_host(host):
            name = host[:100].decode("latin-1")
            raise ProblemError(HOST_NOT_SERVED, f"The host name {name!r} is not served; see GANTRY_ALLOWED_HOSTS.")
