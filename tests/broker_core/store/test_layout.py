"""Names and paths of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.protocol.topics import is_topic_name
from broker_core.store.layout import (
    count_files,
    index_files,
    index_name,
    is_folder_name,
    queue_folders,
    segment_files,
    segment_name,
)


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, "00000000000000000000"), (1, "00000000001073741824"), (2, "00000000002147483648")],
)
def test_segments_are_named_by_their_first_byte(number: int, name: str) -> None:
    assert segment_name(number << 30) == name


def test_index_files_are_named_by_local_time_to_the_millisecond() -> None:
    name = index_name(1_700_000_000_005)
    assert len(name) == 17
    assert name.startswith("202311")
    assert name.endswith("005")
    assert index_name(1_700_000_000_006) > name


def test_only_files_with_the_right_names_count(tmp_path: Path) -> None:
    for name in ("00000000000000002048", "00000000000000000000", ".DS_Store", "1", "0" * 21, "x" * 20):
        (tmp_path / name).touch()
    assert [path.name for path in segment_files(tmp_path)] == ["00000000000000000000", "00000000000000002048"]
    (tmp_path / "20231114221320005").touch()
    assert [path.name for path in index_files(tmp_path)] == ["20231114221320005"]
    assert segment_files(tmp_path / "nothing") == []


def test_queues_are_folders_with_a_number_below_a_topic(tmp_path: Path) -> None:
    for path in ("T/0", "T/10", "T/x", "%RETRY%g/0"):
        (tmp_path / "consumequeue" / path).mkdir(parents=True)
    (tmp_path / "consumequeue" / "file").touch()
    found = [(topic, queue_id) for topic, queue_id, _ in queue_folders(tmp_path)]
    assert found == [("%RETRY%g", 0), ("T", 0), ("T", 10)]


def test_the_files_of_a_store_are_those_of_its_queues_its_log_and_its_index(tmp_path: Path) -> None:
    assert count_files(tmp_path) == 0
    for folder, name in (
        ("consumequeue/T/0", segment_name(0)),
        ("consumequeue/T/0", segment_name(6_000_000)),
        ("consumequeue/T/1", segment_name(0)),
        ("consumequeue/T/1", "other"),
        ("commitlog", segment_name(0)),
        ("index", "20231114221320005"),
        ("config", "topics.json"),
    ):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).touch()
    assert count_files(tmp_path) == 5


@pytest.mark.parametrize("name", ["T", "%RETRY%group", "%DLQ%a-b_c", "a|b", "t" * 127])
def test_topics_that_are_allowed(name: str) -> None:
    assert is_topic_name(name)
    assert is_folder_name(name)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "a\0b", "t" * 256, "订" * 86])
def test_topics_that_can_be_no_folder(name: str) -> None:
    assert not is_topic_name(name)
    assert not is_folder_name(name)


@pytest.mark.parametrize("name", ["a b", "订单", "a.b", "t" * 128, "a\n"])
def test_topics_that_other_brokers_may_have_kept(name: str) -> None:
    assert not is_topic_name(name)
    assert is_folder_name(name)
