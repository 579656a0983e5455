"""Changes of the list of clusters, each written to the audit; and the look-up that connections use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from functools import partial
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import close_old_connections, transaction

from broker_core.client.admin import Admin
from broker_core.client.answers import ask_all
from broker_core.errors import GantryError
from broker_core.protocol.signature import Credentials
from console.audit.record import Actor, record
from console.clusters.accounts import changed_account, credentials_of
from console.clusters.connections import ClusterAddress, ClusterNotFound, ask, look_up_again
from console.clusters.memory import RememberedBroker, drop_process, remembered
from console.clusters.models import Cluster, ClusterKind, KnownBroker
from console.clusters.tls import audited, client_tls, with_stored_key
from console.errors import AlreadyExists, Conflict, NotKnown
from console.jobs.models import ACTIVE_STATES, Job, Schedule
from console.moments import rfc3339
from console.rows import unless_taken

EMBEDDED = "local"
MAX_CLUSTERS: Final = 50
"""All clusters of the console, the embedded one included: the sampler stands as many."""


async def find_address(name: str) -> ClusterAddress | None:
    """Return the cluster's address, or None for an unknown cluster."""
    # Not in the thread of Django's async look-ups: a view waits in that thread for this result.
    return await sync_to_async(_find_address, thread_sensitive=False)(name)


def _find_address(name: str) -> ClusterAddress | None:
    close_old_connections()
    try:
        cluster = Cluster.objects.filter(name=name).first()
    finally:
        close_old_connections()
    return None if cluster is None else address_of(cluster)


def address_of(cluster: Cluster) -> ClusterAddress:
    """Return the cluster's address; that of the embedded cluster comes from the settings of the process."""
    if cluster.kind == ClusterKind.EMBEDDED:
        servers = tuple(settings.GANTRY_NAME_SERVERS)
        return ClusterAddress(
            cluster.name, servers, credentials=settings.GANTRY_CREDENTIALS, tls=settings.GANTRY_OWN_TLS
        )
    return ClusterAddress(
        cluster.name,
        tuple(cluster.name_servers),
        tuple(sorted(cluster.address_map.items())),
        credentials_of(cluster.access_key, cluster.secret_key),
        client_tls(cluster.tls),
    )


def ensure_embedded() -> Cluster:
    """Return the row of the embedded cluster with its current name servers; create it if it does not exist."""
    cluster, _ = Cluster.objects.update_or_create(
        name=EMBEDDED,
        defaults={"kind": ClusterKind.EMBEDDED, "name_servers": list(settings.GANTRY_NAME_SERVERS)},
    )
    return cluster


def add(
    by: Actor,
    *,
    name: str,
    name_servers: list[str],
    address_map: Mapping[str, str] | None = None,
    access_key: str = "",
    secret_key: str = "",
    tls: Mapping[str, Any] | None = None,
) -> Cluster:
    """Add an Apache RocketMQ cluster.

    Raises AlreadyExists, Conflict if there are `MAX_CLUSTERS`, and ValidationError for half an account.
    """
    changed_account(Cluster(), access_key, secret_key)
    refusal = AlreadyExists(f"There is already a cluster named {name!r}.")
    with unless_taken(Cluster.objects.filter(name=name), refusal):
        if Cluster.objects.count() >= MAX_CLUSTERS:
            raise Conflict(f"There are {MAX_CLUSTERS} clusters, and more are not allowed; delete one first.")
        cluster = Cluster.objects.create(
            name=name,
            kind=ClusterKind.ROCKETMQ,
            name_servers=name_servers,
            address_map=dict(address_map or {}),
            access_key=access_key,
            secret_key=secret_key,
            tls=with_stored_key(tls, None),
        )
        record(by, "cluster.create", name, after=_state(cluster))
    return cluster


def account_to_try(cluster: str | None, access_key: str, secret_key: str) -> Credentials | None:
    """Return the account of a connection that is tried; without a secret that of the cluster with the same name."""
    row = Cluster.objects.filter(name=cluster).first() if cluster else None
    return credentials_of(*changed_account(row or Cluster(), access_key, secret_key or None))


def require(name: str) -> None:
    """Raise ClusterNotFound unless the console knows a cluster of this name."""
    if not Cluster.objects.filter(name=name).exists():
        raise ClusterNotFound(name)


@transaction.atomic
def change(
    by: Actor,
    cluster: Cluster,
    *,
    name_servers: list[str] | None = None,
    address_map: Mapping[str, str] | None = None,
    access_key: str | None = None,
    secret_key: str | None = None,
    **more: Any,
) -> Cluster:
    """Change what is given; connections follow within seconds. Raises ValidationError for half an account.

    With ``tls=None`` they are in plaintext. A client certificate without its key keeps the key that it has.
    """
    before, former = _state(cluster), cluster.secret_key
    cluster.access_key, cluster.secret_key = changed_account(cluster, access_key, secret_key)
    if name_servers is not None:
        cluster.name_servers = name_servers
    if address_map is not None:
        cluster.address_map = dict(address_map)
    if "tls" in more:
        cluster.tls = with_stored_key(more["tls"], cluster.tls)
    cluster.save(update_fields=["name_servers", "address_map", "access_key", "secret_key", "tls"])
    replaced = {"secret_key": "replaced"} if cluster.secret_key not in ("", former) else {}
    record(by, "cluster.update", cluster.name, before=before, after=_state(cluster) | replaced)
    transaction.on_commit(partial(look_up_again, cluster.name))
    return cluster


