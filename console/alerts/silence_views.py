"""Silences over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of, needs
from console.alerts import silences
from console.alerts.fields import PatternField, check_cluster
from console.alerts.models import Silence
from console.alerts.visibility import OfSomeNames, check_visible, visible_silences
from console.api_view import ApiView
from console.fields import MomentField
from console.paging import PAGE_PARAMETERS, page_of, page_queryset
from console.rows import row_of
from console.shapes import as_json

LONGEST: Final = timedelta(days=90)
STATES: Final = ("active", "pending", "ended")
_TAGS = ["alerts"]


class SilenceSerializer(serializers.ModelSerializer[Silence]):
    """A time in which nobody hears of the alerts that match."""

    starts_at = MomentField()
    ends_at = MomentField()
    created_by = serializers.SerializerMethodField()
    state = serializers.SerializerMethodField()

    class Meta:
        model = Silence
        fields = ("id", "rule", "cluster", "subject", "starts_at", "ends_at", "reason", "created_by", "state")
        read_only_fields = fields

    def get_created_by(self, silence: Silence) -> str | None:
        """Return the name of the user."""
        return None if silence.created_by is None else silence.created_by.get_username()

    @extend_schema_field({"type": "string", "enum": list(STATES)})
    def get_state(self, silence: Silence) -> str:
        """Return whether it has begun and ended."""
        now = timezone.now()
        return "ended" if silence.ends_at <= now else "pending" if silence.starts_at > now else "active"


class SilenceCreateSerializer(serializers.Serializer[Any]):
    """A silence to add; it always has an end."""

    rule = PatternField(200)
    cluster = PatternField(64)
    subject = PatternField(255)
    starts_at = MomentField(required=False, help_text="Now, if it is absent.")
    ends_at = MomentField()
    reason = serializers.CharField(max_length=1000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a silence that is over, ends before it begins, or is longer than 90 days."""
        now = timezone.now()
        attrs.setdefault("starts_at", now)
        if attrs["ends_at"] <= max(now, attrs["starts_at"]):
            raise serializers.ValidationError({"ends_at": "must be after now and after starts_at"})
        if attrs["ends_at"] - attrs["starts_at"] > LONGEST:
            raise serializers.ValidationError({"ends_at": f"must be at most {LONGEST.days} days after starts_at"})
        return attrs


SilencePage = page_of(SilenceSerializer)


class SilencesView(OfSomeNames):
    """All silences."""

    permission_classes = (needs("read", to_change="manage"),)

    @extend_schema(
        operation_id="listSilences",
        tags=_TAGS,
        parameters=[OpenApiParameter("state", str, enum=STATES), *PAGE_PARAMETERS],
        responses=SilencePage,
    )
    def get(self, request: Request) -> Response:
        """List the silences, the newest first."""
        rows, now = Silence.objects.select_related("created_by"), timezone.now()
        state = request.query_params.get("state")
        if state == "active":
            rows = rows.filter(starts_at__lte=now, ends_at__gt=now)
        elif state == "pending":
            rows = rows.filter(starts_at__gt=now)
        elif state == "ended":
            rows = rows.filter(ends_at__lte=now)
        elif state is not None:
            raise ValidationError({"state": f"must be one of {', '.join(STATES)}"})
        page = page_queryset(request, visible_silences(request, rows))
        items = list(SilenceSerializer(page.items, many=True).data)
        return Response(as_json(page.of(items)))

    @extend_schema(
        operation_id="createSilence", tags=_TAGS, request=SilenceCreateSerializer, responses={201: SilenceSerializer}
    )
    def post(self, request: Request) -> Response:
        """Silence the alerts that match until a moment; they are still evaluated and shown."""
        form = SilenceCreateSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        check_cluster(form.validated_data["cluster"])
        return Response(SilenceSerializer(silences.add(actor_of(request), form.validated_data)).data, status=201)


class SilenceView(OfSomeNames):
    """One silence."""

    permission_classes = (needs("read"),)

    @extend_schema(operation_id="getSilence", tags=_TAGS, responses=SilenceSerializer)
    def get(self, request: Request, silence_id: str) -> Response:
        """Return a silence."""
        return Response(SilenceSerializer(_visible(request, silence_id)).data)


class EndSilenceView(ApiView):
    """The end of a silence."""

    permission_classes = (needs("manage"),)

    @extend_schema(operation_id="endSilence", tags=_TAGS, request=None, responses=SilenceSerializer)
    def post(self, request: Request, silence_id: str) -> Response:
        """End a silence now; one that has not begun never begins."""
        silence = silences.end(actor_of(request), _visible(request, silence_id))
        return Response(SilenceSerializer(silence).data)


def _visible(request: Request, silence_id: str) -> Silence:
    return check_visible(request, row_of(Silence.objects.all(), silence_id))
