"""Offset changes: preview, apply, undo; each change is written to the audit and leaves a snapshot for its undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from django.db.models import QuerySet
from django.utils import timezone
from msgspec import convert, to_builtins
from rest_framework.exceptions import APIException

from broker_core.client.admin import Admin
from broker_core.client.answers import Answers
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from console.audit.record import Actor, Result, record
from console.clusters.change_lock import change_lock
from console.clusters.connections import ask
from console.clusters.memory import remembered
from console.clusters.outcomes import is_uncertain, not_listed
from console.clusters.reasons import reason_of
from console.errors import BrokersSilent, Conflict, NotKnown
from console.fields import moment
from console.offsets import planning, reading
from console.offsets.models import OffsetPlan, OffsetSnapshot
from console.offsets.reading import Place, Wish
from console.offsets.shapes import (
    MovedQueue,
    OffsetPlanState,
    OffsetsMoved,
    OffsetSnapshotState,
    PlannedQueue,
    UnknownQueues,
)
from console.rows import row_of

R = TypeVar("R", OffsetPlan, OffsetSnapshot)
Sees = Callable[[str, str], bool]
"""Returns whether the caller may read this group's offsets in this topic."""

PLAN_LIVES: Final = timedelta(minutes=5)
_PLANS_KEPT: Final = timedelta(hours=1)
MOST_PLANS: Final = 1_000
"""Plans that wait for their application, of all groups."""
SNAPSHOTS_KEPT: Final = 100
"""The last changes of a group that can be listed and undone."""
_SHOWN: Final = 3
_ASK_SECONDS: Final = 60.0
"""A topic may have many queues, and each is asked for its bounds."""


class NoEffect(APIException):
    """The change would leave every queue as it is."""

    status_code = 422
    default_detail = "The change would have no effect."
    default_code = "no_effect"


@dataclass(frozen=True, slots=True)
class _Target:
    """The group and topic that a change is about."""

    cluster: str
    group: str
    topic: str

    @property
    def resource(self) -> str:
        """Its path in the audit."""
        return f"{self.cluster}/groups/{self.group}/topics/{self.topic}"


def preview(by: Actor, cluster: str, wish: Wish) -> OffsetPlanState:
    """Return what the change would do, and keep it as a plan for five minutes; nothing is changed.

    Raises NoEffect if it would change nothing, NotKnown for a queue that the topic does not have, BrokersSilent for one
    of a broker that does not answer, TopicNotFound.
    """
    situation = ask(cluster, lambda admin: reading.read(admin, wish), seconds=_ASK_SECONDS)
    unlisted = [
        UnknownQueues(broker=broker.name, reason=not_listed(broker))
        for broker in remembered(cluster).missing(situation.asked)
        if broker.holds(wish.topic)
    ]
    unknown = [*situation.unknown, *unlisted]
    rows = planning.plan(situation.readings)
    _check_places(wish, rows, unknown)
    if planning.changes_nothing(rows):
        raise NoEffect(_why_nothing(wish, rows))
    kept = OffsetPlan.objects.create(
        cluster=cluster,
        group=wish.group,
        topic=wish.topic,
        mode=wish.mode,
        rows=to_builtins(rows),
        created_by_id=by.user_id,
        expires_at=_room_for_a_plan() + PLAN_LIVES,
    )
    return OffsetPlanState(
        plan_id=kept.pk,
        expires_at=moment(kept.expires_at),
        group=wish.group,
        topic=wish.topic,
        mode=wish.mode,
        queues=rows,
        to_replay=sum(row.to_replay for row in rows),
        skipped=sum(row.skipped for row in rows),
        members=situation.members,
        unknown=unknown,
    )


def apply(by: Actor, cluster: str, group: str, plan_id: str, sees: Sees, *, is_strict: bool) -> OffsetsMoved:
    """Move the group to the offsets of a plan, once.

    Raises NotKnown for a plan that does not exist or that the caller may not see, Conflict for one that has expired or
    was applied, and, if strict, Conflict if the group has moved since. Raises the first failure if no queue was moved.
    """
    plan = _seen(OffsetPlan.objects.filter(cluster=cluster, group=group), plan_id, sees)
    rows = convert(plan.rows, list[PlannedQueue])
    wanted = {row.place: row.new for row in rows if row.new is not None}
    target = _Target(cluster, group, plan.topic)
    with change_lock(cluster, "offsets", group), _claimed(plan), _failure_recorded(by, target, plan.mode, wanted):
        now = _offsets_now(target)
        moved = planning.moved_since(rows, now)
        if is_strict and moved:
            raise Conflict(_words_of(moved, now))
        return _move(by, target, plan.mode, now, wanted)


