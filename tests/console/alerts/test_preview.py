"""Requirements of `console.alerts.rehearsal` and of the preview over HTTP."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import redis

from broker_core.clock import now_ms
from console.alerts.life import Limits
from console.alerts.rehearsal import rehearse
from console.clusters.connections import ClusterUnknown
from console.clusters.models import Cluster
from console.clusters.services import ensure_embedded
from console.lag import current, history
from console.lag.shapes import GroupSummary
from tests.console.alerts.figures import group
from tests.support.cast import Cast

MINUTE = 60_000
LIMITS = Limits(is_above=True, limit=10, for_ms=2 * MINUTE, no_data_after_ms=MINUTE)


def test_a_rehearsal_says_when_it_fires_what_is_unknown_and_which_peaks_are_brief() -> None:
    points: list[float | None] = [1, 11, 1, 11, 12, 30, 1, None, None, 1]
    found = rehearse(points, 0, MINUTE, LIMITS)
    assert [(span.begin, span.end, span.worst) for span in found.fired] == [(5 * MINUTE, 6 * MINUTE, 30)]
    assert [(span.begin, span.end) for span in found.unknown] == [(7 * MINUTE, 9 * MINUTE)]
    assert found.brief == 1


def test_a_rule_that_fires_at_once_fires_in_every_step_beyond_the_limit() -> None:
    at_once = Limits(is_above=True, limit=10, for_ms=0, no_data_after_ms=None)
    found = rehearse([1, 11, 12, 1, 11], 0, MINUTE, at_once)
    assert [(span.begin, span.end) for span in found.fired] == [(MINUTE, 3 * MINUTE), (4 * MINUTE, 5 * MINUTE)]


def test_the_preview_reads_the_history_of_what_matches_and_keeps_nothing(
    cast: Cast, redis_of_test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_embedded()
    groups = [group(name, lag).summary() for name, lag in (("billing-a", 5), ("billing-b", 50), ("orders", 9))]
    monkeypatch.setattr(current, "groups", lambda cluster: groups)
    begin = now_ms() // MINUTE * MINUTE - 10 * MINUTE
    with redis.Redis.from_url(redis_of_test) as store:
        key = f"{history.group_key('local', 'billing-b')}:1m"
        store.delete(key, f"{history.group_key('local', 'billing-a')}:1m")
        store.rpush(key, *(orjson.dumps([begin + n * MINUTE, lag, 1, 1]) for n, lag in enumerate([5, 20, 30, 5])))
    body: dict[str, Any] = {"metric": "group_lag", "subject": "billing-*", "limit": 10, "for_ms": MINUTE}
    viewer = cast.browser("viewer")
    answer = viewer.post("/api/v1/alert-rules:preview", body, format="json")
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert (found["subjects"], found["previewed"], found["shown"]) == (2, 2, "billing-b")
    assert (found["fired_count"], found["fired_ms"], found["fired"][0]["worst"]) == (1, MINUTE, 30)
    assert (len(found["values"]), found["unknown_ms"]) == (1439, 1435 * MINUTE)
    assert viewer.get("/api/v1/alert-rules").json()["items"] == []


def test_a_cluster_that_is_not_known_is_named_and_the_others_are_previewed(
    cast: Cast, redis_of_test: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_embedded()
    Cluster.objects.create(name="east", name_servers=["127.0.0.1:9"])

    def groups(cluster: str) -> list[GroupSummary]:
        if cluster == "east":
            raise ClusterUnknown(cluster, "no name server answers")
        return [group("billing", 5).summary()]

    monkeypatch.setattr(current, "groups", groups)
    body: dict[str, Any] = {"metric": "group_lag", "subject": "*", "cluster": "*", "limit": 10, "for_ms": MINUTE}
    viewer = cast.browser("viewer")
    found = viewer.post("/api/v1/alert-rules:preview", body, format="json").json()
    assert (found["subjects"], [each["cluster"] for each in found["missing"]]) == (1, ["east"])
    assert "no name server answers" in found["missing"][0]["reason"]
    alone = viewer.post("/api/v1/alert-rules:preview", {**body, "cluster": "east"}, format="json")
    assert alone.status_code == 503


def test_a_figure_without_a_history_is_refused_by_name(cast: Cast) -> None:
    body = {"metric": "jobs_failed", "limit": 0}
    answer = cast.browser("viewer").post("/api/v1/alert-rules:preview", body, format="json")
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert (error["pointer"], "No history is kept of jobs_failed" in error["detail"]) == ("#/metric", True)
