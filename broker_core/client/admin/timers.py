"""Messages that wait for their delivery time: what a cluster allows, what waits, recall and rescheduling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from broker_core.client.admin.maintenance import Maintenance
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.answers import Answers
from broker_core.client.errors import BrokerBusy, BrokerRefused, BrokerUnavailable, NoMaster
from broker_core.protocol.bodies.timers import TimerList, TimerSummary
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.timers import (
    ListTimersRequest,
    RecallMessageRequest,
    RescheduleMessageRequest,
    RescheduleMessageResponse,
    SummarizeTimersRequest,
)
from broker_core.protocol.recall_handle import RecallHandle

Place = tuple[int, int]
"""Due time (ms) and number of a message: where a page ended."""

_START: Final = (-1, -1)
_SWITCH: Final = "timerWheelEnable"
_LIMIT: Final = "timerMaxDelaySec"
_DEFAULT_LIMIT_S: Final = 3 * 86_400
_LIMIT_TIMEOUT_MS: Final = 1_500
"""Sends wait for the answer, and a broker that hangs takes none of them."""


@dataclass(frozen=True, slots=True)
class TimerLimits:
    """The largest delay (ms) that every broker serves; None where one has no delivery times, with the reason."""

    max_delay_ms: int | None
    reason: str = ""
    is_partial: bool = False
    """Whether a broker did not answer, which may serve less."""


class Timers:
    """The waiting messages of a cluster's brokers."""

    def __init__(self, requests: AdminRequests, maintenance: Maintenance) -> None:
        self._requests = requests
        self._maintenance = maintenance

    async def limits(self) -> TimerLimits:
        """Return what all brokers serve that answer within 1.5 s; raise the error of one of them if none does.

        A broker refuses by itself what is longer than it serves. Raises NoMaster if no broker is listed.
        """
        masters = await self._requests.masters()
        answers = await self._requests.ask_masters(lambda addr, _: self._limit_of(addr))
        refused = next((addr for addr, error in answers.failed.items() if _does_not_tell(error)), None)
        if refused is not None:
            return TimerLimits(None, f"broker {masters[refused]} does not tell its settings")
        if not answers.raise_if_none().found:
            raise NoMaster
        lacking = next((masters[addr] for addr, limit in answers.found.items() if limit is None), None)
        if lacking is not None:
            return TimerLimits(None, f"broker {lacking} has no delivery times ({_SWITCH})")
        longest = min(limit for limit in answers.found.values() if limit is not None)
        return TimerLimits(longest, is_partial=bool(answers.failed))

    async def _limit_of(self, addr: str) -> int | None:
        settings = await self._maintenance.settings_of(addr, timeout_ms=_LIMIT_TIMEOUT_MS)
        if settings.get(_SWITCH, "").lower() != "true":
            return None
        seconds = settings.get(_LIMIT, "")
        return (int(seconds) if seconds.isdecimal() else _DEFAULT_LIMIT_S) * 1000

    async def pages(self, positions: Mapping[str, Place | None], wanted: ListTimersRequest) -> Answers[TimerList]:
        """Return a page of each master that `positions` does not rule out by None, by broker name.

        `positions` are the places behind which to go on, by broker name. Brokers without such lists (4.9, 5.x) fail
        with NotSupported.
        """

        async def ask(name: str) -> TimerList:
            due, seq = positions.get(name) or _START
            header = replace(wanted, after_due=due, after_seq=seq)
            return await self._requests.at_master(name, lambda addr: self._requests.ask_for(TimerList, addr, header))

        names = await self._requests.broker_names()
        return await self._requests.ask_each([name for name in names if positions.get(name, _START) is not None], ask)

    async def summary(self, begin: int, end: int, bucket_ms: int) -> Answers[TimerSummary]:
        """Return the figures of each master, by broker name; fails like `pages`."""
        wanted = SummarizeTimersRequest(begin, end, bucket_ms)

        async def ask(name: str) -> TimerSummary:
            return await self._requests.at_master(name, lambda addr: self._requests.ask_for(TimerSummary, addr, wanted))

        return await self._requests.ask_each(await self._requests.broker_names(), ask)

    async def recall(self, broker_name: str, topic: str, message_id: str) -> None:
        """Take back a message at one broker; recalling it again succeeds.

        Raises BrokerRefused: with ILLEGAL_OPERATION if it was delivered, with QUERY_NOT_FOUND if it is not known.
        """
        handle = RecallHandle(topic, broker_name, 0, message_id).text
        header = RecallMessageRequest(topic, handle)
        await self._requests.at_master(broker_name, lambda addr: self._requests.ask(addr, header))

    async def reschedule(self, broker_name: str, topic: str, message_id: str, deliver_ms: int) -> int:
        """Deliver a waiting message at another time; return when (ms). Raises like `recall`."""
        header = RescheduleMessageRequest(topic, message_id, deliver_ms)
        return (await self._requests.ask_master(RescheduleMessageResponse, broker_name, header)).deliver_ms


def _does_not_tell(error: Exception) -> bool:
    """Return whether a broker would refuse again: one that is busy or about to stop may tell what it serves later."""
    return isinstance(error, BrokerRefused) and not isinstance(error, (BrokerBusy, BrokerUnavailable))


def was_delivered(error: Exception) -> bool:
    """Return whether a broker refused because the message was delivered before."""
    return isinstance(error, BrokerRefused) and error.code == ResponseCode.ILLEGAL_OPERATION


def is_unknown(error: Exception) -> bool:
    """Return whether a broker refused because it knows no such message."""
    return isinstance(error, BrokerRefused) and error.code == ResponseCode.QUERY_NOT_FOUND
