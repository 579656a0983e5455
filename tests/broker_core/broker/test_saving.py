"""Registers are written when they changed, and again after a disk error."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from broker_core.broker.saving import Saver


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
def saver() -> Iterator[Saver]:
    with ThreadPoolExecutor(1) as executor:
        yield Saver(executor)


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
