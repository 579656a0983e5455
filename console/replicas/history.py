"""What controllers decided about each broker name over time: who was master, who was in sync, why, and since when.

A controller keeps the newest state and the last elections. The sampler looks every two seconds: no election is missed,
but of other changes that follow each other faster only the last one is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import accumulate, zip_longest
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from msgspec.structs import replace

from broker_core.protocol.bodies.controller import NameState
from console.clusters.models import Cluster
from console.moments import rfc3339
from console.replicas.models import SeenDecision
from console.replicas.shapes import PastDecision, Replica, ReplicaHistory, Replicas

MAX_KEPT: Final = 200
"""Of each broker name; the oldest go."""


def keep(cluster: str, states: Iterable[NameState], at: int) -> None:
    """Store each state that differs from the last one of its name in epoch, master, set or replicas.

    Elections between are stored too. `at`, when they were seen, is in ms since 1970. A decision that is stored already
    is not stored again: an engine that was restored from a copy tells old ones once more.
    """
    with transaction.atomic():
        owner = Cluster.objects.filter(name=cluster).first()
        if owner is None:
            return
        for state in states:
            rows = SeenDecision.objects.filter(cluster=owner, broker=state.name).order_by("-pk")
            last, known = rows.first(), {_made(row) for row in rows}
            if last is not None and last.replicas is None:
                last.replicas = sorted(state.replicas)
                last.save(update_fields=["replicas"])
            for made in [*_elected(owner, state, last, at), _of(owner, state, at)]:
                if (last is None or _what(last) != _what(made)) and _made(made) not in known:
                    made.save()
                    last = made
            _trim(owner, state.name)


def keep_adoption(cluster: str, state: NameState, by: str, at: int) -> None:
    """Store that the user `by` adopted a state: the election that follows at once hides it from the sampler."""
    with transaction.atomic():
        owner = Cluster.objects.filter(name=cluster).first()
        if owner is None:
            return
        made = _of(owner, state, at)
        made.why = f"{state.last.why} by {by}"
        rows = SeenDecision.objects.filter(cluster=owner, broker=state.name)
        if (same := next((row for row in rows if _made(row) == _made(made)), None)) is not None:
            made.pk, made.seen_at = same.pk, same.seen_at
        made.save()


def read(cluster: str, broker: str, limit: int) -> ReplicaHistory:
    """Return the last decisions, the newest first; none of a name that no controller knows."""
    rows = list(_rows(cluster).filter(broker=broker)[: limit + 1])
    items = [_shown(row, before) for row, before in zip_longest(rows, rows[1:])]
    return ReplicaHistory(broker=broker, items=items[:limit])


def is_seen(cluster: str, broker: str) -> bool:
    """Return whether a decision about a broker name was ever seen."""
    return _rows(cluster).filter(broker=broker).exists()


def with_since(cluster: str, shown: Replicas) -> Replicas:
    """Return the replicas with since when each is in the in-sync set."""
    since = _in_sync_since(cluster, shown.broker)
    return replace(shown, replicas=[_since(each, since.get(each.broker_id)) for each in shown.replicas])


def _since(replica: Replica, moment: str | None) -> Replica:
    if replica.failover is None or not replica.failover.in_sync:
        return replica
    return replace(replica, failover=replace(replica.failover, in_sync_since=moment))


def _in_sync_since(cluster: str, broker: str) -> dict[int, str]:
    """Return since when the members of the newest in-sync set are in it without a break, as far as is kept."""
    found: dict[int, str] = {}
    members: set[int] | None = None
    for row in _rows(cluster).filter(broker=broker):
        members = set(row.in_sync) if members is None else members & set(row.in_sync)
        if not members:
            break
        found |= dict.fromkeys(members, _text(row.decided_at or row.seen_at))
    return found


def names(cluster: str) -> list[str]:
    """Return the broker names of which a decision was ever seen."""
    return list(_rows(cluster).order_by("broker").values_list("broker", flat=True).distinct())


def elections(cluster: str, since: int) -> dict[str, list[int]]:
    """Return when a newer epoch of a name was seen to begin, after `since`; both in ms since 1970.

    The first decision that was ever seen of a name is no election: what was before it is not known. Nor is one that
    comes again after the engine was set back.
    """
    found: dict[str, list[int]] = {}
    for name in (
        _rows(cluster).filter(seen_at__gt=_moment(since)).order_by().values_list("broker", flat=True).distinct()
    ):
        led = _rows(cluster).filter(broker=name, master_id__isnull=False)  # an adoption elects nobody
        seen = list(led.order_by("pk").values_list("epoch", "seen_at"))
        newest = accumulate((epoch for epoch, _ in seen), max)
        moments = [_ms(at) for before, (epoch, at) in zip(newest, seen[1:], strict=False) if epoch > before]
        found[name] = [at for at in moments if at > since]
    return found


def _rows(cluster: str) -> QuerySet[SeenDecision]:
    """Return what is stored of a cluster, the newest first: by when it was decided, not by when it was seen."""
    moment = Coalesce("decided_at", "seen_at")
    return SeenDecision.objects.filter(cluster__name=cluster).order_by(moment.desc(), "-epoch", "-version", "-pk")


def _elected(owner: Cluster, state: NameState, last: SeenDecision | None, at: int) -> list[SeenDecision]:
    """Return the elections after the epoch that was seen last; of a name that was never seen only the newest."""
    seen = state.epoch - 1 if last is None else last.epoch
    return [
        SeenDecision(
            cluster=owner,
            broker=state.name,
            epoch=each.epoch,
            version=each.version,
            master_id=each.master.id,
            in_sync=sorted(each.in_sync),
            # An election says nothing of others: who came or went is told with the state.
            replicas=sorted(state.replicas) if last is None else last.replicas,
            why=each.why,
            by=each.by,
            decided_at=_moment(each.at),
            seen_at=_moment(at),
        )
        for each in state.elected
        if seen < each.epoch <= state.epoch
    ]


def _of(owner: Cluster, state: NameState, at: int) -> SeenDecision:
    return SeenDecision(
        cluster=owner,
        broker=state.name,
        epoch=state.epoch,
        version=state.version,
        master_id=None if state.master is None else state.master.id,
        in_sync=sorted(state.in_sync),
        replicas=sorted(state.replicas),
        why=state.last.why,
        by=state.last.by,
        decided_at=_moment(state.last.at) if state.last.at else None,
        seen_at=_moment(at),
    )


def _what(row: SeenDecision) -> tuple[int, int | None, list[int], list[int] | None]:
    return row.epoch, row.master_id, row.in_sync, row.replicas


def _made(row: SeenDecision) -> tuple[int, int, int | None, tuple[int, ...], datetime | None]:
    """Return what only one and the same decision has."""
    return row.epoch, row.version, row.master_id, tuple(row.in_sync), row.decided_at


def _trim(owner: Cluster, broker: str) -> None:
    rows = SeenDecision.objects.filter(cluster=owner, broker=broker)
    oldest = list(rows.values_list("pk", flat=True)[MAX_KEPT - 1 : MAX_KEPT])
    if oldest:
        rows.filter(pk__lt=oldest[0]).delete()


def _shown(row: SeenDecision, before: SeenDecision | None) -> PastDecision:
    now = set(row.replicas or ())
    was = now if before is None or before.replicas is None else set(before.replicas)
    return PastDecision(
        epoch=row.epoch,
        version=row.version,
        master_id=row.master_id,
        in_sync=row.in_sync,
        added=sorted(now - was),
        removed=sorted(was - now),
        why=row.why,
        by=row.by,
        at=None if row.decided_at is None else _text(row.decided_at),
        seen_at=_text(row.seen_at),
    )


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def _text(moment: datetime) -> str:
    return rfc3339(_ms(moment))


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
