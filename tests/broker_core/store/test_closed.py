"""Queues that were removed, entirely or in part, while the store was closed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from broker_core.store import closed
from broker_core.store.layout import queue_folder
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.stores import NOW, bodies, fill, opened, overwrite, put, queue_file, segment, small

TOPICS = ("First", "T", "Last")


def filled(folder: Path) -> None:
    with opened(folder) as store:
        for topic in TOPICS:
            fill(store, 30, topic=topic)


def check(folder: Path) -> None:
    with opened(folder) as store:
        for topic in TOPICS:
            assert bodies(store, topic) == [b"%d" % number for number in range(30)]
            assert put(store, b"next", topic=topic).queue_offset == 30
        found = store.search("First", "k3", begin=0, end=1 << 60, max_count=9)
        assert [message.body for message in found.messages] == [b"3"]
    with StoreReader.open(folder, small(folder)) as reader:
        assert verify(reader).told == []


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("end", ["well", "badly"])
def test_a_single_queue_that_was_removed_is_rebuilt(tmp_path: Path, topic: str, end: str) -> None:
    filled(tmp_path)
    shutil.rmtree(tmp_path / "consumequeue" / topic)
    if end == "badly":
        (tmp_path / "abort").touch()
    check(tmp_path)


# After a crash a queue that lost its first file looks like one whose first messages have left the log.
REMOVED = [(start, end) for start in range(0, 30 * 20, 160) for end in ("well", "badly") if start or end == "well"]


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize(("start", "end"), REMOVED)
def test_any_file_of_a_queue_that_was_removed_is_rebuilt(tmp_path: Path, topic: str, start: int, end: str) -> None:
    filled(tmp_path)
    queue_file(tmp_path, topic, start=start).unlink()
    if end == "badly":
        (tmp_path / "abort").touch()
    check(tmp_path)


def test_a_file_of_another_length_in_a_queue_causes_a_rebuild(tmp_path: Path) -> None:
    filled(tmp_path)
    os.truncate(queue_file(tmp_path, start=160), 100)
    check(tmp_path)


def test_queues_that_lag_the_log_are_filled_and_those_ahead_of_it_are_cut(tmp_path: Path) -> None:
    filled(tmp_path)
    early = shutil.copytree(tmp_path / "consumequeue", tmp_path.parent / f"{tmp_path.name}-early")
    with opened(tmp_path) as store:
        for number in range(30, 60):
            put(store, b"%d" % number, topic="T", now=NOW + number)
        end = store.appended_log_offset
    late = shutil.copytree(tmp_path / "consumequeue", tmp_path.parent / f"{tmp_path.name}-late")
    # Given queues of an older copy of the folder
    shutil.rmtree(tmp_path / "consumequeue")
    shutil.copytree(early, tmp_path / "consumequeue")
    with opened(tmp_path) as store:
        assert bodies(store) == [b"%d" % number for number in range(60)]
        assert store.appended_log_offset == end
    # Given a log of an older copy
    shutil.rmtree(tmp_path / "consumequeue")
    shutil.copytree(late, tmp_path / "consumequeue")
    last = max((tmp_path / "commitlog").iterdir())
    last.unlink()
    with opened(tmp_path) as store:
        count = len(bodies(store))
        assert 30 < count < 60
        assert store.max_offset("T", 0) == count
        assert put(store, b"next").queue_offset == count
    with StoreReader.open(tmp_path, small(tmp_path)) as reader:
        assert verify(reader).faults.keys() <= {"index"}


@pytest.mark.parametrize("is_time_noted", [True, False])
def test_what_another_program_left_is_not_held_against_what_we_knew(tmp_path: Path, is_time_noted: bool) -> None:
    # Given that Apache RocketMQ had the folder in the meantime, and a topic was deleted there
    filled(tmp_path)
    shutil.rmtree(tmp_path / "consumequeue" / "First")
    checkpoint = tmp_path / "checkpoint"
    written = checkpoint.stat().st_mtime_ns
    overwrite(checkpoint, 0, (NOW + 31).to_bytes(8, "big"))
    os.utime(checkpoint, ns=(1, 1) if is_time_noted else (written, written))
    with opened(tmp_path) as store:
        assert store.queues() == [("Last", 0), ("T", 0)]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "null", '{"checkpoint": 1}', '{"checkpoint": 1, "queues": 3}', "\udcff"]
)
def test_a_file_that_cannot_be_read_counts_as_none(tmp_path: Path, text: str) -> None:
    filled(tmp_path)
    (tmp_path / closed.NAME).write_bytes(text.encode("utf-8", "surrogateescape"))
    check(tmp_path)


@pytest.mark.parametrize(
    "queues",
    [3, [], {"T/x": [0, 1]}, {"T": [0, 1]}, {"": [0, 1]}, {"/0": [0, 1]}, {"T/0": "many"}, {"T/0": [1]}, {"T/0": None}],
)
def test_odd_queues_in_the_file_do_no_harm(tmp_path: Path, queues: object) -> None:
    filled(tmp_path)
    written_at = json.loads((tmp_path / closed.NAME).read_bytes())["checkpoint"]
    (tmp_path / closed.NAME).write_text(json.dumps({"checkpoint": written_at, "queues": queues}))
    check(tmp_path)


def test_leftovers_of_deleted_topics_and_odd_folders_do_no_harm(tmp_path: Path) -> None:
    filled(tmp_path)
    # Given the result of a kill during a deletion, and files of other programs
    folder = tmp_path / "consumequeue"
    for name in ("Gone/0", "Gone/1", "Empty", "T/x", "T/-1", "T/1"):
        (folder / name).mkdir(parents=True)
    (folder / "note.txt").write_text("not ours")
    (folder / "T" / "0" / "note.txt").write_text("not ours")
    (folder / "Half" / "0").mkdir(parents=True)
    shutil.copy(queue_file(tmp_path, start=160), queue_folder(tmp_path, "Half", 0))
    # When the store is opened, then it has only queues with their own messages, and all others work
    with opened(tmp_path) as store:
        assert set(store.queues()) <= {("First", 0), ("T", 0), ("Last", 0), ("Half", 0)}
        assert store.get("Half", 0, 8, max_messages=9, max_bytes=1 << 20).records == []
        assert store.delete_topic("Half") == 1
        assert store.delete_topic("Gone") == 2
        assert not (folder / "Half").exists()
        assert not (folder / "Gone").exists()
        assert put(store, b"new", topic="Gone").queue_offset == 0
    check(tmp_path)


def test_a_log_that_is_gone_in_part_is_not_made_up(tmp_path: Path) -> None:
    filled(tmp_path)
    segment(tmp_path).unlink()
    with opened(tmp_path) as store:
        low = store.min_offset("First", 0)
        assert bodies(store, "First") == [b"%d" % number for number in range(low, 30)]
        assert low > 0
