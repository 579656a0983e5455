"""States of a cluster as the sampler has them, with the figures of a test."""

from __future__ import annotations

from console.lag.shapes import BrokerState, GroupState, OverviewState, TopicState
from console.lag.state import ClusterState
from console.moments import rfc3339


def group(name: str, lag: int | None, **figures: object) -> GroupState:
    """Return a group with this lag."""
    shown: dict[str, object] = {
        "state": "unknown" if lag is None else "consuming",
        "topics": ["orders"],
        "time_lag_ms": lag,
        "in_rate": 1.0,
        "out_rate": 1.0,
        "drain_eta_ms": None,
        "measured_at": None,
        "mode": None,
        "clients": 0,
        "lease_consumers": None,
        "lag_per_second": None,
        "leases": None,
        "unknown_reason": None,
        "missing": [],
        "at": rfc3339(0),
        "queues": [],
        "config": None,
        **figures,
    }
    return GroupState(name=name, lag=lag, **shown)  # type: ignore[arg-type]


def broker(name: str = "broker-a", *, reachable: bool = True, disk: float | None = 0.5) -> BrokerState:
    """Return a broker."""
    return BrokerState(
        name=name, address="x:1", broker_id=0, role="master", reachable=reachable, reason=None, disk_used_ratio=disk
    )


def state(
    *groups: GroupState, topics: tuple[TopicState, ...] = (), brokers: tuple[BrokerState, ...] = (broker(),)
) -> ClusterState:
    """Return the state of a cluster."""
    fields = dict.fromkeys(OverviewState.__struct_fields__)
    overview = OverviewState(
        **{
            **fields,
            "at": rfc3339(0),
            "brokers": list(brokers),
            "brokers_answering": sum(each.reachable for each in brokers),
            "missing": [],
            "disk_used_ratio": max((each.disk_used_ratio or 0 for each in brokers), default=None),
        }  # type: ignore[arg-type]
    )
    return ClusterState(overview, {each.name: each for each in groups}, {each.name: each for each in topics})
