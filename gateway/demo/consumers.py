"""The consumers of the demo: native ones that keep up, fail or fall behind, and one that receives by lease."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from broker_core.client import PushConfig, PushConsumer, RetryLater, Session, StoredMessage
from gateway.cli.api import Api, Refused, part
from gateway.demo.patience import is_final
from gateway.demo.plan import ANALYTICS, BILLING, CLICKS, EVENTS, FRAUD, LEDGER, ORDERS, PAYMENTS, SHIPPING
from gateway.demo.setting_up import Say

_CONFIG: Final = PushConfig(start_from="first", shutdown_wait_ms=100)
_WAIT_MS: Final = 1_000
_AGAIN_AFTER_MS: Final = 10_000
_GIVE_UP_AFTER: Final = 3
_SETTLED: Final = "The group demo-ledger receives nothing"


def native_consumers(session: Session, new_clicks: asyncio.Semaphore) -> list[PushConsumer]:
    """Return the consumers that speak RocketMQ's protocol, not started."""

    async def analyse(_: StoredMessage) -> None:
        await new_clicks.acquire()

    return [
        _consumer(session, BILLING, ORDERS, _handle),
        _consumer(session, SHIPPING, EVENTS, _handle, replace(_CONFIG, orderly=True)),
        _consumer(session, ANALYTICS, CLICKS, analyse),
        _consumer(session, FRAUD, ORDERS, _check, replace(_CONFIG, max_reconsume_times=2)),
    ]


def _consumer(session: Session, group: str, topic: str, handler: Any, config: PushConfig | None = None) -> PushConsumer:
    consumer = PushConsumer(session, group, handler, config)
    consumer.subscribe(topic)
    return consumer


async def _handle(_: StoredMessage) -> None:
    """Be content with everything."""


async def _check(message: StoredMessage) -> None:
    """Fail for an order without a country; after two retries it is a dead letter."""
    if json.loads(message.body)["country"] is None:
        raise RetryLater(delay_level=1)


async def settle_payments(api: Api, say: Say) -> bool:
    """Receive payments by lease over HTTP once; say why and return False if the cluster knows no leases."""
    path = f"groups/{part(LEDGER)}/topics/{part(PAYMENTS)}"
    asked = {"max_messages": 16, "wait_ms": _WAIT_MS, "lease_ms": 30_000}
    try:
        answer = await asyncio.to_thread(api.post, f"{path}:receive", asked)
    except Refused as refusal:
        if not is_final(refusal):
            raise
        say(f"{_SETTLED}: {refusal}")
        return False
    for message in answer["messages"]:
        verb, body = _settlement(message)
        await asyncio.to_thread(api.post, f"{path}:{verb}", {"receipts": [message["receipt"]], **body})
    return True


def _settlement(message: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return what the ledger does with a payment: book it, try it again later, or give it up."""
    body = message["body"]
    if body["encoding"] != "json":
        return "nack", {"dead_letter": True, "reason": "JSONDecodeError: the body is cut off"}
    if body["data"]["currency"] == "EUR":
        return "ack", {}
    if message["delivery_count"] < _GIVE_UP_AFTER:
        return "nack", {"delay_ms": _AGAIN_AFTER_MS, "reason": "the exchange rate of XXX is not known"}
    return "nack", {"dead_letter": True, "reason": "the exchange rate of XXX is not known"}
