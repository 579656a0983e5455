"""The texts of a name form one chain, whatever becomes of calls (controller/README.md#unknown-outcomes).

Several controllers write to one engine in memory; calls are lost, late, answered with an error though done, and the
engine is set back to a copy. The same run with a planted defect must fail: else it would prove nothing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from broker_core.controller.decisions import Changed, Kept, Lead, NotLeading, Refused, Unsettled
from broker_core.controller.etcd import messages
from broker_core.controller.etcd.keyspace import Keys
from broker_core.controller.etcd.messages import Json, Mark
from broker_core.controller.etcd.patience import Patience
from broker_core.controller.etcd.writing import Writer, Writing
from tests.broker_core.controller.etcd.engine import Engine, FaultyCalls, Ticks, do_late

KEYS = Keys("/gantry/C/")
NAMES = ("a", "b")
CONTROLLERS = 3
CHANGES = 12
SEEDS = 150


class Broken(AssertionError):
    """What must hold did not."""


@dataclass
class World:
    """One run: an engine and those who write to it."""

    seed: int
    may_restore: bool = False
    engine: Engine = field(default_factory=Engine)
    late: list[tuple[str, Json]] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)
    gone: dict[str, int] = field(default_factory=dict)
    """Texts that are not there, though they may have been; with the number of writings when that was told."""
    texts: int = 0
    copy: Engine | None = None

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        ticks = Ticks()
        patience = partial(Patience, 6.0, lambda: ticks.now, ticks.sleep)
        faults = self.rng.choice((0.0, 0.2, 0.5))
        self.writers = [
            Writer(FaultyCalls(self.engine, self.rng, faults, self.late), KEYS, patience) for _ in range(CONTROLLERS)
        ]
        self.engine.do(messages.TXN, messages.transaction([], [messages.put(KEYS.leader, "n1 first")], []))

    async def run(self) -> None:
        """Let all write, and check what they were told."""
        async with asyncio.TaskGroup() as tasks:
            for writer in self.writers:
                for name in NAMES:
                    tasks.create_task(self._change(writer, name))
        self._check_chain()
        self._check_told()
        await self._check_settled()

    async def _change(self, writer: Writer, name: str) -> None:
        seen: Kept | None = None
        for _ in range(CHANGES):
            self._restore_now_and_then()
            self.texts += 1
            text = f"{self.texts} after {seen.text.partition(' ')[0] if seen is not None else None}"
            lead = Lead("n1", self.rng.choice(("n1 first", "n2 other")), 0) if self.rng.random() < 0.2 else None
            try:
                seen = await writer.put(name, seen, text, lead)
                self.written.add(text)
            except Changed as changed:
                self.gone[text] = len(self.engine.writings)
                seen = changed.now
            except (NotLeading, Refused):
                self.denied.add(text)
                self.gone[text] = len(self.engine.writings)
            except Unsettled:
                pass  # nobody is told anything

    def _restore_now_and_then(self) -> None:
        if self.may_restore and self.rng.random() < 0.1:
            self.copy = self.engine.copy()
        elif self.copy is not None and self.rng.random() < 0.1:
            self.late.clear()  # all members were ended
            self.engine.restore(self.copy)

    def _check_chain(self) -> None:
        for key, before, after in self.engine.writings:
            if key != KEYS.leader and after != before:
                parent = before.partition(" ")[0] if before is not None else None
                if after.partition(" after ")[2] != str(parent):
                    raise Broken(f"seed {self.seed}: {after!r} was written over {before!r}")

    def _check_told(self) -> None:
        texts = {after for _, before, after in self.engine.writings if after != before}
        if lost := self.written - texts:
            raise Broken(f"seed {self.seed}: told as written, and never were: {lost}")
        if (done := self.denied & texts) and not self.may_restore:  # then it may be undone as well
            raise Broken(f"seed {self.seed}: told as not written, and were: {done}")
        for number, (_, before, after) in enumerate(self.engine.writings):
            if after != before and number >= self.gone.get(after, number + 1):
                raise Broken(f"seed {self.seed}: {after!r} was written after it was told that it is not there")

    async def _check_settled(self) -> None:
        """What is settled does not change by what comes late."""
        for writer in self.writers:
            for name in writer.unsettled:
                try:
                    await writer.settle(name)
                except Unsettled:
                    return  # too many faults: something may still change
        before = self._present()
        do_late(self.engine, self.late, self.rng, chance=1)
        if self._present() != before:
            raise Broken(f"seed {self.seed}: {before} became {self._present()} after everything was settled")
        self._check_told()

    def _present(self) -> dict[str, str]:
        return {name: self.engine.keys[KEYS.of(name)].text for name in NAMES if KEYS.of(name) in self.engine.keys}


def play(seed: int, may_restore: bool = False) -> None:
    asyncio.run(World(seed, may_restore).run())


@pytest.mark.parametrize("may_restore", [False, True])
def test_texts_form_one_chain_and_nobody_is_told_what_is_not_so(may_restore: bool) -> None:
    for seed in range(SEEDS):
        play(seed, may_restore)


def _compare_revision_alone(self: Writing) -> Json:
    modified = self.seen.token.modified if self.seen is not None and isinstance(self.seen.token, Mark) else 0
    conditions = [messages.compare_revision(self.key, modified)]
    return messages.transaction(conditions, [messages.put(self.key, self.text)], [messages.get(self.key)])


def _never(*_: Any) -> bool:
    return False


async def _refuse(self: Writer, _: Writing, error: Exception, *__: Any) -> Refused:
    return Refused(str(error))


async def _forget(self: Writer, name: str, _: Patience) -> None:
    self._open.pop(name, None)


DEFECTS: dict[str, tuple[Any, str, Callable[..., Any], bool]] = {
    "the revision alone is compared": (Writing, "request", _compare_revision_alone, True),
    "an unknown outcome is taken for a no": (Writing, "may_happen", _never, False),
    "a full engine is taken for a no": (Writer, "_declined", _refuse, False),
    "an earlier writing is forgotten": (Writer, "_settle", _forget, False),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_found(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, by, may_restore = DEFECTS[defect]
    monkeypatch.setattr(owner, name, by)
    assert any(_is_broken(seed, may_restore) for seed in range(SEEDS))


def _is_broken(seed: int, may_restore: bool) -> bool:
    try:
        play(seed, may_restore)
    except Broken:
        return True
    return False
