"""The messages of the demo: a small shop."""

from __future__ import annotations

import base64
import itertools
import json
import random
from collections.abc import Iterator
from typing import Any, Final

from broker_core.client import Message
from gateway.demo.plan import CLICKS, EVENTS, ORDERS

STEPS: Final = ("created", "paid", "packed", "shipped")
COUNTRIES: Final = ("DE", "FR", "SE", "JP", "BR", "CN")
CLICKED: Final = ("home", "search", "product", "basket", "checkout")
REMIND_AFTER_MS: Final = (60_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000)
BAD_ONE_IN: Final = 25
"""Of orders and payments, one in so many cannot be handled."""


class Shop:
    """Makes messages; the numbers of orders go on where an earlier run of this process stopped."""

    def __init__(self, first: int) -> None:
        self._numbers = itertools.count(first)
        self._payments = itertools.count()
        self._chance = random.Random()  # noqa: S311 - nobody guards anything with it

    def order(self) -> Message:
        """Return a new order."""
        number = next(self._numbers)
        body: dict[str, str | float | None] = {
            "id": f"A{number}",
            "customer": f"cust-{self._chance.randrange(400)}",
            "country": self._chance.choice(COUNTRIES),
            "amount": round(self._chance.uniform(5, 400), 2),
            "items": self._chance.randrange(1, 6),
        }
        if number % BAD_ONE_IN == 0:
            body["country"] = None
        keys = [str(body["id"]), str(body["customer"])]
        return Message.create(ORDERS, _json(body), keys=keys, tag="created", properties={"source": "web"})

    def events(self) -> Iterator[Message]:
        """Yield what happens to one order, in order; all have its id as their first key."""
        number = self._chance.randrange(1_000, 100_000)
        for step in STEPS:
            yield Message.create(EVENTS, _json({"order": f"A{number}", "step": step}), keys=[f"A{number}"], tag=step)

    def click(self) -> Message:
        """Return a click."""
        page = self._chance.choice(CLICKED)
        body = {"session": f"s{self._chance.randrange(5_000)}", "page": page, "ms": self._chance.randrange(40, 900)}
        return Message.create(CLICKS, _json(body), tag=page)

    def payment(self) -> dict[str, Any]:
        """Return a payment as the HTTP API takes it; some are damaged, or of an unknown currency."""
        number = self._chance.randrange(1_000, 100_000)
        entry: dict[str, Any] = {"keys": [f"P{number}"], "tag": self._chance.choice(("card", "transfer", "voucher"))}
        data = {"id": f"P{number}", "amount": round(self._chance.uniform(5, 400), 2), "currency": "EUR"}
        fault = next(self._payments) % (2 * BAD_ONE_IN)
        if fault == 0:
            cut = base64.b64encode(_json(data)[:-7]).decode()
            return {**entry, "body": {"encoding": "base64", "data": cut}}
        if fault == BAD_ONE_IN:
            data["currency"] = "XXX"
        return {**entry, "body": {"encoding": "json", "data": data}}

    def reminder(self) -> dict[str, Any]:
        """Return a message that is delivered later."""
        number = self._chance.randrange(1_000, 100_000)
        body = {"encoding": "json", "data": {"basket": f"B{number}", "text": "You left something behind."}}
        return {"keys": [f"B{number}"], "delay_ms": self._chance.choice(REMIND_AFTER_MS), "body": body}

    def audit_entries(self) -> list[dict[str, Any]]:
        """Return entries of every sort: plain, in order, and delayed."""
        who = f"clerk-{self._chance.randrange(9)}"
        body = {"encoding": "text", "data": f"{who} looked at an order"}
        return [{"body": body}, {"body": body, "ordering_key": who}, {"body": body, "delay_ms": 60_000}]


def _json(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode()
