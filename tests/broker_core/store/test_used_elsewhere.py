"""A replica's store that another broker had (store/README.md#used-elsewhere)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from broker_core.store import closed
from tests.support.full_disk import no_room
from tests.support.other_broker import use_elsewhere
from tests.support.stores import crashed, fill, opened, small


def of_replica(folder: Path, *, is_killed: bool) -> tuple[Path, int]:
    """Return the folder of a replica that has stopped, and where its log ends."""
    with opened(folder, is_replica=True) as store:
        store.take_over()
        fill(store, 3)
        end = store.appended_log_offset
        if is_killed:
            return crashed(folder), end
    return folder, end


def told(folder: Path) -> str:
    with opened(folder, is_replica=True) as store:
        return store.recovered.used_elsewhere


@pytest.mark.parametrize(
    ("was_killed", "is_other_killed", "reason"),
    [
        (False, False, "its log ends at"),
        (False, True, "its log ends at"),
        (True, False, "it was closed by another broker"),
        (True, True, ""),
    ],
)
def test_it_is_told_until_it_is_settled(tmp_path: Path, was_killed: bool, is_other_killed: bool, reason: str) -> None:
    folder, _ = of_replica(tmp_path / "a", is_killed=was_killed)
    assert told(folder) == ""
    folder, _ = of_replica(tmp_path / "b", is_killed=was_killed)
    use_elsewhere(small(folder), is_killed=is_other_killed)
    for _ in range(2):
        assert told(folder).startswith(reason)
        assert bool(told(folder)) is bool(reason)
    with opened(folder, is_replica=True) as store:
        again = crashed(folder)
        assert bool(told(again)) is bool(reason)
        store.take_as_own()
    assert told(folder) == ""


def test_a_cut_to_the_own_end_settles_it(tmp_path: Path) -> None:
    folder, end = of_replica(tmp_path / "a", is_killed=False)
    use_elsewhere(small(folder))
    with opened(folder, is_replica=True) as store:
        assert f"ended at {end} when" in store.recovered.used_elsewhere
        store.cut(end)
    assert told(folder) == ""


def test_another_broker_that_stored_nothing_is_no_matter(tmp_path: Path) -> None:
    folder, _ = of_replica(tmp_path / "a", is_killed=False)
    kept = (folder / closed.NAME).read_bytes()
    with opened(folder):
        pass
    (folder / closed.NAME).write_bytes(kept)
    assert told(folder) == ""


def test_a_file_without_the_end_of_the_log_tells_nothing(tmp_path: Path) -> None:
    folder, _ = of_replica(tmp_path / "a", is_killed=False)
    place = folder / closed.NAME
    tree = json.loads(place.read_bytes())
    del tree["log_end"]
    place.write_text(json.dumps(tree))
    assert told(folder) == ""
    assert told(folder) == ""


def test_a_stop_on_a_full_disk_is_not_taken_for_that_of_another(tmp_path: Path) -> None:
    store = opened(tmp_path, is_replica=True)
    store.take_over()
    fill(store, 3)
    store.checkpoint()
    with no_room():
        store.close()
    assert told(tmp_path) == ""
    assert told(tmp_path) == ""
