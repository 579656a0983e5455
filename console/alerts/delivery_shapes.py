"""JSON shapes of deliveries."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from broker_core.structs import decoded
from console.alerts.models import Delivery, DeliveryState
from console.fields import moment
from console.moments import Moment
from console.shapes import serializer_of

DeliveryEvent = Literal["firing", "no_data", "resolved", "repeat", "test", "notice"]
EVENTS: Final = list(get_args(DeliveryEvent))


@decoded
class Attempt(Struct, frozen=True, kw_only=True):
    """One attempt to deliver."""

    at: Moment
    took_ms: int
    status: Annotated[int | None, Meta(description="Of HTTP or SMTP; null without an answer.")]
    error: str | None
    answer: Annotated[str, Meta(description="The beginning of what the receiver answered.")]


class DeliveryShape(Struct, frozen=True, kw_only=True):
    """One message to one channel."""

    id: str
    channel: Annotated[str | None, Meta(description="Id; null if the channel was deleted.")]
    channel_name: str
    rule: Annotated[str | None, Meta(description="Id; null if it belongs to none.")]
    event: DeliveryEvent
    title: str
    state: DeliveryState
    created_at: Moment
    next_at: Annotated[Moment | None, Meta(description="When it is tried again.")]
    attempts: list[Attempt]
    payload: dict[str, Any]


DeliverySerializer = serializer_of(DeliveryShape, "AlertDelivery")


def shape_of(delivery: Delivery) -> DeliveryShape:
    """Return the shape of a delivery."""
    return DeliveryShape(
        id=delivery.pk,
        channel=delivery.channel_id,
        channel_name=delivery.channel_name,
        rule=delivery.rule_id,
        event=msgspec.convert(delivery.event, DeliveryEvent),
        title=delivery.title,
        state=DeliveryState(delivery.state),
        created_at=moment(delivery.created_at),
        next_at=None if delivery.next_at is None else moment(delivery.next_at),
        attempts=msgspec.convert(delivery.attempts, list[Attempt]),
        payload=delivery.payload,
    )
