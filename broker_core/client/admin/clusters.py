"""The brokers of a cluster and their state."""

from __future__ import annotations

import math
from dataclasses import dataclass

from broker_core.client.admin.requests import AdminRequests, BrokerAddress
from broker_core.client.answers import Answers
from broker_core.client.errors import BrokerRefused
from broker_core.protocol.bodies.clusters import BrokerStatsData
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import (
    ABILITIES_KEY,
    COMMON_END_KEY,
    HELD_KEY,
    LEAST_IN_SYNC_KEY,
    NEWEST_KEY,
    RESETS_QUEUES,
    SEND_REFUSAL_KEY,
    STORE_ID_KEY,
    TROUBLE_KEY,
    UNCONFIRMED_MS_KEY,
    ResponseCode,
)
from broker_core.protocol.headers.admin import (
    GetBrokerRuntimeInfoRequest,
    ViewBrokerStatsDataRequest,
)

__all__ = ["BrokerAddress", "BrokerRuntime", "Clusters"]


@dataclass(frozen=True, slots=True)
class BrokerRuntime:
    """The figures of one broker. `table` is everything it sent; a missing or malformed figure is None."""

    table: dict[str, str]

    @property
    def version(self) -> str | None:
        """For example ``V4_9_8``."""
        return self.table.get("brokerVersionDesc")

    @property
    def store_id(self) -> str | None:
        """The identity of the broker's data folder; None from Apache RocketMQ, which tells none."""
        return self.table.get(STORE_ID_KEY) or None

    @property
    def resets_queues(self) -> bool:
        """Whether it moves a group in single queues, with its connected members: Gantry and RocketMQ 5."""
        is_5 = (self.version or "").startswith("V5")
        return is_5 or RESETS_QUEUES in self.table.get(ABILITIES_KEY, "").split(" ")

    @property
    def booted_at(self) -> int | None:
        """When the broker started, ms."""
        return self._integer("bootTimestamp")

    @property
    def in_rate(self) -> float | None:
        """Messages stored per second, over the last ten seconds."""
        return self._rate("putTps")

    @property
    def out_rate(self) -> float | None:
        """Messages delivered per second, over the last ten seconds."""
        return self._rate("getTransferedTps")

    @property
    def stored_total(self) -> int | None:
        """Messages stored since the start."""
        return self._integer("msgPutTotalTodayNow")

    @property
    def handed_out_total(self) -> int | None:
        """Messages delivered since the start."""
        return self._integer("msgGetTotalTodayNow")

    @property
    def disk_used_ratio(self) -> float | None:
        """The used share of the commit log's disk, 0 to 1."""
        return self._number("commitLogDiskRatio")

    @property
    def commit_log_bytes(self) -> int | None:
        """Bytes from the first to the last readable message."""
        begin, end = self.log_begin, self.log_end
        return None if begin is None or end is None else end - begin

    @property
    def earliest_message_at(self) -> int | None:
        """Store time of the first message, ms; None if there is none."""
        at = self._integer("earliestMessageTimeStamp")
        return at if at is not None and at > 0 else None

    @property
    def log_begin(self) -> int | None:
        """The log offset of the first record."""
        return self._integer("commitLogMinOffset")

    @property
    def log_end(self) -> int | None:
        """The log offset behind the last record."""
        return self._integer("commitLogMaxOffset")

    @property
    def newest_message_at(self) -> int | None:
        """Store time of the last message in the queues, ms; None without one, and from Apache RocketMQ."""
        at = self._integer(NEWEST_KEY)
        return at if at is not None and at > 0 else None

    @property
    def dispatch_behind_bytes(self) -> int | None:
        """Bytes of the commit log that are not in the consume queues yet."""
        return self._integer("dispatchBehindBytes")

    @property
    def least_in_sync(self) -> int | None:
        """How many replicas a master needs in sync for sends; None of others, and of those in static mode."""
        return self._integer(LEAST_IN_SYNC_KEY)

    @property
    def send_refusal(self) -> str | None:
        """Why a replica in failover mode takes no sends, empty if it does; None of brokers that do not tell."""
        return self.table.get(SEND_REFUSAL_KEY)

    @property
    def held(self) -> str | None:
        """Why a replica takes no part by itself any more, as a code (`Hold`); empty while it does, None of others."""
        return self.table.get(HELD_KEY)

    @property
    def trouble(self) -> str | None:
        """Why a replica does not do its part, in words; empty while it does, None of brokers that do not tell."""
        return self.table.get(TROUBLE_KEY)

    @property
    def common_log_end(self) -> int | None:
        """Up to where the log of a replica that is held is the master's; None unless that was found out."""
        return self._integer(COMMON_END_KEY)

    @property
    def unconfirmed_ms(self) -> int | None:
        """How long the oldest of what a master in failover mode stored waits for the in-sync set, 0 if nothing does."""
        return self._integer(UNCONFIRMED_MS_KEY)

    def figure(self, name: str) -> float | None:
        """Return any figure by the broker's name for it."""
        return self._number(name)

    def _integer(self, name: str) -> int | None:
        number = self._number(name)
        return None if number is None else int(number)

    def _rate(self, name: str) -> float | None:
        first = self.table.get(name, "").split(" ")[0]
        return _parsed(first)

    def _number(self, name: str) -> float | None:
        return _parsed(self.table.get(name, ""))


def _parsed(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


class Clusters:
    """Questions about brokers."""

    def __init__(self, requests: AdminRequests) -> None:
        self._requests = requests

    async def brokers(self) -> list[BrokerAddress]:
        """Return all brokers that the name servers know, by name and id; raise Unreachable."""
        return await self._requests.brokers()

    async def brokers_now(self) -> list[BrokerAddress]:
        """Return the same as a name server tells it now; `brokers` may be a second old."""
        return await self._requests.brokers_now()

    async def brokers_of_each(self, *, timeout_ms: int) -> Answers[list[BrokerAddress]]:
        """Return the same as each name server tells it now: one that is silent keeps no other back."""
        return await self._requests.brokers_of_each(timeout_ms)

    async def masters(self) -> dict[str, str]:
        """Return address → broker name of every master; raise Unreachable."""
        return await self._requests.masters()

    async def runtime(self) -> Answers[BrokerRuntime]:
        """Return the figures of every broker, by address."""
        addresses = [broker.addr for broker in await self._requests.brokers()]
        return await self._requests.ask_each(addresses, self.runtime_of)

    async def runtime_of(self, addr: str, *, timeout_ms: int | None = None) -> BrokerRuntime:
        """Return the figures of one broker; raise BrokerRefused or Unreachable."""
        header = GetBrokerRuntimeInfoRequest()
        return BrokerRuntime((await self._requests.ask_for(KVTable, addr, header, timeout_ms=timeout_ms)).table)

    async def try_request(self, addr: str, header: object, body: bytes = b"", *, timeout_ms: int | None = None) -> None:
        """Send a request only to learn whether a broker knows it; raise NotSupported, BrokerRefused or Unreachable."""
        await self._requests.ask(addr, header, body, timeout_ms=timeout_ms)

    async def stats_of(self, addr: str, name: str, key: str) -> BrokerStatsData | None:
        """Return one statistic of one broker, e.g. ``TOPIC_PUT_NUMS`` of a topic; None if it was not counted."""
        try:
            return await self._requests.ask_for(BrokerStatsData, addr, ViewBrokerStatsDataRequest(name, key))
        except BrokerRefused as error:
            if error.code != ResponseCode.SYSTEM_ERROR:
                raise
            return None
