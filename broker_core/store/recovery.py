"""Opening a store after a clean stop or a crash (store/README.md#recovery).

::

    lock → mark → scratch files → segments → queues → index → walk the log → cut what is torn → minimum of each queue

The walk dispatches every intact record; queues and index skip those that they have. The log ends where no intact record
follows: the rest of that segment, all later segments, and the units of dropped records are removed.

After a clean stop everything is dispatched and on the disk, so the walk begins at the last record that a queue knows. A
crash may have lost pages of queues and index in any order, so the walk begins in the newest segment whose first record
is older than everything that the checkpoint covers. Times mislead within one millisecond and after a clock was set
back, so it begins in the segment of the checkpoint's log offset at the latest.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile
from typing import Final

from broker_core.protocol.record import MAGIC_V1, MAGIC_V2, MIN_RECORD_BYTES, body_is_sound, read_head, size_and_magic
from broker_core.store import abort, closed, purges
from broker_core.store.checkpoint import Checkpoint, read_checkpoint
from broker_core.store.commit_log import STORE_TIME_BYTES, CommitLog, FindNext, LogWalk, store_time_of
from broker_core.store.config import StoreConfig
from broker_core.store.dispatcher import RUN_RECORDS, Dispatcher, Pending
from broker_core.store.extending import Extender
from broker_core.store.index import Index
from broker_core.store.index_file import hashes_of
from broker_core.store.layout import GONE_PREFIX, NEW_PREFIX, is_folder_name
from broker_core.store.mapped_file import MappedFile
from broker_core.store.queues import Queues

_MESSAGE_MAGIC: Final = (MAGIC_V1, MAGIC_V2)
_UNTRUSTED_SEGMENTS: Final = 3
# An index file may end a few ms after its last record, and a clock may have been set back slightly.
_CHECKPOINT_AHEAD_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Recovered:
    """The parts of an open store, and the findings of its recovery."""

    log: CommitLog
    queues: Queues
    index: Index
    dispatcher: Dispatcher
    was_clean: bool
    # Where the walk began, and how many records it found.
    walked_from: int
    walked_records: int
    # What was wrong with the bytes after the end of the log; None if there were none.
    cut_reason: str | None
    # Damaged places in the log with intact records after them: begin, end, reason.
    damaged: tuple[tuple[int, int, str], ...] = ()
    # The log offset before which all records are known to be confirmed (store/README.md#confirmed-records).
    confirmed: int = 0
    # Whether what was written last may be lost: the store was not closed, and it was more than a kill of its process.
    was_power_lost: bool = False
    # Of a replica: why it is sure that another broker had the store since, for people; empty if nothing tells.
    used_elsewhere: str = ""


@dataclass(frozen=True, slots=True)
class _Opening:
    """The parts of a store while it is being opened, and how the one that had it before left it."""

    config: StoreConfig
    was_clean: bool
    log: CommitLog
    queues: Queues
    index: Index
    left: closed.CleanClose
    # Where the log ended when this broker closed it; None if nothing tells.
    closed_at: int | None


def recover(config: StoreConfig) -> Recovered:
    """Repair the files of a locked folder and return them.

    Raises Corrupt if files are inconsistent, before a record, a unit or a key is changed.
    """
    was_power_lost = abort.tells_power_loss(config.folder)
    opening = _load(config, is_lossy=was_power_lost)
    log, queues, was_clean = opening.log, opening.queues, opening.was_clean
    damaged_from = _recover_queues(opening)
    checkpoint = _plausible(read_checkpoint(config.folder), log, newest=_last_store_time(log, queues))
    begin = _walk_begin(opening, checkpoint, damaged_from)
    # What is in a queue was confirmed, or it would not be there.
    confirmed = max(checkpoint.confirmed, queues.max_physical) if config.is_replica else checkpoint.confirmed
    dispatcher = Dispatcher(queues, opening.index, position=begin, delay_levels_ms=config.delay_levels_ms)
    walk, walked = _dispatch_again(opening, dispatcher, upto=confirmed if config.is_replica else None)
    queues.release()
    used_elsewhere = _used_elsewhere(opening)
    if not used_elsewhere:
        closed.forget(config.folder)
    return Recovered(
        log,
        queues,
        opening.index,
        dispatcher,
        was_clean,
        walked_from=begin,
        walked_records=walked,
        cut_reason=walk.problem.reason if walk.problem else None,
        damaged=tuple(walk.damaged),
        confirmed=min(confirmed, log.end),
        was_power_lost=was_power_lost,
        used_elsewhere=used_elsewhere,
    )


def _load(config: StoreConfig, *, is_lossy: bool) -> _Opening:
    was_clean = not abort.is_set(config.folder)
    log = CommitLog.load(config)
    queues = Queues.load(config, extender=Extender(log))
    index = Index.load(config)
    abort.set_mark(config.folder, is_lossy=is_lossy)
    _remove_scratch(config)
    left = closed.read(config.folder) if was_clean else closed.CleanClose()
    closed_at = closed.end_told(config.folder)
    if was_clean and config.is_replica and not closed.is_there(config.folder):
        closed_at = closed.note_other(config.folder)
    return _Opening(config, was_clean, log, queues, index, left, closed_at)


def _recover_queues(opening: _Opening) -> int | None:
    """Repair the queues; return the log offset from which records are missing in them, if any are."""
    log, queues, left = opening.log, opening.queues, opening.left
    if left.log_begin == log.begin:
        queues.resume(left.spans)
    damaged_from = queues.recover(log, trusted=opening.was_clean)
    queues.restart(closed.find_short(left, queues.by_key))
    return log.begin if queues.lost else damaged_from


def _walk_begin(opening: _Opening, checkpoint: Checkpoint, damaged_from: int | None) -> int:
    """Drop what the index may have lost; return where the walk begins."""
    log, queues, index = opening.log, opening.queues, opening.index
    has_all = bool(index.files and queues.by_key)
    index.trust_finished(checkpoint.index)
    if not opening.was_clean:
        index.drop_unfinished(checkpoint.index)
    if not has_all or queues.max_physical < 0:
        # New, or a folder was removed: everything is rebuilt.
        begin = log.begin
    else:
        begin = _clean_begin(log, queues) if opening.was_clean else _unclean_begin(log, checkpoint)
    return begin if damaged_from is None else min(begin, damaged_from)


def _dispatch_again(opening: _Opening, dispatcher: Dispatcher, *, upto: int | None) -> tuple[LogWalk, int]:
    """Walk the log from the dispatcher's position, cut what is torn, and give queues and index what they lack.

    Returns the walk, and how many records it found.
    """
    config, log, queues, index = opening.config, opening.log, opening.queues, opening.index
    resume = partial(queues.next_named, log)
    check_crc = config.check_crc_on_recover
    walk = log.walk(dispatcher.position, check_crc=check_crc, may_be_torn=not opening.was_clean, resume=resume)
    walked, left_at = _dispatch_until(upto, walk, dispatcher)
    log.cut(walk.end)
    queues.truncate(walk.end)
    _apply_purges(config, queues, log)
    queues.correct_min(log.begin)
    unindexed = index.drop_from(walk.end, log, gap=_find_index_gap(index, opening.left, log, resume))
    if unindexed is not None and unindexed < walk.end:
        _dispatch_until(upto, log.walk(max(unindexed, log.begin), check_crc=False, resume=resume), dispatcher)
    dispatcher.position = log.end if left_at is None else left_at
    if not dispatcher.store_time:
        dispatcher.store_time = _last_store_time(log, queues)
    return walk, walked


def _used_elsewhere(opening: _Opening) -> str:
    """Return why another broker must have had a replica's store since this one (store/README.md#used-elsewhere)."""
    end, closed_at = opening.log.end, opening.closed_at
    if not opening.config.is_replica or closed_at is None or end <= max(closed_at, 0):
        return ""
    if closed_at == closed.NO_END:
        return "it was closed by another broker"
    return f"its log ends at {end}, and ended at {closed_at} when this broker closed it"


