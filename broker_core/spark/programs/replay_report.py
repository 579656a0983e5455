"""What the report of a replay says of each queue, and of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from broker_core.spark.checkpoint import Damage, Failure
from broker_core.spark.programs.left_out import FILE, LeftOutFile
from broker_core.spark.replay_plan import Lane

_MOST_SHOWN: Final = 100


class QueueReport(msgspec.Struct, frozen=True, kw_only=True, rename={"begin": "from", "end": "to"}):
    """The outcome for one source queue; the counters are those of `job_folder.COUNTERS`."""

    broker: str
    queue_id: int
    begin: int
    end: int
    target_broker: str | None
    """None with order by key: its copies are in several queues."""
    target_queue_id: int | None
    read: int
    filtered: int
    damaged: int
    matched: int
    written: int
    failed: int
    bytes: int


def queue_report(lane: Lane, done: Mapping[str, int], damage_found: Sequence[Damage]) -> QueueReport:
    """Return the outcome of a lane, with the damage that ended lanes and is in no checkpoint."""
    source, target = lane.source, None if lane.key_queues else lane.target
    of_lane = (source.broker, source.topic, source.queue_id)
    met = sum((each.broker, each.topic, each.queue_id) == of_lane for each in damage_found)
    return QueueReport(
        broker=source.broker,
        queue_id=source.queue_id,
        begin=source.begin,
        end=source.end,
        target_broker=target.broker_name if target else None,
        target_queue_id=target.queue_id if target else None,
        **{**done, "read": done["read"] + met, "damaged": done["damaged"] + met},
    )


def named_in(file: LeftOutFile, totals: Mapping[str, int], cluster: str) -> dict[str, Any]:
    """Return the parts of the report on messages that were not copied: the first ones, and how many the file names."""
    failed = [
        Failure(f"{cluster}/{each.broker}/{each.topic}/{each.queue_id}/{each.queue_offset}", each.reason)
        for each in file.first("failed", _MOST_SHOWN)
    ]
    damaged = [
        Damage(each.broker, each.topic, each.queue_id, each.queue_offset, each.log_offset, each.reason)
        for each in file.first("damaged", _MOST_SHOWN)
    ]
    unlisted = totals["failed"] + totals["damaged"] - file.count
    return {
        "failures": failed, "damage": damaged, "left_out_listed": file.count, "left_out_unlisted": unlisted,
    }  # fmt: skip


def totals_sentence(totals: Mapping[str, int], listed: int) -> str:
    """Return the sentence that says what became of every message; the file names so many of those not copied."""
    others = {
        "left out by the filter": totals["filtered"],
        "damaged and not copied": totals["damaged"],
        "could not be copied": totals["failed"],
    }
    rest = "".join(f", {count:,} {what}" for what, count in others.items() if count)
    named = names_them(listed, totals["damaged"] + totals["failed"])
    return f"{totals['read']:,} messages read, {totals['written']:,} written{rest}{named}"


def names_them(listed: int, left_out: int) -> str:
    """Return the end of a sentence that says where those left out are named, and how many; empty if there are none."""
    which = "them" if listed == left_out else f"the first {listed:,} of them"
    return f"; {FILE} names {which}" if left_out else ""
