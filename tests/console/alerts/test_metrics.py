"""Requirements of `console.alerts.metrics`: a broker name and its slaves are one subject."""

from __future__ import annotations

import dataclasses

from msgspec.structs import replace

from console.alerts.metrics import disks_used, lags_of_replicas, read
from console.replicas.figures import DecidedFigures
from tests.console.alerts.figures import broker, state


def test_the_fullest_disk_of_a_broker_name_counts_whoever_is_listed_last() -> None:
    slave = replace(broker(disk=0.9), broker_id=1)
    silent = replace(broker(disk=None, reachable=False), broker_id=2)

    assert disks_used(state(brokers=(broker(disk=0.5), slave, silent)).overview) == {"broker-a": 0.9}
    assert disks_used(state(brokers=(silent,)).overview) == {"broker-a": None}


def test_the_furthest_slave_of_a_broker_name_counts_unless_one_is_unknown() -> None:
    near, far, silent = (
        replace(broker(), broker_id=number, behind_bytes=lacking) for number, lacking in ((1, 5), (2, 70), (3, None))
    )

    assert lags_of_replicas(state(brokers=(broker(), near, far)).overview) == {"broker-a": 70}
    assert lags_of_replicas(state(brokers=(broker(), near, silent)).overview) == {"broker-a": None}
    assert lags_of_replicas(state(brokers=(broker(),)).overview) == {}


def test_what_controllers_decided_is_unknown_while_none_answers() -> None:
    decisions = {"led": DecidedFigures(1.0, 0.0), "lost": DecidedFigures()}
    shown = dataclasses.replace(state(), decisions=decisions)

    assert read("replicas_out_of_sync", shown) == {"led": 1.0, "lost": None}
    assert read("broker_without_master", shown) == {"led": 0.0, "lost": None}
