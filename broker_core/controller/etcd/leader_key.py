"""The lead: a key that lives as long as its lease is kept alive (controller/README.md#leading).

It has connections of its own, so that no decision stands before a keep-alive.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from secrets import token_hex
from typing import Final

from broker_core.clock import boot_seconds
from broker_core.controller.decisions import Lead, NotLeading, Unsettled
from broker_core.controller.etcd import messages
from broker_core.controller.etcd.errors import Code, Declined, EtcdError
from broker_core.controller.etcd.gateway import Calls
from broker_core.controller.etcd.messages import Json, KeyValue
from broker_core.controller.etcd.patience import Patience, read_by

_VALID: Final = 0.8
"""The part of the lease's time that a renewal is valid for: clocks may go a fifth faster or slower."""
ROUND_SECONDS: Final = 0.7
"""For both halves of a renewal; shorter than the time in which etcd elects."""
_RANDOM_BYTES: Final = 8


class LeaderKey:
    """Takes, renews and gives up the leader key."""

    def __init__(
        self,
        calls: Calls,
        key: str,
        ttl: int,
        patience: Callable[[], Patience],
        *,
        clock: Callable[[], float] = boot_seconds,
    ) -> None:
        self._calls = calls
        self._key = key
        self._ttl = ttl
        self._patience = patience
        self._clock = clock
        self._tried: Lead | None = None

    async def take(self, who: str) -> Lead | None:
        """Put the key if there is none; None if there is one of somebody else. Raises Unsettled."""
        patience = self._patience()
        found = await self._look(patience)
        if found is not None:
            return self._of_earlier_try(found)
        granted = await read_by(self._calls, messages.GRANT, {"TTL": str(self._ttl)}, patience)
        lead = self._tried = Lead(who, f"{who} {token_hex(_RANDOM_BYTES)}", messages.number(granted, "ID"))
        try:
            answer = await self._calls.call(messages.TXN, self._request(lead))
        except Declined as error:
            raise Unsettled(f"etcd declines: {error}") from error
        except EtcdError as error:
            await patience.after(error)
            found = await self._look(patience)
            return self._of_earlier_try(found) if found is not None else None
        self._tried = None
        return lead if answer.get("succeeded") else None

    async def renew(self, lead: Lead) -> float:
        """Return until when the lead holds; raises NotLeading and Unsettled.

        The read comes first: a member that is cut off from the others goes on answering keep-alives.
        """
        began = self._clock()
        try:
            async with asyncio.timeout(ROUND_SECONDS):
                await self._check(lead)
                kept = await self._calls.call(messages.KEEP_ALIVE, {"ID": str(lead.token)})
        except TimeoutError as error:
            self._calls.move_on()
            raise Unsettled(f"the lead was not renewed within {ROUND_SECONDS:g} s") from error
        except EtcdError as error:
            raise Unsettled(f"the lead was not renewed: {error}") from error
        if not messages.number(kept, "TTL"):
            raise NotLeading("the lease of the lead has ended")
        return began + self._ttl * _VALID

    async def give_up(self, lead: Lead) -> None:
        """Remove the key with its lease; raises Unsettled."""
        patience = self._patience()
        while True:
            try:
                await self._calls.call(messages.REVOKE, {"ID": str(lead.token)})
            except Declined as error:
                if error.code is not Code.NOT_FOUND:
                    raise Unsettled(f"etcd declines: {error}") from error
                return  # it has ended by itself
            except EtcdError as error:
                await patience.after(error)
            else:
                return

    def _of_earlier_try(self, found: KeyValue) -> Lead | None:
        """Return the lead whose taking was not answered, if that is what was found."""
        tried, self._tried = self._tried, None
        return tried if tried is not None and found.text == tried.text else None

    async def _check(self, lead: Lead) -> None:
        found = next(
            iter(messages.key_values(await self._calls.call(messages.RANGE, messages.one_key(self._key)))), None
        )
        if found is None or found.text != lead.text:
            raise NotLeading(f"{holder_of(found.text) if found is not None else 'nobody'} leads")

    async def _look(self, patience: Patience) -> KeyValue | None:
        answer = await read_by(self._calls, messages.RANGE, messages.one_key(self._key), patience)
        return next(iter(messages.key_values(answer)), None)

    def _request(self, lead: Lead) -> Json:
        written = messages.put(self._key, lead.text, int(str(lead.token)))
        return messages.transaction([messages.compare_created(self._key, 0)], [written], [])


def holder_of(text: str) -> str:
    """Return who leads by the text of the leader key."""
    return text.rpartition(" ")[0]
