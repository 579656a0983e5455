"""The file engine: comparing, order of the steps, what survives a stop at any of them, and a failing disk."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.clock import boot_seconds
from broker_core.controller.decisions import Changed, Decisions, Kept, NotLeading, Refused, Unsettled
from broker_core.controller.disk import Disk, RealDisk
from broker_core.controller.file_decisions import FileDamaged, FileDecisions, FileLocked
from tests.broker_core.controller.power import PowerDisk, Stopped


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[FileDecisions]:
    opened = FileDecisions.open(tmp_path)
    yield opened
    await opened.close()


async def test_what_was_put_is_read_and_kept(tmp_path: Path) -> None:
    engine: Decisions = FileDecisions.open(tmp_path / "controller")
    assert await engine.read() == (0, {})
    first = await engine.put("b", None, "one")
    second = await engine.put("b", first, "two")
    other = await engine.put("a", None, "é")
    assert await engine.read() == (3, {"b": second, "a": other})
    assert isinstance(engine, FileDecisions)
    await engine.close()
    again = FileDecisions.open(tmp_path / "controller")
    assert await again.read() == (3, {"b": second, "a": other})
    await again.close()


@pytest.mark.parametrize("seen", [None, Kept("one", 7), Kept("two", 1)])
async def test_nothing_is_written_over_what_was_not_seen(engine: FileDecisions, seen: Kept | None) -> None:
    kept = await engine.put("b", None, "one")
    with pytest.raises(Changed) as changed:
        await engine.put("b", seen, "other")
    assert changed.value.now == kept
    with pytest.raises(Changed) as changed:
        await engine.put("a", kept, "other")
    assert changed.value.now is None
    assert await engine.read() == (1, {"b": kept})


async def test_of_two_at_once_one_loses(engine: FileDecisions) -> None:
    outcomes = await asyncio.gather(*(engine.put("b", None, f"{each}") for each in range(9)), return_exceptions=True)
    won = [each for each in outcomes if isinstance(each, Kept)]
    assert len(won) == 1
    assert {each.now for each in outcomes if isinstance(each, Changed)} == set(won)


async def test_a_second_controller_is_refused(tmp_path: Path) -> None:
    engine = FileDecisions.open(tmp_path)
    with pytest.raises(FileLocked, match="controllerEtcdEndpoints"):
        FileDecisions.open(tmp_path)
    await engine.close()
    await FileDecisions.open(tmp_path).close()


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"number":1}', b'{"number":1,"names":{"b":"x"}}', b"\xff\xfe{"])
async def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "decisions.json").write_bytes(data)
    with pytest.raises(FileDamaged, match="--set-back"):
        FileDecisions.open(tmp_path)
    (tmp_path / "decisions.json").unlink()
    await FileDecisions.open(tmp_path).close()  # it is not left locked


async def test_the_bell_rings_for_what_changed(engine: FileDecisions) -> None:
    kept = await engine.put("b", None, "one")
    assert await engine.changes(0) == {"b"}
    waiting = asyncio.ensure_future(engine.changes(1))
    await asyncio.sleep(0)
    assert not waiting.done()
    await engine.put("b", kept, "two")
    await engine.put("a", None, "one")
    assert await waiting <= {"a", "b"}
    assert await engine.changes(2) == {"a"}


async def test_a_writing_goes_on_when_nobody_waits_for_it(engine: FileDecisions) -> None:
    writing = asyncio.ensure_future(engine.put("b", None, "one"))
    await asyncio.sleep(0)
    writing.cancel()
    assert await engine.changes(0) == {"b"}
    assert engine.is_settled("b")


async def test_one_leads_until_it_resigns(engine: FileDecisions) -> None:
    lead = await engine.lead("n1")
    assert lead is not None
    assert (engine.leader, await engine.lead("n2")) == ("n1", None)
    assert await engine.renew(lead) > boot_seconds()
    await engine.put("b", None, "one", lead)
    vacant = asyncio.ensure_future(engine.vacancy())
    await engine.resign(lead)
    await vacant
    assert engine.leader is None
    with pytest.raises(NotLeading):
        await engine.renew(lead)
    with pytest.raises(NotLeading):
        await engine.put("a", None, "one", lead)
    again = await engine.lead("n1")
    assert again != lead
    await engine.resign(lead)
    assert engine.leader == "n1"


async def test_people_are_told_of_the_file(engine: FileDecisions) -> None:
    assert (engine.status.kind, engine.status.revision, engine.status.last_decision_ms) == ("file", 0, None)
    await engine.put("b", None, "one")
    assert engine.status.revision == 1
    assert engine.status.last_decision_ms is not None


class Failing(RealDisk):
    """Fails at one step."""

    def __init__(self, step: str) -> None:
        self._step = step

    def write(self, path: Path, data: bytes) -> None:
        self._fail("write")
        super().write(path, data)

    def sync(self, path: Path) -> None:
        self._fail("sync")
        super().sync(path)

    def rename(self, path: Path, to: Path) -> None:
        self._fail("rename")
        super().rename(path, to)

    def sync_folder(self, folder: Path) -> None:
        self._fail("sync_folder")
        super().sync_folder(folder)

    def _fail(self, step: str) -> None:
        if step == self._step:
            raise OSError(errno.EIO, "no")


@pytest.mark.parametrize("step", ["sync", "rename", "sync_folder"])
async def test_a_failed_disk_ends_it_and_nobody_is_answered(tmp_path: Path, step: str) -> None:
    failed: list[OSError] = []
    engine = FileDecisions.open(tmp_path, disk=Failing(step), fail=failed.append)
    with pytest.raises(Unsettled):
        await engine.put("b", None, "one")
    assert [each.errno for each in failed] == [errno.EIO]
    with pytest.raises(Unsettled):
        await engine.put("b", None, "two")
    with pytest.raises(Unsettled):
        await engine.read()
    assert len(failed) == 1
    await engine.close()


async def test_without_room_nothing_changes(tmp_path: Path) -> None:
    engine = FileDecisions.open(tmp_path, disk=Failing("write"), fail=lambda _: pytest.fail("nothing is unknown"))
    with pytest.raises(Refused, match="cannot be written"):
        await engine.put("b", None, "one")
    assert await engine.read() == (0, {})
    await engine.close()


async def _put_until_stopped(folder: Path, disk: Disk, texts: list[str]) -> list[str]:
    """Return the texts that were answered."""
    engine = FileDecisions.open(folder, disk=disk)
    answered: list[str] = []
    kept: Kept | None = None
    try:
        for text in texts:
            kept = await engine.put("b", kept, text)
            answered.append(text)
    except Stopped:
        pass
    finally:
        await engine.close()
    return answered


async def _kept(folder: Path, disk: Disk) -> list[str]:
    engine = FileDecisions.open(folder, disk=disk)
    number, names = await engine.read()
    await engine.close()
    assert all(kept.token == number for kept in names.values())
    return [kept.text for kept in names.values()]


@settings(max_examples=150)
@given(steps=st.integers(0, 20), seed=st.integers(0, 1 << 32), is_killed=st.booleans())
def test_whatever_step_it_stops_at_what_was_answered_is_there(steps: int, seed: int, is_killed: bool) -> None:
    disk = PowerDisk(steps)
    texts = [f"text {each}" for each in range(5)]
    with TemporaryDirectory() as folder:
        answered = asyncio.run(_put_until_stopped(Path(folder), disk, texts))
        left = disk.after_kill() if is_killed else disk.after_power_loss(Random(seed))
        kept = asyncio.run(_kept(Path(folder), left))
    # The last answered one, or the one that was being written.
    assert kept in ([answered[-1:], texts[len(answered) : len(answered) + 1]] if answered else [[], texts[:1]])
    assert len(answered) == min(steps // 4, 5)
