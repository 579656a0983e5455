"""Requirements of `gateway.metrics`."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from gateway.metrics import Metrics, page_of_process


def samples(metrics: Metrics) -> dict[tuple[str, tuple[str, ...]], float]:
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items(), reverse=True))): sample.value
        for family in text_string_to_metric_families(page_of_process(metrics.families()).decode())
        for sample in family.samples
    }


def test_requests_are_counted_and_timed_by_route() -> None:
    metrics = Metrics()
    metrics.request("produce", 201, 0.002)
    metrics.request("produce", 201, 0.2)
    metrics.request("produce", 404, 60.0)
    found = samples(metrics)
    assert found["gantry_gateway_requests_total", ("201", "produce")] == 2
    assert found["gantry_gateway_requests_total", ("404", "produce")] == 1
    assert found["gantry_gateway_request_seconds_count", ("produce",)] == 3
    assert found["gantry_gateway_request_seconds_sum", ("produce",)] == 60.202
    buckets = {labels[1]: value for (name, labels), value in found.items() if name.endswith("_bucket")}
    assert {bound: buckets[bound] for bound in ("0.001", "0.0025", "30.0", "+Inf")} == {
        "0.001": 0,
        "0.0025": 1,
        "30.0": 2,
        "+Inf": 3,
    }


def test_messages_sockets_and_gauges_are_shown() -> None:
    metrics = Metrics()
    metrics.messages("produced", 100)
    metrics.refused("RATE_LIMITED")
    metrics.sockets = 3
    metrics.gauge("gantry_gateway_leases_out", "Leases.", lambda: 7.0)
    found = samples(metrics)
    assert found["gantry_gateway_messages_total", ("produced",)] == 100
    assert found["gantry_gateway_messages_total", ("acked",)] == 0
    assert found["gantry_gateway_refused_total", ("RATE_LIMITED",)] == 1
    assert found["gantry_gateway_sockets", ()] == 3
    assert found["gantry_gateway_leases_out", ()] == 7


def test_the_page_tells_of_the_process_too() -> None:
    assert any(name == "process_cpu_seconds_total" for name, _ in samples(Metrics()))
