"""What must hold of a record of operations, whatever befell the replicas: each check returns what breaks it.

`final` are the reads of one reader that read every queue from its begin to its end after the last fault.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tests.scenarios.failover.operations import Commit, Outcome, Queue, Read, Record, Send, Work

LOCK_LIFE_S: Final = 30.0
"""So long a client trusts the lock of a queue that it once got."""
Place = tuple[Queue, int]


def lost(sends: Iterable[Send], final: Iterable[Read]) -> list[str]:
    """Return the acknowledged messages that are not where they were acknowledged to be."""
    there = {(read.queue, read.queue_offset): read for read in final}
    return [told for send in sends if send.outcome is Outcome.ACKNOWLEDGED and (told := _missing(send, there))]


def _missing(send: Send, there: dict[Place, Read]) -> str:
    if send.queue_offset is None:
        return f"{send.text} was acknowledged without its place"
    found = there.get((send.queue, send.queue_offset))
    place = f"{send.text} was acknowledged at {send.queue} {send.queue_offset}"
    if found is None:
        return f"{place}, and nothing is there"
    if found.text != send.text:
        return f"{place}, and {found.text} is there"
    if send.log_offset is not None and found.log_offset != send.log_offset:
        return f"{place} and {send.log_offset} of the log, and lies at {found.log_offset} of the log"
    return ""


def phantoms(sends: Iterable[Send], reads: Iterable[Read]) -> list[str]:
    """Return the messages that were read and that nobody had sent to that queue."""
    sent = {(send.queue, send.text) for send in sends}
    return [
        f"{read.client} read {read.text} at {_place(read)}" for read in reads if (read.queue, read.text) not in sent
    ]


def changed(reads: Iterable[Read]) -> list[str]:
    """Return the places at which two reads, by any readers of any replicas, found different things."""
    first: dict[Place, Read] = {}
    told = []
    for read in reads:
        before = first.setdefault((read.queue, read.queue_offset), read)
        if (read.text, read.log_offset) != (before.text, before.log_offset):
            told.append(
                f"{_place(read)} was {before.text} at {before.log_offset} of the log for {before.client}, "
                f"and {read.text} at {read.log_offset} for {read.client}"
            )
    return told


def vanished(reads: Iterable[Read], final: Sequence[Read]) -> list[str]:
    """Return what somebody read and the last reader did not find."""
    there = {(read.queue, read.queue_offset) for read in final}
    return [
        f"{read.client} read {read.text} at {_place(read)}, and it is gone"
        for read in reads
        if (read.queue, read.queue_offset) not in there
    ]


def gaps(final: Iterable[Read]) -> list[str]:
    """Return the queues whose offsets are not 0, 1, 2, …, or not in the order of the log."""
    told = []
    for queue, reads in _by_queue(final).items():
        offsets = [read.queue_offset for read in reads]
        if offsets != list(range(len(offsets))):
            told.append(f"{queue} has the offsets {_shortly(offsets)}")
        if any(one.log_offset >= other.log_offset for one, other in pairwise(reads)):
            told.append(f"the messages of {queue} are not in the order of the log")
    return told


def reordered(sends: Iterable[Send]) -> list[str]:
    """Return the acknowledged messages that lie before one whose send had ended before theirs began."""
    told = []
    for (client, queue), their in _acknowledged_by_client(sends).items():
        told += [
            f"{client} sent {later.text} after {earlier.text}, and it lies before it in {queue}"
            for earlier, later in pairwise(their)
            if earlier.ended <= later.began and (later.queue_offset or 0) <= (earlier.queue_offset or 0)
        ]
    return told


def unordered(reads: Iterable[Read]) -> list[str]:
    """Return where a reader that goes forward was given an offset that is not above the one before."""
    last: dict[tuple[str, str, Queue], int] = {}
    told = []
    for read in reads:
        who = read.client, read.replica, read.queue
        if read.queue_offset <= last.get(who, -1):
            told.append(f"{read.client} was given {_place(read)} after {last[who]}")
        last[who] = read.queue_offset
    return told


def doubled(sends: Sequence[Send], final: Iterable[Read]) -> list[str]:
    """Return the messages that are there more often than they may have been stored."""
    may_be_there = Counter({send.text: 0 for send in sends})
    may_be_there.update(send.text for send in sends if send.outcome is not Outcome.REFUSED)
    there = Counter(read.text for read in final)
    return [
        f"{text} is there {count} times, and may have been stored {may_be_there[text]} times"
        for text, count in there.items()
        if text in may_be_there and count > may_be_there[text]
    ]


def overlapping(works: Iterable[Work], switches: Sequence[float] = (), life_s: float = LOCK_LIFE_S) -> list[str]:
    """Return where two clients worked on one queue at once, later than `life_s` after a change of master."""
    told = []
    for queue, its in _works_by_queue(works).items():
        furthest = its[0]
        for work in its[1:]:
            is_shared = work.client != furthest.client and work.began < furthest.ended
            if is_shared and not any(0 <= work.began - switch <= life_s for switch in switches):
                told.append(f"{work.client} and {furthest.client} worked on {queue} at once")
            furthest = max(furthest, work, key=lambda work: work.ended)
    return told


def stale(sends: Iterable[Send], found: Mapping[str, Sequence[Read]]) -> list[str]:
    """Return the registers whose newest value found by their key is older than the last one acknowledged."""
    last = {send.key: send for send in sends if send.key in found and send.outcome is Outcome.ACKNOWLEDGED}
    return [
        f"{send.text} is the last acknowledged value of {key}, and the newest found is {_newest(found[key])}"
        for key, send in last.items()
        if send.queue_offset is not None
        and max((read.queue_offset for read in found[key]), default=-1) < send.queue_offset
    ]


def _newest(reads: Sequence[Read]) -> str:
    return max(reads, key=lambda read: read.queue_offset).text if reads else "none"


def early(sends: Iterable[Send], reads: Iterable[Read], delay_s: float) -> list[str]:
    """Return the delayed messages that were given to a reader before their time."""
    began = {send.text: send.began for send in reversed(list(sends))}
    return [
        f"{read.text} came {read.at - began[read.text]:.3f} s after its send began, not {delay_s:g} s"
        for read in reads
        if read.text in began and read.at - began[read.text] < delay_s
    ]


@dataclass(frozen=True)
class _Known:
    at: float
    offset: int


def turned_back(
    commits: Iterable[Commit], allowed_s: float, cut_off: Collection[tuple[float, float]] = ()
) -> list[str]:
    """Return the told offsets that lie below one that had been taken more than `allowed_s` before the question.

    A master that slaves and controllers do not reach, from the first to the second moment of each `cut_off`, goes on to
    take offsets of clients that reach it: what it took then need not be known to the next one.
    """
    taken: defaultdict[tuple[str, Queue], list[_Known]] = defaultdict(list)
    told = []
    for commit in commits:
        known = taken[commit.client, commit.queue]
        if not commit.is_read:
            known.append(_Known(commit.ended, commit.offset))
            continue
        followed = min([commit.began, *(began for began, ended in cut_off if began <= commit.began <= ended)])
        least = max((each.offset for each in known if each.at <= followed - allowed_s), default=0)
        if commit.offset < least:
            told.append(f"{commit.client} had committed {least} in {commit.queue}, and is told {commit.offset}")
    return told


def broken(record: Record, final: Sequence[Read]) -> dict[str, list[str]]:
    """Return what breaks each check of messages; nothing if all hold."""
    reads = [*record.reads, *final]
    found = {
        "lost": lost(record.sends, final),
        "phantom": phantoms(record.sends, reads),
        "changed": changed(reads),
        "gap": gaps(final),
        "reordered": reordered(record.sends),
        "unordered": unordered(record.reads),
        "double": doubled(record.sends, final),
    }
    return {name: told for name, told in found.items() if told}


def _place(read: Read) -> str:
    return f"{read.queue} {read.queue_offset}" + (f" of {read.replica}" if read.replica else "")


def _shortly(offsets: Sequence[int]) -> str:
    shown = ", ".join(map(str, offsets[:20]))
    return f"{shown}, … ({len(offsets)})" if len(offsets) > 20 else shown


def _by_queue(reads: Iterable[Read]) -> dict[Queue, list[Read]]:
    found: defaultdict[Queue, list[Read]] = defaultdict(list)
    for read in sorted(reads, key=lambda read: read.queue_offset):
        found[read.queue].append(read)
    return found


def _works_by_queue(works: Iterable[Work]) -> dict[Queue, list[Work]]:
    found: defaultdict[Queue, list[Work]] = defaultdict(list)
    for work in sorted(works, key=lambda work: work.began):
        found[work.queue].append(work)
    return found


def _acknowledged_by_client(sends: Iterable[Send]) -> dict[tuple[str, Queue], list[Send]]:
    found: defaultdict[tuple[str, Queue], list[Send]] = defaultdict(list)
    for send in sends:
        if send.outcome is Outcome.ACKNOWLEDGED:
            found[send.client, send.queue].append(send)
    return found
