"""The checks of the topics of a request against their cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from broker_core.client.admin.topics import TopicKind
from broker_core.client.errors import NameIllegal, TopicNotFound
from broker_core.protocol.codes import PERM_WRITE
from console.clusters.connections import ClusterNotFound
from console.clusters.models import Cluster, ClusterKind
from console.clusters.operations import find_topic
from console.clusters.services import require as require_cluster
from console.jobs.requests.offsets import check_offsets


def check_cluster(name: str) -> None:
    """Raise ClusterNotFound for an unknown cluster, ValidationError for one that jobs cannot reach."""
    require_cluster(name)
    if Cluster.objects.exclude(address_map={}).filter(name=name).exists():
        fault = "jobs connect to brokers at their announced addresses; this cluster needs its address map"
        raise serializers.ValidationError({"cluster": fault})


def check_embedded(name: str) -> None:
    """Raise ValidationError for a cluster whose files are not on this machine."""
    if not Cluster.objects.filter(name=name, kind=ClusterKind.EMBEDDED).exists():
        fault = "only the store of the embedded broker is on this machine and can be checked"
        raise serializers.ValidationError({"cluster": fault})


def check_cluster_of(part: str, name: str) -> None:
    """Raise ValidationError for a cluster that a part names and that is not there, or that jobs cannot reach."""
    try:
        check_cluster(name)
    except ClusterNotFound as error:
        raise serializers.ValidationError({part: {"cluster": str(error)}}) from error
    except serializers.ValidationError as error:
        raise serializers.ValidationError({part: error.detail}) from error


def check_topic(cluster: str, part: str, asked: Mapping[str, Any]) -> None:
    """Raise ValidationError for a part whose cluster, topic, queues or right to be written are not there."""
    topic = asked["topic"]
    if "cluster" in asked:
        cluster = asked["cluster"]
        check_cluster_of(part, cluster)
    try:
        found = find_topic(cluster, topic)
    except (TopicNotFound, NameIllegal) as error:
        raise serializers.ValidationError({part: {"topic": str(error)}}) from error
    # A queue that became read-only or write-only may still hold messages.
    count = max(found.read_queues, found.write_queues)
    fault = f"topic {topic!r} has the queues 0 to {count - 1}"
    unknown: Any = {at: fault for at, queue in enumerate(asked.get("queues") or ()) if queue >= count}
    if unknown:
        raise serializers.ValidationError({part: {"queues": unknown}})
    if asked.get("offsets"):
        check_offsets(cluster, part, found, asked["offsets"])
    if part != "target":
        return
    # Some system topics have the name of the cluster or of a broker.
    check_kind(found.kind, topic)
    if not found.perm & PERM_WRITE:
        raise serializers.ValidationError({part: {"topic": f"topic {topic!r} is read-only"}})


def check_kind(kind: TopicKind, topic: str) -> None:
    """Raise ValidationError for a topic that jobs cannot write to."""
    if kind is not TopicKind.NORMAL:
        fault = f"topic {topic!r} belongs to the brokers or to a group ({kind.value}); jobs cannot write to it"
        raise serializers.ValidationError({"target": {"topic": fault}})
