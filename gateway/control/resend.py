"""Sending a stored message again, unchanged or edited, as a copy that says where it comes from."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from msgspec import Struct
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.sending import SendResult, SendStatus
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from broker_core.protocol.applications import CONTENT_TYPE
from broker_core.protocol.copies import COPIED_AT, COPIED_BY, PROVENANCE, SOURCE, SOURCE_ID, kept_properties
from broker_core.protocol.message import Message
from broker_core.protocol.topics import is_dead_letter_topic, is_retry_topic
from console.accounts.permissions import actor_of, needs, require
from console.accounts.rights import Resource
from console.audit.record import Actor, record
from console.clusters.connections import send
from console.clusters.reasons import reason_of
from console.errors import Conflict
from console.moments import Moment, rfc3339
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView, topic_of_body
from gateway.control.messages import found_message
from gateway.data.bodies import JSON_TYPE, TEXT_TYPE, is_json
from gateway.data.messages import checked_properties, user_properties
from gateway.data.routing import check_target

_ENCODINGS = ("json", "text", "base64")
_TYPES = {"json": JSON_TYPE, "text": TEXT_TYPE}
_MOST_KEYS = 64
_MOST_BODY = 4 * 1024 * 1024


class Resent(Struct, frozen=True, kw_only=True):
    """Where the copy was stored."""

    message_id: str
    topic: str
    broker: str
    queue_id: int
    offset: int
    stored_at: Moment
    flushed: bool
    """False: the broker stored the copy, but did not confirm the flush or the replica."""


class NewBodySerializer(serializers.Serializer[Any]):
    """A body as text: JSON exactly as it is to be stored, plain text, or base64."""

    encoding = serializers.ChoiceField(_ENCODINGS)
    # A declared field is not an attribute of its class.
    data = serializers.CharField(max_length=2 * _MOST_BODY, trim_whitespace=False)  # type: ignore[assignment]

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse text that is not of its encoding."""
        encoding, text = values["encoding"], values["data"]
        if encoding == "json" and not is_json(text.encode()):
            raise serializers.ValidationError({"data": "is not JSON"})
        if encoding == "base64":
            try:
                base64.b64decode(text, validate=True)
            except ValueError:
                raise serializers.ValidationError({"data": "is not base64"}) from None
        return values


class ResendSerializer(serializers.Serializer[Any]):
    """The message to send again; what is given replaces what the original has."""

    topic = serializers.CharField(max_length=255, help_text="The topic of the original.")
    target_topic = serializers.CharField(
        max_length=127, required=False, help_text="By default the topic of the original; for a dead letter its origin."
    )
    keys = serializers.ListField(
        child=serializers.RegexField(r"^[^\s\x01\x02]{1,255}$"), required=False, max_length=_MOST_KEYS
    )
    tag = serializers.RegexField(r"^[^|*\x01\x02]{0,255}$", required=False, allow_blank=True, help_text="Blank: none.")
    properties = serializers.DictField(child=serializers.CharField(max_length=30_000), required=False)
    body = NewBodySerializer(required=False)


class ResendView(ClusterScopedView):
    """A stored message, sent again."""

    permission_classes = (needs("bodies"),)

    def right_resource(self) -> Resource:
        """Return the topic of the original."""
        return topic_of_body(self.request, ResendSerializer)

    @extend_schema(
        operation_id="resendMessage",
        tags=["messages"],
        request=ResendSerializer,
        responses={201: serializer_of(Resent)},
    )
    def post(self, request: Request, cluster: str, message_id: str) -> Response:
        """Store a copy of a message, which carries its origin, the time and the user; the original stays."""
        form = ResendSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = form.validated_data
        placed = found_message(self, wanted["topic"], message_id)
        copy = _copy(placed, wanted, cluster, actor_of(request))
        check_target(copy.topic)
        require(request, "produce", Resource("topic", copy.topic))

        by, resource = actor_of(request), f"{cluster}/topics/{copy.topic}"
        before = {"topic": placed.message.topic, "message_id": message_id}
        try:
            sent = send(cluster, copy)
        except GantryError as error:
            # After a time-out the copy may be stored all the same.
            record(by, "message.resend", resource, result="failed", before=before, after={"error": reason_of(error)})
            raise
        changed = sorted(set(wanted) - {"topic"})
        after = {"message_id": sent.message_id, "changed": changed}
        record(by, "message.resend", resource, before=before, after=after)
        return Response(as_json(_shown(copy, sent)), status=201)


def _copy(placed: PlacedMessage, wanted: Mapping[str, Any], cluster: str, by: Actor) -> Message:
    """Return the copy; raise Conflict if the body of the original is damaged and no other one is given."""
    original = placed.message
    if original.damage is not None and "body" not in wanted:
        raise Conflict(f"The body of the message is damaged: {original.damage}. Give another one.")
    properties = kept_properties(original.properties)
    for name in PROVENANCE:
        properties.pop(name, None)
    if "properties" in wanted:
        own = user_properties(properties)
        # Who edits the properties of a copy may leave in what says where that one came from.
        told = {name: value for name, value in original.properties.items() if name in PROVENANCE}
        given = {name: value for name, value in wanted["properties"].items() if told.get(name) != value}
        properties = {name: value for name, value in properties.items() if name not in own}
        properties |= checked_properties(given, "#/properties")
    body = original.body
    if "body" in wanted:
        body = _new_body(wanted["body"], properties)
    _replace(properties, names.KEYS, " ".join(wanted["keys"]) if "keys" in wanted else None)
    _replace(properties, names.TAGS, wanted.get("tag"))
    names.check_properties(properties)
    source = f"{cluster}/{placed.broker_name}/{original.topic}/{original.queue_id}/{original.queue_offset}"
    properties |= {SOURCE: source, SOURCE_ID: original.message_id, COPIED_AT: rfc3339(now_ms()), COPIED_BY: by.name}
    return Message(wanted.get("target_topic") or _origin(placed), body, properties, original.flag)


def _new_body(wanted: Mapping[str, str], properties: dict[str, str]) -> bytes:
    """Return the bytes of a new body, and note what they are."""
    _replace(properties, CONTENT_TYPE, _TYPES.get(wanted["encoding"], ""))
    text = wanted["data"]
    body = base64.b64decode(text) if wanted["encoding"] == "base64" else text.encode()
    if not 0 < len(body) <= _MOST_BODY:
        raise serializers.ValidationError({"body": f"must have 1 to {_MOST_BODY:,} bytes, not {len(body):,}"})
    return body


def _replace(properties: dict[str, str], name: str, value: str | None) -> None:
    """Set a property, remove it if the value is empty, or leave it for None."""
    if value:
        properties[name] = value
    elif value is not None:
        properties.pop(name, None)


def _origin(placed: PlacedMessage) -> str:
    """Return the topic that a message was first sent to, as far as its copy in a retry or dead-letter topic says."""
    message = placed.message
    if is_retry_topic(message.topic) or is_dead_letter_topic(message.topic):
        return message.properties.get(names.RETRY_TOPIC, message.topic)
    return message.topic


def _shown(copy: Message, sent: SendResult) -> Resent:
    return Resent(
        message_id=sent.message_id,
        topic=copy.topic,
        broker=sent.queue.broker_name,
        queue_id=sent.queue.queue_id,
        offset=sent.queue_offset,
        stored_at=rfc3339(now_ms()),
        flushed=sent.status is SendStatus.SEND_OK,
    )
