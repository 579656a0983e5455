"""Blocks of records as the rows of a read: filters exactly what hashes and widened ranges let through; adds damage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from broker_core.spark.batches import COMPRESSED, Batch, Bodies, Packed, RowOrigin, packed_bodies, unpack
from broker_core.spark.blocks import Block
from broker_core.spark.errors import DamagedRecord
from broker_core.spark.options import Mode, SourceOptions
from broker_core.spark.schema import arrow_schema
from broker_core.spark.text import rows_of
from broker_core.store.columns import DAMAGE_TEXT, Damage, Ints, Mask, Records

MOST_BATCH_BYTES: Final = 32 << 20
"""The largest batch of rows."""
_MOST_UNPACKED: Final = 16 << 20
_ERROR: Final = "_error"
Arrays = dict[str, Any]
"""Arrow arrays by the names of their columns."""


@dataclass(slots=True)
class RowMaker:
    """Converts the blocks of one queue to Arrow batches of one schema."""

    columns: Sequence[str]
    options: SourceOptions
    origin: RowOrigin
    topic: str
    queue_id: int
    left_out: int = 0
    """Damaged messages that mode ``dropMalformed`` left out so far."""
    arrow_schema: Any = field(init=False)
    _chosen_tags: Any = field(init=False)
    _chosen_keys: Any = field(init=False)

    def __post_init__(self) -> None:
        """Prepare the schema and the sets for look-ups."""
        self.arrow_schema = arrow_schema(self.columns)
        self._chosen_tags = pa.array(sorted(self.options.tags or ()), pa.string())
        self._chosen_keys = pa.array(sorted(self.options.keys or ()), pa.string())

    def make(self, block: Block) -> Iterator[Any]:
        """Yield the selected rows of a block in queue order, in batches of at most 32 MiB unless one row is larger.

        Raises DamagedRecord in mode ``failFast``.
        """
        for part, bodies in self._portions(block):
            yield from _cut(self._make(part, bodies))

    def _portions(self, block: Block) -> Iterator[tuple[Block, Bodies]]:
        """Yield a block in parts whose unpacked bodies are together not too large, with these bodies."""
        at, size = 0, 0
        bodies: Bodies = {}
        for row, packed in self._packed(block):
            body = unpack(packed)
            more = len(body) if isinstance(body, bytes) else 0
            if bodies and size + more > _MOST_UNPACKED:
                yield block.part(at, row), bodies
                at, size, bodies = row, 0, {}
            bodies[int(block.records.positions[row])] = body
            size += more
        yield (block.part(at, len(block.queue_offsets)) if at else block), bodies

    def _packed(self, block: Block) -> Iterator[tuple[int, Packed]]:
        """Yield the rows with requested, compressed bodies."""
        if not self.origin.decompress or "body" not in self.columns:
            return
        sound = block.damage == Damage.NONE
        records = block.records.take(sound)
        if not (flags := records.column("sys_flag") & COMPRESSED).any():
            return
        wanted = self._wanted(Batch(records, self.origin)) & (flags != 0)
        records = records.take(wanted)
        rows = np.flatnonzero(sound)
        yield from zip(rows[wanted].tolist(), packed_bodies(records), strict=True)

    def _make(self, block: Block, bodies: Bodies) -> Any:
        sound = block.damage == Damage.NONE
        if sound.all():
            return self._sound_rows(block.records, bodies)[0]
        if self.options.mode is Mode.FAIL_FAST:
            row = int(np.flatnonzero(~sound)[0])
            # A row before it may be malformed inside: the first one is named.
            self._sound_rows(block.part(0, row).records, bodies)
            raise self._damaged(int(block.queue_offsets[row]), DAMAGE_TEXT[Damage(block.damage[row])])
        is_dropping = self.options.mode is Mode.DROP_MALFORMED
        self.left_out += int((~sound).sum()) if is_dropping else 0
        if not sound.any():
            return self._damaged_rows(block, ~sound).slice(0, 0 if is_dropping else None)
        rows, places = self._sound_rows(block.records.take(sound), bodies)
        if is_dropping:
            return rows
        order = np.argsort(np.concatenate((np.flatnonzero(sound)[places], np.flatnonzero(~sound))), kind="stable")
        both = pa.Table.from_batches([rows, self._damaged_rows(block, ~sound)]).take(pa.array(order))
        return both.combine_chunks().to_batches()[0]

    def _sound_rows(self, records: Records, bodies: Bodies) -> tuple[Any, Ints]:
        """Return the selected rows, and which of the records they are."""
        batch = Batch(records, self.origin, bodies)
        wanted = self._wanted(batch)
        places = np.flatnonzero(wanted)
        if len(places) < len(batch):
            errors = {row: batch.errors[at] for row, at in enumerate(places.tolist()) if at in batch.errors}
            batch = Batch(records.take(wanted), self.origin, bodies)
            batch.errors |= errors
        arrays = {name: batch.column(name) for name in self.columns if name != _ERROR}
        if batch.errors and self.options.mode is not Mode.PERMISSIVE:
            return self._without_errors(batch, arrays, places)
        if _ERROR in self.columns:
            arrays[_ERROR] = _error_texts(batch)
        return self._assemble(arrays), places

    def _without_errors(self, batch: Batch, arrays: Arrays, places: Ints) -> tuple[Any, Ints]:
        if self.options.mode is Mode.FAIL_FAST:
            row = min(batch.errors)
            raise self._damaged(int(batch.records.column("queue_offset")[row]), batch.errors[row])
        if _ERROR in self.columns:
            arrays[_ERROR] = pa.nulls(len(batch), pa.string())
        kept = np.ones(len(batch), bool)
        kept[list(batch.errors)] = False
        self.left_out += len(batch.errors)
        return self._assemble(arrays).filter(pa.array(kept)), places[kept]

    def _wanted(self, batch: Batch) -> Mask:
        options = self.options
        wanted = np.ones(len(batch), bool)
        if self._takes_all:
            return wanted
        if options.starting_timestamp is not None or options.ending_timestamp is not None:
            stored = batch.records.column("store_timestamp")
            wanted &= stored >= (options.starting_timestamp or 0)
            if options.ending_timestamp is not None:
                wanted &= stored < options.ending_timestamp
        named = np.ones(len(batch), bool)
        if options.tags is not None:
            named &= _numpy(pc.is_in(batch.tag, self._chosen_tags))
        if options.keys is not None:
            named &= self._has_key(batch)
        # What cannot be read counts as damage: it is unknown whether it matches the filter.
        named[list(batch.errors)] = True
        return wanted & named

    @property
    def _takes_all(self) -> bool:
        options = self.options
        bounds = (options.starting_timestamp, options.ending_timestamp, options.tags, options.keys)
        return all(bound is None for bound in bounds)

    def _has_key(self, batch: Batch) -> Mask:
        """Return which rows have one of the keys, also as unique id, as in the index."""
        has = _numpy(pc.is_in(batch.unique_id, self._chosen_keys))
        hits = _numpy(pc.is_in(batch.keys.flatten(), self._chosen_keys))
        has[rows_of(batch.key_words[0])[hits]] = True
        return has

    def _damaged_rows(self, block: Block, damaged: Mask) -> Any:
        """Return rows with the position and damage of each damaged record, and nulls."""
        count = int(damaged.sum())
        known = {
            "topic": pa.repeat(pa.scalar(self.topic), count),
            "broker": pa.repeat(pa.scalar(self.origin.broker), count),
            "queue_id": pa.array(np.full(count, self.queue_id, np.int32)),
            "queue_offset": pa.array(block.queue_offsets[damaged]),
            "log_offset": pa.array(block.log_offsets[damaged], mask=block.log_offsets[damaged] < 0),
            "crc_ok": pa.array(np.zeros(count, bool), mask=block.damage[damaged] != Damage.BODY),
            _ERROR: pa.array([DAMAGE_TEXT[Damage(kind)] for kind in block.damage[damaged]], pa.string()),
        }
        return self._assemble(
            {column.name: known.get(column.name, pa.nulls(count, column.type)) for column in self.arrow_schema}
        )

    def _damaged(self, queue_offset: int, reason: str) -> DamagedRecord:
        return DamagedRecord(
            f"{self.origin.broker} topic={self.topic} queue={self.queue_id} offset={queue_offset}: {reason}; "
            "mode=permissive shows such rows, mode=dropMalformed leaves them out"
        )

    def _assemble(self, arrays: Arrays) -> Any:
        ordered = [arrays[name] for name in self.columns]
        return pa.RecordBatch.from_arrays(ordered, schema=self.arrow_schema)


def _cut(rows: Any) -> Iterator[Any]:
    """Yield a batch in parts of at most `MOST_BATCH_BYTES`: one text may be in several columns."""
    if rows.nbytes <= MOST_BATCH_BYTES or rows.num_rows <= 1:
        yield rows
        return
    middle = rows.num_rows // 2
    yield from _cut(rows.slice(0, middle))
    yield from _cut(rows.slice(middle))


def _error_texts(batch: Batch) -> Any:
    if not batch.errors:
        return pa.nulls(len(batch), pa.string())
    return pa.array([batch.errors.get(row) for row in range(len(batch))], pa.string())


def _numpy(mask: Any) -> Mask:
    values: Mask = np.array(pc.fill_null(mask, False).to_numpy(zero_copy_only=False))
    return values
