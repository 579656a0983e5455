"""The mark of an open store."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from broker_core.store import abort
from broker_core.store.errors import FlushFailed, StoreFull
from tests.support.full_disk import no_room
from tests.support.stores import bodies, crashed, fill, opened

RUN = "6d3a1b0e-65f4-4d11-9b5e-0d4f3f1e2a11"


def run_anew(monkeypatch: pytest.MonkeyPatch, folder: Path, run: str | None) -> None:
    """Let the machine be in this run from now on; None: it does not tell."""
    told = folder / "boot_id"
    told.unlink(missing_ok=True)
    if run is not None:
        told.write_text(f"{run}\n")
    monkeypatch.setattr(abort, "BOOT_ID", told)


def test_the_mark_is_there_from_opening_to_closing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_anew(monkeypatch, tmp_path, RUN)
    assert not abort.is_set(tmp_path)
    abort.set_mark(tmp_path)
    assert abort.is_set(tmp_path)
    assert (tmp_path / "abort").read_text() == f"{os.getpid()}\n{RUN}\n"
    abort.clear(tmp_path)
    assert not abort.is_set(tmp_path)
    abort.clear(tmp_path)


@pytest.mark.parametrize("now", [RUN, "another", None])
@pytest.mark.parametrize("mark", [None, "", "4711\n", f"4711\n{RUN}\n", "\xff"])
def test_only_a_mark_of_this_run_tells_that_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str | None, now: str | None
) -> None:
    run_anew(monkeypatch, tmp_path, now)
    if mark is not None:
        (tmp_path / "abort").write_bytes(mark.encode())
    assert abort.tells_power_loss(tmp_path) is (mark is not None and (now is None or now not in mark))


def test_a_full_disk_keeps_what_a_mark_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_anew(monkeypatch, tmp_path, RUN)
    with no_room(), pytest.raises(StoreFull):
        abort.set_mark(tmp_path)
    assert not abort.is_set(tmp_path)
    abort.set_mark(tmp_path)
    with no_room():
        abort.set_mark(tmp_path)
    assert not abort.tells_power_loss(tmp_path)
    # When data may be lost, then that needs no room
    with no_room():
        abort.set_mark(tmp_path, is_lossy=True)
        assert abort.tells_power_loss(tmp_path)
        abort.set_mark(tmp_path)
    assert abort.tells_power_loss(tmp_path)


def test_a_store_tells_a_kill_from_a_loss_of_power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_anew(monkeypatch, tmp_path, "first")
    with opened(tmp_path / "a") as store:
        assert not store.recovered.was_power_lost
        fill(store, 3)
        killed = crashed(tmp_path / "a")
    with opened(killed) as store:
        assert (store.recovered.was_clean, store.recovered.was_power_lost) == (False, False)
        killed = crashed(killed)
    run_anew(monkeypatch, tmp_path, "second")
    # A closed store loses nothing, whatever the machine does
    with opened(tmp_path / "a") as store:
        assert (store.recovered.was_clean, store.recovered.was_power_lost) == (True, False)
    with opened(killed) as store:
        assert (store.recovered.was_clean, store.recovered.was_power_lost) == (False, True)
        assert len(bodies(store)) == 3
        again, told = crashed(killed), None
        store.note_loss_told()
        told = crashed(killed)
    # A second crash hides no loss that was not told
    for folder, is_lost in ((again, True), (told, False), (killed, False)):
        with opened(folder) as store:
            assert store.recovered.was_power_lost is is_lost


def test_a_store_whose_flush_failed_may_have_lost_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_anew(monkeypatch, tmp_path, RUN)
    store = opened(tmp_path / "a")
    store.note_refused(OSError("the disk is broken"))
    store.note_loss_told()
    store.close()
    with opened(tmp_path / "a") as store:
        assert (store.recovered.was_clean, store.recovered.was_power_lost) == (False, True)


def test_a_disk_that_takes_no_mark_is_told_with_the_failed_flush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path)

    def broken(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patched:
        patched.setattr(abort, "set_mark", broken)
        failed = store.note_refused(OSError("a flush"))
    assert isinstance(failed, FlushFailed)
    assert "could not be written: [Errno 5] broken" in failed.__notes__[0]
    store.close()
