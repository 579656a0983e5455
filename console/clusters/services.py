"""Changes to the list of clusters, each written into the audit; and the look-up that connections use."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import close_old_connections, transaction

from console.audit.record import Actor, record
from console.clusters.connections import ClusterAddress
from console.clusters.models import Cluster, ClusterKind

EMBEDDED = "local"


async def find_address(name: str) -> ClusterAddress | None:
    """Return where the cluster is reached, or None when the console does not know it."""
    # Not the thread that Django's own async look-ups use: a view asks from that very thread and waits for this.
    return await sync_to_async(_find_address, thread_sensitive=False)(name)


def _find_address(name: str) -> ClusterAddress | None:
    close_old_connections()
    try:
        cluster = Cluster.objects.filter(name=name).first()
    finally:
        close_old_connections()
    return None if cluster is None else address_of(cluster)


def address_of(cluster: Cluster) -> ClusterAddress:
    """Return where the cluster is reached. The embedded one moves with the settings of the process."""
    if cluster.kind == ClusterKind.EMBEDDED:
        return ClusterAddress(cluster.name, tuple(settings.GANTRY_NAME_SERVERS))
    return ClusterAddress(cluster.name, tuple(cluster.name_servers))


def ensure_embedded() -> Cluster:
    """Return the row of the embedded cluster, made if it is not there, with today's name servers."""
    cluster, _ = Cluster.objects.update_or_create(
        name=EMBEDDED,
        defaults={"kind": ClusterKind.EMBEDDED, "name_servers": list(settings.GANTRY_NAME_SERVERS)},
    )
    return cluster


@transaction.atomic
def add(by: Actor, *, name: str, name_servers: list[str]) -> Cluster:
    """Add an Apache RocketMQ cluster."""
    cluster = Cluster.objects.create(name=name, kind=ClusterKind.ROCKETMQ, name_servers=name_servers)
    record(by, "cluster.create", name, after=_state(cluster))
    return cluster


@transaction.atomic
def change(by: Actor, cluster: Cluster, *, name_servers: list[str]) -> Cluster:
    """Give the cluster other name servers; connections follow within seconds."""
    before = _state(cluster)
    cluster.name_servers = name_servers
    cluster.save(update_fields=["name_servers"])
    record(by, "cluster.update", cluster.name, before=before, after=_state(cluster))
    return cluster


@transaction.atomic
def remove(by: Actor, cluster: Cluster) -> None:
    """Forget the cluster; nothing happens to the cluster itself."""
    before = _state(cluster)
    cluster.delete()
    record(by, "cluster.delete", cluster.name, before=before)


def _state(cluster: Cluster) -> dict[str, Any]:
    return {"name": cluster.name, "kind": cluster.kind, "name_servers": list(address_of(cluster).name_servers)}
