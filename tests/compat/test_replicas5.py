"""Replicas under a controller as `mqadmin` of RocketMQ 5 sees and switches them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.compat.driver import Driver, started_driver
from tests.compat.java_build import CLIENT5
from tests.support.cluster import RunningBroker
from tests.support.ports import free_ports
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

NAME = "pair"


@dataclass(frozen=True)
class Pair:
    """Two replicas; the name server of the first one has the controller."""

    first: RunningBroker
    second: RunningBroker
    driver: Driver

    def ask(self, command: str, *words: str) -> str:
        """Return what a command of `mqadmin` prints."""
        return self.driver.mqadmin(command, *words)

    def sync_states(self) -> str:
        """Return what getSyncStateSet prints."""
        return self.ask("getSyncStateSet", "-a", self.first.name_server, "-b", NAME)


@pytest.fixture(scope="module")
def pair(_java_build: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    names = f"127.0.0.1:{free_ports()}"
    settings = {"enableControllerMode": "true", "controllerAddr": names}
    controller = {
        "enableControllerInNamesrv": "true",
        "controllerStorePath": str(folder / "controller"),
        "controllerClusterName": "test",
    }
    first = RunningBroker(folder / "1", settings=settings | controller, broker_name=NAME, name_server=names)
    second = RunningBroker(folder / "2", settings=settings, broker_name=NAME, name_servers=names)
    CLIENT5.build()
    with started_driver(folder / "driver", project=CLIENT5) as driver:
        try:
            first.start()
            second.start()
            running = Pair(first, second, driver)
            wait_until(lambda: len(members(running.sync_states())) == 2)
            yield running
        finally:
            second.stop()
            first.stop()


def members(told: str) -> dict[str, str]:
    """Return the addresses of the in-sync set by id, as getSyncStateSet prints them."""
    return {
        found["id"]: found["address"]
        for line in told.splitlines()
        if line.startswith("InSyncReplica")
        and (found := re.search(r"brokerId=(?P<id>\d+).*brokerAddress='(?P<address>[^']+)'", line))
    }


def test_the_in_sync_set_is_told(pair: Pair) -> None:
    told = pair.sync_states()

    assert members(told) == {"1": pair.first.address, "2": pair.second.address}, told
    assert re.search(r"#MasterEpoch\s+1\b", told), told


def test_the_epochs_of_each_log_are_told(pair: Pair) -> None:
    told = pair.ask("getBrokerEpoch", "-n", pair.first.name_server, "-b", NAME)

    assert re.search(r"Epoch=1|epoch=1|Epoch: 1", told), told


def test_ha_status_tells_the_replica(pair: Pair) -> None:
    told = pair.ask("haStatus", "-n", pair.first.name_server, "-b", pair.first.address)

    assert re.search(r"#SlaveNum\s+1\b", told), told


def test_a_master_is_elected_by_hand(pair: Pair) -> None:
    told = pair.ask("electMaster", "-a", pair.first.name_server, "-c", "test", "-bn", NAME, "-b", "2")

    assert re.search(rf"#BrokerMasterAddr\s+{re.escape(pair.second.address)}", told), told
    wait_until(lambda: re.search(r"#MasterEpoch\s+2\b", pair.sync_states()))
