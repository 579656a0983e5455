"""Tells of a store in lines of text (`python -m broker_core.store --help`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from broker_core.protocol.message import StoredMessage
from broker_core.protocol.record import decode_many
from broker_core.store.reader import StoreReader
from broker_core.store.verify import Findings

_SHOWN_BODY_BYTES = 200


def summary(reader: StoreReader) -> Iterator[str]:
    """Tell what is in the store."""
    checkpoint = reader.checkpoint()
    yield f"store        {reader.config.folder}"
    yield f"closed well  {'no: open elsewhere, or stopped badly' if reader.is_open_elsewhere else 'yes'}"
    yield f"log          {reader.log_begin} to {reader.log_end}, segments of {reader.segment_size} bytes:"
    for segment in reader.segments():
        yield f"             {segment.path.name}  {_when(reader.log.store_time(segment.start))}"
    yield f"on disk      log {_when(checkpoint.log)}"
    yield f"             queues {_when(checkpoint.queues)}  finished index files {_when(checkpoint.index)}"
    for file in reader.index.files:
        times = f"{_when(file.begin_time)} to {_when(file.end_time)}"
        yield f"index        {file.path.name}  {file.count - 1} keys  {times}"
    for topic, queue_id in reader.queues():
        low, high = reader.range(topic, queue_id)
        yield f"queue        {topic} {queue_id}  {low} to {high}, {high - low} messages"


def findings(found: Findings) -> Iterator[str]:
    """Tell what a check found."""
    yield f"records      {found.records}, up to {found.log_end}; {found.orphans} of deleted queues"
    yield f"units        {found.units}, {found.fillers} of them fillers"
    yield f"index        {found.index_entries} entries for {found.keys} keys; {found.expired_entries} have expired"
    for kind, count in found.faults.most_common():
        yield f"FAULT        {count} x {kind}"
    for text in found.told:
        yield f"             {text}"
    yield "sound" if found.is_sound else "NOT SOUND"


def message(found: StoredMessage) -> Iterator[str]:
    """Tell all of one message."""
    yield f"topic        {found.topic}  queue {found.queue_id}  offset {found.queue_offset}"
    yield f"log offset   {found.log_offset}, {found.store_size} bytes"
    yield f"ids          {found.unique_id or '-'}  {found.offset_id}"
    yield f"born         {_when(found.born_timestamp)} at {found.born_host}"
    yield f"stored       {_when(found.store_timestamp)} at {found.store_host}"
    yield f"sys flag     {found.sys_flag:#x}  flag {found.flag}  consumed again {found.reconsume_times} times"
    for name, value in found.properties.items():
        yield f"property     {name} = {value}"
    yield f"body         {len(found.body)} bytes, crc {found.body_crc:08X}: {found.body[:_SHOWN_BODY_BYTES]!r}"


def queue(reader: StoreReader, topic: str, queue_id: int, begin: int, count: int) -> Iterator[str]:
    """Tell of the messages of a queue, one line each."""
    while count > 0:
        answer = reader.get(topic, queue_id, begin, max_messages=min(count, 100))
        if not answer.records:
            yield f"{begin}  {answer.status.value}: the queue has {answer.min_offset} to {answer.max_offset}"
            return
        for found in decode_many(b"".join(answer.records), decompress=False):
            yield _line(found)
        count -= len(answer.records)
        begin = answer.next_offset


def by_key(reader: StoreReader, topic: str, key: str, max_count: int) -> Iterator[str]:
    """Tell of the messages with a key, and how far the search went."""
    found = reader.search(topic, key, begin=0, end=1 << 62, max_count=max_count)
    yield from map(_line, found.messages)
    yield f"{len(found.records)} found; {found.index_files} index files, {found.entries_visited} entries looked at,"
    yield f"{found.collisions_dropped} other keys with the same hash, {found.expired_messages} expired"
    yield "everything was looked at" if found.complete else "NOT everything was looked at"


def _line(found: StoredMessage) -> str:
    keys = " ".join(found.keys)
    return f"{found.queue_id}:{found.queue_offset}  {_when(found.store_timestamp)}  {found.message_id}  {keys}"


def _when(timestamp: int | None) -> str:
    if not timestamp:
        return "-"
    return datetime.fromtimestamp(timestamp / 1000, UTC).isoformat(timespec="milliseconds")
