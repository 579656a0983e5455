"""Requirements of `console.clusters.views`: a cluster reports whether it answers, and why not."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from console import live
from console.clusters import services
from console.clusters.models import Cluster, KnownBroker
from console.lag.reading import LagReading, Missing
from console.lag.state import StateBuilder
from tests.console.lag.test_state import reading
from tests.support.cast import BY, Cast


def state_of(cast: Cast, name: str) -> Any:
    rows = cast.browser("viewer").get("/api/v1/clusters").json()["items"]
    return next(row for row in rows if row["name"] == name)


def test_two_clusters_with_the_same_broker_say_so(cast: Cast) -> None:
    east, west, alone = (services.add(BY, name=f"c{uuid4().hex[:8]}", name_servers=["127.0.0.1:1"]) for _ in range(3))
    seen = {"first_seen_at": timezone.now(), "last_seen_at": timezone.now()}
    ours = f"{east.name}:10911"
    for cluster, addresses in ((east, {"0": ours}), (west, {"0": ours, "1": "10.0.0.9:10911"}), (alone, {"0": "x:1"})):
        KnownBroker.objects.create(cluster=cluster, name="broker-a", addresses=addresses, **seen)
    assert state_of(cast, east.name)["same_brokers"] == [{"cluster": west.name, "addresses": [ours]}]
    assert state_of(cast, west.name)["same_brokers"] == [{"cluster": east.name, "addresses": [ours]}]
    assert state_of(cast, alone.name)["same_brokers"] == []


def test_a_cluster_that_cannot_be_reached_says_why(cast: Cast) -> None:
    name = f"c{uuid4().hex[:8]}"
    services.add(BY, name=name, name_servers=["127.0.0.1:1"])
    assert (state_of(cast, name)["reachable"], state_of(cast, name)["reason"]) == (
        None,
        "it was just added and has not been sampled yet",
    )
    reason = "name server 127.0.0.1:1 refused the connection"
    now = time.time_ns() // 1_000_000
    live.publish_sync(live.overview(name), StateBuilder().step(LagReading(now, name_server_reason=reason)).overview)
    assert (state_of(cast, name)["reachable"], state_of(cast, name)["reason"]) == (False, reason)
    assert state_of(cast, name)["brokers"] is None
    live.publish_sync(live.overview(name), StateBuilder().step(LagReading(now)).overview)
    assert state_of(cast, name)["reason"] == "the name server lists no broker"
    # A broker that answers is no cluster that does, while no name server does
    alone = reading(now, name_server_reason=reason)
    live.publish_sync(live.overview(name), StateBuilder().step(alone).overview)
    assert (state_of(cast, name)["reachable"], state_of(cast, name)["reason"]) == (True, reason)
    live.publish_sync(live.overview(name), StateBuilder().step(reading(now)).overview)
    assert (state_of(cast, name)["reachable"], state_of(cast, name)["reason"]) == (True, None)
    # And with one silent broker among others it does not answer as a whole
    missing = [Missing("broker-b", "10.0.0.9:10911", "it refused the connection", None)]
    live.publish_sync(live.overview(name), StateBuilder().step(reading(now, missing=missing)).overview)
    shown = state_of(cast, name)
    assert (shown["reachable"], shown["reason"]) == (True, "it refused the connection")
    assert (shown["brokers"], shown["brokers_answering"]) == (2, 1)
    Cluster.objects.filter(name=name).update(created_at=timezone.now() - timedelta(minutes=1))
    old = StateBuilder().step(LagReading(now - 50_000, name_server_reason=reason)).overview
    live.publish_sync(live.overview(name), old)
    assert state_of(cast, name)["reason"] == "it was not sampled in the last seconds"
