"""Requests of administration: the list of brokers, a single typed answer, answers of all brokers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from broker_core.client.answers import Answers, ask_all
from broker_core.client.errors import ClientError, MalformedAnswer, NoMaster, TimedOut, Unreachable
from broker_core.client.masters import is_of_another
from broker_core.client.routes import MASTER_ID, Route
from broker_core.client.session import Session
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.clusters import ClusterInfo
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers.routes import GetBrokerClusterInfoRequest

T = TypeVar("T")

# Pages send many requests in a row; brokers change every half minute at most.
_KEEP_CLUSTER_SECONDS: Final = 1.0
# The console waits for ten seconds, of which a master and a name server that hang take eight.
_NAME_SERVER_SECONDS: Final = 1.0
# A page that asks a silent broker several things in turn would otherwise wait for it each time.
_IMPATIENT_SECONDS: Final = 5.0
_IMPATIENT_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """One broker process: several share a name, and the one with id 0 is their master."""

    cluster: str
    name: str
    broker_id: int
    addr: str

    @property
    def is_master(self) -> bool:
        """Whether messages and settings are written to this process."""
        return self.broker_id == MASTER_ID


class AdminRequests:
    """Requests to the brokers of one cluster, with the time limit of administration."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._brokers: list[BrokerAddress] = []
        self._asked_at = 0.0
        self._late_at: dict[str, float] = {}

    async def brokers(self) -> list[BrokerAddress]:
        """Return all brokers, by name and id; raise Unreachable if no name server answers."""
        if time.monotonic() - self._asked_at > _KEEP_CLUSTER_SECONDS:
            return await self.brokers_now()
        return self._brokers

    async def brokers_now(self) -> list[BrokerAddress]:
        """Return the same as a name server tells it now: a change must not go to a former master."""
        answer = await self.session.ask_name_server(GetBrokerClusterInfoRequest())
        info = self.decode(ClusterInfo, answer, "name server")
        self._brokers = _addresses(info)
        for broker in info.broker_addr_table.values():
            self.session.routes.hear(broker)
        self._asked_at = time.monotonic()
        return self._brokers

    async def brokers_of_each(self, timeout_ms: int) -> Answers[list[BrokerAddress]]:
        """Return the same as each name server tells it now, by its address."""

        async def ask(addr: str) -> list[BrokerAddress]:
            try:
                info = await self.ask_for(ClusterInfo, addr, GetBrokerClusterInfoRequest(), timeout_ms=timeout_ms)
            except ClientError as error:
                error.of_name_server = True
                raise
            return _addresses(info)

        return await ask_all(self.session.name_servers.addresses, ask)

    async def masters(self) -> dict[str, str]:
        """Return address → broker name of every master."""
        return {broker.addr: broker.name for broker in await self.brokers() if broker.is_master}

    async def broker_names(self) -> list[str]:
        """Return the names of all brokers, also of those that have no master at the moment."""
        return sorted({broker.name for broker in await self.brokers()})

    async def broker_names_of(self, topic: str) -> list[str]:
        """Return the same of the brokers that have `topic`; raise TopicNotFound."""
        route = await self.route_now(topic)
        return sorted({*route.masters, *route.leaderless})

    async def masters_among(self, brokers: Iterable[str] | None) -> dict[str, str]:
        """Return the same for the brokers with these names, or for all if None."""
        masters = await self.masters()
        wanted = set(masters.values()) if brokers is None else set(brokers)
        return {addr: name for addr, name in masters.items() if name in wanted}

    async def route_now(self, topic: str) -> Route:
        """Return where the topic is, as a name server tells it now; raise TopicNotFound."""
        return await self.session.routes.refresh(topic)

    async def route_for_slaves(self, topic: str) -> tuple[Route, bool]:
        """Return where the topic is, and whether a name server told it now; raise TopicNotFound or Unreachable.

        If none does within a second it is the last known route: a slave lacks something anyway.
        """
        known = self.session.routes.find(topic)
        if known is not None:
            try:
                async with asyncio.timeout(_NAME_SERVER_SECONDS):
                    return await self.route_now(topic), True
            except (Unreachable, TimeoutError):
                return known, False
        try:
            return await self.route_now(topic), True
        except Unreachable:
            known = await self.session.routes.remembered(topic)
            if known is None:
                raise
            return known, False

    async def brokers_for_slaves(self, topics: Sequence[str]) -> tuple[list[BrokerAddress], bool]:
        """Return all brokers, and whether a name server told them now; raise Unreachable.

        If none does within a second they are those of the last known routes of `topics`.
        """
        known = [route for topic in topics if (route := self.session.routes.find(topic)) is not None]
        try:
            async with asyncio.timeout(_NAME_SERVER_SECONDS if known else None):
                return await self.brokers(), True
        except (Unreachable, TimeoutError):
            if not known and topics:
                recalled = await self.session.routes.remembered(topics[0])
                known = [] if recalled is None else [recalled]
            if not known:
                raise
        return _addresses_in(known), False

    async def master(self, broker_name: str) -> str:
        """Return the address of a broker's master; raise NoMaster if there is none."""
        addr = await self.session.master_of(broker_name)
        if addr is None:
            raise NoMaster(broker_name)
        return addr

    async def at_master(self, broker_name: str, ask: Callable[[str], Awaitable[T]], *, is_repeatable: bool = True) -> T:
        """Return what `ask` gets from the master of a broker; if that one is away or none any more, from its successor.

        The route is asked for once. What may have been done is asked again only if it is repeatable. Raises NoMaster,
        or what `ask` raises.
        """
        addr = await self.master(broker_name)
        try:
            return await ask(addr)
        except ClientError as error:
            may_be_done = isinstance(error, Unreachable) and error.was_sent and not is_repeatable
            if may_be_done or not is_of_another(error):
                raise
            successor = await self._successor(broker_name, addr)
            if successor is None:
                raise
        return await ask(successor)

    async def _successor(self, broker_name: str, former: str) -> str | None:
        """Return the address of the master, asked for now, if it is another one."""
        if not self.session.masters.may_move(broker_name):
            return None
        await self.session.masters.renew(broker_name)
        addr = self.session.routes.master(broker_name)
        return None if addr == former else addr

    async def ask(
        self, addr: str, header: object, body: bytes = b"", *, topic: str | None = None, timeout_ms: int | None = None
    ) -> Command:
        """Return one successful answer; raise the error that a refusal stands for."""
        with self._patience(addr, timeout_ms) as limit_ms:
            return await self.session.call(addr, header, body, timeout_ms=limit_ms, topic=topic)

    async def ask_master(self, kind: type[T], broker_name: str, header: object) -> T:
        """Return the header of a successful answer from the master of a broker; raise like `at_master`."""

        async def ask(addr: str) -> T:
            return self.read(kind, await self.ask(addr, header), addr)

        return await self.at_master(broker_name, ask)

    async def invoke(self, addr: str, header: object) -> Command:
        """Return one answer of any code."""
        with self._patience(addr, None) as limit_ms:
            return await self.session.invoke(addr, header, timeout_ms=limit_ms)

    async def ask_for(
        self,
        kind: type[T],
        addr: str,
        header: object,
        body: bytes = b"",
        *,
        topic: str | None = None,
        timeout_ms: int | None = None,
    ) -> T:
        """Return the body of one successful answer."""
        return self.decode(kind, await self.ask(addr, header, body, topic=topic, timeout_ms=timeout_ms), addr)

    async def ask_each(self, addresses: Iterable[str], ask: Callable[[str], Awaitable[T]]) -> Answers[T]:
        """Send a request to several brokers at once."""
        return await ask_all(addresses, ask)

    async def ask_masters(self, ask: Callable[[str, str], Awaitable[T]]) -> Answers[T]:
        """Ask the master of every broker; answers by address.

        `ask` is given address and name. A broker without a master fails with NoMaster, by its name: what it has is
        unknown, not nothing. Raises Unreachable if no name server answers.
        """
        masters = await self.masters()
        return await self._ask_those(masters, set(await self.broker_names()).difference(masters.values()), ask)

    async def ask_masters_of(
        self, topic: str, ask: Callable[[str, str], Awaitable[T]], *, cached: bool = False
    ) -> Answers[T]:
        """Ask the same of the brokers that have `topic`; raise TopicNotFound.

        Frequent requests use the cached route, up to half a minute old.
        """
        route = await (self.session.routes.get(topic) if cached else self.route_now(topic))
        masters = {addr: name for name, addr in route.masters.items()}
        return await self._ask_those(masters, route.leaderless, ask)

    @staticmethod
    async def _ask_those(
        masters: Mapping[str, str], leaderless: Iterable[str], ask: Callable[[str, str], Awaitable[T]]
    ) -> Answers[T]:
        answers = await ask_all(masters, lambda addr: ask(addr, masters[addr]))
        return Answers(answers.found, {**answers.failed, **{name: NoMaster(name) for name in sorted(leaderless)}})

    async def change_each(
        self, brokers: Iterable[str] | None, change: Callable[[str, str], Awaitable[T]]
    ) -> Answers[T]:
        """Send a change to the master of each broker with these names, or of all if None; answers by address.

        `change` is given address and name. A broker without a master fails with NoMaster, by its name. Raises NoMaster
        if none of them has one, and Unreachable if no name server answers.
        """
        listed = await self.brokers_now()
        wanted = {broker.name for broker in listed} if brokers is None else set(brokers)
        masters = {broker.addr: broker.name for broker in listed if broker.is_master and broker.name in wanted}
        without = sorted(wanted.difference(masters.values()))
        if not masters and (without or brokers is None):
            raise NoMaster(*without)
        answers = await ask_all(masters, lambda addr: change(addr, masters[addr]))
        return Answers(answers.found, {**answers.failed, **{name: NoMaster(name) for name in without}})

    @contextmanager
    def _patience(self, addr: str, wanted_ms: int | None) -> Iterator[int]:
        """Yield how long to wait for a broker: less for a while if it has just let a request wait in vain."""
        limit_ms = self.session.config.admin_timeout_ms if wanted_ms is None else wanted_ms
        began = time.monotonic()
        is_short = wanted_ms is None and began - self._late_at.get(addr, -_IMPATIENT_SECONDS) < _IMPATIENT_SECONDS
        try:
            yield min(limit_ms, _IMPATIENT_MS) if is_short else limit_ms
        except (TimedOut, Unreachable):
            now = time.monotonic()
            if not is_short and (now - began) * 1000 >= _IMPATIENT_MS:
                self._late_at[addr] = now
            raise
        self._late_at.pop(addr, None)

    @staticmethod
    def decode(kind: type[T], answer: Command, addr: str) -> T:
        """Return the body of an answer; raise MalformedAnswer."""
        try:
            return coder.decode(kind, answer.body)
        except ProtocolError as error:
            raise MalformedAnswer(addr, str(error)) from error

    @staticmethod
    def read(kind: type[T], answer: Command, addr: str) -> T:
        """Return the header of an answer; raise MalformedAnswer."""
        try:
            return answer.header(kind)
        except ProtocolError as error:
            raise MalformedAnswer(addr, str(error)) from error


def _addresses_in(routes: Iterable[Route]) -> list[BrokerAddress]:
    found = {
        (name, number): addr for route in routes for name, at in route.brokers.items() for number, addr in at.items()
    }
    return [BrokerAddress("", name, number, addr) for (name, number), addr in sorted(found.items())]


def _addresses(info: ClusterInfo) -> list[BrokerAddress]:
    return sorted(
        (
            BrokerAddress(broker.cluster, broker.broker_name, broker_id, addr)
            for broker in info.broker_addr_table.values()
            for broker_id, addr in broker.broker_addrs.items()
        ),
        key=lambda broker: (broker.name, broker.broker_id),
    )
