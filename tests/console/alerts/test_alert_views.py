"""Alerts and silences over HTTP: lists, counts, who takes care, and who hears nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from console.alerts.models import Alert
from console.audit.models import AuditRecord
from console.moments import rfc3339
from tests.console.alerts.conftest import rule
from tests.support.cast import Cast

NOW = int(timezone.now().timestamp() * 1000)


def alert(subject: str, state: str = "firing", **fields: Any) -> Alert:
    """Return a kept alert of one rule."""
    kept = Alert.objects.first()
    of = kept.rule if kept else rule()
    return Alert.objects.create(rule=of, cluster="local", subject=subject, state=state, since_at=NOW, **fields)


def listed(browser: Any, state: str) -> list[str]:
    answer = browser.get("/api/v1/alerts", {"state": state})
    assert answer.status_code == 200, answer.content
    return [each["subject"] for each in answer.json()["items"]]


def in_an_hour() -> str:
    return (timezone.now() + timedelta(hours=1)).isoformat()


def test_open_alerts_are_listed_firing_first_and_counted(cast: Cast) -> None:
    for subject, state in (("a", "pending"), ("b", "firing"), ("c", "no_data")):
        alert(subject, state)
    alert("d", "resolved", resolved_at=NOW - 1)
    alert("e", "resolved", resolved_at=NOW - 25 * 3_600_000)
    viewer = cast.browser("viewer")
    assert listed(viewer, "open") == ["b", "c", "a"]
    assert listed(viewer, "resolved") == ["e", "d"]
    counts = viewer.get("/api/v1/alerts:counts").json()
    assert counts == {"firing": 1, "no_data": 1, "pending": 1, "acknowledged": 0, "silenced": 0, "resolved": 1}
    assert viewer.get("/api/v1/alerts", {"state": "merry"}).status_code == 422


def test_what_nobody_measures_now_is_shown_as_it_was_with_its_time(cast: Cast) -> None:
    changes = [{"at": NOW - 9_000, "state": "firing", "value": 184_220}, {"at": NOW, "state": "no_data", "value": None}]
    alert("billing", "no_data", changes=changes)
    alert("orders", "resolved", resolved_at=NOW, value=7)
    viewer = cast.browser("viewer")
    (shown,) = viewer.get("/api/v1/alerts").json()["items"]
    assert (shown["value_now"], shown["last_known"]) == (None, {"at": rfc3339(NOW - 9_000), "value": 184_220})
    (done,) = viewer.get("/api/v1/alerts?state=resolved").json()["items"]
    assert (done["value"], done["value_now"], done["last_known"]) == (7, None, None)


def test_who_takes_care_is_shown_and_can_be_taken_back(cast: Cast) -> None:
    kept = alert("billing", value=184_220)
    operator = cast.browser("operator")
    answer = operator.post(f"/api/v1/alerts/{kept.pk}:acknowledge", {"note": "on it"}, format="json")
    assert answer.status_code == 200, answer.content
    shown = answer.json()
    assert (shown["state"], shown["shown"], shown["acknowledged"]["by"]) == ("firing", "acknowledged", "operator")
    assert shown["summary"] == "lag is firing: billing in local has 184,220, the limit is 100"
    assert (listed(operator, "acknowledged"), listed(operator, "firing")) == (["billing"], [])
    assert operator.post(f"/api/v1/alerts/{kept.pk}:unacknowledge").json()["shown"] == "firing"
    assert operator.post(f"/api/v1/alerts/{kept.pk}:unacknowledge").status_code == 409
    assert {"alert.acknowledge", "alert.unacknowledge"} <= set(AuditRecord.objects.values_list("action", flat=True))


def test_an_acknowledgement_ends_when_it_says(cast: Cast) -> None:
    kept = alert("billing", acknowledged_by="ann", acknowledged_at=NOW - 9, acknowledged_until=NOW - 1)
    operator = cast.browser("operator")
    assert operator.get(f"/api/v1/alerts/{kept.pk}").json()["shown"] == "firing"
    past = {"until": "2020-01-01T00:00:00Z"}
    assert operator.post(f"/api/v1/alerts/{kept.pk}:acknowledge", past, format="json").status_code == 409


def test_what_is_resolved_cannot_be_acknowledged(cast: Cast) -> None:
    kept = alert("billing", "resolved", resolved_at=NOW)
    answer = cast.browser("operator").post(f"/api/v1/alerts/{kept.pk}:acknowledge", {}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")


def test_a_silence_covers_what_matches_until_it_is_ended(cast: Cast) -> None:
    alert("staging-a")
    alert("billing")
    operator = cast.browser("operator")
    body = {"subject": "staging-*", "ends_at": in_an_hour(), "reason": "load test"}
    silence = operator.post("/api/v1/silences", body, format="json").json()
    assert (silence["state"], silence["created_by"], silence["rule"]) == ("active", "operator", "*")
    assert (listed(operator, "silenced"), listed(operator, "firing")) == (["staging-a"], ["billing"])
    assert operator.post(f"/api/v1/silences/{silence['id']}:end").json()["state"] == "ended"
    assert operator.post(f"/api/v1/silences/{silence['id']}:end").status_code == 409
    assert listed(operator, "silenced") == []
    assert [each["id"] for each in operator.get("/api/v1/silences?state=ended").json()["items"]] == [silence["id"]]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"ends_at": "2020-01-01T00:00:00Z"}, "#/ends_at"),
        ({"ends_at": "9000-01-01T00:00:00Z"}, "#/ends_at"),
        ({"ends_at": None}, "#/ends_at"),
        ({"reason": ""}, "#/reason"),
    ],
)
def test_a_silence_has_a_reason_and_an_end(cast: Cast, change: dict[str, Any], pointer: str) -> None:
    body = {"ends_at": in_an_hour(), "reason": "load test", **change}
    answer = cast.browser("operator").post("/api/v1/silences", body, format="json")
    assert answer.status_code == 422, answer.content
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]
