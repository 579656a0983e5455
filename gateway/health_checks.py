"""The checks of an installation: what it needs to be ready, and what will need attention soon.

Their results are at ``/readyz`` (the first kind alone) and, each by its name, below ``/api/v1/health/checks``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connection

from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.answers import Answers, ask_all
from broker_core.client.errors import AccessDenied
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from console.clusters.memory import RememberedBroker, aremembered
from console.clusters.models import Cluster
from console.clusters.outcomes import not_listed
from console.clusters.reasons import reason_of
from console.clusters.services import EMBEDDED
from console.lag import current, rounds
from gateway.data.parts import DataPlaneParts
from gateway.health import BEATS, CHECK_SECONDS, Check, Health, NotUp, beat_check

MEANINGS: Final = {
    "database": "The database answers.",
    "redis": "Redis answers.",
    "broker": "A broker of the cluster local answers.",
    "sampler": "The sampler of lag and rates gave a sign of life in the last 30 s.",
    "worker": "The worker of jobs gave a sign of life in the last 30 s.",
    "beat": "The starter of schedules gave a sign of life in the last 30 s.",
    "sampling": "Each cluster of the console was sampled in the last 60 s, which is 60 times the interval.",
    "brokers": "Every broker of the cluster local answers, the known ones that are not listed included.",
    "disk": "The disk of each of these brokers is less than 90 % full.",
    "dispatch": "Less than 64 MiB of each broker's commit log wait to be added to the consume queues.",
}
"""By name of a check: what it says when it passes."""
_FULL: Final = 0.9
# A silent broker is named, which takes an end before that of the check.
_BROKER_MS: Final = int(CHECK_SECONDS * 750)
# A round may take half of it; `MEANINGS` says it.
_NOT_SAMPLED_MS: Final = 60_000
_MOST_NAMED: Final = 5
_BEHIND_BYTES: Final = 64 * 1024 * 1024


def readiness(parts: DataPlaneParts) -> Health:
    """Return the checks of ``/readyz``: everything that an installation needs to work fully."""
    return Health(_needed(parts))


def everything(parts: DataPlaneParts) -> Health:
    """Return all checks."""

    async def asked() -> tuple[Answers[BrokerRuntime], list[str]]:
        """Return the answers, and why each broker did not answer; one that no name server lists did not either."""
        admin = await parts.connections.admin(EMBEDDED)
        known, masters = await aremembered(EMBEDDED), await admin.clusters.masters()
        answers = await ask_all(masters, partial(admin.clusters.runtime_of, timeout_ms=_BROKER_MS))
        unlisted = await _unlisted(known.missing(masters.values()))
        silent = [*(reason_of(error, masters) for error in answers.failed.values()), *unlisted]
        if not answers.found and not silent:
            raise NotUp("no broker is listed")
        return answers, silent

    async def brokers() -> None:
        _, silent = await asked()
        _raise_if_any(silent)

    async def disk() -> None:
        answers, silent = await asked()
        _raise_if_any([*silent, *(_disk(at, each.disk_used_ratio) for at, each in answers.found.items())])

    async def dispatch() -> None:
        answers, silent = await asked()
        late = (_dispatch(at, each.dispatch_behind_bytes) for at, each in answers.found.items())
        _raise_if_any([*silent, *late])

    async def sampling() -> None:
        ends, now = await rounds.ends(parts.redis), now_ms()
        # One that was just added is excused as long.
        seen = [(name, ends.get(name, added)) for name, added in (await sync_to_async(_added_clusters)()).items()]
        late = sorted((at, name) for name, at in seen if now - at > _NOT_SAMPLED_MS)
        named = [f"{name} was not sampled for {(now - at) // 1000} s" for at, name in late[:_MOST_NAMED]]
        _raise_if_any([*named, f"and {len(late) - _MOST_NAMED} more" if len(late) > _MOST_NAMED else None])

    return Health({**_needed(parts), "sampling": sampling, "brokers": brokers, "disk": disk, "dispatch": dispatch})


def _needed(parts: DataPlaneParts) -> dict[str, Check]:
    async def database() -> None:
        await sync_to_async(_ask_database)()

    async def store() -> None:
        await parts.redis.ping()

    async def broker() -> None:
        admin = await parts.connections.admin(EMBEDDED)
        asked = [asyncio.ensure_future(admin.clusters.runtime_of(addr)) for addr in await admin.clusters.masters()]
        try:
            await _first_answer(asked)
        finally:
            for each in asked:
                each.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    beats = {name: beat_check(parts.redis, key, now_ms=now_ms) for name, key in BEATS.items()}
    return {"database": database, "redis": store, "broker": broker, **beats}


async def _unlisted(brokers: Sequence[RememberedBroker]) -> list[str]:
    """Return why nobody asks these, with what their replicas that are held told the sampler."""
    overview = await sync_to_async(current.find_overview)(EMBEDDED) if brokers else None
    processes = [] if overview is None else overview.brokers
    held = [(each.name, each.reason) for each in processes if each.held is not None and each.reason is not None]
    return ["; ".join([not_listed(each), *(why for name, why in held if name == each.name)]) for each in brokers]


async def _first_answer(asked: Iterable[asyncio.Future[BrokerRuntime]]) -> None:
    """Wait for any broker: one that is silent must not let those that answer seem down."""
    is_refused = False
    for each in asyncio.as_completed(asked):
        try:
            await each
        except GantryError as error:
            is_refused |= isinstance(error, AccessDenied)
        else:
            return
    # Everybody reads this check, so it names no address and no account.
    raise NotUp("brokers answer, but refuse access to this gateway" if is_refused else "no broker answers")


def _ask_database() -> None:
    close_old_connections()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _added_clusters() -> dict[str, int]:
    """Return when each cluster was added (ms since the epoch)."""
    close_old_connections()
    return {name: int(at.timestamp() * 1000) for name, at in Cluster.objects.values_list("name", "created_at")}


def _disk(address: str, used: float | None) -> str | None:
    if used is None:
        return f"{address} does not say how full its disk is"
    return f"the disk of {address} is {used:.0%} full" if used >= _FULL else None


def _dispatch(address: str, behind: int | None) -> str | None:
    if behind is None:
        return f"{address} does not say how far its consume queues are behind"
    return f"the consume queues of {address} are {behind} bytes late" if behind >= _BEHIND_BYTES else None


def _raise_if_any(reasons: Sequence[str | None]) -> None:
    if said := [reason for reason in reasons if reason is not None]:
        raise NotUp("; ".join(said))
