"""Requirements of `console.brokers.probe` and `abilities`: each step has its own finding, and nothing is assumed."""

from __future__ import annotations

from broker_core.protocol import java_properties
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from console.brokers.probe import ProbeReport, ProbeStep, look
from tests.support.cluster import RunningBroker
from tests.support.ports import free_ports
from tests.support.scripted import Cluster, Peer, scripted_cluster, succeed


def step(report: ProbeReport, name: str) -> ProbeStep:
    return next(each for each in report.steps if each.step == name)


def able(report: ProbeReport) -> dict[str, tuple[str, str | None]]:
    return {each.name: (each.state, each.value) for each in report.capabilities}


def answering(peer: Peer, *, figures: dict[str, str], settings: dict[str, str]) -> None:
    """Let a scripted broker report what an Apache RocketMQ 4.9 broker reports; it knows no other request."""
    body = coder.encode(KVTable(figures))
    peer.on(RequestCode.GET_BROKER_RUNTIME_INFO, succeed(lambda _: Command.response(ResponseCode.SUCCESS, body=body)))
    texts = java_properties.dump(settings)
    peer.on(RequestCode.GET_BROKER_CONFIG, succeed(lambda _: Command.response(ResponseCode.SUCCESS, body=texts)))


def like_4_9(cluster: Cluster, *, figures: dict[str, str] | None = None) -> None:
    settings = {"messageDelayLevel": "1s 5s", "rejectTransactionMessage": "false", "enablePropertyFilter": "false"}
    for peer in cluster.brokers.values():
        answering(peer, figures=figures or {"brokerVersionDesc": "V4_9_8"}, settings=settings)


async def test_every_step_passes_on_a_broker_that_answers(shared_broker: RunningBroker) -> None:
    report = await look([shared_broker.name_server], {})

    assert [(each.step, each.state) for each in report.steps] == [
        ("name_servers", "passed"),
        ("brokers", "passed"),
        ("reach", "passed"),
        ("clock", "passed"),
        ("abilities", "passed"),
    ]
    assert able(report)["lease"] == ("yes", None)
    assert able(report)["batch_ack"] == ("yes", None)
    assert able(report)["scheduled"] == able(report)["message_type"] == ("yes", None)
    assert able(report)["sql"] == ("yes", None)
    assert able(report)["replicas"] == ("no", "1")
    assert report.brokers[0].version == "V4_9_8"


async def test_a_broker_without_leases_says_so_itself() -> None:
    async with scripted_cluster("broker-a") as cluster:
        like_4_9(cluster)

        report = await look([cluster.name_server.addr], {})

    for name in ("lease", "batch_ack", "scheduled", "message_type"):
        assert able(report)[name] == ("no", None), name
    assert able(report)["transaction"] == ("yes", None)
    assert able(report)["timer"] == ("partly", "2")
    assert able(report)["index"] == ("unknown", None)


async def test_a_step_that_fails_does_not_stop_the_others() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        like_4_9(cluster)
        await cluster["broker-b"].stop()
        nobody = f"127.0.0.1:{free_ports()}"

        report = await look([cluster.name_server.addr, nobody], {})

    assert (step(report, "name_servers").state, step(report, "name_servers").passed) == ("partly", 1)
    assert step(report, "name_servers").findings[1].finding == f"name server {nobody} refused the connection"
    assert (step(report, "reach").state, report.brokers_reachable) == ("partly", 1)
    assert [each.reachable for each in report.brokers] == [True, False]
    assert able(report)["lease"][0] == "unknown"


async def test_nothing_is_claimed_of_a_cluster_that_does_not_answer() -> None:
    report = await look([f"127.0.0.1:{free_ports()}"], {})

    assert [each.state for each in report.steps] == ["failed", "skipped", "skipped", "skipped", "skipped"]
    assert {state for state, _ in able(report).values()} == {"unknown"}


async def test_an_address_map_reaches_a_broker_that_announces_another_address() -> None:
    async with scripted_cluster("broker-a") as cluster:
        like_4_9(cluster)
        reachable, announced = cluster["broker-a"].addr, "192.0.2.1:10911"
        cluster.announce("broker-a", announced)

        report = await look([cluster.name_server.addr], {announced: reachable})

    assert [(each.announced, each.connected_to, each.reachable) for each in report.brokers] == [
        (announced, reachable, True)
    ]


async def test_a_clock_that_differs_is_found() -> None:
    async with scripted_cluster("broker-a") as cluster:
        like_4_9(cluster, figures={"bootTimestamp": "1000", "runtime": "[ 0 days, 0 hours, 0 minutes, 9 seconds ]"})

        report = await look([cluster.name_server.addr], {})

    assert step(report, "clock").state == "failed"
    difference = report.brokers[0].clock_difference_ms
    assert difference is not None
    assert difference < -1_000_000
