"""Channels over HTTP."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import actor_of, needs
from console.alerts import channels, mail, notices
from console.alerts.channels import OVERLAP_MS, channel_tag, target_of
from console.alerts.delivery_shapes import DeliverySerializer, shape_of
from console.alerts.fields import WebhookUrlField
from console.alerts.models import Channel, ChannelKind
from console.api_view import ApiView
from console.etags import IF_MATCH, locked, match, tagged
from console.fields import EachOnceField, MomentField, NameField
from console.paging import PAGE_PARAMETERS, page_of, page_queryset
from console.rows import row_of
from console.shapes import as_json

MAX_RECIPIENTS: Final = 20
MAX_OVERLAP_MS: Final = 7 * 24 * 3_600_000
_TAGS = ["alerts"]


class ChannelSerializer(serializers.ModelSerializer[Channel]):
    """Where deliveries go. The path of a URL and the secret are never shown."""

    kind = serializers.ChoiceField(ChannelKind.choices)
    target = serializers.SerializerMethodField()
    recipients = serializers.ListField(child=serializers.CharField())
    has_secret = serializers.SerializerMethodField()
    former_secret_until = MomentField(
        allow_null=True, help_text="Until when bodies are signed by the former secret too; null: there is none."
    )
    rules = serializers.SerializerMethodField(help_text="How many rules use it.")
    etag = serializers.SerializerMethodField(help_text="For If-Match.")

    class Meta:
        model = Channel
        fields = (
            "id",
            "name",
            "kind",
            "enabled",
            "target",
            "recipients",
            "has_secret",
            "former_secret_until",
            "rules",
            "etag",
        )
        read_only_fields = fields

    def get_target(self, channel: Channel) -> str:
        """Return where it leads."""
        return target_of(channel)

    def get_has_secret(self, channel: Channel) -> bool:
        """Return whether its bodies are signed."""
        return bool(channel.secret)

    def get_rules(self, channel: Channel) -> int:
        """Return how many rules use it."""
        return channel.rules.count()

    def get_etag(self, channel: Channel) -> str:
        """Return the tag of the fields that a PATCH can change."""
        return channel_tag(channel)


class _ChannelFields(serializers.Serializer[Any]):
    name = NameField(max_length=100)
    enabled = serializers.BooleanField(default=True)
    url = WebhookUrlField(required=False, help_text="http or https; for a webhook.")
    secret = serializers.CharField(
        max_length=200, allow_blank=True, required=False, help_text="Signs the bodies of a webhook."
    )
    recipients = EachOnceField(
        child=serializers.EmailField(max_length=254), max_length=MAX_RECIPIENTS, min_length=1, required=False
    )

    def check_kind(self, kind: str, attrs: dict[str, Any]) -> None:
        """Refuse fields of the other kind, and mail without a server."""
        foreign = ("recipients",) if kind == ChannelKind.WEBHOOK else ("url", "secret")
        for name in foreign:
            if name in attrs:
                raise serializers.ValidationError({name: f"is not a field of a channel of the kind {kind}"})
        if kind == ChannelKind.EMAIL and not settings.EMAIL_HOST:
            raise serializers.ValidationError({"kind": mail.NO_SERVER})


class ChannelCreateSerializer(_ChannelFields):
    """A channel to create: a webhook with its URL, or mail with its recipients."""

    kind = serializers.ChoiceField(ChannelKind.choices)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a channel that leads nowhere."""
        self.check_kind(attrs["kind"], attrs)
        needed = "url" if attrs["kind"] == ChannelKind.WEBHOOK else "recipients"
        if needed not in attrs:
            raise serializers.ValidationError({needed: f"a channel of the kind {attrs['kind']} needs it"})
        return attrs


class ChannelChangeSerializer(_ChannelFields):
    """Fields of a channel to change; its kind stays."""

    secret_overlap_ms = serializers.IntegerField(
        min_value=0,
        max_value=MAX_OVERLAP_MS,
        required=False,
        help_text=f"How long the former secret goes on signing beside the new one; by default {OVERLAP_MS:,}.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse fields of the other kind."""
        if "secret_overlap_ms" in attrs and not attrs.get("secret"):
            raise serializers.ValidationError({"secret_overlap_ms": "belongs to a new secret"})
        self.check_kind(self.context["kind"], {name: value for name, value in attrs.items() if name != "enabled"})
        return attrs


ChannelPage = page_of(ChannelSerializer)


class ChannelsView(ApiView):
    """All channels."""

    permission_classes = (needs("read", to_change="manage"),)

    @extend_schema(operation_id="listAlertChannels", tags=_TAGS, parameters=PAGE_PARAMETERS, responses=ChannelPage)
    def get(self, request: Request) -> Response:
        """List the alert channels, the newest first."""
        page = page_queryset(request, Channel.objects.all())
        items = list(ChannelSerializer(page.items, many=True).data)
        return Response(as_json(page.of(items)))

    @extend_schema(
        operation_id="createAlertChannel",
        tags=_TAGS,
        request=ChannelCreateSerializer,
        responses={201: ChannelSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create an alert channel."""
        form = ChannelCreateSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        return tagged(ChannelSerializer(channels.add(actor_of(request), form.validated_data)).data, status=201)


class ChannelView(ApiView):
    """One channel."""

    permission_classes = (needs("read", to_change="manage"),)

    @extend_schema(operation_id="getAlertChannel", tags=_TAGS, responses=ChannelSerializer)
    def get(self, request: Request, channel_id: str) -> Response:
        """Return an alert channel."""
        return tagged(ChannelSerializer(row_of(Channel.objects.all(), channel_id)).data)

    @extend_schema(
        operation_id="updateAlertChannel",
        tags=_TAGS,
        parameters=[IF_MATCH],
        request=ChannelChangeSerializer,
        responses=ChannelSerializer,
    )
    def patch(self, request: Request, channel_id: str) -> Response:
        """Change, enable or disable an alert channel."""
        channel = row_of(Channel.objects.all(), channel_id)
        match(request, ChannelSerializer(channel).data)
        form = ChannelChangeSerializer(data=request.data, partial=True, context={"kind": channel.kind})
        form.is_valid(raise_exception=True)
        with locked(request, Channel.objects.filter(pk=channel_id), channel_tag) as present:
            channel = channels.change(actor_of(request), present, form.validated_data)
        return tagged(ChannelSerializer(channel).data)

    @extend_schema(operation_id="deleteAlertChannel", tags=_TAGS, parameters=[IF_MATCH], responses={204: None})
    def delete(self, request: Request, channel_id: str) -> Response:
        """Remove an alert channel; its deliveries stay in the log."""
        with locked(request, Channel.objects.filter(pk=channel_id), channel_tag) as channel:
            channels.remove(actor_of(request), channel)
        return Response(status=204)


class TestChannelView(ApiView):
    """A test of a channel."""

    permission_classes = (needs("manage"),)

    @extend_schema(operation_id="testAlertChannel", tags=_TAGS, request=None, responses={202: DeliverySerializer})
    def post(self, request: Request, channel_id: str) -> Response:
        """Send a test; the delivery shows what became of it."""
        delivery = notices.test(actor_of(request), row_of(Channel.objects.all(), channel_id))
        location = f"/api/v1/deliveries/{delivery.pk}"
        return Response(as_json(shape_of(delivery)), status=202, headers={"Location": location})
