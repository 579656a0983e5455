"""The compiled functions as Python sees them. Each one's Python twin says what it does."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T", bound=tuple[Any, ...])
H = TypeVar("H")
M = TypeVar("M")

Writable = Any
"""A memory map or a bytearray; type checkers have no name for what can be written into."""

Incoming = tuple[str, int, bytes, str, int, int, int, bytes, int, bytes, int, int]
"""The fields of `store.incoming.Incoming`."""
Buffer = Any
"""What bytes can be made of; type checkers of Python 3.11 have no name for that."""

HeaderParts = tuple[int, dict[str, str], int, int, str | None, int, int]


class Syncer(Protocol):
    """A thread that brings one file after another to the disk and needs no interpreter for it."""

    def begin(self, path: str | os.PathLike[str], /) -> None:
        """Begin to bring a file's data to the disk; raises OSError, or RuntimeError while one is under way."""

    def end(self) -> int:
        """Return the ns it took, waiting if necessary; raises the OSError that the disk answered."""

    def is_done(self) -> bool:
        """Say whether the sync is done; `end` then does not wait."""

    def fileno(self) -> int:
        """Return a descriptor that can be read from when it is done; it belongs to this object."""

    def close(self) -> None:
        """End the thread after its current sync."""


class Native(Protocol):
    """The module that `build.py` makes. Wrong types raise TypeError, numbers that do not fit OverflowError."""

    def crc32(self, data: bytes | memoryview, /) -> int:
        """Do what `zlib.crc32` does."""

    def Syncer(self) -> Syncer:  # noqa: N802 - it is a class
        """Return a new one, with a thread of its own."""

    def sync_file(self, path: str | os.PathLike[str], /) -> int:
        """Twin of `store.mapped_file.sync_file`."""

    def cut_frames(self, frame: type[T], data: bytes, max_frame: int, max_header: int, frames: list[T], /) -> int:
        """Twin of `protocol.frame.cut_frames`."""

    def decode_fields(
        self, kind: type[H], plans: tuple[tuple[str, Any, str, Any], ...], fields: Mapping[str, str], /
    ) -> H | None:
        """Twin of `protocol.fields.decode`; None for what is odd.

        A plan is the name on the wire, the slot, what it holds (s text, i and q integers of 32 and 64 bits, b boolean),
        and what an absent field is: ... for one that must be there.
        """

    def encode_fields(self, header: object, plans: tuple[tuple[str, Any, str, Any], ...], /) -> dict[str, str] | None:
        """Twin of `protocol.fields.encode`, with the plans of `decode_fields`; None for what is odd."""

    def decode_header(self, data: bytes, languages: Mapping[str, int], /) -> HeaderParts | None:
        """Twin of `protocol.header_json.decode`; None for what is odd."""

    def encode_frame_head(
        self,
        code: int,
        ext_fields: dict[str, str],
        opaque: int,
        flag: int,
        remark: str | None,
        language: str,
        version: int,
        body_length: int,
        /,
    ) -> bytes:
        """Twin of `protocol.header_json.frame_head`; `language` is the name."""

    def format_properties(self, properties: Mapping[str, str], /) -> str | None:
        """Twin of `protocol.properties.format_properties`; None for what is odd."""

    def encode_entries(self, entries: Sequence[tuple[int, bytes, str]], /) -> bytes | None:
        """Twin of `protocol.batch.encode_entries`; None for what is odd."""

    def encode_plain(
        self,
        bodies: Sequence[Buffer],
        keys: Sequence[list[str]],
        tags: Sequence[str | None],
        ids: Sequence[str],
        common: str,
        most_keys: int,
        most_characters: int,
        most_body: int,
        /,
    ) -> bytes | None:
        """Twin of `protocol.batch.encode_plain`; None for what is odd."""

    def settle_text(self, text: str, pair: str, /) -> tuple[str, bool] | None:
        """Twin of `broker.sent_text.settle`."""

    def write_record(
        self,
        kind: type[T],
        queue: object,
        into: Writable,
        at: int,
        limit: int,
        topic: bytes,
        incoming: Incoming,
        queue_offset: int,
        log_offset: int,
        /,
    ) -> T | None:
        """Twin of `protocol.record.encode`, written to its place; `topic` is the encoded one.

        Returns what `store.appended.AppendedRecord`, which is `kind`, says of it; None if it would end behind `limit`
        or its properties are too long.
        """

    def header_matches(self, pieces: tuple[bytes, ...], cuts: bytes, header: bytes, /) -> bool:
        """Say whether a header is of a form of `protocol.header_form`."""

    def put_sends(
        self,
        kind: type[T],
        plan: tuple[Any, ...],
        frames: list[Any],
        at: int,
        until: int,
        by_key: Mapping[tuple[str, int], Any],
        pending: list[Any],
        into: Writable,
        wrote: int,
        limit: int,
        start: int,
        now: int,
        /,
    ) -> tuple[int, int, bytes]:
        """Do what `broker.processors.send.SendProcessor.send` does, for the frames from `at` on that fit a `SendPlan`.

        Each `store.appended.AppendedRecord`, which is `kind`, goes to `pending`. Returns how many frames it handled,
        where the records end, and the frames of their answers; it stops at the first frame that is not plain.
        """

    def batch_asks_for_nothing(self, body: bytes, /) -> bool:
        """Twin of `broker.sent_batch.asks_for_nothing`."""

    def measure_batch(self, body: bytes, common: str, /) -> tuple[int, int, int, int] | None:
        """Return messages, bytes of all bodies and texts, longest body, longest text; None for an unsound body.

        The texts are those of the entries with `common` behind them, as `store.appender.join_texts` puts it there.
        """

    def write_batch(
        self,
        into: Writable,
        at: int,
        topic: bytes,
        incoming: Incoming,
        messages: int,
        queue_offset: int,
        log_offset: int,
        /,
    ) -> tuple[list[int], int, bytes, bytes]:
        """Do `protocol.record.encode`, written to its place, `pack_units` and `hash_keys` for all messages of a batch.

        Returns the log offset of each record, where the last one ends, their units and their keys. `topic` is the
        encoded one; `messages` is what `measure_batch` says of the same body and text.
        """

    def format_ids(self, host: bytes, log_offsets: list[int], /) -> str:
        """Twin of `protocol.message_id.format_offset_ids`."""

    def pack_units(self, records: list[Any], /) -> bytes:
        """Twin of `store.dispatcher.pack_units`."""

    def hash_keys(self, records: list[Any], known: int, /) -> bytes:
        """Twin of `store.dispatcher.hash_keys`."""

    def put_entries(
        self,
        into: Writable,
        slots: int,
        entries_at: int,
        number: int,
        slots_used: int,
        begin_time: int,
        begin_log_offset: int,
        keys: bytes,
        /,
    ) -> tuple[int, int, int, int]:
        """Twin of `store.index_file.put_entries`."""

    def decode_messages(
        self, kind: type[M], buffer: bytes | bytearray | memoryview, position: int, messages: list[M], /
    ) -> int:
        """Do what the loop of `protocol.record.decode_many` does, as far as nothing is unusual: where it got to."""

    def write_leased(
        self,
        records: bytes,
        position: int,
        key: bytes,
        portion: str,
        topic: bytes,
        queue_id: int,
        fixed: bytes,
        expires: bytes,
        hidden: tuple[bytes, ...],
        first_delivered: bytes,
        offsets: list[int],
        /,
    ) -> tuple[bytes, int] | None:
        """Twin of `gateway.data.leases.lease_out` and the encoder for the records of one portion from `position` on.

        `portion` is the text of the portion in receipts. `fixed` is the JSON from the topic to the queue id, `expires`
        and `first_delivered` are the moments as JSON, `hidden` the names of properties that are left out. Returns the
        messages with commas between them and where the last record ends; None for what is odd.
        """

    def open_receipts(self, key: bytes, texts: list[str], /) -> list[tuple[str, list[int], list[int]]] | None:
        """Do what `gateway.data.receipts.Receipts.open` does for many: portion texts with queue offsets and places.

        The holder is not checked. None if a signature is wrong.
        """

    def walk_units(
        self,
        units: memoryview,
        queue_offset: int,
        segment: memoryview,
        wrote: int,
        begin: int,
        topic: bytes,
        queue_id: int,
        accept: Callable[[int], bool] | None,
        properties: tuple[tuple[str, ...], Callable[..., bool], bytes] | None,
        records: list[memoryview],
        max_messages: int,
        room: int,
        joined_below: int,
        /,
    ) -> tuple[int, int, int, bytes]:
        """Do what the loop of `store.fetch` does, as far as nothing is unusual.

        Returns the units walked, the room left, how many records were selected, and these one after another if they
        have fewer than `joined_below` bytes on average; else they are added to `records`.
        """

    def check_records(
        self,
        data: Buffer,
        positions: Buffer | None,
        sizes: Buffer | None,
        log_offsets: Buffer | None,
        queue_offsets: Buffer | None,
        topic: bytes | None,
        queue_id: int,
        wanted: int,
        heads: Writable,
        damage: Writable,
        parts: Writable,
        /,
    ) -> tuple[tuple[bytes, ...] | None, ...] | None:
        """Twin of `store.columns.Records.find_damage`, which also copies the heads; numbers are arrays of int64.

        `wanted` is a `store.columns.Wanted`. `parts` gets begin and size of the body and of the properties of each
        sound record, four columns. Returns the fields of `store.columns.Decoded`; None if a record is damaged or odd.
        """

    def find_records(self, data: Buffer, begins: Buffer, /) -> bytes:
        """Twin of `store.columns.find_records`; numbers are arrays of int64."""

    def swap_field(self, rows: Buffer, row_size: int, at: int, width: int, /) -> bytes:
        """Return the field of 4 or 8 bytes at `at` of each row, in this machine's byte order."""

    def keep_freed_memory(self, most: int, /) -> None:
        """Keep up to `most` bytes of freed memory for the next block, instead of pages that are new each time."""

    def gather_spans(self, data: Buffer, starts: Buffer, lengths: Buffer, /) -> tuple[bytes, bytes]:
        """Twin of `spark.text.gather_spans`."""

    def are_utf8(self, data: Buffer, starts: Buffer, lengths: Buffer, /) -> bool:
        """Twin of `spark.text.are_utf8`."""

    def find_properties(
        self, data: Buffer, starts: Buffer, lengths: Buffer, names: tuple[bytes, ...], /
    ) -> tuple[bytes, ...]:
        """Twin of `spark.text.find_properties`."""

    def split_pairs(
        self, data: Buffer, starts: Buffer, lengths: Buffer, /
    ) -> tuple[bytes, bytes, bytes, bytes, bytes] | None:
        """Twin of `spark.text.split_pairs`; None for a text of very many pairs."""

    def split_words(self, data: Buffer, starts: Buffer, lengths: Buffer, /) -> tuple[bytes, bytes, bytes]:
        """Twin of `spark.text.split_words`."""
