"""Transactions of a cluster put together: what is open, what was given up, and how one of them stands."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from django.conf import settings

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.admin.transactions import HalfMessage, OpenOnBroker, OpenTransaction
from broker_core.client.answers import ask_all
from broker_core.client.errors import TopicNotFound
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.half_records import SentAs
from broker_core.protocol.topics import TRANSACTION_EXPIRED_TOPIC
from console.brokers.catalogue import product_of
from console.clusters.memory import Remembered
from console.moments import rfc3339
from gateway import transaction_ids
from gateway.control.transaction_shapes import Asked, State, TransactionRow, row_of
from gateway.control.transaction_trail import trail_of
from gateway.transaction_ids import HalfPlace, TransactionIds

MOST_READ: Final = 2_000
"""Records that one page of what was given up reads, for a filter that few of them pass."""
_MOST_TRACED: Final = 500
"""Of those that pass it, of which a page finds out what became of them: each costs four questions to its broker."""
_LEAST_COUNTED: Final = 25
"""What a few of them count as at least: they are asked about one part after the other."""
_TO_DECIDE: Final[frozenset[State]] = frozenset({"given_up", "unknown"})

_AT_ONCE: Final = 16

Wanted = Callable[[HalfMessage], bool]


@lru_cache(maxsize=1)
def ids() -> TransactionIds:
    """Return what writes and reads the ids of this installation."""
    return TransactionIds(transaction_ids.derive_key(settings.SECRET_KEY))


def id_of(cluster: str, half: HalfMessage) -> str:
    """Return the id by which a half message is decided on."""
    where = half.broker_name, int(half.queue_offset), int(half.log_offset)
    return ids().seal(HalfPlace(cluster, half.topic, half.group, *where, half.message_id))


# -- open

Place = tuple[str, str, str]
"""When a transaction began, its broker and its message id: what rows are sorted by."""


@dataclass(slots=True)
class OpenPage:
    """Open transactions of all brokers, those that failed, and those of which only a part was read."""

    rows: list[TransactionRow]
    next_place: Place | None
    """Behind which the next page begins; None if this is the last one."""
    asked: list[str]
    failed: Mapping[str, GantryError]
    partial: list[str]


async def open_page(admin: Admin, cluster: str, wanted: Wanted, after: Place | None, limit: int) -> OpenPage:
    """Return the oldest open transactions behind a place; raise the error of the brokers if none answered."""
    answers = (await admin.transactions.open()).raise_if_none()
    found = sorted(
        (each.newest for on_broker in answers.found.values() for each in on_broker.items if wanted(each.newest)),
        key=_place_of,
    )
    if after is not None:
        found = [half for half in found if _place_of(half) > after]
    page = found[:limit]
    rows = [row_of(half, id_of(cluster, half), "open", Asked.of_open(half)) for half in page]
    await add_checks(admin, list(zip(rows, page, strict=True)))
    partial = [name for name, on_broker in answers.found.items() if not on_broker.is_complete]
    next_place = _place_of(page[-1]) if len(found) > limit else None
    return OpenPage(rows, next_place, [*answers.found, *answers.failed], answers.failed, sorted(partial))


def _place_of(half: HalfMessage) -> Place:
    # The birth too stays the same for all records of a message.
    return rfc3339(half.born_at if half.began_at is None else half.began_at), half.broker_name, half.message_id


async def add_checks(admin: Admin, rows: Iterable[tuple[TransactionRow, HalfMessage]]) -> None:
    """Add to open ones whether producers are connected, and when they are checked next, as far as brokers tell."""
    rows = list(rows)
    if not rows:
        return
    groups, plans = await asyncio.gather(
        admin.transactions.producer_groups(), _plans(admin, {r.broker for r, _ in rows})
    )
    for row, half in rows:
        connected = groups.found.get(row.broker)
        row.producer_connected = None if connected is None else row.group in connected
        plan = plans.get(row.broker)
        if plan is not None and row.producer_connected:
            timeout_ms, interval_ms = plan
            immune_ms = timeout_ms if half.immune_ms is None else half.immune_ms
            row.next_check_at = rfc3339(half.stored_at + interval_ms if half.checks else half.since + immune_ms)


async def _plans(admin: Admin, brokers: set[str]) -> dict[str, tuple[int, int]]:
    """Return after how long (ms) brokers of Gantry check first and again; others check in rounds that nobody knows."""
    masters = {addr: name for addr, name in (await admin.clusters.masters()).items() if name in brokers}
    answers = await ask_all(masters, admin.maintenance.settings_of)
    plans = {}
    for addr, found in answers.found.items():
        timeout, interval = found.get("transactionTimeOut", ""), found.get("transactionCheckInterval", "")
        if product_of(found) == "gantry" and timeout.isdecimal() and interval.isdecimal():
            plans[masters[addr]] = int(timeout), int(interval)
    return plans


async def open_of(admin: Admin, known: Remembered, topics: Iterable[str]) -> dict[str, int | None]:
    """Return how many open transactions have a message for each topic; None where a broker does not tell all of them.

    `known` has the brokers that may hold some: of one that is not there any more it is not known.
    """
    answers = await admin.transactions.open()
    counts = Counter(each.newest.topic for on_broker in answers.found.values() for each in on_broker.items)
    is_told = not answers.failed and all(each.is_complete for each in answers.found.values())
    missing = known.missing(answers.found)
    return {
        topic: counts[topic] if is_told and not any(broker.holds(topic) for broker in missing) else None
        for topic in topics
    }


# -- given up


@dataclass(slots=True)
class GivenUpPage:
    """Transactions that were given up, the queues with older ones, and the brokers that failed."""

    rows: list[TransactionRow] = field(default_factory=list)
    positions: dict[MessageQueue, int] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    failed: Mapping[str, GantryError] = field(default_factory=dict)
    partial: Sequence[str] = ()
    """Brokers that have more with the key than they return."""


async def given_up_page(
    admin: Admin, cluster: str, wanted: Wanted, positions: dict[MessageQueue, int] | None, limit: int
) -> GivenUpPage:
    """Return the newest transactions that were given up and are not known to be decided or checked again since."""
    page, read, traced = GivenUpPage(), 0, 0
    still_open: dict[str, frozenset[SentAs]] | None = None
    while len(page.rows) < limit and read < MOST_READ and traced < _MOST_TRACED:
        wanting = limit - len(page.rows)
        try:
            part = await admin.messages.browse(TRANSACTION_EXPIRED_TOPIC, limit=wanting, positions=positions)
        except TopicNotFound:  # nothing was given up in this cluster yet
            return page
        read += max(1, len(part.messages))
        halves = (HalfMessage.of(each.broker_name, each.message) for each in part.messages)
        found = [half for half in halves if half is not None and wanted(half)]
        if found:
            traced += max(len(found), _LEAST_COUNTED)
            still_open = await _open_sent(admin) if still_open is None else still_open
            page.rows += [row for row in await _given_up_rows(admin, cluster, found, still_open) if is_to_decide(row)]
        page.positions = positions = part.positions
        page.asked, page.failed = part.asked, {**page.failed, **part.failed}
        if not positions:
            break
    return page


def is_to_decide(row: TransactionRow) -> bool:
    """Return whether a transaction that was given up may still wait for a decision."""
    return row.state in _TO_DECIDE


async def given_up_with(admin: Admin, cluster: str, key: str, wanted: Wanted) -> GivenUpPage:
    """Return what was given up with a key or message id: the brokers' indexes find all of it.

    That is also what was decided since, but nothing that is open again.
    """
    try:
        result = await admin.messages.search(TRANSACTION_EXPIRED_TOPIC, key)
    except TopicNotFound:  # nothing was given up in this cluster yet
        return GivenUpPage()
    halves = (HalfMessage.of(each.broker_name, each.message) for each in result.messages)
    found = [half for half in halves if half is not None and wanted(half)]
    names = sorted(result.asked.values())
    rows = await _given_up_rows(admin, cluster, found, await _open_sent(admin)) if found else []
    return GivenUpPage(
        [row for row in rows if row.state != "open"],
        asked=frozenset(name for addr, name in result.asked.items() if addr not in result.failed),
        failed=result.failed,
        partial=names if result.is_cut else [],
    )


async def _given_up_rows(
    admin: Admin, cluster: str, found: Sequence[HalfMessage], still_open: Mapping[str, frozenset[SentAs]]
) -> list[TransactionRow]:
    places = asyncio.Semaphore(_AT_ONCE)

    async def row(half: HalfMessage) -> TransactionRow | None:
        async with places:
            return await _given_up_row(admin, cluster, half, still_open.get(half.broker_name))

    return [each for each in await asyncio.gather(*map(row, found)) if each is not None]


async def _open_sent(admin: Admin) -> dict[str, frozenset[SentAs]]:
    """Return of which sent messages the transactions are open, by broker, for those that tell all of them."""
    answers = await admin.transactions.open()
    return {name: _sent_on(found) for name, found in answers.found.items() if found.is_complete}


def _sent_on(found: OpenOnBroker) -> frozenset[SentAs]:
    return frozenset(each.newest.sent_as for each in found.items)


async def _given_up_row(
    admin: Admin, cluster: str, half: HalfMessage, still_open: frozenset[SentAs] | None
) -> TransactionRow | None:
    """Return how a transaction stands; None for an earlier record of one that was given up again."""
    nothing = Asked(None, None)
    try:
        trail = await trail_of(admin, half)
    except GantryError:
        return row_of(half, None, "unknown", nothing)
    if trail is None:
        return row_of(half, None, "unknown", nothing)
    if any(each.log_offset > half.log_offset for each in trail.given_up):
        return None
    state = trail.state(is_open=None if still_open is None else half.sent_as in still_open)
    sealed = None if trail.newest is None else id_of(cluster, trail.newest)
    return row_of(replace(half, began_at=trail.began_at), sealed, state, trail.asked())


# -- one


@dataclass(slots=True)
class Standing:
    """How one transaction stands: its newest half record that was found, and its message."""

    half: HalfMessage
    state: State
    asked: Asked
    placed: PlacedMessage | None


async def standing_of(admin: Admin, place: HalfPlace) -> Standing | None:
    """Return how a transaction stands; None if its half message is not stored any more."""
    on_broker = await admin.transactions.open_on(place.broker)
    placed = await admin.transactions.half(place.broker, place.queue_offset, place.log_offset)
    half = None if placed is None else HalfMessage.of(place.broker, placed.message)
    current = next((each.newest for each in on_broker.items if _is_at(each, place, half)), None)
    if current is not None:
        placed = await admin.transactions.half(place.broker, current.queue_offset, current.log_offset)
    newest = half if current is None else current
    if newest is None:
        return None
    if current is not None and on_broker.is_complete:
        return Standing(current, "open", Asked.of_open(current), placed)
    trail = await trail_of(admin, newest)
    if trail is None:
        return Standing(newest, "unknown", Asked(None, None), placed)
    newest = replace(trail.newest or newest, began_at=trail.began_at)
    return Standing(newest, trail.state(is_open=False if on_broker.is_complete else None), trail.asked(), placed)


def _is_at(transaction: OpenTransaction, place: HalfPlace, half: HalfMessage | None) -> bool:
    """Return whether an open transaction is the one of a place, where the record is `half` if it is still stored."""
    newest = transaction.newest
    if place.queue_offset == newest.first or place.queue_offset in transaction.offsets:
        return True
    if newest.unique_id is None:
        return False
    return newest.message_id == place.message_id if half is None else newest.sent_as == half.sent_as
