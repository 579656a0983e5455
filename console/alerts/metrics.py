"""The figures that rules look at: of what, and where the sampler's states hold them. Pure; knows no database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

from broker_core.client.routes import MASTER_ID
from broker_core.protocol.topics import DEAD_LETTER_PREFIX
from console.lag.group_state import has_no_offset
from console.lag.shapes import GroupState, OverviewState, TopicState
from console.lag.state import ClusterState
from console.replicas.figures import ControllerFigures, DecidedFigures

Values = Mapping[str, float | None]
"""The value of each subject; None means unknown. A subject to which the figure does not apply is absent."""
SubjectKind = Literal["group", "topic", "broker", "cluster", "job", "schedule"]

SUBJECTS: Final[Mapping[str, SubjectKind]] = {
    "group_lag": "group",
    "group_time_lag_ms": "group",
    "group_in_rate": "group",
    "group_out_rate": "group",
    "topic_in_rate": "topic",
    "dead_letters": "group",
    "dead_letters_per_hour": "group",
    "broker_disk_used": "broker",
    "broker_silent": "broker",
    "replica_lag_bytes": "broker",
    "replica_lag_ms": "broker",
    "replicas_out_of_sync": "broker",
    "replicas_unclean": "broker",
    "broker_without_master": "broker",
    "broker_refuses_sends": "broker",
    "broker_stuck": "broker",
    "broker_set_back": "broker",
    "elections_per_hour": "broker",
    "controllers_silent": "cluster",
    "controllers_leaderless": "cluster",
    "controller_engine_down": "cluster",
    "controller_engine_used": "cluster",
    "disk_days_to_full": "cluster",
    "jobs_failed": "job",
    "jobs_failed_in_row": "job",
    "job_differences": "job",
    "schedule_late_ms": "schedule",
    "schedule_missed": "schedule",
}
OF_JOBS: Final = frozenset(metric for metric, kind in SUBJECTS.items() if kind in ("job", "schedule"))
YES_OR_NO: Final = frozenset(
    {
        "broker_silent", "broker_without_master", "broker_refuses_sends", "broker_stuck", "broker_set_back",
        "controllers_leaderless", "controller_engine_down",
    }
)  # fmt: skip
"""What is 1 or 0: a rule on it has the limit 0, above."""
NOT_FILLING_DAYS: Final = 36_500.0
"""Stands for a disk that does not fill: its days to full are more than any limit."""


def group_values(groups: Mapping[str, GroupState], field: str) -> Values:
    """Return a figure of every group; a group without an offset has none."""
    return {name: getattr(group, field) for name, group in groups.items() if not has_no_offset(group)}


def topic_in_rates(topics: Mapping[str, TopicState]) -> Values:
    """Return the rate into each topic."""
    return {name: topic.in_rate for name, topic in topics.items()}


def dead_letters(topics: Mapping[str, TopicState]) -> Values:
    """Return how many dead letters each group has."""
    return {
        name.removeprefix(DEAD_LETTER_PREFIX): topic.messages
        for name, topic in topics.items()
        if name.startswith(DEAD_LETTER_PREFIX)
    }


def disks_used(overview: OverviewState) -> Values:
    """Return how full the disk of each broker is, from 0 to 1: the fullest of master and slaves that is known."""
    used: dict[str, float | None] = {}
    for broker in overview.brokers:
        known = [each for each in (used.get(broker.name), broker.disk_used_ratio) if each is not None]
        used[broker.name] = max(known, default=None)
    return used


def silent_brokers(overview: OverviewState) -> Values:
    """Return 1 for each broker that does not answer, 0 for the others."""
    silent: dict[str, float | None] = {}
    for broker in overview.brokers:
        # Of a broker and its replicas, each that is silent counts.
        silent[broker.name] = max(silent.get(broker.name) or 0.0, 0.0 if broker.reachable else 1.0)
    return silent


def lags_of_replicas(overview: OverviewState, field: str) -> Values:
    """Return how far the furthest slave of each broker name is behind its master; unknown if it is of any slave."""
    lags: dict[str, list[int | None]] = {}
    for broker in overview.brokers:
        if broker.broker_id != MASTER_ID:
            lags.setdefault(broker.name, []).append(getattr(broker, field))
    return {name: _most(each) for name, each in lags.items()}


def _most(lags: list[int | None]) -> float | None:
    known = [each for each in lags if each is not None]
    return max(known) if len(known) == len(lags) else None


def of_decisions(decisions: Mapping[str, DecidedFigures], field: str) -> Values:
    """Return a figure of each broker name whose master controllers choose."""
    return {name: getattr(each, field) for name, each in decisions.items()}


def refusing_sends(state: ClusterState) -> Values:
    """Return 1 for each of these names that takes no sends: by the word of its master, or because it has none."""
    masters = [each for each in state.overview.brokers if each.broker_id == MASTER_ID]
    told = {each.name: float(bool(each.send_refusal)) for each in masters if each.send_refusal is not None}
    unheard = {name: 1.0 if each.without_master else None for name, each in state.decisions.items()}
    return unheard | told


def of_controllers(cluster: str, figures: ControllerFigures | None, field: str) -> Values:
    """Return a figure of the controllers; none of a cluster without any, and of an engine without a limit."""
    if figures is None:
        return {}
    value = getattr(figures, field)
    is_unlimited = field == "engine_used" and value is None and figures.engine_down == 0
    return {} if is_unlimited else {cluster: value}


_OF_CONTROLLERS: Final = {
    "controllers_silent": "silent",
    "controllers_leaderless": "leaderless",
    "controller_engine_down": "engine_down",
    "controller_engine_used": "engine_used",
}
_PLAIN: Final[Mapping[str, Callable[[ClusterState], Values]]] = {
    "group_lag": lambda state: group_values(state.groups, "lag"),
    "group_time_lag_ms": lambda state: group_values(state.groups, "time_lag_ms"),
    "group_in_rate": lambda state: group_values(state.groups, "in_rate"),
    "group_out_rate": lambda state: group_values(state.groups, "out_rate"),
    "topic_in_rate": lambda state: topic_in_rates(state.topics),
    "dead_letters": lambda state: dead_letters(state.topics),
    "broker_disk_used": lambda state: disks_used(state.overview),
    "broker_silent": lambda state: silent_brokers(state.overview),
    "replica_lag_bytes": lambda state: lags_of_replicas(state.overview, "behind_bytes"),
    "replica_lag_ms": lambda state: lags_of_replicas(state.overview, "behind_ms"),
    "replicas_out_of_sync": lambda state: of_decisions(state.decisions, "out_of_sync"),
    "replicas_unclean": lambda state: of_decisions(state.decisions, "unclean"),
    "broker_without_master": lambda state: of_decisions(state.decisions, "without_master"),
    "broker_refuses_sends": refusing_sends,
    "broker_stuck": lambda state: of_decisions(state.decisions, "stuck"),
    "broker_set_back": lambda state: of_decisions(state.decisions, "set_back"),
    "elections_per_hour": lambda state: of_decisions(state.decisions, "elections"),
}


def read(metric: str, cluster: str, state: ClusterState) -> Values | None:
    """Return the values of a metric that one state shows; None for metrics that need more than that."""
    if metric in _OF_CONTROLLERS:
        return of_controllers(cluster, state.controllers, _OF_CONTROLLERS[metric])
    reader = _PLAIN.get(metric)
    return None if reader is None else reader(state)


def days_to_full(cluster: str, overview: OverviewState, *, watched_ms: int) -> Values:
    """Return the days until the fullest disk is full; unknown until the disks were watched for an hour."""
    days = overview.disk_days_to_full
    if days is None and overview.disk_used_ratio is not None and watched_ms >= 3_600_000:
        days = NOT_FILLING_DAYS
    return {cluster: days}
