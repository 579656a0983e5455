"""Requirements of `gateway.siblings`, and of a gateway with two processes behind one port."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families

from gateway.metrics import page
from gateway.siblings import Siblings
from gateway.up.first_run import TOPIC
from tests.support.gantry import Gantry, Place
from tests.support.wait import wait_until

_UP = re.compile(r'^gantry_gateway_up\{worker="(\d+)"\} (\d)', re.MULTILINE)
_PRODUCED = re.compile(
    r'^gantry_gateway_requests_total\{route="produce",status="201",worker="(\d)"\} (\S+)', re.MULTILINE
)


@pytest.fixture(scope="module")
def gantry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gantry]:
    """An instance with two gateway processes; the first of them is killed by a test."""
    with Place.free(tmp_path_factory.mktemp("two") / "data").started(GANTRY_WORKERS="2") as running:
        yield running


def metrics(gantry: Gantry) -> str:
    return httpx.get(f"{gantry.url}/metrics", trust_env=False).text


def produced(text: str) -> dict[str, float]:
    """Return by worker how many requests to produce it answered."""
    return {worker: float(count) for worker, count in _PRODUCED.findall(text)}


def send(gantry: Gantry) -> int:
    """Send one message over a connection of its own."""
    with gantry.client() as client:
        body = {"body": {"encoding": "text", "data": "x"}}
        return client.post(f"/clusters/local/topics/{TOPIC}/messages", json=body).status_code


def processes(gantry: Gantry) -> list[int]:
    """Return the gateway's processes that serve; each has a parent of its own."""
    parents = _children(gantry.process.pid, "-f", "gateway.serve")
    return [each for parent in parents for each in _children(parent)]


def _children(parent: int, *options: str) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(parent), *options], capture_output=True, text=True, check=False)
    return [int(each) for each in found.stdout.split()]


async def test_each_process_has_a_number_and_learns_the_pages_of_the_others(tmp_path: Path) -> None:
    one, two = Siblings(tmp_path, lambda: b"of one"), Siblings(tmp_path, lambda: b"of two")
    await one.start()
    await two.start()
    assert await one.pages() == await two.pages() == {1: b"of one", 2: b"of two"}
    await one.stop()
    assert await two.pages() == {1: None, 2: b"of two"}
    again = Siblings(tmp_path, lambda: b"of another")
    await again.start()
    assert await two.pages() == {1: b"of another", 2: b"of two"}
    await asyncio.gather(again.stop(), two.stop())


async def test_a_process_without_a_folder_is_the_only_one() -> None:
    alone = Siblings(None, lambda: b"of one")
    await alone.start()
    assert await alone.pages() == {1: b"of one"}
    await alone.stop()


def test_the_samples_of_each_process_stand_under_one_name_with_its_number() -> None:
    text = b'# TYPE a_total counter\na_total{route="x"} 1\n# TYPE b gauge\nb 2\n'
    answer = page({2: text, 1: text, 3: None}, [GaugeMetricFamily("c", "Shared.", value=4)]).decode()
    found = {family.name: family.samples for family in text_string_to_metric_families(answer)}
    assert [(each.labels, each.value) for each in found["a"]] == [
        ({"route": "x", "worker": "1"}, 1.0),
        ({"route": "x", "worker": "2"}, 1.0),
    ]
    assert [each.labels["worker"] for each in found["b"]] == ["1", "2"]
    assert [each.value for each in found["gantry_gateway_up"]] == [1.0, 1.0, 0.0]
    assert found["c"][0].labels == {}
    assert answer.count("# TYPE a_total counter") == 1


def test_a_scrape_has_every_request_whichever_process_answered_it(gantry: Gantry) -> None:
    wait_until(lambda: _UP.findall(metrics(gantry)) == [("1", "1"), ("2", "1")])
    before = sum(produced(metrics(gantry)).values())
    sent = 0

    def both_have_answered() -> bool:
        nonlocal sent
        assert send(gantry) == 201
        sent += 1
        return len(produced(metrics(gantry))) == 2

    wait_until(both_have_answered)
    assert sum(produced(metrics(gantry)).values()) == before + sent
    assert len(re.findall(r'^process_resident_memory_bytes\{worker="\d"\}', metrics(gantry), re.M)) == 2


def test_a_killed_process_is_replaced_while_the_other_answers(gantry: Gantry) -> None:
    old = processes(gantry)
    assert len(old) == 2
    os.kill(old[0], signal.SIGKILL)
    wait_until(lambda: len(processes(gantry)) == 2 and old[0] not in processes(gantry))
    wait_until(lambda: _UP.findall(metrics(gantry)) == [("1", "1"), ("2", "1")])
    assert gantry.process.poll() is None
    assert send(gantry) == 201
