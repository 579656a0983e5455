"""Consumer offsets: the last writer wins, the file keeps them, and a reset discards leases."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker.errors import LimitReached
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.offsets import FILE_NAME, ConsumerOffsets, Resets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.saving import JsonFile


def offsets_in(folder: Path) -> ConsumerOffsets:
    return ConsumerOffsets(JsonFile(folder / FILE_NAME))


def test_the_last_writer_wins_also_with_a_smaller_offset(tmp_path: Path) -> None:
    offsets = offsets_in(tmp_path)
    offsets.commit("billing", "orders", 0, 9)
    offsets.commit("billing", "orders", 0, 4)

    assert offsets.find("billing", "orders", 0) == 4
    assert offsets.find("billing", "orders", 1) is None


def test_offsets_are_found_by_group_and_by_topic(tmp_path: Path) -> None:
    offsets = offsets_in(tmp_path)
    offsets.commit("billing", "orders", 0, 1)
    offsets.commit("billing", "bills", 0, 1)
    offsets.commit("audit", "orders", 0, 1)

    assert offsets.topics_of("billing") == ["orders", "bills"]
    assert offsets.groups_of("orders") == ["billing", "audit"]
    assert offsets.groups() == ["billing", "audit"]


def test_offsets_survive_a_restart(tmp_path: Path) -> None:
    before = offsets_in(tmp_path)
    before.commit("billing", "orders", 3, 17)
    before.save(before.text())

    after = offsets_in(tmp_path)
    after.load()

    assert after.find("billing", "orders", 3) == 17
    assert not after.is_changed


def test_the_file_of_a_java_broker_is_read(tmp_path: Path) -> None:
    text = '{\n\t"offsetTable":{\n\t\t"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:3\n\t\t},\n'
    (tmp_path / FILE_NAME).write_text(text + '\t\t"TopicTest@CG":{0:5,1:7\n\t\t}\n\t}\n}')
    offsets = offsets_in(tmp_path)
    offsets.load()

    assert dict(offsets.of("CG", "TopicTest")) == {0: 5, 1: 7}


def test_only_a_change_makes_the_register_worth_saving(tmp_path: Path) -> None:
    offsets = offsets_in(tmp_path)
    offsets.commit("billing", "orders", 0, 1)
    offsets.text()

    offsets.commit("billing", "orders", 0, 1)
    assert not offsets.is_changed

    offsets.commit("billing", "orders", 0, 2)
    assert offsets.is_changed


def test_a_deleted_topic_or_group_leaves_nothing(tmp_path: Path) -> None:
    offsets = offsets_in(tmp_path)
    for group, topic in (("billing", "orders"), ("billing", "bills"), ("audit", "orders")):
        offsets.commit(group, topic, 0, 1)

    offsets.drop_topic("orders")
    assert offsets.groups() == ["billing"]

    offsets.drop_group("billing")
    assert offsets.groups() == []


# Resets


def resets_in(folder: Path, **limits: int) -> tuple[Resets, ConsumerOffsets, Leases]:
    offsets, leases = ConsumerOffsets(JsonFile(folder / "offsets.json")), Leases(lambda change: None)
    return Resets(offsets, leases, BrokerLimits(**limits)), offsets, leases


def test_a_group_that_consumes_by_lease_restarts_at_the_new_offset(tmp_path: Path) -> None:
    resets, offsets, leases = resets_in(tmp_path)
    leases.lease(leases.open("billing", "orders", 0, 5), [5, 6], next_offset=7, now=1, invisible_ms=100)

    resets.set_offset("billing", "orders", 0, 2)

    queue = leases.find("billing", "orders", 0)
    assert queue is not None
    assert (queue.next_offset, queue.held_count, offsets.find("billing", "orders", 0)) == (2, 0, 2)


def test_setting_the_same_offset_keeps_the_leases(tmp_path: Path) -> None:
    resets, _, leases = resets_in(tmp_path)
    leases.lease(leases.open("billing", "orders", 0, 5), [5, 6], next_offset=7, now=1, invisible_ms=100)

    resets.set_offset("billing", "orders", 0, 5)

    assert leases.held_by("billing") == 2


def test_offsets_of_unknown_groups_are_kept_up_to_a_limit(tmp_path: Path) -> None:
    resets, offsets, _ = resets_in(tmp_path, groups=1, topics=1)
    resets.set_offset("billing", "orders", 0, 5)

    with pytest.raises(LimitReached, match="groups=1"):
        resets.set_offset("audit", "orders", 0, 5)
    with pytest.raises(LimitReached, match="topics=1"):
        resets.set_offset("billing", "bills", 0, 5)
    resets.set_offset("billing", "orders", 1, 5)

    assert offsets.groups() == ["billing"]
