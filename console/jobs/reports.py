"""The report of a job over HTTP, and what of it may be shown to whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct
from rest_framework import serializers

from console.moments import Moment
from console.shapes import serializer_of


class ReportBuckets(Struct, frozen=True, kw_only=True):
    """How many keys of each class of a reconciliation are in each stretch of time."""

    size_ms: int
    times: Annotated[list[int], Meta(description="The begins of the stretches that have any, in ms since 1970.")]
    classes: Annotated[dict[str, list[int]], Meta(description="For each class that occurs its number in each stretch.")]
    without_time: Annotated[dict[str, int], Meta(description="Keys of which no time is known, by class.")]


class ReportPlaceSerializer(serializers.Serializer[Any]):
    """Where a row is: its queue and offset, or for a file or a table `place` in words."""

    broker = serializers.CharField(allow_null=True)
    queue_id = serializers.IntegerField(allow_null=True)
    queue_offset = serializers.IntegerField(allow_null=True)
    place = serializers.CharField(required=False)


class SideValues(Struct, frozen=True, kw_only=True):
    """A value on both sides, as text; null is a missing one."""

    left: str | None
    right: str | None


class DifferenceSerializer(serializers.Serializer[Any]):
    """A difference: one row of each side as evidence."""

    key = serializers.CharField(allow_null=True)
    left = ReportPlaceSerializer(allow_null=True)
    right = ReportPlaceSerializer(allow_null=True)
    left_count = serializers.IntegerField(help_text="How many rows of the key are on the left.")
    right_count = serializers.IntegerField()
    damage = serializers.CharField(allow_null=True)
    values = serializers.DictField(
        child=serializer_of(SideValues)(),
        required=False,
        help_text="What differs, by field; absent where it is hidden.",
    )
    note = serializers.CharField(required=False, help_text="Why the partner does not count, where that is known.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields, with two whose names Python or DRF have taken."""
        named: dict[str, serializers.Field[Any, Any, Any, Any]] = {
            "class": serializers.CharField(),
            "fields": serializers.ListField(child=serializers.CharField()),
        }
        return {**named, **super().get_fields()}


class ForecastMessage(Struct, frozen=True, kw_only=True):
    """A message that a dry run found."""

    stored_at: Moment
    broker: str
    queue_id: int
    queue_offset: int
    message_id: str
    keys: list[str]
    tag: str | None
    size_bytes: Annotated[int, Meta(description="Size of the whole record.")]
    body: Annotated[str | None, Meta(description="Its first 2000 characters; null where it is hidden.")]
    properties: dict[str, str] | None


class JobReportSerializer(serializers.Serializer[Any]):
    """The report of a job: queues for a replay or dry run; tiles, samples and figures for a reconciliation."""

    summary = serializers.CharField(required=False, help_text="The outcome in a sentence.")
    tiles = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="How many keys are in each class, and rows of sides.",
    )
    samples = DifferenceSerializer(many=True, required=False, help_text="At most a hundred differences of each class.")
    buckets = serializer_of(ReportBuckets)(required=False)
    queues = serializers.ListField(child=serializers.DictField(), required=False)
    tags = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()),
        required=False,
        help_text="The classes of the tags with the most differences.",
    )
    notes = serializers.DictField(
        child=serializers.IntegerField(),
        required=False,
        help_text="Why partners do not count: what a group has not consumed is waiting, in retry or dead.",
    )
    retried = serializers.IntegerField(
        required=False, help_text="How many messages the group consumed after retries, where a side is a group."
    )
    faults = serializers.DictField(
        child=serializers.IntegerField(), required=False, help_text="The faults of a store, by kind."
    )
    told = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="The first thousand faults of a store.",
    )
    phases = serializers.DictField(
        child=serializers.FloatField(), required=False, help_text="The duration of each phase, in seconds."
    )
    missing_messages = serializers.IntegerField(
        required=False, help_text="How many messages of the left `:replay_missing` would send."
    )
    is_csv_whole = serializers.BooleanField(
        required=False, help_text="Whether differences.csv has all differences; it has at most a million."
    )
    left_out_listed = serializers.IntegerField(
        required=False, help_text="How many messages `failures.jsonl` names, of those that were refused or damaged."
    )
    left_out_unlisted = serializers.IntegerField(
        required=False, help_text="How many it does not name: it has at most a hundred thousand."
    )
    keys = serializers.IntegerField(
        required=False, help_text="How many keys were looked for; those of a file as it was when the job began."
    )
    messages = serializers.IntegerField(required=False, help_text="How many messages a dry run would process.")
    refused = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="How many messages could not be copied as `transform` changes them, of a dry run; they count in none "
        "of the other numbers. Null without one.",
    )
    bytes = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="Of the records that a dry run found; null if that is not known, as with a `max_messages` that takes "
        "fewer of them.",
    )
    counted_by = serializers.ChoiceField(
        ["queues", "tag_hashes", "reading"],
        required=False,
        help_text="How a dry run counted: by the entries of the queues, also those of damaged messages; by the ones "
        "whose tag hash matches, an upper bound since another tag may have it too; or by reading the messages.",
    )
    estimated_ms = serializers.IntegerField(required=False, help_text="How long the job would take.")
    estimated_by = serializers.ChoiceField(["limit", "usual_rate"], required=False)
    first = serializer_of(ForecastMessage)(
        many=True, required=False, help_text="The first messages that a dry run found."
    )
    last = serializer_of(ForecastMessage)(many=True, required=False)
    hidden = serializers.ChoiceField(
        ["bodies"], required=False, help_text="The right that would show the values that differ."
    )


def without_contents(asked: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report without what stands in messages; `hidden` says which right shows it."""
    shown = {**report, "hidden": "bodies"}
    if "samples" in report:
        # The key of a message that was paired by its body is a hash of it, and one by expression a part of it.
        no_key = {"key": None} if asked.get("by") == "body" or isinstance(asked.get("by"), Mapping) else {}
        kept = [{name: part for name, part in sample.items() if name != "values"} for sample in report["samples"]]
        shown["samples"] = [{**sample, **no_key} for sample in kept]
    for end in ("first", "last"):
        if end in report:
            shown[end] = [{**message, "body": None, "properties": None} for message in report[end]]
    return shown