def undo(by: Actor, cluster: str, group: str, snapshot_id: str, sees: Sees) -> OffsetsMoved:
    """Move the group back to the offsets before a change, once; queues that had none stay where they are.

    Raises NotKnown for a change that was not made or that the caller may not see, Conflict for one that was undone.
    """
    snapshot = _seen(OffsetSnapshot.objects.filter(cluster=cluster, group=group), snapshot_id, sees)
    before = {(row.broker, row.queue_id): row.before for row in _rows_of(snapshot) if row.done is not False}
    with change_lock(cluster, "offsets", group):
        if not OffsetSnapshot.objects.filter(pk=snapshot.pk, undone_at=None).update(undone_at=timezone.now()):
            raise Conflict("This change was already undone.")
        target = _Target(cluster, group, snapshot.topic)
        try:
            wanted = {place: at for place, at in before.items() if at is not None}
            if not wanted:
                raise Conflict("The group had no offset in any of these queues before, so there is no way back.")
            with _failure_recorded(by, target, "undo", wanted):
                return _move(by, target, "undo", _offsets_now(target), wanted)
        except Exception:
            OffsetSnapshot.objects.filter(pk=snapshot.pk).update(undone_at=None)
            raise


def snapshots(cluster: str, group: str) -> list[OffsetSnapshotState]:
    """Return the last changes of a group's offsets, newest first."""
    rows = OffsetSnapshot.objects.filter(cluster=cluster, group=group)[:SNAPSHOTS_KEPT]
    return [
        OffsetSnapshotState(
            snapshot_id=row.pk,
            topic=row.topic,
            mode=row.mode,  # type: ignore[arg-type]  # the column holds a Mode or "undo"
            created_by=row.created_by,
            created_at=moment(row.created_at),
            undone_at=None if row.undone_at is None else moment(row.undone_at),
            queues=_rows_of(row),
        )
        for row in rows
    ]


def _seen(rows: QuerySet[R], key: str, sees: Sees) -> R:
    """Return the plan or snapshot; one that the caller may not see is answered like one that does not exist."""
    row = row_of(rows, key)
    return row if sees(row.group, row.topic) else row_of(rows.none(), key)


def _move(by: Actor, target: _Target, mode: str, now: Mapping[Place, int], wanted: Mapping[Place, int]) -> OffsetsMoved:
    """Move the group, keep a snapshot and write the audit; raise the first failure if nothing was moved."""
    answers = ask(target.cluster, lambda admin: _ask_to_move(admin, target, wanted), seconds=_ASK_SECONDS)
    if not answers.found:
        raise next(iter(answers.failed.values()))
    rows = [_moved(target, place, now.get(place), to, answers) for place, to in sorted(wanted.items())]
    before = {f"{row.broker}/{row.queue_id}": row.before for row in rows}
    after = {f"{row.broker}/{row.queue_id}": row.after if row.done else row.reason for row in rows}
    result: Result = "partial" if answers.failed else "ok"
    kept = OffsetSnapshot.objects.create(
        cluster=target.cluster,
        group=target.group,
        topic=target.topic,
        mode=mode,
        rows=to_builtins(rows),
        created_by=by.name,
    )
    record(by, "group.offsets", target.resource, result=result, before=before, after={"mode": mode, **after})
    _forget_old_snapshots(target)
    return OffsetsMoved(snapshot_id=kept.pk, group=target.group, topic=target.topic, queues=rows)


@contextmanager
def _failure_recorded(by: Actor, target: _Target, mode: str, wanted: Mapping[Place, int]) -> Iterator[None]:
    """Write to the audit what was wanted if a broker refuses it or does not answer: it may have moved the group."""
    try:
        yield
    except GantryError as error:
        wish = {f"{broker}/{queue}": to for (broker, queue), to in wanted.items()}
        after = {"mode": mode, **wish, "error": reason_of(error)}
        record(by, "group.offsets", target.resource, result="failed", after=after)
        raise


