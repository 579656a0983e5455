"""Requirements of the replicas of a broker name over HTTP."""

from __future__ import annotations

import pytest

from tests.gateway.control.conftest import Control


@pytest.mark.sample
def test_a_broker_without_slaves_has_one_replica_its_master(control: Control) -> None:
    name = control.get("/overview")["brokers"][0]["name"]

    found = control.get(f"/brokers/{name}/replicas", role="viewer")

    assert found["master_id"] == 0
    (only,) = found["replicas"]
    assert (only["broker_id"], only["role"], only["reachable"], only["reason"]) == (0, "master", True, None)
    assert only["log_end"] >= only["log_begin"]
    assert (only["behind_bytes"], only["behind_ms"]) == (None, None)


def test_a_name_that_was_never_seen_is_not_found(control: Control) -> None:
    for path in ("/brokers/broker-gone/replicas", "/brokers/broker-gone/replicas/history"):
        refused = control.call("GET", path)

        assert refused.status_code == 404
        assert "broker-gone" in refused.json()["detail"]
