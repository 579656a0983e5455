"""What patterns of names cover now, over all clusters; asks no broker that the sampler has asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from rest_framework.exceptions import APIException

from broker_core.errors import GantryError
from console.accounts.deciding import Rights
from console.accounts.rights import Kind, Resource
from console.accounts.rules import Rule
from console.clusters.models import Cluster
from console.jobs.models import JobType, Schedule
from console.lag import current

_SHOWN: Final = 10


class Covered(Struct, frozen=True, kw_only=True):
    """The names that a pattern covers now."""

    kind: Kind
    pattern: str
    count: int | None
    """Null: unknown, see `unknown_reason`; `names` may still have some."""
    names: list[str]
    unknown_reason: str | None


def covered(patterns: Sequence[Rule], rights: Rights) -> list[Covered]:
    """Return for each pattern the names that it covers and that `rights` allow to read."""
    known = {kind: _names(kind, rights) for kind in {pattern.kind for pattern in patterns}}
    return [_covered(pattern, *known[pattern.kind]) for pattern in patterns]


def _covered(pattern: Rule, names: Sequence[str], unknown_reason: str | None) -> Covered:
    found = [name for name in names if pattern.matches(name)]
    return Covered(
        kind=pattern.kind,
        pattern=pattern.pattern,
        count=None if unknown_reason else len(found),
        names=found[:_SHOWN],
        unknown_reason=unknown_reason,
    )


def _names(kind: Kind, rights: Rights) -> tuple[list[str], str | None]:
    """Return the sorted names of a kind, and why some are unknown."""
    clusters = list(Cluster.objects.values_list("name", flat=True))
    reasons: list[str] = []
    names: Iterable[str]
    if kind == "job":
        names = JobType.values
    elif kind == "schedule":
        names = Schedule.objects.values_list("name", flat=True)
    elif kind == "cluster":
        names = clusters
    else:
        read = _topics if kind == "topic" else _groups
        names = {name for cluster in clusters for name in _asked(read, cluster, reasons)}
    may_read = [name for name in names if rights.may("read", Resource(kind, name))]
    return sorted(may_read), "; ".join(reasons) or None


def _asked(read: Callable[[str], list[str]], cluster: str, reasons: list[str]) -> list[str]:
    try:
        seen = current.overview(cluster)
        if seen.missing or seen.unknown_reason is not None:
            # What is remembered of them may be no more, and they may have what nobody saw.
            silent = "; ".join(each.reason for each in seen.missing) or seen.unknown_reason
            reasons.append(f"not all of cluster {cluster!r} is known now: {silent}")
        return read(cluster)
    except (GantryError, APIException) as error:
        reasons.append(f"cluster {cluster!r} is not known now: {error}")
        return []


def _topics(cluster: str) -> list[str]:
    return list(current.topics(cluster))


def _groups(cluster: str) -> list[str]:
    return [group.name for group in current.groups(cluster)]
