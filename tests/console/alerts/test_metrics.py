"""Requirements of `console.alerts.metrics`: a broker name and its slaves are one subject."""

from __future__ import annotations

import dataclasses

from msgspec.structs import replace

from console.alerts.metrics import Values, disks_used, read
from console.lag.shapes import BrokerState
from console.replicas.figures import ControllerFigures, DecidedFigures
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

    def lags(*slaves: BrokerState) -> Values | None:
        return read("replica_lag_bytes", "local", state(brokers=(broker(), *slaves)))

    assert (lags(near, far), lags(near, silent), lags()) == ({"broker-a": 70}, {"broker-a": None}, {})


def test_what_controllers_decided_is_unknown_while_none_answers() -> None:
    decisions = {"led": DecidedFigures(out_of_sync=1.0, without_master=0.0), "lost": DecidedFigures()}
    shown = dataclasses.replace(state(), decisions=decisions)

    assert read("replicas_out_of_sync", "local", shown) == {"led": 1.0, "lost": None}
    assert read("broker_without_master", "local", shown) == {"led": 0.0, "lost": None}


def test_a_broker_takes_sends_by_the_word_of_its_master_and_none_without_one() -> None:
    words = {
        "sent": "",
        "few": "fewer replicas are in sync than minInSyncReplicas asks for",
        "silent": None,
        "plain": None,
    }
    decisions = {name: DecidedFigures(without_master=0.0) for name in ("sent", "few", "silent")}
    without = {"none": DecidedFigures(without_master=1.0), "lost": DecidedFigures()}
    masters = [replace(broker(name), send_refusal=words[name]) for name in words]
    slave = replace(broker("sent"), broker_id=1, send_refusal="this replica is not the master")
    shown = dataclasses.replace(state(brokers=(*masters, slave)), decisions=decisions | without)

    assert read("broker_refuses_sends", "local", shown) == {
        "sent": 0.0, "few": 1.0, "silent": None, "none": 1.0, "lost": None
    }  # fmt: skip


def test_controllers_have_figures_where_there_are_any_and_an_engine_a_share_of_what_it_allows() -> None:
    def seen(metric: str, controllers: ControllerFigures | None) -> Values | None:
        return read(metric, "local", dataclasses.replace(state(), controllers=controllers))

    unlimited = ControllerFigures(silent=0.0, leaderless=1.0, engine_down=0.0)
    all_silent = ControllerFigures(silent=3.0)

    assert seen("controllers_leaderless", None) == {}
    assert seen("controllers_leaderless", unlimited) == {"local": 1.0}
    assert seen("controller_engine_used", unlimited) == {}
    assert seen("controller_engine_used", dataclasses.replace(unlimited, engine_used=0.6)) == {"local": 0.6}
    assert [seen(each, all_silent) for each in ("controllers_silent", "controllers_leaderless")] == [
        {"local": 3.0}, {"local": None}
    ]  # fmt: skip
    assert seen("controller_engine_used", all_silent) == {"local": None}
