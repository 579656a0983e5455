"""The request of a job: its form in the API, the checks against the cluster, and the file that its program reads."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import orjson
from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from broker_core.client.admin.topics import TopicKind, kind_of
from broker_core.client.errors import NameIllegal, TopicNotFound
from broker_core.protocol.codes import PERM_WRITE
from console.clusters.models import Cluster, ClusterKind
from console.clusters.operations import find_topic
from console.clusters.services import address_of
from console.clusters.services import require as require_cluster
from console.fields import NameField
from console.jobs.bounds import LAST_SUCCESS, BoundField, RunTimes, holds_nothing
from console.jobs.models import Job, JobDocument, JobType
from console.jobs.visibility import require_parts
from console.redrives import ledger

MAX_KEYS: Final = 1000
EMBEDDED_BROKER: Final = "broker-a"
ON_DAMAGE: Final = ("skip", "stop")
_REPLAY: Final = ("source", "target", "limits")
_RECONCILE: Final = ("left", "right", "by", "compare", "order")
RANGES: Final = ("source", "left", "right")
BY: Final = ("key", "unique_id", "body", "source")
COMPARE: Final = ("body", "none")
FIELDS: Final = ("body", "tag", "keys", "properties")


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": list(COMPARE)},
            {"type": "array", "items": {"type": "string", "enum": list(FIELDS)}, "maxItems": len(FIELDS)},
        ],
        "description": "The fields to compare; `none` finds only missing and surplus messages.",
    }
)
class CompareField(serializers.Field[Any, Any, Any, Any]):
    """A list of fields of a message, or one of two words."""

    _fields = serializers.ListField(
        child=serializers.ChoiceField(
            FIELDS, error_messages={"invalid_choice": f"must be one of {', '.join(FIELDS)}, not {{input!r}}"}
        ),
        max_length=len(FIELDS),
    )
    _word = serializers.ChoiceField(
        COMPARE, error_messages={"invalid_choice": f"must be a list of fields, or {' or '.join(COMPARE)}"}
    )

    def to_internal_value(self, data: Any) -> Any:
        """Return the list or the word."""
        return self._fields.run_validation(data) if isinstance(data, list) else self._word.run_validation(data)

    def to_representation(self, value: Any) -> Any:
        """Return the value unchanged."""
        return value


class RangeSerializer(serializers.Serializer[Any]):
    """A topic, from a moment (inclusive) to a moment (exclusive)."""

    topic = serializers.CharField(max_length=127)
    to = BoundField(required=False, allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields; "from" is a keyword of Python, so it cannot be declared like the others."""
        return {"from": BoundField(required=False, allow_null=True), **super().get_fields()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse an empty range."""
        if holds_nothing(attrs.get("from"), attrs.get("to")):
            raise serializers.ValidationError({"to": "must be after from"})
        return attrs


class ReplaySourceSerializer(RangeSerializer):
    """The source of a replay."""

    queues = serializers.ListField(
        child=serializers.IntegerField(min_value=0), required=False, allow_null=True, allow_empty=False, max_length=1024
    )
    keys = serializers.ListField(
        child=serializers.CharField(max_length=1000),
        required=False,
        allow_null=True,
        allow_empty=False,
        max_length=MAX_KEYS,
    )
    tag = serializers.CharField(required=False, allow_null=True, max_length=1000)

    def validate_tag(self, value: str | None) -> str | None:
        """Refuse a tag that no message can have: it would look like a filter expression and match nothing."""
        if value == "*" or (value is not None and "||" in value):
            raise serializers.ValidationError("must be one exact tag; leave it out to replay messages with any tag")
        return value


class ReplayTargetSerializer(serializers.Serializer[Any]):
    """The target of a replay."""

    topic = serializers.CharField(max_length=127)


class LimitsSerializer(serializers.Serializer[Any]):
    """The limits of a replay."""

    messages_per_second = serializers.IntegerField(min_value=1, max_value=10_000_000, required=False, allow_null=True)
    max_messages = serializers.IntegerField(min_value=1, required=False, allow_null=True)


# A redrive is started at the dead letters of its group.
STARTED: Final = (JobType.REPLAY, JobType.RECONCILE)


class JobRequestSerializer(serializers.Serializer[Any]):
    """A job to start: `source`, `target` and `limits` for a replay; `left`, `right` and `by` for a reconciliation."""

    type = serializers.ChoiceField(STARTED)
    name = NameField(max_length=200, required=False, allow_blank=True)
    cluster = serializers.CharField(max_length=64, default="local")
    # DRF's `Field` has an attribute `source`, but a declared field is not an attribute of its class.
    source = ReplaySourceSerializer(required=False)  # type: ignore[assignment]
    target = ReplayTargetSerializer(required=False)
    limits = LimitsSerializer(required=False)
    on_damage = serializers.ChoiceField(
        ON_DAMAGE, required=False, help_text="Skip damaged messages and list them, or stop at the first one."
    )
    left = RangeSerializer(required=False)
    right = RangeSerializer(required=False)
    by = serializers.ChoiceField(BY, required=False)
    compare = CompareField(required=False)
    order = serializers.BooleanField(
        required=False, help_text="Whether the messages of a key must have the same order on both sides."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check the parts against the type, and the topics against the cluster."""
        needed = ("source", "target") if attrs["type"] == JobType.REPLAY else ("left", "right")
        others = _RECONCILE if attrs["type"] == JobType.REPLAY else _REPLAY
        missing = {name: "is required for this type of job" for name in needed if name not in attrs}
        foreign = {name: "does not belong to this type of job" for name in others if name in attrs}
        if missing or foreign:
            raise serializers.ValidationError({**missing, **foreign})
        if attrs["type"] == JobType.REPLAY and attrs["source"]["topic"] == attrs["target"]["topic"]:
            raise serializers.ValidationError({"target": {"topic": "must be a different topic from the source"}})
        if attrs["type"] == JobType.REPLAY:
            _check_kind(kind_of(attrs["target"]["topic"]), attrs["target"]["topic"])
        # Before asking the cluster: a caller without the right must not learn whether a topic exists.
        require_parts(self.context["request"], attrs)
        require_cluster(attrs["cluster"])
        if Cluster.objects.exclude(address_map={}).filter(name=attrs["cluster"]).exists():
            fault = "jobs connect to brokers at their announced addresses; this cluster needs its address map"
            raise serializers.ValidationError({"cluster": fault})
        for part in needed:
            _check_topic(attrs["cluster"], part, attrs[part])
        return attrs


class WholeJobRequestSerializer(JobRequestSerializer):
    """The job of a schedule: a PATCH of the schedule may omit it, but not contain only parts of it."""

    def run_validation(self, data: Any = empty) -> Any:
        """Return the checked request; missing fields take their defaults, as when a job is started."""
        if data is empty:
            return super().run_validation(data)
        whole = JobRequestSerializer(data=data, context=self.context)
        whole.is_valid(raise_exception=True)
        return whole.validated_data


def _check_topic(cluster: str, part: str, asked: Mapping[str, Any]) -> None:
    topic = asked["topic"]
    try:
        found = find_topic(cluster, topic)
    except (TopicNotFound, NameIllegal) as error:
        raise serializers.ValidationError({part: {"topic": str(error)}}) from error
    # A queue that became read-only or write-only may still hold messages.
    count = max(found.read_queues, found.write_queues)
    unknown = [queue for queue in asked.get("queues") or () if queue >= count]
    if unknown:
        fault = f"topic {topic!r} has the queues 0 to {count - 1}, not {', '.join(map(str, unknown))}"
        raise serializers.ValidationError({part: {"queues": fault}})
    if part != "target":
        return
    # Some system topics have the name of the cluster or of a broker.
    _check_kind(found.kind, topic)
    if not found.perm & PERM_WRITE:
        raise serializers.ValidationError({part: {"topic": f"topic {topic!r} is read-only"}})


def _check_kind(kind: TopicKind, topic: str) -> None:
    if kind is not TopicKind.NORMAL:
        fault = f"topic {topic!r} belongs to the brokers or to a group ({kind.value}); jobs cannot write to it"
        raise serializers.ValidationError({"target": {"topic": fault}})


def plain(checked: Mapping[str, Any]) -> JobDocument:
    """Return a checked request as JSON types, with moments as text and without fields that were not given."""
    document: JobDocument = orjson.loads(orjson.dumps(checked, default=str))
    return document


def continues_last_success(request: Mapping[str, Any]) -> bool:
    """Return whether a schedule's request begins where its last success ended."""
    return any(request[part].get("from") == LAST_SUCCESS for part in RANGES if part in request)


def filled(
    request: Mapping[str, Any], *, scheduled_at: datetime, last_success: datetime, now: datetime
) -> tuple[JobDocument, datetime]:
    """Return the request with its placeholders filled for a run that starts now, and the end of the run's range."""
    run = RunTimes(scheduled_at, last_success, now)
    whole, ends = dict(request), []
    for part in RANGES:
        if part in request:
            whole[part], end = run.fill(request[part])
            ends += [] if end is None else [end]
    return whole, min(ends, default=scheduled_at)


def name_of(request: Mapping[str, Any]) -> str:
    """Return a name for a job that was started without one."""
    if request["type"] == JobType.REPLAY:
        return f"Replay {request['source']['topic']} to {request['target']['topic']}"
    if request["type"] == JobType.REDRIVE:
        return f"Redrive dead letters of {request['group']}"
    return f"Reconcile {request['left']['topic']} with {request['right']['topic']}"


def hash_of(request: Mapping[str, Any]) -> str:
    """Return a hash that is the same for equal requests."""
    return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()


def program_request(job: Job) -> dict[str, Any]:
    """Return the content of ``request.json``: the request, and where store, brokers and Spark are."""
    cluster = Cluster.objects.get(name=job.cluster)
    is_embedded = cluster.kind == ClusterKind.EMBEDDED
    address = address_of(cluster)
    redriven = {"redriven": ledger.earlier(job)} if job.type == JobType.REDRIVE else {}
    return {
        **redriven,
        "job_id": job.id,
        "type": job.type,
        "cluster": job.cluster,
        "attempt": job.attempt,
        "request_hash": job.request_hash,
        "created_by": job.created_by.get_username() if job.created_by else "system",
        "request": job.request,
        "source": {
            # Only the files of the embedded broker are on this machine; other clusters are read over the wire.
            "store": str(settings.GANTRY_DATA_DIR / "broker") if is_embedded else None,
            "broker": EMBEDDED_BROKER,
            "name_servers": list(address.name_servers),
            "address_map": dict(address.address_map),
        },
        "spark": {
            "master": settings.GANTRY_SPARK_MASTER,
            "executor_python": settings.GANTRY_SPARK_PYTHON or None,
            "cache": str(settings.GANTRY_DATA_DIR / "cache" / "spark"),
            "jobs_at_once": settings.GANTRY_JOBS_AT_ONCE,
        },
    }
