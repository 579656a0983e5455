"""Requirements of replicas under a controller over HTTP: what is decided, and changes by hand with a preview."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.gateway.control.conftest import Control
from tests.support import failover
from tests.support.failover import replicas_that_beat
from tests.support.wait import wait_until

Call = Callable[..., httpx.Response]


@pytest.fixture
def call(control: Control, tmp_path: Path) -> Iterator[Call]:
    """Send requests of the admin to a cluster with a controller."""
    if control.is_apache:
        pytest.skip("its name server hosts no controller of this kind")
    admin, name = control.as_("admin"), control.name("led")
    with replicas_that_beat(tmp_path) as address:
        body = {"name": name, "name_servers": [address]}
        assert admin.post("/api/v1/clusters", json=body).status_code == 201

        def call(method: str, path: str, **options: Any) -> httpx.Response:
            return admin.request(method, f"/api/v1/clusters/{name}{path}", **options)

        yield call
        admin.delete(f"/api/v1/clusters/{name}", headers={"If-Match": "*"})


def test_what_is_decided_is_shown_with_whether_sends_are_taken(call: Call) -> None:
    found = call("GET", f"/brokers/{failover.PAIR}/replicas").json()

    assert (found["mode"], found["master_id"], found["failover_reason"]) == ("failover", 1, None)
    state = found["failover"]
    assert (state["epoch"], state["in_sync"], state["min_in_sync"]) == (1, [1, 2], 1)
    assert not state["set_back"]
    first, second = found["replicas"]
    assert (first["role"], second["role"]) == ("master", "slave")
    del second["failover"]["in_sync_since"]  # what a sampler saw
    assert second["failover"] == {
        "in_sync": True, "heard": True, "clean": True, "life": "1-a", "confirm": None, "last_epoch": 0, "epochs": None
    }  # fmt: skip
    # Nobody listens where these replicas say that they are
    assert (second["reachable"], second["behind_bytes"]) == (False, None)
    assert "refused" in second["reason"]
    # … so nobody tells whether sends are taken, and by which number of replicas
    assert (state["writable"], state["effective_min_in_sync"], found["streams"]) == (None, None, None)
    assert state["writable_reason"] == found["streams_reason"] == first["reason"]


def test_a_name_without_a_master_says_why_it_takes_no_sends(call: Call) -> None:
    state = call("GET", f"/brokers/{failover.UNCLEAN}/replicas").json()["failover"]

    assert (state["master_id"], state["writable"]) == (None, False)
    assert state["writable_reason"] == state["stuck"]
    assert "may have lost" in state["stuck"]


def test_a_preview_changes_and_records_nothing_and_the_change_does_what_it_said(call: Call, control: Control) -> None:
    path = f"/brokers/{failover.PAIR_TO_HAND_OVER}/replicas/2:promote"

    would = call("POST", path, params={"dry_run": "true"}).json()

    assert (would["dry_run"], would["before"]["master_id"], would["after"]["master_id"]) == (True, 1, 2)
    assert (would["after"]["epoch"], would["after"]["in_sync"], would["lacking_bytes"]) == (2, [1, 2], 0)
    assert call("GET", f"/brokers/{failover.PAIR_TO_HAND_OVER}/replicas").json()["master_id"] == 1
    done = call("POST", path)
    assert done.status_code == 200, done.text
    assert (done.json()["after"]["master_id"], done.json()["lacking_bytes"]) == (2, 0)
    records = control.as_("admin").get("/api/v1/audit", params={"action": "replica.promote"}).json()["items"]
    mine = [each for each in records if each["resource"].endswith(f"{failover.PAIR_TO_HAND_OVER}/replicas/2")]
    assert [(each["before"]["master_id"], each["after"]["master_id"]) for each in mine][:1] == [(1, 2)]


def test_a_plan_is_made_once_and_only_while_what_it_showed_is_so(call: Call) -> None:
    path = f"/brokers/{failover.PAIR_TO_PLAN}/replicas/2:promote"
    would = call("POST", path, params={"dry_run": "true"}).json()
    assert would["plan_expires_at"] is not None
    # Nobody listens where the old master says that it is
    assert (would["orderly_groups"], would["has_until"]) == (None, None)
    named = {"plan": would["plan"]}

    other = call("POST", path.replace("2:", "1:"), params=named)
    forged = call("POST", path, params={"plan": "mine"})
    assert [(each.status_code, each.json()["code"]) for each in (other, forged)] == [(422, "INVALID")] * 2
    assert [fault["pointer"] for fault in forged.json()["errors"]] == ["?plan"]
    done = call("POST", path, params=named)
    assert done.status_code == 200, done.text
    assert (done.json()["after"]["master_id"], done.json()["plan"]) == (2, None)
    again = call("POST", path, params=named)
    assert (again.status_code, again.json()["code"]) == (412, "PRECONDITION_FAILED")
    assert "since the preview" in again.json()["detail"]


def test_a_policy_that_stops_sends_says_so_before(call: Call) -> None:
    body, path, any_version = {"min_in_sync": 2}, f"/brokers/{failover.PAIR}/policy", {"If-Match": "*"}
    remove = f"/brokers/{failover.PAIR_TO_SHRINK}/replicas/2:remove?living=true"
    assert call("POST", f"{remove}&dry_run=true").json()["removed"] == {
        "replica_id": 2, "address": "127.0.0.1:1", "runs": None, "successor_id": 1, "folder": None,
        "advice": "replica 1 is at its address now: leave that process and its folder alone",
    }  # fmt: skip
    removed = call("POST", remove)
    assert removed.status_code == 200, removed.text
    assert removed.json()["after"]["replicas"] == [1]

    refused = call("PATCH", f"/brokers/{failover.PAIR_TO_SHRINK}/policy", json=body, headers=any_version)

    assert refused.status_code == 409, refused.text
    assert call("PATCH", path, json={}, headers=any_version).status_code == 422
    read = call("GET", path)
    assert read.json() == {"min_in_sync": 1, "unclean_allowed": False}
    allowed = call("PATCH", path, json=body, headers={"If-Match": read.headers["etag"]}).json()
    # The master's own setting may ask for more: it does not answer
    assert (allowed["after"]["min_in_sync"], allowed["refuses_sends"], allowed["removed"]) == (2, None, None)
    late = call("PATCH", path, json=body, headers={"If-Match": read.headers["etag"]})
    assert (late.status_code, late.json()["code"]) == (412, "PRECONDITION_FAILED")
    assert call("GET", "/brokers/nowhere/policy").status_code == 404


def test_a_loss_of_which_nothing_was_measured_is_unknown_and_never_zero(call: Call) -> None:
    would = call("POST", f"/brokers/{failover.UNCLEAN}/replicas/1:accept-loss?dry_run=true").json()

    assert (would["keeps_acknowledged"], would["loss"], would["removed"]) == (False, None, None)


def test_a_loss_has_a_bound_by_the_last_log_that_had_everything(call: Call) -> None:
    path = f"/brokers/{failover.LOST}/replicas/1:accept-loss"
    would = call("POST", path, params={"dry_run": "true"}).json()

    assert (would["keeps_acknowledged"], would["lacking_bytes"]) == (False, 0)
    as_of = would["loss"].pop("as_of")
    assert would["loss"] == {"most_bytes": 40, "replica_id": 1, "log_end": 140}
    assert as_of.endswith("Z")


def test_what_the_controller_refuses_is_a_problem_in_its_words(call: Call, control: Control) -> None:
    gone = call("POST", "/brokers/nowhere/replicas/2:promote")
    adopted = call("POST", "/brokers/nowhere:adopt", json={"in_sync": [1], "of_cluster": "C"})
    lost = call("POST", f"/brokers/{failover.PAIR}/replicas/9:accept-loss")
    stranger = call("POST", f"/brokers/{failover.PAIR}/replicas/9:remove?dry_run=true")
    master = call("POST", f"/brokers/{failover.PAIR}/replicas/1:remove?living=true")
    no_id = call("POST", f"/brokers/{failover.PAIR}/replicas/{10**20}:promote")

    assert (gone.status_code, stranger.status_code, master.status_code, no_id.status_code) == (404, 404, 409, 404)
    assert (adopted.status_code, lost.status_code) == (404, 404), f"{adopted.text} {lost.text}"
    assert "master" in master.json()["detail"]
    records = control.as_("admin").get("/api/v1/audit", params={"action": "replica.remove"}).json()["items"]
    (failed,) = [each for each in records if each["resource"].endswith(f"/brokers/{failover.PAIR}/replicas/1")]
    assert (failed["result"], failed["after"]["asked"]) == ("failed", {"living": "true"})


def test_one_more_replica_is_only_previewed(call: Call) -> None:
    path = f"/brokers/{failover.PAIR}/replicas/new"

    would = call("GET", path, params={"address": "10.0.0.14", "port": "10921"}).json()

    assert (would["replica_id"], would["refused"], would["master_id"]) == (3, None, 1)
    # Nobody listens where these replicas say that they are
    assert (would["copy_bytes"], would["settings_of"], would["caught_up"]["failures"]) == (None, None, None)
    assert (would["started"]["in_sync"], would["caught_up"]["in_sync"]) == ([1, 2], [1, 2, 3])
    assert "brokerIP1=10.0.0.14\nlistenPort=10921\n" in would["configuration"]
    assert would["missing"] == ["settings", "reachable_names"]
    assert call("GET", f"/brokers/{failover.PAIR}/replicas").json()["failover"]["replicas"] == [1, 2]
    odd = call("GET", path, params={"id": "9"})
    assert (odd.status_code, [fault["pointer"] for fault in odd.json()["errors"]]) == (422, ["?id"])
    for wrong in ({"address": "a b"}, {"address": "x\ny=1"}, {"port": "0"}):
        assert call("GET", path, params=wrong).status_code == 422
    assert call("POST", path, json={}).status_code == 405
    assert call("GET", "/brokers/nowhere/replicas/new").status_code == 404


def test_the_controllers_and_who_leads(call: Call, control: Control) -> None:
    found = call("GET", "/controllers").json()

    (only,) = found["controllers"]
    assert (only["leading"], only["reachable"], only["engine"]) == (True, True, "file")
    assert isinstance(only["last_decision_ms"], int)
    assert found["leader"] == only["address"]
    # It is called so only when a later read does not show what its replica told.
    wait_until(lambda: failover.SET_BACK in call("GET", "/controllers").json()["controllers"][0]["set_back"])
    without = control.get("/controllers")
    assert (without["leader"], without["controllers"]) == (None, [])
    assert control.call("POST", "/brokers/broker-a/replicas/1:promote", role="admin").status_code == 422
