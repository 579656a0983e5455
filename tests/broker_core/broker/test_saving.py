"""Registers are written when they changed; their file survives a crash at any moment."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.saving import JsonFile, Saver
from tests.support.wait import eventually


@dataclass
class Note:
    """A register that records what was written."""

    words: str = ""
    is_changed: bool = False
    is_refused: bool = False
    written: list[bytes] = field(default_factory=list)

    def text(self) -> bytes:
        self.is_changed = False
        return self.words.encode()

    def save(self, text: bytes) -> None:
        if self.is_refused:
            raise OSError("no room")
        self.written.append(text)


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.fixture
def saver(thread: ThreadPoolExecutor) -> Saver:
    return Saver(thread)


async def test_only_what_changed_is_written(saver: Saver) -> None:
    changed, unchanged = Note("a", is_changed=True), Note("b")

    await saver.save_all((changed, unchanged))
    await saver.save_all((changed, unchanged))

    assert (changed.written, unchanged.written) == ([b"a"], [])


async def test_what_the_disk_refused_is_written_next_time(saver: Saver) -> None:
    note = Note("a", is_changed=True, is_refused=True)
    await saver.save_all((note,))
    assert note.is_changed

    note.is_refused = False
    await saver.save_all((note,))

    assert note.written == [b"a"]


async def test_who_asks_for_one_register_learns_of_the_failure(saver: Saver) -> None:
    with pytest.raises(OSError, match="no room"):
        await saver.save(Note("a", is_changed=True, is_refused=True))


async def test_a_save_that_is_cancelled_is_made_up_for(saver: Saver, thread: ThreadPoolExecutor) -> None:
    """As at a clean stop, which ends the periodic save before it saves a last time."""
    may_go_on = threading.Event()
    thread.submit(may_go_on.wait)
    note = Note("a", is_changed=True)
    saving = asyncio.create_task(saver.save(note))
    await eventually(lambda: not note.is_changed)

    saving.cancel()
    await asyncio.wait([saving])
    may_go_on.set()
    await saver.save(note)

    assert note.written == [b"a"]


# The file of a register


def test_a_file_that_was_never_written_is_nothing(tmp_path: Path) -> None:
    assert JsonFile(tmp_path / "topics.json").load() is None


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    file = JsonFile(tmp_path / "config" / "topics.json")
    file.save(b'{"a": 1}')

    assert file.load() == {"a": 1}


def test_the_text_before_is_kept_as_the_backup(tmp_path: Path) -> None:
    file = JsonFile(tmp_path / "topics.json")
    file.save(b'{"a": 1}')
    file.save(b'{"a": 2}')

    assert (tmp_path / "topics.json.bak").read_bytes() == b'{"a": 1}'


@pytest.mark.parametrize("text", [b"", b"  ", b'{"a": ', None])
def test_a_missing_or_torn_file_is_replaced_by_its_backup(tmp_path: Path, text: bytes | None) -> None:
    file = JsonFile(tmp_path / "topics.json")
    file.save(b'{"a": 1}')
    file.save(b'{"a": 2}')
    if text is None:
        (tmp_path / "topics.json").unlink()
    else:
        (tmp_path / "topics.json").write_bytes(text)

    assert file.load() == {"a": 1}


def test_a_broken_backup_without_a_file_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "topics.json.bak").write_bytes(b"{")

    with pytest.raises(BadConfigFile, match=r"topics\.json"):
        JsonFile(tmp_path / "topics.json").load()


def test_the_temporary_file_is_never_read(tmp_path: Path) -> None:
    (tmp_path / "topics.json.tmp").write_bytes(b'{"a": 3}')

    assert JsonFile(tmp_path / "topics.json").load() is None


def test_integers_as_bare_keys_are_read(tmp_path: Path) -> None:
    (tmp_path / "delayOffset.json").write_bytes(b'{\n\t"offsetTable":{1:5,2:7\n\t}\n}')

    assert JsonFile(tmp_path / "delayOffset.json").load() == {"offsetTable": {"1": 5, "2": 7}}
