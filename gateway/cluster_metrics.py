"""Metrics of clusters: what their brokers say at the scrape, and what the sampler published last.

A figure that is not known has no sample: a zero would look healthy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import orjson
import redis.asyncio
from asgiref.sync import sync_to_async
from django.db import DatabaseError, close_old_connections
from django.db.models import Count
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from redis.exceptions import RedisError

from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.admin.topics import TopicKind, kind_of
from broker_core.client.answers import ask_all
from broker_core.client.routes import MASTER_ID
from broker_core.errors import GantryError
from broker_core.protocol.topics import DEAD_LETTER_PREFIX
from console import live
from console.clusters.connections import Connections
from console.jobs.models import Job, JobState
from console.lag.shapes import OverviewState, TopicList
from console.replicas.shapes import Controllers, DecidedNames
from gateway import replica_metrics

_SECONDS: Final = 2.0
_SCAN: Final = 1000
_BROKER: Final = ["cluster", "broker"]
_QUANTILES: Final = {"50": "0.5", "99": "0.99", "999": "0.999"}
_UNITS: Final = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_DELAY_LEVEL: Final = "scheduleMessageOffset_"


class _Figure(NamedTuple):
    name: str
    help_text: str
    read: Callable[[BrokerRuntime], float | None]


class _Asked(NamedTuple):
    cluster: str
    broker: str
    runtime: BrokerRuntime


def _unflushed(runtime: BrokerRuntime) -> float | None:
    """Return the bytes of a text like ``12 B`` or ``1.5 MiB``."""
    number, _, unit = runtime.table.get("remainHowManyDataToFlush", "").partition(" ")
    try:
        return float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        return None


def _delayed(runtime: BrokerRuntime) -> float | None:
    """Return how many messages wait: those of each delay level, and those of the timer if the broker has one."""
    levels = [text.split(",") for name, text in runtime.table.items() if name.startswith(_DELAY_LEVEL)]
    try:
        waiting = sum(int(end) - int(offset) for offset, end in levels)
    except ValueError:
        return None
    timer = runtime.figure("timerMessages")
    return None if timer is None and not levels else waiting + (timer or 0)


GAUGES: Final = (
    _Figure("unflushed_bytes", "Stored, but not flushed to the disk yet.", _unflushed),
    _Figure(
        "dispatch_behind_bytes", "In the log, but not in the consume queues yet.", lambda of: of.dispatch_behind_bytes
    ),
    _Figure("commit_log_bytes", "From the first message to the last.", lambda of: of.commit_log_bytes),
    _Figure("disk_used_ratio", "Used share of the disk, 0 to 1.", lambda of: of.disk_used_ratio),
    _Figure("leases", "Messages on lease.", lambda of: of.figure("leases")),
    _Figure("delayed_messages", "Messages that wait for their time.", _delayed),
    _Figure("open_transactions", "Half messages without a decision.", lambda of: of.figure("openTransactions")),
)
COUNTERS: Final = (
    _Figure("stored_messages", "Messages stored since the start.", lambda of: of.stored_total),
    _Figure("delivered_messages", "Messages delivered since the start.", lambda of: of.handed_out_total),
)


async def families(store: redis.asyncio.Redis, connections: Connections) -> list[Metric]:
    """Return the families of brokers, topics and jobs; without samples where Redis does not answer."""
    overviews = await published(store, live.overview("*"), OverviewState)
    topics = await published(store, live.topics("*"), TopicList)
    asked = await asyncio.gather(*(_asked(connections, cluster, each) for cluster, each in overviews.items()))
    answers = [answer for answers in asked for answer in answers]
    masters = [process for process, is_master in answers if is_master]
    return [
        _up(overviews),
        *replica_metrics.of_overviews(overviews),
        *replica_metrics.of_replicas(process for process, _ in answers),
        *replica_metrics.of_decisions(await published(store, live.decisions("*"), DecidedNames)),
        *replica_metrics.of_controllers(await published(store, live.controllers("*"), Controllers)),
        *_of_brokers(masters),
        *_of_topics(topics),
        await _jobs(),
    ]


async def published(store: redis.asyncio.Redis, pattern: str, shape: type[live.S]) -> dict[str, live.S]:
    """Return what the sampler published last of each cluster."""
    found: dict[str, live.S] = {}
    try:
        keys = [key async for key in store.scan_iter(match=f"gantry:live:{pattern}", count=_SCAN)]
        states = await store.mget(keys) if keys else []
    except RedisError:
        return {}
    for kept in states:
        event: live.Event | None = None if kept is None else orjson.loads(kept)
        state = None if event is None else live.read(event["data"], shape)
        if event is not None and state is not None:
            found[event["subject"].partition(":")[2]] = state
    return found


async def _asked(connections: Connections, cluster: str, overview: OverviewState) -> list[tuple[_Asked, bool]]:
    """Return what each process says, and whether it is the master of its name."""
    processes = {each.address: each for each in overview.brokers if each.reachable}
    try:
        async with asyncio.timeout(_SECONDS):
            admin = await connections.admin(cluster)
            answers = await ask_all(processes, admin.clusters.runtime_of)
    except (GantryError, TimeoutError):
        return []
    return [
        (_Asked(cluster, processes[address].name, runtime), processes[address].broker_id == MASTER_ID)
        for address, runtime in answers.found.items()
    ]


def _up(overviews: Mapping[str, OverviewState]) -> Metric:
    up = GaugeMetricFamily("gantry_broker_up", "Whether a broker answers the sampler.", labels=_BROKER)
    for cluster, overview in overviews.items():
        for each in overview.brokers:
            if each.broker_id == MASTER_ID:
                up.add_metric([cluster, each.name], float(each.reachable))
    return up


def _of_brokers(answers: Iterable[_Asked]) -> Iterator[Metric]:
    answers = list(answers)
    for kind, figures in ((GaugeMetricFamily, GAUGES), (CounterMetricFamily, COUNTERS)):
        for figure in figures:
            family = kind(f"gantry_broker_{figure.name}", figure.help_text, labels=_BROKER)
            for cluster, broker, runtime in answers:
                value = figure.read(runtime)
                if value is not None:
                    family.add_metric([cluster, broker], value)
            yield family
    yield _latency("put", "Time to append a message to the log, of the last minutes.", "put", answers)
    yield _latency("pull", "Time to read for a pull, of the last minutes.", "get", answers)
    yield _limits(answers)


def _latency(name: str, help_text: str, key: str, answers: Iterable[_Asked]) -> Metric:
    """Return a family of the figures that the broker calls `key` and a number."""
    labels = [*_BROKER, "quantile"]
    family = GaugeMetricFamily(f"gantry_broker_{name}_latency_seconds", help_text, labels=labels)
    for cluster, broker, runtime in answers:
        for digits, quantile in _QUANTILES.items():
            took_ms = runtime.figure(f"{key}Latency{digits}")
            if took_ms is not None:
                family.add_metric([cluster, broker, quantile], took_ms / 1000)
    return family


def _limits(answers: Iterable[_Asked]) -> Metric:
    reached = CounterMetricFamily(
        "gantry_broker_limits_reached", "Requests refused by a limit of the broker.", labels=[*_BROKER, "limit"]
    )
    for cluster, broker, runtime in answers:
        for each in runtime.table.get("limitsReached", "").split():
            limit, _, count = each.partition("=")
            reached.add_metric([cluster, broker, limit], float(count))
    return reached


def _of_topics(lists: Mapping[str, TopicList]) -> Iterator[Metric]:
    depth = GaugeMetricFamily("gantry_topic_messages", "Messages stored in a topic.", labels=["cluster", "topic"])
    dead = GaugeMetricFamily("gantry_dead_letter_messages", "Dead letters of a group.", labels=["cluster", "group"])
    for cluster, topics in lists.items():
        for topic in topics.items:
            kind = kind_of(topic.name)
            if topic.messages is None:
                continue
            if kind is TopicKind.DEAD_LETTER:
                dead.add_metric([cluster, topic.name.removeprefix(DEAD_LETTER_PREFIX)], topic.messages)
            elif kind is TopicKind.NORMAL:
                depth.add_metric([cluster, topic.name], topic.messages)
    yield from (depth, dead)


async def _jobs() -> Metric:
    jobs = GaugeMetricFamily("gantry_jobs", "Jobs by state.", labels=["state"])
    try:
        counts = await sync_to_async(_count_jobs)()
    except DatabaseError:
        return jobs
    for state, count in counts.items():
        jobs.add_metric([state], count)
    return jobs


def _count_jobs() -> dict[str, int]:
    close_old_connections()
    counted = dict(Job.objects.values_list("state").annotate(Count("pk")).order_by())
    return {state: counted.get(state, 0) for state in JobState.values}
