"""The stores of this machine, each against itself (a reconciliation with `check`): log, queues, index. No Spark."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Final

from broker_core.spark.errors import BadRequest, StoreUnreadable
from broker_core.spark.programs.program import OK, PARTIAL, ProgramResult, Run
from broker_core.store.errors import Corrupt
from broker_core.store.reader import StoreReader
from broker_core.store.verify import DAMAGED_MESSAGE, Findings, verify

STORE: Final = "store"
_ADDED: Final = (
    "records", "units", "fillers", "keys", "index_entries", "orphans", "purged", "expired_entries", "pending",
)  # fmt: skip


class _Stopped(Exception):
    """The run must end."""


def check_store(run: Run) -> ProgramResult:
    """Read the whole store, report its faults; raise BadRequest where its files are not on this machine."""
    wanted, folders = run.request.asked["check"], run.request.source.stores
    if wanted != STORE:
        raise BadRequest(f"check={wanted!r}: {STORE}")
    if not folders:
        raise BadRequest(
            "cluster: only the store of a broker that this machine runs without replicas can be checked; "
            "of a replica, `python -m broker_core.store verify FOLDER` does the same"
        )

    try:
        with run.timed("checking"), ExitStack() as opened:
            readers = {
                name: opened.enter_context(StoreReader.open(folder, spare_index=True))
                for name, folder in folders.items()
            }
            watch = _Watch(run, list(readers.values()))
            for name, reader in readers.items():
                one = verify(reader, look=watch.look)
                for damage in reader.index_damage:
                    one.add("index", damage)
                watch.add(one, f"{name}: " if len(readers) > 1 else "")
            found = watch.whole
    except _Stopped:
        return ProgramResult(run.stop_code, run.stop_reason)
    except Corrupt as error:
        raise StoreUnreadable(str(error)) from error
    sentence = _sentence(found)
    tiles = {
        "records": found.records, "units": found.units, "keys": found.keys, "index_entries": found.index_entries,
        "orphans": found.orphans, "purged": found.purged, "expired_entries": found.expired_entries,
        "pending": found.pending,
    }  # fmt: skip
    summary: dict[str, Any] = {
        "summary": sentence, "check": STORE, "tiles": tiles, "faults": dict(found.faults), "phases": dict(run.phases),
    }  # fmt: skip
    run.folder.write_json("summary.json", summary)
    run.folder.write_json("report.json", {**summary, "told": found.told})
    run.progress.write(watch.counters(Findings()), phase="done", done=True)
    return ProgramResult(OK if found.is_sound else PARTIAL, sentence)


class _Watch:
    """Writes progress once a second, and ends the check when the run must end."""

    def __init__(self, run: Run, readers: Sequence[StoreReader]) -> None:
        self._run = run
        self._written_at = 0.0
        self.whole = Findings()
        """Of the stores that were read to their end."""
        ranges = (reader.range(topic, queue_id) for reader in readers for topic, queue_id in reader.queues())
        self._planned = sum(high - low for low, high in ranges)

    def add(self, found: Findings, prefix: str) -> None:
        """Add what was found in one store; the faults that are told begin with the prefix."""
        whole = self.whole
        for name in _ADDED:
            setattr(whole, name, getattr(whole, name) + getattr(found, name))
        whole.faults += found.faults
        kinds = (each.partition(": ") for each in found.told)
        whole.told = [*whole.told, *(f"{kind}: {prefix}{text}" for kind, _, text in kinds)][: whole.most]

    def look(self, found: Findings) -> None:
        """Look at what is found so far."""
        if self._run.is_stopping:
            raise _Stopped
        if time.monotonic() - self._written_at >= 1:
            self._written_at = time.monotonic()
            self._run.progress.write(self.counters(found), phase="checking")

    def counters(self, found: Findings) -> dict[str, int]:
        """Return the counters with what is found so far in one more store: of faults only those of messages."""
        damaged = self.whole.faults[DAMAGED_MESSAGE] + found.faults[DAMAGED_MESSAGE]
        readable = self.whole.readable + found.readable
        return {"planned": self._planned, "read": readable + damaged, "damaged": damaged, "matched": readable}


def _sentence(found: Findings) -> str:
    size = (
        f"{found.records:,} records, {found.units:,} units of queues and {found.index_entries:,} entries of the index"
    )
    if found.is_sound:
        return f"{size} agree"
    kinds = ", ".join(f"{number:,} of {kind}" for kind, number in found.faults.most_common())
    return f"{size} were read, and not all agree: {kinds}"
