"""Bodies about whole clusters and brokers."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.protocol.bodies.routes import BrokerData


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """All clusters and brokers (106): broker name → addresses, cluster → broker names."""

    broker_addr_table: dict[str, BrokerData] = field(default_factory=dict)
    cluster_addr_table: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrokerStatsItem:
    """A count, its rate per second, its mean per call."""

    sum: int = 0
    tps: float = 0.0
    avgpt: float = 0.0


@dataclass(frozen=True, slots=True)
class BrokerStatsData:
    """One statistic over three spans (315)."""

    stats_minute: BrokerStatsItem = field(default_factory=BrokerStatsItem)
    stats_hour: BrokerStatsItem = field(default_factory=BrokerStatsItem)
    stats_day: BrokerStatsItem = field(default_factory=BrokerStatsItem)
