"""Where a tail is, as one text: the offset from which each queue is read on."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from broker_core.protocol.bodies import MessageQueue
from gateway.data.schemas import invalid
from gateway.problems import ProblemError

_DECODER = msgspec.json.Decoder(list[tuple[str, str, int, int]])


def write(places: Mapping[MessageQueue, int]) -> str:
    """Return the text: JSON, one line, printable."""
    rows = [[queue.topic, queue.broker_name, queue.queue_id, offset] for queue, offset in places.items()]
    return msgspec.json.encode(rows).decode()


def read(text: str) -> dict[MessageQueue, int]:
    """Return what `write` wrote; raise INVALID for anything else."""
    try:
        rows = _DECODER.decode(text)
    except msgspec.DecodeError as error:
        raise _no_places(str(error)) from None
    if any(offset < 0 or queue_id < 0 for _, _, queue_id, offset in rows):
        raise _no_places("a number is below 0")
    return {MessageQueue(topic, broker, queue_id): offset for topic, broker, queue_id, offset in rows}


def _no_places(why: str) -> ProblemError:
    return invalid("#/resume", f"This is not the `resume` of a progress frame: {why}.")
