"""What people are told of etcd: members, size, alarms (controller/README.md#the-state-of-etcd)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from broker_core.controller.etcd import messages
from broker_core.controller.etcd.config import EtcdConfig
from broker_core.controller.etcd.errors import EtcdError
from broker_core.controller.etcd.gateway import Gateway
from broker_core.controller.etcd.messages import Json

MEMBERS_SECONDS: Final = 10.0
_ROUNDS_TO_ALARMS: Final = 6
"""Rounds of members from one look at the alarms to the next: a minute."""
_QUOTA_METRIC: Final = "etcd_server_quota_backend_bytes "


@dataclass(frozen=True, slots=True)
class Health:
    """What the members told last; None is what is not known."""

    size_bytes: int | None = None
    quota_bytes: int | None = None
    alarms: tuple[str, ...] | None = None


class HealthPoll:
    """Asks every member every few seconds whether it answers, and one of them every minute how the engine is."""

    def __init__(self, config: EtcdConfig, gateway: Gateway) -> None:
        self.now = Health()
        self._endpoints = config.endpoints
        self._gateway = gateway

    async def run(self) -> None:
        """Poll until cancelled."""
        rounds = 0
        while True:
            statuses = await self.ask_members()
            if rounds % _ROUNDS_TO_ALARMS == 0:
                await self.ask_alarms(statuses)
            rounds += 1
            await asyncio.sleep(MEMBERS_SECONDS)

    async def ask_members(self) -> dict[str, Json]:
        """Return the status of each member that answers; the gateway notes which do not."""
        found = await asyncio.gather(*map(self._status, self._endpoints))
        return {endpoint: status for endpoint, status in zip(self._endpoints, found, strict=True) if status is not None}

    async def ask_alarms(self, statuses: dict[str, Json]) -> None:
        """Learn size, quota and alarms from what the members said."""
        sizes = [messages.number(status, "dbSize") for status in statuses.values()]
        self.now = Health(
            size_bytes=max(sizes, default=None),
            quota_bytes=await self._quota(next(iter(statuses), None)),
            alarms=await self._alarms(),
        )

    async def _status(self, endpoint: str) -> Json | None:
        try:
            return await self._gateway.ask(endpoint, messages.STATUS, {})
        except EtcdError:
            return None  # told by the members' statuses

    async def _alarms(self) -> tuple[str, ...] | None:
        try:
            answer = await self._gateway.call(messages.ALARM, {"action": "GET"})
        except EtcdError:
            return None
        return tuple(sorted({str(each.get("alarm", "NONE")) for each in answer.get("alarms", ())}))

    async def _quota(self, endpoint: str | None) -> int | None:
        """Return the quota, which etcd tells among its metrics only, and nowhere if these have a port of their own."""
        if endpoint is None:
            return None
        try:
            metrics = await self._gateway.text(endpoint, "/metrics")
        except EtcdError:
            return None
        line = next((line for line in metrics.splitlines() if line.startswith(_QUOTA_METRIC)), None)
        return int(float(line.removeprefix(_QUOTA_METRIC))) if line is not None else None
