"""JSON shapes of messages as operators look at them, and how stored messages become those."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from broker_core.client.admin.messages import DeliveryState
from broker_core.client.admin.placed import PlacedMessage
from console.fields import MomentField
from console.lag.serializers import MissingBrokerSerializer
from console.moments import rfc3339
from gateway.data.bodies import CONTENT_TYPE, present
from gateway.data.schemas import encode

ENCODINGS: Final = ["json", "text", "base64"]
VERDICTS: Final = ["match", "no_match", "partial", "failed"]
DELIVERY_STATES: Final = [state.value for state in DeliveryState]


class MessageSummarySerializer(serializers.Serializer[Any]):
    """A message in one line."""

    message_id = serializers.CharField()
    topic = serializers.CharField()
    queue_id = serializers.IntegerField()
    queue_offset = serializers.IntegerField()
    broker = serializers.CharField()
    keys = serializers.ListField(child=serializers.CharField())
    tag = serializers.CharField(allow_null=True)
    stored_at = MomentField()
    size_bytes = serializers.IntegerField(help_text="Of the whole record.")
    reconsume_times = serializers.IntegerField()


class StoredBodySerializer(serializers.Serializer[Any]):
    """A body as JSON can carry it; `data` is a value for json, else text.

    Numbers and members of `data` stand there as they were stored. Most readers round numbers and drop members of the
    same name all the same: `text` is for them.
    """

    encoding = serializers.ChoiceField(ENCODINGS)
    data = serializers.JSONField()  # type: ignore[assignment]
    text = serializers.CharField(allow_null=True, help_text="The stored characters of json; null for the others.")


class MessageDetailSerializer(MessageSummarySerializer):
    """A message, whole."""

    body = StoredBodySerializer()
    properties = serializers.DictField(child=serializers.CharField())
    born_at = MomentField()
    born_host = serializers.CharField()
    store_host = serializers.CharField()
    log_offset = serializers.IntegerField()
    offset_id = serializers.CharField()
    body_bytes = serializers.IntegerField()


class SearchedSerializer(serializers.Serializer[Any]):
    """How far a search looked; null where a broker does not tell."""

    index_files = serializers.IntegerField(allow_null=True)
    index_files_skipped_by_time = serializers.IntegerField(allow_null=True)
    entries_visited = serializers.IntegerField(allow_null=True)
    collisions_dropped = serializers.IntegerField(allow_null=True)
    expired_messages = serializers.IntegerField(allow_null=True)
    to = MomentField()
    elapsed_ms = serializers.IntegerField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields; "from" is a word of Python, so it cannot be declared like the others."""
        return {"from": MomentField(), **super().get_fields()}


class SearchSerializer(serializers.Serializer[Any]):
    """What a search found, and how far it can be trusted.

    `partial`: something was not searched, because a known broker did not answer or the search was too long for one
    question. That there are more pages says `next_cursor` alone.
    """

    verdict = serializers.ChoiceField(VERDICTS)
    complete = serializers.BooleanField(help_text="Whether all that is known was searched, as far as the page goes.")
    missing = MissingBrokerSerializer(many=True)
    items = MessageSummarySerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)
    searched = SearchedSerializer()


class BrowseSerializer(serializers.Serializer[Any]):
    """Messages by time, the newest first; those of the brokers in `missing` are not among them."""

    items = MessageSummarySerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)
    missing = MissingBrokerSerializer(many=True)


class QueuePageSerializer(serializers.Serializer[Any]):
    """Messages of a queue from an offset on, and the bounds of the queue."""

    items = MessageSummarySerializer(many=True)
    next_offset = serializers.IntegerField()
    min_offset = serializers.IntegerField()
    max_offset = serializers.IntegerField()


class DeliverySerializer(serializers.Serializer[Any]):
    """Where a group is, seen from one message."""

    group = serializers.CharField()
    state = serializers.ChoiceField(DELIVERY_STATES)
    behind = serializers.IntegerField(allow_null=True)


class DeliveriesSerializer(serializers.Serializer[Any]):
    """Where each group is, seen from one message."""

    items = DeliverySerializer(many=True)


def summary(placed: PlacedMessage) -> dict[str, Any]:
    """Return a message in one line."""
    message = placed.message
    return {
        "message_id": message.message_id,
        "topic": message.topic,
        "queue_id": message.queue_id,
        "queue_offset": message.queue_offset,
        "broker": placed.broker_name,
        "keys": message.keys,
        "tag": message.tag,
        "stored_at": rfc3339(message.store_timestamp),
        "size_bytes": message.store_size,
        "reconsume_times": message.reconsume_times,
    }


def detail(placed: PlacedMessage) -> bytes:
    """Return a message, whole, as JSON: a body that is JSON is part of it to the letter."""
    message = placed.message
    body = present(message.body, message.properties.get(CONTENT_TYPE), "auto")
    text = message.body.decode() if body.encoding == "json" else None
    shown = {
        **summary(placed),
        "body": {"encoding": body.encoding, "data": body.data, "text": text},
        "properties": message.properties,
        "born_at": rfc3339(message.born_timestamp),
        "born_host": message.born_host,
        "store_host": message.store_host,
        "log_offset": message.log_offset,
        "offset_id": message.offset_id,
        "body_bytes": len(message.body),
    }
    return encode(shown)
