"""What goes from a store: expired segments, topics, purged messages (store/README.md#retention-and-a-full-disk)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping

from broker_core.protocol.message import LogOffset, QueueOffset
from broker_core.store import purges, retention
from broker_core.store.config import StoreConfig
from broker_core.store.queue_search import log_offset_behind
from broker_core.store.recovery import Recovered
from broker_core.store.syncing import Syncing
from broker_core.store.writing import Writing


def _nothing_is_needed() -> None:
    return None


class Dropping:
    """Removes what nobody needs any more, or somebody wants to be gone."""

    def __init__(self, recovered: Recovered, config: StoreConfig, writing: Writing, syncing: Syncing) -> None:
        """Limits and periods are those of `config`, which may be replaced."""
        self.config = config
        self.needed_from: Callable[[], int | None] = _nothing_is_needed
        self._log = recovered.log
        self._queues = recovered.queues
        self._index = recovered.index
        self._dispatcher = recovered.dispatcher
        self._writing = writing
        self._syncing = syncing
        self._holds = retention.Holds()

    def drop_expired(self, now: int, *, at_any_hour: bool = False) -> retention.Dropped:
        """Remove old segments and the queue units and index entries that point to them; `now` in ms.

        Expired ones go in the hours set for it, or `at_any_hour`; none that is needed (`needed_from`). What is held
        (`hold_from`) or not dispatched stays, too. Returns what was removed, and whether the disk has room for more
        messages. Raises FlushFailed.
        """
        kept = retention.Retention(self._log, self.config, self._needed_or_held_from)
        return retention.drop_expired(
            kept, self._queues, self._index, now, at_any_hour=at_any_hour, keep_units=self._syncing.keep_units
        )

    def hold_from(self, holder: str, log_offset: int | None, *, most_bytes: int | None = None) -> None:
        """Keep the segments that `holder` has still to copy, from `log_offset` on; None lets them go.

        A holder that is further than `most_bytes` behind the end of the log holds nothing, until it is nearer.
        """
        self._holds.hold(holder, log_offset, most_bytes)

    def _needed_or_held_from(self) -> int | None:
        others = (self.needed_from(), self._holds.needed_from(self._log.end))
        # What is in no queue yet exists only in the log.
        return min(each for each in (self._dispatcher.position, *others) if each is not None)

    def held_back(self, now: int) -> LogOffset | None:
        """Return the end of the first segment if it would go, but for records that are still needed."""
        kept = self._retention
        goes = kept.first_goes(now, retention.measure_disk(self.config.folder), at_any_hour=False)
        return LogOffset(kept.first_end) if goes and kept.first_is_needed else None

    @property
    def _retention(self) -> retention.Retention:
        return retention.Retention(self._log, self.config, self.needed_from)

    def delete_topic(self, topic: str) -> int:
        """Remove the queues of a topic and return how many there were; a topic made again begins at queue offset 0."""
        count, removing = self.detach_topic(topic)
        deque(removing, maxlen=0)
        return count

    def detach_topic(self, topic: str) -> tuple[int, Iterator[None]]:
        """Do the same, but for what takes long with thousands of queues: that is done by the steps that this returns.

        Each step removes the files of a few, in about 10 ms. Anything may happen in between, also the store be closed,
        and the topic be made again. Raises OSError.
        """
        self._writing.settle()
        was_purged = bool(self._queues.purged)
        count, removing = self._queues.detach_topic(topic)
        self._writing.forget(topic)
        if was_purged:
            purges.write(self.config.folder, self._kept_purges())
        return count, removing

    def purge(self, topic: str, before: Mapping[int, int]) -> dict[int, QueueOffset]:
        """Make the messages before a queue offset unreadable, by queue id; return the new minimum of these queues.

        It lasts, also beyond a kill, once this returns. Maximum and next offsets stay; an offset behind the maximum
        means the maximum, one before the minimum changes nothing, and queues without messages are left out. The log
        gives the room back when retention drops its segments. Raises OSError, StoreFull and what `put` raises; nothing
        is purged then.
        """
        self._writing.check()
        self._writing.settle()
        queues = {queue_id: queue for queue_id in before if (queue := self._queues.find(topic, queue_id))}
        places = {
            (topic, queue_id): place
            for queue_id, queue in queues.items()
            if (place := log_offset_behind(queue, min(before[queue_id], queue.max_offset))) > queue.purged_before
        }
        if places:
            purges.write(self.config.folder, {**self._kept_purges(), **places})
        for (_, queue_id), place in places.items():
            queues[queue_id].purge(place)
        return {queue_id: QueueOffset(queue.min_offset) for queue_id, queue in queues.items()}

    def _kept_purges(self) -> dict[tuple[str, int], int]:
        """Return the purges of which retention has not dropped everything."""
        return {key: at for key, at in self._queues.purged.items() if at > self._log.begin}

    def lower_purges(self) -> None:
        """Write down what is left of the purges where the log was cut. Raises OSError."""
        purged = purges.read(self.config.folder)
        if (kept := self._kept_purges()) != purged:
            purges.write(self.config.folder, kept)
