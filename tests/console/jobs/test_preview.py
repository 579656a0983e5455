"""Previews of a schedule over HTTP: they show what the schedule does."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from django.utils import timezone

from console.audit.record import Actor
from console.jobs import schedules
from console.jobs.models import Schedule
from tests.support.cast import Cast


@pytest.mark.parametrize(
    ("line", "zone", "now", "expected"),
    [
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00", "2026-03-30T00:30"]),
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:30", "2026-10-26T01:30"]),
        ("0 0 * * 7", "UTC", "2026-05-01T00:00:00Z", ["2026-05-03T00:00", "2026-05-10T00:00"]),
        ("5/15 * * * *", "UTC", "2026-05-01T00:00:00Z", ["2026-05-01T00:05", "2026-05-01T00:20"]),
    ],
)
def test_the_preview_and_the_schedule_have_the_same_times(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, line: str, zone: str, now: str, expected: list[str]
) -> None:
    viewer: Any = cast.browser("viewer")
    monkeypatch.setattr(timezone, "now", lambda: datetime.fromisoformat(now))
    answer = viewer.post("/api/v1/schedules:preview", {"cron": line, "zone": zone, "count": 5}, format="json")
    assert answer.status_code == 200, answer.content
    runs = answer.json()["next_runs"]
    assert runs[:2] == [f"{each}:00.000Z" for each in expected]
    made = schedules.add_schedule(Actor("ann"), {"name": "n", "cron": line, "zone": zone, "job": {"type": "replay"}})
    shown = viewer.get(f"/api/v1/schedules/{made.id}").json()
    assert (shown["next_run_at"], shown["next_runs"]) == (runs[0], runs)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"cron": "mon 0 * * *"}, "#/cron"),
        ({}, "#/cron"),
        ({"cron": "0 0 * * *", "zone": "Mars/Olympus"}, "#/zone"),
        ({"cron": "0 0 * * *", "count": 0}, "#/count"),
        ({"cron": "0 0 * * *", "count": 51}, "#/count"),
        ({"cron": "0 0 * * *", "timezone": "UTC"}, "#/timezone"),
    ],
)
def test_what_is_wrong_in_a_preview_is_named(cast: Cast, body: dict[str, Any], pointer: str) -> None:
    answer = cast.browser("viewer").post("/api/v1/schedules:preview", body, format="json")
    assert (answer.status_code, answer["content-type"]) == (422, "application/problem+json")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_a_line_that_names_no_minute_makes_no_schedule_either(cast: Cast) -> None:
    body = {"name": "n", "cron": "mon 0 * * *", "job": {"type": "replay"}}
    answer = cast.browser("operator").post("/api/v1/schedules", body, format="json")
    [detail] = [each["detail"] for each in answer.json()["errors"] if each["pointer"] == "#/cron"]
    assert detail == "'mon 0 * * *' is not a cron line: bad minute"


def test_a_preview_is_for_who_may_read(cast: Cast) -> None:
    body = {"cron": "0 0 * * *"}
    assert cast.program("operator", "jobs").post("/api/v1/schedules:preview", body, format="json").status_code == 403
    assert cast.program("viewer", "read").post("/api/v1/schedules:preview", body, format="json").status_code == 200


def test_a_preview_takes_no_key_since_it_changes_nothing(cast: Cast) -> None:
    key = {"idempotency-key": "k"}
    answer: Any = cast.browser("viewer").post(
        "/api/v1/schedules:preview", {"cron": "0 0 * * *"}, format="json", headers=key
    )
    assert answer.status_code == 422
    [fault] = answer.json()["errors"]
    assert (fault["pointer"], "takes no key" in fault["detail"]) == ("Idempotency-Key", True)


def test_a_schedule_with_a_line_of_an_earlier_release_is_not_switched_on(cast: Cast) -> None:
    made = schedules.add_schedule(
        Actor("ann"), {"name": "n", "cron": "* * * * *", "zone": "UTC", "enabled": False, "job": {"type": "replay"}}
    )
    Schedule.objects.filter(pk=made.pk).update(cron="mon 0 * * *")
    for body, status in (({"enabled": True}, 422), ({"name": "m"}, 200), ({"enabled": True, "cron": "0 0 * * *"}, 200)):
        answer = cast.browser("operator").patch(
            f"/api/v1/schedules/{made.id}", body, format="json", headers={"if-match": "*"}
        )
        assert answer.status_code == status, answer.content
        if status == 422:
            assert [error["pointer"] for error in answer.json()["errors"]] == ["#/cron"]
