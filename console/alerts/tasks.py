"""The Celery tasks of alerts. A message is only a hint: the row of the delivery decides."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from console.alerts import delivering, queue, reminders


@shared_task(name=queue.DELIVER)
def deliver(delivery_id: str) -> None:
    """Try a delivery, if it is due."""
    delivering.attempt(delivery_id)


@shared_task(name="console.alerts.tasks.tick")
def tick() -> None:
    """Repeat what still fires, and send what is due."""
    now = timezone.now()
    reminders.end_orphans(now)
    reminders.remind(now)
    for delivery_id in delivering.due(now).order_by("next_at").values_list("pk", flat=True)[:100]:
        queue.hint(delivery_id)


@shared_task(name="console.alerts.tasks.sweep")
def sweep() -> None:
    """Delete what is older than it is kept."""
    reminders.forget(timezone.now())