@transaction.atomic
def remove(by: Actor, cluster: Cluster) -> None:
    """Remove the cluster from the console, not the cluster itself; raise Conflict while jobs need it."""
    before = _state(cluster)
    _refuse_while_needed(cluster.name)
    cluster.delete()
    record(by, "cluster.delete", cluster.name, before=before)
    transaction.on_commit(partial(look_up_again, cluster.name))


def _refuse_while_needed(name: str) -> None:
    """Raise Conflict if a job of the cluster has not ended, or a schedule would start one."""
    job = Job.objects.filter(cluster=name, state__in=ACTIVE_STATES).first()
    if job is not None:
        raise Conflict(
            f"Job {job.id} ({job.name}) of cluster {name!r} is {job.state}. Cancel it, or wait until it ends."
        )
    planned = Schedule.objects.filter(enabled=True, job__cluster=name).first()
    if planned is not None:
        raise Conflict(f"Schedule {planned.name!r} starts jobs of cluster {name!r}. Switch it off or delete it first.")


def forget_broker(by: Actor, cluster: Cluster, name: str) -> None:
    """Forget a broker and its content, which then no longer count as missing.

    Raises NotKnown for a broker that is not remembered, Conflict for one that answers or is registered.
    """
    known = remembered(cluster.name).brokers.get(name)
    if known is None:
        raise NotKnown(f"No broker named {name!r} is remembered in cluster {cluster.name!r}.")
    before = _broker_state(known)
    resource = f"{cluster.name}/brokers/{name}"
    reason = ask(cluster.name, lambda admin: _why_kept(admin, known))
    if reason is not None:
        record(by, "broker.forget", resource, result="refused", before=before, after={"error": reason})
        raise Conflict(reason)
    with transaction.atomic():
        KnownBroker.objects.filter(cluster=cluster, name=name).delete()
        record(by, "broker.forget", resource, before=before)


def forget_process(by: Actor, cluster: Cluster, name: str, broker_id: int) -> None:
    """Forget one process of a broker name, such as a slave that will not return.

    Raises NotKnown for one that is not remembered, Conflict for one that is registered.
    """
    known = remembered(cluster.name).brokers.get(name)
    found = None if known is None else next((each for each in known.processes if each.broker_id == broker_id), None)
    if found is None:
        raise NotKnown(f"No broker {name!r} with id {broker_id} is remembered in cluster {cluster.name!r}.")
    before = {
        "broker_id": broker_id,
        "address": found.address,
        "last_seen_at": rfc3339(int(found.last_seen_at.timestamp() * 1000)),
    }
    resource = f"{cluster.name}/brokers/{name}"
    listed = ask(cluster.name, lambda admin: admin.clusters.brokers())
    if any((each.name, each.broker_id) == (name, broker_id) for each in listed):
        reason = f"{name} with id {broker_id} is registered at the name server. Stop it first, and wait two minutes."
        record(by, "broker.forget", resource, result="refused", before=before, after={"error": reason})
        raise Conflict(reason)
    with transaction.atomic():
        drop_process(cluster.name, name, broker_id)
        record(by, "broker.forget", resource, before=before)


async def _why_kept(admin: Admin, known: RememberedBroker) -> str | None:
    """Return why the broker cannot be forgotten now (it would be seen again at once), None if it is gone."""
    try:
        listed = await admin.clusters.brokers()
    except GantryError:  # no name server answers; the broker itself may still run
        listed = []
    if any(broker.name == known.name for broker in listed):
        return (
            f"{known.name} is registered at the name server, which forgets it two minutes after its last heartbeat. "
            "Stop the broker, or wait."
        )
    others = {broker.addr for broker in listed}
    own = [address for address in known.addresses.values() if address not in others]
    if (await ask_all(own, admin.clusters.runtime_of)).found:
        return f"{known.name} at {known.address} answers. Stop it first."
    return None


def _broker_state(known: RememberedBroker) -> dict[str, object]:
    seen = int(known.last_seen_at.astimezone(UTC).timestamp() * 1000)
    return {
        "addresses": list(known.addresses.values()),
        "topics": len(known.topics),
        "groups": len(known.groups),
        "last_seen_at": rfc3339(seen),
    }


def _state(cluster: Cluster) -> dict[str, object]:
    servers = list(address_of(cluster).name_servers)
    mapped = {"address_map": dict(cluster.address_map)} if cluster.address_map else {}
    account = {"access_key": cluster.access_key} if cluster.access_key else {}
    secured = {} if cluster.tls is None else {"tls": audited(cluster.tls)}
    return {"name": cluster.name, "kind": cluster.kind, "name_servers": servers, **mapped, **account, **secured}
