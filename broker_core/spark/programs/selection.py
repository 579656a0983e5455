"""What a replay or an export reads: the `source` of its request (spark/README.md#selection)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from broker_core.job_folder import JobFolder, say
from broker_core.job_sources import SourceRefused, keys_in
from broker_core.protocol.applications import tags_of
from broker_core.spark.checkpoint import LeftOut
from broker_core.spark.errors import BadRequest
from broker_core.spark.options import SourceOptions, parse_time
from broker_core.spark.programs import left_out
from broker_core.spark.programs.requests import ProgramRequest
from broker_core.spark.programs.whole_topic import whole_topic
from broker_core.spark.replay_plan import Positions
from broker_core.spark.topic_routes import route_of
from broker_core.spark.wire import session_of
from broker_core.structs import decoded

KEYS: Final = "keys.json"
"""The keys of the request's file as they were when the job began: a run that goes on looks for the same ones."""
_RANGES: Final = ("from", "to", "queues", "offsets")


@decoded
class PositionsLine(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a file with explicit positions: another job found them."""

    broker: str
    queue: int
    offsets: list[int]


@dataclass(frozen=True, slots=True)
class Selection:
    """The messages of one topic that a job reads."""

    options: SourceOptions
    positions: Positions | None = None
    """Exactly these, if they pass the filters of the options; None: all in the range."""
    where: str | None = None
    """A condition in SQL over the columns of the source."""

    @property
    def topic(self) -> str:
        return self.options.topics[0]

    @property
    def is_filtered(self) -> bool:
        """Whether of what is read some messages may be left out, though they are intact."""
        options = self.options
        times = (options.starting_timestamp, options.ending_timestamp)
        return (self.where, options.keys, options.tags, *times) != (None,) * 5

    @property
    def told(self) -> dict[str, int]:
        """What the report says of it: how many keys it looks for, if any."""
        return {} if self.options.keys is None else {"keys": len(self.options.keys)}


def select(request: ProgramRequest, folder: JobFolder) -> Selection:
    """Return what to read: from the files of the store if they are here, otherwise over the wire; raises BadRequest."""
    source = request.asked["source"]
    queues, tag = source.get("queues"), source.get("tag")
    options = replace(
        whole_topic(request, source["topic"]),
        queues=frozenset((None, int(queue)) for queue in queues) if queues else None,
        starting_timestamp=_ms("source.from", source.get("from")),
        ending_timestamp=_ms("source.to", source.get("to")),
        keys=_keys(request, source, folder),
        tags=tags_of(tag) if tag else None,
    )
    if source.get("offsets"):
        options = _with_offsets(options, source["offsets"])
    positions = None
    if source.get("positions"):
        given = [name for name in _RANGES if source.get(name)]
        if given:
            raise BadRequest(f"source.{given[0]}: leave it out; source.positions names each message")
        positions = _positions(folder, source["positions"])
    return Selection(options, positions, source.get("where"))


def _ms(name: str, text: str | None) -> int | None:
    return None if text is None else parse_time(name, text)


def _keys(request: ProgramRequest, source: Mapping[str, Any], folder: JobFolder) -> frozenset[str] | None:
    keys = set(source.get("keys") or ())
    path = source.get("keys_file")
    if path:
        kept = folder.find_json(KEYS)
        if kept is None:
            try:
                kept = keys_in(Path(request.files_folder) if request.files_folder else None, path)
            except SourceRefused as error:
                raise BadRequest(f"source.keys_file: {path} {error}") from error
            folder.write_json(KEYS, kept)
        say(f"{len(kept):,} keys of {path}")
        keys |= set(kept)
    return frozenset(keys) or None


def _with_offsets(options: SourceOptions, ranges: Sequence[Mapping[str, Any]]) -> SourceOptions:
    """Return the options for these ranges of queues, and no other queue."""
    topic = options.topics[0]
    begins: dict[str, dict[int, int]] = {}
    ends: dict[str, dict[int, int]] = {}
    queues: set[tuple[str | None, int]] = set()
    brokers_of = _brokers_of_queues(options)
    for given in ranges:
        queue_id = int(given["queue"])
        brokers = [given["broker"]] if given.get("broker") else brokers_of.get(queue_id, [])
        if not brokers:
            raise BadRequest(f"source.offsets: topic {topic!r} has no queue {queue_id}")
        for broker in brokers:
            queues.add((broker, queue_id))
            if given.get("from") is not None:
                begins.setdefault(broker, {})[queue_id] = int(given["from"])
            if given.get("to") is not None:
                ends.setdefault(broker, {})[queue_id] = int(given["to"])
    return replace(
        options,
        queues=frozenset(queues),
        starting_offsets={topic: begins} if begins else options.starting_offsets,
        ending_offsets={topic: ends} if ends else options.ending_offsets,
    )


def _brokers_of_queues(options: SourceOptions) -> dict[int, list[str]]:
    """Return which brokers have each queue; the store of this machine has one broker, with every queue."""
    if options.stores:
        return {queue_id: list(options.brokers) for queue_id in range(1 << 10)}
    topic = options.topics[0]
    session = session_of(options.wire_place)
    found: dict[int, list[str]] = {}
    for queue in session.run(route_of(session.admin, topic)):
        found.setdefault(queue.queue_id, []).append(queue.broker_name)
    return found


def _named_at(line: bytes) -> PositionsLine:
    return msgspec.json.decode(line, type=PositionsLine)


def _refused_at(line: bytes) -> PositionsLine:
    """Return where a replay could not copy a message; nowhere for a damaged one, of which no copy can be made."""
    at = msgspec.json.decode(line, type=LeftOut)
    return PositionsLine(at.broker, at.queue_id, [at.queue_offset] if at.kind == "failed" else [])


def _positions(folder: JobFolder, given: Mapping[str, str]) -> Positions:
    """Read positions that another job wrote: `job` is its id, `file` the file in its folder."""
    path = folder.path.parent / Path(given["job"]).name / Path(given["file"]).name
    found: dict[tuple[str, int], set[int]] = {}
    read = _refused_at if path.name == left_out.FILE else _named_at
    try:
        for line in path.read_bytes().splitlines():
            at = read(line)
            found.setdefault((at.broker, at.queue), set()).update(at.offsets)
    except (OSError, msgspec.DecodeError) as error:
        raise BadRequest(f"source.positions: {given['file']} of job {given['job']} cannot be read: {error}") from error
    if not any(found.values()):
        raise BadRequest(f"source.positions: {given['file']} of job {given['job']} names no message")
    return {queue: sorted(offsets) for queue, offsets in found.items() if offsets}
