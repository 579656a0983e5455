"""What it means that a message is not found: nothing, while a master has more than it shows.

A replica shows a message when the others have it too. Until then a search finds nothing, and the message may still be
shown, or go with its master (client/README.md#unknown-outcomes).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from broker_core.client.admin.clusters import BrokerRuntime, Clusters
from broker_core.client.admin.messages import Messages, SearchResult
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.errors import ClientError, NoMaster
from broker_core.client.retry import backoff

_SHOWN_S: Final = 2.0
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5
_ON_ITS_WAY_S: Final = 1.0
"""A broker that goes on after it hung answers on one connection while it has not read another one yet."""


class NotSettled(ClientError):
    """It is not known yet whether a message is stored: ask again a little later."""


@dataclass(frozen=True, slots=True)
class Mastership:
    """A master as it was when it had shown all that it had taken: another process, or another epoch, is another one."""

    addr: str
    booted_at: int | None
    epoch: str | None
    """None of a broker that is no replica under controllers."""


class Settled:
    """Questions whose answer is final."""

    def __init__(self, requests: AdminRequests, clusters: Clusters, messages: Messages) -> None:
        self._requests, self._clusters, self._messages = requests, clusters, messages

    async def masters(
        self, topic: str, *, broker_name: str | None = None, within_s: float = _SHOWN_S
    ) -> frozenset[Mastership]:
        """Return the masters of a topic, or the one of a broker, when they show all that they have by now.

        Raises NotSettled if one does not within the time, or is not known; TopicNotFound, BrokerRefused or Unreachable.
        """
        addresses = await self._addresses(topic, broker_name)
        ends = time.monotonic() + within_s
        return frozenset(await asyncio.gather(*(self._shown(addr, ends) for addr in addresses)))

    async def check(self, masters: Collection[Mastership], topic: str, *, broker_name: str | None = None) -> None:
        """Raise NotSettled unless these are still the masters: what another one has was not looked at.

        One that takes no messages may be one no more. Raises like `masters`.
        """
        addresses = await self._addresses(topic, broker_name)
        if set(addresses) != {each.addr for each in masters}:
            raise NotSettled("the master has changed meanwhile")
        figures = await asyncio.gather(*map(self._clusters.runtime_of, addresses))
        for addr, its in zip(addresses, figures, strict=True):
            if its.send_refusal:
                raise NotSettled(f"{addr} takes no messages: {its.send_refusal}")
        if {_mastership(addr, its) for addr, its in zip(addresses, figures, strict=True)} != set(masters):
            raise NotSettled("the master was started again or elected meanwhile")

    async def find(
        self, topic: str, unique_id: str, *, broker_name: str | None = None, waiting_in: Sequence[str] = ()
    ) -> PlacedMessage | None:
        """Return the message with a unique id that was sent to a topic, or None if it is not there and will not be.

        `waiting_in` are the topics in which it may wait for its delivery time. Raises like `masters`.
        """
        topics = (*waiting_in, topic)
        found = await self._search(topics, unique_id, broker_name)
        if found is not None:
            return found
        await asyncio.sleep(_ON_ITS_WAY_S)
        masters = await self.masters(topic, broker_name=broker_name)
        found = await self._search(topics, unique_id, broker_name)
        if found is None:
            await self.check(masters, topic, broker_name=broker_name)
        return found

    async def look(self, topic: str, unique_id: str, masters: Collection[Mastership]) -> PlacedMessage | None:
        """Return the message with a unique id, or None if nobody had sent it when `masters` returned these.

        It costs less than `find`. Raises NotSettled if the topic has other masters now, and like `masters`.
        """
        found = await self._search((topic,), unique_id, None)
        route = self._requests.session.routes.find(topic)
        if found is None and (route is None or set(route.masters.values()) != {each.addr for each in masters}):
            raise NotSettled("the master has changed meanwhile")
        return found

    async def _search(self, topics: Sequence[str], unique_id: str, broker_name: str | None) -> PlacedMessage | None:
        sent_to = topics[-1]
        route = await self._requests.route_now(sent_to)
        others = set() if broker_name is None else {*route.masters, *route.leaderless} - {broker_name}
        others |= {addr for name, addr in route.masters.items() if name in others}
        for topic in topics:
            result = await self._messages.search(topic, unique_id, on_brokers_of=sent_to, without=others)
            found = oldest(result, unique_id)
            if found is not None:
                return found
        return None

    async def _addresses(self, topic: str, broker_name: str | None) -> list[str]:
        route = await self._requests.route_now(topic)
        leaderless = [name for name in route.leaderless if broker_name in (None, name)]
        addresses = [addr for name, addr in route.masters.items() if broker_name in (None, name)]
        if leaderless or not addresses:
            raise NotSettled(str(NoMaster(*leaderless or [broker_name or topic])))
        return addresses

    async def _shown(self, addr: str, ends: float) -> Mastership:
        first = await self._clusters.runtime_of(addr)
        if first.log_end is None or first.dispatch_behind_bytes is None:
            raise NotSettled(f"{addr} does not tell how much of its log it shows")
        figures, its = first, _mastership(addr, first)
        for pause_s in backoff(first_s=_FIRST_PAUSE_S, longest_s=_LONGEST_PAUSE_S):
            if _shown_end(figures) >= first.log_end:
                return its
            if time.monotonic() + pause_s > ends:
                raise NotSettled(f"{addr} has messages that it does not show yet")
            await asyncio.sleep(pause_s)
            figures = await self._clusters.runtime_of(addr)
            if _mastership(addr, figures) != its:
                raise NotSettled(f"{addr} was started again or elected meanwhile")
        raise AssertionError("pauses do not end")


def oldest(result: SearchResult, unique_id: str) -> PlacedMessage | None:
    """Return the oldest record of a message, the others are copies; None if there is none.

    Raises NotSettled if none is found and not all brokers were searched completely.
    """
    found = [each for each in result.messages if each.message.unique_id == unique_id]
    if found:
        return found[-1]
    if not result.complete:
        raise NotSettled("; ".join(map(str, result.failed.values())) or "the search was cut short")
    return None


def _mastership(addr: str, figures: BrokerRuntime) -> Mastership:
    return Mastership(addr, figures.booted_at, figures.table.get("masterEpoch"))


def _shown_end(figures: BrokerRuntime) -> int:
    """Return the log offset up to which queues and index of a broker are complete."""
    return (figures.log_end or 0) - (figures.dispatch_behind_bytes or 0)
