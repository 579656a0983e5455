"""Writing by comparing, and what becomes of a writing that nobody answered (controller/README.md#unknown-outcomes)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias
from weakref import WeakValueDictionary

from broker_core.controller.decisions import MAX_TEXT_BYTES, Changed, Kept, Lead, NotLeading, Refused, Unsettled
from broker_core.controller.etcd import messages
from broker_core.controller.etcd.errors import Code, Declined, EtcdError, NotSent
from broker_core.controller.etcd.gateway import Calls
from broker_core.controller.etcd.keyspace import Keys
from broker_core.controller.etcd.messages import Json, KeyValue, Mark
from broker_core.controller.etcd.patience import Patience, read_by

_Outcome: TypeAlias = Kept | Changed | NotLeading | Refused
"""What became of a writing, where that is known for good."""


@dataclass(frozen=True, slots=True)
class Writing:
    """One text that is to replace what was seen."""

    name: str
    key: str
    seen: Kept | None
    text: str
    lead_key: str
    lead: Lead | None

    def request(self) -> Json:
        """Return the transaction: the revision alone comes again after a restore, so the text is compared as well."""
        conditions = [messages.compare_revision(self.key, self._seen_mark.modified)]
        if self.seen is not None:
            conditions.append(messages.compare_text(self.key, self.seen.text))
        if self.lead is not None:
            conditions.append(messages.compare_text(self.lead_key, self.lead.text))
        return messages.transaction(conditions, [messages.put(self.key, self.text)], [messages.get(self.key)])

    def is_done(self, found: KeyValue | None) -> bool:
        """Whether this is what was found."""
        return found is not None and found.text == self.text and found.mark.modified != self._seen_mark.modified

    def may_happen(self, found: KeyValue | None) -> bool:
        """Whether what was found is what is compared, so that this could still be done."""
        if found is None or self.seen is None:
            return found is None and self.seen is None
        return (found.text, found.mark.modified) == (self.seen.text, self._seen_mark.modified)

    def kept_at(self, revision: int) -> Kept:
        """Return what is kept when this was done at a revision."""
        return Kept(self.text, Mark(revision, self._seen_mark.created or revision))

    def without_effect(self) -> Writing:
        """Return a writing after which this one can no longer happen; it changes no text if there is one."""
        return self if self.seen is None else replace(self, text=self.seen.text, lead=None)

    @property
    def _seen_mark(self) -> Mark:
        if self.seen is None:
            return Mark(0, 0)
        if not isinstance(self.seen.token, Mark):
            raise TypeError(f"{self.name!r} was not read from etcd")
        return self.seen.token


class Writer:
    """Writes one text of a name after the other, and keeps in mind which outcomes are unknown."""

    def __init__(self, calls: Calls, keys: Keys, patience: Callable[[], Patience]) -> None:
        self.last_ms: float | None = None
        self._calls = calls
        self._keys = keys
        self._patience = patience
        self._open: dict[str, Writing] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def unsettled(self) -> tuple[str, ...]:
        """The names with a writing whose outcome is not known, or not yet."""
        return tuple(sorted(self._open))

    def is_settled(self, name: str) -> bool:
        """Return whether every outcome of a name is known."""
        return name not in self._open

    async def put(self, name: str, seen: Kept | None, text: str, lead: Lead | None) -> Kept:
        """Write a text; raises Changed, NotLeading, Refused and Unsettled."""
        if (size := len(text.encode(errors="surrogateescape"))) > MAX_TEXT_BYTES:
            raise Refused(f"the state of {name!r} has {size:,} bytes, more than {MAX_TEXT_BYTES:,}")
        writing = Writing(name, self._keys.of(name), seen, text, self._keys.leader, lead)
        async with self._turn(name):
            patience = self._patience()
            await self._settle(name, patience)
            began = time.monotonic()
            self._open[name] = writing  # whatever ends this before its outcome is known leaves it open
            outcome = await self._outcome(writing, patience)
            del self._open[name]
        if not isinstance(outcome, Kept):
            raise outcome
        self.last_ms = (time.monotonic() - began) * 1000
        return outcome

    async def settle(self, name: str) -> None:
        """Find out, or decide, what became of an earlier writing of a name; raises Unsettled."""
        async with self._turn(name):
            await self._settle(name, self._patience())

    def _turn(self, name: str) -> asyncio.Lock:
        return self._turns.setdefault(name, asyncio.Lock())

    async def _settle(self, name: str, patience: Patience) -> None:
        earlier = self._open.get(name)
        if earlier is None:
            return
        if earlier.may_happen(await self._look(earlier, patience)):
            # Who wanted it was told that it is unknown, and no longer waits for it: it had better not happen now.
            outcome = await self._outcome(earlier.without_effect(), patience)
            if isinstance(outcome, Refused):
                raise Unsettled(f"an earlier change of {name!r} may still happen; {outcome}") from outcome
        del self._open[name]

    async def _outcome(self, writing: Writing, patience: Patience) -> _Outcome:
        """Send a writing until its outcome is known; raises Unsettled."""
        may_come_late = False
        while True:
            try:
                answer = await self._calls.call(messages.TXN, writing.request())
            except Declined as error:
                if may_come_late:
                    raise Unsettled(f"an earlier attempt may still happen; {error}") from error
                return await self._declined(writing, error, patience)
            except EtcdError as error:
                await patience.after(error)
                if isinstance(error, NotSent):
                    continue
                may_come_late = True
                found = await self._look(writing, patience)
                if not writing.may_happen(found):
                    return _found(writing, found)
            else:
                return _answered(writing, answer)

    async def _declined(self, writing: Writing, error: Declined, patience: Patience) -> _Outcome:
        # The writing that fills the engine is done, and answered with this all the same.
        if error.code is Code.EXHAUSTED:
            found = await self._look(writing, patience)
            if not writing.may_happen(found):
                return _found(writing, found)
        return Refused(f"etcd declines: {error}")

    async def _look(self, writing: Writing, patience: Patience) -> KeyValue | None:
        answer = await read_by(self._calls, messages.RANGE, messages.one_key(writing.key), patience)
        return next(iter(messages.key_values(answer)), None)


def _answered(writing: Writing, answer: Json) -> _Outcome:
    if answer.get("succeeded"):
        return writing.kept_at(messages.revision_of(answer))
    (found,) = messages.ranges_of(answer)
    if writing.may_happen(found):
        return NotLeading(f"{writing.name!r} was not changed, since the lead has ended")
    return _found(writing, found)


def _found(writing: Writing, found: KeyValue | None) -> _Outcome:
    """Return the outcome of a writing that can no longer happen, by what is there."""
    now = None if found is None else Kept(found.text, found.mark)
    return now if now is not None and writing.is_done(found) else Changed(writing.name, now)