def _plausible(checkpoint: Checkpoint, log: CommitLog, *, newest: int) -> Checkpoint:
    """Return an empty checkpoint instead of one that is later than the newest record, which must be damaged."""
    latest = max(checkpoint.log, checkpoint.queues, checkpoint.index)
    is_in_log = checkpoint.covered is not None and checkpoint.covered <= log.end
    return checkpoint if is_in_log or latest <= newest + _CHECKPOINT_AHEAD_MS else Checkpoint()


def _apply_purges(config: StoreConfig, queues: Queues, log: CommitLog) -> None:
    """Give each queue what was purged of it.

    A log that lost its end continues before a place that a purge named: messages stored there later are not purged.
    """
    purged = purges.read(config.folder)
    kept = {key: min(at, log.end) for key, at in purged.items() if at > log.begin and key in queues.by_key}
    if kept != purged:
        purges.write(config.folder, kept)
    queues.note_purged(kept)


def _remove_scratch(config: StoreConfig) -> None:
    for path in config.folder.glob(f"{NEW_PREFIX}*"):
        path.unlink()
    for path in config.folder.glob(f"{GONE_PREFIX}*"):
        shutil.rmtree(path)


def _dispatch_until(upto: int | None, walk: LogWalk, dispatcher: Dispatcher) -> tuple[int, int | None]:
    """Dispatch the records that end at `upto` or before it; return how many were walked, and where others begin."""
    walked, left_at = 0, None
    records = iter(walk)
    while run := list(islice(records, RUN_RECORDS)):
        found = [pending for head, view in run if (pending := dispatcher.find_pending(head, view))]
        ready: list[Pending] = [pending for pending in found if upto is None or pending.end <= upto]
        dispatcher.dispatch(ready)
        if left_at is None and len(ready) < len(found):
            left_at = found[len(ready)].log_offset
        walked += len(run)
    return walked, left_at