async def _ask_to_move(admin: Admin, target: _Target, wanted: Mapping[Place, int]) -> Answers[None]:
    offsets = {MessageQueue(target.topic, broker, queue): to for (broker, queue), to in wanted.items()}
    connections = await admin.groups.connections(target.group)
    # A broker that does not answer may have members too.
    return await admin.offsets.move(target.group, offsets, members={*connections.members, *connections.failed})


def _moved(target: _Target, place: Place, before: int | None, after: int, answers: Answers[None]) -> MovedQueue:
    broker, queue_id = place
    error: GantryError | None = answers.failed.get(f"{target.topic}@{broker}@{queue_id}")
    return MovedQueue(
        broker=broker,
        queue_id=queue_id,
        before=before,
        after=after,
        done=None if error is not None and is_uncertain(error) else error is None,
        reason=None if error is None else reason_of(error),
    )


def _offsets_now(target: _Target) -> dict[Place, int]:
    return ask(target.cluster, lambda admin: reading.offsets_now(admin, target.group, target.topic))


@contextmanager
def _claimed(plan: OffsetPlan) -> Iterator[None]:
    """Mark the plan as applied, unless what is done with it fails; raise Conflict if it already is, or has expired."""
    if plan.expires_at <= timezone.now():
        raise Conflict(f"The plan expired at {moment(plan.expires_at)}; preview the change again.")
    if not OffsetPlan.objects.filter(pk=plan.pk, applied_at=None).update(applied_at=timezone.now()):
        raise Conflict("The plan was already applied; preview the change again.")
    try:
        yield
    except Exception:
        OffsetPlan.objects.filter(pk=plan.pk).update(applied_at=None)
        raise


def _room_for_a_plan() -> datetime:
    """Forget old plans and return the present time; raise Conflict if too many plans wait."""
    now = timezone.now()
    OffsetPlan.objects.filter(expires_at__lt=now - _PLANS_KEPT).delete()
    if OffsetPlan.objects.filter(expires_at__gte=now, applied_at=None).count() >= MOST_PLANS:
        raise Conflict(
            f"{MOST_PLANS} plans wait for their application, which is the limit; try again in a few minutes."
        )
    return now


def _forget_old_snapshots(target: _Target) -> None:
    of_group = OffsetSnapshot.objects.filter(cluster=target.cluster, group=target.group)
    kept = of_group.values_list("pk", flat=True)[:SNAPSHOTS_KEPT]
    of_group.exclude(pk__in=list(kept)).delete()


def _rows_of(snapshot: OffsetSnapshot) -> list[MovedQueue]:
    return convert(snapshot.rows, list[MovedQueue])


def _check_places(wish: Wish, rows: Sequence[PlannedQueue], unknown: Sequence[UnknownQueues]) -> None:
    """Raise BrokersSilent for a queue of a broker that does not answer, NotKnown for one that is not there."""
    wanted = {*(wish.queues or ()), *(wish.offsets or ())}
    strange = sorted(wanted - {row.place for row in rows})
    if strange:
        names = ", ".join(f"{broker}/{queue}" for broker, queue in strange[:_SHOWN])
        silent = [each.reason for each in unknown if each.broker in {broker for broker, _ in strange}]
        if silent:
            raise BrokersSilent(f"Where the group is in {names} is not known: {'; '.join(silent)}.")
        raise NotKnown(f"Topic {wish.topic!r} has no queue {names}.")


def _why_nothing(wish: Wish, rows: Sequence[PlannedQueue]) -> str:
    if not rows:
        return f"Topic {wish.topic!r} has no queues."
    if all(row.warning == "no_source" for row in rows):
        of = f"Group {wish.source!r}" if wish.mode == "copy_from" else f"Group {wish.group!r}"
        return f"{of} has no offset in these queues, so there is nothing to go by."
    return "The group is already at these offsets."


def _words_of(moved: Sequence[PlannedQueue], now: Mapping[Place, int]) -> str:
    first = ", ".join(
        f"{row.broker}/{row.queue_id} from {row.current} to {now.get(row.place)}" for row in moved[:_SHOWN]
    )
    more = f" and {len(moved) - _SHOWN} more" if len(moved) > _SHOWN else ""
    return f"The group has moved since the preview: {first}{more}. Preview again, or apply without strict."
