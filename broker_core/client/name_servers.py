"""Choosing a name server: the last one that answered; the next one if it fails (client/README.md#name-servers)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from broker_core.client.errors import ClientError, Unreachable
from broker_core.protocol.command import Command

Invoke = Callable[[str, object], Awaitable[Command]]
"""Sends one request header to one address and returns any answer; raises Unreachable."""


class NameServers:
    """The name servers of one cluster; each has all routes, so one answer is enough."""

    def __init__(self, addresses: Sequence[str], invoke: Invoke) -> None:
        self.addresses = tuple(dict.fromkeys(addresses))
        self._invoke = invoke
        self._current = 0

    async def ask(self, header: object) -> tuple[str, Command]:
        """Return the address that answered and its answer, of any code; raise the last failure if none is reachable."""
        failure: ClientError = Unreachable("name servers", "none configured")
        for _ in self.addresses:
            asked = self._current
            address = self.addresses[asked % len(self.addresses)]
            try:
                return address, await self._invoke(address, header)
            except Unreachable as error:
                error.of_name_server = True
                failure = error
                if self._current == asked:  # otherwise another call has already moved to the next one
                    self._current += 1
        raise failure
