"""Transactions of a cluster put together: what is open, what was given up, and how one of them stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
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
from broker_core.protocol.half_records import is_committed
from broker_core.protocol.topics import HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC
from console.moments import rfc3339
from gateway import transaction_ids
from gateway.control.transaction_shapes import State, TransactionRow, row_of
from gateway.transaction_ids import HalfPlace, TransactionIds

MOST_READ: Final = 2_000
"""Records that one page of what was given up reads, for a filter that few of them pass."""

_AT_ONCE: Final = 16
# Only brokers of Gantry have this setting, and check each transaction at its own time.
_OF_GANTRY: Final = "limitOpenTransactions"

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


@dataclass(slots=True)
class OpenPage:
    """Open transactions of all brokers, those that failed, and those of which only a part was read."""

    rows: list[TransactionRow]
    has_more: bool
    asked: list[str]
    failed: Mapping[str, GantryError]
    partial: list[str]


Place = tuple[str, str, str]
"""When a transaction began, its broker and its message id: what rows are sorted by."""


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
    rows = [row_of(half, id_of(cluster, half), "open") for half in page]
    await add_checks(admin, list(zip(rows, page, strict=True)))
    partial = [name for name, on_broker in answers.found.items() if not on_broker.is_complete]
    return OpenPage(rows, len(found) > limit, [*answers.found, *answers.failed], answers.failed, sorted(partial))


def _place_of(half: HalfMessage) -> Place:
    return rfc3339(half.began_at), half.broker_name, half.message_id


def place_of(row: TransactionRow) -> Place:
    """Return the place of a row among those that are open."""
    return row.prepared_at, row.broker, row.message_id


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
            row.next_check_at = rfc3339(half.stored_at + interval_ms if half.checks else half.began_at + immune_ms)


async def may_check_again(admin: Admin, broker: str) -> bool:
    """Return whether a broker checks an open transaction again by its one record; others would add a second one."""
    return broker in await _plans(admin, {broker})


async def _plans(admin: Admin, brokers: set[str]) -> dict[str, tuple[int, int]]:
    """Return after how long (ms) brokers of Gantry check first and again; others check in rounds that nobody knows."""
    masters = {addr: name for addr, name in (await admin.clusters.masters()).items() if name in brokers}
    answers = await ask_all(masters, admin.maintenance.settings_of)
    plans = {}
    for addr, found in answers.found.items():
        timeout, interval = found.get("transactionTimeOut", ""), found.get("transactionCheckInterval", "")
        if _OF_GANTRY in found and timeout.isdecimal() and interval.isdecimal():
            plans[masters[addr]] = int(timeout), int(interval)
    return plans


# -- given up


@dataclass(slots=True)
class GivenUpPage:
    """Transactions that were given up, the queues with older ones, and the brokers that failed."""

    rows: list[TransactionRow] = field(default_factory=list)
    positions: dict[MessageQueue, int] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    failed: Mapping[str, GantryError] = field(default_factory=dict)


async def given_up_page(
    admin: Admin, cluster: str, wanted: Wanted, positions: dict[MessageQueue, int] | None, limit: int
) -> GivenUpPage:
    """Return the newest transactions that were given up, with what became of them since."""
    page, found, read = GivenUpPage(), list[HalfMessage](), 0
    while len(found) < limit and read < MOST_READ:
        try:
            part = await admin.messages.browse(TRANSACTION_EXPIRED_TOPIC, limit=limit - len(found), positions=positions)
        except TopicNotFound:  # nothing was given up in this cluster yet
            return page
        read += max(1, len(part.messages))
        halves = (HalfMessage.of(each.broker_name, each.message) for each in part.messages)
        found += [half for half in halves if half is not None and wanted(half)]
        page.positions = positions = part.positions
        page.asked, page.failed = part.asked, {**page.failed, **part.failed}
        if not positions:
            break
    still_open = await _open_ids(admin) if found else {}
    places = asyncio.Semaphore(_AT_ONCE)

    async def row(half: HalfMessage) -> TransactionRow:
        async with places:
            return await _given_up_row(admin, cluster, half, still_open.get(half.broker_name))

    page.rows = list(await asyncio.gather(*map(row, found)))
    return page


async def _open_ids(admin: Admin) -> dict[str, frozenset[str]]:
    answers = await admin.transactions.open()
    return {name: _ids_on(found) for name, found in answers.found.items() if found.is_complete}


def _ids_on(found: OpenOnBroker) -> frozenset[str]:
    return frozenset(each.newest.message_id for each in found.items)


async def _given_up_row(
    admin: Admin, cluster: str, half: HalfMessage, still_open: frozenset[str] | None
) -> TransactionRow:
    try:
        record = await _newest_half(admin, half)
        state = await _state_of_given_up(admin, half, still_open)
    except GantryError:
        return row_of(half, None, "unknown")
    return row_of(half, None if record is None else id_of(cluster, record), state)


async def _newest_half(admin: Admin, half: HalfMessage) -> HalfMessage | None:
    """Return the newest half record of a message that was given up, by which it can still be decided on."""
    found = [each for each in await _same(admin, half, HALF_TOPIC) if each.broker_name == half.broker_name]
    return HalfMessage.of(half.broker_name, found[0].message) if found else None


async def _state_of_given_up(admin: Admin, half: HalfMessage, still_open: frozenset[str] | None) -> State:
    if half.unique_id is None:
        return "unknown"
    if any(is_committed(each.message) for each in await _same(admin, half, half.topic)):
        return "committed"
    if still_open is None:
        return "unknown"
    return "open" if half.message_id in still_open else "given_up"


async def _same(admin: Admin, half: HalfMessage, topic: str) -> list[PlacedMessage]:
    """Return the records of the same message in a topic, newest first; raise unless every broker was searched."""
    if half.unique_id is None:
        return []
    try:
        result = await admin.messages.search(topic, half.unique_id)
    except TopicNotFound:
        return []
    if result.failed:
        raise next(iter(result.failed.values()))
    return [each for each in result.messages if each.message.unique_id == half.unique_id]


# -- one


@dataclass(slots=True)
class Standing:
    """How one transaction stands: its newest half record that was found, and its message."""

    half: HalfMessage
    state: State
    placed: PlacedMessage | None


async def standing_of(admin: Admin, place: HalfPlace) -> Standing | None:
    """Return how a transaction stands; None if its half message is not stored any more."""
    on_broker = await admin.transactions.open_on(place.broker)
    current = next((each for each in on_broker.items if _is_at(each, place)), None)
    if current is not None:
        placed = await admin.transactions.half(place.broker, current.newest.queue_offset, current.newest.log_offset)
        state: State = "open" if on_broker.is_complete else await _state_if_untold(admin, current.newest)
        return Standing(current.newest, state, placed)
    placed = await admin.transactions.half(place.broker, place.queue_offset, place.log_offset)
    half = None if placed is None else HalfMessage.of(place.broker, placed.message)
    if half is None:
        return None
    ended = _state_of_ended if on_broker.is_complete else _state_if_untold
    state = await ended(admin, half)
    return Standing(half, state, placed)


def _is_at(transaction: OpenTransaction, place: HalfPlace) -> bool:
    newest = transaction.newest
    is_same = newest.unique_id is not None and newest.message_id == place.message_id
    return is_same or place.queue_offset in transaction.offsets


async def _state_if_untold(admin: Admin, half: HalfMessage) -> State:
    """Return the state of a transaction at a broker that did not show all its decisions."""
    found = await _same(admin, half, half.topic)
    return "committed" if any(is_committed(each.message) for each in found) else "unknown"


async def _state_of_ended(admin: Admin, half: HalfMessage) -> State:
    if half.unique_id is None:
        return "unknown"
    if any(is_committed(each.message) for each in await _same(admin, half, half.topic)):
        return "committed"
    return "given_up" if await _same(admin, half, TRANSACTION_EXPIRED_TOPIC) else "rolled_back"
