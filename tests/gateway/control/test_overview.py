"""Requirements of `gateway.control.overview` and of the clusters' list."""

from __future__ import annotations

import json

import pytest
import redis

from console.shapes import as_json
from tests.console.lag.figures import group, groups
from tests.gateway.control.conftest import Control
from tests.gateway.installation import Installation


def test_the_overview_tells_what_was_measured_and_what_was_not(control: Control) -> None:
    overview = control.get("/overview")
    [broker] = overview["brokers"]
    assert (broker["name"], broker["reachable"], broker["reason"]) == ("broker-a", True, None)
    assert overview["brokers_answering"] == 1
    assert overview["dead_letters"] >= 0, "counted, whatever other tests left there"
    assert overview["in_rate"] is None, "one look at a counter is no rate"
    assert 0 < overview["disk_used_ratio"] <= 1


def test_the_history_of_a_cluster_nobody_sampled_is_gaps(control: Control) -> None:
    history = control.get("/overview/history", range_="1h")
    assert (history["step_ms"], set(history["series"]["total_lag"])) == (5000, {None})


def test_a_cluster_that_does_not_answer_is_shown_so(control: Control) -> None:
    admin = control.as_("admin")
    name = control.name("mars")
    made = admin.post("/api/v1/clusters", json={"name": name, "name_servers": ["127.0.0.1:1"]})
    assert made.status_code == 201
    overview = admin.get(f"/api/v1/clusters/{name}/overview").json()
    assert (overview["brokers"], overview["total_lag"], overview["topics"]) == ([], None, None)
    refused = admin.get(f"/api/v1/clusters/{name}/topics")
    assert (refused.status_code, refused.json()["code"]) == (503, "BROKER_UNREACHABLE")
    assert refused.json()["retryable"]
    assert "has not been sampled yet" in made.json()["reason"]
    for path in ("groups", "groups/billing"):
        unknown = admin.get(f"/api/v1/clusters/{name}/{path}")
        assert (unknown.status_code, unknown.json()["code"]) == (503, "BROKER_UNREACHABLE"), unknown.text
        assert "refused the connection" in unknown.json()["detail"]
    job = {"type": "replay", "cluster": name, "source": {"topic": "orders"}, "target": {"topic": "orders-copy"}}
    not_begun = admin.post("/api/v1/jobs", json=job)
    assert (not_begun.status_code, not_begun.json()["code"]) == (503, "BROKER_UNREACHABLE"), not_begun.text
    assert "refused the connection" in not_begun.json()["detail"]
    assert admin.delete(f"/api/v1/clusters/{name}", headers={"If-Match": made.json()["etag"]}).status_code == 204
    assert admin.get(f"/api/v1/clusters/{name}").status_code == 404


def test_nothing_is_told_of_a_cluster_once_it_is_deleted(control: Control, redis_url: str) -> None:
    admin, name = control.as_("admin"), control.name("pluto")
    made = admin.post("/api/v1/clusters", json={"name": name, "name_servers": ["127.0.0.1:1"]})
    with redis.Redis.from_url(redis_url) as store:
        event = {
            "type": "state",
            "subject": f"groups:{name}",
            "seq": 1,
            "at": "",
            "data": as_json(groups(group("seen"))),
        }
        store.set(f"gantry:live:groups:{name}", json.dumps(event), ex=60)
    assert [each["name"] for each in admin.get(f"/api/v1/clusters/{name}/groups").json()["items"]] == ["seen"]

    gone = admin.delete(f"/api/v1/clusters/{name}", headers={"If-Match": made.json()["etag"]})
    assert gone.status_code == 204, gone.text

    for path in ("groups", "overview"):
        answer = admin.get(f"/api/v1/clusters/{name}/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "CLUSTER_NOT_FOUND"), answer.text


@pytest.mark.parametrize("servers", [[], ["nonsense"], ["host:0"], ["host:70000"], ["a b:1"]])
def test_name_servers_are_addresses(control: Control, servers: list[str]) -> None:
    answer = control.as_("admin").post("/api/v1/clusters", json={"name": "venus", "name_servers": servers})
    assert answer.status_code == 422


def test_the_embedded_cluster_stays_as_it_is(control: Control, installation: Installation) -> None:
    admin = control.as_("admin")
    assert admin.delete("/api/v1/clusters/local").status_code == 409
    assert admin.patch("/api/v1/clusters/local", json={"name_servers": ["a:1"]}).status_code == 409
    [local] = [row for row in admin.get("/api/v1/clusters").json()["items"] if row["name"] == "local"]
    assert local["kind"] == "embedded"
