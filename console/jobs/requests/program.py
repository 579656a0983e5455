"""The file that the program of a job reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
from django.conf import settings

from broker_core.remoting import ClientTls, ClientTlsFiles
from console.clusters import own_brokers
from console.clusters.models import Cluster, ClusterKind
from console.clusters.services import address_of
from console.jobs.models import Job, JobType
from console.redrives import ledger

EMBEDDED_BROKER: Final = own_brokers.broker_names(1)[0]


def program_request(job: Job) -> dict[str, Any]:
    """Return the content of ``request.json``: the request, and where store, brokers and Spark are."""
    redriven = {"redriven": ledger.earlier(job)} if job.type == JobType.REDRIVE else {}
    return {
        **redriven,
        "job_id": job.id,
        "type": job.type,
        "cluster": job.cluster,
        "attempt": job.attempt,
        "queued_at_ms": int(job.queued_at.timestamp() * 1000) if job.queued_at else None,
        "request_hash": job.request_hash,
        "created_by": job.created_by.get_username() if job.created_by else "system",
        "request": job.request,
        "source": _place_of(job.cluster),
        "clusters": {name: _place_of(name) for name in _other_clusters(job)},
        "files_folder": _text(settings.GANTRY_JOBS_FILES),
        "databases_file": _text(settings.GANTRY_JOBS_DATABASES),
        "spark": {
            "master": settings.GANTRY_SPARK_MASTER,
            "executor_python": settings.GANTRY_SPARK_PYTHON or None,
            "cache": str(settings.GANTRY_DATA_DIR / "cache" / "spark"),
            "jobs_at_once": settings.GANTRY_JOBS_AT_ONCE,
            "conf_file": _text(settings.GANTRY_SPARK_CONF),
        },
    }


def _place_of(name: str) -> dict[str, Any]:
    cluster = Cluster.objects.get(name=name)
    address = address_of(cluster)
    # Only the files of our own brokers are on this machine, unless they run elsewhere.
    own = own_brokers.stores(settings.GANTRY_DATA_DIR, settings.GANTRY_BROKERS)
    if settings.GANTRY_REPLICAS > 1:
        own = {}  # which one is master changes, and what the others have is not all of it
    is_embedded = cluster.kind == ClusterKind.EMBEDDED
    stores = {name: str(folder) for name, folder in own.items() if is_embedded and folder.is_dir()}
    return {
        "store": stores.pop(EMBEDDED_BROKER, None),
        "broker": EMBEDDED_BROKER,
        "more_stores": stores,
        "name_servers": list(address.name_servers),
        "address_map": dict(address.address_map),
        # The file is for this user alone, as the database is.
        "access_key": None if address.credentials is None else address.credentials.access_key,
        "secret_key": None if address.credentials is None else address.credentials.secret_key,
        "tls": _texts_of(address.tls),
    }


def _texts_of(tls: ClientTls | ClientTlsFiles | None) -> dict[str, Any] | None:
    """Return TLS with the content of its files: a program may run where these are not."""
    if tls is None:
        return None
    texts: dict[str, Any] = msgspec.to_builtins(tls.read() if isinstance(tls, ClientTlsFiles) else tls)
    return texts


def _other_clusters(job: Job) -> set[str]:
    """Return the clusters that parts of the request name beside that of the job."""
    parts = (part for part in job.request.values() if isinstance(part, dict))
    return {part["cluster"] for part in parts if part.get("cluster")} - {job.cluster}


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
