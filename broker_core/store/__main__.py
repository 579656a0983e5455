"""Inspects a store folder, with or without a running broker: `… summary FOLDER`, and so on. Only `cut` changes it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from broker_core.errors import GantryError
from broker_core.protocol.message_id import parse_offset_id
from broker_core.store import dump
from broker_core.store.config import StoreConfig
from broker_core.store.cut_preview import describe, find_tail
from broker_core.store.epochs import EpochFile
from broker_core.store.message_store import MessageStore
from broker_core.store.reader import StoreReader
from broker_core.store.verify import MOST_LISTED, verify

_EXIT_NOT_SOUND = 1
# An address with four or sixteen bytes, its port, and a log offset.
OFFSET_ID_DIGITS = (32, 56)
_EXIT_UNUSABLE = 2


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit status: 0 success, 1 not found or not sound, 2 no usable store."""
    options = _parser().parse_args(arguments)
    try:
        with StoreReader.open(options.folder, _config(options)) as reader:
            status: int = options.run(reader, options)
    except (GantryError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return _EXIT_UNUSABLE
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m broker_core.store", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, words in (
        ("summary", _summary, "what is in the store"),
        ("verify", _verify, "read everything and check the log, queues and index against each other"),
        ("record", _record, "a whole message, by log offset or offset message id"),
        ("message", _message, "a whole message, by queue offset"),
        ("queue", _queue, "messages of a queue, one per line"),
        ("key", _key, "messages with a key or unique id"),
        ("cut", _cut, "drop the end of the log; without --yes only say what would go"),
    ):
        command = commands.add_parser(name, help=words, description=words)
        command.set_defaults(run=run)
        command.add_argument("folder", type=Path, help="the folder that contains commitlog, consumequeue and index")
        command.add_argument("--index-slots", type=int, help="requires --index-entries (default: read from the files)")
        command.add_argument("--index-entries", type=int)
        _ARGUMENTS.get(name, lambda _: None)(command)
    return parser


def _config(options: argparse.Namespace) -> StoreConfig | None:
    if options.index_slots is None or options.index_entries is None:
        return None
    return StoreConfig(options.folder, index_slots=options.index_slots, index_entries=options.index_entries)


def _add_verify(command: argparse.ArgumentParser) -> None:
    command.add_argument("--most", type=int, default=MOST_LISTED, help="list at most this many faults (%(default)s)")


def _add_record(command: argparse.ArgumentParser) -> None:
    command.add_argument("place", help="a log offset, or an offset message id (32 or 56 digits)")
    command.add_argument("--hex", action="store_true", help="also show the bytes of the record")


def _add_message(command: argparse.ArgumentParser) -> None:
    command.add_argument("topic")
    command.add_argument("queue_id", type=int)
    command.add_argument("queue_offset", type=int)
    command.add_argument("--hex", action="store_true", help="also show the bytes of the record")


def _add_queue(command: argparse.ArgumentParser) -> None:
    command.add_argument("topic")
    command.add_argument("queue_id", type=int)
    command.add_argument("--from", dest="begin", type=int, help="first queue offset (default: the first available)")
    command.add_argument("--count", type=int, default=20)


def _add_key(command: argparse.ArgumentParser) -> None:
    command.add_argument("topic")
    command.add_argument("key")
    command.add_argument("--count", type=int, default=20, help="at most this many, newest first (%(default)s)")


def _add_cut(command: argparse.ArgumentParser) -> None:
    command.add_argument("log_offset", type=int, help="where the log shall end")
    command.add_argument("--yes", action="store_true", help="do it; no broker may have the store open")


_ARGUMENTS = {
    "verify": _add_verify,
    "record": _add_record,
    "message": _add_message,
    "queue": _add_queue,
    "key": _add_key,
    "cut": _add_cut,
}


def _summary(reader: StoreReader, _: argparse.Namespace) -> int:
    return _print(dump.summary(reader))


def _verify(reader: StoreReader, options: argparse.Namespace) -> int:
    found = verify(reader, most=options.most)
    _print(dump.findings(found))
    return 0 if found.is_sound else _EXIT_NOT_SOUND


def _record(reader: StoreReader, options: argparse.Namespace) -> int:
    text: str = options.place
    log_offset = int(parse_offset_id(text).log_offset) if len(text) in OFFSET_ID_DIGITS else int(text)
    return _dump(reader, log_offset, options)


def _message(reader: StoreReader, options: argparse.Namespace) -> int:
    unit = reader.find_unit(options.topic, options.queue_id, options.queue_offset)
    if unit is None:
        low, high = reader.range(options.topic, options.queue_id)
        print(f"topic {options.topic} queue {options.queue_id} has the offsets {low} to {high}", file=sys.stderr)
        return _EXIT_NOT_SOUND
    if reader.find_raw(unit.log_offset) is None:
        place = f"topic {options.topic} queue {options.queue_id} offset {options.queue_offset}"
        data = reader.log.read(unit.log_offset, unit.size)
        _print(dump.damaged_unit(place, data, unit.log_offset, unit.size))
        return _EXIT_NOT_SOUND
    return _dump(reader, unit.log_offset, options)


def _dump(reader: StoreReader, log_offset: int, options: argparse.Namespace) -> int:
    found = reader.find_raw(log_offset)
    if found is None:
        print(f"no record begins at {log_offset}", file=sys.stderr)
        return _EXIT_NOT_SOUND
    return _print(dump.record(found, log_offset, as_hex=options.hex))


def _queue(reader: StoreReader, options: argparse.Namespace) -> int:
    begin = options.begin if options.begin is not None else reader.range(options.topic, options.queue_id)[0]
    return _print(dump.queue(reader, options.topic, options.queue_id, begin, options.count))


def _key(reader: StoreReader, options: argparse.Namespace) -> int:
    found = reader.search(options.topic, options.key, begin=0, end=1 << 62, max_count=options.count)
    return _print(dump.by_key(found))


def _cut(reader: StoreReader, options: argparse.Namespace) -> int:
    _print(describe(find_tail(reader, options.log_offset), options.log_offset))
    if not options.yes:
        return _print(iter(["nothing was changed: --yes does it"]))
    # As a replica, so that nothing becomes readable that was not yet.
    with MessageStore.open(replace(reader.config, is_replica=True), now=None) as store:
        store.cut(options.log_offset)
        end = store.appended_log_offset
    EpochFile(options.folder).cut(end)
    return _print(iter([f"the log ends at {end}"]))


def _print(lines: Iterator[str]) -> int:
    for line in lines:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
