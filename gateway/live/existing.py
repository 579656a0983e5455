"""Which subjects are of a cluster or a job that there is not, or not for the principal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from console.accounts.rights import EVERYTHING
from console.clusters.models import Cluster
from console.jobs.visibility import existing_jobs
from gateway.auth import Principal


async def missing(subjects: Iterable[str], principal: Principal) -> Mapping[str, str]:
    """Return those of the subjects of whose cluster or job the principal knows nothing, with the reason in words.

    A group may be made later, so one that there is not is none of them.
    """
    parted = {subject: subject.split(":", 2) for subject in subjects}
    jobs = {subject: parts[1] for subject, parts in parted.items() if parts[0] == "job" and len(parts) > 1}
    clusters = {subject: parts[1] for subject, parts in parted.items() if parts[0] != "job" and len(parts) > 1}
    if not jobs and not clusters:
        return {}
    known_clusters, known_jobs = await sync_to_async(_known, thread_sensitive=False)(
        set(clusters.values()), set(jobs.values()), reads_bodies=principal.may("bodies", EVERYTHING)
    )
    return {
        **{subject: _why("cluster", name) for subject, name in clusters.items() if name not in known_clusters},
        **{subject: _why("job", name) for subject, name in jobs.items() if name not in known_jobs},
    }


def _known(clusters: set[str], jobs: set[str], *, reads_bodies: bool) -> tuple[set[str], set[str]]:
    close_old_connections()
    try:
        return (
            set(Cluster.objects.filter(name__in=clusters).values_list("name", flat=True)) if clusters else set(),
            existing_jobs(jobs, reads_bodies=reads_bodies) if jobs else set(),
        )
    finally:
        close_old_connections()


def _why(kind: str, name: str) -> str:
    return f"There is no {kind} {name[:60]!r}."
