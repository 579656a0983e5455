"""Requirements of `console.alerts.metrics`: a broker name and its slaves are one subject."""

from __future__ import annotations

from msgspec.structs import replace

from console.alerts.metrics import disks_used
from tests.console.alerts.figures import broker, state


def test_the_fullest_disk_of_a_broker_name_counts_whoever_is_listed_last() -> None:
    slave = replace(broker(disk=0.9), broker_id=1)
    silent = replace(broker(disk=None, reachable=False), broker_id=2)

    assert disks_used(state(brokers=(broker(disk=0.5), slave, silent)).overview) == {"broker-a": 0.9}
    assert disks_used(state(brokers=(silent,)).overview) == {"broker-a": None}
