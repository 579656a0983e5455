"""Setting an offset from outside: leases are discarded, and the register stays within its limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker.errors import LimitReached
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.offsets import ConsumerOffsets, Resets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.saving import JsonFile


def scene(folder: Path, **limits: int) -> tuple[Resets, ConsumerOffsets, Leases]:
    offsets, leases = ConsumerOffsets(JsonFile(folder / "offsets.json")), Leases(lambda change: None)
    return Resets(offsets, leases, BrokerLimits(**limits)), offsets, leases


def test_a_group_that_consumes_by_lease_restarts_at_the_new_offset(tmp_path: Path) -> None:
    resets, offsets, leases = scene(tmp_path)
    leases.lease(leases.open("billing", "orders", 0, 5), [5, 6], next_offset=7, now=1, invisible_ms=100)

    resets.set_offset("billing", "orders", 0, 2)

    queue = leases.find("billing", "orders", 0)
    assert queue is not None
    assert (queue.next_offset, queue.held_count, offsets.find("billing", "orders", 0)) == (2, 0, 2)


def test_setting_the_same_offset_keeps_the_leases(tmp_path: Path) -> None:
    resets, _, leases = scene(tmp_path)
    leases.lease(leases.open("billing", "orders", 0, 5), [5, 6], next_offset=7, now=1, invisible_ms=100)

    resets.set_offset("billing", "orders", 0, 5)

    assert leases.held_by("billing") == 2


def test_offsets_of_unknown_groups_are_kept_up_to_a_limit(tmp_path: Path) -> None:
    resets, offsets, _ = scene(tmp_path, groups=1, topics=1)
    resets.set_offset("billing", "orders", 0, 5)

    with pytest.raises(LimitReached, match="groups=1"):
        resets.set_offset("audit", "orders", 0, 5)
    with pytest.raises(LimitReached, match="topics=1"):
        resets.set_offset("billing", "bills", 0, 5)
    resets.set_offset("billing", "orders", 1, 5)

    assert offsets.groups() == ["billing"]
