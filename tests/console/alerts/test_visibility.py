"""Requirements of `console.alerts.visibility`: whoever is limited to some names sees their alerts and no others."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from console.accounts import roles, services
from console.alerts.models import Alert, Rule, Silence
from tests.console.alerts.conftest import rule
from tests.support.cast import BY, PASSWORD, Cast

NOW = int(timezone.now().timestamp() * 1000)


@pytest.fixture
def limited(cast: Cast) -> Any:
    """Somebody who may read and manage the groups orders-* alone."""
    rules = [{"kind": "group", "pattern": "orders-*", "allow": ["read", "manage"], "refuse": []}]
    role = roles.add_role(BY, name="orders", description="", rules=rules)
    user = services.add_user(BY, username="mia", password=PASSWORD, role=None, own_roles=[role])
    client = APIClient()
    client.force_login(user)
    return client


def firing(of: Rule, subject: str) -> Alert:
    return Alert.objects.create(rule=of, cluster="local", subject=subject, state="firing", since_at=NOW)


def test_alerts_and_their_counts_leave_out_hidden_subjects(limited: Any) -> None:
    of_all = rule(name="every group", subject="*")
    seen, hidden = firing(of_all, "orders-eu"), firing(of_all, "payments")
    page = limited.get("/api/v1/alerts").json()
    assert ([each["subject"] for each in page["items"]], page["total"]) == (["orders-eu"], 1)
    assert limited.get("/api/v1/alerts:counts").json()["firing"] == 1
    # Then a hidden one and one that does not exist cannot be told apart
    assert limited.get(f"/api/v1/alerts/{seen.pk}").status_code == 200
    answers = [limited.get(f"/api/v1/alerts/{each}").json() for each in (hidden.pk, "0" * 16)]
    assert [answer["status"] for answer in answers] == [404, 404]
    assert answers[0]["detail"].replace(hidden.pk, "0" * 16) == answers[1]["detail"]
    # Then the caller takes care of what it may manage
    assert limited.post(f"/api/v1/alerts/{seen.pk}:acknowledge", {}, format="json").status_code == 200
    assert limited.post(f"/api/v1/alerts/{hidden.pk}:acknowledge", {}, format="json").status_code == 404


def test_rules_and_silences_are_shown_where_their_pattern_is_covered(limited: Any) -> None:
    rule(name="every group", subject="*")
    rule(name="mine", subject="orders-*")
    other = rule(name="theirs", subject="payments-*")
    rule(name="topics", subject="orders-*", metric="topic_in_rate")
    page = limited.get("/api/v1/alert-rules").json()
    assert {each["name"] for each in page["items"]} == {"every group", "mine"}
    assert page["total"] == 2
    assert [each["figures"] for each in page["items"]] == [[], []]
    assert limited.get(f"/api/v1/alert-rules/{other.pk}").status_code == 404
    ends = timezone.now() + timedelta(hours=1)
    for subject in ("orders-eu", "payments"):
        Silence.objects.create(subject=subject, starts_at=timezone.now(), ends_at=ends, reason="works")
    assert [each["subject"] for each in limited.get("/api/v1/silences").json()["items"]] == ["orders-eu"]
    # Then a rule for everybody is made by those who may manage everything
    assert limited.post("/api/v1/alert-rules", {}, format="json").status_code == 403


def test_a_rule_and_a_silence_that_one_may_not_read_are_not_changed_either(cast: Cast) -> None:
    # Given somebody who may manage everything, but read only some groups
    every = [(kind, "*", "manage") for kind in ("topic", "group", "cluster")]
    mia = cast.limited(*every, ("group", "orders-*", "read"))
    hidden = rule(name="theirs", subject="payments-*")
    now = timezone.now()
    silence = Silence.objects.create(
        subject="payments", starts_at=now, ends_at=now + timedelta(hours=1), reason="works"
    )
    for method, path in (
        ("patch", "alert-rules/{}"),
        ("delete", "alert-rules/{}"),
        ("post", "silences/{}:end"),
    ):
        key = hidden.pk if "rules" in path else silence.pk
        headers = {"If-Match": "*"} if method != "post" else {}
        answers = [getattr(mia, method)(f"/api/v1/{path.format(each)}", headers=headers) for each in (key, "0" * 16)]
        assert [each.status_code for each in answers] == [404, 404], (path, answers[0].content)
        assert answers[0].json()["detail"].replace(key, "0" * 16) == answers[1].json()["detail"]
    assert Rule.objects.filter(pk=hidden.pk).exists()
    assert Silence.objects.get().ends_at > timezone.now()
