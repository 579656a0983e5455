"""What the demo creates: all names begin with ``demo-``, so that nothing of anybody else is touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

ORDERS: Final = "demo-orders"
COPY: Final = "demo-orders-copy"
EVENTS: Final = "demo-order-events"
PAYMENTS: Final = "demo-payments"
CLICKS: Final = "demo-clicks"
REMINDERS: Final = "demo-reminders"
AUDIT: Final = "demo-audit"

BILLING: Final = "demo-billing"
SHIPPING: Final = "demo-shipping"
ANALYTICS: Final = "demo-analytics"
FRAUD: Final = "demo-fraud-check"
LEDGER: Final = "demo-ledger"
NEVER: Final = "demo-archive"

BACKLOG: Final = 3_000
"""Clicks that the analytics group always has before it."""
REPLAY: Final = "demo: orders into their copy"
NIGHTLY: Final = "demo: orders of the last hour"
RULE: Final = "demo: analytics falls behind"


@dataclass(frozen=True)
class Topic:
    """A topic to create; `message_type` is what it is declared for."""

    name: str
    queues: int
    message_type: str


TOPICS: Final = (
    Topic(ORDERS, 8, "normal"),
    Topic(COPY, 8, "normal"),
    Topic(EVENTS, 4, "fifo"),
    Topic(PAYMENTS, 4, "normal"),
    Topic(CLICKS, 4, "normal"),
    Topic(REMINDERS, 4, "delay"),
    Topic(AUDIT, 2, "mixed"),
)
GROUPS: Final = (BILLING, SHIPPING, ANALYTICS, FRAUD, LEDGER, NEVER)


def replay_of(cluster: str) -> dict[str, Any]:
    """Return the job that copies the orders."""
    return {
        "type": "replay",
        "name": REPLAY,
        "cluster": cluster,
        "source": {"topic": ORDERS},
        "target": {"topic": COPY},
    }


def schedule_of(cluster: str) -> dict[str, Any]:
    """Return the schedule that copies them every night."""
    window = {"from": "{{ scheduled_at - 1h }}", "to": "{{ scheduled_at }}"}
    job = {"type": "replay", "cluster": cluster, "source": {"topic": ORDERS, **window}, "target": {"topic": COPY}}
    return {"name": NIGHTLY, "cron": "30 3 * * *", "zone": "UTC", "job": job}


def rule_of(cluster: str) -> dict[str, Any]:
    """Return the rule that the backlog of the analytics breaks."""
    return {
        "name": RULE,
        "metric": "group_lag",
        "cluster": cluster,
        "subject": ANALYTICS,
        "limit": BACKLOG // 3,
        "for_ms": 5_000,
        "severity": "warning",
    }
