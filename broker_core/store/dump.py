"""Describes a store in lines of text (`python -m broker_core.store --help`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from broker_core.protocol.message import StoredMessage
from broker_core.protocol.record import decode_many, decode_one
from broker_core.store.key_search import IndexSearch
from broker_core.store.reader import StoreReader
from broker_core.store.soundness import find_damage_at
from broker_core.store.units import FILLER_SIZE
from broker_core.store.verify import Findings

_SHOWN_BODY_BYTES: Final = 2_000
_HEX_ROW: Final = 16
_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")


def summary(reader: StoreReader) -> Iterator[str]:
    """Describe the contents of the store."""
    yield f"store        {reader.config.folder}"
    yield f"clean stop   {'no: in use, or not shut down properly' if reader.is_open_elsewhere else 'yes'}"
    segments, size = reader.segments(), reader.segment_size
    span = f"{reader.log_begin} to {reader.log_end}, {_size(reader.log_end - reader.log_begin)}"
    files = f"{len(segments)} segments of {size} bytes, each with the time of its first record:"
    yield f"log          {span}, {files if segments else 'no segment'}"
    for segment in segments:
        yield f"             {segment.path.name}  {when(reader.log.store_time(segment.start))}"
    checkpoint = reader.checkpoint()
    yield f"checkpoint   log {when(checkpoint.log)}"
    yield f"             queues {when(checkpoint.queues)}  finished index files {when(checkpoint.index)}"
    if checkpoint.covered is not None:
        yield f"             all three before log offset {checkpoint.covered}"
    for file in reader.index.files:
        times = f"{when(file.begin_time)} to {when(file.end_time)}"
        yield f"index        {file.path.name}  {file.count - 1} of {file.capacity - 1} keys  {times}"
    yield from _queues(reader)


def _queues(reader: StoreReader) -> Iterator[str]:
    queues = reader.queues()
    width = max((len(topic) for topic, _ in queues), default=5)
    yield f"{len(queues)} queues:"
    yield f"  {'topic':{width}}  queue       first         end    messages  newest"
    total = 0
    for topic, queue_id in queues:
        low, high = reader.range(topic, queue_id)
        unit = reader.find_unit(topic, queue_id, high - 1)
        newest = when(reader.log.store_time(unit.log_offset)) if unit and unit.size != FILLER_SIZE else "-"
        total += high - low
        yield f"  {topic:{width}}  {queue_id:5}  {low:10}  {high:10}  {high - low:10}  {newest}"
    yield f"{total} messages"


def findings(found: Findings) -> Iterator[str]:
    """Describe the result of a check."""
    gone = f"{found.orphans} of deleted queues, {found.purged} purged"
    yield f"records      {found.records}, up to {found.log_end}; {gone}"
    yield f"units        {found.units}, {found.fillers} of them fillers"
    yield f"index        {found.index_entries} entries for {found.keys} keys; {found.expired_entries} have expired"
    for kind, count in found.faults.most_common():
        yield f"FAULT        {count} x {kind}"
    for text in found.told:
        yield f"             {text}"
    if (unlisted := sum(found.faults.values()) - len(found.told)) > 0:
        yield f"             and {unlisted} more"
    yield "sound" if found.is_sound else "NOT SOUND"


def record(data: memoryview, log_offset: int, *, as_hex: bool) -> Iterator[str]:
    """Describe the record that begins at `log_offset`, with its bytes if requested."""
    found = decode_one(data, decompress=False)
    yield f"topic        {found.topic}  queue {found.queue_id}  offset {found.queue_offset}"
    yield f"log offset   {log_offset}, {found.store_size} bytes"
    yield f"ids          {found.unique_id or '-'}  {found.offset_id}"
    yield f"born         {when(found.born_timestamp)} at {found.born_host}"
    yield f"stored       {when(found.store_timestamp)} at {found.store_host}"
    yield f"sys flag     {found.sys_flag:#x}  flag {found.flag}  consumed again {found.reconsume_times} times"
    yield f"prepared at  {found.prepared_transaction_offset}"
    for name, value in sorted(found.properties.items()):
        yield f"property     {name} = {value}"
    damage = find_damage_at(data, log_offset)
    yield f"DAMAGED      {damage}" if damage else "sound        the body matches its checksum"
    yield f"body         {len(found.body)} bytes as stored, crc {found.body_crc:08X}:"
    yield from _body(found.body)
    if as_hex:
        yield "record:"
        yield from _hex(bytes(data))


def queue(reader: StoreReader, topic: str, queue_id: int, begin: int, count: int) -> Iterator[str]:
    """List the messages of a queue, one per line, and say how to see those that follow."""
    while count > 0:
        answer = reader.get(topic, queue_id, begin, max_messages=min(count, 100))
        lines = {int(found.queue_offset): _line(found) for found in _decoded(answer.records)}
        lines |= {damaged.queue_offset: f"DAMAGED      {damaged}" for damaged in answer.damaged}
        yield from (line for _, line in sorted(lines.items()))
        if answer.next_offset == begin or not (answer.records or answer.damaged):
            yield f"{begin}  {answer.status.value}: the queue has {answer.min_offset} to {answer.max_offset}"
            return
        count -= answer.next_offset - begin
        begin = answer.next_offset
    more = reader.range(topic, queue_id)[1] - begin
    if more > 0:
        yield f"{more} more: --from {begin} begins with them, --count N lists N at once"


def by_key(found: IndexSearch) -> Iterator[str]:
    """List the messages with a key, and the extent of the search."""
    yield from map(_line, _decoded(found.records))
    for damaged in found.damaged:
        yield f"DAMAGED      {damaged}"
    yield f"{len(found.records)} found; {found.index_files} index files, {found.entries_visited} entries visited,"
    yield f"{found.collisions_dropped} other keys with the same hash, {found.expired_messages} expired"
    yield "everything was searched" if found.complete else "NOT everything was searched"


def damaged_unit(place: str, data: memoryview | None, log_offset: int, size: int) -> Iterator[str]:
    """Describe a unit that names no record, and the bytes at its position."""
    yield f"DAMAGED      {place} names {size} bytes at log offset {log_offset}, which has no record:"
    yield from _hex(bytes(data)) if data else ("             nothing is there",)


def _decoded(records: list[memoryview]) -> list[StoredMessage]:
    return decode_many(b"".join(records), decompress=False)


def _line(found: StoredMessage) -> str:
    tag, keys = f"  [{found.tag}]" if found.tag else "", "".join(f" {key}" for key in found.keys)
    place = f"{found.queue_id}:{found.queue_offset}"
    return f"{place:12} {when(found.store_timestamp)}  at {found.log_offset}  {found.message_id}{tag}{keys}"


def _body(body: bytes) -> Iterator[str]:
    """Show a body as text if it is text, otherwise as bytes."""
    shown = body[:_SHOWN_BODY_BYTES]
    text = shown.decode("utf-8", "replace")
    if text.rstrip("\ufffd").replace("\n", "").replace("\t", "").isprintable():
        yield from (f"             {line}" for line in text.splitlines())
    else:
        yield from _hex(shown)
    if len(body) > len(shown):
        yield f"             and {len(body) - len(shown)} bytes more"


def _hex(data: bytes) -> Iterator[str]:
    for at in range(0, len(data), _HEX_ROW):
        row = data[at : at + _HEX_ROW]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        yield f"  {at:08x}  {row.hex(' '):{_HEX_ROW * 3}} {text}"


def _size(count: float) -> str:
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.3g} {_UNITS[unit]}"


def when(timestamp: int | None) -> str:
    """Return a time in ms as text, with a sign for one that is not known."""
    if not timestamp:
        return "-"
    try:
        return datetime.fromtimestamp(timestamp / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        # Damaged fields may have any value.
        return f"{timestamp} ms"
