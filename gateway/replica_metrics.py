"""Metrics of replicas and controllers. A figure that is not known has no sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from broker_core.client.admin.clusters import BrokerRuntime
from console.lag.shapes import OverviewState
from console.replicas.engine import is_up
from console.replicas.shapes import Controllers, ControllerState, DecidedNames

_REPLICA: Final = ["cluster", "broker", "replica"]
_CONTROLLER: Final = ["cluster", "controller"]


class _OfReplica(NamedTuple):
    family: type[GaugeMetricFamily] | type[CounterMetricFamily]
    name: str
    help_text: str
    figure: str


class _OfController(NamedTuple):
    family: type[GaugeMetricFamily] | type[CounterMetricFamily]
    name: str
    help_text: str
    read: Callable[[ControllerState], float | None]


OF_REPLICAS: Final = (
    _OfReplica(GaugeMetricFamily, "epoch", "The newest mastership that a replica knows.", "masterEpoch"),
    _OfReplica(GaugeMetricFamily, "confirm_offset", "Up to here every replica in sync has the log.", "confirmOffset"),
    _OfReplica(CounterMetricFamily, "role_changes", "Changes of its role since the start.", "roleChanges"),
    _OfReplica(CounterMetricFamily, "cut_bytes", "Cut from its log since the start, never confirmed.", "cutBytes"),
    _OfReplica(
        GaugeMetricFamily,
        "waits_for_room",
        "Whether it rests until its disk has room for what it is told.",
        "waitsForRoom",
    ),
)
OF_CONTROLLERS: Final = (
    _OfController(GaugeMetricFamily, "leading", "Whether a controller leads.", lambda of: float(of.leading)),
    _OfController(
        GaugeMetricFamily,
        "engine_up",
        "Whether a controller reads what keeps its decisions, without an alarm.",
        lambda of: float(is_up(of.age_ms, of.alarms)),
    ),
    _OfController(
        GaugeMetricFamily,
        "decisions_seconds",
        "Time that its last decision took.",
        lambda of: None if of.last_decision_ms is None else of.last_decision_ms / 1000,
    ),
    _OfController(
        CounterMetricFamily, "conflicts", "Commands that lost a comparison since its start.", lambda of: of.conflicts
    ),
    _OfController(
        CounterMetricFamily,
        "unsettled",
        "Commands of which it was not known in time whether they were done.",
        lambda of: of.unsettled_count,
    ),
)


def of_overviews(overviews: Mapping[str, OverviewState]) -> Iterator[Metric]:
    """Yield what each slave lacks of its master's log, as the sampler saw it last."""
    lacking = GaugeMetricFamily("gantry_replica_lag_bytes", "What a slave lacks of its master's log.", labels=_REPLICA)
    late = GaugeMetricFamily("gantry_replica_lag_ms", "Between the last messages of master and slave.", labels=_REPLICA)
    for cluster, overview in overviews.items():
        for each in overview.brokers:
            for family, value in ((lacking, each.behind_bytes), (late, each.behind_ms)):
                if value is not None:
                    family.add_metric([cluster, each.name, str(each.broker_id)], value)
    yield from (lacking, late)


def of_replicas(answers: Iterable[tuple[str, str, BrokerRuntime]]) -> Iterator[Metric]:
    """Yield what processes with automatic failover tell of themselves, each with its cluster and broker name."""
    replicas = [(cluster, broker, runtime) for cluster, broker, runtime in answers if runtime.figure("replicaId")]
    for each in OF_REPLICAS:
        family = each.family(f"gantry_replica_{each.name}", each.help_text, labels=_REPLICA)
        for cluster, broker, runtime in replicas:
            value = runtime.figure(each.figure)
            if value is not None:
                family.add_metric([cluster, broker, runtime.table["replicaId"]], value)
        yield family


def of_decisions(decisions: Mapping[str, DecidedNames]) -> Iterator[Metric]:
    """Yield who is in the in-sync sets, which a controller tells also of replicas that are silent."""
    family = GaugeMetricFamily("gantry_replica_in_sync", "Whether it has every acknowledged message.", labels=_REPLICA)
    for cluster, names in decisions.items():
        for name in names.items:
            for replica in name.replicas:
                family.add_metric([cluster, name.broker, str(replica)], float(replica in name.in_sync))
    yield family


def of_controllers(controllers: Mapping[str, Controllers]) -> Iterator[Metric]:
    """Yield what the controllers that answer told the sampler last."""
    for each in OF_CONTROLLERS:
        family = each.family(f"gantry_controller_{each.name}", each.help_text, labels=_CONTROLLER)
        for cluster, found in controllers.items():
            for controller in found.controllers:
                value = each.read(controller) if controller.reachable else None
                if value is not None:
                    family.add_metric([cluster, controller.address], value)
        yield family
