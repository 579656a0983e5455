"""A common way to plan and read, whether a topic is in files of this machine or behind brokers."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, reduce
from operator import or_
from typing import Any, Final

from broker_core.native import native
from broker_core.spark.batches import MADE_OF, RowOrigin
from broker_core.spark.blocks import Block, read_blocks
from broker_core.spark.bytes_read import BytesRead, PlanCost
from broker_core.spark.counting import RowReporter
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition, WirePartition, plan_files
from broker_core.spark.rows import RowMaker
from broker_core.spark.schema import asks_for_bodies
from broker_core.spark.stores import open_store
from broker_core.spark.wire import plan_wire, read_wire_blocks
from broker_core.store.columns import Wanted

Partition = FilePartition | WirePartition
_log = logging.getLogger(__name__)
_KEPT_BYTES: Final = 64 << 20
"""Two blocks and their columns."""


def plan(options: SourceOptions, cost: PlanCost | None = None) -> Sequence[Partition]:
    """Return the ranges selected by the options, each of one queue: a snapshot of now."""
    return plan_together([options], cost)[0]


def plan_together(all_options: Sequence[SourceOptions], cost: PlanCost | None = None) -> list[Sequence[Partition]]:
    """Plan several reads at the same time, so that they can be compared; adds to `cost` what it took."""
    cost = cost or PlanCost()
    opened = {root: open_store(root) for options in all_options for root in options.stores}
    over_wire = iter(plan_wire([options for options in all_options if not options.stores]))
    return [plan_files(options, opened, cost) if options.stores else next(over_wire) for options in all_options]


def read_any_blocks(
    partition: Partition, options: SourceOptions, read: BytesRead, *, wanted: Wanted = Wanted.CHECKED_BODIES
) -> Iterator[Block]:
    """Yield the records of a range in queue order; adds the bytes read to `read`."""
    if isinstance(partition, FilePartition):
        return read_blocks(partition, options, read, wanted=wanted)
    return read_wire_blocks(partition, options, read, wanted=wanted)


def read_rows(
    partition: Partition, options: SourceOptions, columns: Sequence[str], read: BytesRead | None = None
) -> Iterator[Any]:
    """Yield the selected rows of a range as Arrow batches of these columns; adds the bytes read to `read`.

    Bodies are compared with their checksums only if the columns ask for it (`schema.asks_for_bodies`). What mode
    ``dropMalformed`` leaves out is counted in a warning, which a worker writes to its standard error.
    """
    read = read or BytesRead()
    if native is not None:
        native.keep_freed_memory(_KEPT_BYTES)
    origin = RowOrigin(partition.topic, partition.broker, options.decompress)
    maker = RowMaker(columns, options, origin, partition.topic, partition.queue_id)
    with _telling(partition, maker), _reporting(partition, options, read) as report:
        for block in read_any_blocks(partition, options, read, wanted=_wanted_of(columns, options)):
            for batch in maker.make(block):
                if batch.num_rows:
                    yield batch
            report(len(block.queue_offsets))


@cache
def settle_worker() -> None:
    """Take what a worker has imported out of the reach of Python's collector: once, before its first rows.

    Spark's daemon collects after each task, and would look at a hundred thousand objects that stay anyway.
    """
    gc.freeze()


def _wanted_of(columns: Sequence[str], options: SourceOptions) -> Wanted:
    """Return what is to be made of the records while they are checked: nothing of those that a filter may leave out."""
    checked = Wanted.CHECKED_BODIES if asks_for_bodies(columns) else Wanted(0)
    if options.tags is not None or options.keys is not None:
        return checked
    return checked | reduce(or_, (MADE_OF[name] for name in columns if name in MADE_OF), Wanted(0))


@contextmanager
def _telling(partition: Partition, maker: RowMaker) -> Iterator[None]:
    """Warn at the end of a range of the messages that were left out, also if only some of its rows were wanted."""
    try:
        yield
    finally:
        if maker.left_out:
            place = f"{partition.broker} topic={partition.topic} queue={partition.queue_id}"
            span = f"offsets {partition.begin} to {partition.end - 1}"
            _log.warning("mode=dropMalformed left out %d damaged messages: %s %s", maker.left_out, place, span)


@contextmanager
def _reporting(partition: Partition, options: SourceOptions, read: BytesRead) -> Iterator[Callable[[int], None]]:
    if options.count_to is None:
        yield _ignore
        return
    part = f"{partition.broker}/{partition.topic}/{partition.queue_id}/{partition.begin}"
    reporter = RowReporter(options.count_to, part, read)
    try:
        yield reporter.add
    finally:
        reporter.close()


def _ignore(_rows: int) -> None:
    """Used where no rows are reported."""
