"""Requirements of `console.replicas.deciding`: whether a broker name takes sends is what its master knows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.admin.replication import KnownState
from broker_core.protocol.bodies.controller import MasterLife, NamePolicy, new_state
from console.replicas.deciding import of_name

STATE = replace(new_state("b", "C"), master=MasterLife(1, "1-a"), in_sync=[1, 2, 3], policy=NamePolicy(2))
KNOWN = KnownState(STATE, is_set_back=False, stuck=None, age_ms=0)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"sendRefusal": ""}, (True, None)),
        ({"sendRefusal": "", "unconfirmedMs": "0"}, (True, None)),
        ({"sendRefusal": "", "unconfirmedMs": "3000"}, (True, None)),
        (
            {"sendRefusal": "", "unconfirmedMs": "12100"},
            (False, "sends are stored, but not confirmed: the oldest waits for 12 s for the in-sync set"),
        ),
        ({"sendRefusal": "too few", "unconfirmedMs": "12100"}, (False, "too few")),
        ({}, (None, "the master, replica 1, does not tell")),
    ],
)
def test_sends_are_taken_if_the_master_takes_them_and_the_set_keeps_up(
    table: dict[str, str], told: tuple[bool | None, str | None]
) -> None:
    shown = of_name(KNOWN, BrokerRuntime(table), None)
    assert (shown.writable, shown.writable_reason) == told


def test_while_the_master_is_silent_that_is_the_reason() -> None:
    shown = of_name(KNOWN, None, "the master timed out")
    assert (shown.writable, shown.writable_reason) == (None, "the master timed out")
