"""The ledger of dead letters that were sent again, fed from the journals of jobs, so that no job sends one twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from django.db import connection, transaction
from django.db.models import Q
from msgspec import Struct

from broker_core.errors import GantryError
from broker_core.structs import decoded
from console.jobs.models import ACTIVE_STATES, Job, JobType
from console.redrives.models import Redriven

_JOURNAL: Final = "journal.jsonl"
_REDRIVEN: Final = "redriven"
_AT_ONCE: Final = 1_000


class GroupBusy(GantryError):
    """Another redrive of the group waits or runs: together they would send messages twice."""

    def __init__(self, other: Job) -> None:
        super().__init__(f"job {other.id} already redrives dead letters of group {other.request['group']!r}")


class Place(NamedTuple):
    """A dead letter: its place, and its id."""

    broker: str
    queue_id: int
    offset: int
    message_id: str


@decoded
class Noted(Struct, frozen=True, kw_only=True):
    """A line of a job's journal (broker_core/redrive/README.md#exact-outcomes)."""

    at: str
    broker: str
    queue_id: int
    offset: int
    message_id: str
    keys: list[str]
    cause: str | None
    outcome: str
    topic: str | None = None
    target_broker: str | None = None
    target_queue_id: int | None = None
    target_offset: int | None = None
    copy_id: str | None = None
    why: str | None = None

    @property
    def place(self) -> Place:
        """The dead letter."""
        return Place(self.broker, self.queue_id, self.offset, self.message_id)


def outcomes(folder: Path) -> list[Noted]:
    """Return the last outcome of each message of a job, the oldest first; a line that a kill cut off is left out."""
    found: dict[Place, Noted] = {}
    for each in _lines(folder):
        found.pop(each.place, None)
        found[each.place] = each
    return list(found.values())


def note(job: Job, folder: Path) -> None:
    """Enter what a job has sent; what is entered already stays."""
    rows = [_row(job, each) for each in outcomes(folder) if each.outcome == _REDRIVEN]
    Redriven.objects.bulk_create(rows, batch_size=_AT_ONCE, ignore_conflicts=True)


def catch_up(job: Job, folder_of: Callable[[Job], Path]) -> None:
    """Enter what jobs of the group have sent whose launcher did not live to do so."""
    lost = of_group(job.cluster, job.request["group"]).filter(exit_code=None, attempt__gt=0, files_removed_at=None)
    for each in lost:
        note(each, folder_of(each))


def earlier(job: Job) -> list[Mapping[str, Any]]:
    """Return what other jobs have sent of the group, as the program reads it."""
    found = Redriven.objects.filter(cluster=job.cluster, group=job.request["group"]).exclude(job=job)
    return list(found.values("broker", "queue_id", "offset", "message_id", "copy_id"))


def find(cluster: str, group: str, places: Iterable[Place]) -> dict[Place, Redriven]:
    """Return the entries of those dead letters that were sent again."""
    wanted = list(places)
    found: dict[Place, Redriven] = {}
    for begin in range(0, len(wanted), _AT_ONCE):
        part = wanted[begin : begin + _AT_ONCE]
        rows = Redriven.objects.filter(cluster=cluster, group=group, message_id__in=[each.message_id for each in part])
        found |= {_place_of(row): row for row in rows}
    return {place: found[place] for place in wanted if place in found}


def forget_expired(cluster: str, group: str, first: Mapping[tuple[str, int], int]) -> None:
    """Remove the entries of dead letters below the first offset of their queue, by broker and queue."""
    for (broker, queue_id), offset in first.items():
        of_queue = Q(cluster=cluster, group=group, broker=broker, queue_id=queue_id)
        Redriven.objects.filter(of_queue, offset__lt=offset).delete()


def of_group(cluster: str, group: str) -> Any:
    """Return the redrives of a group."""
    return Job.objects.filter(type=JobType.REDRIVE, cluster=cluster, request__group=group)


@contextmanager
def one_start(cluster: str, group: str) -> Iterator[None]:
    """Run the block, a transaction, while no other process starts a redrive of the group.

    SQLite locks its database for writers at the beginning of a transaction; PostgreSQL is asked for a lock by name.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"redrive {cluster}/{group}"])
        yield


def check_free(job: Job) -> None:
    """Raise GroupBusy if the job is a redrive, and another one of its group waits or runs."""
    if job.type == JobType.REDRIVE:
        check_group_free(job.cluster, job.request["group"], but=job)


def check_group_free(cluster: str, group: str, *, but: Job | None = None) -> None:
    """Raise GroupBusy if a redrive of the group other than `but` waits or runs."""
    active = of_group(cluster, group).filter(state__in=ACTIVE_STATES).exclude(pk=but.pk if but else "")
    for other in active[:1]:
        raise GroupBusy(other)


def _place_of(row: Redriven) -> Place:
    return Place(row.broker, row.queue_id, row.offset, row.message_id)


def _lines(folder: Path) -> Iterable[Noted]:
    try:
        text = (folder / _JOURNAL).read_bytes()
    except FileNotFoundError:
        return
    for line in text.split(b"\n"):
        try:
            yield msgspec.json.decode(line, type=Noted)
        except msgspec.DecodeError:
            continue


def _row(job: Job, each: Noted) -> Redriven:
    return Redriven(
        cluster=job.cluster,
        group=job.request["group"],
        broker=each.broker,
        queue_id=each.queue_id,
        offset=each.offset,
        message_id=each.message_id,
        originals=job.request["originals"],
        # A line that says redriven has all of these.
        topic=each.topic or "",
        target_broker=each.target_broker or "",
        target_queue_id=each.target_queue_id or 0,
        target_offset=each.target_offset or 0,
        copy_id=each.copy_id or "",
        at=datetime.fromisoformat(each.at),
        job=job,
    )
