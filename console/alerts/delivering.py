"""Sends deliveries: each is claimed by one worker, tried up to five times over a quarter of an hour, then given up."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Final

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from console.alerts import mail, queue, webhook
from console.alerts.channels import secrets_of
from console.alerts.models import ChannelKind, Delivery, DeliveryState
from console.alerts.outcome import Outcome
from console.audit.record import Actor, record
from console.errors import Conflict
from console.fields import moment
from console.rows import row_of

WAITS: Final = (timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=5), timedelta(minutes=8))
"""After the first, second … failed attempt; after one more it is given up."""
MAX_ATTEMPTS: Final = 20
"""How many attempts a delivery may have, with those that somebody asked for."""
# A worker that died has not finished by then.
_CLAIM: Final = timedelta(seconds=60)


def due(now: datetime) -> QuerySet[Delivery]:
    """Return the deliveries whose next attempt is due."""
    return Delivery.objects.filter(state=DeliveryState.WAITING, next_at__lte=now)


def attempt(delivery_id: str) -> Delivery | None:
    """Try a delivery once, if it is due and no other worker has it."""
    now = timezone.now()
    if not due(now).filter(pk=delivery_id).update(next_at=now + _CLAIM):
        return None
    delivery = Delivery.objects.select_related("channel").get(pk=delivery_id)
    began = time.monotonic()
    outcome = _send(delivery)
    took_ms = round(1000 * (time.monotonic() - began))
    return _note(delivery_id, outcome, now, took_ms)


def again(by: Actor, delivery_id: str) -> Delivery:
    """Try a delivery now that waits or was given up; raise NotKnown, or Conflict if it has arrived."""
    with transaction.atomic():
        delivery = row_of(Delivery.objects.select_for_update(), delivery_id)
        if delivery.state == DeliveryState.DELIVERED:
            raise Conflict("It was delivered already.")
        if len(delivery.attempts) >= MAX_ATTEMPTS:
            raise Conflict(f"It was tried {MAX_ATTEMPTS} times, and more are not allowed.")
        delivery.state, delivery.next_at = DeliveryState.WAITING, timezone.now()
        delivery.save(update_fields=["state", "next_at"])
        record(by, "delivery.retry", f"deliveries/{delivery.pk}", after={"channel": delivery.channel_name})
        transaction.on_commit(lambda: queue.hint(delivery.pk))
    return delivery


def _send(delivery: Delivery) -> Outcome:
    channel = delivery.channel
    if channel is None:
        return Outcome(None, "the channel was deleted")
    if channel.kind == ChannelKind.EMAIL:
        return mail.send(channel.recipients, delivery.payload, delivery.pk)
    body = orjson.dumps({"delivery": delivery.pk, **delivery.payload})
    posting = webhook.Posting(channel.url, secrets_of(channel, timezone.now()), body, delivery.pk, delivery.event)
    return webhook.post_and_wait(posting, settings.GANTRY_WEBHOOK_NETWORKS)


@transaction.atomic
def _note(delivery_id: str, outcome: Outcome, at: datetime, took_ms: int) -> Delivery:
    delivery = Delivery.objects.select_for_update().get(pk=delivery_id)
    delivery.attempts = [
        *delivery.attempts,
        {
            "at": moment(at),
            "took_ms": took_ms,
            "status": outcome.status,
            "error": outcome.error,
            "answer": outcome.answer,
        },
    ]
    tried = len(delivery.attempts)
    if outcome.is_delivered:
        delivery.state, delivery.next_at = DeliveryState.DELIVERED, None
    elif tried > len(WAITS) or delivery.channel_id is None:
        delivery.state, delivery.next_at = DeliveryState.FAILED, None
    else:
        delivery.state, delivery.next_at = DeliveryState.WAITING, timezone.now() + WAITS[tried - 1]
    delivery.save(update_fields=["attempts", "state", "next_at"])
    return delivery
