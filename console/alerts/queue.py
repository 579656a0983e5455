"""Sends workers the message "look at this delivery"; the queue itself is the rows of deliveries."""

from __future__ import annotations

import logging
from typing import Final

from celery import current_app
from kombu.exceptions import OperationalError

DELIVER: Final = "console.alerts.tasks.deliver"
_HINT_SECONDS: Final = 30

_log = logging.getLogger(__name__)


def hint(delivery_id: str) -> None:
    """Notify a worker that a delivery is due; without Redis the next tick finds it."""
    try:
        current_app.send_task(DELIVER, (delivery_id,), expires=_HINT_SECONDS)
    except OperationalError as error:
        _log.warning("delivery=%s: no worker was notified (%s); the next tick finds it", delivery_id, error)