def _find_index_gap(index: Index, left: closed.CleanClose, log: CommitLog, resume: FindNext) -> int | None:
    """Return the number of the index file before which one is missing, if one is; at the end it is their count."""
    if left.index_files:
        there = [file.path.name for file in index.files]
        joined = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left.index_files, there, strict=False)))
        return None if joined == len(left.index_files) else joined
    indexed = -1
    for number, file in enumerate(index.files):
        if not file.is_empty:
            if _has_keys(log, resume, indexed, file.begin_log_offset):
                return number
            indexed = file.end_log_offset
    return None


def _has_keys(log: CommitLog, resume: FindNext, after: int, before: int) -> bool:
    """Return whether a record between two log offsets has keys."""
    for head, view in log.walk(max(after, log.begin), check_crc=False, resume=resume):
        if head.log_offset >= before:
            return False
        topic = str(view[head.topic_begin : head.topic_end], "utf-8", "replace")
        if head.log_offset > after and is_folder_name(topic) and hashes_of(head, view):
            return True
    return False


def _clean_begin(log: CommitLog, queues: Queues) -> int:
    """Return the end of the last record that a queue knows, if the log agrees; else where Apache RocketMQ begins."""
    known = queues.max_physical
    if known < log.begin:
        return log.begin
    if any(_ends_at(log, unit_offset, known) for unit_offset in queues.last_units()):
        return known
    segments = len(log.files)
    return log.files[max(0, segments - _UNTRUSTED_SEGMENTS)].start if segments else 0


def _ends_at(log: CommitLog, log_offset: int, end: int) -> bool:
    record = log.find_record(log_offset)
    return record is not None and log_offset + len(record) == end and body_is_sound(record, read_head(record))


def _unclean_begin(log: CommitLog, checkpoint: Checkpoint) -> int:
    """Return the beginning of the newest segment that starts before the records to dispatch again."""
    covered = log.end if checkpoint.covered is None else checkpoint.covered
    for file in reversed(log.files):
        if file.start <= covered and _first_is_older(file, checkpoint.recover_from):
            return file.start
    return log.begin


def _first_is_older(file: MappedFile, recover_from: int) -> bool:
    if file.size < MIN_RECORD_BYTES:
        return False
    magic = size_and_magic(file.view, 0)[1]
    return magic in _MESSAGE_MAGIC and 0 < store_time_of(file.view[:STORE_TIME_BYTES]) <= recover_from


def _last_store_time(log: CommitLog, queues: Queues) -> int:
    times = (log.store_time(log_offset) for log_offset in queues.last_units())
    return max((time for time in times if time is not None), default=0)
