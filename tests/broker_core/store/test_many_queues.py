"""A store of many queues: unused queues cost little when it is opened and closed."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from broker_core.store import closed, mapped_file
from tests.support.stores import bodies, fill, opened, put, queue_file

QUEUES = 80


def filled(folder: Path) -> None:
    with opened(folder) as store:
        for queue_id in range(QUEUES):
            put(store, b"%d" % queue_id, queue_id=queue_id)
        store.dispatch()


@pytest.mark.parametrize("end", ["well", "badly", "without a word of its queues"])
def test_an_opened_store_has_no_queue_mapped_until_it_is_used(tmp_path: Path, end: str) -> None:
    filled(tmp_path)
    if end == "badly":
        (tmp_path / "abort").touch()
    elif end != "well":
        (tmp_path / closed.NAME).unlink()

    with opened(tmp_path) as store:
        assert store.mapped_queue_files == 0
        assert [store.max_offset("T", queue_id) for queue_id in range(QUEUES)] == [1] * QUEUES
        assert store.mapped_queue_files == 0

        assert bodies(store, "T", 7) == [b"7"]
        assert put(store, b"next", queue_id=8).queue_offset == 1
        assert bodies(store, "T", 8) == [b"8", b"next"]
        assert store.mapped_queue_files == 2


def test_an_unused_store_is_closed_without_reading_its_queues(tmp_path: Path) -> None:
    filled(tmp_path)
    before = json.loads((tmp_path / closed.NAME).read_bytes())

    with opened(tmp_path) as store:
        assert not store.recovered.walked_records
    with opened(tmp_path):
        pass

    after = json.loads((tmp_path / closed.NAME).read_bytes())
    assert (after["queues"], after["log_begin"]) == (before["queues"], before["log_begin"])


@pytest.mark.parametrize("unit", [bytes(20), struct.pack(">qiq", 1 << 40, 100, 0)])
def test_a_queue_whose_last_unit_is_another_than_it_was_is_mended(tmp_path: Path, unit: bytes) -> None:
    filled(tmp_path)
    file = queue_file(tmp_path, "T", queue_id=3)
    file.write_bytes(unit + file.read_bytes()[20:])

    with opened(tmp_path) as store:
        assert [bodies(store, "T", queue_id) for queue_id in range(QUEUES)] == [
            [b"%d" % each] for each in range(QUEUES)
        ]


def test_what_the_version_before_wrote_of_its_queues_counts_as_nothing(tmp_path: Path) -> None:
    filled(tmp_path)
    tree = json.loads((tmp_path / closed.NAME).read_bytes())
    queues = {name: span[:2] for name, span in tree["queues"].items()}
    (tmp_path / closed.NAME).write_text(json.dumps({"checkpoint": tree["checkpoint"], "queues": queues}))

    with opened(tmp_path) as store:
        assert bodies(store, "T", 3) == [b"3"]


@pytest.mark.parametrize("whole", [True, False])
def test_many_queues_go_to_the_disk_together_where_the_system_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    synced: list[Path] = []
    real = mapped_file.sync_file

    def sync_file(path: Path) -> int:
        synced.append(path)
        return real(path)

    monkeypatch.setattr(mapped_file, "sync_file", sync_file)
    if not whole:
        monkeypatch.setattr(mapped_file, "_syncfs", None)
    with opened(tmp_path) as store:
        for queue_id in range(QUEUES):
            fill(store, 1, queue_id=queue_id)
        store.checkpoint()
        synced_queues = [path for path in synced if "consumequeue" in path.parts]

        assert len(synced_queues) == (0 if whole else QUEUES)
        synced.clear()
        store.checkpoint()
        assert not [path for path in synced if "consumequeue" in path.parts]
