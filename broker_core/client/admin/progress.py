"""What changed at a Gantry broker since it was asked last: queue ends, offsets of groups and members in one answer."""

from __future__ import annotations

from broker_core.client.admin.requests import AdminRequests
from broker_core.protocol.bodies.progress import Progress as ProgressBody
from broker_core.protocol.headers.progress import GetProgressRequest


class Progress:
    """The question of a reader that keeps what it was told."""

    def __init__(self, requests: AdminRequests) -> None:
        self._requests = requests

    async def on(self, addr: str, wanted: GetProgressRequest, *, timeout_ms: int | None = None) -> ProgressBody:
        """Return one page of what changed; raise NotSupported for a broker of Apache RocketMQ."""
        return await self._requests.ask_for(ProgressBody, addr, wanted, timeout_ms=timeout_ms)
