"""The keys and fields of a batch of one side, as Arrow columns (`Extractor`)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from broker_core.protocol.copies import NOT_COPIED, NOT_COPIED_PREFIXES, PROVENANCE
from broker_core.spark.comparing.comparison import Comparison, Field
from broker_core.spark.comparing.hashes import Hashes, hash_column, mix, together

PLACE: Final = ("_part", "_offset", "_time", "_error", "_note")
"""Of every row of a side: number of its part, offset in it, time in ms, damage, and why it does not count."""
KEY_COLUMN: Final = "_key"
_MOST_STEPS: Final = 2.0**49
"""Below this the steps of doubles are wrong by less than a quarter."""
_OWN_FIELDS: Final = ("KEYS", "TAGS", "PROPERTIES", *PROVENANCE)


def field_column(number: int) -> str:
    """Return the name of the column of an expression."""
    return f"_field{number}"


@dataclass(frozen=True, slots=True)
class Extractor:
    """How keys and fields are made of the columns of one side; travels to the tasks."""

    side: str
    comparison: Comparison
    copied_from: str | None = None
    """The cluster's name, on the side of the originals of `by="source"`."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a topic that the words need; expressions name their own."""
        by = {"key": ("keys",), "unique_id": ("unique_id",), "body": ("body",)}
        source = ("properties",) if self.copied_from is None else ("topic", "broker", "queue_id", "queue_offset")
        key = by.get(self.comparison.by or "", source if self.comparison.by == "source" else ())
        words = tuple(field.name for field in self.comparison.fields if field.sql(self.side) is None)
        return tuple(dict.fromkeys((*key, *words)))

    def keys(self, batch: Any) -> Any:
        """Return the distinct keys of each row as a list of texts, or of bodies where these are the keys."""
        by = self.comparison.by
        if by is None:
            return _lists(batch.column(KEY_COLUMN))
        if by == "key":
            return _distinct(_lists(batch.column("keys")))
        if by == "source":
            return _lists(self._source(batch))
        return _lists(batch.column(by))

    def _source(self, batch: Any) -> Any:
        if self.copied_from is None:
            return _property(batch.column("properties"), "GANTRY_SRC")
        names = ("broker", "topic", "queue_id", "queue_offset")
        parts = [pc.cast(batch.column(name), pa.string()) for name in names]
        return pc.binary_join_element_wise(self.copied_from, *parts, "/")

    def field(self, batch: Any, number: int) -> Any:
        """Return the values of a compared field."""
        field = self.comparison.fields[number]
        if field.sql(self.side) is not None:
            return batch.column(field_column(number))
        values = batch.column(field.name)
        return own_properties(values) if field.name == "properties" else values

    def hashes(self, batch: Any) -> list[Hashes]:
        """Return the hashes of each field; numbers with a tolerance are rounded to it."""
        return [_hash_field(field, self.field(batch, number)) for number, field in enumerate(self.comparison.fields)]

    def values(self, batch: Any) -> Hashes:
        """Return one hash of all fields of each row."""
        return together(self.hashes(batch), batch.num_rows)

    def key_text(self, key: Any) -> str:
        """Return a key as the report shows it: that of a body is its SHA-256."""
        return hashlib.sha256(key).hexdigest() if isinstance(key, bytes) and self.comparison.by == "body" else str(key)


def _hash_field(field: Field, values: Any) -> Hashes:
    return _hash_steps(values, field.tolerance / 2) if field.tolerance else hash_column(values)


def _hash_steps(values: Any, step: float) -> Hashes:
    """Return the hash of the step of each number: those of one step differ by less than two steps.

    Where doubles are too coarse to tell the steps apart, it is the hash of the number itself.
    """
    steps = pc.floor(pc.divide(pc.cast(values, pa.float64(), safe=False), step))
    hashes = hash_column(steps)
    is_exact = pc.fill_null(pc.less(pc.abs(steps), _MOST_STEPS), True).to_numpy(zero_copy_only=False)
    # Mixed once more, so that a number is not taken for a step.
    return hashes if is_exact.all() else np.where(is_exact, hashes, mix(hash_column(values)))


def _lists(values: Any) -> Any:
    """Return each value as a list: an empty one for null, itself if it is one."""
    if pa.types.is_list(values.type):
        return pc.fill_null(values, pa.scalar([], values.type)) if values.null_count else values
    present = pc.is_valid(values).to_numpy(zero_copy_only=False)
    offsets = np.concatenate(([0], np.cumsum(present))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values.drop_null() if values.null_count else values)


def _distinct(lists: Any) -> Any:
    """Return lists in which no text occurs twice."""
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    if not len(lengths) or lengths.max() < 2:
        return lists
    rows = [list(dict.fromkeys(row)) if len(row) > 1 else row for row in lists.to_pylist()]
    return pa.array(rows, lists.type)


def _property(maps: Any, name: str) -> Any:
    """Return the value of a property of each row."""
    return pc.map_lookup(maps, pa.scalar(name), "last")


def own_properties(maps: Any) -> Any:
    """Return the properties that producers set themselves."""
    offsets = maps.offsets.to_numpy()
    # Those of a slice are a part of all.
    names, items = (each.slice(offsets[0], offsets[-1] - offsets[0]) for each in (maps.keys, maps.items))
    is_system = pc.is_in(names, pa.array([*NOT_COPIED, *_OWN_FIELDS], pa.string()))
    for prefix in NOT_COPIED_PREFIXES:
        is_system = pc.or_(is_system, pc.starts_with(names, prefix))
    kept = np.logical_not(is_system.to_numpy(zero_copy_only=False))
    before = np.concatenate(([0], np.cumsum(kept)))
    starts = pa.array(before[offsets - offsets[0]].astype(np.int32))
    mask = pa.array(kept)
    return pa.MapArray.from_arrays(starts, names.filter(mask), items.filter(mask))
