"""The metrics of a gateway process, for Prometheus at ``/metrics``.

The hot path increments plain integers; they become metric families only at a scrape.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# Seconds. The last bounds are for long polls.
_BOUNDS: Final = (0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 30.0)


@dataclass(slots=True)
class _Seconds:
    buckets: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    total: float = 0.0


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self._requests: dict[tuple[str, int], int] = {}
        self._seconds: dict[str, _Seconds] = {}
        self._messages: dict[str, int] = {"produced": 0, "leased": 0, "acked": 0, "nacked": 0, "dead_lettered": 0}
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._refused: dict[str, int] = {}
        self.sockets = 0

    def refused(self, code: str) -> None:
        """Count a request of the data plane that was answered by a problem with this code."""
        self._refused[code] = self._refused.get(code, 0) + 1

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count an answered request of the data plane."""
        key = route, status
        self._requests[key] = self._requests.get(key, 0) + 1
        timing = self._seconds.get(route)
        if timing is None:
            timing = self._seconds[route] = _Seconds()
        timing.buckets[bisect_left(_BOUNDS, seconds)] += 1
        timing.total += seconds

    def messages(self, what: str, count: int) -> None:
        """Count messages; `what` is produced, leased, acked, nacked or dead_lettered."""
        self._messages[what] += count

    @contextmanager
    def socket(self) -> Iterator[None]:
        """Count an open WebSocket until the block ends."""
        self.sockets += 1
        try:
            yield
        finally:
            self.sockets -= 1

    def gauge(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        """Add a gauge; `read` returns its value at each scrape."""
        self._gauges[name] = help_text, read

    def families(self) -> Iterator[Metric]:
        """Return the counters as metric families."""
        requests = CounterMetricFamily(
            "gantry_gateway_requests", "Answered requests of the data plane.", labels=["route", "status"]
        )
        for (route, status), count in list(self._requests.items()):
            requests.add_metric([route, str(status)], count)
        yield requests
        seconds = HistogramMetricFamily("gantry_gateway_request_seconds", "Time to answer.", labels=["route"])
        for route, timing in list(self._seconds.items()):
            seconds.add_metric([route], _cumulative(timing.buckets), timing.total)
        yield seconds
        messages = CounterMetricFamily("gantry_gateway_messages", "Messages by what became of them.", labels=["what"])
        for what, count in self._messages.items():
            messages.add_metric([what], count)
        yield messages
        refused = CounterMetricFamily("gantry_gateway_refused", "Refused requests of the data plane.", labels=["code"])
        for code, count in list(self._refused.items()):
            refused.add_metric([code], count)
        yield refused
        yield GaugeMetricFamily("gantry_gateway_sockets", "Open WebSockets.", value=self.sockets)
        for name, (help_text, read) in self._gauges.items():
            yield GaugeMetricFamily(name, help_text, value=read())


class _Gathered(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    def collect(self) -> Iterator[Metric]:
        yield from self._families


def page_of_process(families: Iterable[Metric]) -> bytes:
    """Return what one process tells: these families, and those of the process and of Python."""
    registry = CollectorRegistry(auto_describe=False)
    for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR, _Gathered(families)):
        registry.register(collector)
    return generate_latest(registry)


def page(processes: Mapping[int, bytes | None], shared: Iterable[Metric]) -> bytes:
    """Return the page for a scrape, from the pages of all gateway processes by number, None for one that was silent.

    Their samples get the label `worker`; `shared` is what all processes tell alike.
    """
    up = GaugeMetricFamily("gantry_gateway_up", "Whether the process answered.", labels=["worker"])
    families: dict[str, Metric] = {}
    for number, text in sorted(processes.items()):
        up.add_metric([str(number)], text is not None)
        for family in text_string_to_metric_families((text or b"").decode()):
            samples, family.samples = family.samples, []
            its = families.setdefault(family.name, family).samples
            its += [each._replace(labels={**each.labels, "worker": str(number)}) for each in samples]
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Gathered([up, *families.values(), *shared]))
    return generate_latest(registry)


def _cumulative(buckets: list[int]) -> list[tuple[str, float]]:
    cumulative, total = [], 0
    for bound, count in zip((*_BOUNDS, float("inf")), buckets, strict=True):
        total += count
        cumulative.append(("+Inf" if bound == float("inf") else str(bound), float(total)))
    return cumulative
