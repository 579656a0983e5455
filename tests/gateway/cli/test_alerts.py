"""Requirements of the lists of alerts, and of events about them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from gateway.cli.api import Api
from gateway.cli.commands import gantry

FIRING: dict[str, Any] = {
    "id": "a1", "shown": "firing", "rule": {"severity": "critical", "name": "stuck"}, "cluster": "local",
    "subject": "broker-a", "value": 1.0, "value_now": 3.0, "since": "then",
}  # fmt: skip


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the gateway lists."""
    items: list[dict[str, Any]] = []

    class Answer:
        @property
        def content(self) -> str:
            return json.dumps({"items": items, "next_cursor": None})

    monkeypatch.setattr(Api, "call", lambda *_, **__: Answer())
    return items


def words_of(*command: str) -> list[list[str]]:
    """Run a command and return the words of its lines."""
    return [line.split() for line in CliRunner().invoke(gantry, [*command]).stdout.splitlines()]


def test_an_open_alert_has_its_value_of_now(listed: list[dict[str, Any]]) -> None:
    listed += [FIRING, {**FIRING, "value_now": None}]
    head, measured, unknown = words_of("alerts", "list")
    assert head == ["ID", "STATE", "SEVERITY", "RULE", "CLUSTER", "SUBJECT", "VALUE", "NOW", "SINCE"]
    assert (measured[6], unknown[6]) == ("3", "-")


def test_a_resolved_alert_has_its_last_value(listed: list[dict[str, Any]]) -> None:
    listed.append({**FIRING, "shown": "resolved", "value_now": None})
    assert words_of("alerts", "list", "--state", "resolved")[1][6] == "1"


def test_an_event_says_which_alert_fired(listed: list[dict[str, Any]]) -> None:
    about = {"rule": "stuck", "metric": "broker_stuck", "subject": "broker-a"}
    listed.append({"seen_at": "then", "kind": "alert_fired", "alert": about})
    head, row = words_of("events")
    assert "ALERT" in head
    assert [word for word in row if word != "-"] == ["then", "alert_fired", "stuck", "broker-a"]
