"""Consumer offsets: the last writer wins, and the file keeps them."""

from __future__ import annotations

from pathlib import Path

from broker_core.broker.offsets import FILE_NAME, ConsumerOffsets
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
