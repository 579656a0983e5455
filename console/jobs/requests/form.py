"""The form of a job in the API, and its checks against rights and cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rest_framework import serializers
from rest_framework.fields import empty

from console.fields import EachOnceField, ExactField, NameField
from console.jobs.models import JobType
from console.jobs.requests.document import KINDS, kind_of
from console.jobs.requests.export import COLUMNS, FORMATS, columns_for
from console.jobs.requests.notify import NotifySerializer
from console.jobs.requests.placeholders import check_placeholders
from console.jobs.requests.places import check_keys_file
from console.jobs.requests.reconcile import BY, CHECK, CHECKS, LONGEST_LATENESS_MS, CompareField
from console.jobs.requests.replay import (
    ORDERS,
    LimitsSerializer,
    ReplaySourceSerializer,
    ReplayTargetSerializer,
    check_live_target,
    is_file,
)
from console.jobs.requests.sides import ByField, SideSerializer, check_side
from console.jobs.requests.topics import check_cluster, check_embedded, check_topic
from console.jobs.visibility import require_parts

ON_DAMAGE: Final = ("skip", "stop")
# A redrive is started at the dead letters of its group.
STARTED: Final = (JobType.REPLAY, JobType.RECONCILE, JobType.EXPORT)
_PARTS: Final = ("source", "target", "left", "right")
_ORDER_OF_REPLAY: Final = f"is true or false, of a reconciliation; a replay has {' or '.join(ORDERS)} as target.order"
_OF_SOME: Final = frozenset().union(CHECK.fields, *(KINDS[kind].fields for kind in STARTED))


class OrderField(serializers.BooleanField):
    """Whether order counts, which only a reconciliation asks; a replay has its order in its target."""

    def to_internal_value(self, data: Any) -> Any:
        """Refuse the word of a replay with the place for it."""
        if data in ORDERS:
            raise serializers.ValidationError(_ORDER_OF_REPLAY)
        return super().to_internal_value(data)


class JobRequestSerializer(serializers.Serializer[Any]):
    """A job to start.

    `source` and `target` are for a replay, `left`, `right` and `by` for a reconciliation, `source`, `format`
    and `columns` for an export.
    """

    type = serializers.ChoiceField(STARTED)
    name = NameField(max_length=200, required=False, allow_blank=True)
    cluster = ExactField(max_length=64, default="local")
    # DRF's `Field` has an attribute `source`, but a declared field is not an attribute of its class.
    source = ReplaySourceSerializer(required=False)  # type: ignore[assignment]
    target = ReplayTargetSerializer(required=False)
    limits = LimitsSerializer(required=False)
    on_damage = serializers.ChoiceField(
        ON_DAMAGE, required=False, help_text="Skip damaged messages and list them, or stop at the first one."
    )
    dry_run = serializers.BooleanField(
        required=False, help_text="Write nothing; the report tells what would be done, for how many messages."
    )
    allow_live_target = serializers.BooleanField(
        required=False, help_text="Whether groups may read the target topic, or it is the source: they get the copies."
    )
    format = serializers.ChoiceField(FORMATS, required=False, help_text="Of the file of an export.")
    columns = EachOnceField(
        child=serializers.ChoiceField(COLUMNS),
        required=False,
        allow_empty=False,
        max_length=len(COLUMNS),
        help_text="Of the file of an export, in their order; by default the usual ones that the caller may read.",
    )
    left = SideSerializer(required=False)
    right = SideSerializer(required=False)
    by = ByField(BY, required=False)
    compare = CompareField(required=False)
    order = OrderField(
        required=False, help_text="Whether the messages of a key must have the same order on both sides."
    )
    check = serializers.ChoiceField(
        CHECKS,
        required=False,
        help_text="Instead of two sides: the store of the embedded broker against itself, its log, queues and index.",
    )
    multiset = serializers.BooleanField(
        required=False, help_text="Whether it counts how often a message occurs; by default it does."
    )
    notify = NotifySerializer(required=False, help_text="Alert channels that are told of its end.")
    lateness_ms = serializers.IntegerField(
        min_value=0,
        max_value=LONGEST_LATENESS_MS,
        required=False,
        help_text="By how much a partner may be late before it is missing.",
    )

    def to_internal_value(self, data: Any) -> Any:
        """Refuse placeholders where they would be plain text, and then what the fields refuse."""
        if isinstance(data, Mapping):
            check_placeholders(data)
        return super().to_internal_value(data)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check the parts against the type, and the topics against the cluster."""
        kind = kind_of(attrs)
        missing = {name: "is required for this type of job" for name in kind.required if name not in attrs}
        why = "does not go with check, which has no sides" if kind is CHECK else "does not belong to this type of job"
        foreign = {name: why for name in _OF_SOME - kind.fields if name in attrs}
        if "order" in foreign and attrs["type"] == JobType.REPLAY:
            foreign["order"] = _ORDER_OF_REPLAY
        limits = {name: why for name in attrs.get("limits", {}) if name not in kind.limits}
        if missing or foreign or limits:
            raise serializers.ValidationError({**missing, **foreign, **({"limits": limits} if limits else {})})
        kind.check(attrs)
        if attrs["type"] == JobType.EXPORT:
            attrs["columns"] = columns_for(self.context["request"], attrs)
        # Before asking the cluster: a caller without the right must not learn whether a topic exists.
        require_parts(self.context["request"], attrs)
        check_keys_file(attrs.get("source", {}))
        check_cluster(attrs["cluster"])
        if "check" in attrs:
            check_embedded(attrs["cluster"])
        for part in (name for name in _PARTS if name in kind.required):
            if part == "target" and is_file(attrs[part]):
                continue
            check = check_side if attrs["type"] == JobType.RECONCILE else check_topic
            check(attrs["cluster"], part, attrs[part])
        if attrs["type"] == JobType.REPLAY:
            check_live_target(self.context["request"], attrs)
        return attrs


class WholeJobRequestSerializer(JobRequestSerializer):
    """The job of a schedule: a PATCH of the schedule may omit it, but not contain only parts of it."""

    def run_validation(self, data: Any = empty) -> Any:
        """Return the checked request; missing fields take their defaults, as when a job is started."""
        if data is empty:
            return super().run_validation(data)
        if data is None:
            raise serializers.ValidationError("must be an object, not null")
        whole = JobRequestSerializer(data=data, context=self.context)
        whole.is_valid(raise_exception=True)
        return whole.validated_data
