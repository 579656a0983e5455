"""Rules over HTTP: what is kept, what is refused, and who may."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import redis

from console.alerts import now, rules
from console.alerts.now import ClusterFigures, RuleFigures
from console.audit.models import AuditRecord
from console.clusters.models import Cluster
from console.clusters.services import ensure_embedded
from tests.support.cast import Cast

LAG: dict[str, Any] = {"name": "billing lag", "metric": "group_lag", "subject": "billing*", "limit": 150_000}
PATH = "/api/v1/alert-rules"


def test_a_rule_is_kept_with_its_defaults_and_in_the_audit(cast: Cast) -> None:
    operator = cast.browser("operator")
    answer = operator.post(PATH, LAG, format="json")
    assert answer.status_code == 201, answer.content
    rule = answer.json()
    assert (rule["for_ms"], rule["no_data_after_ms"], rule["repeat_ms"]) == (60_000, 60_000, 1_800_000)
    assert (rule["subject_kind"], rule["cluster"], rule["direction"], rule["channels"]) == ("group", "*", "above", [])
    assert answer.headers["ETag"] == rule["etag"]
    assert operator.get(f"{PATH}/{rule['id']}").json() == rule
    assert operator.get(PATH).json()["items"] == [rule]
    assert AuditRecord.objects.get().action == "alert_rule.create"


def test_a_rule_shows_what_it_sees_now(cast: Cast, redis_of_test: str) -> None:
    operator = cast.browser("operator")
    rule = operator.post(PATH, LAG, format="json").json()
    assert rule["figures"] == []
    ensure_embedded()
    seen = RuleFigures(cluster="local", at="2026-05-01T08:00:00.000Z", subjects=3, unfollowed=0, worst="b", value=None)
    with redis.Redis.from_url(redis_of_test) as store:
        store.set(now.key_of("local"), msgspec.json.encode(ClusterFigures(rules={rule["id"]: seen})), px=60_000)
        assert operator.get(PATH).json()["items"][0]["figures"] == [msgspec.to_builtins(seen)]
        store.delete(now.key_of("local"))


def test_a_change_needs_the_version_that_was_read(cast: Cast) -> None:
    operator = cast.browser("operator")
    rule = operator.post(PATH, LAG, format="json").json()
    path = f"{PATH}/{rule['id']}"
    assert operator.patch(path, {"limit": 5}, format="json").status_code == 428
    tag = {"if-match": rule["etag"]}
    changed = operator.patch(path, {"limit": 5, "no_data_after_ms": None}, format="json", headers=tag)
    assert (changed.json()["limit"], changed.json()["no_data_after_ms"], changed.json()["for_ms"]) == (5, None, 60_000)
    assert operator.delete(path, headers=tag).status_code == 412
    assert operator.delete(path, headers={"if-match": changed.json()["etag"]}).status_code == 204
    assert operator.get(path).status_code == 404


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"metric": "mood"}, "#/metric"),
        ({"limit": True}, "#/limit"),
        ({"limit": "5"}, "#/limit"),
        ({"limit": -1}, "#/limit"),
        ({"for_ms": 86_400_001}, "#/for_ms"),
        ({"no_data_after_ms": 1}, "#/no_data_after_ms"),
        ({"channels": ["nobody"]}, "#/channels"),
        ({"template": "{colour} is {state}"}, "#/template"),
        ({"metric": "broker_silent", "limit": 2}, "#/limit"),
        ({"window_ms": 5}, "#/window_ms"),
        ({"cluster": "nope"}, "#/cluster"),
    ],
)
def test_what_a_rule_cannot_be_is_refused_by_name(cast: Cast, change: dict[str, Any], pointer: str) -> None:
    answer = cast.browser("operator").post(PATH, {**LAG, **change}, format="json")
    assert answer.status_code == 422, answer.content
    assert pointer in [error["pointer"] for error in answer.json()["errors"]]


def test_a_rule_names_a_cluster_that_there_is_or_a_pattern(cast: Cast) -> None:
    operator = cast.browser("operator")
    ensure_embedded()
    later = operator.post(PATH, {**LAG, "name": "later", "cluster": "east-?"}, format="json")
    assert later.status_code == 201, later.content
    made = operator.post(PATH, {**LAG, "cluster": "local"}, format="json").json()
    Cluster.objects.all().delete()
    path, tag = f"{PATH}/{made['id']}", {"if-match": "*"}
    assert operator.patch(path, {"cluster": "local", "enabled": False}, format="json", headers=tag).status_code == 200
    moved = operator.patch(path, {"cluster": "nope"}, format="json", headers=tag)
    assert (moved.status_code, moved.json()["errors"][0]["pointer"]) == (422, "#/cluster")
    silence = {"cluster": "nope", "ends_at": "2040-01-01T00:00:00Z", "reason": "r", "starts_at": "2039-12-31T00:00:00Z"}
    silenced = operator.post("/api/v1/silences", silence, format="json")
    assert (silenced.status_code, silenced.json()["errors"][0]["pointer"]) == (422, "#/cluster")


def test_a_name_is_taken_once_and_the_number_of_rules_has_a_limit(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = cast.browser("operator")
    operator.post(PATH, LAG, format="json")
    assert operator.post(PATH, LAG, format="json").status_code == 409
    monkeypatch.setattr(rules, "MAX_RULES", 1)
    answer = operator.post(PATH, {**LAG, "name": "other"}, format="json")
    assert (answer.status_code, "1 alert rules" in answer.json()["detail"]) == (409, True)


def test_a_viewer_reads_rules_and_changes_none(cast: Cast) -> None:
    viewer = cast.browser("viewer")
    assert viewer.get(PATH).status_code == 200
    assert viewer.post(PATH, LAG, format="json").status_code == 403
